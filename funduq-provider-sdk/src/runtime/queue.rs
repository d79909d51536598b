//! The outgoing half of a link over a wire: what it sends next, verdicts before the events of their runs.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use funduq_agui::RelayedMessage;
use funduq_contract::{Ack, PortError, RunId, Verdict};
use tokio::sync::{Notify, oneshot};

use super::outbox::Next;
use super::run::Run;

/// What goes out of one run before another has its turn.
const FAIR_SHARE: Share = Share { events: 256, bytes: 64 << 10 };

/// How much of a run is taken at once.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// The most events.
    pub(super) events: usize,
    /// The bytes of events from which on there are no more.
    pub(super) bytes: usize,
}

/// One thing for a link to send.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outgoing {
    /// The answer to an offer.
    Verdict {
        /// The run that was offered.
        run_id: RunId,
        /// The offer's attempt.
        attempt: u32,
        /// The answer.
        verdict: Verdict,
    },
    /// One event of a run.
    Event {
        /// The run.
        run_id: RunId,
        /// Its number in the run, counted from 1.
        number: u64,
        /// The event's JSON.
        event: Arc<str>,
    },
    /// Nothing more comes in this run.
    Finish {
        /// The run.
        run_id: RunId,
    },
    /// The receipt of a cancel.
    Ack(Ack),
    /// An agent asks for its thread's messages; the answer goes to [`Attachment::messages`](super::Attachment::messages).
    ThreadMessages {
        /// Which question it is.
        call: u64,
        /// The run whose thread is meant.
        run_id: RunId,
        /// At most so many messages, the latest.
        limit: u32,
    },
}

pub(crate) type MessagesAnswer = Result<Vec<RelayedMessage>, PortError>;

#[derive(Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
    wake: Notify,
}

#[derive(Default)]
struct State {
    closed: bool,
    control: VecDeque<Outgoing>,
    ready: VecDeque<Arc<Run>>,
    calls: HashMap<u64, oneshot::Sender<MessagesAnswer>>,
    last_call: u64,
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock leaves it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn say(&self, outgoing: Outgoing) {
        self.state().control.push_back(outgoing);
        self.wake.notify_one();
    }

    pub(super) fn list(&self, run: Arc<Run>) {
        self.state().ready.push_back(run);
        self.wake.notify_one();
    }

    /// How much is waiting that is no event.
    pub(super) fn control_len(&self) -> usize {
        self.state().control.len()
    }

    /// Asks for a thread's messages; the receiver fails when the link goes.
    pub(crate) fn ask(&self, run_id: &RunId, limit: u32) -> oneshot::Receiver<MessagesAnswer> {
        let (answer, receiver) = oneshot::channel();
        {
            let mut state = self.state();
            if state.closed {
                return receiver;
            }
            state.last_call += 1;
            let call = state.last_call;
            state.calls.insert(call, answer);
            state.control.push_back(Outgoing::ThreadMessages { call, run_id: run_id.clone(), limit });
        }
        self.wake.notify_one();
        receiver
    }

    pub(super) fn answer(&self, call: u64, answer: MessagesAnswer) {
        let waiting = self.state().calls.remove(&call);
        if let Some(waiting) = waiting {
            // Whoever asked may have stopped waiting.
            let _unheard = waiting.send(answer);
        }
    }

    pub(super) fn close(&self) {
        let mut state = self.state();
        *state = State { closed: true, ..State::default() };
    }

    /// Puts what is to be sent next into `batch`; waits until there is something.
    pub(super) async fn next(self: &Arc<Self>, batch: &mut Vec<Outgoing>) {
        loop {
            while self.fill(batch) {
                if !batch.is_empty() {
                    return;
                }
            }
            self.wake.notified().await;
        }
    }

    /// Answers whether anything was waiting, be it in vain.
    fn fill(self: &Arc<Self>, batch: &mut Vec<Outgoing>) -> bool {
        // The verdicts are taken first and a run is listed after its verdict was said, so no
        // event can overtake the answer that it rests on.
        let ready = {
            let mut state = self.state();
            let ready = state.ready.pop_front();
            batch.extend(state.control.drain(..));
            ready
        };
        let Some(run) = ready else { return !batch.is_empty() };
        let more = run.take(self, FAIR_SHARE, |next| {
            let run_id = run.id().clone();
            match next {
                Next::Event(number, event) => batch.push(Outgoing::Event { run_id, number, event }),
                Next::Finish => batch.push(Outgoing::Finish { run_id }),
                Next::Nothing => {}
            }
        });
        if more {
            self.list(run);
        }
        true
    }
}
