//! A2A 0.3 as its HTTP+JSON binding spells it: that version's proto file, with `content` for parts and
//! `TASK_STATE_CANCELLED`. Its clients refuse members they do not know, so nothing else may be written.

mod events;
mod message;
mod params;
mod push;
mod task;

pub use self::events::{StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent};
pub use self::message::{DataPart, FileContent, FilePart, Message, Part, PartContent};
pub use self::params::{SendMessageConfiguration, SendMessageRequest};
pub use self::push::{
    AuthenticationInfo, ListTaskPushNotificationConfigResponse, PushNotificationConfig,
    TaskPushNotificationConfig,
};
pub use self::task::{Artifact, Task, TaskState, TaskStatus};

use serde_json::value::RawValue;

use self::params::read_get_task;
use super::card_document;
use crate::operation::Operation;
use crate::wire::{InvalidMessage, WireMessage, to_json};
use crate::{
    GetExtendedAgentCardRequest, Request, Response, SendMessageResponse, StreamResponse as StreamResponseV1,
};

/// Reads the parameters of a 0.3 route: its body or query, with what the path gives as `id` and `taskId`.
pub(crate) fn read_request(operation: Operation, params: &RawValue) -> Result<Request, InvalidMessage> {
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(SendMessageRequest::from_raw(params)?.into()),
        Operation::SendStreamingMessage => {
            Request::SendStreamingMessage(SendMessageRequest::from_raw(params)?.into())
        }
        Operation::GetTask => Request::GetTask(read_get_task(params)?),
        // 0.3 has no such route; its table has no path for it, so none arrives here.
        Operation::ListTasks => Request::ListTasks(WireMessage::from_raw(params)?),
        Operation::CancelTask => Request::CancelTask(WireMessage::from_raw(params)?),
        Operation::SubscribeToTask => Request::SubscribeToTask(WireMessage::from_raw(params)?),
        Operation::CreateTaskPushNotificationConfig => {
            Request::CreateTaskPushNotificationConfig(push::read_create(params)?)
        }
        Operation::GetTaskPushNotificationConfig => {
            Request::GetTaskPushNotificationConfig(WireMessage::from_raw(params)?)
        }
        Operation::ListTaskPushNotificationConfigs => {
            Request::ListTaskPushNotificationConfigs(WireMessage::from_raw(params)?)
        }
        Operation::DeleteTaskPushNotificationConfig => {
            Request::DeleteTaskPushNotificationConfig(WireMessage::from_raw(params)?)
        }
        Operation::GetExtendedAgentCard => {
            Request::GetExtendedAgentCard(GetExtendedAgentCardRequest::default())
        }
    })
}

/// Writes the body of a 0.3 response.
pub(crate) fn write_response(response: &Response) -> String {
    match response.clone() {
        Response::SendMessage(SendMessageResponse::Task(task)) => to_json(&StreamResponse::Task(task.into())),
        Response::SendMessage(SendMessageResponse::Message(message)) => {
            to_json(&StreamResponse::Message(message.into()))
        }
        Response::Task(task) => to_json(&Task::from(task)),
        // 0.3 lists no tasks, so nothing asks for this answer.
        Response::Tasks(tasks) => to_json(&tasks),
        Response::PushNotificationConfig(config) => to_json(&TaskPushNotificationConfig::from(config)),
        Response::PushNotificationConfigs(configs) => {
            to_json(&ListTaskPushNotificationConfigResponse::from(configs))
        }
        Response::Deleted {} => "{}".to_owned(),
        Response::AgentCard(card) => card_document(&card),
    }
}

/// Writes the data of one event of a 0.3 stream.
pub(crate) fn write_event(event: &StreamResponseV1) -> String {
    to_json(&StreamResponse::from(event.clone()))
}
