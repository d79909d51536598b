//! Reasoning: spans, messages, the short form, and encrypted values.

use super::wire_event;
use crate::wire::string_enum;

wire_event! {
    /// `REASONING_START`: a span of reasoning begins.
    attributed ReasoningStart {
        fixed { "type" = "REASONING_START" }
        required {
            /// The span.
            message_id: String = "messageId",
        }
        optional {}
    }
}

wire_event! {
    /// `REASONING_MESSAGE_START`: opens a reasoning message. Its `role` is always `reasoning`.
    attributed ReasoningMessageStart {
        fixed { "type" = "REASONING_MESSAGE_START", "role" = "reasoning" }
        required {
            /// The message being opened.
            message_id: String = "messageId",
        }
        optional {}
    }
}

wire_event! {
    /// `REASONING_MESSAGE_CONTENT`: appends to a reasoning message that is open.
    attributed ReasoningMessageContent {
        fixed { "type" = "REASONING_MESSAGE_CONTENT" }
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
    /// `REASONING_MESSAGE_END`: closes a reasoning message.
    attributed ReasoningMessageEnd {
        fixed { "type" = "REASONING_MESSAGE_END" }
        required {
            /// The message being closed.
            message_id: String = "messageId",
        }
        optional {}
    }
}

wire_event! {
    /// `REASONING_MESSAGE_CHUNK`: a piece of a reasoning message that opens it when it is new.
    attributed ReasoningMessageChunk {
        fixed { "type" = "REASONING_MESSAGE_CHUNK" }
        required {}
        optional {
            /// The message it belongs to; absent means the one being streamed.
            message_id: String = "messageId",
            /// The text to append; absent means none.
            delta: String = "delta",
        }
    }
}

wire_event! {
    /// `REASONING_END`: a span of reasoning ended.
    attributed ReasoningEnd {
        fixed { "type" = "REASONING_END" }
        required {
            /// The span.
            message_id: String = "messageId",
        }
        optional {}
    }
}

string_enum! {
    /// What an encrypted value belongs to.
    EncryptedValueSubtype {
        /// A tool call.
        ToolCall = "tool-call",
        /// A message.
        Message = "message",
    }
}

wire_event! {
    /// `REASONING_ENCRYPTED_VALUE`: a model provider's reasoning that only it can
    /// read, to be kept with a message or tool call and sent back on a later turn.
    attributed ReasoningEncryptedValue {
        fixed { "type" = "REASONING_ENCRYPTED_VALUE" }
        required {
            /// What `entityId` names.
            subtype: EncryptedValueSubtype = "subtype",
            /// The message or tool call it belongs to.
            entity_id: String = "entityId",
            /// The value.
            encrypted_value: String = "encryptedValue",
        }
        optional {}
    }
}
