//! What is counted of completions of lent models.

use std::sync::atomic::{AtomicU64, Ordering};

use super::timing::Histogram;

/// How a completion ended, as its agent was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionEnding {
    /// The answer was whole.
    Completed,
    /// The provider refused by its own policy.
    Refused,
    /// The provider failed.
    Failed,
    /// The provider's link went before the answer was whole.
    ProviderDisconnected,
    /// The agent did not read, and funduq gave up what waited for it.
    AgentTooSlow,
    /// The agent went away before the end, so there was nobody to tell.
    AgentLeft,
}

impl CompletionEnding {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Completed,
        Self::Refused,
        Self::Failed,
        Self::ProviderDisconnected,
        Self::AgentTooSlow,
        Self::AgentLeft,
    ];

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::ProviderDisconnected => "provider_disconnected",
            Self::AgentTooSlow => "agent_too_slow",
            Self::AgentLeft => "agent_left",
        }
    }
}

/// The counters.
#[derive(Debug, Default)]
pub(crate) struct CompletionStats {
    begun: AtomicU64,
    ended: [AtomicU64; CompletionEnding::ALL.len()],
    chunks: AtomicU64,
    bytes: AtomicU64,
    pub(crate) first_chunk_time: Histogram,
}

impl CompletionStats {
    /// A completion went to its provider.
    pub(crate) fn begun(&self) {
        self.begun.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn ended(&self, ending: CompletionEnding) {
        self.ended[ending as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// A provider sent a chunk.
    pub(crate) fn chunk(&self, bytes: usize) {
        self.chunks.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(super) fn figures(&self, live: usize, unread_bytes: usize) -> CompletionFigures {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        CompletionFigures {
            begun: read(&self.begun),
            ended: CompletionEnding::ALL.map(|ending| (ending, read(&self.ended[ending as usize]))),
            live,
            chunks: read(&self.chunks),
            bytes: read(&self.bytes),
            unread_bytes,
            first_chunk_time: self.first_chunk_time.read(),
        }
    }
}

/// What a relay has counted of completions since it was made.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct CompletionFigures {
    /// Completions that went to a provider. Calls that were refused before are none.
    pub begun: u64,
    /// Completions that ended, by how.
    pub ended: [(CompletionEnding, u64); CompletionEnding::ALL.len()],
    /// Completions whose agent has not been told the end.
    pub live: usize,
    /// Chunks that providers sent.
    pub chunks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// About how many bytes wait for agents to read them right now.
    pub unread_bytes: usize,
    /// From a call's way to its provider to its first chunk.
    pub first_chunk_time: super::Timing,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_is_counted_in_a_place_of_its_own() {
        let stats = CompletionStats::default();
        for (place, ending) in CompletionEnding::ALL.into_iter().enumerate() {
            (0..=place).for_each(|_| stats.ended(ending));
        }
        let ended = stats.figures(0, 0).ended;
        for (place, (ending, count)) in ended.into_iter().enumerate() {
            assert_eq!((ending, count), (CompletionEnding::ALL[place], place as u64 + 1));
        }
    }
}
