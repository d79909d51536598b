//! A task: the unit of work with a state, its outputs and its history (A2A 1.0 §4.1.1–4.1.3).

use schemars::JsonSchema;
use serde::Serialize;

use super::{Artifact, Message};
use crate::wire::{Fields, JsonObject, ReadMessage, Timestamp, deserialize_as_message, open_enum, unset};

open_enum! {
    /// Where a task stands (A2A 1.0 §4.1.3).
    pub enum TaskState {
        /// Not known. As a filter: no filter.
        Unspecified = "TASK_STATE_UNSPECIFIED",
        /// Taken in, not begun.
        Submitted = "TASK_STATE_SUBMITTED",
        /// Being worked on.
        Working = "TASK_STATE_WORKING",
        /// Ended well.
        Completed = "TASK_STATE_COMPLETED",
        /// Ended with an error.
        Failed = "TASK_STATE_FAILED",
        /// Ended because a caller asked for it.
        Canceled = "TASK_STATE_CANCELED",
        /// Waiting for an answer from the caller.
        InputRequired = "TASK_STATE_INPUT_REQUIRED",
        /// Ended because the agent would not do it.
        Rejected = "TASK_STATE_REJECTED",
        /// Waiting for the caller to authenticate.
        AuthRequired = "TASK_STATE_AUTH_REQUIRED",
    }
}

impl TaskState {
    /// Whether the task has ended and nothing more will happen to it.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Rejected)
    }

    /// Whether the task waits for the caller, which closes its stream as an end does (A2A 1.0 §11.7).
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }
}

/// A task's state, since when, and what the agent says about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskStatus {
    /// The state; required.
    pub state: TaskState,
    /// What the agent says with it, such as the question of a waiting task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Message>,
    /// When the state was recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
}

impl ReadMessage for TaskStatus {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            state: fields.required("state"),
            message: fields.optional("message"),
            timestamp: fields.optional("timestamp"),
        }
    }
}

/// The unit of work between a client and an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Task {
    /// The id the server gave it; required.
    pub id: String,
    /// The context it belongs to.
    #[serde(skip_serializing_if = "unset")]
    pub context_id: Option<String>,
    /// Where it stands; required.
    pub status: TaskStatus,
    /// What it has produced; absent from a listing that did not ask for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// Its messages, oldest first, as many as were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Message>,
    /// What the parties attach to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for Task {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            id: fields.required_text("id"),
            context_id: fields.text("contextId"),
            status: fields.required("status"),
            artifacts: fields.or_default("artifacts"),
            history: fields.or_default("history"),
            metadata: fields.optional("metadata"),
        }
    }
}

deserialize_as_message!(TaskStatus, Task);
