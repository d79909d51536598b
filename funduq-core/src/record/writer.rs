//! The writer: groups the operations that wait into one commit, then tells whoever waited.
//!
//! A group is what came while the last one was being written. An operation that fails alone is told to its
//! owner; a run's end is tried again until it is written, since nobody may be left waiting for it.

use std::sync::Arc;
use std::time::Duration;

use funduq_contract::RunId;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::Instant;

use super::model::RunStatus;
use super::store::{Conflict, Settle, Store, StoreError, Write};
use super::stream::{RunEnd, RunLog};
use super::told;
use crate::stats::Stats;

/// How often the writer looks for company before a commit.
const GATHER: usize = 16;

/// The most operations in one commit.
const GROUP: usize = 2048;
/// How long the end of a run waits after its write failed before it is tried again.
const RETRY: Duration = Duration::from_millis(100);
/// How long a write that nobody waits for may wait for company. A commit of its own would hold up
/// the event that follows it.
const LINGER: Duration = Duration::from_millis(5);

/// An operation on its way to the record.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) write: Write,
    pub(crate) done: Done,
    /// Given back when the operation is done.
    pub(crate) room: Option<Room>,
}

/// The room that events take up in the inboxes.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) of_thread: OwnedSemaphorePermit,
    pub(crate) of_all: OwnedSemaphorePermit,
}

impl Room {
    /// Takes over the room of more events of the same thread.
    pub(crate) fn merge(&mut self, other: Self) {
        self.of_thread.merge(other.of_thread);
        self.of_all.merge(other.of_all);
    }
}

/// Who is told that an operation is done, and how.
pub(crate) enum Done {
    /// Nobody.
    Nothing,
    /// One caller.
    Reply(oneshot::Sender<Result<(), StoreError>>),
    /// The thread's owner, of a run that was opened.
    Opened(Box<dyn FnOnce(Result<(), StoreError>) + Send>),
    /// Subscribers, of where the run stands now; on failure the thread's owner, if the run is claimed.
    Moved { log: Arc<RunLog>, status: RunStatus },
    /// The run's callers, up to an event; its provider; on failure the thread's owner.
    Events { log: Arc<RunLog>, upto: u64 },
    /// The run's callers: it has ended.
    Settled { log: Arc<RunLog> },
}

impl Done {
    fn log(&self) -> Option<&RunLog> {
        match self {
            Self::Moved { log, .. } | Self::Events { log, .. } | Self::Settled { log } => Some(log),
            Self::Nothing | Self::Reply(_) | Self::Opened(_) => None,
        }
    }
}

impl std::fmt::Debug for Done {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Nothing => "Nothing",
            Self::Reply(_) => "Reply",
            Self::Opened(_) => "Opened",
            Self::Moved { .. } => "Moved",
            Self::Events { .. } => "Events",
            Self::Settled { .. } => "Settled",
        })
    }
}

/// What the writer tells the rest of core.
pub(crate) trait WriterEvents: Send + Sync + 'static {
    /// The record says that the run stands there.
    fn moved(&self, log: &RunLog, status: RunStatus);
    /// A run is recorded up to the event `upto`.
    fn recorded(&self, run: &RunId, upto: u64);
    /// A write of the run's events failed, and what was in flight is lost.
    fn failed(&self, log: &RunLog);
    /// The run's end is durable.
    fn ended(&self, run: &RunId);
    /// What becomes of the end of a run whose events could not be written. `log` holds no more than what is
    /// durable, and takes the events of the new end.
    fn broken(&self, settle: &Settle, log: &RunLog) -> Settle;
}

/// The sending half: cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    jobs: mpsc::UnboundedSender<Message>,
    stats: Arc<Stats>,
}

#[derive(Debug)]
enum Message {
    Job(Box<Job>),
    /// Answered when everything before it is written.
    Flush(oneshot::Sender<()>),
}

impl Message {
    fn can_wait(&self) -> bool {
        match self {
            Self::Job(job) => matches!(job.write, Write::Status { status: RunStatus::Running, .. }),
            Self::Flush(_) => false,
        }
    }
}

impl Writer {
    /// Starts the writing task. It ends when every sender is gone.
    pub(crate) fn start(store: Arc<dyn Store>, events: Arc<dyn WriterEvents>, stats: Arc<Stats>) -> Self {
        let (jobs, inbox) = mpsc::unbounded_channel();
        tokio::spawn(run(store, events, Arc::clone(&stats), inbox));
        Self { jobs, stats }
    }

    /// Queues an operation. What a stranger sends is bounded before it comes here, by its room.
    pub(crate) fn write(&self, job: Job) {
        self.stats.queued_write();
        if let Err(mpsc::error::SendError(Message::Job(job))) = self.jobs.send(Message::Job(Box::new(job))) {
            self.stats.left_queue(1);
            tell_stopped(*job);
        }
    }

    /// Queues an operation and waits until it is durable.
    pub(crate) async fn write_and_wait(&self, write: Write) -> Result<(), StoreError> {
        let (reply, done) = oneshot::channel();
        self.write(Job { write, done: Done::Reply(reply), room: None });
        done.await.unwrap_or_else(|_| Err(stopped()))
    }

    /// Waits until everything that was queued before is written.
    pub(crate) async fn flush(&self) {
        let (reply, done) = oneshot::channel();
        if self.jobs.send(Message::Flush(reply)).is_ok() {
            // An error means that the writer is gone, and with it everything that it could write.
            let _ = done.await;
        }
    }
}

fn stopped() -> StoreError {
    StoreError::Unavailable("the writer has stopped".into())
}

fn tell_stopped(job: Job) {
    match job.done {
        // A caller that went away needs no answer.
        Done::Reply(reply) => drop(reply.send(Err(stopped()))),
        Done::Opened(told) => told(Err(stopped())),
        Done::Nothing | Done::Moved { .. } | Done::Events { .. } | Done::Settled { .. } => {}
    }
}

async fn run(
    store: Arc<dyn Store>,
    events: Arc<dyn WriterEvents>,
    stats: Arc<Stats>,
    mut inbox: mpsc::UnboundedReceiver<Message>,
) {
    let mut messages = Vec::new();
    let mut again: Vec<Job> = Vec::new();
    loop {
        let received = if again.is_empty() {
            inbox.recv_many(&mut messages, GROUP).await
        } else {
            // Ends that failed are due again after a pause, whether or not anything new comes.
            tokio::time::timeout(RETRY, inbox.recv_many(&mut messages, GROUP)).await.unwrap_or(1)
        };
        if received == 0 {
            return;
        }
        if again.is_empty() && messages.iter().all(Message::can_wait) {
            // Whether or not company comes, what is here is written next.
            let _ = tokio::time::timeout(LINGER, inbox.recv_many(&mut messages, GROUP)).await;
        }
        gather(&mut inbox, &mut messages).await;
        let mut jobs = std::mem::take(&mut again);
        let mut flushes = Vec::new();
        for message in messages.drain(..) {
            match message {
                Message::Job(job) => jobs.push(*job),
                Message::Flush(reply) => flushes.push(reply),
            }
        }
        let taken = jobs.len();
        again = commit(&store, events.as_ref(), &stats, jobs).await;
        stats.left_queue(taken - again.len());
        for reply in flushes {
            // Whoever asked may have stopped waiting.
            let _ = reply.send(());
        }
    }
}

/// Takes along what everybody who is ready to run has to write: the last commit woke them all at once, and a commit for
/// half of them leaves the other half for one more. Alone, it costs one look.
async fn gather(inbox: &mut mpsc::UnboundedReceiver<Message>, messages: &mut Vec<Message>) {
    for _ in 0..GATHER {
        let before = messages.len();
        tokio::task::yield_now().await;
        while messages.len() < GROUP
            && let Ok(message) = inbox.try_recv()
        {
            messages.push(message);
        }
        if messages.len() == before {
            return;
        }
    }
}

/// Writes one group, tells everybody, and returns the ends that must be tried again.
async fn commit(
    store: &Arc<dyn Store>,
    events: &dyn WriterEvents,
    stats: &Stats,
    jobs: Vec<Job>,
) -> Vec<Job> {
    let mut kept = Vec::with_capacity(jobs.len());
    for mut job in jobs {
        match &job.done {
            Done::Moved { log, .. } | Done::Events { log, .. } if log.is_broken() => continue,
            Done::Settled { log } if log.is_broken() => {
                if let Write::Settle(settle) = &job.write {
                    log.break_off();
                    let settle = events.broken(settle, log);
                    job.write = Write::Settle(Box::new(settle));
                }
            }
            _ => {}
        }
        kept.push(job);
    }
    if kept.is_empty() {
        return Vec::new();
    }
    let (writes, rest): (Vec<_>, Vec<_>) =
        kept.into_iter().map(|job| (job.write, (job.done, job.room))).unzip();
    let writes: Arc<[Write]> = writes.into();
    let began = Instant::now();
    let results = attempt(store, &writes).await;
    stats.commit_time.note(began.elapsed());
    let mut again = Vec::new();
    // What else of such a run is in this group may have been written, so it is broken off when all is told.
    let mut lost: Vec<Arc<RunLog>> = Vec::new();
    for ((write, result), (done, room)) in writes.iter().zip(results).zip(rest) {
        stats.written(write, &result);
        if result.is_ok() {
            told::done(write, done.log());
        }
        match (done, result) {
            (Done::Nothing, Ok(())) => {}
            (Done::Nothing, Err(error)) => tracing::error!(%error, "a write of the record failed"),
            // A caller that went away needs no answer.
            (Done::Reply(reply), result) => drop(reply.send(result)),
            (Done::Opened(told), result) => told(result),
            (Done::Events { log, upto }, Ok(())) => {
                log.committed(upto, None);
                events.recorded(&log.run, upto);
            }
            (Done::Moved { log, status }, Ok(())) => {
                if status == RunStatus::Cancelling {
                    log.note_cancelling();
                }
                events.moved(&log, status);
            }
            (Done::Moved { log, status }, Err(error)) if !status.is_claimed() => {
                // After a restart the run is where the record says, which is where it could have been.
                tracing::error!(run = %log.run, status = status.as_str(), %error, "a run's status could not be written");
            }
            // Of a claimed run the record may not say less than its provider did.
            (Done::Moved { log, .. } | Done::Events { log, .. }, Err(error)) => {
                if !lost.iter().any(|known| Arc::ptr_eq(known, &log)) {
                    tracing::error!(run = %log.run, %error, "what became of a run could not be written");
                    lost.push(log);
                }
            }
            (Done::Settled { log }, Ok(())) => {
                let upto = log.appended();
                log.committed(upto, Some(RunEnd::Settled));
                events.recorded(&log.run, upto);
                if let Write::Settle(settle) = write {
                    events.moved(&log, settle.status);
                }
                events.ended(&log.run);
            }
            (Done::Settled { log }, Err(StoreError::Conflict(Conflict::RunEnded | Conflict::Missing(_)))) => {
                tracing::error!(run = %log.run, "the run had an end in the record already");
                log.committed(log.break_off(), Some(RunEnd::Settled));
                events.ended(&log.run);
            }
            (Done::Settled { log }, Err(error)) => {
                tracing::error!(run = %log.run, %error, "the end of a run could not be written; trying again");
                again.push(Job { write: write.clone(), done: Done::Settled { log }, room });
            }
        }
    }
    for log in lost {
        log.break_off();
        events.failed(&log);
    }
    again
}

async fn attempt(store: &Arc<dyn Store>, writes: &Arc<[Write]>) -> Vec<Result<(), StoreError>> {
    let pause = store.commit_pause();
    if !pause.is_zero() {
        tokio::time::sleep(pause).await;
    }
    if store.is_instant() {
        return store.commit(writes);
    }
    let (engine, group) = (Arc::clone(store), Arc::clone(writes));
    match tokio::task::spawn_blocking(move || engine.commit(&group)).await {
        Ok(results) => results,
        Err(error) => {
            let failed = StoreError::Unavailable(format!("the commit did not return: {error}"));
            vec![Err(failed); writes.len()]
        }
    }
}
