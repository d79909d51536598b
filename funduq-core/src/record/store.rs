//! What a record engine must do: whole operations, each atomic, and the reads.

use std::time::Duration;

use funduq_agui::{RelayedEvent, RelayedMessage};
use funduq_contract::{AgentAddress, AgentName, LlmRegistration, PublicKey, Registration, RunId, ThreadId};

use super::model::{AgentRecord, Run, RunMetadata, RunStatus, Thread, ThreadMessage, WaitingRun};
use super::tasks::{self, TaskPage, TaskQuery};

/// One operation on the record, done wholly or not at all.
#[derive(Debug, Clone)]
pub enum Write {
    /// Opens a thread with no run yet.
    OpenThread(OpenThread),
    /// Opens a run, on its thread or with it, with the messages that it brings.
    OpenRun(Box<OpenRun>),
    /// Moves a run to another status that is not its end.
    Status {
        /// Which run.
        run: RunId,
        /// Where it stands.
        status: RunStatus,
        /// The run's metadata, where that changed with the status.
        metadata: Option<RunMetadata>,
        /// When, in Unix milliseconds.
        at: i64,
    },
    /// Appends a run's events; the first has the number `first`, which is the next one due.
    Append {
        /// Which run.
        run: RunId,
        /// The number of the first of the events.
        first: u64,
        /// The events, as they came.
        events: Vec<RelayedEvent>,
    },
    /// Ends a run: last events, status, metadata and the messages that it made.
    Settle(Box<Settle>),
    /// A provider's key published its roster.
    Register(Register),
    /// A provider's key published its LLM offerings.
    RegisterLlm {
        /// Whose.
        provider: PublicKey,
        /// The offerings.
        offering: LlmRegistration,
        /// When, in Unix milliseconds.
        at: i64,
    },
    /// A provider's link went.
    Seen {
        /// Whose.
        provider: PublicKey,
        /// When, in Unix milliseconds.
        at: i64,
    },
    /// Forgets an agent that no thread belongs to.
    DeleteAgent(AgentAddress),
}

/// A thread to open beforehand.
#[derive(Debug, Clone)]
pub struct OpenThread {
    /// The thread.
    pub thread: Thread,
}

/// A run to open.
#[derive(Debug, Clone)]
pub struct OpenRun {
    /// The thread as its run leaves it: a new one is written, a known one must still stand as the
    /// door saw it (`seen`).
    pub thread: Thread,
    /// What the door saw of the thread; `None` if the run opens it.
    pub seen: Option<Thread>,
    /// The run, with the status to begin with.
    pub run: Run,
    /// The messages of its input; those whose id the thread has already are not added again, and one of a role that
    /// AG-UI 1.0 does not know, without an id, stays in the run's input alone.
    pub messages: Vec<RelayedMessage>,
    /// Events that funduq writes at once, for a run that fails at the door.
    pub events: Vec<RelayedEvent>,
}

/// A run's end.
#[derive(Debug, Clone)]
pub struct Settle {
    /// Which run.
    pub run: RunId,
    /// How it ended.
    pub status: RunStatus,
    /// What funduq recorded about it.
    pub metadata: RunMetadata,
    /// The number of the first of `events`.
    pub first: u64,
    /// The events that were not written yet, the terminal one last.
    pub events: Vec<RelayedEvent>,
    /// The messages that the run made or changed: a known id is replaced in its place.
    pub messages: Vec<RelayedMessage>,
    /// When, in Unix milliseconds.
    pub at: i64,
}

/// A roster as published.
#[derive(Debug, Clone)]
pub struct Register {
    /// Whose.
    pub provider: PublicKey,
    /// Exactly what the link serves.
    pub agents: Vec<Registration>,
    /// When, in Unix milliseconds.
    pub at: i64,
}

/// Why the record did not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The engine failed: a full disk, a lost file. Nothing was written; later writes may succeed.
    #[error("the record cannot be written or read: {0}")]
    Unavailable(String),
    /// The record stands otherwise than the operation assumed. Nothing was written.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// A stored value does not read back.
    #[error("the record holds a value that does not read back: {0}")]
    Corrupt(String),
    /// The record was written by a later funduq.
    #[error(
        "the record has schema version {found}, and this funduq knows versions up to {known}: use a later funduq"
    )]
    TooNew {
        /// The version found.
        found: u32,
        /// The latest version that this code knows.
        known: u32,
    },
}

/// How the record stood otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Another run answers that run already.
    #[error("another run answers that ask already")]
    AlreadyAnswered,
    /// The thread was bound or given its first run meanwhile.
    #[error("the thread changed meanwhile")]
    ThreadChanged,
    /// The event is not the next one due.
    #[error("event {got} of the run is not the next one due, which is {expected}")]
    OutOfOrder {
        /// The number due.
        expected: u64,
        /// The number that came.
        got: u64,
    },
    /// The run, thread or agent is not in the record.
    #[error("there is no such {0} in the record")]
    Missing(&'static str),
    /// The agent has conversations behind it.
    #[error("the agent has conversations behind it")]
    AgentInUse,
    /// The run has ended already.
    #[error("the run has ended already")]
    RunEnded,
}

/// How much of what callers and agents said one page of a list has, in bytes of JSON: 16 MiB. A page ends with the item
/// that makes it as large, so it may be shorter than was asked for, and has nothing only where there is nothing.
pub const PAGE_BYTES: usize = 16 << 20;

/// The same for a page of events, which each reader of a stream has one of: 1 MiB.
pub const EVENT_PAGE_BYTES: usize = 1 << 20;

/// The first of these items, at most `limit`, up to the one with which they have so many bytes by `size`.
pub(super) fn page_of<T>(
    items: impl Iterator<Item = T>,
    limit: usize,
    bytes: usize,
    size: impl Fn(&T) -> usize,
) -> Vec<T> {
    let mut read = 0;
    let mut page = Vec::new();
    for item in items.take(limit) {
        read += size(&item);
        page.push(item);
        if read >= bytes {
            break;
        }
    }
    page
}

/// A record engine. Methods block; core calls them where blocking is allowed. All writes come from
/// one writer, one group at a time; reads come from anywhere, beside it.
pub trait Store: Send + Sync + 'static {
    /// Does a group of operations in order, durable on return. Each result says whether its operation was
    /// done; an operation that failed left nothing behind and did not stop the others.
    fn commit(&self, group: &[Write]) -> Vec<Result<(), StoreError>>;

    /// Whether calls are quick enough to make in an async task (memory, not disk).
    fn is_instant(&self) -> bool {
        false
    }

    /// How long the writer waits before the next [`Store::commit`]: none, unless the engine stands in for a slower one
    /// (a disk, in simulations on a paused clock).
    fn commit_pause(&self) -> Duration {
        Duration::ZERO
    }

    /// Checks that the engine answers and can write.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] says why it does not.
    fn health(&self) -> Result<(), StoreError>;

    /// A thread.
    fn thread(&self, id: &ThreadId) -> Result<Option<Thread>, StoreError>;

    /// The threads that hang off a thread, oldest first, at most `limit`.
    fn children(&self, id: &ThreadId, limit: usize) -> Result<Vec<Thread>, StoreError>;

    /// A run.
    fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError>;

    /// The runs of a thread in the order of opening, after the first `skip`, at most `limit` and [`PAGE_BYTES`] of their
    /// inputs.
    fn runs(&self, thread: &ThreadId, skip: usize, limit: usize) -> Result<Vec<Run>, StoreError>;

    /// A lineage: the runs whose root this is, in the order of opening.
    fn lineage(&self, root: &RunId) -> Result<Vec<Run>, StoreError>;

    /// The runs of a thread that ended with asks open and that no run answers, newest first.
    fn waiting(&self, thread: &ThreadId) -> Result<Vec<WaitingRun>, StoreError>;

    /// A thread's lineages, the newest status first.
    fn tasks(&self, query: &TaskQuery) -> Result<TaskPage, StoreError> {
        tasks::by_reading_all(self, query)
    }

    /// A thread's history after position `after`, at most `limit` messages and [`PAGE_BYTES`].
    fn messages(&self, thread: &ThreadId, after: u64, limit: usize)
    -> Result<Vec<ThreadMessage>, StoreError>;

    /// A thread's latest messages, oldest first: at most `limit`, and no more than `bytes` of JSON together.
    fn latest_messages(
        &self,
        thread: &ThreadId,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError>;

    /// A run's events after the number `after`, in order, at most `limit` and [`EVENT_PAGE_BYTES`].
    fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<RelayedEvent>, StoreError>;

    /// Every agent that was ever registered and not deleted, by key and name.
    fn agents(&self) -> Result<Vec<AgentRecord>, StoreError>;

    /// One agent.
    fn agent(&self, address: &AgentAddress) -> Result<Option<AgentRecord>, StoreError>;

    /// Every LLM offering that was ever registered: key, name and metadata.
    fn llm_offerings(&self) -> Result<Vec<(PublicKey, AgentName)>, StoreError>;

    /// The runs that have not ended, in the order of opening.
    fn unfinished(&self) -> Result<Vec<Run>, StoreError>;
}
