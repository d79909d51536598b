//! Requests about tasks that exist, and the listing's answer (A2A 1.0 §3.1.3–3.1.6, §3.1.11).

use schemars::JsonSchema;
use serde::Serialize;

use super::{Task, TaskState};
use crate::wire::{Fields, JsonObject, ReadMessage, Timestamp, deserialize_as_message, unset};

/// `GetTask`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The task; required.
    pub id: String,
    /// How many of the newest messages to include: absent all, 0 none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
}

impl ReadMessage for GetTaskRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            tenant: fields.text("tenant"),
            id: fields.required_text("id"),
            history_length: fields.optional("historyLength"),
        }
    }
}

/// `ListTasks`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListTasksRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// Only tasks of this context.
    #[serde(skip_serializing_if = "unset")]
    pub context_id: Option<String>,
    /// Only tasks in this state; absent means any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskState>,
    /// How many tasks a page may have: 1 to 100; absent means 50.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_size: Option<i32>,
    /// Where the page begins, from the answer before.
    #[serde(skip_serializing_if = "unset")]
    pub page_token: Option<String>,
    /// How many of each task's newest messages to include: absent all, 0 none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// Only tasks whose status was recorded at this instant or later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status_timestamp_after: Option<Timestamp>,
    /// Whether to include artifacts; absent means no.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_artifacts: Option<bool>,
}

impl ReadMessage for ListTasksRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            tenant: fields.text("tenant"),
            context_id: fields.text("contextId"),
            status: fields.optional("status").filter(|status| *status != TaskState::Unspecified),
            page_size: fields.optional("pageSize"),
            page_token: fields.text("pageToken"),
            history_length: fields.optional("historyLength"),
            status_timestamp_after: fields.optional("statusTimestampAfter"),
            include_artifacts: fields.optional("includeArtifacts"),
        }
    }
}

/// One page of tasks. All four members are always written (A2A 1.0 §3.1.4).
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListTasksResponse {
    /// The tasks of this page.
    pub tasks: Vec<Task>,
    /// Where the next page begins; empty after the last.
    pub next_page_token: String,
    /// The page size that was used.
    pub page_size: i32,
    /// How many tasks match on all pages together.
    pub total_size: i32,
}

impl ReadMessage for ListTasksResponse {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            tasks: fields.or_default("tasks"),
            next_page_token: fields.or_default("nextPageToken"),
            page_size: fields.or_default("pageSize"),
            total_size: fields.or_default("totalSize"),
        }
    }
}

/// `CancelTask`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CancelTaskRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The task; required.
    pub id: String,
    /// What the caller says beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for CancelTaskRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            tenant: fields.text("tenant"),
            id: fields.required_text("id"),
            metadata: fields.optional("metadata"),
        }
    }
}

/// `SubscribeToTask`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SubscribeToTaskRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The task; required.
    pub id: String,
}

impl ReadMessage for SubscribeToTaskRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { tenant: fields.text("tenant"), id: fields.required_text("id") }
    }
}

/// `GetExtendedAgentCard`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetExtendedAgentCardRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
}

impl ReadMessage for GetExtendedAgentCardRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { tenant: fields.text("tenant") }
    }
}

deserialize_as_message!(
    GetTaskRequest,
    ListTasksRequest,
    ListTasksResponse,
    CancelTaskRequest,
    SubscribeToTaskRequest,
    GetExtendedAgentCardRequest,
);
