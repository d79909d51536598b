//! The parameters of the 0.3 methods.

use serde::Serialize;

use super::{Message, PushNotificationConfig};
use crate::v03::history_length_from_v03;
use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message, unset};
use crate::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetTaskPushNotificationConfigRequest,
    GetTaskRequest, ListTaskPushNotificationConfigsRequest, SendMessageConfiguration, SendMessageRequest,
    SubscribeToTaskRequest, TaskPushNotificationConfig,
};

/// How the caller wants the message to be answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSendConfiguration {
    /// Media types the caller takes; empty means any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// Where to send push notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_notification_config: Option<PushNotificationConfig>,
    /// How many of the newest messages the answer may carry: absent or 0 all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// Whether to answer only when the task has ended or waits; absent means yes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocking: Option<bool>,
}

impl ReadMessage for MessageSendConfiguration {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            accepted_output_modes: fields.or_default("acceptedOutputModes"),
            push_notification_config: fields.optional("pushNotificationConfig"),
            history_length: fields.optional("historyLength"),
            blocking: fields.optional("blocking"),
        }
    }
}

/// Of `message/send` and `message/stream`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageSendParams {
    /// The message; required.
    pub message: Message,
    /// How to answer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<MessageSendConfiguration>,
    /// What the caller says beside the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for MessageSendParams {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            message: fields.required("message"),
            configuration: fields.optional("configuration"),
            metadata: fields.optional("metadata"),
        }
    }
}

/// Of `tasks/get`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskQueryParams {
    /// The task; required.
    pub id: String,
    /// How many of the newest messages to include: absent or 0 all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// What the caller says beside it; 1.0 has no place for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for TaskQueryParams {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            id: fields.required_text("id"),
            history_length: fields.optional("historyLength"),
            metadata: fields.optional("metadata"),
        }
    }
}

/// Of `tasks/cancel`, `tasks/resubscribe` and `tasks/pushNotificationConfig/list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TaskIdParams {
    /// The task; required.
    pub id: String,
    /// What the caller says beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for TaskIdParams {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { id: fields.required_text("id"), metadata: fields.optional("metadata") }
    }
}

/// Of `tasks/pushNotificationConfig/get` and `/delete`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTaskPushNotificationConfigParams {
    /// The task; required.
    pub id: String,
    /// The configuration; absent means the task's only one.
    #[serde(skip_serializing_if = "unset")]
    pub push_notification_config_id: Option<String>,
}

impl ReadMessage for GetTaskPushNotificationConfigParams {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            id: fields.required_text("id"),
            push_notification_config_id: fields.text("pushNotificationConfigId"),
        }
    }
}

deserialize_as_message!(
    MessageSendConfiguration,
    MessageSendParams,
    TaskQueryParams,
    TaskIdParams,
    GetTaskPushNotificationConfigParams,
);

impl From<MessageSendConfiguration> for SendMessageConfiguration {
    fn from(configuration: MessageSendConfiguration) -> Self {
        Self {
            accepted_output_modes: configuration.accepted_output_modes,
            task_push_notification_config: configuration
                .push_notification_config
                .map(TaskPushNotificationConfig::from),
            history_length: history_length_from_v03(configuration.history_length),
            return_immediately: configuration.blocking == Some(false),
        }
    }
}

impl From<SendMessageConfiguration> for MessageSendConfiguration {
    fn from(configuration: SendMessageConfiguration) -> Self {
        Self {
            accepted_output_modes: configuration.accepted_output_modes,
            push_notification_config: configuration
                .task_push_notification_config
                .map(PushNotificationConfig::from),
            history_length: configuration.history_length,
            blocking: Some(!configuration.return_immediately),
        }
    }
}

impl From<MessageSendParams> for SendMessageRequest {
    fn from(params: MessageSendParams) -> Self {
        Self {
            tenant: None,
            message: params.message.into(),
            configuration: params.configuration.map(Into::into),
            metadata: params.metadata,
        }
    }
}

impl From<SendMessageRequest> for MessageSendParams {
    fn from(request: SendMessageRequest) -> Self {
        Self {
            message: request.message.into(),
            configuration: request.configuration.map(Into::into),
            metadata: request.metadata,
        }
    }
}

impl From<TaskQueryParams> for GetTaskRequest {
    fn from(params: TaskQueryParams) -> Self {
        Self { tenant: None, id: params.id, history_length: history_length_from_v03(params.history_length) }
    }
}

impl From<TaskIdParams> for CancelTaskRequest {
    fn from(params: TaskIdParams) -> Self {
        Self { tenant: None, id: params.id, metadata: params.metadata }
    }
}

impl From<TaskIdParams> for SubscribeToTaskRequest {
    fn from(params: TaskIdParams) -> Self {
        Self { tenant: None, id: params.id }
    }
}

impl From<TaskIdParams> for ListTaskPushNotificationConfigsRequest {
    fn from(params: TaskIdParams) -> Self {
        Self { task_id: params.id, ..Self::default() }
    }
}

impl From<GetTaskPushNotificationConfigParams> for GetTaskPushNotificationConfigRequest {
    fn from(params: GetTaskPushNotificationConfigParams) -> Self {
        Self { tenant: None, task_id: params.id, id: params.push_notification_config_id.unwrap_or_default() }
    }
}

impl From<GetTaskPushNotificationConfigParams> for DeleteTaskPushNotificationConfigRequest {
    fn from(params: GetTaskPushNotificationConfigParams) -> Self {
        Self { tenant: None, task_id: params.id, id: params.push_notification_config_id.unwrap_or_default() }
    }
}
