//! The few events that funduq writes itself: a run's start where no provider began it, and its end where no
//! provider ended it (AG-UI 1.0, lifecycle events).

use funduq_agui::event::{RunError, RunFinished, RunStarted};
use funduq_agui::{Event, RelayedEvent};
use funduq_contract::{RunId, ThreadId};

use super::thread::{OwnTerminal, Settlement};
use crate::record::FailureReason;

/// `RUN_STARTED` with funduq's ids.
pub(crate) fn run_started(thread: &ThreadId, run: &RunId) -> RelayedEvent {
    Event::from(RunStarted::current(thread.as_str(), run.as_str())).into()
}

/// `RUN_ERROR` with a code that a machine can match.
pub(crate) fn run_error(code: &str, message: &str) -> RelayedEvent {
    Event::from(RunError::new(message).code(code)).into()
}

/// What funduq appends to a run that it ends: nothing, if the provider sent the terminal event. A run of which
/// nothing was seen is begun first, since a stream begins with `RUN_STARTED`.
pub(crate) fn closing(
    thread: &ThreadId,
    run: &RunId,
    settlement: &Settlement,
    begun: bool,
) -> Vec<RelayedEvent> {
    let Some(own) = settlement.own_event else { return Vec::new() };
    let mut events = Vec::with_capacity(2);
    if !begun {
        events.push(run_started(thread, run));
    }
    events.push(match (own, &settlement.reason) {
        (OwnTerminal::Failure, Some(reason)) => run_error(reason.code(), reason.message()),
        (OwnTerminal::Failure, None) => run_error("failed", "the run failed"),
        (OwnTerminal::Cancelled, _) => {
            Event::from(RunFinished::cancelled(thread.as_str(), run.as_str())).into()
        }
        (OwnTerminal::CancelledMidway, _) => run_error("cancelled", "the run was cancelled"),
    });
    events
}

/// The events of a run that fails before any provider saw it.
pub(crate) fn stillborn(thread: &ThreadId, run: &RunId, reason: &FailureReason) -> Vec<RelayedEvent> {
    vec![run_started(thread, run), run_error(reason.code(), reason.message())]
}
