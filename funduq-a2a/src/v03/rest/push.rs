//! Push notification targets in 0.3 over HTTP+JSON, where a resource name says which task they are for.

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::v03::first_scheme;
use crate::wire::{Fields, InvalidMessage, ReadMessage, WireMessage, deserialize_as_message, unset};
use crate::{
    AuthenticationInfo as AuthenticationInfoV1, ListTaskPushNotificationConfigsResponse,
    TaskPushNotificationConfig as TaskPushNotificationConfigV1,
};

/// How a server authenticates itself to the receiver of its notifications.
#[derive(Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuthenticationInfo {
    /// HTTP authentication schemes; 1.0 keeps the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub schemes: Vec<String>,
    /// What the scheme needs. Never shown by `Debug`.
    #[serde(skip_serializing_if = "unset")]
    pub credentials: Option<String>,
}

impl fmt::Debug for AuthenticationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthenticationInfo").field("schemes", &self.schemes).finish_non_exhaustive()
    }
}

impl ReadMessage for AuthenticationInfo {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { schemes: fields.or_default("schemes"), credentials: fields.text("credentials") }
    }
}

/// Where notifications go.
#[derive(Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushNotificationConfig {
    /// The configuration's id.
    #[serde(skip_serializing_if = "unset")]
    pub id: Option<String>,
    /// Where to post notifications; required.
    pub url: String,
    /// What the receiver checks. Never shown by `Debug`.
    #[serde(skip_serializing_if = "unset")]
    pub token: Option<String>,
    /// How to authenticate to the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub authentication: Option<AuthenticationInfo>,
}

impl fmt::Debug for PushNotificationConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushNotificationConfig")
            .field("id", &self.id)
            .field("url", &self.url)
            .field("authentication", &self.authentication)
            .finish_non_exhaustive()
    }
}

impl ReadMessage for PushNotificationConfig {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            id: fields.text("id"),
            url: fields.required_text("url"),
            token: fields.text("token"),
            authentication: fields.optional("authentication"),
        }
    }
}

/// A target under its resource name.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskPushNotificationConfig {
    /// `tasks/{task}/pushNotificationConfigs/{id}`.
    #[serde(skip_serializing_if = "unset")]
    pub name: Option<String>,
    /// The target; required.
    pub push_notification_config: PushNotificationConfig,
}

impl ReadMessage for TaskPushNotificationConfig {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            name: fields.text("name"),
            push_notification_config: fields.required("pushNotificationConfig"),
        }
    }
}

/// One page of targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListTaskPushNotificationConfigResponse {
    /// The targets of this page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub configs: Vec<TaskPushNotificationConfig>,
    /// Where the next page begins.
    #[serde(skip_serializing_if = "unset")]
    pub next_page_token: Option<String>,
}

/// What a POST to a task's targets carries: the target, or (from the official Python client) the whole request
/// with the target in its `config`.
#[derive(Serialize)]
struct CreateRequest {
    task_id: String,
    config: TaskPushNotificationConfig,
}

impl ReadMessage for CreateRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let task_id = fields.required_text("taskId");
        let wrapped = fields.is_set("config");
        let config =
            if wrapped { fields.required("config") } else { TaskPushNotificationConfig::read(fields) };
        Self { task_id, config }
    }
}

/// Reads a target to create, for the task that the path names.
pub(super) fn read_create(params: &RawValue) -> Result<TaskPushNotificationConfigV1, InvalidMessage> {
    let CreateRequest { task_id, config } = CreateRequest::from_raw(params)?;
    Ok(TaskPushNotificationConfigV1 { task_id: Some(task_id), ..config.push_notification_config.into() })
}

deserialize_as_message!(AuthenticationInfo, PushNotificationConfig, TaskPushNotificationConfig);

impl From<AuthenticationInfo> for AuthenticationInfoV1 {
    fn from(info: AuthenticationInfo) -> Self {
        Self { scheme: first_scheme(info.schemes), credentials: info.credentials }
    }
}

impl From<AuthenticationInfoV1> for AuthenticationInfo {
    fn from(info: AuthenticationInfoV1) -> Self {
        Self { schemes: vec![info.scheme], credentials: info.credentials }
    }
}

impl From<PushNotificationConfig> for TaskPushNotificationConfigV1 {
    fn from(config: PushNotificationConfig) -> Self {
        Self {
            tenant: None,
            id: config.id,
            task_id: None,
            url: config.url,
            token: config.token,
            authentication: config.authentication.map(Into::into),
        }
    }
}

impl From<TaskPushNotificationConfigV1> for PushNotificationConfig {
    fn from(config: TaskPushNotificationConfigV1) -> Self {
        Self {
            id: config.id,
            url: config.url,
            token: config.token,
            authentication: config.authentication.map(Into::into),
        }
    }
}

impl From<TaskPushNotificationConfigV1> for TaskPushNotificationConfig {
    fn from(config: TaskPushNotificationConfigV1) -> Self {
        let task_id = config.task_id.as_deref().unwrap_or_default();
        let id = config.id.as_deref().unwrap_or_default();
        let name = format!("tasks/{task_id}/pushNotificationConfigs/{id}");
        Self { name: Some(name), push_notification_config: config.into() }
    }
}

impl From<ListTaskPushNotificationConfigsResponse> for ListTaskPushNotificationConfigResponse {
    fn from(page: ListTaskPushNotificationConfigsResponse) -> Self {
        Self {
            configs: page.configs.into_iter().map(Into::into).collect(),
            next_page_token: page.next_page_token,
        }
    }
}
