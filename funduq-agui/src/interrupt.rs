//! Interrupts, by which a run asks, and resume entries, which answer them.

use crate::wire::{string_enum, wire_object};
use crate::{Json, RawObject};

wire_object! {
    /// Something a run needs from outside before it can go on.
    Interrupt {
        required {
            /// The interrupt's id: a resume entry answers it by this.
            id: String = "id",
            /// Why the run stopped: the producer's own word.
            reason: String = "reason",
        }
        optional {
            /// The question, for people; absent when there is none.
            message: String = "message",
            /// The tool call it is about; absent when it is about none.
            tool_call_id: String = "toolCallId",
            /// A JSON Schema of the answer; absent when any answer will do.
            response_schema: RawObject = "responseSchema",
            /// When it can no longer be answered, by custom in ISO 8601; absent means never.
            expires_at: String = "expiresAt",
            /// Further information for those who know its keys; absent means none.
            metadata: RawObject = "metadata",
            /// The subagent invocation that asks; absent means the run's own agent.
            subagent_run_id: String = "subagentRunId",
        }
    }
}

string_enum! {
    /// Whether an interrupt was answered.
    ResumeStatus {
        /// It was answered.
        Resolved = "resolved",
        /// It was given up.
        Cancelled = "cancelled",
    }
}

wire_object! {
    /// The answer to one interrupt, on the run that goes on from it.
    ResumeEntry {
        required {
            /// The interrupt it answers.
            interrupt_id: String = "interruptId",
            /// Whether it was answered or given up.
            status: ResumeStatus = "status",
        }
        optional {
            /// The answer: any JSON; absent when there is nothing to say.
            payload: Json = "payload",
            /// Information about the answer, such as a signature; absent means none.
            metadata: RawObject = "metadata",
        }
    }
}
