//! LLM links: who lends a model right now, and the completions that are on their way over each link.
//!
//! A completion belongs to the connection that its request went to: a chunk on any other is not heard, and when that
//! connection goes the completion fails at once and is never passed off as whole.

mod calls;
mod completions;

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use funduq_agui::RawObject;
use funduq_contract::{
    AgentAddress, AgentName, ConnectedLlmProvider, LinkClosed, LinkId, LlmRegistration, PortError, PublicKey,
};
use tokio::sync::{Notify, broadcast};

pub(crate) use calls::Reading;
use completions::Completions;
pub(crate) use completions::News;

use super::roster::Change;
use crate::settings::CoreSettings;
use crate::stats::Stats;

/// How an LLM provider's completions ended since funduq started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LlmQuality {
    /// Whole answers.
    pub completed: u64,
    /// Refused by the provider's own policy.
    pub refused: u64,
    /// Failed, the provider's link lost in mid-answer included.
    pub failed: u64,
}

struct OpenLink {
    id: LinkId,
    provider: Arc<dyn ConnectedLlmProvider>,
    names: BTreeSet<AgentName>,
    metadata: Option<RawObject>,
    /// Told when what holds the link up may have changed.
    turn: Arc<Notify>,
}

struct State {
    links: HashMap<PublicKey, OpenLink>,
    keys: HashMap<LinkId, PublicKey>,
    completions: Completions,
    quality: HashMap<PublicKey, LlmQuality>,
    last_link: u64,
}

/// All open LLM links.
pub(crate) struct LlmLinks {
    state: Mutex<State>,
    changes: broadcast::Sender<Change>,
    stats: Arc<Stats>,
    /// How long one completion may hold up its link.
    patience: Duration,
}

impl LlmLinks {
    pub(crate) fn new(
        settings: &CoreSettings,
        changes: broadcast::Sender<Change>,
        stats: Arc<Stats>,
    ) -> Self {
        let state = State {
            links: HashMap::new(),
            keys: HashMap::new(),
            completions: Completions::new(settings.completion_unread_bytes, settings.unread_bytes),
            quality: HashMap::new(),
            last_link: 0,
        };
        Self { state: Mutex::new(state), changes, stats, patience: settings.unread_timeout }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each method leaves the maps consistent at every point where a panic could come.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn announce(&self, provider: PublicKey) {
        // There may be no subscriber.
        let _ = self.changes.send(Change::LlmRoster { provider });
    }

    /// Records a link as open, in the place of the one that the key had.
    pub(crate) fn opened(&self, provider: Arc<dyn ConnectedLlmProvider>) -> LinkId {
        let key = provider.public_key();
        let mut state = self.lock();
        state.last_link += 1;
        let id = LinkId::new(state.last_link);
        state.keys.insert(id, key);
        let turn = Arc::new(Notify::new());
        let link = OpenLink { id, provider, names: BTreeSet::new(), metadata: None, turn };
        let old = state.links.insert(key, link);
        if let Some(old) = &old {
            state.keys.remove(&old.id);
            state.lose_calls(old.id);
        }
        drop(state);
        if let Some(old) = old {
            old.provider.closed(LinkClosed::Replaced);
            self.announce(key);
        }
        id
    }

    /// Publishes exactly these offerings on the link.
    pub(crate) fn register(&self, link: LinkId, offerings: LlmRegistration) -> Result<(), PortError> {
        let mut state = self.lock();
        let key = *state.keys.get(&link).ok_or(PortError::LinkClosed)?;
        let open = state.links.get_mut(&key).ok_or(PortError::LinkClosed)?;
        open.names = offerings.names.into_iter().collect();
        open.metadata = offerings.metadata;
        drop(state);
        self.announce(key);
        Ok(())
    }

    /// The link has gone. One that was replaced takes nothing with it.
    pub(crate) fn closed(&self, link: LinkId) -> Option<PublicKey> {
        let mut state = self.lock();
        let key = state.keys.remove(&link)?;
        state.links.remove(&key);
        state.lose_calls(link);
        drop(state);
        self.announce(key);
        Some(key)
    }

    /// Lets go of a key's link and tells it why.
    pub(crate) fn evict(&self, key: &PublicKey, reason: LinkClosed) -> Option<PublicKey> {
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

    /// Whose link it is.
    pub(crate) fn key_of(&self, link: LinkId) -> Option<PublicKey> {
        self.lock().keys.get(&link).copied()
    }

    /// Whether the offering is served right now.
    pub(crate) fn serves(&self, offering: &AgentAddress) -> bool {
        self.lock().links.get(&offering.provider).is_some_and(|open| open.names.contains(&offering.name))
    }

    /// The offerings served right now, each with its provider's metadata.
    pub(crate) fn served(&self) -> Vec<(AgentAddress, Option<RawObject>)> {
        let state = self.lock();
        let mut served: Vec<_> = state
            .links
            .iter()
            .flat_map(|(key, open)| {
                open.names.iter().map(|name| (AgentAddress::new(*key, name.clone()), open.metadata.clone()))
            })
            .collect();
        served.sort_by(|(a, _), (b, _)| a.cmp(b));
        served
    }

    /// How a key's completions ended.
    pub(crate) fn quality(&self, key: &PublicKey) -> LlmQuality {
        self.lock().quality.get(key).copied().unwrap_or_default()
    }

    /// How many completions are on their way, and about how many bytes of them their agents have not read.
    pub(crate) fn standing(&self) -> (usize, usize) {
        let state = self.lock();
        (state.completions.count(), state.completions.unread())
    }
}

impl State {
    /// The completions of a link that went fail.
    fn lose_calls(&mut self, link: LinkId) {
        for key in self.completions.lose(link) {
            self.quality.entry(key).or_default().failed += 1;
        }
    }
}
