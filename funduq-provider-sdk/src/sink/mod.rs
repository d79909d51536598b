//! The events of one run, in an order that AG-UI 1.0 allows by construction.

mod emit;
mod finish;
mod order;
mod raw;
mod whole;
mod writers;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use funduq_agui::event::RunStarted;
use funduq_agui::{Event, MAX_EVENT_BYTES, MalformedEvent};
use funduq_contract::ThreadId;
use order::{Open, Order, Phase};

pub use raw::RawStream;
pub use writers::{ReasoningWriter, Step, TextOpening, TextWriter, ToolCallWriter};

use crate::runtime::{Closed, Ends, Run};

/// A piece of streamed text, in bytes: longer ones are split, so that no text is too long for one event.
const MAX_DELTA: usize = 1 << 20;

/// Where an agent says what it does. Cloning is cheap and means the same run.
///
/// `RUN_STARTED` goes out by itself before the first event, with the run's ids; whatever is
/// opened is closed, at the latest before the run finishes; after that nothing more is taken. Several
/// tasks may write at once.
///
/// Every method waits while too much of the run is not yet recorded; that is how a slow
/// link slows the agent. Dropping such a future takes nothing back: the event is said.
#[derive(Clone)]
pub struct EventSink {
    shared: Arc<Shared>,
}

struct Shared {
    run: Arc<Run>,
    thread_id: String,
    run_id: String,
    parent_run_id: Option<String>,
    order: Mutex<Order>,
}

/// Why an event was not taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The run has ended: the agent finished it, or funduq settled it.
    #[error("the run is over; nothing more can be said in it")]
    RunOver,
    /// The agent has taken the stream over and writes it through its [`RawStream`].
    #[error("the run's stream was taken over; use the raw stream")]
    TakenOver,
    /// `RUN_STARTED` was said before.
    #[error("the run has started already")]
    AlreadyStarted,
    /// What is written to was closed, or the run ended meanwhile.
    #[error("what this writes to is closed")]
    NotOpen,
    /// The event is longer than one may be.
    #[error("the event has {bytes} bytes; the limit is {MAX_EVENT_BYTES}")]
    TooLarge {
        /// Its length as JSON.
        bytes: usize,
    },
    /// The value has no JSON form.
    #[error("the value has no JSON form: {0}")]
    NoJson(String),
    /// funduq would end the run for this event.
    #[error("AG-UI does not allow this event: {0}")]
    Malformed(#[from] MalformedEvent),
    /// An interrupt outcome asks for nothing.
    #[error("an interrupt has to ask for something")]
    NothingAsked,
}

impl From<Closed> for EmitError {
    fn from(_: Closed) -> Self {
        Self::RunOver
    }
}

impl EventSink {
    pub(crate) fn new(run: Arc<Run>, thread_id: &ThreadId, parent_run_id: Option<String>) -> Self {
        let run_id = run.id().to_string();
        let order = Mutex::new(Order::new());
        let thread_id = thread_id.to_string();
        Self { shared: Arc::new(Shared { run, thread_id, run_id, parent_run_id, order }) }
    }

    fn order(&self) -> MutexGuard<'_, Order> {
        // Nothing under this lock leaves it half changed.
        self.shared.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes one event in, opening or closing something with it, and starts the run before the first.
    fn say(&self, event: impl Into<Event>, change: Change<'_>) -> Result<(), EmitError> {
        let json = json_of(&event.into())?;
        let mut order = self.order();
        match order.phase {
            Phase::Over => return Err(EmitError::RunOver),
            Phase::TakenOver => return Err(EmitError::TakenOver),
            Phase::Before => self.start(&mut order)?,
            Phase::Started => {}
        }
        match change {
            Change::None => {}
            Change::Opens(what) => order.opened(what),
            Change::Within(what) if order.is_open(what) => {}
            Change::Closes(what) if order.closed(what) => {}
            Change::Within(_) | Change::Closes(_) => return Err(EmitError::NotOpen),
        }
        Ok(self.shared.run.push(json, Ends::No)?)
    }

    fn start(&self, order: &mut Order) -> Result<(), EmitError> {
        let mut started = RunStarted::current(&*self.shared.thread_id, &*self.shared.run_id);
        started.parent_run_id.clone_from(&self.shared.parent_run_id);
        self.shared.run.push(json_of(&started.into())?, Ends::No)?;
        order.phase = Phase::Started;
        Ok(())
    }

    async fn flush(&self) -> Result<(), EmitError> {
        Ok(self.shared.run.flush().await?)
    }

    /// The same for an event that leaves nothing open, and waits.
    async fn say_whole(&self, event: impl Into<Event>) -> Result<(), EmitError> {
        self.say(event, Change::None)?;
        self.flush().await
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSink").field("run", &self.shared.run_id).finish_non_exhaustive()
    }
}

/// What an event does to what is open.
enum Change<'a> {
    None,
    Opens(Open),
    Within(&'a Open),
    Closes(&'a Open),
}

fn json_of(event: &Event) -> Result<Arc<str>, EmitError> {
    let json = serde_json::to_string(event).map_err(|error| EmitError::NoJson(error.to_string()))?;
    check_size(json.len())?;
    Ok(json.into())
}

fn check_size(bytes: usize) -> Result<(), EmitError> {
    if bytes > MAX_EVENT_BYTES { Err(EmitError::TooLarge { bytes }) } else { Ok(()) }
}

/// A new id for a message or a tool call: a random UUID, which every client can read.
fn new_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The text in pieces that each fit into one event.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let mut first = true;
    std::iter::from_fn(move || {
        if rest.is_empty() && !first {
            return None;
        }
        first = false;
        let (piece, after) = rest.split_at(rest.floor_char_boundary(MAX_DELTA));
        rest = after;
        Some(piece)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_text_is_split_between_characters_and_short_text_is_not() {
        assert_eq!(pieces("short").collect::<Vec<_>>(), ["short"]);
        assert_eq!(pieces("").collect::<Vec<_>>(), [""]);
        let text = "é".repeat(MAX_DELTA);
        let split: Vec<&str> = pieces(&text).collect();
        assert_eq!(split.concat(), text);
        assert!(split.len() == 2 && split.iter().all(|piece| piece.len() <= MAX_DELTA));
    }
}
