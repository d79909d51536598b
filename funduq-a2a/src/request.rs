//! A request of either binding, after its names and its version have been dealt with.

use serde_json::value::RawValue;

use crate::operation::Operation;
use crate::types::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, SendMessageRequest, SubscribeToTaskRequest, TaskPushNotificationConfig,
};
use crate::wire::{InvalidMessage, WireMessage};
use crate::{A2aError, Dialect, v03};

/// One operation with its parameters, the same whatever binding and version it came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Sends a message and answers with the task.
    SendMessage(SendMessageRequest),
    /// Sends a message and streams what becomes of it.
    SendStreamingMessage(SendMessageRequest),
    /// Reads a task.
    GetTask(GetTaskRequest),
    /// Lists tasks page by page.
    ListTasks(ListTasksRequest),
    /// Asks for a task to be stopped.
    CancelTask(CancelTaskRequest),
    /// Streams what becomes of a task that has not ended.
    SubscribeToTask(SubscribeToTaskRequest),
    /// Registers a push notification target for a task.
    CreateTaskPushNotificationConfig(TaskPushNotificationConfig),
    /// Reads a push notification target.
    GetTaskPushNotificationConfig(GetTaskPushNotificationConfigRequest),
    /// Lists the push notification targets of a task.
    ListTaskPushNotificationConfigs(ListTaskPushNotificationConfigsRequest),
    /// Removes a push notification target.
    DeleteTaskPushNotificationConfig(DeleteTaskPushNotificationConfigRequest),
    /// Reads the card for authenticated callers.
    GetExtendedAgentCard(GetExtendedAgentCardRequest),
}

impl Request {
    /// Reads the parameters of an operation, in the spelling of a dialect.
    ///
    /// # Errors
    /// [`A2aError::InvalidParams`] with each fault and its path.
    pub fn read(operation: Operation, params: &RawValue, dialect: Dialect) -> Result<Self, A2aError> {
        let request = match dialect {
            Dialect::V1 => read_v1(operation, params),
            Dialect::V03JsonRpc => v03::json_rpc::read_request(operation, params),
            Dialect::V03Rest => v03::rest::read_request(operation, params),
        };
        Ok(request?)
    }

    /// The operation it asks for.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::SendMessage(_) => Operation::SendMessage,
            Self::SendStreamingMessage(_) => Operation::SendStreamingMessage,
            Self::GetTask(_) => Operation::GetTask,
            Self::ListTasks(_) => Operation::ListTasks,
            Self::CancelTask(_) => Operation::CancelTask,
            Self::SubscribeToTask(_) => Operation::SubscribeToTask,
            Self::CreateTaskPushNotificationConfig(_) => Operation::CreateTaskPushNotificationConfig,
            Self::GetTaskPushNotificationConfig(_) => Operation::GetTaskPushNotificationConfig,
            Self::ListTaskPushNotificationConfigs(_) => Operation::ListTaskPushNotificationConfigs,
            Self::DeleteTaskPushNotificationConfig(_) => Operation::DeleteTaskPushNotificationConfig,
            Self::GetExtendedAgentCard(_) => Operation::GetExtendedAgentCard,
        }
    }
}

fn read_v1(operation: Operation, params: &RawValue) -> Result<Request, InvalidMessage> {
    Ok(match operation {
        Operation::SendMessage => Request::SendMessage(WireMessage::from_raw(params)?),
        Operation::SendStreamingMessage => Request::SendStreamingMessage(WireMessage::from_raw(params)?),
        Operation::GetTask => Request::GetTask(WireMessage::from_raw(params)?),
        Operation::ListTasks => Request::ListTasks(WireMessage::from_raw(params)?),
        Operation::CancelTask => Request::CancelTask(WireMessage::from_raw(params)?),
        Operation::SubscribeToTask => Request::SubscribeToTask(WireMessage::from_raw(params)?),
        Operation::CreateTaskPushNotificationConfig => {
            Request::CreateTaskPushNotificationConfig(WireMessage::from_raw(params)?)
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
        Operation::GetExtendedAgentCard => Request::GetExtendedAgentCard(WireMessage::from_raw(params)?),
    })
}
