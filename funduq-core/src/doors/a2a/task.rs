//! A lineage of runs as an A2A task: its state, the question it waits on, its history, what funduq says about it.

use funduq_a2a::{
    Artifact, JsonObject, Message, Part, PartContent, Role, StreamResponse, Task, TaskArtifactUpdateEvent,
    TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
};
use funduq_agui::message::{ContentPart, UserMessage};
use funduq_agui::{Content, RelayedEvent, RelayedMessage, Role as AguiRole};
use funduq_contract::{RESERVED_KEY, RunId, ThreadId};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::fold::{Fold, Piece, artifact};
use crate::record::{FailureReason, Run, RunMetadata, TaskStanding};

/// The ids that everything about a task is labelled with, whichever run of its lineage it comes from.
#[derive(Debug, Clone)]
pub(super) struct Label {
    pub(super) task: RunId,
    pub(super) context: ThreadId,
}

impl Label {
    pub(super) fn of(run: &Run) -> Self {
        Self { task: run.root_run_id.clone(), context: run.thread_id.clone() }
    }

    /// A piece of an artifact as a stream sends it.
    pub(super) fn artifact_update(&self, piece: Piece) -> StreamResponse {
        StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
            task_id: self.task.as_str().to_owned(),
            context_id: self.context.as_str().to_owned(),
            artifact: artifact(&piece.artifact, piece.name, &piece.text),
            append: piece.append,
            last_chunk: piece.last,
            metadata: None,
        })
    }

    /// A change of status, or an event that rides on the status that stands.
    pub(super) fn status_update(&self, status: TaskStatus, metadata: Option<JsonObject>) -> StreamResponse {
        StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: self.task.as_str().to_owned(),
            context_id: self.context.as_str().to_owned(),
            status,
            metadata,
        })
    }

    fn message(&self, id: String, role: Role, parts: Vec<Part>) -> Message {
        Message {
            message_id: id,
            context_id: Some(self.context.as_str().to_owned()),
            task_id: Some(self.task.as_str().to_owned()),
            role,
            parts,
            ..Message::default()
        }
    }
}

/// The state of a task whose tail is this run.
pub(super) fn state(tail: &Run) -> TaskState {
    match TaskStanding::of(tail) {
        TaskStanding::Unclaimed => TaskState::Submitted,
        TaskStanding::Claimed => TaskState::Working,
        TaskStanding::Waiting => TaskState::InputRequired,
        TaskStanding::Completed => TaskState::Completed,
        TaskStanding::Failed => TaskState::Failed,
        TaskStanding::Cancelled => TaskState::Canceled,
    }
}

/// A status with nothing to say beside it.
pub(super) fn bare_status(state: TaskState, at: i64) -> TaskStatus {
    TaskStatus { state, message: None, timestamp: Some(Timestamp::from_unix_millis(at)) }
}

/// The status of a task whose tail is this run. `error` is the message of the run's `RUN_ERROR`.
///
/// A waiting task's message is what its interrupts say, so that a stock client can show the question; a failed one's
/// is what the `RUN_ERROR` says, but for an offline agent, which never said anything.
pub(super) fn status(tail: &Run, error: Option<&str>) -> TaskStatus {
    let state = state(tail);
    let message = match &state {
        TaskState::InputRequired => question(tail),
        TaskState::Failed if !is_offline(tail) => error.map(|error| {
            Label::of(tail).message(format!("{}-error", tail.id), Role::Agent, vec![Part::text(error)])
        }),
        _ => None,
    };
    TaskStatus { message, ..bare_status(state, tail.updated_at) }
}

/// Whether the run failed because nobody served its agent when it came.
pub(super) fn is_offline(run: &Run) -> bool {
    run.metadata.failure_reason.as_deref() == Some(FailureReason::AgentOffline.as_str())
}

/// What the run asks, as far as its interrupts have words.
fn question(run: &Run) -> Option<Message> {
    #[derive(Deserialize)]
    struct Interrupt {
        message: Option<String>,
    }
    let said = |raw: &RawValue| serde_json::from_str::<Interrupt>(raw.get()).ok()?.message;
    let parts: Vec<_> = run.metadata.interrupts.iter().filter_map(|raw| said(raw)).map(Part::text).collect();
    (!parts.is_empty()).then(|| Label::of(run).message(format!("{}-ask", run.id), Role::Agent, parts))
}

/// What was said on both sides, oldest first: each run's new messages, and the question of each ask that was answered.
/// The newest question stands in the status until then. The agent's other words are artifacts.
///
/// `length` is A2A's history length: absent all, 0 none, n the newest n (A2A 1.0 §3.2.4).
pub(super) fn history(runs: &[Run], length: Option<usize>) -> Vec<Message> {
    let wanted = length.unwrap_or(usize::MAX);
    let mut newest_first = Vec::new();
    for (at, run) in runs.iter().enumerate().rev() {
        if newest_first.len() >= wanted {
            break;
        }
        if at + 1 < runs.len() {
            newest_first.extend(question(run));
        }
        let label = Label::of(run);
        // An AG-UI client sends its whole conversation each time; what is new stands at its end.
        let new = run.input.messages.iter().rev().take_while(|message| *message.role() == AguiRole::User);
        newest_first.extend(new.map(|message| spoken(&label, message)));
    }
    newest_first.truncate(wanted);
    newest_first.reverse();
    newest_first
}

/// A user's message of AG-UI as A2A's. Parts that A2A has no word for are data.
fn spoken(label: &Label, message: &RelayedMessage) -> Message {
    let id = message.id().unwrap_or_default().to_owned();
    let Ok(UserMessage { content, metadata, .. }) = serde_json::from_str(message.json()) else {
        // Half a surrogate pair somewhere, which only bytes can carry.
        return label.message(id, Role::User, vec![Part::text(message.text().unwrap_or_default())]);
    };
    let parts = match content {
        Content::Text(text) => vec![Part::text(text)],
        Content::Parts(parts) => parts.into_iter().map(part).collect(),
    };
    let metadata = metadata
        .map(|metadata| metadata.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect());
    Message { metadata, ..label.message(id, Role::User, parts) }
}

fn part(part: ContentPart) -> Part {
    match part {
        ContentPart::Text(text) => {
            let metadata = text.metadata.and_then(|metadata| metadata.to().ok());
            Part { metadata, ..Part::text(text.text) }
        }
        other => Part::data(serde_json::value::to_raw_value(&other).expect("a content part has a JSON form")),
    }
}

/// A whole task. The runs are its lineage so far, the last of them being the tail.
pub(super) fn task(
    runs: &[Run],
    status: TaskStatus,
    artifacts: Vec<Artifact>,
    history_length: Option<usize>,
    metadata: Option<JsonObject>,
) -> Task {
    let label = runs.last().map(Label::of);
    Task {
        id: label.as_ref().map(|label| label.task.as_str().to_owned()).unwrap_or_default(),
        context_id: label.map(|label| label.context.as_str().to_owned()),
        status,
        artifacts,
        history: history(runs, history_length),
        metadata,
    }
}

/// How many bytes of what the parties said a task has.
pub(super) fn size(task: &Task) -> usize {
    let spoken = task.history.iter().chain(&task.status.message).flat_map(|message| &message.parts);
    let made = task.artifacts.iter().flat_map(|artifact| &artifact.parts);
    let content = |part: &Part| match &part.content {
        PartContent::Text(text) | PartContent::Url(text) => text.len(),
        PartContent::Raw(bytes) => bytes.0.len(),
        PartContent::Data(json) => json.get().len(),
    };
    let noted = task.metadata.iter().flat_map(JsonObject::iter).map(|(_, json)| json.get().len());
    spoken.chain(made).map(content).chain(noted).sum()
}

/// What funduq says in metadata, under its one key: what it recorded of a run, and events that are no text.
#[derive(Debug, Default)]
pub(super) struct Said<'a> {
    members: Vec<(&'static str, std::borrow::Cow<'a, str>)>,
}

impl<'a> Said<'a> {
    /// What funduq recorded of a run: `interrupts`, `pendingToolCalls`, `failureReason`, `answeredBy`,
    /// `cancelRequested` and `cancelRequestedBy`, each where there is something to say.
    pub(super) fn recorded(mut self, metadata: &RunMetadata) -> Self {
        let json = serde_json::to_string(metadata).expect("a run's metadata has a JSON form");
        // Spliced in as it is: its members stand beside the others.
        let inner =
            json.strip_prefix("{").and_then(|json| json.strip_suffix("}")).unwrap_or_default().to_owned();
        if !inner.is_empty() {
            self.members.push(("", inner.into()));
        }
        self
    }

    /// The one event that a status update carries.
    pub(super) fn event(mut self, event: &'a RelayedEvent) -> Self {
        self.members.push(("agui_event", event.json().into()));
        self
    }

    /// The events that a whole task carries, the newest as far as there is room, and how many are left out.
    pub(super) fn events(mut self, fold: &Fold) -> Self {
        let (events, omitted) = fold.events();
        if !events.is_empty() {
            let list: Vec<_> = events.iter().map(RelayedEvent::json).collect();
            self.members.push(("agui_events", format!("[{}]", list.join(",")).into()));
        }
        if omitted > 0 {
            self.members.push(("agui_events_omitted", omitted.to_string().into()));
        }
        self
    }

    /// The metadata, or nothing where there is nothing to say.
    pub(super) fn metadata(self) -> Option<JsonObject> {
        if self.members.is_empty() {
            return None;
        }
        let members: Vec<_> = self
            .members
            .iter()
            .map(|(name, value)| match *name {
                "" => value.to_string(),
                name => format!("\"{name}\":{value}"),
            })
            .collect();
        let json = format!("{{{}}}", members.join(","));
        let said = RawValue::from_string(json).expect("members of JSON in braces are a JSON object");
        Some([(RESERVED_KEY.to_owned(), said)].into_iter().collect())
    }
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
