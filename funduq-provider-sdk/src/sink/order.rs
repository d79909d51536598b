//! AG-UI's ordering rules for one run, as a state: what has begun, what is open, what may still be said. Pure.

use std::sync::Arc;

use funduq_agui::TokenUsage;

/// Something that was opened and has to be closed before the run finishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Open {
    Text(Arc<str>),
    ToolCall(Arc<str>),
    Reasoning(Arc<str>),
    ReasoningMessage(Arc<str>),
    Step(Arc<str>),
}

/// How far the run's stream has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// `RUN_STARTED` is still to come.
    Before,
    Started,
    /// The terminal event was said.
    Over,
    /// The agent writes the whole stream itself.
    TakenOver,
}

#[derive(Debug)]
pub(super) struct Order {
    pub(super) phase: Phase,
    /// What is open, in the order of opening.
    open: Vec<Open>,
    /// What the models cost, for the terminal event.
    pub(super) usage: Vec<TokenUsage>,
}

impl Order {
    pub(super) fn new() -> Self {
        Self { phase: Phase::Before, open: Vec::new(), usage: Vec::new() }
    }

    pub(super) fn opened(&mut self, what: Open) {
        self.open.push(what);
    }

    pub(super) fn is_open(&self, what: &Open) -> bool {
        self.open.contains(what)
    }

    /// Answers whether it was open.
    pub(super) fn closed(&mut self, what: &Open) -> bool {
        match self.open.iter().rposition(|open| open == what) {
            Some(at) => {
                self.open.remove(at);
                true
            }
            None => false,
        }
    }

    /// What is open, the latest first: the order to close it in.
    pub(super) fn close_all(&mut self) -> Vec<Open> {
        let mut open = std::mem::take(&mut self.open);
        open.reverse();
        open
    }
}
