//! What AG-UI passes on without a meaning of its own: `RAW` and `CUSTOM`.

use super::wire_event;
use crate::Json;

wire_event! {
    /// `RAW`: another system's event, passed on as it is.
    attributed Raw {
        fixed { "type" = "RAW" }
        required {
            /// The event: any JSON.
            event: Json = "event",
        }
        optional {
            /// The system it comes from; absent when not told.
            source: String = "source",
        }
    }
}

wire_event! {
    /// `CUSTOM`: an event of the application's own.
    attributed Custom {
        fixed { "type" = "CUSTOM" }
        required {
            /// What it is: the application's own word.
            name: String = "name",
            /// What it says: any JSON.
            value: Json = "value",
        }
        optional {}
    }
}
