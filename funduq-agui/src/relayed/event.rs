//! The relayed event: the bytes that came, its type, and whether it ends the run.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::check::{self, Flaw, Problem, Tag};
use crate::event::{Event, EventType, RunFinishedOutcome};
use crate::json::{self, Members};

/// The most bytes of one event: 8 MiB.
pub const MAX_EVENT_BYTES: usize = 8 * 1024 * 1024;

/// An AG-UI event as its producer sent it.
///
/// Holds the bytes that came and what funduq decides on; no tree is built, and a
/// clone shares the bytes. An event of a known type is valid by the tolerant
/// reading of AG-UI 1.0. One of an unknown type is any JSON object with a string
/// `type`. Serialises as the JSON it is.
#[derive(Clone, PartialEq, Eq)]
pub struct RelayedEvent {
    json: Arc<str>,
    event_type: EventType,
    rare: Option<Arc<Rare>>,
}

/// What few events have, kept apart so that the many are small.
#[derive(PartialEq, Eq)]
enum Rare {
    /// The `type` of an event whose type is not known.
    Name(Box<str>),
    Terminal(Terminal),
}

/// How a terminal event ends its run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Terminal {
    /// `RUN_FINISHED`, with its outcome.
    RunFinished(Outcome),
    /// `RUN_ERROR`.
    RunError {
        /// Its `code`, when it has one.
        code: Option<Arc<str>>,
    },
}

/// Which outcome a `RUN_FINISHED` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// `success`, or none named, which is the same.
    Success,
    /// `interrupt`: it stopped to ask.
    Interrupt,
    /// `cancelled`.
    Cancelled,
    /// One that AG-UI 1.0 does not know.
    Unknown,
}

/// Why a text is no event that can be relayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed event: {} {problem}", check::place(path))]
pub struct MalformedEvent {
    path: String,
    problem: Problem,
}

impl MalformedEvent {
    /// The member that is wrong, as in `messages[2].content`; empty for the event itself.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Box<Flaw>> for MalformedEvent {
    fn from(flaw: Box<Flaw>) -> Self {
        Self { path: flaw.path(), problem: flaw.problem }
    }
}

impl RelayedEvent {
    /// Reads an event by the tolerant reading, in one pass over its bytes.
    ///
    /// A declared member that comes twice is refused, as two readers could then see
    /// two events. Half a surrogate pair in a string, and numbers of any size in
    /// members whose type is open, are carried.
    ///
    /// # Errors
    /// [`MalformedEvent`] when the text is larger than [`MAX_EVENT_BYTES`], deeper than
    /// [`crate::MAX_DEPTH`], not one JSON object, without a string `type`, or of a
    /// known type and not what AG-UI 1.0 says it is.
    pub fn parse(json: impl Into<Arc<str>>) -> Result<Self, MalformedEvent> {
        let json = json.into();
        if json.len() > MAX_EVENT_BYTES {
            return Err(Flaw::new(Problem::TooLarge { limit: MAX_EVENT_BYTES }).into());
        }
        let (event_type, rare) = match check::tagged(&Event::UNION, &json)? {
            Tag::Known(index) => {
                let event_type = EventType::KNOWN[index];
                (event_type, terminal(event_type, &json).map(Rare::Terminal))
            }
            Tag::Unknown(tag) => match json::body(tag) {
                Some(name) => (EventType::Unknown, Some(Rare::Name(json::decode(name).into()))),
                None => {
                    let problem = Problem::wrong_type("a string", tag);
                    return Err(Flaw::new(problem).in_member("type").into());
                }
            },
            Tag::Absent => return Err(Flaw::new(Problem::Missing).in_member("type").into()),
        };
        Ok(Self { json, event_type, rare: rare.map(Arc::new) })
    }

    /// The event as JSON: exactly the bytes that came.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The same, shared.
    #[must_use]
    pub fn shared_json(&self) -> Arc<str> {
        Arc::clone(&self.json)
    }

    /// The event's type.
    #[must_use]
    pub fn event_type(&self) -> EventType {
        self.event_type
    }

    /// The event's `type` as it stands on the wire, for unknown types too.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self.rare.as_deref() {
            Some(Rare::Name(name)) => name,
            _ => self.event_type.as_str(),
        }
    }

    /// How this event ends its run; `None` when it does not.
    #[must_use]
    pub fn terminal(&self) -> Option<Terminal> {
        match self.rare.as_deref() {
            Some(Rare::Terminal(terminal)) => Some(terminal.clone()),
            _ => None,
        }
    }
}

/// What a terminal event says; a run has one, so it is worth a second look.
fn terminal(event_type: EventType, json: &str) -> Option<Terminal> {
    match event_type {
        EventType::RunFinished => {
            let outcome = Members::of(json).get("outcome");
            let kind = outcome.and_then(|outcome| Members::of(outcome).text("type"));
            Some(Terminal::RunFinished(match (outcome, kind.as_deref()) {
                (None, _) | (_, Some("success")) => Outcome::Success,
                (_, Some("interrupt")) => Outcome::Interrupt,
                (_, Some("cancelled")) => Outcome::Cancelled,
                _ => Outcome::Unknown,
            }))
        }
        EventType::RunError => {
            let code = Members::of(json).text("code");
            Some(Terminal::RunError { code: code.map(Arc::from) })
        }
        _ => None,
    }
}

impl fmt::Debug for RelayedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The content belongs to two other parties, and logs are read by a third.
        f.debug_struct("RelayedEvent")
            .field("type", &self.type_name())
            .field("bytes", &self.json.len())
            .finish_non_exhaustive()
    }
}

impl Serialize for RelayedEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.json).map_err(S::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RelayedEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(Box::<str>::from(raw)).map_err(D::Error::custom)
    }
}

impl From<Event> for RelayedEvent {
    /// Encodes a typed event. What its types leave open is its author's care: a
    /// timestamp beyond 2^53, a patch's path that is no pointer, an event over the limits.
    fn from(event: Event) -> Self {
        let json = serde_json::to_string(&event).expect("wire types have string keys and JSON values only");
        let name = Members::of(&json).text("type").unwrap_or_default();
        let event_type = EventType::from_name(&name);
        let terminal = match &event {
            Event::RunFinished(finished) => Some(Terminal::RunFinished(match &finished.outcome {
                None | Some(RunFinishedOutcome::Success(_)) => Outcome::Success,
                Some(RunFinishedOutcome::Interrupt(_)) => Outcome::Interrupt,
                Some(RunFinishedOutcome::Cancelled(_)) => Outcome::Cancelled,
                Some(RunFinishedOutcome::Unknown(_)) => Outcome::Unknown,
            })),
            Event::RunError(error) => Some(Terminal::RunError { code: error.code.as_deref().map(Arc::from) }),
            _ => None,
        };
        let unknown = event_type == EventType::Unknown;
        let rare = if unknown { Some(Rare::Name(name.into())) } else { terminal.map(Rare::Terminal) };
        Self { json: json.into(), event_type, rare: rare.map(Arc::new) }
    }
}

impl TryFrom<&RelayedEvent> for Event {
    type Error = serde_json::Error;

    /// Decodes into the typed event. Half a surrogate pair in a declared string, which only
    /// bytes can carry, reads as U+FFFD. Fails for nesting at the depth limit.
    fn try_from(event: &RelayedEvent) -> Result<Self, Self::Error> {
        json::read(event.json())
    }
}

impl JsonSchema for RelayedEvent {
    fn schema_name() -> Cow<'static, str> {
        "RelayedEvent".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "An AG-UI event, as its producer sent it.",
            "type": "object",
            "properties": { "type": { "type": "string" } },
            "required": ["type"],
        })
    }
}
