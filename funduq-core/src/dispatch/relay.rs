//! What the threads' owners share, and the one way in to each of them.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use funduq_agui::RelayedEvent;
use funduq_contract::{AgentAddress, LinkId, PortError, PublicKey, RunId, ThreadId};
use tokio::sync::{Notify, Semaphore, mpsc, oneshot};
use tokio::time::Instant;

use super::actor;
use super::opening::{OpenError, Opened, Opening};
use super::own;
use super::provider::Notice;
use super::thread::{CancelAnswer, Message, Moment, Slot};
use crate::clock;
use crate::doors::TokenSecret;
use crate::links::{Change, Departure, Links, LlmLinks};
use crate::record::{
    Done, FailureReason, Job, OpenRun, Record, Room, Run, RunLog, RunMetadata, RunStatus, Settle, Write,
};
use crate::settings::CoreSettings;
use crate::stats::Answer;

/// What an event weighs beside its bytes.
const MESSAGE_WEIGHT: usize = 256;

/// What events of these sizes weigh on their way to the record.
pub(crate) fn weight(sizes: impl Iterator<Item = usize>) -> usize {
    sizes.map(|bytes| bytes + MESSAGE_WEIGHT).sum()
}

/// A message on its way to a thread's owner, with the room that it takes up until it is durable.
#[derive(Debug)]
pub(crate) struct Envelope {
    pub(crate) letter: Letter,
    pub(crate) room: Option<Room>,
}

/// What a thread's owner is sent.
#[derive(Debug)]
pub(crate) enum Letter {
    /// For the machine as it is.
    Machine(Message),
    /// Events of a run one after another, the first with the number `first`.
    Events { key: PublicKey, run: RunId, first: u64, events: Vec<RelayedEvent> },
    /// A run to open.
    Open(Box<Opening>),
    /// A run that an earlier process left queued, and who waits until it is live again.
    Restore(Box<Run>, oneshot::Sender<()>),
    /// From somebody who waits until everything posted before is judged.
    CatchUp(oneshot::Sender<()>),
    /// A row that was not written, and why.
    RecordFailed(RunId, crate::record::StoreError),
    /// A cancel, who proved the right to ask for it, and who waits for the answer.
    Cancel(RunId, Option<PublicKey>, oneshot::Sender<CancelAnswer>),
}

/// A run that has not ended, or whose end is not durable yet.
#[derive(Debug)]
pub(crate) struct LiveRun {
    /// Its place in the order of arrival.
    arrival: u64,
    pub(crate) agent: AgentAddress,
    pub(crate) log: Arc<RunLog>,
    inbox: mpsc::UnboundedSender<Envelope>,
    room: Arc<Semaphore>,
}

#[derive(Debug)]
struct Owner {
    /// Its place in the order of starting.
    arrival: u64,
    agent: AgentAddress,
    inbox: mpsc::UnboundedSender<Envelope>,
    room: Arc<Semaphore>,
}

/// Everything that the threads' owners share.
pub(crate) struct Dispatch {
    pub(crate) settings: CoreSettings,
    pub(crate) links: Links,
    pub(crate) llm: LlmLinks,
    /// What KYOK tokens are made with.
    pub(crate) token_secret: TokenSecret,
    pub(crate) record: Record,
    began: OnceLock<Instant>,
    owners: Mutex<HashMap<ThreadId, Owner>>,
    runs: Mutex<HashMap<RunId, Arc<LiveRun>>>,
    arrivals: AtomicU64,
    room: Arc<Semaphore>,
    stopping: AtomicBool,
    /// Told whenever an owner goes and whenever a run has ended.
    emptier: Notify,
}

impl Dispatch {
    pub(crate) fn new(settings: CoreSettings, record: Record, token_secret: TokenSecret) -> Arc<Self> {
        let links = Links::new();
        let room =
            Arc::new(Semaphore::new(settings.inbox_bytes.clamp(MESSAGE_WEIGHT, Semaphore::MAX_PERMITS)));
        let llm = LlmLinks::new(&settings, links.changes(), Arc::clone(&record.stats));
        Arc::new(Self {
            settings,
            llm,
            links,
            token_secret,
            record,
            began: OnceLock::new(),
            owners: Mutex::default(),
            runs: Mutex::default(),
            arrivals: AtomicU64::new(0),
            room,
            stopping: AtomicBool::new(false),
            emptier: Notify::new(),
        })
    }

    /// The shell's clock: how long this dispatch has been running.
    pub(crate) fn now(&self) -> Moment {
        self.began.get_or_init(Instant::now).elapsed()
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Acquire)
    }

    fn owners(&self) -> MutexGuard<'_, HashMap<ThreadId, Owner>> {
        // Every change is one map operation, so a panic leaves nothing half done.
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<RunId, Arc<LiveRun>>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A run that has not ended.
    pub(crate) fn live(&self, run: &RunId) -> Option<Arc<LiveRun>> {
        self.runs().get(run).cloned()
    }

    /// How many runs have not ended, or have not all of their end in the record.
    pub(crate) fn live_runs(&self) -> usize {
        self.runs().len()
    }

    /// How many live runs stand where.
    pub(crate) fn standing(&self) -> [(RunStatus, usize); 4] {
        use RunStatus::{Cancelling, Offering, Queued, Running};
        let mut counts = [Queued, Offering, Running, Cancelling].map(|status| (status, 0));
        for live in self.runs().values() {
            // One that has no status yet has not been offered either.
            let status = live.log.status().unwrap_or(Queued);
            counts.iter_mut().filter(|(counted, _)| *counted == status).for_each(|(_, count)| *count += 1);
        }
        counts
    }

    /// Counts the answer to an offer that was made at `offered`.
    pub(crate) fn answered(&self, answer: Answer, offered: Option<Moment>) {
        let after = offered.map(|offered| self.now().saturating_sub(offered));
        self.record.stats.answered(answer, after);
    }

    /// How many threads have anything alive.
    pub(crate) fn live_threads(&self) -> usize {
        self.owners().len()
    }

    fn next_arrival(&self) -> u64 {
        self.arrivals.fetch_add(1, Ordering::Relaxed)
    }

    /// The live runs of a key's agents, in the order of arrival.
    pub(crate) fn runs_of(&self, key: &PublicKey) -> Vec<Arc<LiveRun>> {
        let mut runs: Vec<_> =
            self.runs().values().filter(|live| live.agent.provider == *key).cloned().collect();
        runs.sort_by_key(|live| live.arrival);
        runs
    }

    pub(crate) fn track(&self, thread: &ThreadId, agent: &AgentAddress, log: &Arc<RunLog>) {
        let owner = self.owners().get(thread).map(|owner| (owner.inbox.clone(), Arc::clone(&owner.room)));
        if let Some((inbox, room)) = owner {
            let arrival = self.next_arrival();
            let live = LiveRun { arrival, agent: agent.clone(), log: Arc::clone(log), inbox, room };
            self.runs().insert(log.run.clone(), Arc::new(live));
        }
    }

    pub(crate) fn untrack(&self, run: &RunId) {
        self.runs().remove(run);
    }

    /// Sends to a thread's owner, and says whether there is one.
    pub(crate) fn post(&self, thread: &ThreadId, letter: Letter) -> bool {
        let owners = self.owners();
        // An owner takes itself off this map before it drops its inbox.
        owners.get(thread).is_some_and(|owner| owner.inbox.send(Envelope { letter, room: None }).is_ok())
    }

    /// Sends to the owners that are wanted, in the order in which they started.
    fn post_to(&self, wanted: impl Fn(&Owner) -> bool, mut letter: impl FnMut() -> Letter) {
        let owners = self.owners();
        let mut chosen: Vec<_> = owners.values().filter(|owner| wanted(owner)).collect();
        chosen.sort_by_key(|owner| owner.arrival);
        for owner in chosen {
            let _ = owner.inbox.send(Envelope { letter: letter(), room: None });
        }
    }

    /// Sends to a thread's owner, and starts one if nothing of the thread is alive.
    pub(crate) fn post_or_start(self: &Arc<Self>, thread: &ThreadId, agent: &AgentAddress, letter: Letter) {
        let mut owners = self.owners();
        let owner = owners.entry(thread.clone()).or_insert_with(|| {
            let (inbox, letters) = mpsc::unbounded_channel();
            let bytes = self.settings.thread_inbox_bytes.clamp(MESSAGE_WEIGHT, u32::MAX as usize);
            actor::start(Arc::clone(self), thread.clone(), agent.clone(), letters);
            let room = Arc::new(Semaphore::new(bytes));
            Owner { arrival: self.next_arrival(), agent: agent.clone(), inbox, room }
        });
        let _ = owner.inbox.send(Envelope { letter, room: None });
    }

    /// Lets a thread's owner go if nothing came meanwhile. Sending happens under the same lock, so nothing can come
    /// between the look and the removal.
    pub(crate) fn retire(&self, thread: &ThreadId, inbox: &mpsc::UnboundedReceiver<Envelope>) -> bool {
        let mut owners = self.owners();
        if !inbox.is_empty() {
            return false;
        }
        owners.remove(thread);
        drop(owners);
        self.emptier.notify_waiters();
        true
    }

    /// Waits until everything that was posted to the threads of a key is judged.
    pub(crate) async fn catch_up(&self, key: &PublicKey) {
        let mut judged = Vec::new();
        self.post_to(
            |owner| owner.agent.provider == *key,
            || {
                let (done, is_done) = oneshot::channel();
                judged.push(is_done);
                Letter::CatchUp(done)
            },
        );
        for is_done in judged {
            // An owner that is gone has judged everything.
            let _ = is_done.await;
        }
    }

    /// Tells threads what the desk of `key` has for them.
    pub(crate) fn notify(&self, key: &PublicKey, notices: Vec<Notice>) {
        let mut notices = VecDeque::from(notices);
        while let Some(Notice { thread, slot }) = notices.pop_front() {
            let told = self.post(&thread, Letter::Machine(Message::Slot(slot)));
            if !told && matches!(slot, Slot::Granted { .. }) {
                // The thread went between the desk's look and this one; its place is for the next.
                notices.extend(self.links.release_slot(key));
            }
        }
    }

    /// Tells every thread of a key that one of its links went.
    pub(crate) fn departed(&self, Departure { key, link }: Departure) {
        self.post_to(|owner| owner.agent.provider == key, || Letter::Machine(Message::LinkGone { link }));
    }

    /// A link is off the roster: its threads are told, and when it was.
    pub(crate) fn link_lost(&self, gone: Option<(Departure, Vec<Notice>)>) {
        let Some((departure, notices)) = gone else { return };
        let Departure { key, link } = departure;
        tracing::info!(provider = %key.fingerprint(), %link, "a provider's link has gone");
        self.departed(departure);
        self.notify(&key, notices);
        self.record.write(Job {
            write: Write::Seen { provider: key, at: clock::now_millis() },
            done: Done::Nothing,
            room: None,
        });
    }

    /// Tells the threads of the agents that a key now serves on `link` that it is back.
    pub(crate) fn registered(&self, key: &PublicKey, link: LinkId) {
        self.post_to(
            |owner| owner.agent.provider == *key && self.links.serves(&owner.agent),
            || Letter::Machine(Message::Registered { link }),
        );
    }

    /// Opens a run and waits until it is in the record.
    pub(crate) async fn open(self: &Arc<Self>, open: OpenRun, exempt: bool) -> Result<Opened, OpenError> {
        if self.is_stopping() {
            return Err(OpenError::Stopping);
        }
        let (thread, agent) = (open.thread.id.clone(), open.thread.agent.clone());
        let (reply, opened) = oneshot::channel();
        self.post_or_start(&thread, &agent, Letter::Open(Box::new(Opening { open, exempt, reply })));
        opened.await.unwrap_or(Err(OpenError::Stopping))
    }

    /// Asks for a run to stop. That it was asked, or is cancelled, is said when the record says so.
    pub(crate) async fn cancel(&self, run: &RunId, by: Option<PublicKey>) -> CancelAnswer {
        let Some(live) = self.live(run) else { return CancelAnswer::NotLive };
        let (reply, answer) = oneshot::channel();
        self.post(&live.log.thread, Letter::Cancel(run.clone(), by, reply));
        let answer = answer.await.unwrap_or(CancelAnswer::NotLive);
        match answer {
            CancelAnswer::Settled => live.log.ended().await,
            CancelAnswer::Asked => live.log.cancelling().await,
            CancelAnswer::NotLive => {}
        }
        answer
    }

    /// Takes in what a provider says about a run, in the order of the calls. Waits while the thread, or funduq as a
    /// whole, has too much on its way to the record; `weight` is what the events in it weigh.
    pub(crate) async fn take_in(
        &self,
        key: PublicKey,
        run: &RunId,
        weight: usize,
        letter: impl FnOnce() -> Letter,
    ) -> Result<(), PortError> {
        let live = self.live(run).filter(|live| live.agent.provider == key);
        let Some(live) = live else { return Err(PortError::NotHeld(run.clone())) };
        let mut room = None;
        if weight > 0 {
            let enter = |room: &Arc<Semaphore>, limit: usize| {
                let weight = weight.min(limit.clamp(MESSAGE_WEIGHT, u32::MAX as usize)) as u32;
                Arc::clone(room).acquire_many_owned(weight)
            };
            let of_thread = enter(&live.room, self.settings.thread_inbox_bytes).await;
            let of_all = enter(&self.room, self.settings.inbox_bytes).await;
            let (Ok(of_thread), Ok(of_all)) = (of_thread, of_all) else { return Err(PortError::LinkClosed) };
            room = Some(Room { of_thread, of_all });
        }
        let envelope = Envelope { letter: letter(), room };
        live.inbox.send(envelope).map_err(|_| PortError::NotHeld(run.clone()))
    }

    /// Stops: nothing new is opened, live runs may end until `deadline`, then the rest are ended; returns when
    /// everything is in the record.
    pub(crate) async fn shutdown(&self, deadline: Duration) {
        self.stopping.store(true, Ordering::Release);
        // Queued runs stay in the record for the next start, so nobody waits for them.
        let only_queued = || self.runs().values().all(|live| live.log.is_queued());
        // Past the deadline, what is left is ended below.
        let _ = tokio::time::timeout(deadline, self.wait_until(only_queued)).await;
        self.post_to(|_| true, || Letter::Machine(Message::Shutdown));
        self.wait_until(|| self.owners().is_empty()).await;
        self.record.flush().await;
    }

    async fn wait_until(&self, done: impl Fn() -> bool) {
        loop {
            let changed = self.emptier.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if done() {
                return;
            }
            changed.await;
        }
    }
}

impl crate::record::WriterEvents for Dispatch {
    fn moved(&self, log: &RunLog, status: RunStatus) {
        self.links.announce(Change::Run { run: log.run.clone(), thread: log.thread.clone(), status });
    }

    fn recorded(&self, run: &RunId, upto: u64) {
        if let Some(live) = self.live(run) {
            self.links.received(&live.agent.provider, run, upto);
        }
    }

    fn failed(&self, log: &RunLog) {
        self.post(&log.thread, Letter::Machine(Message::StoreFailed { run: log.run.clone() }));
    }

    fn ended(&self, run: &RunId) {
        self.untrack(run);
        self.emptier.notify_waiters();
    }

    fn broken(&self, settle: &Settle, log: &RunLog) -> Settle {
        let reason = FailureReason::RecordUnavailable;
        let durable = log.appended();
        let mut events: Vec<RelayedEvent> = Vec::new();
        if durable == 0 {
            events.push(own::run_started(&log.thread, &log.run));
        }
        events.push(own::run_error(reason.code(), reason.message()));
        let first = log.append(&events);
        Settle {
            run: settle.run.clone(),
            status: RunStatus::Failed,
            metadata: RunMetadata {
                failure_reason: Some(reason.as_str().to_owned()),
                interrupts: Vec::new(),
                pending_tool_calls: Vec::new(),
                ..settle.metadata.clone()
            },
            first,
            events,
            messages: Vec::new(),
            at: settle.at,
        }
    }
}

#[cfg(test)]
mod tests;
