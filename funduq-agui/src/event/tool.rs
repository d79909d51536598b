//! Tool calls: `TOOL_CALL_START`, `_ARGS`, `_END`, the short form `_CHUNK`, and `_RESULT`.

use super::wire_event;
use crate::message::{Content, Role};
use crate::wire::Kind;

wire_event! {
    /// `TOOL_CALL_START`: opens a tool call.
    attributed ToolCallStart {
        fixed { "type" = "TOOL_CALL_START" }
        required {
            /// The call being opened.
            tool_call_id: String = "toolCallId",
            /// The tool it calls.
            tool_call_name: String = "toolCallName",
        }
        optional {
            /// The assistant message that holds the call; absent means one of its own.
            parent_message_id: String = "parentMessageId",
        }
    }
}

wire_event! {
    /// `TOOL_CALL_ARGS`: appends to the arguments of a tool call that is open.
    attributed ToolCallArgs {
        fixed { "type" = "TOOL_CALL_ARGS" }
        required {
            /// The call it belongs to.
            tool_call_id: String = "toolCallId",
            /// The piece of JSON text to append.
            delta: String = "delta",
        }
        optional {}
    }
}

wire_event! {
    /// `TOOL_CALL_END`: closes a tool call; its arguments are complete.
    attributed ToolCallEnd {
        fixed { "type" = "TOOL_CALL_END" }
        required {
            /// The call being closed.
            tool_call_id: String = "toolCallId",
        }
        optional {}
    }
}

wire_event! {
    /// `TOOL_CALL_CHUNK`: a piece of a tool call that opens it when it is new;
    /// anything else of the same agent, or the run's end, closes it.
    attributed ToolCallChunk {
        fixed { "type" = "TOOL_CALL_CHUNK" }
        required {}
        optional {
            /// The call it belongs to; absent means the one being streamed.
            tool_call_id: String = "toolCallId",
            /// The tool it calls; absent means the same as before.
            tool_call_name: String = "toolCallName",
            /// The assistant message that holds the call; absent means one of its own.
            parent_message_id: String = "parentMessageId",
            /// The piece of JSON text to append; absent means none.
            delta: String = "delta",
        }
    }
}

wire_event! {
    /// `TOOL_CALL_RESULT`: what a tool returned, as a tool message of its own.
    attributed ToolCallResult {
        fixed { "type" = "TOOL_CALL_RESULT" }
        required {
            /// The tool message that this result becomes.
            message_id: String = "messageId",
            /// The call it answers.
            tool_call_id: String = "toolCallId",
            /// What the tool returned.
            content: Content = "content",
        }
        optional {
            /// Always the tool; absent means the same.
            role: Role = "role" as Kind::OneOf(&["tool"]),
        }
    }
}
