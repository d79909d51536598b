//! What waits to be said to a provider: frames in order, within bounds, and how far its runs are recorded.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use funduq_contract::{ConnectErr, DownFrame, ErrFrame, LinkGone, PortError, ReceivedFrame, RunId};
use tokio::sync::Notify;

use super::ending::Ending;

/// How much may wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    pub(super) frames: usize,
    pub(super) bytes: usize,
}

/// The queue of one link. Nobody waits to put something in: a provider that lets too much gather loses its link.
#[derive(Debug)]
pub(super) struct Outgoing {
    limits: Limits,
    state: Mutex<State>,
    changed: Notify,
    /// Told when the queue is full: whoever is stuck in a write does not hear of `changed`.
    full: Notify,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<Waiting>,
    bytes: usize,
    /// What one frame among `frames` says as well as many would, by whom it is about: a refusal of a run's reports, or
    /// that nobody reads a completion.
    once: HashSet<String>,
    /// The newest recorded number of each run, which says as much as all before it.
    received: HashMap<RunId, u64>,
    ending: Option<Ending>,
}

#[derive(Debug)]
struct Waiting {
    text: String,
    once: Option<String>,
}

/// A frame that funduq says, on either kind of link.
pub(super) trait Down {
    /// The one that refuses a frame.
    fn err(frame: ErrFrame) -> Self;

    /// The one that refuses an opening.
    fn connect_err(refusal: ConnectErr) -> Self;

    /// Its text.
    fn text(&self) -> String;

    /// The run that it offers, if it offers one.
    fn offers(&self) -> Option<&RunId> {
        None
    }
}

/// What to do next on the socket.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Say(String),
    Close(Ending),
}

impl Outgoing {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, state: Mutex::default(), changed: Notify::new(), full: Notify::new() }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Each use leaves the queue and its counts in step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a frame in.
    ///
    /// # Errors
    /// [`LinkGone`] when the link is ending, or ends because this is one frame too many.
    pub(super) fn push(&self, frame: &impl Down) -> Result<(), LinkGone> {
        if self.lock().ending.is_some() {
            return Err(LinkGone);
        }
        // A run's input is large; nobody waits for the queue while it is written.
        self.put(Waiting { text: frame.text(), once: None }, frame.offers())
    }

    /// Says that a report about a run was not taken, unless that is about to be said.
    pub(super) fn refuse(&self, run: &RunId, error: &PortError) {
        self.push_once(run.as_str(), || DownFrame::Err(ErrFrame::about_run(run.clone(), error)));
    }

    /// Puts a frame in, unless one about the same waits already.
    pub(super) fn push_once<F: Down>(&self, about: &str, frame: impl FnOnce() -> F) {
        if !self.lock().once.insert(about.to_owned()) {
            return;
        }
        // A link that ends has nothing more to say.
        let _ = self.put(Waiting { text: frame().text(), once: Some(about.to_owned()) }, None);
    }

    fn put(&self, waiting: Waiting, offered: Option<&RunId>) -> Result<(), LinkGone> {
        let mut state = self.lock();
        if state.ending.is_some() {
            return Err(LinkGone);
        }
        // One frame is taken whatever its size, or a large input could never be offered.
        let is_full = state.frames.len() >= self.limits.frames
            || (!state.frames.is_empty() && state.bytes + waiting.text.len() > self.limits.bytes);
        let result = if is_full {
            state.frames.clear();
            state.ending = Some(Ending::QueueFull);
            self.full.notify_one();
            Err(LinkGone)
        } else {
            if let Some(run) = offered {
                // What was refused before the run was offered again is another matter than what may be after.
                state.once.remove(run.as_str());
            }
            state.bytes += waiting.text.len();
            state.frames.push_back(waiting);
            Ok(())
        };
        drop(state);
        self.changed.notify_one();
        result
    }

    /// Notes how far a run is recorded.
    pub(super) fn received(&self, run: &RunId, number: u64) {
        let mut state = self.lock();
        if state.ending.is_some() {
            return;
        }
        match state.received.get_mut(run) {
            Some(newest) => *newest = number.max(*newest),
            None => {
                state.received.insert(run.clone(), number);
                drop(state);
                self.changed.notify_one();
            }
        }
    }

    /// Ends the link once what waits is said. The first reason counts.
    pub(super) fn end(&self, ending: Ending) {
        self.lock().ending.get_or_insert(ending);
        self.changed.notify_one();
    }

    /// Waits until the queue is full, which ends the link. Only one may wait.
    pub(super) async fn is_full(&self) {
        self.full.notified().await;
    }

    /// What to do next, if there is something.
    pub(super) fn try_next(&self) -> Option<Next> {
        let mut state = self.lock();
        // A refusal says that what is recorded of its run is all there will be, so that is said before it.
        let refused = state.frames.front().and_then(|waiting| waiting.once.as_ref());
        let refused = refused.and_then(|about| RunId::new(about.as_str()).ok());
        if let Some(recorded) = refused.and_then(|run| state.received.remove_entry(&run)) {
            drop(state);
            return Some(told(recorded));
        }
        if let Some(waiting) = state.frames.pop_front() {
            state.bytes -= waiting.text.len();
            if let Some(about) = &waiting.once {
                state.once.remove(about);
            }
            return Some(Next::Say(waiting.text));
        }
        if let Some(run) = state.received.keys().next().cloned()
            && let Some(recorded) = state.received.remove_entry(&run)
        {
            drop(state);
            return Some(told(recorded));
        }
        state.ending.map(Next::Close)
    }

    /// Waits for something to do. Only one may wait.
    pub(super) async fn next(&self) -> Next {
        loop {
            if let Some(next) = self.try_next() {
                return next;
            }
            self.changed.notified().await;
        }
    }
}

fn told((run_id, number): (RunId, u64)) -> Next {
    Next::Say(DownFrame::Received(ReceivedFrame { run_id, number }).to_text())
}

#[cfg(test)]
mod tests {
    use funduq_contract::OkFrame;

    use super::*;

    fn queue(frames: usize, bytes: usize) -> Outgoing {
        Outgoing::new(Limits { frames, bytes })
    }

    fn run() -> RunId {
        RunId::new("r").unwrap()
    }

    fn said(outgoing: &Outgoing) -> Vec<String> {
        let next = || match outgoing.try_next() {
            Some(Next::Say(text)) => Some(text),
            _ => None,
        };
        std::iter::from_fn(next).collect()
    }

    #[test]
    fn only_the_newest_recorded_number_of_a_run_is_told() {
        let outgoing = queue(8, 1 << 10);
        for number in 1..100 {
            outgoing.received(&run(), number);
        }
        assert_eq!(said(&outgoing), [r#"{"type":"received","runId":"r","number":99}"#]);
    }

    #[test]
    fn a_refusal_that_is_about_to_be_told_is_told_once_and_again_later() {
        let outgoing = queue(8, 1 << 10);
        for _ in 0..100 {
            outgoing.refuse(&run(), &PortError::NotHeld(run()));
        }
        assert_eq!(said(&outgoing).len(), 1);
        outgoing.refuse(&run(), &PortError::NotHeld(run()));
        assert_eq!(said(&outgoing).len(), 1);
    }

    #[test]
    fn what_is_recorded_of_a_run_is_told_before_that_it_is_refused() {
        let outgoing = queue(8, 1 << 10);
        outgoing.refuse(&run(), &PortError::NotHeld(run()));
        outgoing.received(&run(), 7);
        outgoing.received(&RunId::new("other").unwrap(), 8);
        let said = said(&outgoing);
        assert_eq!(said[0], r#"{"type":"received","runId":"r","number":7}"#);
        assert!(said[1].contains("notHeld") && said[2].contains("other"), "{said:?}");
    }

    #[test]
    fn what_waits_is_said_before_the_link_ends_and_nothing_after() {
        let outgoing = queue(8, 1 << 10);
        outgoing.push(&DownFrame::Ok(OkFrame { id: 1 })).unwrap();
        outgoing.end(Ending::Closed(funduq_contract::LinkClosed::ShuttingDown));
        assert_eq!(outgoing.push(&DownFrame::Ok(OkFrame { id: 2 })), Err(LinkGone));
        assert_eq!(said(&outgoing), [r#"{"type":"ok","id":1}"#]);
        let ending = Ending::Closed(funduq_contract::LinkClosed::ShuttingDown);
        assert_eq!(outgoing.try_next(), Some(Next::Close(ending)));
    }

    #[tokio::test]
    async fn one_frame_too_many_ends_the_link_at_once() {
        let outgoing = queue(2, 1 << 10);
        outgoing.push(&DownFrame::Ok(OkFrame { id: 1 })).unwrap();
        outgoing.push(&DownFrame::Ok(OkFrame { id: 2 })).unwrap();
        assert_eq!(outgoing.push(&DownFrame::Ok(OkFrame { id: 3 })), Err(LinkGone));
        outgoing.is_full().await;
        assert_eq!(outgoing.try_next(), Some(Next::Close(Ending::QueueFull)));
    }

    #[test]
    fn one_frame_is_taken_however_large_and_then_no_other() {
        let outgoing = queue(8, 4);
        outgoing.push(&DownFrame::Ok(OkFrame { id: 1 })).unwrap();
        assert_eq!(outgoing.push(&DownFrame::Ok(OkFrame { id: 2 })), Err(LinkGone));
    }
}
