//! State and conversation: `STATE_SNAPSHOT`, `STATE_DELTA`, `MESSAGES_SNAPSHOT`.

use super::wire_event;
use crate::Json;
use crate::message::Message;
use crate::patch::JsonPatchOperation;

wire_event! {
    /// `STATE_SNAPSHOT`: the whole state, in place of the one before.
    attributed StateSnapshot {
        fixed { "type" = "STATE_SNAPSHOT" }
        required {
            /// The state: any JSON, null included.
            snapshot: Json = "snapshot",
        }
        optional {}
    }
}

wire_event! {
    /// `STATE_DELTA`: a change of the state.
    attributed StateDelta {
        fixed { "type" = "STATE_DELTA" }
        required {
            /// The change, as an RFC 6902 patch.
            delta: Vec<JsonPatchOperation> = "delta",
        }
        optional {}
    }
}

wire_event! {
    /// `MESSAGES_SNAPSHOT`: the whole conversation as the agent has it, in order.
    of_run MessagesSnapshot {
        fixed { "type" = "MESSAGES_SNAPSHOT" }
        required {
            /// The messages.
            messages: Vec<Message> = "messages",
        }
        optional {}
    }
}
