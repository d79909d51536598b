//! LLM links: who lends a model right now, and the completions that are on their way over each link.
//!
//! A completion belongs to the connection that its request went to: a chunk on any other is not heard, and when that
//! connection goes the completion fails at once and is never passed off as whole.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use funduq_agui::RawObject;
use funduq_contract::{
    AgentAddress, AgentName, CancelCompletion, Complete, CompletionId, ConnectedLlmProvider, LinkClosed,
    LinkId, LlmRegistration, PortError, PublicKey, RawJson,
};
use tokio::sync::{broadcast, mpsc};

use super::roster::Change;

/// How many chunks of one completion may wait for its agent.
const WAITING_CHUNKS: usize = 256;
/// How long a full completion may hold up its link before it is given up.
const SLOW_AGENT: Duration = Duration::from_secs(30);

/// What a provider says about a completion.
#[derive(Debug)]
pub(crate) enum News {
    /// A chunk of the answer.
    Chunk(RawJson),
    /// The answer is whole.
    End,
    /// There is no answer, or no more of it.
    Failed { error: RawObject, refused: bool },
}

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
}

struct Call {
    key: PublicKey,
    link: LinkId,
    news: mpsc::Sender<News>,
}

#[derive(Default)]
struct State {
    links: HashMap<PublicKey, OpenLink>,
    keys: HashMap<LinkId, PublicKey>,
    calls: HashMap<CompletionId, Call>,
    quality: HashMap<PublicKey, LlmQuality>,
    last_link: u64,
}

/// All open LLM links.
pub(crate) struct LlmLinks {
    state: Mutex<State>,
    changes: broadcast::Sender<Change>,
}

impl LlmLinks {
    pub(crate) fn new(changes: broadcast::Sender<Change>) -> Self {
        Self { state: Mutex::default(), changes }
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
        let old = state.links.insert(key, OpenLink { id, provider, names: BTreeSet::new(), metadata: None });
        if let Some(old) = &old {
            state.keys.remove(&old.id);
            lose_calls(&mut state, old.id);
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
        lose_calls(&mut state, link);
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

    /// Sends a completion to the link that serves the offering; what it says comes back on the channel. `None`: nobody
    /// serves it, or its link is gone.
    pub(crate) fn call(&self, offering: &AgentAddress, complete: Complete) -> Option<mpsc::Receiver<News>> {
        let id = complete.completion.completion_id.clone();
        let (sender, receiver) = mpsc::channel(WAITING_CHUNKS);
        let provider = {
            let mut state = self.lock();
            let open = state.links.get(&offering.provider)?;
            if !open.names.contains(&offering.name) {
                return None;
            }
            let (link, provider) = (open.id, Arc::clone(&open.provider));
            state.calls.insert(id.clone(), Call { key: offering.provider, link, news: sender });
            provider
        };
        if provider.complete(complete).is_err() {
            self.lock().calls.remove(&id);
            return None;
        }
        Some(receiver)
    }

    /// The agent listens no more: the provider is told, so that nobody pays for words that nobody reads.
    pub(crate) fn abandon(&self, id: &CompletionId) {
        let provider = {
            let mut state = self.lock();
            let Some(call) = state.calls.remove(id) else { return };
            state
                .links
                .get(&call.key)
                .filter(|open| open.id == call.link)
                .map(|open| Arc::clone(&open.provider))
        };
        if let Some(provider) = provider {
            // A link that is gone has nothing left to stop.
            let _ = provider.cancel_completion(CancelCompletion { completion_id: id.clone() });
        }
    }

    /// Passes on what a link says about a completion, if the completion is that link's.
    pub(crate) async fn tell(&self, link: LinkId, id: &CompletionId, news: News) -> Result<(), PortError> {
        let sender = {
            let mut state = self.lock();
            if !state.keys.contains_key(&link) {
                return Err(PortError::LinkClosed);
            }
            let call = state.calls.get(id).filter(|call| call.link == link);
            let Some((key, sender)) = call.map(|call| (call.key, call.news.clone())) else {
                return Err(PortError::Invalid(format!("this link answers no completion {id}")));
            };
            let quality = state.quality.entry(key).or_default();
            match &news {
                News::Chunk(_) => {}
                News::End => quality.completed += 1,
                News::Failed { refused: true, .. } => quality.refused += 1,
                News::Failed { refused: false, .. } => quality.failed += 1,
            }
            if !matches!(news, News::Chunk(_)) {
                state.calls.remove(id);
            }
            sender
        };
        if tokio::time::timeout(SLOW_AGENT, sender.send(news)).await.is_err() {
            tracing::warn!(completion = %id, "the agent does not read; its completion is given up");
            self.abandon(id);
        }
        Ok(())
    }
}

/// The completions of a link that went fail: their channels close without an end.
fn lose_calls(state: &mut State, link: LinkId) {
    let lost: Vec<_> = state
        .calls
        .iter()
        .filter(|(_, call)| call.link == link)
        .map(|(id, call)| (id.clone(), call.key))
        .collect();
    for (id, key) in lost {
        state.calls.remove(&id);
        state.quality.entry(key).or_default().failed += 1;
    }
}
