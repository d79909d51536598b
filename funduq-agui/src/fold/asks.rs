//! What a run left open when it ended: interrupts and tool calls that wait for an answer.

use serde_json::value::RawValue;

use super::call::Call;
use super::conversation::Conversation;
use crate::json::{self, Members};
use crate::relayed::{Outcome, Terminal};

/// What a run that ended asks of its client.
///
/// A run that ended in `interrupt` asks its interrupts; a tool call it left open is
/// then no ask of its own. Any other `RUN_FINISHED` but a cancelled one asks for the
/// results of its open tool calls. `RUN_ERROR` asks nothing.
#[derive(Clone, Debug, Default)]
pub struct OpenAsks {
    /// Interrupts, in the order they came.
    pub interrupts: Vec<OpenInterrupt>,
    /// Tool calls without a result, in the order they were begun.
    pub tool_calls: Vec<PendingToolCall>,
}

/// An interrupt that waits for its answer.
#[derive(Clone, Debug)]
pub struct OpenInterrupt {
    /// The interrupt's id.
    pub id: String,
    /// The question, for people; absent when there is none.
    pub message: Option<String>,
    /// The interrupt as it came.
    pub raw: Box<RawValue>,
}

/// A tool call that waits for its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingToolCall {
    /// The call's id.
    pub id: String,
    /// The tool's name; empty when the run's end names a call that it never began.
    pub name: String,
    /// The arguments: JSON as text, as far as it came.
    pub arguments: String,
}

impl OpenAsks {
    /// The ids of the asks, interrupts first, each once.
    #[must_use]
    pub fn ids(&self) -> Vec<&str> {
        let interrupts = self.interrupts.iter().map(|interrupt| interrupt.id.as_str());
        let mut seen = std::collections::BTreeSet::new();
        let ids = interrupts.chain(self.tool_calls.iter().map(|call| call.id.as_str()));
        ids.filter(|id| seen.insert(*id)).collect()
    }

    /// Whether nothing is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.interrupts.is_empty() && self.tool_calls.is_empty()
    }
}

/// How a run ended, as far as that says what it asks.
#[derive(Clone, Debug)]
pub(super) enum Ending {
    /// It asks nothing.
    Closed,
    /// It asks these interrupts.
    Asking(Vec<OpenInterrupt>),
    /// It asks for the results of these tool calls, or when it names none, of those left open.
    Finished(Vec<String>),
}

impl Ending {
    pub(super) fn of(terminal: &Terminal, event: &Members<'_>) -> Self {
        let outcome = Members::of(event.get("outcome").unwrap_or_default());
        match terminal {
            Terminal::RunError { .. } | Terminal::RunFinished(Outcome::Cancelled) => Self::Closed,
            Terminal::RunFinished(Outcome::Interrupt) => {
                let interrupts = json::items(outcome.get("interrupts").unwrap_or_default());
                Self::Asking(interrupts.into_iter().filter_map(OpenInterrupt::of).collect())
            }
            Terminal::RunFinished(Outcome::Success) => {
                let ids = json::items(outcome.get("pendingToolCallIds").unwrap_or_default());
                let text = |id: &str| json::body(id).map(|id| json::decode(id).into_owned());
                Self::Finished(ids.into_iter().filter_map(text).collect())
            }
            Terminal::RunFinished(Outcome::Unknown) => Self::Finished(Vec::new()),
        }
    }

    pub(super) fn asks(&self, conversation: &Conversation) -> OpenAsks {
        let open = |call: &&Call| call.started && !call.answered;
        match self {
            Self::Closed => OpenAsks::default(),
            Self::Asking(interrupts) => OpenAsks { interrupts: interrupts.clone(), tool_calls: Vec::new() },
            Self::Finished(named) if named.is_empty() => {
                let calls = conversation.calls.iter().filter(open).map(PendingToolCall::of);
                OpenAsks { interrupts: Vec::new(), tool_calls: calls.collect() }
            }
            Self::Finished(named) => {
                let calls = named.iter().map(|id| match conversation.call_by_id.get(id) {
                    Some(place) => PendingToolCall::of(&conversation.calls[*place]),
                    None => PendingToolCall { id: id.clone(), name: String::new(), arguments: String::new() },
                });
                OpenAsks { interrupts: Vec::new(), tool_calls: calls.collect() }
            }
        }
    }
}

impl OpenInterrupt {
    fn of(interrupt: &str) -> Option<Self> {
        let members = Members::of(interrupt);
        Some(Self {
            id: members.text("id")?.into_owned(),
            message: members.text("message").map(Into::into),
            raw: RawValue::from_string(interrupt.to_owned()).ok()?,
        })
    }
}

impl PendingToolCall {
    fn of(call: &Call) -> Self {
        Self {
            id: call.id_text(),
            name: json::decode(json::body(&call.name).unwrap_or_default()).into_owned(),
            arguments: json::decode(&call.arguments).into_owned(),
        }
    }
}
