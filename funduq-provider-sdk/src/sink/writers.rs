//! What an agent writes bit by bit: text, tool calls, reasoning, steps. Each closes what it opened, also when dropped.

use std::sync::Arc;

use funduq_agui::Event;
use funduq_agui::event::{
    ReasoningMessageContent, ReasoningMessageStart, ReasoningStart, StepStarted, TextMessageContent,
    TextMessageRole, TextMessageStart, ToolCallArgs, ToolCallStart,
};

use super::error::Entity;
use super::finish::closing;
use super::order::Open;
use super::{EmitError, EventSink, new_id, pieces};

/// How a text message begins when it is not simply the agent's.
#[derive(Debug, Clone, Default)]
pub struct TextOpening {
    /// The message's id; a new one when absent. A message that was closed goes on under its id.
    pub id: Option<String>,
    /// Who it is from; the assistant when absent.
    pub role: Option<TextMessageRole>,
    /// The name of its author.
    pub name: Option<String>,
}

impl EventSink {
    /// Opens a text message of the agent's.
    ///
    /// # Errors
    /// [`EmitError::RunOver`] or [`EmitError::TakenOver`], as for everything that is said.
    pub async fn open_text(&self) -> Result<TextWriter, EmitError> {
        self.open_text_as(TextOpening::default()).await
    }

    /// Opens a text message.
    ///
    /// # Errors
    /// [`OrderError::AlreadyOpen`](super::OrderError::AlreadyOpen) for the id of one that is open,
    /// [`EmitError::Malformed`] for a role that AG-UI 1.0 does not know; else as [`open_text`](Self::open_text).
    pub async fn open_text_as(&self, opening: TextOpening) -> Result<TextWriter, EmitError> {
        let id: Arc<str> = opening.id.unwrap_or_else(new_id).into();
        let mut start = TextMessageStart::new(&*id).role(opening.role.unwrap_or(TextMessageRole::Assistant));
        start.name = opening.name;
        let guard = self.open(start, Open::own(Entity::TextMessage, id.clone()))?;
        self.flush().await?;
        Ok(TextWriter { guard, id })
    }

    /// Opens a tool call of the agent's. Left without a result it is an ask: the caller runs the tool.
    ///
    /// # Errors
    /// As [`open_text`](Self::open_text).
    pub async fn open_tool_call(&self, tool: &str) -> Result<ToolCallWriter, EmitError> {
        self.open_tool_call_as(new_id(), tool, None).await
    }

    /// Opens a tool call under an id, in the message `parent` if there is one.
    ///
    /// # Errors
    /// [`OrderError::AlreadyOpen`](super::OrderError::AlreadyOpen) for the id of one that is open; else as
    /// [`open_text`](Self::open_text).
    pub async fn open_tool_call_as(
        &self,
        id: impl Into<Arc<str>>,
        tool: &str,
        parent: Option<&str>,
    ) -> Result<ToolCallWriter, EmitError> {
        let id = id.into();
        let mut start = ToolCallStart::new(&*id, tool);
        start.parent_message_id = parent.map(str::to_owned);
        let guard = self.open(start, Open::own(Entity::ToolCall, id.clone()))?;
        self.flush().await?;
        Ok(ToolCallWriter { guard, id })
    }

    /// Opens a span of reasoning with one message in it.
    ///
    /// # Errors
    /// As [`open_text`](Self::open_text).
    pub async fn open_reasoning(&self) -> Result<ReasoningWriter, EmitError> {
        let id: Arc<str> = new_id().into();
        let span = self.open(ReasoningStart::new(&*id), Open::own(Entity::ReasoningSpan, id.clone()))?;
        let message =
            self.open(ReasoningMessageStart::new(&*id), Open::own(Entity::ReasoningMessage, id.clone()))?;
        self.flush().await?;
        Ok(ReasoningWriter { message, span, id })
    }

    /// Opens a named step of the run. One of a name at a time.
    ///
    /// # Errors
    /// [`OrderError::AlreadyOpen`](super::OrderError::AlreadyOpen) while a step of that name is under way; else as
    /// [`open_text`](Self::open_text).
    pub async fn step(&self, name: &str) -> Result<Step, EmitError> {
        let guard = self.open(StepStarted::new(name), Open::own(Entity::Step, name.into()))?;
        self.flush().await?;
        Ok(Step { guard })
    }

    /// The guard comes before anything is awaited, so that what was opened is closed whatever happens.
    fn open(&self, start: impl Into<Event>, open: Open) -> Result<Guard, EmitError> {
        // A role may be no word of AG-UI's.
        self.say_checked(&start.into())?;
        Ok(Guard { sink: self.clone(), open })
    }

    fn close(&self, open: &Open) -> Result<(), EmitError> {
        closing(open).map_or(Ok(()), |end| self.say(&end))
    }
}

/// Closes what it stands for when it goes; what is closed already stays as it is.
#[derive(Debug)]
struct Guard {
    sink: EventSink,
    open: Open,
}

impl Guard {
    async fn close(self) -> Result<(), EmitError> {
        self.sink.close(&self.open)?;
        self.sink.flush().await
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // The run may be over, or the thing closed: then there is nothing to close. The event
        // goes out with the next one, at the latest with the finish.
        let _closed = self.sink.close(&self.open);
    }
}

/// A text message that is being written.
#[derive(Debug)]
pub struct TextWriter {
    guard: Guard,
    id: Arc<str>,
}

impl TextWriter {
    /// The message's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Appends text.
    ///
    /// # Errors
    /// [`EmitError::RunOver`] when the run has ended, and
    /// [`OrderError::NotOpen`](super::OrderError::NotOpen) when an event given to
    /// [`emit`](EventSink::emit) has closed it.
    pub async fn push(&self, text: &str) -> Result<(), EmitError> {
        for piece in pieces(text) {
            self.guard.sink.say(&TextMessageContent::new(&*self.id, piece).into())?;
            self.guard.sink.flush().await?;
        }
        Ok(())
    }

    /// Closes the message. Dropping the writer does so too, without waiting.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub async fn end(self) -> Result<(), EmitError> {
        self.guard.close().await
    }
}

/// A tool call whose arguments are being written.
#[derive(Debug)]
pub struct ToolCallWriter {
    guard: Guard,
    id: Arc<str>,
}

impl ToolCallWriter {
    /// The call's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Appends to the arguments, which together are the text of one JSON value.
    ///
    /// # Errors
    /// [`EmitError::RunOver`] when the run has ended, and
    /// [`OrderError::NotOpen`](super::OrderError::NotOpen) when an event given to
    /// [`emit`](EventSink::emit) has closed it.
    pub async fn push(&self, arguments: &str) -> Result<(), EmitError> {
        for piece in pieces(arguments) {
            self.guard.sink.say(&ToolCallArgs::new(&*self.id, piece).into())?;
            self.guard.sink.flush().await?;
        }
        Ok(())
    }

    /// Closes the call: its arguments are complete. Dropping the writer does so too, without waiting.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub async fn end(self) -> Result<(), EmitError> {
        self.guard.close().await
    }
}

/// A span of reasoning that is being written.
#[derive(Debug)]
pub struct ReasoningWriter {
    // In this order: the message is closed before its span.
    message: Guard,
    span: Guard,
    id: Arc<str>,
}

impl ReasoningWriter {
    /// The id of the span and its message.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Appends text.
    ///
    /// # Errors
    /// [`EmitError::RunOver`] when the run has ended, and
    /// [`OrderError::NotOpen`](super::OrderError::NotOpen) when an event given to
    /// [`emit`](EventSink::emit) has closed it.
    pub async fn push(&self, text: &str) -> Result<(), EmitError> {
        for piece in pieces(text) {
            self.message.sink.say(&ReasoningMessageContent::new(&*self.id, piece).into())?;
            self.message.sink.flush().await?;
        }
        Ok(())
    }

    /// Closes the span. Dropping the writer does so too, without waiting.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub async fn end(self) -> Result<(), EmitError> {
        self.message.close().await?;
        self.span.close().await
    }
}

/// A step that is under way.
#[derive(Debug)]
#[must_use = "the step is finished when this is dropped"]
pub struct Step {
    guard: Guard,
}

impl Step {
    /// Finishes the step. Dropping it does so too, without waiting.
    ///
    /// # Errors
    /// [`EmitError::RunOver`] when the run has ended.
    pub async fn finish(self) -> Result<(), EmitError> {
        self.guard.close().await
    }
}
