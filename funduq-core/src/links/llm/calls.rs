//! The way of a completion: out over the link that serves its offering, and back to the agent word by word.
//!
//! A link's words come one after another, and there is no word that asks a provider to pause one completion and go on with
//! another. So an agent that is behind has a queue of its own; what is over that holds its link up only while nobody else
//! is on it.

use std::sync::Arc;

use funduq_contract::{
    AgentAddress, CancelCompletion, Complete, CompletionId, ConnectedLlmProvider, LinkId, PortError,
    PublicKey,
};
use tokio::sync::Notify;
use tokio::sync::futures::OwnedNotified;
use tokio::time::{Instant, timeout_at};

use super::completions::NotTaken;
use super::{LlmLinks, News, State};
use crate::stats::CompletionEnding;

/// A completion as its agent reads it.
#[derive(Debug)]
pub(crate) struct Reading {
    pub(crate) id: CompletionId,
    /// Told when there is something to read.
    ready: Arc<Notify>,
}

/// What became of a link's word.
enum Put {
    Taken,
    /// It has to wait, until the link's turn is told; here it is again.
    Held(News, OwnedNotified),
    /// It has to wait, and others are on the link.
    InTheWay,
}

/// A provider that is to be told that nobody reads a completion of its.
struct Stop(Arc<dyn ConnectedLlmProvider>, CompletionId);

impl Stop {
    fn tell(self) {
        // A link that is gone has nothing left to stop.
        let _ = self.0.cancel_completion(CancelCompletion { completion_id: self.1 });
    }
}

impl LlmLinks {
    /// Sends a completion to the link that serves the offering. `None`: nobody serves it, or its link is gone.
    pub(crate) fn call(&self, offering: &AgentAddress, complete: Complete) -> Option<Reading> {
        let id = complete.completion.completion_id.clone();
        let (provider, ready) = {
            let mut state = self.lock();
            let open = state.links.get(&offering.provider)?;
            if !open.names.contains(&offering.name) {
                return None;
            }
            let (link, provider, turn) = (open.id, Arc::clone(&open.provider), Arc::clone(&open.turn));
            (provider, state.completions.begin(id.clone(), offering.provider, link, turn))
        };
        if provider.complete(complete).is_err() {
            self.lock().completions.leave(&id);
            return None;
        }
        self.stats.completions.begun();
        Some(Reading { id, ready })
    }

    /// What comes next of a completion that has not ended. Dropping the future before it is ready takes nothing.
    pub(crate) async fn next(&self, reading: &Reading) -> News {
        loop {
            let news = self.lock().completions.take(&reading.id);
            let Some(news) = news else {
                reading.ready.notified().await;
                continue;
            };
            if let Some(ending) = news.ending() {
                self.stats.completions.ended(ending);
            }
            return news;
        }
    }

    /// The agent listens no more: the provider is told, so that nobody pays for words that nobody reads.
    pub(crate) fn abandon(&self, id: &CompletionId) {
        let stop = {
            let mut state = self.lock();
            let Some((ending, speaker)) = state.completions.leave(id) else { return };
            self.stats.completions.ended(ending);
            state.stop(id, speaker)
        };
        stop.into_iter().for_each(Stop::tell);
    }

    /// Passes on what a link says about a completion, if the completion is that link's.
    ///
    /// A completion of which too much is unread holds up its link, which is how its provider learns to wait, only while
    /// it is alone there, and no longer than funduq's patience. Then it is given up.
    pub(crate) async fn tell(
        &self,
        link: LinkId,
        id: &CompletionId,
        mut news: News,
    ) -> Result<(), PortError> {
        let until = Instant::now() + self.patience;
        loop {
            let turn = match self.put(link, id, news)? {
                Put::Taken => return Ok(()),
                Put::InTheWay => break,
                Put::Held(again, turn) => {
                    news = again;
                    turn
                }
            };
            if timeout_at(until, turn).await.is_err() {
                break;
            }
        }
        let stop = self.lock().give_up(id);
        stop.into_iter().for_each(Stop::tell);
        Ok(())
    }

    fn put(&self, link: LinkId, id: &CompletionId, news: News) -> Result<Put, PortError> {
        let mut state = self.lock();
        let key = *state.keys.get(&link).ok_or(PortError::LinkClosed)?;
        let (ending, size) = (news.ending(), news.size());
        match state.completions.push(link, id, news) {
            Ok(since) => {
                if let Some(since) = since {
                    self.stats.completions.first_chunk_time.note(since.elapsed());
                }
            }
            Err(NotTaken::Unknown) => {
                return Err(PortError::Invalid(format!("this link answers no completion {id}")));
            }
            Err(NotTaken::Full(_)) if !state.completions.is_alone(link) => return Ok(Put::InTheWay),
            Err(NotTaken::Full(news)) => {
                let open = state.links.get(&key).ok_or(PortError::LinkClosed)?;
                // Whoever changes what it waits for has the lock, so it misses nothing.
                return Ok(Put::Held(news, Arc::clone(&open.turn).notified_owned()));
            }
        }
        let quality = state.quality.entry(key).or_default();
        match ending {
            None => self.stats.completions.chunk(size),
            Some(CompletionEnding::Completed) => quality.completed += 1,
            Some(CompletionEnding::Refused) => quality.refused += 1,
            Some(_) => quality.failed += 1,
        }
        let mut stops = Vec::new();
        while let Some(furthest) = state.completions.one_too_many() {
            stops.extend(state.give_up(&furthest));
        }
        drop(state);
        stops.into_iter().for_each(Stop::tell);
        Ok(Put::Taken)
    }
}

impl State {
    fn give_up(&mut self, id: &CompletionId) -> Option<Stop> {
        tracing::warn!(completion = %id, "the agent does not read; its completion is given up");
        let speaker = self.completions.give_up(id);
        self.stop(id, speaker)
    }

    fn stop(&self, id: &CompletionId, speaker: Option<(PublicKey, LinkId)>) -> Option<Stop> {
        let (key, link) = speaker?;
        let open = self.links.get(&key).filter(|open| open.id == link)?;
        Some(Stop(Arc::clone(&open.provider), id.clone()))
    }
}
