//! One card for both versions: the 1.0 document with the members a 0.3 client looks for beside them.

use serde_json::{Map, Value, json};

use crate::Version;
use crate::card::{AgentCard, AgentInterface, OAuthFlows, SecurityRequirement, SecurityScheme};

/// The version as 0.3 cards wrote it, with a patch number.
const PROTOCOL_VERSION: &str = "0.3.0";

/// The card as one JSON document that clients of both versions understand (A2A 1.0 §8, A2A 0.3 §5.5).
///
/// The 0.3 members are there when the card has an interface of version 0.3: `url` and `preferredTransport` from the
/// first of these, `additionalInterfaces` from all, `security` and the flat form of the security schemes. What 0.3
/// has no word for, such as a device code flow, is in the 1.0 members only.
#[must_use]
pub fn card_document(card: &AgentCard) -> String {
    let mut document = serde_json::to_value(card).expect("a card has string keys and writes to memory");
    if let Some(members) = document.as_object_mut() {
        add_v03_members(members, card);
    }
    document.to_string()
}

fn add_v03_members(members: &mut Map<String, Value>, card: &AgentCard) {
    let is_v03 = |interface: &&AgentInterface| {
        Version::from_parameter(Some(&interface.protocol_version)) == Ok(Version::V0_3)
    };
    let interfaces: Vec<&AgentInterface> = card.supported_interfaces.iter().filter(is_v03).collect();
    let Some(preferred) = interfaces.first() else {
        return;
    };
    let additional = interfaces
        .iter()
        .map(|interface| json!({ "url": interface.url, "transport": interface.protocol_binding }));
    members.insert("url".to_owned(), json!(preferred.url));
    members.insert("preferredTransport".to_owned(), json!(preferred.protocol_binding));
    members.insert("protocolVersion".to_owned(), json!(PROTOCOL_VERSION));
    members.insert("additionalInterfaces".to_owned(), additional.collect());
    if card.capabilities.extended_agent_card == Some(true) {
        members.insert("supportsAuthenticatedExtendedCard".to_owned(), json!(true));
    }
    if !card.security_requirements.is_empty() {
        members.insert("security".to_owned(), security(&card.security_requirements));
    }
    if let Some(Value::Object(schemes)) = members.get_mut("securitySchemes") {
        for (name, scheme) in &card.security_schemes {
            if let Some(Value::Object(members)) = schemes.get_mut(name) {
                add_flat_scheme(members, scheme);
            }
        }
    }
    if let Some(Value::Array(skills)) = members.get_mut("skills") {
        for (members, skill) in skills.iter_mut().zip(&card.skills) {
            if !skill.security_requirements.is_empty() {
                members["security"] = security(&skill.security_requirements);
            }
        }
    }
}

/// Requirements as 0.3 writes them: scopes directly under the scheme's name.
fn security(requirements: &[SecurityRequirement]) -> Value {
    let flat = |requirement: &SecurityRequirement| -> Value {
        requirement.schemes.iter().map(|(name, scopes)| (name.clone(), json!(scopes.list))).collect()
    };
    requirements.iter().map(flat).collect()
}

/// Adds a scheme as 0.3 writes it, in the manner of OpenAPI: a `type` and the members beside it.
fn add_flat_scheme(members: &mut Map<String, Value>, scheme: &SecurityScheme) {
    let mut add = |name: &str, value: Value| {
        if !value.is_null() {
            members.insert(name.to_owned(), value);
        }
    };
    match scheme {
        SecurityScheme::ApiKey(scheme) => {
            add("type", json!("apiKey"));
            add("description", json!(scheme.description));
            add("in", json!(scheme.location));
            add("name", json!(scheme.name));
        }
        SecurityScheme::HttpAuth(scheme) => {
            add("type", json!("http"));
            add("description", json!(scheme.description));
            add("scheme", json!(scheme.scheme));
            add("bearerFormat", json!(scheme.bearer_format));
        }
        SecurityScheme::OAuth2(scheme) => {
            add("type", json!("oauth2"));
            add("description", json!(scheme.description));
            add("oauth2MetadataUrl", json!(scheme.oauth2_metadata_url));
            add("flows", flows(&scheme.flows));
        }
        SecurityScheme::OpenIdConnect(scheme) => {
            add("type", json!("openIdConnect"));
            add("description", json!(scheme.description));
            add("openIdConnectUrl", json!(scheme.open_id_connect_url));
        }
        SecurityScheme::MutualTls(scheme) => {
            add("type", json!("mutualTLS"));
            add("description", json!(scheme.description));
        }
    }
}

/// The flow under the same name as in 1.0, with the scopes 0.3 requires even when there are none.
fn flows(flows: &OAuthFlows) -> Value {
    if let OAuthFlows::DeviceCode(_) = flows {
        return json!({});
    }
    let mut document = json!(flows);
    if let Some(flow) =
        document.as_object_mut().and_then(|flows| flows.values_mut().next()).and_then(Value::as_object_mut)
    {
        flow.entry("scopes").or_insert_with(|| json!({}));
        flow.remove("pkceRequired");
    }
    document
}
