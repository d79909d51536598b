//! The errors of A2A and of JSON-RPC, with the words and numbers each binding writes for them (A2A 1.0 §5.4).

mod bodies;

use crate::wire::{FieldViolation, InvalidMessage, quoted, shortened};
use crate::{EXTENSIONS_PARAMETER, Version};

pub use self::bodies::{ErrorBody, ErrorDetail, JsonRpcErrorObject, RestError};

/// The domain of this protocol in `google.rpc.ErrorInfo`.
pub const ERROR_DOMAIN: &str = "a2a-protocol.org";

/// Whatever an A2A server answers instead of a result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum A2aError {
    /// The task does not exist, or not for this caller.
    #[error("there is no task {}", quoted(.task_id))]
    TaskNotFound {
        /// The id as the caller gave it.
        task_id: String,
    },
    /// The task has ended, so there is nothing to cancel.
    #[error("the task {} has ended and cannot be canceled", quoted(.task_id))]
    TaskNotCancelable {
        /// The task.
        task_id: String,
    },
    /// The agent does not send push notifications.
    #[error("this agent does not send push notifications; stream or poll the task instead")]
    PushNotificationNotSupported,
    /// The operation, or what was asked of it, is not supported.
    #[error("{0}")]
    UnsupportedOperation(String),
    /// A part has a media type, or the answer would need one, that does not fit.
    #[error("{0}")]
    ContentTypeNotSupported(String),
    /// The agent answered with something that is not A2A.
    #[error("{0}")]
    InvalidAgentResponse(String),
    /// An extended card is declared but there is none.
    #[error("this agent has no extended card")]
    ExtendedAgentCardNotConfigured,
    /// The agent needs an extension that the client did not declare.
    #[error("this agent requires the extension {uri}; name it in the {EXTENSIONS_PARAMETER} header")]
    ExtensionSupportRequired {
        /// The extension.
        uri: String,
    },
    /// The client asked for a protocol version that is not spoken here.
    #[error("{0}")]
    VersionNotSupported(String),
    /// The body is not JSON.
    #[error("{0}")]
    ParseError(String),
    /// The body is JSON but no request.
    #[error("{0}")]
    InvalidRequest(String),
    /// The method, or the path, is not one of this protocol version's.
    #[error("{0}")]
    MethodNotFound(String),
    /// The request is understood but its parameters are wrong.
    #[error("{message}")]
    InvalidParams {
        /// What is wrong, for people.
        message: String,
        /// What is wrong, member by member; may be empty.
        violations: Vec<FieldViolation>,
    },
    /// Something failed on this side.
    #[error("{0}")]
    Internal(String),
}

impl A2aError {
    /// Invalid parameters that are about no member in particular.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::InvalidParams { message: message.into(), violations: Vec::new() }
    }

    /// One invalid member, by its path.
    pub fn invalid_field(field: impl Into<String>, description: impl Into<String>) -> Self {
        let violation = FieldViolation { field: field.into(), description: description.into() };
        Self::InvalidParams { message: violation.to_string(), violations: vec![violation] }
    }

    /// The JSON-RPC error code (A2A 1.0 §5.4, §9.5).
    #[must_use]
    pub fn code(&self) -> i32 {
        match self {
            Self::TaskNotFound { .. } => -32001,
            Self::TaskNotCancelable { .. } => -32002,
            Self::PushNotificationNotSupported => -32003,
            Self::UnsupportedOperation(_) => -32004,
            Self::ContentTypeNotSupported(_) => -32005,
            Self::InvalidAgentResponse(_) => -32006,
            Self::ExtendedAgentCardNotConfigured => -32007,
            Self::ExtensionSupportRequired { .. } => -32008,
            Self::VersionNotSupported(_) => -32009,
            Self::ParseError(_) => -32700,
            Self::InvalidRequest(_) => -32600,
            Self::MethodNotFound(_) => -32601,
            Self::InvalidParams { .. } => -32602,
            Self::Internal(_) => -32603,
        }
    }

    /// The status of the HTTP+JSON binding (A2A 1.0 §5.4). JSON-RPC answers 200 whatever the error.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        match self.grpc_status() {
            "NOT_FOUND" => 404,
            "INTERNAL" => 500,
            _ => 400,
        }
    }

    /// The gRPC status, which is also `error.status` of the HTTP+JSON binding (A2A 1.0 §5.4, §11.6).
    #[must_use]
    pub fn grpc_status(&self) -> &'static str {
        match self {
            Self::TaskNotFound { .. } | Self::MethodNotFound(_) => "NOT_FOUND",
            Self::TaskNotCancelable { .. }
            | Self::PushNotificationNotSupported
            | Self::UnsupportedOperation(_)
            | Self::ExtendedAgentCardNotConfigured
            | Self::ExtensionSupportRequired { .. }
            | Self::VersionNotSupported(_) => "FAILED_PRECONDITION",
            Self::ContentTypeNotSupported(_)
            | Self::ParseError(_)
            | Self::InvalidRequest(_)
            | Self::InvalidParams { .. } => "INVALID_ARGUMENT",
            Self::InvalidAgentResponse(_) | Self::Internal(_) => "INTERNAL",
        }
    }

    /// The reason of `google.rpc.ErrorInfo`: the error's name without `Error` (A2A 1.0 §10.6, §11.6).
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::TaskNotFound { .. } => "TASK_NOT_FOUND",
            Self::TaskNotCancelable { .. } => "TASK_NOT_CANCELABLE",
            Self::PushNotificationNotSupported => "PUSH_NOTIFICATION_NOT_SUPPORTED",
            Self::UnsupportedOperation(_) => "UNSUPPORTED_OPERATION",
            Self::ContentTypeNotSupported(_) => "CONTENT_TYPE_NOT_SUPPORTED",
            Self::InvalidAgentResponse(_) => "INVALID_AGENT_RESPONSE",
            Self::ExtendedAgentCardNotConfigured => "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            Self::ExtensionSupportRequired { .. } => "EXTENSION_SUPPORT_REQUIRED",
            Self::VersionNotSupported(_) => "VERSION_NOT_SUPPORTED",
            Self::ParseError(_) => "PARSE_ERROR",
            Self::InvalidRequest(_) => "INVALID_REQUEST",
            Self::MethodNotFound(_) => "METHOD_NOT_FOUND",
            Self::InvalidParams { .. } => "INVALID_PARAMS",
            Self::Internal(_) => "INTERNAL_ERROR",
        }
    }

    /// The structured details: an `ErrorInfo` always, and a `BadRequest` when members are named.
    #[must_use]
    pub fn details(&self) -> Vec<ErrorDetail> {
        let mut info = ErrorDetail::error_info(self.reason(), ERROR_DOMAIN);
        match self {
            Self::TaskNotFound { task_id } | Self::TaskNotCancelable { task_id } => {
                info = info.with_metadata("taskId", shortened(task_id));
            }
            Self::ExtensionSupportRequired { uri } => info = info.with_metadata("extension", uri),
            Self::VersionNotSupported(_) => {
                info = info.with_metadata("supportedVersions", Version::ALL.map(Version::as_str).join(", "));
            }
            _ => {}
        }
        let mut details = vec![info];
        if let Self::InvalidParams { violations, .. } = self
            && !violations.is_empty()
        {
            details.push(ErrorDetail::bad_request(violations.clone()));
        }
        details
    }

    /// The `error` member of a JSON-RPC response (A2A 1.0 §9.5).
    #[must_use]
    pub fn to_json_rpc(&self) -> JsonRpcErrorObject {
        JsonRpcErrorObject { code: self.code(), message: self.to_string(), data: self.details() }
    }

    /// The body of an HTTP+JSON response (A2A 1.0 §11.6).
    #[must_use]
    pub fn to_rest(&self) -> ErrorBody {
        ErrorBody {
            error: RestError {
                code: self.http_status(),
                status: self.grpc_status().to_owned(),
                message: self.to_string(),
                details: self.details(),
            },
        }
    }
}

/// Parameters that do not read as the message they should be are invalid parameters.
impl From<InvalidMessage> for A2aError {
    fn from(invalid: InvalidMessage) -> Self {
        let message = invalid.to_string();
        match invalid {
            InvalidMessage::NotJson(_) => Self::ParseError(message),
            InvalidMessage::TooDeep => Self::invalid_params(message),
            InvalidMessage::Violations(violations) => Self::InvalidParams { message, violations },
        }
    }
}
