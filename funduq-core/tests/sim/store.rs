//! The record of a simulated seed: in memory, it outlives each process, fails when told to, takes its time, and shows
//! the model every write.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use funduq_agui::RelayedEvent;
use funduq_contract::{AgentAddress, AgentName, PublicKey, RunId, ThreadId};
use funduq_core::{
    AgentRecord, MemoryStore, Run, Store, StoreError, Thread, ThreadMessage, WaitingRun, Write,
};

use crate::model::Shared;
use crate::prng::Rng;

/// Which writes fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// Every write.
    Writes,
    /// Every write and every read.
    Everything,
    /// Those of one run.
    Run(usize),
    /// Each with a chance of so many in a hundred.
    Some(u64),
}

struct Disk {
    fault: Fault,
    /// The longest that a commit takes, in milliseconds; none takes any time at 0.
    slowest: u64,
    rng: Rng,
}

pub(crate) struct SimStore {
    inner: MemoryStore,
    model: Shared,
    disk: Mutex<Disk>,
}

impl SimStore {
    pub(crate) fn new(model: Shared, slowest: u64, rng: Rng) -> Self {
        let disk = Mutex::new(Disk { fault: Fault::None, slowest, rng });
        Self { inner: MemoryStore::new(), model, disk }
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn fault(&self) -> Fault {
        self.disk().fault
    }

    pub(crate) fn set_fault(&self, fault: Fault) {
        self.disk().fault = fault;
        self.model.lock().note(|| format!("the record's fault is {fault:?}"));
    }

    fn fails(&self, write: &Write) -> bool {
        let mut disk = self.disk();
        match disk.fault {
            Fault::None => false,
            Fault::Writes | Fault::Everything => true,
            Fault::Some(percent) => disk.rng.percent(percent),
            Fault::Run(run) => {
                let run_of = match write {
                    Write::Status { run, .. } | Write::Append { run, .. } => Some(run),
                    Write::Settle(settle) => Some(&settle.run),
                    _ => None,
                };
                run_of.is_some_and(|id| self.model.lock().run_of(id) == Some(run))
            }
        }
    }

    fn read<T>(&self, read: impl FnOnce(&MemoryStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        if self.fault() == Fault::Everything { Err(broken()) } else { read(&self.inner) }
    }
}

fn broken() -> StoreError {
    StoreError::Unavailable("the disk is full".into())
}

impl Store for SimStore {
    fn commit(&self, group: &[Write]) -> Vec<Result<(), StoreError>> {
        let one = |write: &Write| {
            if self.fails(write) {
                self.model.lock().failed(write);
                return Err(broken());
            }
            let result = self.inner.commit(std::slice::from_ref(write)).remove(0);
            match &result {
                Ok(()) => self.model.lock().written(write),
                Err(StoreError::Conflict(conflict)) => self.model.lock().conflicted(write, *conflict),
                Err(other) => self.model.lock().violate(format!("the record in memory failed: {other}")),
            }
            result
        };
        group.iter().map(one).collect()
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn commit_pause(&self) -> Duration {
        let mut disk = self.disk();
        let slowest = disk.slowest;
        if slowest == 0 || disk.rng.percent(40) {
            return Duration::ZERO;
        }
        Duration::from_millis(disk.rng.below(slowest + 1))
    }

    fn health(&self) -> Result<(), StoreError> {
        if self.fault() == Fault::None { Ok(()) } else { Err(broken()) }
    }
    fn thread(&self, id: &ThreadId) -> Result<Option<Thread>, StoreError> {
        self.read(|inner| inner.thread(id))
    }
    fn children(&self, id: &ThreadId, limit: usize) -> Result<Vec<Thread>, StoreError> {
        self.read(|inner| inner.children(id, limit))
    }
    fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        self.read(|inner| inner.run(id))
    }
    fn runs(&self, thread: &ThreadId, skip: usize, limit: usize) -> Result<Vec<Run>, StoreError> {
        self.read(|inner| inner.runs(thread, skip, limit))
    }
    fn lineage(&self, root: &RunId) -> Result<Vec<Run>, StoreError> {
        self.read(|inner| inner.lineage(root))
    }
    fn waiting(&self, thread: &ThreadId) -> Result<Vec<WaitingRun>, StoreError> {
        self.read(|inner| inner.waiting(thread))
    }
    fn messages(
        &self,
        thread: &ThreadId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        self.read(|inner| inner.messages(thread, after, limit))
    }
    fn latest_messages(
        &self,
        thread: &ThreadId,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        self.read(|inner| inner.latest_messages(thread, limit, bytes))
    }
    fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<RelayedEvent>, StoreError> {
        self.read(|inner| inner.events(run, after, limit))
    }
    fn agents(&self) -> Result<Vec<AgentRecord>, StoreError> {
        self.read(|inner| inner.agents())
    }
    fn agent(&self, address: &AgentAddress) -> Result<Option<AgentRecord>, StoreError> {
        self.read(|inner| inner.agent(address))
    }
    fn llm_offerings(&self) -> Result<Vec<(PublicKey, AgentName)>, StoreError> {
        self.read(|inner| inner.llm_offerings())
    }
    fn unfinished(&self) -> Result<Vec<Run>, StoreError> {
        self.read(|inner| inner.unfinished())
    }
}
