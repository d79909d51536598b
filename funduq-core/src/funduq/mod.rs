//! `Funduq`: what a host holds. Construction, start, shutdown and the doors; [`links`] and [`reads`] are its other rooms.

mod links;
mod reads;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use funduq_contract::{AgentAddress, Identity, LinkClosed, PublicKey, RunId};
use tokio::sync::broadcast;

use crate::clock;
use crate::dispatch::{CancelAnswer, Dispatch};
use crate::doors::TokenSecret;
use crate::doors::a2a::A2aAdapter;
use crate::doors::agui::AguiAdapter;
use crate::doors::authority;
use crate::doors::caller::take_bag;
use crate::doors::kyok::KyokAdapter;
use crate::doors::open::DoorContext;
use crate::error::{DoorError, NotServing};
use crate::links::{Admission, Change};
use crate::record::{Record, Store, StoreError};
use crate::settings::CoreSettings;

pub(crate) use links::unavailable;

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
    ///
    /// Its KYOK tokens are worth nothing after this process; [`Funduq::with_token_secret`] makes them outlive it.
    pub fn new(settings: CoreSettings, identity: Option<Identity>, store: Arc<dyn Store>) -> Self {
        Self::with_token_secret(settings, identity, store, TokenSecret::generate())
    }

    /// A relay whose KYOK tokens are made with a secret that the host keeps.
    pub fn with_token_secret(
        settings: CoreSettings,
        identity: Option<Identity>,
        store: Arc<dyn Store>,
        secret: TokenSecret,
    ) -> Self {
        let admission = Mutex::new(Admission::new(settings.ticket_lifetime, settings.ticket_limit));
        let dispatch = Dispatch::new(settings, Record::new(store), secret);
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
        dispatch.record.start_writer(Arc::clone(dispatch) as _);
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
        for key in self.inner.dispatch.llm.keys() {
            self.llm_gone(self.inner.dispatch.llm.evict(&key, LinkClosed::ShuttingDown));
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

    /// The KYOK door.
    pub fn kyok(&self) -> KyokAdapter {
        KyokAdapter::new(self.context())
    }

    pub(crate) fn context(&self) -> DoorContext {
        DoorContext { dispatch: Arc::clone(&self.inner.dispatch), identity: self.inner.identity.clone() }
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

    /// Whether work is accepted. Asks nobody.
    ///
    /// # Errors
    /// [`NotServing`] says why not.
    pub fn serving(&self) -> Result<(), NotServing> {
        let dispatch = &self.inner.dispatch;
        match (dispatch.record.is_started(), dispatch.is_stopping()) {
            (false, _) => Err(NotServing::NotStarted),
            (true, true) => Err(NotServing::Stopping),
            (true, false) => Ok(()),
        }
    }

    /// How the relay stands. Writes to the record to find out, for as long as its engine takes.
    pub async fn health(&self) -> Health {
        let dispatch = &self.inner.dispatch;
        Health {
            record: dispatch.record.read(|store| store.health()).await,
            serving: self.serving(),
            links: dispatch.links.count(),
            live_threads: dispatch.live_threads(),
            live_runs: dispatch.live_runs(),
        }
    }

    pub(crate) fn dispatch(&self) -> &Arc<Dispatch> {
        &self.inner.dispatch
    }
}
