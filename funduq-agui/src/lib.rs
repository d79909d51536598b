//! AG-UI 1.0 wire models, the relayed event, and the folds that funduq reads a run by.
//!
//! AG-UI is the protocol between an agent and the application that shows it: a client
//! posts a [`RunAgentInput`], the agent answers with a stream of [`Event`]s. This crate
//! has it three ways.
//!
//! - **Relayed**, for what passes between two other parties: [`RelayedEvent`] and
//!   [`RelayedInput`] keep the bytes that came and read only what funduq decides on.
//! - **Typed**, for those who write or read events: every type of AG-UI 1.0 in [`event`],
//!   [`message`], [`patch`] and here, with serde and a JSON Schema. A constructor takes
//!   the required members, a method of its name sets each optional one.
//! - **Folded**: [`RunFold`] turns a run's events into the messages it made and the
//!   asks it left open.
//!
//! # What AG-UI 1.0 does not know
//!
//! A later version may add members to objects, objects to unions and types to events.
//! All of them are carried. Relayed, they are the bytes that came; typed, unknown members
//! are in `extra`, unknown members of a union in its `Unknown` variant, whole, and unknown
//! strings in theirs, and all are written back. What 1.0 does declare must be as it says:
//! a member of the wrong type, a null where it has none, a required member that is not
//! there are refused ([`MalformedEvent`], [`InvalidInput`]) with the place and the reason.
//!
//! Two leniencies end there. A request may have nulls for members that are optional, as
//! clients before 1.0 send them; they are taken as absent. And strings with half a
//! surrogate pair, or numbers too large for any reader, are carried wherever nothing here
//! has to read them; decoded into a type, half a pair reads as U+FFFD.
//!
//! # Example
//!
//! ```
//! use funduq_agui::event::{RunFinished, RunStarted, TextMessageChunk};
//! use funduq_agui::{Event, EventType, RelayedEvent, RelayedInput, RunFold};
//!
//! // What a client posted: kept as it came.
//! let body = br#"{"threadId":"t1","runId":"r1","messages":[{"id":"m1","role":"user","content":"Hi"}]}"#;
//! let input = RelayedInput::parse(body)?;
//! assert_eq!(input.messages[0].text().as_deref(), Some("Hi"));
//!
//! // What an agent answers.
//! let answer: [Event; 3] = [
//!     RunStarted::current(input.thread_id.as_str(), input.run_id.as_str()).into(),
//!     TextMessageChunk::new().message_id("m2").delta("Hello!").into(),
//!     RunFinished::new(input.thread_id, input.run_id).into(),
//! ];
//!
//! // What a relay makes of it.
//! let mut fold = RunFold::new();
//! for event in answer {
//!     let json = serde_json::to_string(&event)?;
//!     let relayed = RelayedEvent::parse(json.as_str())?;
//!     assert_eq!(relayed.json(), json);
//!     fold.push(&relayed);
//! }
//! let messages = fold.messages();
//! assert_eq!(messages[0].json(), r#"{"id":"m2","role":"assistant","content":"Hello!"}"#);
//! assert!(fold.asks().is_empty());
//!
//! // A type of a later version is carried; a known one that is not what 1.0 says is not.
//! let newer = RelayedEvent::parse(r#"{"type":"HOLOGRAM_SHOWN","of":"a cat"}"#)?;
//! assert_eq!((newer.event_type(), newer.type_name()), (EventType::Unknown, "HOLOGRAM_SHOWN"));
//! let malformed = RelayedEvent::parse(r#"{"type":"STEP_STARTED","stepName":7}"#).unwrap_err();
//! assert_eq!(malformed.to_string(), "malformed event: `stepName` must be a string, but is a number");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(any(test, feature = "arbitrary"))]
pub mod arbitrary;
mod capabilities;
mod check;
pub mod event;
mod fold;
mod input;
mod interrupt;
mod json;
pub mod message;
pub mod patch;
mod raw;
mod relayed;
#[cfg(test)]
mod tests;
mod usage;
mod wire;

pub use capabilities::{
    AgentCapabilities, ExecutionCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities,
    MultiAgentCapabilities, MultimodalCapabilities, MultimodalInputCapabilities,
    MultimodalOutputCapabilities, OutputCapabilities, ReasoningCapabilities, StateCapabilities, SubagentInfo,
    ToolsCapabilities, TransportCapabilities,
};
pub use check::Problem;
pub use event::{Event, EventType, RunFinishedOutcome};
pub use fold::{OpenAsks, OpenInterrupt, PendingToolCall, RunFold};
pub use input::{Context, RunAgentInput, Tool};
pub use interrupt::{Interrupt, ResumeEntry, ResumeStatus};
pub use json::MAX_DEPTH;
pub use message::{Content, ContentPart, Message, Role};
pub use patch::JsonPatchOperation;
pub use raw::{Json, RawObject};
pub use relayed::{
    ForwardedProps, InvalidInput, MAX_EVENT_BYTES, MAX_INPUT_BYTES, MalformedEvent, Outcome, RelayedEvent,
    RelayedInput, RelayedMessage, RelayedResume, Terminal,
};
pub use usage::TokenUsage;
pub use wire::MAX_SAFE_INTEGER;

/// The protocol version of this crate, as clients and agents tell each other.
pub const PROTOCOL_VERSION: &str = "1.0";
