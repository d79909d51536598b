//! `Funduq`: what a host holds. Construction, start, shutdown, links, doors and the reads.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use funduq_contract::{
    AgentAddress, AgentName, Connect, ConnectErr, ConnectOk, ConnectRefusal, ConnectedProvider, HeldRun,
    Identity, LinkClosed, LinkId, PortError, PublicKey, Registration, RunId, ThreadId, Ticket,
};
use tokio::sync::broadcast;

use crate::clock;
use crate::dispatch::{CancelAnswer, Dispatch, Quality};
use crate::doors::a2a::A2aAdapter;
use crate::doors::agui::AguiAdapter;
use crate::doors::authority;
use crate::doors::caller::take_bag;
use crate::doors::open::DoorContext;
use crate::error::{DoorError, NotServing};
use crate::links::{self, Admission, Change, Served};
use crate::record::{
    AgentRecord, Conflict, NumberedEvent, Record, Register, Run, RunStream, Store, StoreError, Thread,
    ThreadMessage, Write,
};
use crate::settings::CoreSettings;

/// The most agents that one link may publish.
const MAX_AGENTS: usize = 1000;

/// The relay. Cheap to clone; every clone is the same relay.
///
/// It is network-free: a host owns every socket in front of it, calls the doors as objects ([`Funduq::agui`]), and
/// attaches links ([`Funduq::attach_provider`]). It needs a tokio runtime from [`Funduq::start`] on.
#[derive(Clone)]
pub struct Funduq {
    inner: Arc<Inner>,
}

struct Inner {
    dispatch: Arc<Dispatch>,
    identity: Option<Arc<Identity>>,
    admission: Mutex<Admission>,
}

impl std::fmt::Debug for Funduq {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Funduq").field("public_key", &self.public_key()).finish_non_exhaustive()
    }
}

/// How a relay stands, for a host's health checks and metrics.
#[derive(Debug, Clone)]
pub struct Health {
    /// Why the record cannot be written, if it cannot.
    pub record: Result<(), StoreError>,
    /// Whether work is accepted.
    pub serving: Result<(), NotServing>,
    /// How many agent links are open.
    pub links: usize,
    /// How many threads have anything alive.
    pub live_threads: usize,
    /// How many runs have not ended.
    pub live_runs: usize,
}

impl Funduq {
    /// A relay on a record. Without an `identity` it can prove itself to no provider and relays chains without a hop of
    /// its own. Nothing is accepted before [`Funduq::start`].
    pub fn new(settings: CoreSettings, identity: Option<Identity>, store: Arc<dyn Store>) -> Self {
        let admission = Mutex::new(Admission::new(settings.ticket_lifetime, settings.ticket_limit));
        let dispatch = Dispatch::new(settings, Record::new(store));
        Self { inner: Arc::new(Inner { dispatch, identity: identity.map(Arc::new), admission }) }
    }

    /// Takes up what an earlier process left in the record, and begins to accept work.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read or written; it may be tried again.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    pub async fn start(&self) -> Result<(), StoreError> {
        let dispatch = &self.inner.dispatch;
        dispatch.record.start(Arc::clone(dispatch) as _);
        dispatch.recover().await
    }

    /// Stops: nothing new is accepted, live runs may end until `deadline` has passed, then those that are left end with
    /// `RUN_ERROR` (`code: funduq_shutdown`). Queued runs stay queued in the record. Links are told. Returns when
    /// everything is written.
    pub async fn shutdown(&self, deadline: Duration) {
        self.inner.dispatch.shutdown(deadline).await;
        for key in self.inner.dispatch.links.keys() {
            self.let_go(&key, LinkClosed::ShuttingDown);
        }
        self.inner.dispatch.record.flush().await;
    }

    /// The relay's own key, if it has one.
    pub fn public_key(&self) -> Option<PublicKey> {
        self.inner.identity.as_ref().map(|identity| identity.public_key())
    }

    /// The AG-UI door.
    pub fn agui(&self) -> AguiAdapter {
        AguiAdapter::new(self.context())
    }

    /// The A2A door.
    pub fn a2a(&self) -> A2aAdapter {
        A2aAdapter::new(self.context())
    }

    pub(crate) fn context(&self) -> DoorContext {
        DoorContext { dispatch: Arc::clone(&self.inner.dispatch), identity: self.inner.identity.clone() }
    }

    /// Admits a key: a ticket that opens one link for it, within a minute. Whoever calls this decides who may serve
    /// here. It must reach the provider over a channel that is not the link.
    pub fn issue_ticket(&self, key: &PublicKey) -> Ticket {
        let now = self.inner.dispatch.now();
        self.inner.admission.lock().unwrap_or_else(PoisonError::into_inner).issue(now, *key)
    }

    /// Opens a link: ticket, proof, funduq's answer, the provider's confirmation. A link that the key had open is
    /// replaced. Nothing is served until the first [`Funduq::register_agents`].
    ///
    /// # Errors
    /// [`ConnectErr`] saying which step failed; the link is not open then.
    pub async fn attach_provider(
        &self,
        provider: Arc<dyn ConnectedProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr> {
        let dispatch = &self.inner.dispatch;
        if dispatch.is_stopping() || !dispatch.record.is_started() {
            return Err(ConnectErr::new(
                ConnectRefusal::ShuttingDown,
                "funduq is not accepting links now; try again",
            ));
        }
        if provider.public_key() != connect.public_key {
            return Err(ConnectErr::new(
                ConnectRefusal::Malformed,
                "the link and its proof name different keys",
            ));
        }
        links::check(&connect, self.public_key().as_ref(), dispatch.now(), &self.inner.admission)?;
        let ok = links::answer(&connect, self.inner.identity.as_deref(), self.held_runs(&connect.public_key));
        provider.confirm_connect(&ok).await.map_err(|wrong| {
            ConnectErr::new(
                ConnectRefusal::BadProof,
                format!("the provider did not confirm this funduq: {wrong}"),
            )
        })?;
        let (link, replaced, notices) = dispatch.links.opened(provider);
        if let Some(departure) = replaced {
            dispatch.departed(departure);
        }
        dispatch.notify(notices);
        tracing::info!(provider = %connect.public_key.fingerprint(), %link, "a provider's link is open");
        Ok((link, ok))
    }

    /// Publishes exactly these agents on an open link; names that it published before and that are not among them go
    /// off the roster.
    ///
    /// # Errors
    /// [`PortError::LinkClosed`]; [`PortError::Invalid`] for a name that comes twice or too many of them;
    /// [`PortError::Unavailable`] when the record cannot be written.
    pub async fn register_agents(&self, link: LinkId, agents: Vec<Registration>) -> Result<(), PortError> {
        let dispatch = &self.inner.dispatch;
        let provider = dispatch.links.key_of(link).ok_or(PortError::LinkClosed)?;
        if agents.len() > MAX_AGENTS {
            return Err(PortError::Invalid(format!(
                "{} agents on one link; at most {MAX_AGENTS}",
                agents.len()
            )));
        }
        let mut names: Vec<_> = agents.iter().map(|agent| &agent.name).collect();
        names.sort();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PortError::Invalid(format!("the name {} comes twice", twice[0])));
        }
        let register = Register { provider, agents: agents.clone(), at: clock::now_millis() };
        dispatch.record.write_and_wait(Write::Register(register)).await.map_err(unavailable)?;
        let (key, notices) = dispatch.links.register(link, agents)?;
        dispatch.notify(notices);
        dispatch.registered(&key);
        Ok(())
    }

    /// Forgets an agent that the link serves.
    ///
    /// # Errors
    /// [`PortError::AgentInUse`] if it has a conversation behind it; [`PortError::UnknownAgent`];
    /// [`PortError::LinkClosed`]; [`PortError::Unavailable`].
    pub async fn delete_agent(&self, link: LinkId, name: &AgentName) -> Result<(), PortError> {
        let dispatch = &self.inner.dispatch;
        let provider = dispatch.links.key_of(link).ok_or(PortError::LinkClosed)?;
        let address = AgentAddress { provider, name: name.clone() };
        if !dispatch.links.serves(&address) {
            return Err(PortError::UnknownAgent(name.clone()));
        }
        dispatch.record.write_and_wait(Write::DeleteAgent(address)).await.map_err(|error| match error {
            StoreError::Conflict(Conflict::AgentInUse) => PortError::AgentInUse(name.clone()),
            StoreError::Conflict(Conflict::Missing(_)) => PortError::UnknownAgent(name.clone()),
            other => unavailable(other),
        })?;
        dispatch.notify(dispatch.links.unregister(link, name)?);
        Ok(())
    }

    /// A link's connection has ended. Only if the link is still the key's does anything go offline: the clean-up of a link
    /// that was replaced takes nothing with it.
    pub fn detach_provider(&self, key: &PublicKey, connection: LinkId) {
        if self.inner.dispatch.links.key_of(connection) == Some(*key) {
            self.gone(self.inner.dispatch.links.closed(connection));
        }
    }

    /// Evicts a key: every link and everything that it serves.
    pub fn detach_all_for(&self, key: &PublicKey) {
        self.let_go(key, LinkClosed::Evicted);
    }

    fn let_go(&self, key: &PublicKey, reason: LinkClosed) {
        self.gone(self.inner.dispatch.links.evict(key, reason));
    }

    fn gone(&self, gone: Option<(links::Departure, Vec<crate::dispatch::Notice>)>) {
        let dispatch = &self.inner.dispatch;
        let Some((departure, notices)) = gone else { return };
        tracing::info!(provider = %departure.key.fingerprint(), link = %departure.link, "a provider's link has gone");
        dispatch.departed(departure);
        dispatch.notify(notices);
        dispatch.record.write(crate::record::Job {
            write: Write::Seen { provider: departure.key, at: clock::now_millis() },
            done: crate::record::Done::Nothing,
            permits: Vec::new(),
        });
    }

    /// What funduq believes that a key holds, and how far each run is recorded. A provider that comes back sends the
    /// rest, and finishes what it does not know.
    pub fn held_runs(&self, key: &PublicKey) -> Vec<HeldRun> {
        let runs = self.inner.dispatch.runs_of(key);
        let held = runs.into_iter().filter(|live| live.log.is_claimed());
        held.map(|live| HeldRun { run_id: live.log.run.clone(), received: live.log.durable() }).collect()
    }

    /// Asks for a run to stop. `bag` is the request's metadata, where a bound thread's proof rides
    /// (`cancel: {timestamp, signature}`).
    ///
    /// # Errors
    /// [`DoorError::RunNotFound`]; [`DoorError::InvalidCancel`] on a bound thread; [`DoorError::InvalidInput`];
    /// [`DoorError::Store`].
    pub async fn cancel_run(
        &self,
        agent: &AgentAddress,
        run: &RunId,
        mut bag: funduq_agui::RawObject,
    ) -> Result<CancelAnswer, DoorError> {
        let (run, thread) = self.context().find_run(agent, run).await?;
        let said = take_bag("metadata", &mut bag)?;
        let by = authority::cancel(&thread, &run, said.cancel.as_ref(), clock::now_seconds())?;
        Ok(self.inner.dispatch.cancel(&run.id, by).await)
    }

    /// Hears of changes to rosters and runs. A subscriber that is slow misses some and is told how many.
    pub fn on_change(&self) -> broadcast::Receiver<Change> {
        self.inner.dispatch.links.subscribe()
    }

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

    /// A thread's history after a position, at most `limit` messages.
    pub async fn thread_messages(
        &self,
        id: &ThreadId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        let id = id.clone();
        self.inner.dispatch.record.read(move |store| store.messages(&id, after, limit)).await
    }

    /// A thread's runs in the order of opening, after the first `skip`, at most `limit`.
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

    /// A run's recorded events after a number, at most `limit`.
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

    /// How the relay stands. Writes to the record to find out.
    pub async fn health(&self) -> Health {
        let dispatch = &self.inner.dispatch;
        let serving = match (dispatch.record.is_started(), dispatch.is_stopping()) {
            (false, _) => Err(NotServing::NotStarted),
            (true, true) => Err(NotServing::Stopping),
            (true, false) => Ok(()),
        };
        Health {
            record: dispatch.record.read(|store| store.health()).await,
            serving,
            links: dispatch.links.count(),
            live_threads: dispatch.live_threads(),
            live_runs: dispatch.live_runs(),
        }
    }

    pub(crate) fn dispatch(&self) -> &Arc<Dispatch> {
        &self.inner.dispatch
    }
}

pub(crate) fn unavailable(error: StoreError) -> PortError {
    PortError::Unavailable(error.to_string())
}
