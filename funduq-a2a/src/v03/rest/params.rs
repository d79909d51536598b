//! The requests of 0.3 over HTTP+JSON.

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Message, PushNotificationConfig};
use crate::v03::history_length_from_v03;
use crate::wire::{
    Fields, InvalidMessage, JsonObject, ReadMessage, WireMessage, deserialize_as_message, is_false,
};
use crate::{
    GetTaskRequest, SendMessageConfiguration as SendMessageConfigurationV1,
    SendMessageRequest as SendMessageRequestV1, TaskPushNotificationConfig as TaskPushNotificationConfigV1,
};

/// How the caller wants the message to be answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageConfiguration {
    /// Media types the caller takes; empty means any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// Where to send push notifications.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_notification: Option<PushNotificationConfig>,
    /// How many of the newest messages the answer may carry; 0 all.
    #[serde(skip_serializing_if = "is_zero")]
    pub history_length: i32,
    /// Whether to answer only when the task has ended or waits.
    ///
    /// Absent means no, because this proto cannot tell absent from false; a request without any configuration
    /// says nothing about it and gets the default of blocking.
    #[serde(skip_serializing_if = "is_false")]
    pub blocking: bool,
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

impl ReadMessage for SendMessageConfiguration {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            accepted_output_modes: fields.or_default("acceptedOutputModes"),
            push_notification: fields.optional("pushNotification"),
            history_length: fields.or_default("historyLength"),
            blocking: fields.or_default("blocking"),
        }
    }
}

/// A message to send.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageRequest {
    /// The message; required. The proto's own name for it, `request`, is read as well.
    pub message: Message,
    /// How to answer it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub configuration: Option<SendMessageConfiguration>,
    /// What the caller says beside the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

impl ReadMessage for SendMessageRequest {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let name = if fields.is_set("message") || !fields.is_set("request") { "message" } else { "request" };
        Self {
            message: fields.required(name),
            configuration: fields.optional("configuration"),
            metadata: fields.optional("metadata"),
        }
    }
}

deserialize_as_message!(SendMessageConfiguration, SendMessageRequest);

/// Reads a task's query, whose history length of 0 means "all".
pub(super) fn read_get_task(params: &RawValue) -> Result<GetTaskRequest, InvalidMessage> {
    let request = GetTaskRequest::from_raw(params)?;
    Ok(GetTaskRequest { history_length: history_length_from_v03(request.history_length), ..request })
}

impl From<SendMessageConfiguration> for SendMessageConfigurationV1 {
    fn from(configuration: SendMessageConfiguration) -> Self {
        Self {
            accepted_output_modes: configuration.accepted_output_modes,
            task_push_notification_config: configuration
                .push_notification
                .map(TaskPushNotificationConfigV1::from),
            history_length: history_length_from_v03(Some(configuration.history_length)),
            return_immediately: !configuration.blocking,
        }
    }
}

impl From<SendMessageConfigurationV1> for SendMessageConfiguration {
    fn from(configuration: SendMessageConfigurationV1) -> Self {
        Self {
            accepted_output_modes: configuration.accepted_output_modes,
            push_notification: configuration.task_push_notification_config.map(PushNotificationConfig::from),
            history_length: configuration.history_length.unwrap_or_default(),
            blocking: !configuration.return_immediately,
        }
    }
}

impl From<SendMessageRequest> for SendMessageRequestV1 {
    fn from(request: SendMessageRequest) -> Self {
        Self {
            tenant: None,
            message: request.message.into(),
            configuration: request.configuration.map(Into::into),
            metadata: request.metadata,
        }
    }
}

impl From<SendMessageRequestV1> for SendMessageRequest {
    fn from(request: SendMessageRequestV1) -> Self {
        Self {
            message: request.message.into(),
            configuration: request.configuration.map(Into::into),
            metadata: request.metadata,
        }
    }
}
