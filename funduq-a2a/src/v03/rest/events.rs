//! What a 0.3 stream over HTTP+JSON carries.

use serde::Serialize;

use super::{Artifact, Message, Task, TaskStatus};
use crate::v03::is_final;
use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message, is_false};
use crate::{
    StreamResponse as StreamResponseV1, TaskArtifactUpdateEvent as TaskArtifactUpdateEventV1,
    TaskStatusUpdateEvent as TaskStatusUpdateEventV1,
};

/// A task changed its status.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatusUpdateEvent {
    /// The task; required.
    pub task_id: String,
    /// The task's context; required.
    pub context_id: String,
    /// The new status; required.
    pub status: TaskStatus,
    /// Whether the stream ends here; absent means no.
    #[serde(rename = "final", skip_serializing_if = "is_false")]
    pub is_final: bool,
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
            is_final: fields.or_default("final"),
            metadata: fields.optional("metadata"),
        }
    }
}

/// A task produced an artifact, or more of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskArtifactUpdateEvent {
    /// The task; required.
    pub task_id: String,
    /// The task's context; required.
    pub context_id: String,
    /// The artifact, or the next piece of it; required.
    pub artifact: Artifact,
    /// Whether the parts go to the end of the artifact sent before under the same id; absent means no.
    #[serde(skip_serializing_if = "is_false")]
    pub append: bool,
    /// Whether this is the last piece of the artifact; absent means no.
    #[serde(skip_serializing_if = "is_false")]
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

/// One event of a stream; the answer to a sent message is one of the first two.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum StreamResponse {
    /// The whole task.
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

impl From<TaskStatusUpdateEvent> for TaskStatusUpdateEventV1 {
    fn from(update: TaskStatusUpdateEvent) -> Self {
        Self {
            task_id: update.task_id,
            context_id: update.context_id,
            status: update.status.into(),
            metadata: update.metadata,
        }
    }
}

impl From<TaskStatusUpdateEventV1> for TaskStatusUpdateEvent {
    fn from(update: TaskStatusUpdateEventV1) -> Self {
        Self {
            task_id: update.task_id,
            context_id: update.context_id,
            is_final: is_final(&update.status.state),
            status: update.status.into(),
            metadata: update.metadata,
        }
    }
}

impl From<TaskArtifactUpdateEvent> for TaskArtifactUpdateEventV1 {
    fn from(update: TaskArtifactUpdateEvent) -> Self {
        Self {
            task_id: update.task_id,
            context_id: update.context_id,
            artifact: update.artifact.into(),
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
        }
    }
}

impl From<TaskArtifactUpdateEventV1> for TaskArtifactUpdateEvent {
    fn from(update: TaskArtifactUpdateEventV1) -> Self {
        Self {
            task_id: update.task_id,
            context_id: update.context_id,
            artifact: update.artifact.into(),
            append: update.append,
            last_chunk: update.last_chunk,
            metadata: update.metadata,
        }
    }
}

impl From<StreamResponse> for StreamResponseV1 {
    fn from(event: StreamResponse) -> Self {
        match event {
            StreamResponse::Task(task) => Self::Task(task.into()),
            StreamResponse::Message(message) => Self::Message(message.into()),
            StreamResponse::StatusUpdate(update) => Self::StatusUpdate(update.into()),
            StreamResponse::ArtifactUpdate(update) => Self::ArtifactUpdate(update.into()),
        }
    }
}

impl From<StreamResponseV1> for StreamResponse {
    fn from(event: StreamResponseV1) -> Self {
        match event {
            StreamResponseV1::Task(task) => Self::Task(task.into()),
            StreamResponseV1::Message(message) => Self::Message(message.into()),
            StreamResponseV1::StatusUpdate(update) => Self::StatusUpdate(update.into()),
            StreamResponseV1::ArtifactUpdate(update) => Self::ArtifactUpdate(update.into()),
        }
    }
}
