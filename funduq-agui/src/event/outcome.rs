//! How runs and subagents end: the outcomes in `RUN_FINISHED` and `SUBAGENT_FINISHED`.

use crate::interrupt::Interrupt;
use crate::wire::{Kind, Wire, wire_object, wire_union};

wire_union! {
    /// Why a run ended, told apart by `type`.
    RunFinishedOutcome by "type", untagged carried {
        /// It completed.
        Success(SuccessOutcome) = "success",
        /// It stopped to ask.
        Interrupt(InterruptOutcome) = "interrupt",
        /// Somebody cancelled it.
        Cancelled(CancelledOutcome) = "cancelled",
    }
}

wire_object! {
    /// The outcome `success`: the run completed. The same as no outcome.
    SuccessOutcome {
        fixed { "type" = "success" }
        required {}
        optional {
            /// The tool calls left for the client to answer; absent means those of the
            /// run that got no result.
            pending_tool_call_ids: Vec<String> = "pendingToolCallIds",
        }
    }
}

wire_object! {
    /// The outcome `interrupt`: the run stopped and goes on, as another run, when it is answered.
    InterruptOutcome {
        fixed { "type" = "interrupt" }
        required {
            /// What it needs: one or more, each with its own id.
            interrupts: Vec<Interrupt> = "interrupts" as Kind::List { items: &Interrupt::KIND, min: 1 },
        }
        optional {}
    }
}

wire_object! {
    /// The outcome `cancelled`: the run ended because somebody cancelled it.
    CancelledOutcome {
        fixed { "type" = "cancelled" }
        required {}
        optional {}
    }
}

wire_union! {
    /// Why a subagent ended, told apart by `type`.
    SubagentFinishedOutcome by "type", untagged carried {
        /// It completed.
        Success(SubagentSuccessOutcome) = "success",
        /// It stopped, waiting for the run's interrupts to be answered.
        Suspended(SubagentSuspendedOutcome) = "suspended",
    }
}

wire_object! {
    /// The subagent outcome `success`: it completed. The same as no outcome.
    SubagentSuccessOutcome {
        fixed { "type" = "success" }
        required {}
        optional {}
    }
}

wire_object! {
    /// The subagent outcome `suspended`: it waits for interrupts to be answered.
    SubagentSuspendedOutcome {
        fixed { "type" = "suspended" }
        required {}
        optional {
            /// The interrupts it waits for; absent when not told.
            interrupt_ids: Vec<String> = "interruptIds",
        }
    }
}

impl InterruptOutcome {
    /// An outcome that asks `first` and any `others`; it cannot ask nothing.
    #[must_use]
    pub fn asking(first: Interrupt, others: impl IntoIterator<Item = Interrupt>) -> Self {
        let mut interrupts = vec![first];
        interrupts.extend(others);
        Self::new(interrupts)
    }
}
