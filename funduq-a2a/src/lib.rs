//! A2A 1.0 wire models, error types and operation names, and the 0.3 shapes with their conversion.

mod card;
mod error;
mod types;
mod wire;

pub use self::card::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
    AgentSkill, ApiKeySecurityScheme, AuthorizationCodeOAuthFlow, BINDING_HTTP_JSON, BINDING_JSONRPC,
    ClientCredentialsOAuthFlow, DeviceCodeOAuthFlow, HttpAuthSecurityScheme, ImplicitOAuthFlow,
    MutualTlsSecurityScheme, OAuth2SecurityScheme, OAuthFlows, OpenIdConnectSecurityScheme,
    PasswordOAuthFlow, SecurityRequirement, SecurityScheme, StringList,
};
pub use self::error::{A2aError, ERROR_DOMAIN, ErrorBody, ErrorDetail, JsonRpcErrorObject, RestError};
pub use self::types::{
    Artifact, AuthenticationInfo, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse, ListTasksRequest,
    ListTasksResponse, Message, Part, PartContent, Role, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskArtifactUpdateEvent,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent,
};
pub use self::wire::{
    Bytes, FieldViolation, InvalidMessage, InvalidTimestamp, JsonObject, MAX_DEPTH, Timestamp, WireMessage,
};
