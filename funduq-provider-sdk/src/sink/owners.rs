//! Whose a message, tool call or activity is: the run's own agent's or a subagent's, the whole run long. Pure.

use std::collections::HashMap;
use std::sync::Arc;

use funduq_agui::Message;

use super::error::{Entity, OrderError};

/// A subagent invocation, or `None` for the run's own agent.
pub(super) type Owner = Option<Arc<str>>;

/// Remembered beyond the close: what was closed can be continued, and is whose it was.
#[derive(Debug, Default)]
pub(super) struct Owners {
    messages: ById,
    tool_calls: ById,
    /// Spans and messages: a span and the message in it may share an id, and then are of one agent.
    reasoning: ById,
    activities: ById,
}

type ById = HashMap<Arc<str>, Owner>;

impl Owners {
    pub(super) fn of(&self, what: Entity, id: &str) -> Option<&Owner> {
        match what {
            Entity::TextMessage => self.messages.get(id),
            Entity::ToolCall => self.tool_calls.get(id),
            Entity::ReasoningSpan | Entity::ReasoningMessage => self.reasoning.get(id),
            Entity::Activity => self.activities.get(id),
            Entity::Step | Entity::Subagent => None,
        }
    }

    fn of_mut(&mut self, what: Entity) -> Option<&mut ById> {
        match what {
            Entity::TextMessage => Some(&mut self.messages),
            Entity::ToolCall => Some(&mut self.tool_calls),
            Entity::ReasoningSpan | Entity::ReasoningMessage => Some(&mut self.reasoning),
            Entity::Activity => Some(&mut self.activities),
            // These are named after whose they are.
            Entity::Step | Entity::Subagent => None,
        }
    }

    /// Fails when the event says a subagent and it is another's; an event that says none is whoever's.
    pub(super) fn agree(&self, what: Entity, id: &str, said: Option<&str>) -> Result<(), OrderError> {
        // Streamed text, which mostly says none, costs nothing here.
        if said.is_none() {
            return Ok(());
        }
        match self.of(what, id) {
            Some(owner) if owner.as_deref() != said => Err(not_its(what, id, owner, said)),
            _ => Ok(()),
        }
    }

    /// Notes whose it is, in place of what was known.
    pub(super) fn set(&mut self, what: Entity, id: Arc<str>, owner: Owner) {
        if let Some(by_id) = self.of_mut(what) {
            by_id.insert(id, owner);
        }
    }

    /// Notes whose it is, unless that is known.
    pub(super) fn note(&mut self, what: Entity, id: Arc<str>, owner: Owner) {
        if let Some(by_id) = self.of_mut(what) {
            by_id.entry(id).or_insert(owner);
        }
    }

    /// A snapshot restates the conversation: whose its messages are is what it says.
    pub(super) fn restate(&mut self, messages: &[Message]) {
        for_each(messages, |what, id, owner| self.set(what, id.into(), owner));
    }

    /// The conversation before the run, which changes nothing that the run has said.
    pub(super) fn recall(&mut self, messages: &[Message]) {
        for_each(messages, |what, id, owner| self.note(what, id.into(), owner));
    }
}

pub(super) fn not_its(what: Entity, id: &str, owner: &Owner, said: Option<&str>) -> OrderError {
    let of = owner.as_deref().map(str::to_owned);
    OrderError::OtherAgents { what, id: id.to_owned(), of, said: said.map(str::to_owned) }
}

/// What the messages are and hold, and whose.
fn for_each(messages: &[Message], mut note: impl FnMut(Entity, &str, Owner)) {
    for message in messages {
        let (what, id, owner) = match message {
            Message::Developer(message) => (Entity::TextMessage, &message.id, &message.subagent_run_id),
            Message::System(message) => (Entity::TextMessage, &message.id, &message.subagent_run_id),
            Message::Assistant(message) => (Entity::TextMessage, &message.id, &message.subagent_run_id),
            Message::User(message) => (Entity::TextMessage, &message.id, &message.subagent_run_id),
            Message::Tool(message) => (Entity::TextMessage, &message.id, &message.subagent_run_id),
            Message::Activity(message) => (Entity::Activity, &message.id, &message.subagent_run_id),
            Message::Reasoning(message) => (Entity::ReasoningMessage, &message.id, &message.subagent_run_id),
            _ => continue,
        };
        let owner: Owner = owner.as_deref().map(Arc::from);
        if let Message::Assistant(message) = message {
            for call in message.tool_calls.iter().flatten() {
                note(Entity::ToolCall, &call.id, owner.clone());
            }
        }
        note(what, id, owner);
    }
}
