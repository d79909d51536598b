//! A record in memory: for tests, simulations and hosts that want to forget.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use funduq_agui::{RelayedEvent, RelayedMessage};
use funduq_contract::{AgentAddress, AgentName, PublicKey, RunId, ThreadId};

use super::model::{AgentRecord, Run, RunStatus, Thread, ThreadMessage, WaitingRun};
use super::store::{
    Conflict, EVENT_PAGE_BYTES, OpenRun, PAGE_BYTES, Register, Settle, Store, StoreError, Write, page_of,
};

/// A [`Store`] in memory. It forgets everything when dropped; a clone of the `Arc` that holds it
/// survives a restart of core, as a file would.
#[derive(Debug, Default)]
pub struct MemoryStore {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    threads: HashMap<ThreadId, StoredThread>,
    runs: HashMap<RunId, StoredRun>,
    /// Every run in the order of opening.
    order: Vec<RunId>,
    agents: BTreeMap<AgentAddress, AgentRecord>,
    offerings: BTreeMap<(PublicKey, AgentName), i64>,
    next_thread: u64,
}

#[derive(Debug)]
struct StoredThread {
    thread: Thread,
    opened: u64,
    messages: Vec<ThreadMessage>,
    /// Where each message id stands in `messages`.
    places: HashMap<String, usize>,
    runs: Vec<RunId>,
}

#[derive(Debug)]
struct StoredRun {
    run: Run,
    events: Vec<RelayedEvent>,
    answered_by: Option<RunId>,
}

impl MemoryStore {
    /// An empty record.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each operation checks before it writes, so a panic cannot leave half of one behind.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn apply(&mut self, write: &Write) -> Result<(), StoreError> {
        match write {
            Write::OpenThread(open) => self.open_thread(&open.thread),
            Write::OpenRun(open) => self.open_run(open),
            Write::Status { run, status, metadata, at } => {
                let stored = self.live_run(run)?;
                stored.run.status = *status;
                stored.run.updated_at = *at;
                if let Some(metadata) = metadata {
                    stored.run.metadata = metadata.clone();
                }
                Ok(())
            }
            Write::Append { run, first, events } => self.live_run(run)?.append(*first, events),
            Write::Settle(settle) => self.settle(settle),
            Write::Register(register) => {
                self.register(register);
                Ok(())
            }
            Write::RegisterLlm { provider, offering, at } => {
                for name in &offering.names {
                    self.offerings.insert((*provider, name.clone()), *at);
                }
                Ok(())
            }
            Write::Seen { provider, at } => {
                for agent in self.agents.values_mut().filter(|agent| agent.address.provider == *provider) {
                    agent.last_seen_at = *at;
                }
                Ok(())
            }
            Write::DeleteAgent(address) => {
                if self.threads.values().any(|stored| stored.thread.agent == *address) {
                    return Err(Conflict::AgentInUse.into());
                }
                let gone = self.agents.remove(address);
                gone.map(drop).ok_or(Conflict::Missing("agent").into())
            }
        }
    }

    fn live_run(&mut self, id: &RunId) -> Result<&mut StoredRun, StoreError> {
        let stored = self.runs.get_mut(id).ok_or(Conflict::Missing("run"))?;
        if stored.run.status.is_terminal() { Err(Conflict::RunEnded.into()) } else { Ok(stored) }
    }

    fn open_thread(&mut self, thread: &Thread) -> Result<(), StoreError> {
        if self.threads.contains_key(&thread.id) {
            return Err(Conflict::ThreadChanged.into());
        }
        if !self.agents.contains_key(&thread.agent) {
            return Err(Conflict::Missing("agent").into());
        }
        self.next_thread += 1;
        let stored = StoredThread {
            thread: thread.clone(),
            opened: self.next_thread,
            messages: Vec::new(),
            places: HashMap::new(),
            runs: Vec::new(),
        };
        self.threads.insert(thread.id.clone(), stored);
        Ok(())
    }

    fn open_run(&mut self, open: &OpenRun) -> Result<(), StoreError> {
        let stored = self.threads.get(&open.thread.id).map(|stored| &stored.thread);
        let unchanged = match (stored, &open.seen) {
            (None, None) => true,
            // It may have got its first run meanwhile, if that bound it as this one would have.
            (Some(now), Some(_)) => !now.has_runs || now.head == open.thread.head,
            (Some(_), None) | (None, Some(_)) => false,
        };
        if !unchanged {
            return Err(Conflict::ThreadChanged.into());
        }
        if let Some(answered) = &open.run.answers_run_id {
            let asking = self.runs.get(answered).ok_or(Conflict::Missing("run"))?;
            if asking.answered_by.is_some() {
                return Err(Conflict::AlreadyAnswered.into());
            }
        }
        if open.seen.is_none() {
            self.open_thread(&open.thread)?;
        }
        if let Some(asking) = open.run.answers_run_id.as_ref().and_then(|id| self.runs.get_mut(id)) {
            asking.answered_by = Some(open.run.id.clone());
        }
        let run = Run { last_event: open.events.len() as u64, ..open.run.clone() };
        if let Some(thread) = self.threads.get_mut(&open.thread.id) {
            if !thread.thread.has_runs {
                thread.thread = open.thread.clone();
            }
            thread.runs.push(run.id.clone());
            thread.add(&run.id, &open.messages, false);
        }
        self.order.push(run.id.clone());
        let stored = StoredRun { run, events: open.events.clone(), answered_by: None };
        self.runs.insert(open.run.id.clone(), stored);
        Ok(())
    }

    fn settle(&mut self, settle: &Settle) -> Result<(), StoreError> {
        let stored = self.live_run(&settle.run)?;
        stored.append(settle.first, &settle.events)?;
        stored.run.status = settle.status;
        stored.run.metadata = settle.metadata.clone();
        stored.run.updated_at = settle.at;
        let thread = stored.run.thread_id.clone();
        if let Some(thread) = self.threads.get_mut(&thread) {
            thread.add(&settle.run, &settle.messages, true);
        }
        Ok(())
    }

    fn register(&mut self, register: &Register) {
        for agent in &register.agents {
            let address = AgentAddress { provider: register.provider, name: agent.name.clone() };
            let joined_at = self.agents.get(&address).map_or(register.at, |known| known.joined_at);
            let record = AgentRecord::registered(address.clone(), agent, joined_at, register.at);
            self.agents.insert(address, record);
        }
    }
}

impl StoredRun {
    fn append(&mut self, first: u64, events: &[RelayedEvent]) -> Result<(), StoreError> {
        let expected = self.run.last_event + 1;
        if first != expected {
            return Err(Conflict::OutOfOrder { expected, got: first }.into());
        }
        self.events.extend_from_slice(events);
        self.run.last_event = self.events.len() as u64;
        Ok(())
    }
}

impl StoredThread {
    /// Adds messages; one whose id is known is left alone, or replaced in its place.
    fn add(&mut self, run: &RunId, messages: &[RelayedMessage], replace: bool) {
        for message in messages {
            let Some(id) = message.id() else { continue };
            match self.places.get(id) {
                Some(&at) if replace => self.messages[at].message = message.clone(),
                Some(_) => {}
                None => {
                    self.places.insert(id.to_owned(), self.messages.len());
                    self.messages.push(ThreadMessage {
                        position: self.messages.len() as u64 + 1,
                        run_id: run.clone(),
                        message: message.clone(),
                    });
                }
            }
        }
    }
}

impl Store for MemoryStore {
    fn commit(&self, group: &[Write]) -> Vec<Result<(), StoreError>> {
        let mut state = self.lock();
        group.iter().map(|write| state.apply(write)).collect()
    }

    fn is_instant(&self) -> bool {
        true
    }

    fn health(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn thread(&self, id: &ThreadId) -> Result<Option<Thread>, StoreError> {
        Ok(self.lock().threads.get(id).map(|stored| stored.thread.clone()))
    }

    fn children(&self, id: &ThreadId, limit: usize) -> Result<Vec<Thread>, StoreError> {
        let state = self.lock();
        let mut children: Vec<_> =
            state.threads.values().filter(|stored| stored.thread.parent.as_ref() == Some(id)).collect();
        children.sort_by_key(|stored| stored.opened);
        Ok(children.into_iter().take(limit).map(|stored| stored.thread.clone()).collect())
    }

    fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        Ok(self.lock().runs.get(id).map(|stored| stored.run.clone()))
    }

    fn runs(&self, thread: &ThreadId, skip: usize, limit: usize) -> Result<Vec<Run>, StoreError> {
        let state = self.lock();
        let runs = state.threads.get(thread).map(|stored| stored.runs.as_slice()).unwrap_or_default();
        let runs = runs.iter().skip(skip).map(|id| state.runs[id].run.clone());
        Ok(page_of(runs, limit, PAGE_BYTES, |run| run.input.to_json().len()))
    }

    fn lineage(&self, root: &RunId) -> Result<Vec<Run>, StoreError> {
        let state = self.lock();
        let mut lineage = Vec::new();
        let mut next =
            Some(root).filter(|id| state.runs.get(*id).is_some_and(|stored| stored.run.root_run_id == **id));
        while let Some(stored) = next.and_then(|id| state.runs.get(id)) {
            lineage.push(stored.run.clone());
            next = stored.answered_by.as_ref();
        }
        Ok(lineage)
    }

    fn waiting(&self, thread: &ThreadId) -> Result<Vec<WaitingRun>, StoreError> {
        let state = self.lock();
        let runs = state.threads.get(thread).map(|stored| stored.runs.as_slice()).unwrap_or_default();
        let waiting = runs.iter().rev().map(|id| &state.runs[id]).filter(|stored| {
            stored.run.status == RunStatus::Completed
                && stored.answered_by.is_none()
                && !stored.run.metadata.has_no_asks()
        });
        Ok(waiting
            .map(|stored| WaitingRun { id: stored.run.id.clone(), asks: stored.run.metadata.asks() })
            .collect())
    }

    fn messages(
        &self,
        thread: &ThreadId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        let state = self.lock();
        let messages = state.threads.get(thread).map(|stored| stored.messages.as_slice()).unwrap_or_default();
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        let messages = messages.iter().skip(skip).cloned();
        Ok(page_of(messages, limit, PAGE_BYTES, |stored| stored.message.json().len()))
    }

    fn latest_messages(
        &self,
        thread: &ThreadId,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        let state = self.lock();
        let messages = state.threads.get(thread).map(|stored| stored.messages.as_slice()).unwrap_or_default();
        let mut read = 0;
        let latest = messages.iter().rev().take(limit).take_while(|stored| {
            read += stored.message.json().len();
            read <= bytes
        });
        let latest = latest.count();
        Ok(messages[messages.len() - latest..].to_vec())
    }

    fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<RelayedEvent>, StoreError> {
        let state = self.lock();
        let events = state.runs.get(run).map(|stored| stored.events.as_slice()).unwrap_or_default();
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        let events = events.iter().skip(skip).cloned();
        Ok(page_of(events, limit, EVENT_PAGE_BYTES, |event| event.json().len()))
    }

    fn agents(&self) -> Result<Vec<AgentRecord>, StoreError> {
        Ok(self.lock().agents.values().cloned().collect())
    }

    fn agent(&self, address: &AgentAddress) -> Result<Option<AgentRecord>, StoreError> {
        Ok(self.lock().agents.get(address).cloned())
    }

    fn llm_offerings(&self) -> Result<Vec<(PublicKey, AgentName)>, StoreError> {
        Ok(self.lock().offerings.keys().cloned().collect())
    }

    fn unfinished(&self) -> Result<Vec<Run>, StoreError> {
        let state = self.lock();
        let live = state.order.iter().map(|id| &state.runs[id].run).filter(|run| !run.status.is_terminal());
        Ok(live.cloned().collect())
    }
}
