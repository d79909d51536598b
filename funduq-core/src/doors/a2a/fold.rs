//! What a task's events add up to on A2A: text messages become artifacts, every other event is kept as it is.
//!
//! Pure: the same events give the same updates, one by one in a stream or all at once in a task, so that the sum of
//! what a stream sent is what `GetTask` has. An update's number in its run is therefore a place in the stream that can
//! be found again.

use std::collections::{HashMap, VecDeque};

use funduq_a2a::{Artifact, Part};
use funduq_agui::{EventType, RelayedEvent};
use serde::Deserialize;

/// How many bytes of events a whole task carries in its metadata. A stock client takes 4 MiB at most of one frame.
const EVENT_BYTES: usize = 512 << 10;

/// What one event changes.
#[derive(Debug, Clone)]
pub(super) enum Update {
    /// A piece of a text message, for its artifact.
    Text(Piece),
    /// An event that is no text: it rides a status update.
    Event(RelayedEvent),
}

/// A piece of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// The artifact's id: the text message's.
    pub(super) artifact: String,
    /// The author's name, on the first piece.
    pub(super) name: Option<String>,
    pub(super) text: String,
    /// Whether a piece came before it.
    pub(super) append: bool,
    /// Whether the text message ends here.
    pub(super) last: bool,
}

/// The artifacts and events of a task so far.
#[derive(Debug, Default)]
pub(super) struct Fold {
    drafts: Vec<Draft>,
    places: HashMap<String, usize>,
    /// The message that each agent of the run streams in chunks: the run's own agent (`None`), or a subagent.
    chunked: HashMap<Option<String>, usize>,
    events: VecDeque<RelayedEvent>,
    event_bytes: usize,
    omitted: u64,
    error: Option<String>,
    /// Nobody will ask for artifacts and events any more.
    forgets: bool,
}

#[derive(Debug)]
struct Draft {
    id: String,
    name: Option<String>,
    text: String,
    /// A piece was made of it.
    begun: bool,
    open: bool,
}

/// The members of an event that are read here.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Members {
    message_id: Option<String>,
    tool_call_id: Option<String>,
    delta: Option<String>,
    name: Option<String>,
    message: Option<String>,
    subagent_run_id: Option<String>,
}

impl Members {
    /// What cannot be read, such as half a surrogate pair, is taken as absent: the event then rides as it is.
    fn of(event: &RelayedEvent) -> Self {
        serde_json::from_str(event.json()).unwrap_or_default()
    }
}

impl Fold {
    /// Takes the next event and appends what it changes to `out`: nothing, for the event that only opens a text
    /// message; one update as a rule; more where it also ends messages that came in chunks.
    pub(super) fn push(&mut self, event: &RelayedEvent, out: &mut Vec<Update>) {
        let event_type = event.event_type();
        match event_type {
            // Far the most events, and none of them ends a chunked message of another agent.
            EventType::TextMessageContent
            | EventType::TextMessageStart
            | EventType::TextMessageEnd
            | EventType::TextMessageChunk => {
                if !self.text(event_type, Members::of(event), out) {
                    self.keep(event, out);
                }
            }
            EventType::RunStarted | EventType::RunFinished | EventType::RunError => {
                self.close_all(out);
                self.error = match event_type {
                    EventType::RunError => Members::of(event).message,
                    _ => None,
                };
                self.keep(event, out);
            }
            EventType::MessagesSnapshot => {
                self.close_chunked(|_| true, out);
                self.keep(event, out);
            }
            // These stand beside what is streamed.
            EventType::Raw
            | EventType::ActivitySnapshot
            | EventType::ActivityDelta
            | EventType::ReasoningEncryptedValue
            | EventType::SubagentStarted
            | EventType::Unknown => self.keep(event, out),
            _ => {
                if !self.chunked.is_empty() {
                    let members = Members::of(event);
                    let goes_on = match event_type {
                        // A chunk without a name goes on with what it was part of, which is no text.
                        EventType::ToolCallChunk => members.tool_call_id.is_none(),
                        EventType::ReasoningMessageChunk => members.message_id.is_none(),
                        _ => false,
                    };
                    if !goes_on {
                        self.close_chunked(|agent| *agent == members.subagent_run_id, out);
                    }
                }
                self.keep(event, out);
            }
        }
    }

    /// Whether the event was one of a text message that it fits.
    fn text(&mut self, event_type: EventType, event: Members, out: &mut Vec<Update>) -> bool {
        if event_type == EventType::TextMessageChunk {
            return self.chunk(event, out);
        }
        let Some(id) = event.message_id else { return false };
        self.close_chunked(|agent| *agent == event.subagent_run_id, out);
        if event_type == EventType::TextMessageStart {
            self.open(id, event.name);
            return true;
        }
        let Some(&at) = self.places.get(&id).filter(|at| self.drafts[**at].open) else { return false };
        if event_type == EventType::TextMessageEnd {
            self.piece(at, String::new(), true, out);
        } else {
            self.piece(at, event.delta.unwrap_or_default(), false, out);
        }
        true
    }

    fn chunk(&mut self, event: Members, out: &mut Vec<Update>) -> bool {
        let from = event.subagent_run_id;
        let found = match &event.message_id {
            Some(id) => {
                let holder = self.chunked.iter().find(|(_, at)| self.drafts[**at].id == *id);
                match holder {
                    Some((agent, _)) if from.is_some() && *agent != from => return false,
                    Some((_, at)) => Some(*at),
                    None => None,
                }
            }
            None => match (self.chunked.get(&from), self.chunked.len()) {
                (Some(at), _) => Some(*at),
                // Unnamed and unattributed: the only one there is.
                (None, 1) if from.is_none() => self.chunked.values().next().copied(),
                _ => return false,
            },
        };
        let at = match (found, event.message_id) {
            (Some(at), _) => at,
            (None, Some(id)) => {
                self.close_chunked(|agent| *agent == from, out);
                let at = self.open(id, event.name);
                self.chunked.insert(from, at);
                at
            }
            (None, None) => return false,
        };
        self.piece(at, event.delta.unwrap_or_default(), false, out);
        true
    }

    /// Opens a message, or one that was closed again.
    fn open(&mut self, id: String, name: Option<String>) -> usize {
        let at = *self.places.entry(id.clone()).or_insert(self.drafts.len());
        if at == self.drafts.len() {
            self.drafts.push(Draft { id, name, text: String::new(), begun: false, open: true });
        }
        self.drafts[at].open = true;
        at
    }

    fn piece(&mut self, at: usize, text: String, last: bool, out: &mut Vec<Update>) {
        let draft = &mut self.drafts[at];
        draft.open = !last;
        if text.is_empty() && !last {
            return;
        }
        if !self.forgets {
            draft.text.push_str(&text);
        }
        let append = std::mem::replace(&mut draft.begun, true);
        let name = draft.name.clone().filter(|_| !append);
        out.push(Update::Text(Piece { artifact: draft.id.clone(), name, text, append, last }));
    }

    /// Ends the messages that some agents stream in chunks.
    fn close_chunked(&mut self, ends: impl Fn(&Option<String>) -> bool, out: &mut Vec<Update>) {
        if self.chunked.is_empty() {
            return;
        }
        let mut closed: Vec<_> = self.chunked.extract_if(|agent, _| ends(agent)).map(|(_, at)| at).collect();
        closed.sort_unstable();
        for at in closed {
            self.end(at, out);
        }
    }

    /// Ends every message: the run begins or is over.
    fn close_all(&mut self, out: &mut Vec<Update>) {
        self.chunked.clear();
        for at in 0..self.drafts.len() {
            if self.drafts[at].open {
                self.end(at, out);
            }
        }
    }

    /// Ends a message without an event of its own that says so. One that never had any text leaves no trace.
    fn end(&mut self, at: usize, out: &mut Vec<Update>) {
        if self.drafts[at].begun {
            self.piece(at, String::new(), true, out);
        } else {
            self.drafts[at].open = false;
        }
    }

    fn keep(&mut self, event: &RelayedEvent, out: &mut Vec<Update>) {
        out.push(Update::Event(event.clone()));
        if self.forgets {
            return;
        }
        self.event_bytes += event.json().len();
        self.events.push_back(event.clone());
        while self.event_bytes > EVENT_BYTES {
            let Some(oldest) = self.events.pop_front() else { break };
            self.event_bytes -= oldest.json().len();
            self.omitted += 1;
        }
    }

    /// Goes on for its updates alone, so that a long stream takes up no more room than a short one.
    pub(super) fn forget(&mut self) {
        self.forgets = true;
        self.events = VecDeque::new();
        for draft in &mut self.drafts {
            draft.text = String::new();
        }
    }

    /// The artifacts so far, in the order in which their messages began.
    pub(super) fn artifacts(&self) -> Vec<Artifact> {
        let begun = self.drafts.iter().filter(|draft| draft.begun);
        begun.map(|draft| artifact(&draft.id, draft.name.clone(), &draft.text)).collect()
    }

    /// The newest of the events that are no text, and how many older ones are left out.
    pub(super) fn events(&self) -> (&VecDeque<RelayedEvent>, u64) {
        (&self.events, self.omitted)
    }

    /// The message of the `RUN_ERROR` that ended the latest run, if one did.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }
}

/// The message of a `RUN_ERROR`.
pub(super) fn error_message(event: &RelayedEvent) -> Option<String> {
    (event.event_type() == EventType::RunError).then(|| Members::of(event).message).flatten()
}

/// An artifact with one part of text.
pub(super) fn artifact(id: &str, name: Option<String>, text: &str) -> Artifact {
    Artifact { artifact_id: id.to_owned(), name, parts: vec![Part::text(text)], ..Artifact::default() }
}

#[cfg(test)]
#[path = "fold_tests.rs"]
mod tests;
