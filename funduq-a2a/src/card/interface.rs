//! Where an agent is reached, and who provides it (A2A 1.0 §4.4.6, §4.4.2).

use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{Fields, ReadMessage, deserialize_as_message, unset};

/// The binding name of JSON-RPC over HTTP.
pub const BINDING_JSONRPC: &str = "JSONRPC";
/// The binding name of the REST-like binding.
pub const BINDING_HTTP_JSON: &str = "HTTP+JSON";

/// One place the agent is reached at, with the binding and version spoken there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentInterface {
    /// The absolute URL; required.
    pub url: String,
    /// `JSONRPC`, `HTTP+JSON`, `GRPC`, or the URI of another binding; required.
    pub protocol_binding: String,
    /// The tenant to name in requests.
    #[serde(skip_serializing_if = "unset")]
    pub tenant: Option<String>,
    /// The protocol version spoken there, major and minor only, such as `1.0`; required.
    pub protocol_version: String,
}

impl AgentInterface {
    /// An interface without a tenant.
    pub fn new(
        url: impl Into<String>,
        protocol_binding: impl Into<String>,
        protocol_version: impl Into<String>,
    ) -> Self {
        Self {
            url: url.into(),
            protocol_binding: protocol_binding.into(),
            tenant: None,
            protocol_version: protocol_version.into(),
        }
    }
}

impl ReadMessage for AgentInterface {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            url: fields.required_text("url"),
            protocol_binding: fields.required_text("protocolBinding"),
            tenant: fields.text("tenant"),
            protocol_version: fields.required_text("protocolVersion"),
        }
    }
}

/// Who provides an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentProvider {
    /// The provider's site; required.
    pub url: String,
    /// The provider's name; required.
    pub organization: String,
}

impl ReadMessage for AgentProvider {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { url: fields.required_text("url"), organization: fields.required_text("organization") }
    }
}

deserialize_as_message!(AgentInterface, AgentProvider);
