//! Sending a message: the request, how to answer it, and the answer (A2A 1.0 §3.1.1, §3.2).

use schemars::JsonSchema;
use serde::Serialize;

use super::{Message, Task, TaskPushNotificationConfig};
use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message, is_false, unset};

/// How the caller wants the message to be answered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageConfiguration {
    /// Media types the caller takes; empty means any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted_output_modes: Vec<String>,
    /// Where to send push notifications for the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_push_notification_config: Option<TaskPushNotificationConfig>,
    /// How many of the newest messages the answer may carry: absent all, 0 none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    /// Whether to answer as soon as the task exists, instead of when it has ended or waits for the caller.
    #[serde(default, skip_serializing_if = "is_false")]
    pub return_immediately: bool,
}

impl ReadMessage for SendMessageConfiguration {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            accepted_output_modes: fields.or_default("acceptedOutputModes"),
            task_push_notification_config: fields.optional("taskPushNotificationConfig"),
            history_length: fields.optional("historyLength"),
            return_immediately: fields.or_default("returnImmediately"),
        }
    }
}

/// `SendMessage` and `SendStreamingMessage`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SendMessageRequest {
    /// The tenant, where one endpoint serves several.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The message; required.
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
        Self {
            tenant: fields.text("tenant"),
            message: fields.required("message"),
            configuration: fields.optional("configuration"),
            metadata: fields.optional("metadata"),
        }
    }
}

/// What comes back: the task that was made or continued, or a message in its place.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum SendMessageResponse {
    /// The task.
    Task(Task),
    /// A message, where no task was needed.
    Message(Message),
}

impl ReadMessage for SendMessageResponse {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        match fields.one_of(&["task", "message"]) {
            Some("message") => Self::Message(fields.or_default("message")),
            _ => Self::Task(fields.or_default("task")),
        }
    }
}

deserialize_as_message!(SendMessageConfiguration, SendMessageRequest, SendMessageResponse);
