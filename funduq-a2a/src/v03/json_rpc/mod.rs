//! A2A 0.3 as its JSON-RPC binding spells it: `kind` members, lower-case roles and states.

mod events;
mod message;
mod params;
mod part;
mod push;
mod task;

pub use self::events::{Event, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
pub use self::message::{Message, Role};
pub use self::params::{
    GetTaskPushNotificationConfigParams, MessageSendConfiguration, MessageSendParams, TaskIdParams,
    TaskQueryParams,
};
pub use self::part::{File, FileContent, Part};
pub use self::push::{
    PushNotificationAuthenticationInfo, PushNotificationConfig, TaskPushNotificationConfig,
};
pub use self::task::{Artifact, Task, TaskState, TaskStatus};

use serde_json::value::RawValue;

use super::card_document;
use crate::operation::Operation;
use crate::wire::{InvalidMessage, WireMessage, to_json};
use crate::{GetExtendedAgentCardRequest, Request, Response, SendMessageResponse, StreamResponse};

/// Reads the `params` of a 0.3 method.
pub(crate) fn read_request(operation: Operation, params: &RawValue) -> Result<Request, InvalidMessage> {
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(MessageSendParams::from_raw(params)?.into()),
        Operation::SendStreamingMessage => {
            Request::SendStreamingMessage(MessageSendParams::from_raw(params)?.into())
        }
        Operation::GetTask => Request::GetTask(TaskQueryParams::from_raw(params)?.into()),
        // 0.3 has no such method; its table has no name for it, so none arrives here.
        Operation::ListTasks => Request::ListTasks(WireMessage::from_raw(params)?),
        Operation::CancelTask => Request::CancelTask(TaskIdParams::from_raw(params)?.into()),
        Operation::SubscribeToTask => Request::SubscribeToTask(TaskIdParams::from_raw(params)?.into()),
        Operation::CreateTaskPushNotificationConfig => {
            Request::CreateTaskPushNotificationConfig(TaskPushNotificationConfig::from_raw(params)?.into())
        }
        Operation::GetTaskPushNotificationConfig => Request::GetTaskPushNotificationConfig(
            GetTaskPushNotificationConfigParams::from_raw(params)?.into(),
        ),
        Operation::ListTaskPushNotificationConfigs => {
            Request::ListTaskPushNotificationConfigs(TaskIdParams::from_raw(params)?.into())
        }
        Operation::DeleteTaskPushNotificationConfig => Request::DeleteTaskPushNotificationConfig(
            GetTaskPushNotificationConfigParams::from_raw(params)?.into(),
        ),
        Operation::GetExtendedAgentCard => {
            Request::GetExtendedAgentCard(GetExtendedAgentCardRequest::default())
        }
    })
}

/// Writes the `result` of a 0.3 method.
pub(crate) fn write_response(response: &Response) -> String {
    match response.clone() {
        Response::SendMessage(SendMessageResponse::Task(task)) | Response::Task(task) => {
            to_json(&Task::from(task))
        }
        Response::SendMessage(SendMessageResponse::Message(message)) => to_json(&Message::from(message)),
        // 0.3 lists no tasks, so nothing asks for this answer.
        Response::Tasks(tasks) => to_json(&tasks),
        Response::PushNotificationConfig(config) => to_json(&TaskPushNotificationConfig::from(config)),
        Response::PushNotificationConfigs(configs) => {
            let configs: Vec<_> = configs.configs.into_iter().map(TaskPushNotificationConfig::from).collect();
            to_json(&configs)
        }
        Response::Deleted {} => "null".to_owned(),
        Response::AgentCard(card) => card_document(&card),
    }
}

/// Writes the `result` of one event of a 0.3 stream.
pub(crate) fn write_event(event: &StreamResponse) -> String {
    to_json(&Event::from(event.clone()))
}
