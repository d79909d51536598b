//! Push notification targets in 0.3, which knows several authentication schemes where 1.0 has one.

use std::fmt;

use serde::Serialize;

use crate::v03::first_scheme;
use crate::wire::{Fields, ReadMessage, deserialize_as_message, unset};
use crate::{AuthenticationInfo, TaskPushNotificationConfig as TaskPushNotificationConfigV1};

/// How a server authenticates itself to the receiver of its notifications.
#[derive(Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushNotificationAuthenticationInfo {
    /// HTTP authentication schemes; 1.0 keeps the first.
    pub schemes: Vec<String>,
    /// What the scheme needs. Never shown by `Debug`.
    #[serde(skip_serializing_if = "unset")]
    pub credentials: Option<String>,
}

impl fmt::Debug for PushNotificationAuthenticationInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PushNotificationAuthenticationInfo")
            .field("schemes", &self.schemes)
            .finish_non_exhaustive()
    }
}

impl ReadMessage for PushNotificationAuthenticationInfo {
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
    pub authentication: Option<PushNotificationAuthenticationInfo>,
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

/// A target with the task it is for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskPushNotificationConfig {
    /// The task; required.
    pub task_id: String,
    /// The target; required.
    pub push_notification_config: PushNotificationConfig,
}

impl ReadMessage for TaskPushNotificationConfig {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            task_id: fields.required_text("taskId"),
            push_notification_config: fields.required("pushNotificationConfig"),
        }
    }
}

deserialize_as_message!(
    PushNotificationAuthenticationInfo,
    PushNotificationConfig,
    TaskPushNotificationConfig
);

impl From<PushNotificationAuthenticationInfo> for AuthenticationInfo {
    fn from(info: PushNotificationAuthenticationInfo) -> Self {
        Self { scheme: first_scheme(info.schemes), credentials: info.credentials }
    }
}

impl From<AuthenticationInfo> for PushNotificationAuthenticationInfo {
    fn from(info: AuthenticationInfo) -> Self {
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

impl From<TaskPushNotificationConfig> for TaskPushNotificationConfigV1 {
    fn from(config: TaskPushNotificationConfig) -> Self {
        Self { task_id: Some(config.task_id), ..Self::from(config.push_notification_config) }
    }
}

impl From<TaskPushNotificationConfigV1> for TaskPushNotificationConfig {
    fn from(config: TaskPushNotificationConfigV1) -> Self {
        Self { task_id: config.task_id.clone().unwrap_or_default(), push_notification_config: config.into() }
    }
}
