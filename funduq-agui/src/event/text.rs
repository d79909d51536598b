//! Text messages: `TEXT_MESSAGE_START`, `_CONTENT`, `_END` and the short form `_CHUNK`.

use super::wire_event;
use crate::wire::string_enum;

string_enum! {
    /// Who a streamed text message is from.
    TextMessageRole {
        /// The application's developer.
        Developer = "developer",
        /// The system prompt.
        System = "system",
        /// The agent.
        Assistant = "assistant",
        /// The user.
        User = "user",
    }
}

wire_event! {
    /// `TEXT_MESSAGE_START`: opens a text message, or continues one that was closed.
    attributed TextMessageStart {
        fixed { "type" = "TEXT_MESSAGE_START" }
        required {
            /// The message being opened.
            message_id: String = "messageId",
        }
        optional {
            /// Who it is from; absent means the assistant.
            role: TextMessageRole = "role",
            /// The name of its author; absent when it has none.
            name: String = "name",
        }
    }
}

wire_event! {
    /// `TEXT_MESSAGE_CONTENT`: appends to a text message that is open.
    attributed TextMessageContent {
        fixed { "type" = "TEXT_MESSAGE_CONTENT" }
        required {
            /// The message it belongs to.
            message_id: String = "messageId",
            /// The text to append; may be empty.
            delta: String = "delta",
        }
        optional {}
    }
}

wire_event! {
    /// `TEXT_MESSAGE_END`: closes a text message.
    attributed TextMessageEnd {
        fixed { "type" = "TEXT_MESSAGE_END" }
        required {
            /// The message being closed.
            message_id: String = "messageId",
        }
        optional {}
    }
}

wire_event! {
    /// `TEXT_MESSAGE_CHUNK`: a piece of a text message that opens it when it is new;
    /// anything else of the same agent, or the run's end, closes it.
    attributed TextMessageChunk {
        fixed { "type" = "TEXT_MESSAGE_CHUNK" }
        required {}
        optional {
            /// The message it belongs to; absent means the one being streamed.
            message_id: String = "messageId",
            /// Who it is from; absent means the assistant, or the same as before.
            role: TextMessageRole = "role",
            /// The text to append; absent means none.
            delta: String = "delta",
            /// The name of its author; absent when it has none.
            name: String = "name",
        }
    }
}
