//! A run's events as its callers see them: what is hot in memory, the record behind it, and a cursor.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use funduq_agui::RelayedEvent;
use funduq_contract::{PublicKey, RunId, ThreadId};
use tokio::sync::Notify;

use super::live::Record;
use super::model::RunStatus;
use super::store::{Store, StoreError};

/// How many events a stream reads from the record at once.
const PAGE: usize = 256;

/// An event with its number in the run, counted from 1.
#[derive(Debug, Clone)]
pub struct NumberedEvent {
    /// The number.
    pub number: u64,
    /// The event, as it came.
    pub event: RelayedEvent,
}

/// Why a stream has no more events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamEnd {
    /// The run ended, and the last event was its terminal one.
    RunEnded,
    /// funduq stops; the run stays queued in the record and goes on after the restart.
    Suspended,
}

/// How a live run's log stops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunEnd {
    Settled,
    Suspended,
}

#[derive(Debug, Default)]
struct LogState {
    /// The latest events, oldest first; those after `durable` may not be shown yet.
    hot: VecDeque<RelayedEvent>,
    hot_bytes: usize,
    /// How many events came before the first of `hot`.
    cooled: u64,
    /// How many events are in the record.
    durable: u64,
    /// The number up to which the one live stream has them.
    read: u64,
    end: Option<RunEnd>,
    status: Option<RunStatus>,
    /// Whether the record says that the run was asked to stop.
    cancelling: bool,
}

impl LogState {
    fn appended(&self) -> u64 {
        self.cooled + self.hot.len() as u64
    }
}

/// The live side of a run's events. The thread's owner appends, the writer moves the durable mark,
/// callers read up to it.
#[derive(Debug)]
pub(crate) struct RunLog {
    pub(crate) run: RunId,
    pub(crate) thread: ThreadId,
    /// Whose agent has it.
    pub(crate) provider: PublicKey,
    state: Mutex<LogState>,
    changed: Notify,
    broken: AtomicBool,
    streaming: AtomicBool,
    keep: Keep,
}

/// How much of a live run's events stays in memory once recorded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Keep {
    /// Events that the live stream has, or that none is there to read.
    pub(crate) events: usize,
    /// Events, if the live stream has not read the oldest yet.
    pub(crate) unread: usize,
    /// Bytes of them.
    pub(crate) bytes: usize,
}

impl RunLog {
    pub(crate) fn new(run: RunId, thread: ThreadId, provider: PublicKey, keep: Keep) -> Arc<Self> {
        Arc::new(Self {
            run,
            thread,
            provider,
            state: Mutex::default(),
            changed: Notify::new(),
            broken: AtomicBool::new(false),
            streaming: AtomicBool::new(false),
            keep,
        })
    }

    fn lock(&self) -> MutexGuard<'_, LogState> {
        // A panic while the lock is held leaves counters that still describe what was pushed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds events that are on their way to the record and returns the number of the first.
    pub(crate) fn append(&self, events: &[RelayedEvent]) -> u64 {
        let mut state = self.lock();
        let first = state.appended() + 1;
        for event in events {
            state.hot_bytes += event.json().len();
            state.hot.push_back(event.clone());
        }
        first
    }

    /// How many events are in the record.
    pub(crate) fn durable(&self) -> u64 {
        self.lock().durable
    }

    /// Notes where the run stands while it is live, for those who look at it from outside.
    pub(crate) fn set_status(&self, status: RunStatus) {
        self.lock().status = Some(status);
        self.changed.notify_waiters();
    }

    /// Where the run stands, as its owner last said.
    pub(crate) fn status(&self) -> Option<RunStatus> {
        self.lock().status
    }

    /// Whether a provider's key holds the run.
    pub(crate) fn is_claimed(&self) -> bool {
        self.lock().status.is_some_and(RunStatus::is_claimed)
    }

    /// Whether nobody has been offered the run yet, or not again.
    pub(crate) fn is_queued(&self) -> bool {
        self.lock().status.is_none_or(|status| status == RunStatus::Queued)
    }

    /// How many events were appended so far.
    pub(crate) fn appended(&self) -> u64 {
        self.lock().appended()
    }

    /// Events up to the number `upto` are durable: shows them, and lets go of what is too old to keep hot.
    pub(crate) fn committed(&self, upto: u64, end: Option<RunEnd>) {
        let mut state = self.lock();
        state.durable = state.durable.max(upto);
        state.end = state.end.or(end);
        let streaming = self.streaming.load(Ordering::Acquire);
        while state.cooled < state.durable {
            let unread = streaming && state.cooled >= state.read;
            let events = if unread { self.keep.unread } else { self.keep.events };
            if state.hot.len() <= events && state.hot_bytes <= self.keep.bytes {
                break;
            }
            let Some(event) = state.hot.pop_front() else { break };
            state.hot_bytes -= event.json().len();
            state.cooled += 1;
        }
        drop(state);
        self.changed.notify_waiters();
    }

    /// The record says that the run was asked to stop.
    pub(crate) fn note_cancelling(&self) {
        self.lock().cancelling = true;
        self.changed.notify_waiters();
    }

    /// Waits until a provider's key holds the run, or its end is in the record.
    pub(crate) async fn claimed(&self) {
        let claimed = |state: &LogState| state.status.is_some_and(RunStatus::is_claimed);
        self.until(|state| claimed(state) || state.end.is_some()).await;
    }

    /// Waits until the run's end is in the record.
    pub(crate) async fn ended(&self) {
        self.until(|state| state.end.is_some()).await;
    }

    /// Waits until the record says that the run was asked to stop, or that it has ended.
    pub(crate) async fn cancelling(&self) {
        self.until(|state| state.cancelling || state.end.is_some()).await;
    }

    async fn until(&self, reached: impl Fn(&LogState) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if reached(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    /// A write of this run failed: forgets what is not durable, and takes nothing more but its end.
    /// Returns how many events are durable.
    pub(crate) fn break_off(&self) -> u64 {
        self.broken.store(true, Ordering::Release);
        let mut state = self.lock();
        while state.appended() > state.durable {
            let Some(event) = state.hot.pop_back() else { break };
            state.hot_bytes -= event.json().len();
        }
        state.durable
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Takes the one place for a live stream; `None` while another has it.
    pub(crate) fn claim_stream(self: &Arc<Self>) -> Option<StreamClaim> {
        let taken = self.streaming.swap(true, Ordering::AcqRel);
        (!taken).then(|| StreamClaim(Arc::clone(self)))
    }

    /// What a reader at `after` can have now; what the live stream gets is noted.
    fn look(&self, after: u64, limit: usize, is_live: bool) -> Look {
        let mut state = self.lock();
        if after < state.cooled {
            return Look::InRecord { upto: state.durable };
        }
        let skip = (after - state.cooled) as usize;
        let shown = (state.durable - state.cooled) as usize;
        if skip < shown {
            let take = (shown - skip).min(limit);
            if is_live {
                state.read = after + take as u64;
            }
            return Look::Events(state.hot.iter().skip(skip).take(take).cloned().collect());
        }
        match state.end {
            Some(RunEnd::Settled) => Look::End(StreamEnd::RunEnded),
            Some(RunEnd::Suspended) => Look::End(StreamEnd::Suspended),
            None => Look::Wait,
        }
    }
}

enum Look {
    Events(Vec<RelayedEvent>),
    InRecord { upto: u64 },
    End(StreamEnd),
    Wait,
}

/// The one place for a live stream of a run, given back when dropped.
#[derive(Debug)]
pub(crate) struct StreamClaim(Arc<RunLog>);

impl Drop for StreamClaim {
    fn drop(&mut self) {
        self.0.streaming.store(false, Ordering::Release);
    }
}

/// A run's events from some number on: first what the record has, then what comes, until the run ends.
///
/// It reads at its own pace: a slow reader costs neither memory without bound nor the provider's pace,
/// because what is no longer hot is read from the record. Dropping it stops nothing but itself.
#[derive(Debug)]
pub struct RunStream {
    run: RunId,
    thread: ThreadId,
    record: Record,
    log: Option<Arc<RunLog>>,
    claim: Option<StreamClaim>,
    after: u64,
    ready: VecDeque<RelayedEvent>,
    end: Option<StreamEnd>,
}

impl RunStream {
    pub(crate) fn new(
        record: Record,
        run: RunId,
        thread: ThreadId,
        log: Option<Arc<RunLog>>,
        after: u64,
    ) -> Self {
        Self { run, thread, record, log, claim: None, after, ready: VecDeque::new(), end: None }
    }

    /// Keeps the run's one live stream for as long as this stream lives.
    pub(crate) fn with_claim(mut self, claim: Option<StreamClaim>) -> Self {
        self.claim = claim;
        self
    }

    /// The run's id, funduq's own.
    pub fn run_id(&self) -> &RunId {
        &self.run
    }

    /// The thread's id, funduq's own.
    pub fn thread_id(&self) -> &ThreadId {
        &self.thread
    }

    /// Why there are no more events; `None` while there may be.
    pub fn end(&self) -> Option<StreamEnd> {
        self.end
    }

    /// The next event, once it is in the record; `None` when there are no more, and [`RunStream::end`]
    /// then says why. Cancel-safe.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read; the stream may be polled again.
    pub async fn next(&mut self) -> Result<Option<NumberedEvent>, StoreError> {
        while self.ready.is_empty() {
            if self.end.is_some() {
                return Ok(None);
            }
            self.fill().await?;
        }
        Ok(self.pop())
    }

    /// An event that needs no waiting, if there is one.
    pub fn next_ready(&mut self) -> Option<NumberedEvent> {
        if self.ready.is_empty()
            && let Some(log) = &self.log
            && let Look::Events(events) = log.look(self.after, PAGE, self.claim.is_some())
        {
            self.ready = events.into();
        }
        self.pop()
    }

    fn pop(&mut self) -> Option<NumberedEvent> {
        let event = self.ready.pop_front()?;
        self.after += 1;
        Some(NumberedEvent { number: self.after, event })
    }

    async fn fill(&mut self) -> Result<(), StoreError> {
        let Some(log) = self.log.clone() else {
            let (run, after) = (self.run.clone(), self.after);
            let read = move |store: &dyn Store| {
                let page = store.events(&run, after, PAGE)?;
                if !page.is_empty() {
                    return Ok((page, None));
                }
                if !store.run(&run)?.is_none_or(|run| run.status.is_terminal()) {
                    return Ok((page, Some(StreamEnd::Suspended)));
                }
                // It may have ended between the two reads, and its last events came with that.
                let page = store.events(&run, after, PAGE)?;
                let end = page.is_empty().then_some(StreamEnd::RunEnded);
                Ok((page, end))
            };
            let (page, end) = self.record.read(read).await?;
            (self.ready, self.end) = (page.into(), end);
            return Ok(());
        };
        let changed = log.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        match log.look(self.after, PAGE, self.claim.is_some()) {
            Look::Events(events) => self.ready = events.into(),
            Look::InRecord { upto } => {
                let missing = usize::try_from(upto - self.after).unwrap_or(PAGE).min(PAGE);
                self.ready = self.page(missing).await?.into();
            }
            Look::End(end) => {
                self.end = Some(end);
                self.claim = None;
            }
            Look::Wait => changed.await,
        }
        Ok(())
    }

    async fn page(&self, limit: usize) -> Result<Vec<RelayedEvent>, StoreError> {
        let (run, after) = (self.run.clone(), self.after);
        self.record.read(move |store| store.events(&run, after, limit)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Keep = Keep { events: 2, unread: 5, bytes: 1000 };

    fn log() -> Arc<RunLog> {
        let provider = funduq_contract::Identity::from_seed(&[1; 32]).public_key();
        RunLog::new(RunId::new("r").unwrap(), ThreadId::new("t").unwrap(), provider, KEEP)
    }

    /// Events that come and are recorded; how many are in memory then.
    fn record(log: &RunLog, events: usize, padding: usize) -> usize {
        let json = format!(r#"{{"type":"X","padding":"{}"}}"#, "x".repeat(padding));
        let events = vec![RelayedEvent::parse(json).unwrap(); events];
        log.append(&events);
        log.committed(log.appended(), None);
        log.lock().hot.len()
    }

    #[test]
    fn what_nobody_reads_goes_at_once_but_for_a_few() {
        assert_eq!(record(&log(), 10, 0), 2);
    }

    #[test]
    fn what_a_stream_has_not_read_stays_up_to_a_bound_and_what_it_has_read_goes() {
        let log = log();
        let _claim = log.claim_stream();
        assert_eq!(record(&log, 4, 0), 4);
        assert!(matches!(log.look(0, 3, true), Look::Events(events) if events.len() == 3));
        assert_eq!(record(&log, 1, 0), 2);
        assert_eq!(record(&log, 10, 0), 5);
        assert!(matches!(log.look(3, 3, true), Look::InRecord { upto: 15 }));
    }

    #[test]
    fn what_stays_is_bounded_in_bytes_too() {
        let log = log();
        let _claim = log.claim_stream();
        assert_eq!(record(&log, 3, 400), 2);
        assert_eq!(record(&log, 1, 4000), 0);
    }
}
