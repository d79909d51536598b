//! What the relay counts while it works, for a host's metrics. Counting is an addition to an atomic: it never waits and
//! never allocates, and nothing in the relay reads it.

mod completions;
mod timing;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::record::{RunMetadata, RunStatus, StoreError, Write};

use completions::CompletionStats;
pub use completions::{CompletionEnding, CompletionFigures};
use timing::Histogram;
pub use timing::Timing;

/// Every way in which a run ends, as a status and a word for why. A provider's own words are not among them: whatever
/// they are, they are `provider_refused` here.
const ENDINGS: [(RunStatus, &str); 13] = [
    (RunStatus::Completed, ""),
    (RunStatus::Cancelled, ""),
    (RunStatus::Failed, PROVIDER_ERROR),
    (RunStatus::Failed, PROVIDER_REFUSED),
    (RunStatus::Failed, "agent_offline"),
    (RunStatus::Failed, "no_provider_took_it"),
    (RunStatus::Failed, "provider_did_not_answer"),
    (RunStatus::Failed, "provider_left_holding_it"),
    (RunStatus::Failed, "provider_stream_ended_without_finishing"),
    (RunStatus::Failed, "malformed_event"),
    (RunStatus::Failed, "orphaned_by_restart"),
    (RunStatus::Failed, "funduq_shutdown"),
    (RunStatus::Failed, "record_unavailable"),
];

/// The provider sent `RUN_ERROR`.
const PROVIDER_ERROR: &str = "provider_error";
/// The provider refused the offer.
const PROVIDER_REFUSED: &str = "provider_refused";

/// The place of an ending in [`ENDINGS`]; `None` for a status that is no end.
fn ending(status: RunStatus, metadata: &RunMetadata) -> Option<usize> {
    let reason = match (status, &metadata.failure_reason) {
        (RunStatus::Failed, None) => PROVIDER_ERROR,
        (RunStatus::Failed, Some(reason)) => reason,
        _ => "",
    };
    let place = |reason: &str| ENDINGS.iter().position(|known| *known == (status, reason));
    place(reason).or_else(|| place(PROVIDER_REFUSED).filter(|_| status == RunStatus::Failed))
}

/// Why a run ended so, as a word of the list: empty where the status says it, or is no end.
pub(crate) fn reason(status: RunStatus, metadata: &RunMetadata) -> &'static str {
    ending(status, metadata).map_or("", |place| ENDINGS[place].1)
}

/// How an offer was answered, or that it was not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answer {
    Accepted,
    Declined,
    Refused,
    Unanswered,
}

/// The counters, shared by whoever counts.
#[derive(Debug, Default)]
pub(crate) struct Stats {
    opened: AtomicU64,
    ended: [AtomicU64; ENDINGS.len()],
    full_threads: AtomicU64,
    too_many_runs: AtomicU64,
    offers: AtomicU64,
    answers: [AtomicU64; 4],
    events: AtomicU64,
    event_bytes: AtomicU64,
    writes_failed: AtomicU64,
    reads_failed: AtomicU64,
    /// Operations that were handed to the writer and are not done.
    writes_waiting: AtomicU64,
    pub(crate) answer_time: Histogram,
    pub(crate) first_event_time: Histogram,
    pub(crate) commit_time: Histogram,
    pub(crate) completions: CompletionStats,
}

fn add(counter: &AtomicU64, count: usize) {
    counter.fetch_add(count as u64, Ordering::Relaxed);
}

impl Stats {
    /// A run was not accepted because its thread has too many that wait.
    pub(crate) fn full_thread(&self) {
        add(&self.full_threads, 1);
    }

    /// A run was not accepted because too many are live.
    pub(crate) fn too_many_runs(&self) {
        add(&self.too_many_runs, 1);
    }

    pub(crate) fn offered(&self) {
        add(&self.offers, 1);
    }

    /// An offer was answered, or lapsed; `after` is how long that took.
    pub(crate) fn answered(&self, answer: Answer, after: Option<Duration>) {
        add(&self.answers[answer as usize], 1);
        if let (Some(after), Answer::Accepted | Answer::Declined | Answer::Refused) = (after, answer) {
            self.answer_time.note(after);
        }
    }

    pub(crate) fn queued_write(&self) {
        add(&self.writes_waiting, 1);
    }

    pub(crate) fn read_failed(&self) {
        add(&self.reads_failed, 1);
    }

    /// Operations are out of the writer's queue, done or given up.
    pub(crate) fn left_queue(&self, operations: usize) {
        self.writes_waiting.fetch_sub(operations as u64, Ordering::Relaxed);
    }

    /// What one operation of a group came to. Only what is durable is counted as having happened.
    pub(crate) fn written(&self, write: &Write, result: &Result<(), StoreError>) {
        match (write, result) {
            (Write::OpenRun(open), Ok(())) => {
                add(&self.opened, 1);
                self.recorded(open.events.iter().map(|event| event.json().len()));
                self.ended(open.run.status, &open.run.metadata);
            }
            (Write::Append { events, .. }, Ok(())) => {
                self.recorded(events.iter().map(|event| event.json().len()));
            }
            (Write::Settle(settle), Ok(())) => {
                self.recorded(settle.events.iter().map(|event| event.json().len()));
                self.ended(settle.status, &settle.metadata);
            }
            (_, Ok(()) | Err(StoreError::Conflict(_))) => {}
            (_, Err(_)) => add(&self.writes_failed, 1),
        }
    }

    fn recorded(&self, sizes: impl ExactSizeIterator<Item = usize>) {
        add(&self.events, sizes.len());
        add(&self.event_bytes, sizes.sum());
    }

    fn ended(&self, status: RunStatus, metadata: &RunMetadata) {
        if let Some(place) = ending(status, metadata) {
            add(&self.ended[place], 1);
        }
    }
}

/// What a relay has counted since it was made. Each figure is exact; they are read one after the other, so two of them
/// may be of slightly different moments.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Figures {
    /// Runs whose opening is in the record.
    pub runs_opened: u64,
    /// Runs whose end is in the record, by how they ended.
    pub runs_ended: Vec<RunsEnded>,
    /// Runs that were refused because their thread had as many waiting as it takes.
    pub full_threads: u64,
    /// Runs that were refused because as many were live as funduq takes.
    pub too_many_runs: u64,
    /// Offers that went out over a link.
    pub offers: u64,
    /// Offers that were accepted.
    pub accepted: u64,
    /// Offers that were declined.
    pub declined: u64,
    /// Offers that were refused for good.
    pub refused: u64,
    /// Offers that lapsed. What is left of `offers` is outstanding, or was taken back because the link went or the run was
    /// cancelled.
    pub unanswered: u64,
    /// Events in the record, funduq's own among them.
    pub events: u64,
    /// Their bytes.
    pub event_bytes: u64,
    /// Operations that the record could not do, tries of one operation each for itself. That the record stood otherwise
    /// than a caller assumed is none.
    pub writes_failed: u64,
    /// Reads that the record could not do.
    pub reads_failed: u64,
    /// Operations that wait to be written right now.
    pub writes_waiting: u64,
    /// Runs that have not ended, by where they stand.
    pub live_runs: [(RunStatus, usize); 4],
    /// Threads with anything alive.
    pub live_threads: usize,
    /// Open agent links.
    pub agent_links: usize,
    /// Open LLM links.
    pub llm_links: usize,
    /// From an offer to its answer.
    pub answer_time: Timing,
    /// From a run's arrival to the first event of its provider.
    pub first_event_time: Timing,
    /// What a commit of the record takes.
    pub commit_time: Timing,
    /// Completions of lent models.
    pub completions: CompletionFigures,
}

/// How many runs ended in one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunsEnded {
    /// Their status, a terminal one.
    pub status: RunStatus,
    /// Why: empty where the status says it, else a word of [`FailureReason::as_str`](crate::FailureReason::as_str), `provider_refused`, or
    /// `provider_error` for a provider's own `RUN_ERROR`. There are no others.
    pub reason: &'static str,
    /// How many.
    pub count: u64,
}

/// What of a relay is counted where it lives and not in [`Stats`].
pub(crate) struct Standing {
    pub(crate) live_runs: [(RunStatus, usize); 4],
    pub(crate) live_threads: usize,
    pub(crate) agent_links: usize,
    pub(crate) llm_links: usize,
    /// How many completions are on their way, and how many bytes of them are unread.
    pub(crate) completions: (usize, usize),
}

impl Stats {
    pub(crate) fn figures(&self, standing: Standing) -> Figures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let ended = ENDINGS.iter().zip(&self.ended);
        let (live, unread) = standing.completions;
        let [accepted, declined, refused, unanswered] = self.answers.each_ref().map(read);
        Figures {
            runs_ended: ended
                .map(|(&(status, reason), count)| RunsEnded { status, reason, count: read(count) })
                .collect(),
            runs_opened: read(&self.opened),
            full_threads: read(&self.full_threads),
            too_many_runs: read(&self.too_many_runs),
            offers: read(&self.offers),
            accepted,
            declined,
            refused,
            unanswered,
            events: read(&self.events),
            event_bytes: read(&self.event_bytes),
            writes_failed: read(&self.writes_failed),
            reads_failed: read(&self.reads_failed),
            writes_waiting: read(&self.writes_waiting),
            live_runs: standing.live_runs,
            live_threads: standing.live_threads,
            agent_links: standing.agent_links,
            llm_links: standing.llm_links,
            answer_time: self.answer_time.read(),
            first_event_time: self.first_event_time.read(),
            commit_time: self.commit_time.read(),
            completions: self.completions.figures(live, unread),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FailureReason;

    /// Every reason; the match makes whoever adds one add it here.
    fn reasons() -> Vec<FailureReason> {
        use FailureReason as F;
        let all = [
            F::AgentOffline,
            F::NoProviderTookIt,
            F::ProviderDidNotAnswer,
            F::ProviderLeftHoldingIt,
            F::ProviderStreamEndedWithoutFinishing,
            F::MalformedEvent,
            F::OrphanedByRestart,
            F::FunduqShutdown,
            F::RecordUnavailable,
            F::Refused("not on a Monday".to_owned()),
        ];
        for reason in &all {
            match reason {
                F::AgentOffline
                | F::NoProviderTookIt
                | F::ProviderDidNotAnswer
                | F::ProviderLeftHoldingIt
                | F::ProviderStreamEndedWithoutFinishing
                | F::MalformedEvent
                | F::OrphanedByRestart
                | F::FunduqShutdown
                | F::RecordUnavailable
                | F::Refused(_) => {}
            }
        }
        all.into()
    }

    #[test]
    fn every_end_has_a_place_and_every_reason_its_own_word() {
        for reason in reasons() {
            let metadata =
                RunMetadata { failure_reason: Some(reason.as_str().to_owned()), ..RunMetadata::default() };
            let place = ending(RunStatus::Failed, &metadata).unwrap();
            assert_eq!(ENDINGS[place], (RunStatus::Failed, reason.code()));
        }
        let silent = RunMetadata::default();
        assert_eq!(ENDINGS[ending(RunStatus::Failed, &silent).unwrap()].1, "provider_error");
        for status in [RunStatus::Completed, RunStatus::Cancelled] {
            assert_eq!(ENDINGS[ending(status, &silent).unwrap()], (status, ""));
        }
        for status in [RunStatus::Queued, RunStatus::Offering, RunStatus::Running, RunStatus::Cancelling] {
            assert_eq!(ending(status, &silent), None);
        }
    }
}
