//! Push notifications: the configuration and the four operations on it (A2A 1.0 §4.3, §3.1.7–3.1.10).

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{Fields, ReadMessage, deserialize_as_message, unset};

/// How a server authenticates itself to the receiver of its notifications.
#[derive(Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationInfo {
    /// The HTTP authentication scheme, such as `Bearer`; required.
    pub scheme: String,
    /// What the scheme needs, such as a token. Never shown by `Debug`.
    #[serde(skip_serializing_if = "unset")]
    pub credentials: Option<String>,
}

impl fmt::Debug for AuthenticationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticationInfo").field("scheme", &self.scheme).finish_non_exhaustive()
    }
}

impl ReadMessage for AuthenticationInfo {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { scheme: fields.required_text("scheme"), credentials: fields.text("credentials") }
    }
}

/// Where notifications about a task go; also the request of `CreateTaskPushNotificationConfig`.
#[derive(Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TaskPushNotificationConfig {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The configuration's id.
    #[serde(skip_serializing_if = "unset")]
    pub id: Option<String>,
    /// The task it is for; absent inside a `SendMessage`.
    #[serde(skip_serializing_if = "unset")]
    pub task_id: Option<String>,
    /// Where to post notifications; required.
    pub url: String,
    /// What the receiver checks to know the task or session. Never shown by `Debug`.
    #[serde(skip_serializing_if = "unset")]
    pub token: Option<String>,
    /// How to authenticate to the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

impl fmt::Debug for TaskPushNotificationConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TaskPushNotificationConfig")
            .field("tenant", &self.tenant)
            .field("id", &self.id)
            .field("task_id", &self.task_id)
            .field("url", &self.url)
            .field("authentication", &self.authentication)
            .finish_non_exhaustive()
    }
}

impl ReadMessage for TaskPushNotificationConfig {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            tenant: fields.text("tenant"),
            id: fields.text("id"),
            task_id: fields.text("taskId"),
            url: fields.required_text("url"),
            token: fields.text("token"),
            authentication: fields.optional("authentication"),
        }
    }
}

/// `GetTaskPushNotificationConfig`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskPushNotificationConfigRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The task; required.
    pub task_id: String,
    /// The configuration; required.
    pub id: String,
}

impl ReadMessage for GetTaskPushNotificationConfigRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            tenant: fields.text("tenant"),
            task_id: fields.required_text("taskId"),
            id: fields.required_text("id"),
        }
    }
}

/// `DeleteTaskPushNotificationConfig`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeleteTaskPushNotificationConfigRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The task; required.
    pub task_id: String,
    /// The configuration; required.
    pub id: String,
}

impl ReadMessage for DeleteTaskPushNotificationConfigRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            tenant: fields.text("tenant"),
            task_id: fields.required_text("taskId"),
            id: fields.required_text("id"),
        }
    }
}

/// `ListTaskPushNotificationConfigs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListTaskPushNotificationConfigsRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The task; required.
    pub task_id: String,
    /// How many configurations a page may have; 0 leaves it to the server.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub page_size: i32,
    /// Where the page begins, from the answer before.
    #[serde(skip_serializing_if = "unset")]
    pub page_token: Option<String>,
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

impl ReadMessage for ListTaskPushNotificationConfigsRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            tenant: fields.text("tenant"),
            task_id: fields.required_text("taskId"),
            page_size: fields.or_default("pageSize"),
            page_token: fields.text("pageToken"),
        }
    }
}

/// One page of configurations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListTaskPushNotificationConfigsResponse {
    /// The configurations of this page.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub configs: Vec<TaskPushNotificationConfig>,
    /// Where the next page begins; absent after the last.
    #[serde(skip_serializing_if = "unset")]
    pub next_page_token: Option<String>,
}

impl ReadMessage for ListTaskPushNotificationConfigsResponse {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { configs: fields.or_default("configs"), next_page_token: fields.text("nextPageToken") }
    }
}

deserialize_as_message!(
    AuthenticationInfo,
    TaskPushNotificationConfig,
    GetTaskPushNotificationConfigRequest,
    DeleteTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
);
