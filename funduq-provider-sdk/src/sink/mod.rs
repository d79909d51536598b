//! The events of one run, in an order that AG-UI 1.0 allows by construction.

mod emit;
mod error;
mod finish;
mod lanes;
mod order;
mod owners;
mod raw;
mod whole;
mod writers;

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use funduq_agui::event::RunStarted;
use funduq_agui::{Event, MAX_EVENT_BYTES, RelayedEvent};
use funduq_contract::ThreadId;
use order::{Order, Phase};

pub use error::{EmitError, Entity, OrderError};
pub use raw::RawStream;
pub use writers::{ReasoningWriter, Step, TextOpening, TextWriter, ToolCallWriter};

use crate::runtime::{Ends, Run};

/// A piece of streamed text, in bytes: longer ones are split, so that no text is too long for one event.
const MAX_DELTA: usize = 1 << 20;

/// Where an agent says what it does. Cloning is cheap and means the same run.
///
/// `RUN_STARTED` goes out by itself before the first event, with the run's ids; whatever is
/// opened is closed, at the latest before the run finishes; after that nothing more is taken. Several
/// tasks may write at once.
///
/// What AG-UI 1.0 does not allow is not taken: an event that is not what its type says
/// ([`EmitError::Malformed`]) or that does not fit to those before it ([`EmitError::OutOfOrder`]).
/// The run goes on without it.
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

    /// Takes in an event that is what AG-UI says by its making: of ids and text, no larger than it may be.
    fn say(&self, event: &Event) -> Result<(), EmitError> {
        self.take(json_of(event)?, event)
    }

    /// The same for one that carries what its author made, which can be too deep or no word of AG-UI's.
    fn say_checked(&self, event: &Event) -> Result<(), EmitError> {
        let json = json_of(event)?;
        RelayedEvent::parse(json.clone())?;
        self.take(json, event)
    }

    /// Takes in an event that ends nothing, in its place, and starts the run before the first.
    fn take(&self, json: Arc<str>, event: &Event) -> Result<(), EmitError> {
        let mut order = self.order();
        order.takes_more()?;
        order.admit(event)?;
        if order.phase == Phase::Before {
            self.start(&mut order)?;
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

    /// Takes in an event that carries what its author made, and waits.
    async fn say_whole(&self, event: impl Into<Event>) -> Result<(), EmitError> {
        self.say_checked(&event.into())?;
        self.flush().await
    }
}

impl fmt::Debug for EventSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSink").field("run", &self.shared.run_id).finish_non_exhaustive()
    }
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
