//! The reads of [`Funduq`]: rosters, threads, runs and events.

use funduq_contract::{AgentAddress, PublicKey, RunId, ThreadId};

use super::Funduq;
use crate::dispatch::Quality;
use crate::error::DoorError;
use crate::links::{LlmQuality, Served};
use crate::record::{AgentRecord, NumberedEvent, Run, RunStream, StoreError, Thread, ThreadMessage};
use crate::stats::{Figures, Standing};

impl Funduq {
    /// Every agent that was ever registered and not deleted.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read; likewise for every read below.
    pub async fn agents(&self) -> Result<Vec<AgentRecord>, StoreError> {
        self.inner.dispatch.record.read(|store| store.agents()).await
    }

    /// One agent, if it was ever registered.
    pub async fn agent(&self, address: &AgentAddress) -> Result<Option<AgentRecord>, StoreError> {
        let address = address.clone();
        self.inner.dispatch.record.read(move |store| store.agent(&address)).await
    }

    /// The agents that are served right now.
    pub fn served(&self) -> Vec<Served> {
        self.inner.dispatch.links.served()
    }

    /// Whether somebody serves the agent right now.
    pub fn is_online(&self, agent: &AgentAddress) -> bool {
        self.inner.dispatch.links.serves(agent)
    }

    /// The faults counted for a key since funduq started.
    pub fn quality(&self, key: &PublicKey) -> Quality {
        self.inner.dispatch.links.quality(key)
    }

    /// How many places of a key are taken by offers and claims.
    pub fn places_taken(&self, key: &PublicKey) -> u32 {
        self.inner.dispatch.links.places_taken(key)
    }

    /// A thread.
    pub async fn thread(&self, id: &ThreadId) -> Result<Option<Thread>, StoreError> {
        let id = id.clone();
        self.inner.dispatch.record.read(move |store| store.thread(&id)).await
    }

    /// The threads that hang off a thread, at most `limit`.
    pub async fn thread_children(&self, id: &ThreadId, limit: usize) -> Result<Vec<Thread>, StoreError> {
        let id = id.clone();
        self.inner.dispatch.record.read(move |store| store.children(&id, limit)).await
    }

    /// A thread's history after a position, at most `limit` messages and [`PAGE_BYTES`](crate::PAGE_BYTES).
    pub async fn thread_messages(
        &self,
        id: &ThreadId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        let id = id.clone();
        self.inner.dispatch.record.read(move |store| store.messages(&id, after, limit)).await
    }

    /// A thread's runs in the order of opening, after the first `skip`, at most `limit` and
    /// [`PAGE_BYTES`](crate::PAGE_BYTES) of their inputs.
    pub async fn thread_runs(
        &self,
        id: &ThreadId,
        skip: usize,
        limit: usize,
    ) -> Result<Vec<Run>, StoreError> {
        let id = id.clone();
        self.inner.dispatch.record.read(move |store| store.runs(&id, skip, limit)).await
    }

    /// The keys that may read a thread where reads are guarded: a bound thread's head and its provider. Empty for an
    /// open thread, which whoever knows its id may read, and for one that does not exist.
    pub async fn parties_of(&self, id: &ThreadId) -> Result<Vec<PublicKey>, StoreError> {
        let thread = self.thread(id).await?;
        let bound = thread.and_then(|thread| thread.head.map(|head| (head, thread.agent.provider)));
        Ok(match bound {
            Some((head, provider)) if head == provider => vec![head],
            Some((head, provider)) => vec![head, provider],
            None => Vec::new(),
        })
    }

    /// A run.
    pub async fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        let id = id.clone();
        self.inner.dispatch.record.read(move |store| store.run(&id)).await
    }

    /// The runs of a lineage, its root first.
    pub async fn lineage(&self, root: &RunId) -> Result<Vec<Run>, StoreError> {
        let root = root.clone();
        self.inner.dispatch.record.read(move |store| store.lineage(&root)).await
    }

    /// A run's recorded events after a number, at most `limit` and [`EVENT_PAGE_BYTES`](crate::EVENT_PAGE_BYTES).
    pub async fn run_events(
        &self,
        id: &RunId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<NumberedEvent>, StoreError> {
        let id = id.clone();
        let events = self.inner.dispatch.record.read(move |store| store.events(&id, after, limit)).await?;
        Ok((after + 1..).zip(events).map(|(number, event)| NumberedEvent { number, event }).collect())
    }

    /// A run's events after a number and on to its end. One live stream a run.
    ///
    /// # Errors
    /// [`DoorError::RunNotFound`]; [`DoorError::StreamTaken`]; [`DoorError::Store`].
    pub async fn run_stream(
        &self,
        agent: &AgentAddress,
        id: &RunId,
        after: u64,
    ) -> Result<RunStream, DoorError> {
        let (run, _) = self.context().find_run(agent, id).await?;
        self.context().stream(&run, after)
    }

    /// What the relay has counted since it was made, and how it stands.
    pub fn figures(&self) -> Figures {
        let dispatch = &self.inner.dispatch;
        dispatch.record.stats.figures(Standing {
            live_runs: dispatch.standing(),
            live_threads: dispatch.live_threads(),
            agent_links: dispatch.links.count(),
            llm_links: dispatch.llm.keys().len(),
            completions: dispatch.llm.standing(),
        })
    }

    /// The keys with an open agent link, whether or not anything is published on it.
    pub fn agent_links(&self) -> Vec<PublicKey> {
        self.inner.dispatch.links.keys()
    }

    /// The keys with an open LLM link, likewise.
    pub fn llm_links(&self) -> Vec<PublicKey> {
        self.inner.dispatch.llm.keys()
    }

    /// The LLM offerings that are served right now, with their providers' metadata.
    pub fn served_llm(&self) -> Vec<(AgentAddress, Option<funduq_agui::RawObject>)> {
        self.inner.dispatch.llm.served()
    }

    /// Every LLM offering that was ever registered.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read.
    pub async fn llm_offerings(&self) -> Result<Vec<AgentAddress>, StoreError> {
        let known = self.inner.dispatch.record.read(|store| store.llm_offerings()).await?;
        Ok(known.into_iter().map(|(provider, name)| AgentAddress { provider, name }).collect())
    }

    /// How a key's completions ended since funduq started.
    pub fn llm_quality(&self, key: &PublicKey) -> LlmQuality {
        self.inner.dispatch.llm.quality(key)
    }
}
