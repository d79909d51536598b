//! The roster: which keys have an open link, what each serves, and the desks beside them.
//!
//! One lock holds the roster and the desks, so that "who serves it" and "is there room" are one answer. No call
//! waits while the lock is held.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use funduq_contract::{
    AgentAddress, AgentName, Cancel, ConnectedProvider, LinkClosed, LinkGone, LinkId, Offer, PortError,
    PublicKey, Registration, RunId, ThreadId,
};
use tokio::sync::broadcast;

use crate::dispatch::{Asking, Desks, Fault, Notice, Quality, Slot};
use crate::record::RunStatus;

/// How many changes a slow subscriber may be behind before it misses some, and is told so.
const CHANGES: usize = 1024;

/// Something that a host may want to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A provider's roster is another one now: it registered, left, or was withdrawn.
    Roster {
        /// Whose.
        provider: PublicKey,
    },
    /// An LLM provider's offerings are others now.
    LlmRoster {
        /// Whose.
        provider: PublicKey,
    },
    /// A run's status is another one now.
    Run {
        /// Which run.
        run: RunId,
        /// Its thread.
        thread: ThreadId,
        /// Where it stands.
        status: RunStatus,
    },
}

/// An agent that is served right now.
#[derive(Debug, Clone)]
pub struct Served {
    /// Whose, and under which name.
    pub address: AgentAddress,
    /// As its provider published it.
    pub registration: Registration,
}

/// A link that has just gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Departure {
    pub(crate) key: PublicKey,
    pub(crate) link: LinkId,
}

struct OpenLink {
    id: LinkId,
    provider: Arc<dyn ConnectedProvider>,
    names: BTreeMap<AgentName, Registration>,
}

#[derive(Default)]
struct State {
    links: BTreeMap<PublicKey, OpenLink>,
    keys: HashMap<LinkId, PublicKey>,
    desks: Desks,
    last_link: u64,
}

/// All open agent links.
pub(crate) struct Links {
    state: Mutex<State>,
    changes: broadcast::Sender<Change>,
}

impl Links {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), changes: broadcast::channel(CHANGES).0 }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each method leaves the maps consistent at every point where a panic could come.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where changes are announced.
    pub(crate) fn changes(&self) -> broadcast::Sender<Change> {
        self.changes.clone()
    }

    /// Subscribes to changes. A subscriber that is slow misses changes and is told how many; it stalls nobody.
    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Tells every subscriber; there may be none.
    pub(crate) fn announce(&self, change: Change) {
        let _ = self.changes.send(change);
    }

    /// Records a link as open, with nothing published yet. The link that it replaces, if any, is returned with the
    /// notices that its threads must have.
    pub(crate) fn opened(
        &self,
        provider: Arc<dyn ConnectedProvider>,
    ) -> (LinkId, Option<Departure>, Vec<Notice>) {
        let key = provider.public_key();
        let mut state = self.lock();
        state.last_link += 1;
        let id = LinkId::new(state.last_link);
        state.keys.insert(id, key);
        let open = OpenLink { id, provider, names: BTreeMap::new() };
        let old = state.links.insert(key, open);
        let mut departure = None;
        let mut notices = Vec::new();
        let replaced = old.map(|old| {
            state.keys.remove(&old.id);
            notices = state.desks.withdrawn(&key);
            departure = Some(Departure { key, link: old.id });
            old.provider
        });
        drop(state);
        if let Some(replaced) = replaced {
            replaced.closed(LinkClosed::Replaced);
            self.announce(Change::Roster { provider: key });
        }
        (id, departure, notices)
    }

    /// Publishes exactly these agents on the link.
    pub(crate) fn register(
        &self,
        link: LinkId,
        agents: Vec<Registration>,
    ) -> Result<(PublicKey, Vec<Notice>), PortError> {
        let mut state = self.lock();
        let key = *state.keys.get(&link).ok_or(PortError::LinkClosed)?;
        let open = state.links.get_mut(&key).ok_or(PortError::LinkClosed)?;
        open.names = agents.into_iter().map(|agent| (agent.name.clone(), agent)).collect();
        let names = open.names.keys().cloned().collect();
        let capacity = open.provider.concurrency();
        let notices = state.desks.registered(key, link, capacity, names);
        drop(state);
        self.announce(Change::Roster { provider: key });
        Ok((key, notices))
    }

    /// Takes a name off the link's roster, if the link serves it.
    pub(crate) fn unregister(&self, link: LinkId, name: &AgentName) -> Result<Vec<Notice>, PortError> {
        let mut state = self.lock();
        let key = *state.keys.get(&link).ok_or(PortError::LinkClosed)?;
        let open = state.links.get_mut(&key).ok_or(PortError::LinkClosed)?;
        if open.names.remove(name).is_none() {
            return Err(PortError::UnknownAgent(name.clone()));
        }
        let names = open.names.keys().cloned().collect();
        let capacity = open.provider.concurrency();
        let notices = state.desks.registered(key, link, capacity, names);
        drop(state);
        self.announce(Change::Roster { provider: key });
        Ok(notices)
    }

    /// The link has gone, whichever side let go. A link that was replaced takes nothing with it.
    pub(crate) fn closed(&self, link: LinkId) -> Option<(Departure, Vec<Notice>)> {
        let mut state = self.lock();
        let key = state.keys.remove(&link)?;
        state.links.remove(&key);
        let notices = state.desks.withdrawn(&key);
        drop(state);
        self.announce(Change::Roster { provider: key });
        Some((Departure { key, link }, notices))
    }

    /// Lets go of a key's link and tells it why.
    pub(crate) fn evict(&self, key: &PublicKey, reason: LinkClosed) -> Option<(Departure, Vec<Notice>)> {
        let (link, provider) = {
            let state = self.lock();
            let open = state.links.get(key)?;
            (open.id, Arc::clone(&open.provider))
        };
        let gone = self.closed(link);
        provider.closed(reason);
        gone
    }

    /// Every key with an open link.
    pub(crate) fn keys(&self) -> Vec<PublicKey> {
        self.lock().links.keys().copied().collect()
    }

    /// How many links are open.
    pub(crate) fn count(&self) -> usize {
        self.lock().links.len()
    }

    /// Whose link it is.
    pub(crate) fn key_of(&self, link: LinkId) -> Option<PublicKey> {
        self.lock().keys.get(&link).copied()
    }

    /// What is served right now.
    pub(crate) fn served(&self) -> Vec<Served> {
        let state = self.lock();
        let mut served: Vec<_> = state
            .links
            .iter()
            .flat_map(|(key, open)| {
                open.names.values().map(|registration| Served {
                    address: AgentAddress { provider: *key, name: registration.name.clone() },
                    registration: registration.clone(),
                })
            })
            .collect();
        served.sort_by(|a, b| a.address.cmp(&b.address));
        served
    }

    /// Whether somebody serves the agent right now.
    pub(crate) fn serves(&self, agent: &AgentAddress) -> bool {
        self.lock().links.get(&agent.provider).is_some_and(|open| open.names.contains_key(&agent.name))
    }

    /// Asks for a place for a thread's next run.
    pub(crate) fn ask_slot(&self, agent: &AgentAddress, thread: &ThreadId, asking: Asking) -> Slot {
        self.lock().desks.ask(agent.provider, thread, &agent.name, asking)
    }

    /// The thread waits for no place any more.
    pub(crate) fn forget_slot(&self, agent: &AgentAddress, thread: &ThreadId) {
        self.lock().desks.forget(&agent.provider, thread);
    }

    /// A place is free again.
    pub(crate) fn release_slot(&self, key: &PublicKey) -> Vec<Notice> {
        self.lock().desks.release(key)
    }

    /// Counts a fault; at the tolerance the key's names go until it registers again.
    pub(crate) fn count_fault(&self, key: PublicKey, fault: Fault, tolerance: Option<u32>) -> Vec<Notice> {
        let mut state = self.lock();
        if !state.desks.count(key, fault, tolerance) {
            return Vec::new();
        }
        if let Some(open) = state.links.get_mut(&key) {
            open.names.clear();
        }
        let notices = state.desks.withdrawn(&key);
        drop(state);
        tracing::warn!(provider = %key.fingerprint(), ?fault, "the provider's names are withdrawn until it registers again");
        self.announce(Change::Roster { provider: key });
        notices
    }

    /// The faults counted for a key.
    pub(crate) fn quality(&self, key: &PublicKey) -> Quality {
        self.lock().desks.quality(key)
    }

    /// How many places of a key are taken.
    pub(crate) fn places_taken(&self, key: &PublicKey) -> u32 {
        self.lock().desks.used(key)
    }

    fn provider(&self, key: &PublicKey) -> Option<(LinkId, Arc<dyn ConnectedProvider>)> {
        self.lock().links.get(key).map(|open| (open.id, Arc::clone(&open.provider)))
    }

    /// Hands an offer to the link, if it is still the key's.
    pub(crate) fn deliver(&self, key: &PublicKey, link: LinkId, offer: Offer) -> Result<(), LinkGone> {
        match self.provider(key) {
            Some((open, provider)) if open == link => provider.deliver(offer),
            _ => Err(LinkGone),
        }
    }

    /// Asks the key's link to stop a run; without a link there is nobody to ask.
    pub(crate) fn cancel(&self, key: &PublicKey, run: &RunId) {
        if let Some((_, provider)) = self.provider(key) {
            // A link that is gone is asked again when its key is back.
            let _ = provider.cancel(Cancel { run_id: run.clone() });
        }
    }

    /// Tells the key's link how far a run is recorded.
    pub(crate) fn received(&self, key: &PublicKey, run: &RunId, number: u64) {
        if let Some((_, provider)) = self.provider(key) {
            provider.received(run, number);
        }
    }

    /// Tells the key's link that a report or an answer of its was not taken.
    pub(crate) fn refused(&self, key: &PublicKey, run: &RunId, error: PortError) {
        if let Some((_, provider)) = self.provider(key) {
            provider.refused(run, error);
        }
    }
}
