//! The seven kinds of message, and the tool calls an assistant's may hold.

use super::content::Content;
use crate::RawObject;
use crate::wire::wire_object;

wire_object! {
    /// A message of role `developer`.
    DeveloperMessage {
        fixed { "role" = "developer" }
        required {
            /// The message's id.
            id: String = "id",
            /// The text.
            content: String = "content",
        }
        optional {
            /// The name of its author; absent when it has none.
            name: String = "name",
            /// A model provider's encrypted value that belongs to it; absent when there is none.
            encrypted_value: String = "encryptedValue",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
            /// The subagent invocation it comes from; absent means the run's own agent.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

wire_object! {
    /// A message of role `system`.
    SystemMessage {
        fixed { "role" = "system" }
        required {
            /// The message's id.
            id: String = "id",
            /// The text.
            content: String = "content",
        }
        optional {
            /// The name of its author; absent when it has none.
            name: String = "name",
            /// A model provider's encrypted value that belongs to it; absent when there is none.
            encrypted_value: String = "encryptedValue",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
            /// The subagent invocation it comes from; absent means the run's own agent.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

wire_object! {
    /// A message of role `assistant`: the agent's words, its tool calls, or both.
    AssistantMessage {
        fixed { "role" = "assistant" }
        required {
            /// The message's id.
            id: String = "id",
        }
        optional {
            /// The text; absent when it only calls tools.
            content: String = "content",
            /// The tool calls; absent means none.
            tool_calls: Vec<ToolCall> = "toolCalls",
            /// The name of its author; absent when it has none.
            name: String = "name",
            /// A model provider's encrypted value that belongs to it; absent when there is none.
            encrypted_value: String = "encryptedValue",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
            /// The subagent invocation it comes from; absent means the run's own agent.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

wire_object! {
    /// A message of role `user`.
    UserMessage {
        fixed { "role" = "user" }
        required {
            /// The message's id.
            id: String = "id",
            /// What the user said.
            content: Content = "content",
        }
        optional {
            /// The user's name; absent when not told.
            name: String = "name",
            /// A model provider's encrypted value that belongs to it; absent when there is none.
            encrypted_value: String = "encryptedValue",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
            /// The subagent invocation it comes from; absent means the run's own agent.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

wire_object! {
    /// A message of role `tool`: what a tool returned.
    ToolMessage {
        fixed { "role" = "tool" }
        required {
            /// The message's id.
            id: String = "id",
            /// What the tool returned.
            content: Content = "content",
            /// The call it answers.
            tool_call_id: String = "toolCallId",
        }
        optional {
            /// What went wrong in the tool; absent when it worked.
            error: String = "error",
            /// A model provider's encrypted value that belongs to it; absent when there is none.
            encrypted_value: String = "encryptedValue",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
            /// The subagent invocation it comes from; absent means the run's own agent.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

wire_object! {
    /// A message of role `activity`: structured progress that is not conversation.
    ActivityMessage {
        fixed { "role" = "activity" }
        required {
            /// The message's id.
            id: String = "id",
            /// What kind of activity it is: the producer's own word.
            activity_type: String = "activityType",
            /// The content.
            content: RawObject = "content",
        }
        optional {
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
            /// The subagent invocation it comes from; absent means the run's own agent.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

wire_object! {
    /// A message of role `reasoning`.
    ReasoningMessage {
        fixed { "role" = "reasoning" }
        required {
            /// The message's id.
            id: String = "id",
            /// The text.
            content: String = "content",
        }
        optional {
            /// A model provider's encrypted value that belongs to it; absent when there is none.
            encrypted_value: String = "encryptedValue",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
            /// The subagent invocation it comes from; absent means the run's own agent.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

wire_object! {
    /// A tool call in an assistant's message. Its `type` is always `function`.
    ToolCall {
        fixed { "type" = "function" }
        required {
            /// The call's id: a tool message answers it by this.
            id: String = "id",
            /// What is called, and with what.
            function: FunctionCall = "function",
        }
        optional {
            /// A model provider's encrypted value that belongs to it; absent when there is none.
            encrypted_value: String = "encryptedValue",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
        }
    }
}

wire_object! {
    /// What a tool call calls, and with what.
    FunctionCall {
        required {
            /// The tool's name.
            name: String = "name",
            /// The arguments: JSON as text, which need not parse.
            arguments: String = "arguments",
        }
        optional {}
    }
}
