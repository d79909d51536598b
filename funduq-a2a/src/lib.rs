//! A2A 1.0 wire models, error types and operation names, and the 0.3 shapes with their conversion.

mod card;
mod error;
mod extensions;
pub mod json_rpc;
pub mod media_type;
pub mod operation;
mod request;
mod response;
pub mod rest;
pub mod schema;
mod types;
pub mod v03;
mod version;
mod wire;

pub use self::card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
    AgentSkill, ApiKeySecurityScheme, AuthorizationCodeOAuthFlow, BINDING_HTTP_JSON, BINDING_JSONRPC,
    ClientCredentialsOAuthFlow, DeviceCodeOAuthFlow, HttpAuthSecurityScheme, ImplicitOAuthFlow,
    MutualTlsSecurityScheme, OAuth2SecurityScheme, OAuthFlows, OpenIdConnectSecurityScheme,
    PasswordOAuthFlow, SecurityRequirement, SecurityScheme, StringList,
};
pub use self::error::{A2aError, ERROR_DOMAIN, ErrorBody, ErrorDetail, JsonRpcErrorObject, RestError};
pub use self::extensions::{EXTENSIONS_PARAMETER, EXTENSIONS_PARAMETER_V03, parse_extensions};
pub use self::operation::Operation;
pub use self::request::Request;
pub use self::response::{Dialect, Response};
pub use self::types::{
    Artifact, AuthenticationInfo, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse, ListTasksRequest,
    ListTasksResponse, Message, Part, PartContent, Role, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskArtifactUpdateEvent,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
pub use self::version::{VERSION_PARAMETER, Version};
pub use self::wire::{
    Bytes, FieldViolation, InvalidMessage, InvalidTimestamp, JsonObject, MAX_DEPTH, Timestamp, WireMessage,
};
