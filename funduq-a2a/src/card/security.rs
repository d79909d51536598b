//! How a caller authenticates to an agent (A2A 1.0 §4.5), after OpenAPI's security schemes.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::{ImplicitOAuthFlow, OAuthFlows};
use crate::wire::{Fields, ReadMessage, deserialize_as_message, unset};

/// One way to satisfy an agent: all of these schemes together, each with its scopes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SecurityRequirement {
    /// Scopes by the name of the scheme in the card.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub schemes: BTreeMap<String, StringList>,
}

impl ReadMessage for SecurityRequirement {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { schemes: fields.or_default("schemes") }
    }
}

/// A list of strings where the proto needs a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StringList {
    /// The strings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub list: Vec<String>,
}

impl ReadMessage for StringList {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { list: fields.or_default("list") }
    }
}

/// A way to authenticate; in JSON an object with exactly one member that names the kind.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub enum SecurityScheme {
    /// A key in a header, a query parameter or a cookie.
    #[serde(rename = "apiKeySecurityScheme")]
    ApiKey(ApiKeySecurityScheme),
    /// HTTP authentication.
    #[serde(rename = "httpAuthSecurityScheme")]
    HttpAuth(HttpAuthSecurityScheme),
    /// OAuth 2.0.
    #[serde(rename = "oauth2SecurityScheme")]
    OAuth2(OAuth2SecurityScheme),
    /// OpenID Connect.
    #[serde(rename = "openIdConnectSecurityScheme")]
    OpenIdConnect(OpenIdConnectSecurityScheme),
    /// A client certificate.
    #[serde(rename = "mtlsSecurityScheme")]
    MutualTls(MutualTlsSecurityScheme),
}

impl ReadMessage for SecurityScheme {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        match fields.one_of(&[
            "apiKeySecurityScheme",
            "httpAuthSecurityScheme",
            "oauth2SecurityScheme",
            "openIdConnectSecurityScheme",
            "mtlsSecurityScheme",
        ]) {
            Some("apiKeySecurityScheme") => Self::ApiKey(fields.or_default("apiKeySecurityScheme")),
            Some("httpAuthSecurityScheme") => Self::HttpAuth(fields.or_default("httpAuthSecurityScheme")),
            Some("oauth2SecurityScheme") => Self::OAuth2(fields.or_default("oauth2SecurityScheme")),
            Some("openIdConnectSecurityScheme") => {
                Self::OpenIdConnect(fields.or_default("openIdConnectSecurityScheme"))
            }
            _ => Self::MutualTls(fields.or_default("mtlsSecurityScheme")),
        }
    }
}

/// A key that the caller sends along.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeySecurityScheme {
    /// A description for people.
    #[serde(skip_serializing_if = "unset")]
    pub description: Option<String>,
    /// `query`, `header` or `cookie`; required.
    pub location: String,
    /// The name of the header, parameter or cookie; required.
    pub name: String,
}

impl ReadMessage for ApiKeySecurityScheme {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            description: fields.text("description"),
            location: fields.required_text("location"),
            name: fields.required_text("name"),
        }
    }
}

/// HTTP authentication.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HttpAuthSecurityScheme {
    /// A description for people.
    #[serde(skip_serializing_if = "unset")]
    pub description: Option<String>,
    /// The scheme of the `Authorization` header, such as `Bearer`; required.
    pub scheme: String,
    /// What kind of token it is, such as `JWT`.
    #[serde(skip_serializing_if = "unset")]
    pub bearer_format: Option<String>,
}

impl ReadMessage for HttpAuthSecurityScheme {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            description: fields.text("description"),
            scheme: fields.required_text("scheme"),
            bearer_format: fields.text("bearerFormat"),
        }
    }
}

/// OAuth 2.0.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OAuth2SecurityScheme {
    /// A description for people.
    #[serde(skip_serializing_if = "unset")]
    pub description: Option<String>,
    /// The flow that is supported; required.
    pub flows: OAuthFlows,
    /// Where the authorization server's metadata is (RFC 8414).
    #[serde(skip_serializing_if = "unset")]
    pub oauth2_metadata_url: Option<String>,
}

/// Completes the walk over a document that has been found faulty; no valid scheme is built from it.
impl Default for OAuth2SecurityScheme {
    fn default() -> Self {
        let flows = OAuthFlows::Implicit(ImplicitOAuthFlow::default());
        Self { description: None, flows, oauth2_metadata_url: None }
    }
}

impl ReadMessage for OAuth2SecurityScheme {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            description: fields.text("description"),
            flows: fields.required_or("flows", || OAuth2SecurityScheme::default().flows),
            oauth2_metadata_url: fields.text("oauth2MetadataUrl"),
        }
    }
}

/// OpenID Connect.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenIdConnectSecurityScheme {
    /// A description for people.
    #[serde(skip_serializing_if = "unset")]
    pub description: Option<String>,
    /// The discovery URL; required.
    pub open_id_connect_url: String,
}

impl ReadMessage for OpenIdConnectSecurityScheme {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            description: fields.text("description"),
            open_id_connect_url: fields.required_text("openIdConnectUrl"),
        }
    }
}

/// A client certificate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MutualTlsSecurityScheme {
    /// A description for people.
    #[serde(skip_serializing_if = "unset")]
    pub description: Option<String>,
}

impl ReadMessage for MutualTlsSecurityScheme {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { description: fields.text("description") }
    }
}

deserialize_as_message!(
    SecurityRequirement,
    StringList,
    SecurityScheme,
    ApiKeySecurityScheme,
    HttpAuthSecurityScheme,
    OAuth2SecurityScheme,
    OpenIdConnectSecurityScheme,
    MutualTlsSecurityScheme,
);
