//! A run's life: `RUN_STARTED`, `RUN_FINISHED`, `RUN_ERROR`.

use super::outcome::{CancelledOutcome, InterruptOutcome, RunFinishedOutcome};
use super::wire_event;
use crate::input::RunAgentInput;
use crate::interrupt::Interrupt;
use crate::usage::TokenUsage;
use crate::{Json, PROTOCOL_VERSION};

wire_event! {
    /// `RUN_STARTED`: a run begins. The first event of its stream.
    of_run RunStarted {
        fixed { "type" = "RUN_STARTED" }
        required {
            /// The thread the run belongs to.
            thread_id: String = "threadId",
            /// The run.
            run_id: String = "runId",
        }
        optional {
            /// The protocol version the producer speaks; absent means it was made before there was one.
            protocol_version: String = "protocolVersion",
            /// The run that this one continues or was spawned by; absent when there is none.
            parent_run_id: String = "parentRunId",
            /// The input that the run was started with; absent when it is not repeated.
            input: Box<RunAgentInput> = "input",
        }
    }
}

wire_event! {
    /// `RUN_FINISHED`: a run ended without failing. A terminal event.
    of_run RunFinished {
        fixed { "type" = "RUN_FINISHED" }
        required {
            /// The thread the run belongs to.
            thread_id: String = "threadId",
            /// The run.
            run_id: String = "runId",
        }
        optional {
            /// What the run returned; absent when it returned nothing.
            result: Json = "result",
            /// Why it ended; absent means success.
            outcome: RunFinishedOutcome = "outcome",
            /// Token usage, an entry per model provider and model; absent when not told.
            usage: Vec<TokenUsage> = "usage",
        }
    }
}

wire_event! {
    /// `RUN_ERROR`: a run failed. A terminal event.
    of_run RunError {
        fixed { "type" = "RUN_ERROR" }
        required {
            /// What went wrong, for people.
            message: String = "message",
        }
        optional {
            /// What went wrong, for machines; absent when there is no word for it.
            code: String = "code",
            /// Token usage up to the failure; absent when not told.
            usage: Vec<TokenUsage> = "usage",
        }
    }
}

impl RunStarted {
    /// A run that begins, in the protocol version of this crate.
    #[must_use]
    pub fn current(thread_id: impl Into<String>, run_id: impl Into<String>) -> Self {
        Self::new(thread_id, run_id).protocol_version(PROTOCOL_VERSION)
    }
}

impl RunFinished {
    /// A run that stopped to ask: `first` and any `others` must be answered before it goes on.
    #[must_use]
    pub fn interrupted(
        thread_id: impl Into<String>,
        run_id: impl Into<String>,
        first: Interrupt,
        others: impl IntoIterator<Item = Interrupt>,
    ) -> Self {
        let outcome = InterruptOutcome::asking(first, others);
        Self::new(thread_id, run_id).outcome(outcome)
    }

    /// A run that ended because somebody cancelled it.
    #[must_use]
    pub fn cancelled(thread_id: impl Into<String>, run_id: impl Into<String>) -> Self {
        Self::new(thread_id, run_id).outcome(CancelledOutcome::new())
    }
}
