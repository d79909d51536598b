//! What parts of the protocol an agent supports, and its extensions (A2A 1.0 §4.4.3–4.4.4).

use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message, is_false, unset};

/// Optional parts of the protocol; absent means not supported.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCapabilities {
    /// `SendStreamingMessage` and `SubscribeToTask`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// The push notification operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub push_notifications: Option<bool>,
    /// Extensions of the protocol.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<AgentExtension>,
    /// `GetExtendedAgentCard`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended_agent_card: Option<bool>,
}

impl ReadMessage for AgentCapabilities {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            streaming: fields.optional("streaming"),
            push_notifications: fields.optional("pushNotifications"),
            extensions: fields.or_default("extensions"),
            extended_agent_card: fields.optional("extendedAgentCard"),
        }
    }
}

/// An extension of the protocol that the agent supports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentExtension {
    /// What names the extension.
    #[serde(skip_serializing_if = "unset")]
    pub uri: Option<String>,
    /// How the agent uses it.
    #[serde(skip_serializing_if = "unset")]
    pub description: Option<String>,
    /// Whether a client has to support it; absent means no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub required: bool,
    /// The extension's own settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<JsonObject>,
}

impl ReadMessage for AgentExtension {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            uri: fields.text("uri"),
            description: fields.text("description"),
            required: fields.or_default("required"),
            params: fields.optional("params"),
        }
    }
}

deserialize_as_message!(AgentCapabilities, AgentExtension);
