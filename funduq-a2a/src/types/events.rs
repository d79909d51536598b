//! What a stream carries: the task, a message, or an update (A2A 1.0 §4.2, §3.2.3).

use schemars::JsonSchema;
use serde::Serialize;

use super::{Artifact, Message, Task, TaskStatus};
use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message, is_false};

/// A task changed its status.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The task; required.
    pub task_id: String,
    /// The task's context; required.
    pub context_id: String,
    /// The new status; required.
    pub status: TaskStatus,
    /// What the agent attaches to the update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for TaskStatusUpdateEvent {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            task_id: fields.required_text("taskId"),
            context_id: fields.required_text("contextId"),
            status: fields.required("status"),
            metadata: fields.optional("metadata"),
        }
    }
}

/// A task produced an artifact, or more of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The task; required.
    pub task_id: String,
    /// The task's context; required.
    pub context_id: String,
    /// The artifact, or the next piece of it; required.
    pub artifact: Artifact,
    /// Whether the parts go to the end of the artifact sent before under the same id; absent means no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub append: bool,
    /// Whether this is the last piece of the artifact; absent means no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub last_chunk: bool,
    /// What the agent attaches to the update.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for TaskArtifactUpdateEvent {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            task_id: fields.required_text("taskId"),
            context_id: fields.required_text("contextId"),
            artifact: fields.required("artifact"),
            append: fields.or_default("append"),
            last_chunk: fields.or_default("lastChunk"),
            metadata: fields.optional("metadata"),
        }
    }
}

/// One event of a stream; in JSON an object with exactly one member that names the kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// The whole task; the first event of a stream.
    Task(Task),
    /// A message in place of a task.
    Message(Message),
    /// A change of status.
    StatusUpdate(TaskStatusUpdateEvent),
    /// A new artifact, or more of one.
    ArtifactUpdate(TaskArtifactUpdateEvent),
}

impl ReadMessage for StreamResponse {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        match fields.one_of(&["task", "message", "statusUpdate", "artifactUpdate"]) {
            Some("message") => Self::Message(fields.or_default("message")),
            Some("statusUpdate") => Self::StatusUpdate(fields.or_default("statusUpdate")),
            Some("artifactUpdate") => Self::ArtifactUpdate(fields.or_default("artifactUpdate")),
            _ => Self::Task(fields.or_default("task")),
        }
    }
}

deserialize_as_message!(TaskStatusUpdateEvent, TaskArtifactUpdateEvent, StreamResponse);
