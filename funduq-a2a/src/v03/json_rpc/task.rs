//! Tasks, their states and their artifacts in 0.3.

use serde::Serialize;

use super::{Message, Part};
use crate::v03::LenientTimestamp;
use crate::wire::{Fields, JsonObject, ReadMessage, Timestamp, deserialize_as_message, open_enum, unset};
use crate::{Artifact as ArtifactV1, Task as TaskV1, TaskState as TaskStateV1, TaskStatus as TaskStatusV1};

open_enum! {
    /// Where a task stands.
    pub enum TaskState {
        /// Not known.
        Unspecified = "unknown",
        /// Taken in, not begun.
        Submitted = "submitted",
        /// Being worked on.
        Working = "working",
        /// Ended well.
        Completed = "completed",
        /// Ended with an error.
        Failed = "failed",
        /// Ended because a caller asked for it.
        Canceled = "canceled",
        /// Waiting for an answer.
        InputRequired = "input-required",
        /// Ended because the agent would not do it.
        Rejected = "rejected",
        /// Waiting for the caller to authenticate.
        AuthRequired = "auth-required",
    }
}

/// A task's state, since when, and what the agent says about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// The state; required.
    pub state: TaskState,
    /// What the agent says with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// When the state was recorded; a peer's timestamp without an offset is taken for UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

impl ReadMessage for TaskStatus {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            state: fields.required("state"),
            message: fields.optional("message"),
            timestamp: fields.optional("timestamp").map(|LenientTimestamp(timestamp)| timestamp),
        }
    }
}

/// One output of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Unique within its task; required.
    pub artifact_id: String,
    /// A name for people.
    #[serde(skip_serializing_if = "unset")]
    pub name: Option<String>,
    /// A description for people.
    #[serde(skip_serializing_if = "unset")]
    pub description: Option<String>,
    /// The content; at least one part.
    pub parts: Vec<Part>,
    /// What the agent attaches to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// URIs of the extensions that contributed to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl ReadMessage for Artifact {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            artifact_id: fields.required_text("artifactId"),
            name: fields.text("name"),
            description: fields.text("description"),
            parts: fields.required_list("parts"),
            metadata: fields.optional("metadata"),
            extensions: fields.or_default("extensions"),
        }
    }
}

/// The unit of work between a client and an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "task", rename_all = "camelCase")]
pub struct Task {
    /// The id the server gave it; required.
    pub id: String,
    /// The context it belongs to; required.
    pub context_id: String,
    /// Where it stands; required.
    pub status: TaskStatus,
    /// What it has produced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Its messages, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// What the parties attach to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for Task {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            id: fields.required_text("id"),
            context_id: fields.required_text("contextId"),
            status: fields.required("status"),
            artifacts: fields.or_default("artifacts"),
            history: fields.or_default("history"),
            metadata: fields.optional("metadata"),
        }
    }
}

deserialize_as_message!(TaskStatus, Artifact, Task);

impl From<TaskState> for TaskStateV1 {
    fn from(state: TaskState) -> Self {
        match state {
            TaskState::Unspecified => Self::Unspecified,
            TaskState::Submitted => Self::Submitted,
            TaskState::Working => Self::Working,
            TaskState::Completed => Self::Completed,
            TaskState::Failed => Self::Failed,
            TaskState::Canceled => Self::Canceled,
            TaskState::InputRequired => Self::InputRequired,
            TaskState::Rejected => Self::Rejected,
            TaskState::AuthRequired => Self::AuthRequired,
            TaskState::Unknown(name) => Self::Unknown(name),
        }
    }
}

impl From<TaskStateV1> for TaskState {
    fn from(state: TaskStateV1) -> Self {
        match state {
            TaskStateV1::Unspecified => Self::Unspecified,
            TaskStateV1::Submitted => Self::Submitted,
            TaskStateV1::Working => Self::Working,
            TaskStateV1::Completed => Self::Completed,
            TaskStateV1::Failed => Self::Failed,
            TaskStateV1::Canceled => Self::Canceled,
            TaskStateV1::InputRequired => Self::InputRequired,
            TaskStateV1::Rejected => Self::Rejected,
            TaskStateV1::AuthRequired => Self::AuthRequired,
            TaskStateV1::Unknown(name) => Self::Unknown(name),
        }
    }
}

impl From<TaskStatus> for TaskStatusV1 {
    fn from(status: TaskStatus) -> Self {
        Self {
            state: status.state.into(),
            message: status.message.map(Into::into),
            timestamp: status.timestamp,
        }
    }
}

impl From<TaskStatusV1> for TaskStatus {
    fn from(status: TaskStatusV1) -> Self {
        Self {
            state: status.state.into(),
            message: status.message.map(Into::into),
            timestamp: status.timestamp,
        }
    }
}

impl From<Artifact> for ArtifactV1 {
    fn from(artifact: Artifact) -> Self {
        Self {
            artifact_id: artifact.artifact_id,
            name: artifact.name,
            description: artifact.description,
            parts: artifact.parts.into_iter().map(Into::into).collect(),
            metadata: artifact.metadata,
            extensions: artifact.extensions,
        }
    }
}

impl From<ArtifactV1> for Artifact {
    fn from(artifact: ArtifactV1) -> Self {
        Self {
            artifact_id: artifact.artifact_id,
            name: artifact.name,
            description: artifact.description,
            parts: artifact.parts.into_iter().map(Into::into).collect(),
            metadata: artifact.metadata,
            extensions: artifact.extensions,
        }
    }
}

impl From<Task> for TaskV1 {
    fn from(task: Task) -> Self {
        Self {
            id: task.id,
            context_id: Some(task.context_id),
            status: task.status.into(),
            artifacts: task.artifacts.into_iter().map(Into::into).collect(),
            history: task.history.into_iter().map(Into::into).collect(),
            metadata: task.metadata,
        }
    }
}

impl From<TaskV1> for Task {
    fn from(task: TaskV1) -> Self {
        Self {
            id: task.id,
            context_id: task.context_id.unwrap_or_default(),
            status: task.status.into(),
            artifacts: task.artifacts.into_iter().map(Into::into).collect(),
            history: task.history.into_iter().map(Into::into).collect(),
            metadata: task.metadata,
        }
    }
}
