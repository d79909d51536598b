//! A2A 1.0 wire models, error types and operation names, and the 0.3 shapes with their conversion.
//!
//! Everything here is pure: bytes to values, values to bytes. There is no socket, no clock and no runtime, so that a
//! host can serve A2A with the HTTP stack it likes.
//!
//! - **Messages** ([`Task`], [`Message`], [`AgentCard`] and the rest) are plain structs. [`WireMessage`] reads and
//!   writes them as ProtoJSON, and names every fault by its path.
//! - **[`A2aError`]** is every error the protocol knows, with the code, status and body of each binding.
//! - **[`operation`]** is the one table of names: JSON-RPC methods and paths, of 1.0 and of 0.3.
//! - **[`json_rpc`]** and **[`rest`]** turn what came in by either binding into one [`Request`]; a [`Response`], or a
//!   [`StreamResponse`], goes out in the caller's [`Dialect`].
//! - **[`v03`]** is A2A 0.3. Nothing outside it knows its spellings.
//!
//! ```
//! use funduq_a2a::{A2aError, Request, Version, json_rpc};
//!
//! let body = br#"{"jsonrpc": "2.0", "id": 7, "method": "GetTask", "params": {"id": "t-1"}}"#;
//! let call = json_rpc::parse(body, Version::from_parameter(Some("1.0")))?;
//! let Request::GetTask(request) = &call.request else {
//!     unreachable!("the method was GetTask");
//! };
//!
//! let error = A2aError::TaskNotFound { task_id: request.id.clone() };
//! if let Some(id) = &call.id {
//!     let answer = json_rpc::failure(id, &error.to_json_rpc());
//!     assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32001,"#));
//! }
//! # Ok::<(), json_rpc::Refusal>(())
//! ```
//!
//! # Panics
//!
//! Nothing here panics on what a peer sends.

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
