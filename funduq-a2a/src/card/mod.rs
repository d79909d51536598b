//! The agent card: what an agent says of itself, where it is reached and how (A2A 1.0 §4.4, §8).

mod capabilities;
mod interface;
mod oauth;
mod security;
mod skill;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

pub use self::capabilities::{AgentCapabilities, AgentExtension};
pub use self::interface::{AgentInterface, AgentProvider, BINDING_HTTP_JSON, BINDING_JSONRPC};
pub use self::oauth::{
    AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, DeviceCodeOAuthFlow, ImplicitOAuthFlow,
    OAuthFlows, PasswordOAuthFlow,
};
pub use self::security::{
    ApiKeySecurityScheme, HttpAuthSecurityScheme, MutualTlsSecurityScheme, OAuth2SecurityScheme,
    OpenIdConnectSecurityScheme, SecurityRequirement, SecurityScheme, StringList,
};
pub use self::skill::AgentSkill;

use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message};

/// An agent's description of itself.
///
/// Required members are written even when empty, as the canonical form asks (A2A 1.0 §8.4.1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCard {
    /// The agent's name for people; required.
    pub name: String,
    /// What the agent is for; required, may be empty.
    pub description: String,
    /// Where the agent is reached, the preferred way first; at least one.
    #[schemars(length(min = 1))]
    pub supported_interfaces: Vec<AgentInterface>,
    /// Who provides the agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<AgentProvider>,
    /// The agent's own version; required.
    pub version: String,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documentation_url: Option<String>,
    /// What parts of the protocol it supports; required.
    pub capabilities: AgentCapabilities,
    /// The ways to authenticate, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub security_schemes: BTreeMap<String, SecurityScheme>,
    /// Which of them a caller needs: any one entry suffices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
    /// Media types it takes, unless a skill says otherwise; required.
    pub default_input_modes: Vec<String>,
    /// Media types it gives, unless a skill says otherwise; required.
    pub default_output_modes: Vec<String>,
    /// What it can do; required, may be empty.
    pub skills: Vec<AgentSkill>,
    /// Signatures over the card's canonical form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub signatures: Vec<AgentCardSignature>,
    /// Where its icon is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icon_url: Option<String>,
}

impl ReadMessage for AgentCard {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            name: fields.required_text("name"),
            description: fields.or_default("description"),
            supported_interfaces: fields.required_list("supportedInterfaces"),
            provider: fields.optional("provider"),
            version: fields.required_text("version"),
            documentation_url: fields.optional("documentationUrl"),
            capabilities: fields.required("capabilities"),
            security_schemes: fields.or_default("securitySchemes"),
            security_requirements: fields.or_default("securityRequirements"),
            default_input_modes: fields.or_default("defaultInputModes"),
            default_output_modes: fields.or_default("defaultOutputModes"),
            skills: fields.or_default("skills"),
            signatures: fields.or_default("signatures"),
            icon_url: fields.optional("iconUrl"),
        }
    }
}

/// A JSON Web Signature over the card (A2A 1.0 §8.4.2).
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentCardSignature {
    /// The protected header, base64url; required.
    pub protected: String,
    /// The signature, base64url; required.
    pub signature: String,
    /// The unprotected header.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<JsonObject>,
}

impl ReadMessage for AgentCardSignature {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            protected: fields.required_text("protected"),
            signature: fields.required_text("signature"),
            header: fields.optional("header"),
        }
    }
}

deserialize_as_message!(AgentCard, AgentCardSignature);
