//! Folds: what a run's events add up to. Pure; nothing here waits, reads a clock or fails.
//!
//! An event that does not fit what came before (content for a message that never
//! began, a patch that cannot be applied) changes nothing: order is the provider's,
//! and the record keeps every event anyway.

mod asks;
mod call;
mod conversation;
mod draft;
mod lanes;
mod snapshot;

pub use asks::{OpenAsks, OpenInterrupt, PendingToolCall};

use asks::Ending;
use conversation::Conversation;
use lanes::{Lanes, Stream};

use crate::event::EventType;
use crate::json::Members;
use crate::patch::JsonPatchOperation;
use crate::relayed::{RelayedEvent, RelayedMessage};

/// What one run's events add up to, event by event up to its terminal event.
#[derive(Clone, Debug, Default)]
pub struct RunFold {
    conversation: Conversation,
    lanes: Lanes,
    ending: Option<Ending>,
    snapshot_taken: bool,
}

impl RunFold {
    /// A run of which nothing has come yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A run on a thread that has these messages: where an event goes on with one of
    /// them, the whole message is among [`RunFold::messages`].
    #[must_use]
    pub fn over<'a>(history: impl IntoIterator<Item = &'a RelayedMessage>) -> Self {
        let mut fold = Self::new();
        for message in history {
            fold.conversation.earlier(message.json());
        }
        fold
    }

    /// Takes the next event. Those after the first terminal event are not the run's.
    pub fn push(&mut self, event: &RelayedEvent) {
        if self.ending.is_some() {
            return;
        }
        let members = Members::of(event.json());
        self.close_lanes(event.event_type(), &members);
        self.take(event.event_type(), &members);
        if let Some(terminal) = event.terminal() {
            self.ending = Some(Ending::of(&terminal, &members));
        }
    }

    /// What the run left open; nothing while it has not ended.
    #[must_use]
    pub fn asks(&self) -> OpenAsks {
        self.ending.as_ref().map_or_else(OpenAsks::default, |ending| ending.asks(&self.conversation))
    }

    /// The messages that the run made or changed, in the order a client shows them:
    /// by first appearance, a tool's result right after the message that called it,
    /// and after a `MESSAGES_SNAPSHOT` what that leaves.
    #[must_use]
    pub fn messages(&self) -> Vec<RelayedMessage> {
        let messages = self.conversation.finished().into_iter();
        // A snapshot's message may have an id with half a surrogate pair, which is no text.
        messages.filter_map(|message| RelayedMessage::trusted(message).ok()).collect()
    }

    /// Whether a `MESSAGES_SNAPSHOT` came, so that the messages may hold the thread's
    /// earlier ones too.
    #[must_use]
    pub fn snapshot_taken(&self) -> bool {
        self.snapshot_taken
    }

    /// Ends what was being streamed in chunks and this event stops: all of it at an
    /// event of the run as a whole, else that of the agent it comes from.
    fn close_lanes(&mut self, event_type: EventType, event: &Members<'_>) {
        match event_type {
            EventType::RunStarted
            | EventType::RunFinished
            | EventType::RunError
            | EventType::MessagesSnapshot => self.lanes.close_all(),
            // They stand beside what is streamed.
            EventType::Raw
            | EventType::ActivitySnapshot
            | EventType::ActivityDelta
            | EventType::ReasoningEncryptedValue
            | EventType::SubagentStarted
            | EventType::TextMessageChunk
            | EventType::ToolCallChunk
            | EventType::ReasoningMessageChunk
            | EventType::Unknown => {}
            _ if self.lanes.is_empty() => {}
            _ => self.lanes.close(event.text("subagentRunId").as_deref()),
        }
    }

    fn take(&mut self, event_type: EventType, event: &Members<'_>) {
        let conversation = &mut self.conversation;
        match event_type {
            EventType::TextMessageStart => {
                conversation.open_text(event.text("messageId").as_deref(), event);
            }
            EventType::ReasoningMessageStart => {
                conversation.open_reasoning(event.text("messageId").as_deref(), event);
            }
            EventType::TextMessageContent
            | EventType::TextMessageEnd
            | EventType::ReasoningMessageContent
            | EventType::ReasoningMessageEnd => {
                conversation.append(event.text("messageId").as_deref(), event);
            }
            EventType::ToolCallStart => {
                conversation.open_call(event.text("toolCallId").as_deref(), event);
            }
            EventType::ToolCallArgs | EventType::ToolCallEnd => {
                conversation.append_to_call(event.text("toolCallId").as_deref(), event);
            }
            EventType::ToolCallResult => conversation.result(event),
            EventType::TextMessageChunk => self.chunk(Stream::Text, event),
            EventType::ReasoningMessageChunk => self.chunk(Stream::Reasoning, event),
            EventType::ToolCallChunk => self.chunk(Stream::Call, event),
            EventType::ActivitySnapshot => conversation.activity(event),
            EventType::ActivityDelta => {
                let patch = event.get("patch").and_then(|patch| serde_json::from_str(patch).ok());
                let patch: Option<Vec<JsonPatchOperation>> = patch;
                conversation.change_activity(event, patch.as_deref());
            }
            EventType::ReasoningEncryptedValue => conversation.encrypted_value(event),
            EventType::MessagesSnapshot => {
                self.snapshot_taken = true;
                conversation.reconcile(event.get("messages").unwrap_or_default());
            }
            _ => {}
        }
    }

    /// A chunk continues what its lane streams, or begins something new there.
    fn chunk(&mut self, stream: Stream, event: &Members<'_>) {
        let named = event.text(stream.id_name());
        let owner = event.text("subagentRunId");
        let Some(owner) = self.lanes.lane_of(stream, named.as_deref(), owner.as_deref()) else { return };
        let open = self.lanes.get(&owner, stream, named.as_deref());
        let (id, is_new) = match (open, named) {
            (Some(id), _) => (id, false),
            (None, Some(id)) => (id.into_owned(), true),
            (None, None) => return,
        };
        let conversation = &mut self.conversation;
        match stream {
            Stream::Text if is_new => conversation.open_text(Some(&id), event),
            Stream::Reasoning if is_new => conversation.open_reasoning(Some(&id), event),
            // A call cannot begin without the name of its tool.
            Stream::Call if is_new && event.get("toolCallName").is_none() => return,
            Stream::Call if is_new => conversation.open_call(Some(&id), event),
            _ => {}
        }
        match stream {
            Stream::Text | Stream::Reasoning => conversation.append(Some(&id), event),
            Stream::Call => conversation.append_to_call(Some(&id), event),
        }
        if is_new {
            self.lanes.open(owner, stream, id);
        }
    }
}
