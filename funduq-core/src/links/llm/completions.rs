//! Completions on their way, and what of each its agent has not read: bounded in bytes, each for itself and all together.
//!
//! Nothing here waits. What a full queue means for its link is [`LlmLinks::tell`](super::LlmLinks::tell)'s to say.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use funduq_agui::RawObject;
use funduq_contract::{CompletionId, LinkId, PublicKey, RawJson};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::stats::CompletionEnding;

/// What an entry of a queue costs beside its text.
const ENTRY_WEIGHT: usize = 64;

/// What is said about a completion.
#[derive(Debug, PartialEq)]
pub(crate) enum News {
    /// A chunk of the answer.
    Chunk(RawJson),
    /// The answer is whole.
    End,
    /// There is no answer, or no more of it, in the provider's words.
    Failed { error: RawObject, refused: bool },
    /// The provider's link went. funduq says this, as it does the next.
    LinkLost,
    /// The agent was too far behind, and what it had not read was given up.
    GivenUp,
}

impl News {
    /// How many bytes its provider sent.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Chunk(chunk) => chunk.get().len(),
            Self::Failed { error, .. } => {
                error.iter().map(|(key, value)| key.len() + value.get().len()).sum()
            }
            Self::End | Self::LinkLost | Self::GivenUp => 0,
        }
    }

    fn weight(&self) -> usize {
        match self {
            Self::Chunk(_) | Self::End | Self::Failed { .. } => ENTRY_WEIGHT + self.size(),
            // One at most, where what weighs came before or was taken out.
            Self::LinkLost | Self::GivenUp => 0,
        }
    }

    /// How a completion ends with it; `None` for a chunk.
    pub(super) fn ending(&self) -> Option<CompletionEnding> {
        match self {
            Self::Chunk(_) => None,
            Self::End => Some(CompletionEnding::Completed),
            Self::Failed { refused: true, .. } => Some(CompletionEnding::Refused),
            Self::Failed { refused: false, .. } => Some(CompletionEnding::Failed),
            Self::LinkLost => Some(CompletionEnding::ProviderDisconnected),
            Self::GivenUp => Some(CompletionEnding::AgentTooSlow),
        }
    }
}

/// A completion from its call until its agent has its last word, or has gone.
#[derive(Debug)]
struct Call {
    key: PublicKey,
    link: LinkId,
    /// When it was asked for, until its first chunk is there.
    asked: Option<Instant>,
    unread: VecDeque<News>,
    weight: usize,
    /// Its last word is in `unread`: the provider has no more to say about it.
    is_over: bool,
    /// Told when there is something to read.
    ready: Arc<Notify>,
    /// Told when its link may go on, whichever completion held it up.
    turn: Arc<Notify>,
}

/// Why news was not taken.
#[derive(Debug, PartialEq)]
pub(super) enum NotTaken {
    /// This link answers no such completion.
    Unknown,
    /// Too much of the completion is unread; here it is again.
    Full(News),
}

/// All completions on their way.
#[derive(Debug)]
pub(super) struct Completions {
    calls: HashMap<CompletionId, Call>,
    weight: usize,
    /// How much of one may be unread. What is taken last may go over it, however large it is.
    each: usize,
    /// How much of all may be unread.
    all: usize,
}

impl Completions {
    pub(super) fn new(each: usize, all: usize) -> Self {
        Self { calls: HashMap::new(), weight: 0, each, all }
    }

    /// A completion goes out over this link. What is returned is told when there is something to read of it.
    pub(super) fn begin(
        &mut self,
        id: CompletionId,
        key: PublicKey,
        link: LinkId,
        turn: Arc<Notify>,
    ) -> Arc<Notify> {
        let ready = Arc::new(Notify::new());
        // Whoever holds the link up is not alone on it any more.
        turn.notify_waiters();
        let call = Call {
            key,
            link,
            asked: Some(Instant::now()),
            unread: VecDeque::new(),
            weight: 0,
            is_over: false,
            ready: Arc::clone(&ready),
            turn,
        };
        self.calls.insert(id, call);
        ready
    }

    /// Puts what its link says of a completion at the end of what its agent has to read. The last word is always taken:
    /// nothing comes after it. Answers, to the first chunk, since when it was waited for.
    pub(super) fn push(
        &mut self,
        link: LinkId,
        id: &CompletionId,
        news: News,
    ) -> Result<Option<Instant>, NotTaken> {
        let call = self.calls.get_mut(id).filter(|call| call.link == link && !call.is_over);
        let call = call.ok_or(NotTaken::Unknown)?;
        let is_last = news.ending().is_some();
        if call.weight >= self.each && !is_last {
            return Err(NotTaken::Full(news));
        }
        let weight = news.weight();
        call.weight += weight;
        self.weight += weight;
        call.is_over = is_last;
        call.unread.push_back(news);
        call.ready.notify_one();
        Ok(call.asked.take_if(|_| !is_last))
    }

    /// The next thing for the agent to read, if it is there. After its last word the completion is gone.
    pub(super) fn take(&mut self, id: &CompletionId) -> Option<News> {
        let call = self.calls.get_mut(id)?;
        let news = call.unread.pop_front()?;
        let weight = news.weight();
        if call.weight >= self.each {
            call.turn.notify_waiters();
        }
        call.weight -= weight;
        self.weight -= weight;
        if news.ending().is_some() {
            self.calls.remove(id);
        }
        Some(news)
    }

    /// Whether no other completion is on its way over the link.
    pub(super) fn is_alone(&self, link: LinkId) -> bool {
        self.calls.values().filter(|call| call.link == link && !call.is_over).nth(1).is_none()
    }

    /// What of a completion is unread is let go of, and its agent is told so in its place. Whose it was, where its
    /// provider has more to say.
    pub(super) fn give_up(&mut self, id: &CompletionId) -> Option<(PublicKey, LinkId)> {
        let call = self.calls.get_mut(id)?;
        let spoke = (!call.is_over).then_some((call.key, call.link));
        self.weight -= std::mem::take(&mut call.weight);
        call.unread = VecDeque::from([News::GivenUp]);
        call.is_over = true;
        call.ready.notify_one();
        call.turn.notify_waiters();
        spoke
    }

    /// The completion whose agent is furthest behind, while more is unread of all than may be.
    pub(super) fn one_too_many(&self) -> Option<CompletionId> {
        if self.weight <= self.all {
            return None;
        }
        self.calls.iter().max_by_key(|(_, call)| call.weight).map(|(id, _)| id.clone())
    }

    /// The link went: what of its completions is read already is all that comes. Answers with the key of each.
    pub(super) fn lose(&mut self, link: LinkId) -> Vec<PublicKey> {
        let lost = self.calls.values_mut().filter(|call| call.link == link && !call.is_over);
        lost.map(|call| {
            call.unread.push_back(News::LinkLost);
            call.is_over = true;
            call.ready.notify_one();
            call.turn.notify_waiters();
            call.key
        })
        .collect()
    }

    /// The agent reads no more. How the completion ends with that, and whose it was, where its provider has more to say;
    /// `None` where it was over and read.
    pub(super) fn leave(
        &mut self,
        id: &CompletionId,
    ) -> Option<(CompletionEnding, Option<(PublicKey, LinkId)>)> {
        let call = self.calls.remove(id)?;
        self.weight -= call.weight;
        call.turn.notify_waiters();
        let ending = match call.unread.back() {
            // It may be why the agent went, or why it was let go.
            Some(News::GivenUp) => CompletionEnding::AgentTooSlow,
            _ => CompletionEnding::AgentLeft,
        };
        Some((ending, (!call.is_over).then_some((call.key, call.link))))
    }

    /// How many are on their way.
    pub(super) fn count(&self) -> usize {
        self.calls.len()
    }

    /// How many bytes of them are unread.
    pub(super) fn unread(&self) -> usize {
        self.weight
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: usize = 1000;
    const ALL: usize = 3000;

    struct Bench(Completions);

    impl Bench {
        /// Completions of one link, one a name.
        fn with(names: &[&str]) -> Self {
            let mut completions = Completions::new(EACH, ALL);
            let turn = Arc::new(Notify::new());
            for name in names {
                completions.begin(id(name), key(), LinkId::new(1), Arc::clone(&turn));
            }
            Self(completions)
        }

        /// Pushes chunks of this weight until one is not taken; answers with how many were.
        fn fill(&mut self, name: &str, weight: usize) -> usize {
            (0..).take_while(|_| self.0.push(LinkId::new(1), &id(name), chunk(weight)).is_ok()).count()
        }
    }

    fn id(name: &str) -> CompletionId {
        name.parse().unwrap()
    }

    fn key() -> PublicKey {
        funduq_contract::Identity::from_seed(&[7; 32]).public_key()
    }

    fn chunk(weight: usize) -> News {
        let text = format!("\"{}\"", "x".repeat(weight - ENTRY_WEIGHT - 2));
        News::Chunk(RawJson::new(text).unwrap())
    }

    #[tokio::test]
    async fn one_queue_is_bounded_and_takes_more_once_it_is_read() {
        let mut bench = Bench::with(&["a", "b"]);
        assert_eq!(bench.fill("a", 300), 4);
        assert_eq!(bench.0.unread(), 1200);
        let full = bench.0.push(LinkId::new(1), &id("a"), chunk(100));
        assert_eq!(full, Err(NotTaken::Full(chunk(100))));
        assert_eq!(bench.fill("b", 100), 10, "another is not held up");
        assert_eq!(bench.0.take(&id("a")), Some(chunk(300)));
        assert!(bench.0.push(LinkId::new(1), &id("a"), chunk(100)).is_ok());
    }

    #[tokio::test]
    async fn an_empty_queue_takes_one_chunk_however_large_and_a_full_one_the_last_word() {
        let mut bench = Bench::with(&["a"]);
        assert_eq!(bench.fill("a", 5000), 1);
        assert!(bench.0.push(LinkId::new(1), &id("a"), News::End).is_ok());
        assert!(matches!(bench.0.push(LinkId::new(1), &id("a"), News::End), Err(NotTaken::Unknown)));
        assert_eq!(bench.0.take(&id("a")), Some(chunk(5000)));
        assert_eq!(bench.0.take(&id("a")), Some(News::End));
        assert_eq!((bench.0.take(&id("a")), bench.0.count(), bench.0.unread()), (None, 0, 0));
    }

    #[tokio::test]
    async fn what_all_together_hold_is_bounded_by_giving_up_whoever_is_furthest_behind() {
        let mut bench = Bench::with(&["a", "b", "c", "d"]);
        bench.fill("a", 600);
        bench.fill("b", 500);
        assert_eq!(bench.0.one_too_many(), None);
        bench.fill("c", 500);
        assert_eq!(bench.0.one_too_many(), Some(id("a")), "it holds 1200, and all 3200");
        assert_eq!(bench.0.give_up(&id("a")), Some((key(), LinkId::new(1))));
        assert_eq!((bench.0.one_too_many(), bench.0.unread()), (None, 2000));
        assert!(matches!(bench.0.push(LinkId::new(1), &id("a"), chunk(100)), Err(NotTaken::Unknown)));
        assert_eq!(bench.0.take(&id("a")), Some(News::GivenUp));
        // One that is over and unread weighs as the others do, and there is nobody left to tell.
        bench.0.push(LinkId::new(1), &id("b"), News::End).unwrap();
        assert_eq!(bench.0.give_up(&id("b")), None);
        assert_eq!(bench.0.leave(&id("b")), Some((CompletionEnding::AgentTooSlow, None)));
        assert_eq!(bench.0.unread(), 1000);
    }

    #[tokio::test]
    async fn a_link_that_goes_leaves_what_came_and_says_that_no_more_does() {
        let mut bench = Bench::with(&["a", "whole"]);
        bench.0.push(LinkId::new(1), &id("a"), chunk(100)).unwrap();
        bench.0.push(LinkId::new(1), &id("whole"), News::End).unwrap();
        assert!(bench.0.is_alone(LinkId::new(1)), "the other one is over");
        assert_eq!(bench.0.lose(LinkId::new(2)), []);
        assert_eq!(bench.0.lose(LinkId::new(1)), [key()]);
        assert_eq!(bench.0.take(&id("a")), Some(chunk(100)));
        assert_eq!(bench.0.take(&id("a")), Some(News::LinkLost));
        assert_eq!(bench.0.take(&id("whole")), Some(News::End));
        assert_eq!(bench.0.leave(&id("whole")), None);
    }
}
