//! Activities: `ACTIVITY_SNAPSHOT` and `ACTIVITY_DELTA`, structured progress beside the text.

use super::wire_event;
use crate::RawObject;
use crate::patch::JsonPatchOperation;

wire_event! {
    /// `ACTIVITY_SNAPSHOT`: an activity's whole content.
    attributed ActivitySnapshot {
        fixed { "type" = "ACTIVITY_SNAPSHOT" }
        required {
            /// The activity message it describes.
            message_id: String = "messageId",
            /// What kind of activity it is: the producer's own word.
            activity_type: String = "activityType",
            /// The content.
            content: RawObject = "content",
        }
        optional {
            /// Whether it takes the place of content that is there; absent means it does.
            replace: bool = "replace",
        }
    }
}

wire_event! {
    /// `ACTIVITY_DELTA`: a change of an activity's content.
    attributed ActivityDelta {
        fixed { "type" = "ACTIVITY_DELTA" }
        required {
            /// The activity message being changed.
            message_id: String = "messageId",
            /// What kind of activity it is: the producer's own word.
            activity_type: String = "activityType",
            /// The change, as an RFC 6902 patch of the content.
            patch: Vec<JsonPatchOperation> = "patch",
        }
        optional {}
    }
}
