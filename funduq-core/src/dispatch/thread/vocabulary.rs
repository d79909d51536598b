//! What a thread's machine is told, and what it decides: the words between [`super::Thread`] and its shell.

use std::time::Duration;

use funduq_agui::{MalformedEvent, RelayedEvent};
use funduq_contract::{LinkId, PublicKey, RunId, Verdict};

use crate::record::{FailureReason, RunStatus};

/// A point in time, as the time since the shell started.
pub(crate) type Moment = Duration;

/// What may happen to a thread.
#[derive(Debug)]
pub(crate) enum Message {
    /// A door brings a run. `exempt`: it answers a waiting task, so the queue limit does not apply.
    Open { run: RunId, exempt: bool },
    /// The run's row is durable.
    Recorded { run: RunId },
    /// The run's row could not be written.
    RecordFailed { run: RunId },
    /// The answer to [`Effect::AskSlot`], at once or later, and each change of it.
    Slot(Slot),
    /// The link could not take the offer.
    OfferFailed { run: RunId, attempt: u32 },
    /// A provider answers an offer.
    Verdict { key: PublicKey, run: RunId, attempt: u32, verdict: Verdict },
    /// A provider reports an event, numbered within the run from 1.
    Event { key: PublicKey, run: RunId, number: u64, event: Result<RelayedEvent, Box<MalformedEvent>> },
    /// A provider says that it is done with a run.
    Finish { key: PublicKey, run: RunId },
    /// Somebody with the authority asks for a run to stop.
    Cancel { run: RunId },
    /// A link of this thread's provider went, or was replaced.
    LinkGone { link: LinkId },
    /// The provider's key registered this thread's agent on a link.
    Registered { link: LinkId },
    /// A write of a run's events failed; what was in flight with it is lost.
    StoreFailed { run: RunId },
    /// A deadline may have passed.
    Tick,
    /// funduq stops now.
    Shutdown,
}

/// Whether the provider's key has room for one more run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// It has, and one place is taken for this thread.
    Granted {
        /// The link to offer on.
        link: LinkId,
    },
    /// It is served, and full as far as funduq knows.
    Full,
    /// Nobody serves the agent.
    Unserved,
}

/// Where a thread that asks for a place stands among those that wait for one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Behind those that came before.
    InTurn,
    /// Before all whose run was not offered yet: its own was, and may be held though the answer was lost.
    Ahead,
    /// Behind the others, and not before something changed at the provider, which has just declined.
    AfterChange,
}

/// What the shell has to do.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Ask for a place with the provider.
    AskSlot(Asking),
    /// The thread waits for no place any more.
    DropSlotRequest,
    /// A place that was taken for this thread is free again.
    ReleaseSlot,
    /// Write the run's row, with this status.
    Record { run: RunId, as_status: RunStatus },
    /// The run was not accepted: its thread's queue is full.
    Full { run: RunId },
    /// Hand the run to the link.
    Offer { run: RunId, attempt: u32, link: LinkId },
    /// Write the run's new status.
    Status { run: RunId, status: RunStatus },
    /// Write the event, and show it once it is durable.
    Append { run: RunId, event: RelayedEvent },
    /// Write the run's end, and end its stream.
    Settle { run: RunId, settlement: Settlement },
    /// Tell the provider to stop the run.
    AskCancel { run: RunId },
    /// The run's stream stops here without the run having ended: it stays queued over a restart.
    Suspend { run: RunId },
    /// An event came again: tell the key's link how far the run is recorded, which it may not have heard.
    Repeated { run: RunId },
    /// Tell the provider that a report or an answer of its was not taken.
    Refused { run: RunId, why: Refusal },
    /// Count a fault against the provider's quality.
    Count(Fault),
    /// The answer to a [`Message::Cancel`].
    Cancelled { run: RunId, answer: CancelAnswer },
}

/// Why a provider's report or answer was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The run is not held by that key, or has ended, or the answer is to no offer that stands.
    NotHeld,
    /// Events are missing before this one.
    Gap {
        /// The number that is due.
        expected: u64,
        /// The number that came.
        got: u64,
    },
}

/// A fault that counts against a provider's quality.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It declined although funduq believed that it had room.
    Misdeclared,
    /// Its link went, and the grace passed while it held a run.
    Abandoned,
    /// It accepted a run long ago that has not ended.
    Undelivered,
    /// It let an offer lapse.
    Unanswered,
}

/// What became of a request to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelAnswer {
    /// Nobody had claimed the run: it is cancelled.
    Settled,
    /// The provider is asked; what happens is what will be recorded.
    Asked,
    /// The run has ended, or was never here.
    NotLive,
}

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Settlement {
    /// The terminal status.
    pub(crate) status: RunStatus,
    /// Why, where funduq has a reason to record.
    pub(crate) reason: Option<FailureReason>,
    /// The terminal event that funduq writes, where the provider sent none.
    pub(crate) own_event: Option<OwnTerminal>,
}

/// A terminal event of funduq's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OwnTerminal {
    /// `RUN_ERROR` with the failure reason's code and message.
    Failure,
    /// `RUN_FINISHED` with the outcome `cancelled`: nothing of the run had begun.
    Cancelled,
    /// `RUN_ERROR` with the code `cancelled`: the provider stopped without saying how, and a message
    /// of its may stand open, which only an error may follow.
    CancelledMidway,
}

impl Settlement {
    pub(super) fn failed(reason: FailureReason) -> Self {
        Self { status: RunStatus::Failed, reason: Some(reason), own_event: Some(OwnTerminal::Failure) }
    }

    pub(super) fn cancelled(own_event: OwnTerminal) -> Self {
        Self { status: RunStatus::Cancelled, reason: None, own_event: Some(own_event) }
    }

    pub(super) fn by_provider(status: RunStatus) -> Self {
        Self { status, reason: None, own_event: None }
    }
}
