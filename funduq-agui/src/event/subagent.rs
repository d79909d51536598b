//! Subagents: `SUBAGENT_STARTED`, `SUBAGENT_FINISHED`, `SUBAGENT_ERROR`.

use super::outcome::SubagentFinishedOutcome;
use super::wire_event;
use crate::Json;

wire_event! {
    /// `SUBAGENT_STARTED`: an invocation of a subagent begins.
    of_run SubagentStarted {
        fixed { "type" = "SUBAGENT_STARTED" }
        required {
            /// The invocation.
            subagent_run_id: String = "subagentRunId",
            /// The subagent's name, the same in each of its invocations.
            name: String = "name",
        }
        optional {
            /// What the subagent is for; absent when not told.
            description: String = "description",
            /// The invocation that spawned this one; absent means the run's own agent did.
            parent_subagent_run_id: String = "parentSubagentRunId",
            /// The tool call that spawned it; absent when none did.
            parent_tool_call_id: String = "parentToolCallId",
            /// The message that holds that tool call; absent when not told.
            parent_message_id: String = "parentMessageId",
        }
    }
}

wire_event! {
    /// `SUBAGENT_FINISHED`: an invocation ended without failing.
    of_run SubagentFinished {
        fixed { "type" = "SUBAGENT_FINISHED" }
        required {
            /// The invocation.
            subagent_run_id: String = "subagentRunId",
        }
        optional {
            /// What it returned; absent when it returned nothing.
            result: Json = "result",
            /// Why it ended; absent means success.
            outcome: SubagentFinishedOutcome = "outcome",
        }
    }
}

wire_event! {
    /// `SUBAGENT_ERROR`: an invocation failed.
    of_run SubagentError {
        fixed { "type" = "SUBAGENT_ERROR" }
        required {
            /// The invocation.
            subagent_run_id: String = "subagentRunId",
            /// What went wrong, for people.
            message: String = "message",
        }
        optional {
            /// What went wrong, for machines; absent when there is no word for it.
            code: String = "code",
        }
    }
}
