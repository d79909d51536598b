//! AG-UI's ordering rules for one run, as a state: what has begun, what is open, what may still be said. Pure.

use std::collections::HashSet;
use std::sync::Arc;

use funduq_agui::event::{
    EncryptedValueSubtype, ReasoningMessageChunk, SubagentStarted, TextMessageChunk, TextMessageRole,
    ToolCallChunk,
};
use funduq_agui::{Event, TokenUsage};

use super::error::{EmitError, Entity, OrderError};
use super::lanes::{Chunk, Lanes, Settled};
use super::owners::{Owner, Owners, not_its};

/// How much of a terminal event the usage may be, in bytes.
pub(super) const MAX_USAGE: usize = 1 << 20;

/// Something that was opened and has to be closed before the run finishes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) what: Entity,
    /// Its id, or the step's name.
    pub(super) id: Arc<str>,
    /// The subagent that its start says.
    pub(super) owner: Owner,
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
    /// What comes in chunks is open as well; its client closes it.
    lanes: Lanes,
    owners: Owners,
    /// The subagent invocations that have ended.
    ended: HashSet<Arc<str>>,
    /// What the models cost, for the terminal event.
    pub(super) usage: Vec<TokenUsage>,
    usage_bytes: usize,
}

impl Open {
    /// What the run's own agent opens.
    pub(super) fn own(what: Entity, id: Arc<str>) -> Self {
        Self { what, id, owner: None }
    }

    /// A step's name is unique only among those of one agent.
    fn is(&self, what: Entity, id: &str, said: Option<&str>) -> bool {
        self.what == what && &*self.id == id && (what != Entity::Step || self.owner.as_deref() == said)
    }
}

impl Order {
    pub(super) fn new() -> Self {
        Self {
            phase: Phase::Before,
            open: Vec::new(),
            lanes: Lanes::default(),
            owners: Owners::default(),
            ended: HashSet::new(),
            usage: Vec::new(),
            usage_bytes: 0,
        }
    }

    /// Fails when the stream takes nothing any more.
    pub(super) fn takes_more(&self) -> Result<(), EmitError> {
        match self.phase {
            Phase::Over => Err(EmitError::RunOver),
            Phase::TakenOver => Err(EmitError::TakenOver),
            Phase::Before | Phase::Started => Ok(()),
        }
    }

    /// Keeps what a model call cost, so many bytes of JSON.
    pub(super) fn add_usage(&mut self, usage: TokenUsage, bytes: usize) -> Result<(), EmitError> {
        if self.usage_bytes + bytes > MAX_USAGE {
            return Err(EmitError::TooMuchUsage);
        }
        self.usage_bytes += bytes;
        self.usage.push(usage);
        Ok(())
    }

    /// Takes an event in, as a client would; one that it would not take changes nothing.
    pub(super) fn admit(&mut self, event: &Event) -> Result<(), OrderError> {
        use Entity::{Activity, ReasoningMessage, ReasoningSpan, Step, TextMessage, ToolCall};
        match event {
            Event::TextMessageContent(e) => self.within(TextMessage, &e.message_id, said(&e.subagent_run_id)),
            Event::ToolCallArgs(e) => self.within(ToolCall, &e.tool_call_id, said(&e.subagent_run_id)),
            Event::ReasoningMessageContent(e) => {
                self.within(ReasoningMessage, &e.message_id, said(&e.subagent_run_id))
            }
            Event::TextMessageStart(e) => {
                self.opens(TextMessage, &e.message_id, said(&e.subagent_run_id), None)
            }
            Event::ToolCallStart(e) => {
                let parent = e.parent_message_id.as_deref();
                self.opens(ToolCall, &e.tool_call_id, said(&e.subagent_run_id), parent)
            }
            Event::ReasoningStart(e) => {
                self.opens(ReasoningSpan, &e.message_id, said(&e.subagent_run_id), None)
            }
            Event::ReasoningMessageStart(e) => {
                self.opens(ReasoningMessage, &e.message_id, said(&e.subagent_run_id), None)
            }
            Event::StepStarted(e) => self.opens(Step, &e.step_name, said(&e.subagent_run_id), None),
            Event::TextMessageEnd(e) => self.closes(TextMessage, &e.message_id, said(&e.subagent_run_id)),
            Event::ToolCallEnd(e) => self.closes(ToolCall, &e.tool_call_id, said(&e.subagent_run_id)),
            Event::ReasoningEnd(e) => self.closes(ReasoningSpan, &e.message_id, said(&e.subagent_run_id)),
            Event::ReasoningMessageEnd(e) => {
                self.closes(ReasoningMessage, &e.message_id, said(&e.subagent_run_id))
            }
            Event::StepFinished(e) => self.closes(Step, &e.step_name, said(&e.subagent_run_id)),
            Event::TextMessageChunk(e) => self.chunk(&text_chunk(e)),
            Event::ToolCallChunk(e) => self.chunk(&call_chunk(e)),
            Event::ReasoningMessageChunk(e) => self.chunk(&reasoning_chunk(e)),
            Event::ToolCallResult(e) => {
                let (id, said) = (&e.message_id, said(&e.subagent_run_id));
                // Its client would close it as the one agent's after this has made it the other's.
                if self.lanes.holds_beside(said, TextMessage, id) {
                    return Err(OrderError::AlreadyOpen { what: TextMessage, id: id.clone() });
                }
                // Whoever ran the tool made the message, whatever was known of that id.
                self.owners.set(TextMessage, id.as_str().into(), owner(&e.subagent_run_id));
                self.aside(said)
            }
            Event::ActivitySnapshot(e) => {
                let (id, owner) = (e.message_id.as_str().into(), owner(&e.subagent_run_id));
                match e.replace {
                    // Then the one that is there stays.
                    Some(false) => self.owners.note(Activity, id, owner),
                    _ => self.owners.set(Activity, id, owner),
                }
                Ok(())
            }
            Event::ActivityDelta(e) => self.owners.agree(Activity, &e.message_id, said(&e.subagent_run_id)),
            Event::ReasoningEncryptedValue(e) => {
                let what = match e.subtype {
                    EncryptedValueSubtype::ToolCall => ToolCall,
                    _ if self.owners.of(TextMessage, &e.entity_id).is_some() => TextMessage,
                    _ => ReasoningMessage,
                };
                self.owners.agree(what, &e.entity_id, said(&e.subagent_run_id))
            }
            Event::SubagentStarted(e) => self.subagent_starts(e),
            Event::SubagentFinished(e) => self.subagent_ends(&e.subagent_run_id),
            Event::SubagentError(e) => self.subagent_ends(&e.subagent_run_id),
            Event::MessagesSnapshot(e) => {
                self.lanes.close_all();
                self.owners.restate(&e.messages);
                Ok(())
            }
            Event::RunStarted(e) => {
                self.owners.recall(e.input.as_ref().map_or(&[], |input| &input.messages));
                Ok(())
            }
            Event::StateSnapshot(e) => self.aside(said(&e.subagent_run_id)),
            Event::StateDelta(e) => self.aside(said(&e.subagent_run_id)),
            Event::Custom(e) => self.aside(said(&e.subagent_run_id)),
            _ => Ok(()),
        }
    }

    /// What is open, the latest first: the order to close it in. Nothing is open any more.
    pub(super) fn close_all(&mut self) -> Vec<Open> {
        self.lanes.close_all();
        let mut open = std::mem::take(&mut self.open);
        open.reverse();
        for open in &mut open {
            // A snapshot may have made it another agent's since; an end that says none is right for each.
            if self.owners.agree(open.what, &open.id, open.owner.as_deref()).is_err() {
                open.owner = None;
            }
        }
        open
    }

    /// Whatever an agent says beside a chunk ends what it streams in chunks.
    fn aside(&mut self, said: Option<&str>) -> Result<(), OrderError> {
        self.lanes.close(said);
        Ok(())
    }

    fn opens(
        &mut self,
        what: Entity,
        id: &str,
        said: Option<&str>,
        parent: Option<&str>,
    ) -> Result<(), OrderError> {
        let id = self.starts(what, id, said, parent)?;
        self.open.push(Open { what, id, owner: said.map(Arc::from) });
        Ok(())
    }

    fn within(&mut self, what: Entity, id: &str, said: Option<&str>) -> Result<(), OrderError> {
        if !self.is_open(what, id, said) {
            return Err(OrderError::NotOpen { what, id: id.to_owned() });
        }
        self.owners.agree(what, id, said)?;
        self.aside(said)
    }

    fn closes(&mut self, what: Entity, id: &str, said: Option<&str>) -> Result<(), OrderError> {
        let Some(at) = self.open.iter().rposition(|open| open.is(what, id, said)) else {
            // A step that is open under its name is another agent's.
            let other = self.open.iter().find(|open| open.what == what && &*open.id == id);
            return Err(match other {
                Some(other) => not_its(what, id, &other.owner, said),
                None => OrderError::NotOpen { what, id: id.to_owned() },
            });
        };
        self.owners.agree(what, id, said)?;
        self.open.remove(at);
        self.aside(said)
    }

    fn chunk(&mut self, chunk: &Chunk<'_>) -> Result<(), OrderError> {
        if self.lanes.goes_on(chunk)? {
            return Ok(());
        }
        let what = chunk.what;
        let member = if what == Entity::ToolCall { "toolCallId" } else { "messageId" };
        let id = chunk.id.ok_or(OrderError::ChunkIncomplete { what, member })?;
        if what == Entity::ToolCall && chunk.settles[0].said.is_none() {
            return Err(OrderError::ChunkIncomplete { what, member: chunk.settles[0].member });
        }
        let id = self.starts(what, id, chunk.said, chunk.parent)?;
        self.lanes.open(chunk, id);
        Ok(())
    }

    /// Something begins: it must not be open, and is whose it was before, if it was.
    fn starts(
        &mut self,
        what: Entity,
        id: &str,
        said: Option<&str>,
        parent: Option<&str>,
    ) -> Result<Arc<str>, OrderError> {
        if self.is_open(what, id, said) {
            return Err(OrderError::AlreadyOpen { what, id: id.to_owned() });
        }
        self.owners.agree(what, id, said)?;
        let mut owner = said.map(Arc::from);
        // A tool call is of the agent whose message it is in.
        let of_parent = parent.and_then(|parent| self.owners.of(Entity::TextMessage, parent));
        if let (Some(parent), Some(of_parent)) = (parent, of_parent) {
            self.owners.agree(Entity::TextMessage, parent, said)?;
            match self.owners.of(what, id) {
                Some(known) if said.is_none() && known != of_parent => {
                    return Err(not_its(what, id, known, of_parent.as_deref()));
                }
                _ => owner = of_parent.clone(),
            }
        }
        let id: Arc<str> = id.into();
        self.owners.note(what, id.clone(), owner);
        self.lanes.close(said);
        Ok(id)
    }

    fn subagent_starts(&mut self, started: &SubagentStarted) -> Result<(), OrderError> {
        let (what, id) = (Entity::Subagent, &started.subagent_run_id);
        if self.is_open(what, id, None) {
            return Err(OrderError::AlreadyOpen { what, id: id.clone() });
        }
        if self.ended.contains(id.as_str()) {
            return Err(OrderError::SubagentOver { id: id.clone() });
        }
        if let Some(parent) = &started.parent_subagent_run_id
            && !self.is_open(what, parent, None)
            && !self.ended.contains(parent.as_str())
        {
            return Err(OrderError::ParentNotStarted { id: id.clone(), parent: parent.clone() });
        }
        self.open.push(Open::own(what, id.as_str().into()));
        Ok(())
    }

    fn subagent_ends(&mut self, id: &str) -> Result<(), OrderError> {
        let (what, open) = (Entity::Subagent, &mut self.open);
        let at = open.iter().rposition(|open| open.is(what, id, None));
        let at = at.ok_or_else(|| OrderError::NotOpen { what, id: id.to_owned() })?;
        self.ended.insert(open.remove(at).id);
        self.aside(Some(id))
    }

    /// Whether it is open for an event of that agent, which ends what the agent streams in chunks.
    fn is_open(&self, what: Entity, id: &str, said: Option<&str>) -> bool {
        // What is written to is mostly what was opened last.
        self.open.iter().rev().any(|open| open.is(what, id, said)) || self.lanes.holds_beside(said, what, id)
    }
}

fn said(subagent: &Option<String>) -> Option<&str> {
    subagent.as_deref()
}

fn owner(subagent: &Option<String>) -> Owner {
    subagent.as_deref().map(Arc::from)
}

fn text_chunk(e: &TextMessageChunk) -> Chunk<'_> {
    let role = e.role.as_ref().map(TextMessageRole::as_str);
    Chunk {
        what: Entity::TextMessage,
        id: e.message_id.as_deref(),
        said: said(&e.subagent_run_id),
        parent: None,
        settles: [
            Settled { member: "role", said: role, meant: Some("assistant") },
            Settled { member: "name", said: e.name.as_deref(), meant: None },
        ],
    }
}

fn call_chunk(e: &ToolCallChunk) -> Chunk<'_> {
    let parent = e.parent_message_id.as_deref();
    Chunk {
        what: Entity::ToolCall,
        id: e.tool_call_id.as_deref(),
        said: said(&e.subagent_run_id),
        parent,
        settles: [
            Settled { member: "toolCallName", said: e.tool_call_name.as_deref(), meant: None },
            Settled { member: "parentMessageId", said: parent, meant: None },
        ],
    }
}

fn reasoning_chunk(e: &ReasoningMessageChunk) -> Chunk<'_> {
    Chunk {
        what: Entity::ReasoningMessage,
        id: e.message_id.as_deref(),
        said: said(&e.subagent_run_id),
        parent: None,
        settles: [Settled::NONE; 2],
    }
}
