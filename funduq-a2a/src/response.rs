//! A result, and an event of a stream, written in the spelling the caller speaks.

use serde::Serialize;

use crate::card::AgentCard;
use crate::types::{
    ListTaskPushNotificationConfigsResponse, ListTasksResponse, SendMessageResponse, StreamResponse, Task,
    TaskPushNotificationConfig,
};
use crate::wire::to_json;
use crate::{Version, v03};

/// How messages are spelled: by the version, and for 0.3 also by the binding, whose spellings differ there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// A2A 1.0, the same in both bindings.
    V1,
    /// A2A 0.3 over JSON-RPC: `kind` members, lower-case states.
    V03JsonRpc,
    /// A2A 0.3 over HTTP+JSON: the proto file of that version.
    V03Rest,
}

impl Dialect {
    /// The spelling of a version over JSON-RPC.
    #[must_use]
    pub fn of_json_rpc(version: Version) -> Self {
        match version {
            Version::V1_0 => Self::V1,
            Version::V0_3 => Self::V03JsonRpc,
        }
    }

    /// The spelling of a version over HTTP+JSON.
    #[must_use]
    pub fn of_rest(version: Version) -> Self {
        match version {
            Version::V1_0 => Self::V1,
            Version::V0_3 => Self::V03Rest,
        }
    }
}

/// What an operation that does not stream answers with.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Response {
    /// Of `SendMessage`.
    SendMessage(SendMessageResponse),
    /// Of `GetTask` and `CancelTask`.
    Task(Task),
    /// Of `ListTasks`.
    Tasks(ListTasksResponse),
    /// Of creating and reading a push notification target.
    PushNotificationConfig(TaskPushNotificationConfig),
    /// Of listing them.
    PushNotificationConfigs(ListTaskPushNotificationConfigsResponse),
    /// Of removing one: nothing to say.
    Deleted {},
    /// Of `GetExtendedAgentCard`.
    AgentCard(AgentCard),
}

impl Response {
    /// The result as one JSON document: the `result` of JSON-RPC, the body of HTTP+JSON.
    #[must_use]
    pub fn to_json_in(&self, dialect: Dialect) -> String {
        match dialect {
            Dialect::V1 => to_json(self),
            Dialect::V03JsonRpc => v03::json_rpc::write_response(self),
            Dialect::V03Rest => v03::rest::write_response(self),
        }
    }
}

impl StreamResponse {
    /// The event as one JSON document: the `result` of a JSON-RPC envelope, the data of an HTTP+JSON event.
    #[must_use]
    pub fn to_json_in(&self, dialect: Dialect) -> String {
        match dialect {
            Dialect::V1 => to_json(self),
            Dialect::V03JsonRpc => v03::json_rpc::write_event(self),
            Dialect::V03Rest => v03::rest::write_event(self),
        }
    }
}
