//! Why an event was not taken.

use std::fmt;

use funduq_agui::{MAX_EVENT_BYTES, MalformedEvent};

use super::order::MAX_USAGE;
use crate::runtime::Closed;

/// Why an event was not taken. The run goes on, and what was said before stands.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EmitError {
    /// The run has ended: the agent finished it, or funduq settled it.
    #[error("the run is over; nothing more can be said in it")]
    RunOver,
    /// The agent has taken the stream over and writes it through its [`RawStream`](super::RawStream).
    #[error("the run's stream was taken over; use the raw stream")]
    TakenOver,
    /// `RUN_STARTED` was said before.
    #[error("the run has started already")]
    AlreadyStarted,
    /// A `RUN_STARTED` or `RUN_FINISHED` in JSON is of another run.
    #[error("`{member}` is `{said}`, which is not this run's; say the id that the run context has")]
    OtherRun {
        /// The member that is wrong.
        member: &'static str,
        /// What it says.
        said: String,
    },
    /// A client would end the run here: the event does not fit to what was said before.
    #[error(transparent)]
    OutOfOrder(#[from] OrderError),
    /// The event is longer than one may be.
    #[error("the event has {bytes} bytes; the limit is {MAX_EVENT_BYTES}")]
    TooLarge {
        /// Its length as JSON.
        bytes: usize,
    },
    /// The usage that was added so far leaves no room for more in the run's last event.
    #[error(
        "the usage of the run's models would be longer than {MAX_USAGE} bytes; add up calls of one model"
    )]
    TooMuchUsage,
    /// The value has no JSON form.
    #[error("the value has no JSON form: {0}")]
    NoJson(String),
    /// funduq would end the run for this event.
    #[error("AG-UI does not allow this event: {0}")]
    Malformed(#[from] MalformedEvent),
    /// An interrupt outcome asks for nothing.
    #[error("an interrupt has to ask for something")]
    NothingAsked,
    /// An interrupt outcome has two interrupts of one id, which one answer cannot tell apart.
    #[error("two interrupts have the id `{id}`; give each its own")]
    AskedTwice {
        /// The id.
        id: String,
    },
}

impl From<Closed> for EmitError {
    fn from(_: Closed) -> Self {
        Self::RunOver
    }
}

/// How an event breaks AG-UI's rules about the order of a run's events.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OrderError {
    /// A second start of what is open.
    #[error("the {what} `{id}` is open already; close it first, or open another under its own id")]
    AlreadyOpen {
        /// What was to be opened.
        what: Entity,
        /// Its id, or the step's name.
        id: String,
    },
    /// A piece or an end of what is not open.
    #[error(
        "the {what} `{id}` is not open: it was never opened, was closed, or comes in chunks, which need no end"
    )]
    NotOpen {
        /// What was written to or closed.
        what: Entity,
        /// Its id, or the step's name.
        id: String,
    },
    /// Two events about one thing say that it is of two different agents.
    #[error("the {what} `{id}` is of {}, not of {}; say the same `subagentRunId` in all of its events", agent(.of), agent(.said))]
    OtherAgents {
        /// What the event is about.
        what: Entity,
        /// Its id, or the step's name.
        id: String,
        /// The subagent invocation it is of; `None` for the run's own agent.
        of: Option<String>,
        /// The one that the event says; `None` for the run's own agent.
        said: Option<String>,
    },
    /// A second start of a subagent invocation that has ended.
    #[error("the subagent `{id}` has ended; a further invocation needs an id of its own")]
    SubagentOver {
        /// The invocation.
        id: String,
    },
    /// A subagent is said to be spawned by one that has not been started.
    #[error("the subagent `{id}` has the parent `{parent}`, which was not started in this run")]
    ParentNotStarted {
        /// The invocation.
        id: String,
        /// What its `parentSubagentRunId` says.
        parent: String,
    },
    /// A chunk that has to open something does not say what.
    #[error("no {what} is being streamed that this chunk could continue; say its `{member}`")]
    ChunkIncomplete {
        /// What it is a piece of.
        what: Entity,
        /// The member that is missing.
        member: &'static str,
    },
    /// A chunk repeats a member of the first one with another value.
    #[error("a chunk of the {what} `{id}` has another `{member}` than the first one; leave it out")]
    ChunkDiffers {
        /// What it is a piece of.
        what: Entity,
        /// Its id.
        id: String,
        /// The member.
        member: &'static str,
    },
    /// Subagents stream several things of the kind at once, and a chunk does not say which it continues.
    #[error("more than one {what} is being streamed; say in the chunk which one it continues")]
    ChunkAmbiguous {
        /// What it is a piece of.
        what: Entity,
    },
}

/// What the events of a run open, continue and close.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Entity {
    /// A text message.
    TextMessage,
    /// A tool call.
    ToolCall,
    /// A span of reasoning.
    ReasoningSpan,
    /// A message of reasoning.
    ReasoningMessage,
    /// A step, by its name.
    Step,
    /// An invocation of a subagent.
    Subagent,
    /// An activity.
    Activity,
}

impl fmt::Display for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TextMessage => "text message",
            Self::ToolCall => "tool call",
            Self::ReasoningSpan => "reasoning span",
            Self::ReasoningMessage => "reasoning message",
            Self::Step => "step",
            Self::Subagent => "subagent",
            Self::Activity => "activity",
        })
    }
}

fn agent(subagent: &Option<String>) -> String {
    match subagent {
        Some(id) => format!("the subagent `{id}`"),
        None => "the run's own agent".to_owned(),
    }
}
