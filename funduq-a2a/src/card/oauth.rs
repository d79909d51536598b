//! The flows of OAuth 2.0 that a card can name (A2A 1.0 §4.5.7–4.5.10).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::wire::{Fields, ReadMessage, deserialize_as_message, is_false, unset};

/// The flow an authorization server supports; in JSON an object with exactly one member that names it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OAuthFlows {
    /// Authorization code.
    AuthorizationCode(AuthorizationCodeOAuthFlow),
    /// Client credentials.
    ClientCredentials(ClientCredentialsOAuthFlow),
    /// Implicit; deprecated by the protocol.
    Implicit(ImplicitOAuthFlow),
    /// Password; deprecated by the protocol.
    Password(PasswordOAuthFlow),
    /// Device code.
    DeviceCode(DeviceCodeOAuthFlow),
}

impl ReadMessage for OAuthFlows {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        match fields.one_of(&["authorizationCode", "clientCredentials", "implicit", "password", "deviceCode"])
        {
            Some("authorizationCode") => Self::AuthorizationCode(fields.or_default("authorizationCode")),
            Some("clientCredentials") => Self::ClientCredentials(fields.or_default("clientCredentials")),
            Some("password") => Self::Password(fields.or_default("password")),
            Some("deviceCode") => Self::DeviceCode(fields.or_default("deviceCode")),
            _ => Self::Implicit(fields.or_default("implicit")),
        }
    }
}

/// The authorization code flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthorizationCodeOAuthFlow {
    /// Where the user authorizes; required.
    pub authorization_url: String,
    /// Where tokens are issued; required.
    pub token_url: String,
    /// Where tokens are refreshed.
    #[serde(skip_serializing_if = "unset")]
    pub refresh_url: Option<String>,
    /// Descriptions by scope; required, may be empty.
    pub scopes: BTreeMap<String, String>,
    /// Whether PKCE is needed; absent means no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub pkce_required: bool,
}

impl ReadMessage for AuthorizationCodeOAuthFlow {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            authorization_url: fields.required_text("authorizationUrl"),
            token_url: fields.required_text("tokenUrl"),
            refresh_url: fields.text("refreshUrl"),
            scopes: fields.or_default("scopes"),
            pkce_required: fields.or_default("pkceRequired"),
        }
    }
}

/// The client credentials flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClientCredentialsOAuthFlow {
    /// Where tokens are issued; required.
    pub token_url: String,
    /// Where tokens are refreshed.
    #[serde(skip_serializing_if = "unset")]
    pub refresh_url: Option<String>,
    /// Descriptions by scope; required, may be empty.
    pub scopes: BTreeMap<String, String>,
}

impl ReadMessage for ClientCredentialsOAuthFlow {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            token_url: fields.required_text("tokenUrl"),
            refresh_url: fields.text("refreshUrl"),
            scopes: fields.or_default("scopes"),
        }
    }
}

/// The implicit flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImplicitOAuthFlow {
    /// Where the user authorizes.
    #[serde(skip_serializing_if = "unset")]
    pub authorization_url: Option<String>,
    /// Where tokens are refreshed.
    #[serde(skip_serializing_if = "unset")]
    pub refresh_url: Option<String>,
    /// Descriptions by scope.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scopes: BTreeMap<String, String>,
}

impl ReadMessage for ImplicitOAuthFlow {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            authorization_url: fields.text("authorizationUrl"),
            refresh_url: fields.text("refreshUrl"),
            scopes: fields.or_default("scopes"),
        }
    }
}

/// The password flow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PasswordOAuthFlow {
    /// Where tokens are issued.
    #[serde(skip_serializing_if = "unset")]
    pub token_url: Option<String>,
    /// Where tokens are refreshed.
    #[serde(skip_serializing_if = "unset")]
    pub refresh_url: Option<String>,
    /// Descriptions by scope.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scopes: BTreeMap<String, String>,
}

impl ReadMessage for PasswordOAuthFlow {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            token_url: fields.text("tokenUrl"),
            refresh_url: fields.text("refreshUrl"),
            scopes: fields.or_default("scopes"),
        }
    }
}

/// The device code flow (RFC 8628).
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DeviceCodeOAuthFlow {
    /// Where a device asks for its code; required.
    pub device_authorization_url: String,
    /// Where tokens are issued; required.
    pub token_url: String,
    /// Where tokens are refreshed.
    #[serde(skip_serializing_if = "unset")]
    pub refresh_url: Option<String>,
    /// Descriptions by scope; required, may be empty.
    pub scopes: BTreeMap<String, String>,
}

impl ReadMessage for DeviceCodeOAuthFlow {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            device_authorization_url: fields.required_text("deviceAuthorizationUrl"),
            token_url: fields.required_text("tokenUrl"),
            refresh_url: fields.text("refreshUrl"),
            scopes: fields.or_default("scopes"),
        }
    }
}

deserialize_as_message!(
    OAuthFlows,
    AuthorizationCodeOAuthFlow,
    ClientCredentialsOAuthFlow,
    ImplicitOAuthFlow,
    PasswordOAuthFlow,
    DeviceCodeOAuthFlow,
);
