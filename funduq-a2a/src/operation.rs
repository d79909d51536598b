//! The operations of A2A in one table, from which both bindings and both versions take their names (A2A 1.0 §5.3).

use crate::Version;

/// One operation of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Sends a message and answers with the task.
    SendMessage,
    /// Sends a message and streams what becomes of it.
    SendStreamingMessage,
    /// Reads a task.
    GetTask,
    /// Lists tasks page by page.
    ListTasks,
    /// Asks for a task to be stopped.
    CancelTask,
    /// Streams what becomes of a task that has not ended.
    SubscribeToTask,
    /// Registers a push notification target for a task.
    CreateTaskPushNotificationConfig,
    /// Reads a push notification target.
    GetTaskPushNotificationConfig,
    /// Lists the push notification targets of a task.
    ListTaskPushNotificationConfigs,
    /// Removes a push notification target.
    DeleteTaskPushNotificationConfig,
    /// Reads the card for authenticated callers.
    GetExtendedAgentCard,
}

/// The verbs of the HTTP+JSON binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// GET: parameters in the path and the query.
    Get,
    /// POST: parameters in the path and the body.
    Post,
    /// DELETE: parameters in the path and the query.
    Delete,
}

impl Verb {
    /// The verb as HTTP spells it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Delete => "DELETE",
        }
    }
}

/// One line of the table: everything by which the bindings know an operation.
#[derive(Clone, Copy, Debug)]
pub struct OperationRow {
    /// The operation.
    pub operation: Operation,
    /// The JSON-RPC method of 1.0.
    pub method: &'static str,
    /// The JSON-RPC method of 0.3; `None` where 0.3 has no such operation.
    pub method_v03: Option<&'static str>,
    /// The verbs of the HTTP+JSON binding, the first being the one the specification names first.
    pub verbs: &'static [Verb],
    /// The path below the interface's URL. `{name}` is the parameter of that name; a `:verb` may follow it.
    pub path: &'static str,
    /// The same for 0.3.
    pub path_v03: Option<&'static str>,
    /// The parameters a GET or DELETE takes in its query.
    pub query: &'static [QueryParameter],
    /// Whether the answer is a stream of events.
    pub streaming: bool,
}

/// A parameter that travels in the query, and how its text is to be read (A2A 1.0 §11.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueryParameter {
    /// The member of the request it fills.
    pub name: &'static str,
    /// How to read it.
    pub kind: QueryKind,
}

/// How a query parameter's text is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueryKind {
    /// Text as it is; also numbers and timestamps, which ProtoJSON takes as text.
    Text,
    /// `true` or `false`.
    Bool,
    /// A task state: the enum's name, or the short form of the specification's examples, such as `working`.
    State,
}

const fn text(name: &'static str) -> QueryParameter {
    QueryParameter { name, kind: QueryKind::Text }
}

use Verb::{Delete, Get, Post};

/// The table, one row per operation.
pub const OPERATIONS: [OperationRow; 11] = [
    OperationRow {
        operation: Operation::SendMessage,
        method: "SendMessage",
        method_v03: Some("message/send"),
        verbs: &[Post],
        path: "/message:send",
        path_v03: Some("/v1/message:send"),
        query: &[],
        streaming: false,
    },
    OperationRow {
        operation: Operation::SendStreamingMessage,
        method: "SendStreamingMessage",
        method_v03: Some("message/stream"),
        verbs: &[Post],
        path: "/message:stream",
        path_v03: Some("/v1/message:stream"),
        query: &[],
        streaming: true,
    },
    OperationRow {
        operation: Operation::GetTask,
        method: "GetTask",
        method_v03: Some("tasks/get"),
        verbs: &[Get],
        path: "/tasks/{id}",
        path_v03: Some("/v1/tasks/{id}"),
        query: &[text("tenant"), text("historyLength")],
        streaming: false,
    },
    OperationRow {
        operation: Operation::ListTasks,
        method: "ListTasks",
        method_v03: None,
        verbs: &[Get],
        path: "/tasks",
        path_v03: None,
        query: &[
            text("tenant"),
            text("contextId"),
            QueryParameter { name: "status", kind: QueryKind::State },
            text("pageSize"),
            text("pageToken"),
            text("historyLength"),
            text("statusTimestampAfter"),
            QueryParameter { name: "includeArtifacts", kind: QueryKind::Bool },
        ],
        streaming: false,
    },
    OperationRow {
        operation: Operation::CancelTask,
        method: "CancelTask",
        method_v03: Some("tasks/cancel"),
        verbs: &[Post],
        path: "/tasks/{id}:cancel",
        path_v03: Some("/v1/tasks/{id}:cancel"),
        query: &[],
        streaming: false,
    },
    OperationRow {
        operation: Operation::SubscribeToTask,
        method: "SubscribeToTask",
        method_v03: Some("tasks/resubscribe"),
        // The proto file binds GET, the specification's text POST; stock clients use either.
        verbs: &[Get, Post],
        path: "/tasks/{id}:subscribe",
        path_v03: Some("/v1/tasks/{id}:subscribe"),
        query: &[text("tenant")],
        streaming: true,
    },
    OperationRow {
        operation: Operation::CreateTaskPushNotificationConfig,
        method: "CreateTaskPushNotificationConfig",
        method_v03: Some("tasks/pushNotificationConfig/set"),
        verbs: &[Post],
        path: "/tasks/{taskId}/pushNotificationConfigs",
        path_v03: Some("/v1/tasks/{taskId}/pushNotificationConfigs"),
        query: &[],
        streaming: false,
    },
    OperationRow {
        operation: Operation::GetTaskPushNotificationConfig,
        method: "GetTaskPushNotificationConfig",
        method_v03: Some("tasks/pushNotificationConfig/get"),
        verbs: &[Get],
        path: "/tasks/{taskId}/pushNotificationConfigs/{id}",
        path_v03: Some("/v1/tasks/{taskId}/pushNotificationConfigs/{id}"),
        query: &[text("tenant")],
        streaming: false,
    },
    OperationRow {
        operation: Operation::ListTaskPushNotificationConfigs,
        method: "ListTaskPushNotificationConfigs",
        method_v03: Some("tasks/pushNotificationConfig/list"),
        verbs: &[Get],
        path: "/tasks/{taskId}/pushNotificationConfigs",
        path_v03: Some("/v1/tasks/{taskId}/pushNotificationConfigs"),
        query: &[text("tenant"), text("pageSize"), text("pageToken")],
        streaming: false,
    },
    OperationRow {
        operation: Operation::DeleteTaskPushNotificationConfig,
        method: "DeleteTaskPushNotificationConfig",
        method_v03: Some("tasks/pushNotificationConfig/delete"),
        verbs: &[Delete],
        path: "/tasks/{taskId}/pushNotificationConfigs/{id}",
        path_v03: Some("/v1/tasks/{taskId}/pushNotificationConfigs/{id}"),
        query: &[text("tenant")],
        streaming: false,
    },
    OperationRow {
        operation: Operation::GetExtendedAgentCard,
        method: "GetExtendedAgentCard",
        method_v03: Some("agent/getAuthenticatedExtendedCard"),
        verbs: &[Get],
        path: "/extendedAgentCard",
        path_v03: Some("/v1/card"),
        query: &[text("tenant")],
        streaming: false,
    },
];

impl OperationRow {
    /// The JSON-RPC method in a version of the protocol.
    #[must_use]
    pub fn method_in(&self, version: Version) -> Option<&'static str> {
        match version {
            Version::V1_0 => Some(self.method),
            Version::V0_3 => self.method_v03,
        }
    }

    /// The path template in a version of the protocol.
    #[must_use]
    pub fn path_in(&self, version: Version) -> Option<&'static str> {
        match version {
            Version::V1_0 => Some(self.path),
            Version::V0_3 => self.path_v03,
        }
    }
}

impl Operation {
    /// The operation's line of the table.
    #[must_use]
    pub fn row(self) -> &'static OperationRow {
        // The rows stand in the order of the variants, which a test asserts.
        &OPERATIONS[self as usize]
    }

    /// The operation behind a JSON-RPC method of a version.
    #[must_use]
    pub fn from_method(version: Version, method: &str) -> Option<Self> {
        let row = OPERATIONS.iter().find(|row| row.method_in(version) == Some(method))?;
        Some(row.operation)
    }

    /// Whether the answer is a stream of events.
    #[must_use]
    pub fn is_streaming(self) -> bool {
        self.row().streaming
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_operation_finds_its_own_row() {
        for row in &OPERATIONS {
            assert_eq!(row.operation.row().method, row.method);
        }
    }

    #[test]
    fn methods_are_known_in_their_own_version_only() {
        for row in &OPERATIONS {
            assert_eq!(Operation::from_method(Version::V1_0, row.method), Some(row.operation));
            assert_eq!(Operation::from_method(Version::V0_3, row.method), None);
            if let Some(method) = row.method_v03 {
                assert_eq!(Operation::from_method(Version::V0_3, method), Some(row.operation));
                assert_eq!(Operation::from_method(Version::V1_0, method), None);
            }
        }
    }

    #[test]
    fn method_names_are_those_of_the_official_crate() {
        use a2a::jsonrpc::methods;
        for row in &OPERATIONS {
            assert!(methods::is_valid(row.method), "{}", row.method);
            assert_eq!(methods::is_streaming(row.method), row.streaming, "{}", row.method);
        }
    }
}
