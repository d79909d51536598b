//! Generated agent cards.

use funduq_a2a::{
    AgentCapabilities, AgentCard, AgentCardSignature, AgentExtension, AgentInterface, AgentProvider,
    AgentSkill, ApiKeySecurityScheme, AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow,
    DeviceCodeOAuthFlow, HttpAuthSecurityScheme, ImplicitOAuthFlow, MutualTlsSecurityScheme,
    OAuth2SecurityScheme, OAuthFlows, OpenIdConnectSecurityScheme, PasswordOAuthFlow, SecurityRequirement,
    SecurityScheme, StringList,
};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;

use crate::arbitrary::{object, scopes, text, texts};

/// Never GRPC: the native crate rewrites its URLs.
fn interface() -> impl Strategy<Value = AgentInterface> {
    let binding = prop_oneof![Just("JSONRPC"), Just("HTTP+JSON")];
    let version = prop_oneof![Just("1.0"), Just("0.3"), Just("0.3.0")];
    (text(), binding, of(text()), version).prop_map(|(url, binding, tenant, version)| AgentInterface {
        tenant,
        ..AgentInterface::new(url, binding, version)
    })
}

fn flows() -> impl Strategy<Value = OAuthFlows> {
    prop_oneof![
        (text(), text(), of(text()), scopes(), any::<bool>()).prop_map(
            |(authorization_url, token_url, refresh_url, scopes, pkce_required)| {
                OAuthFlows::AuthorizationCode(AuthorizationCodeOAuthFlow {
                    authorization_url,
                    token_url,
                    refresh_url,
                    scopes,
                    pkce_required,
                })
            }
        ),
        (text(), of(text()), scopes()).prop_map(|(token_url, refresh_url, scopes)| {
            OAuthFlows::ClientCredentials(ClientCredentialsOAuthFlow { token_url, refresh_url, scopes })
        }),
        (text(), of(text()), scopes()).prop_map(|(url, refresh_url, scopes)| {
            OAuthFlows::Implicit(ImplicitOAuthFlow { authorization_url: Some(url), refresh_url, scopes })
        }),
        (text(), of(text()), scopes()).prop_map(|(url, refresh_url, scopes)| {
            OAuthFlows::Password(PasswordOAuthFlow { token_url: Some(url), refresh_url, scopes })
        }),
        (text(), text(), of(text()), scopes()).prop_map(
            |(device_authorization_url, token_url, refresh_url, scopes)| {
                OAuthFlows::DeviceCode(DeviceCodeOAuthFlow {
                    device_authorization_url,
                    token_url,
                    refresh_url,
                    scopes,
                })
            }
        ),
    ]
}

fn scheme() -> impl Strategy<Value = SecurityScheme> {
    prop_oneof![
        (of(text()), text(), text()).prop_map(|(description, location, name)| {
            SecurityScheme::ApiKey(ApiKeySecurityScheme { description, location, name })
        }),
        (of(text()), text(), of(text())).prop_map(|(description, scheme, bearer_format)| {
            SecurityScheme::HttpAuth(HttpAuthSecurityScheme { description, scheme, bearer_format })
        }),
        (of(text()), flows(), of(text())).prop_map(|(description, flows, oauth2_metadata_url)| {
            SecurityScheme::OAuth2(OAuth2SecurityScheme { description, flows, oauth2_metadata_url })
        }),
        (of(text()), text()).prop_map(|(description, open_id_connect_url)| {
            SecurityScheme::OpenIdConnect(OpenIdConnectSecurityScheme { description, open_id_connect_url })
        }),
        of(text()).prop_map(|description| SecurityScheme::MutualTls(MutualTlsSecurityScheme { description })),
    ]
}

/// Its scope lists are never empty: the native crate writes an empty one as `{"list": []}`.
fn requirement() -> impl Strategy<Value = SecurityRequirement> {
    let list = vec(text(), 1..3).prop_map(|list| StringList { list });
    btree_map(text(), list, 1..3).prop_map(|schemes| SecurityRequirement { schemes })
}

fn skill() -> impl Strategy<Value = AgentSkill> {
    let lists = (vec(text(), 1..3), texts(), texts(), texts(), vec(requirement(), 0..2));
    (text(), text(), text(), lists).prop_map(|(id, name, description, lists)| {
        let (tags, examples, input_modes, output_modes, security_requirements) = lists;
        AgentSkill { id, name, description, tags, examples, input_modes, output_modes, security_requirements }
    })
}

fn extension() -> impl Strategy<Value = AgentExtension> {
    (text(), of(text()), any::<bool>(), of(object())).prop_map(|(uri, description, required, params)| {
        AgentExtension { uri: Some(uri), description, required, params }
    })
}

fn capabilities() -> impl Strategy<Value = AgentCapabilities> {
    (of(any::<bool>()), of(any::<bool>()), vec(extension(), 0..2), of(any::<bool>())).prop_map(
        |(streaming, push_notifications, extensions, extended_agent_card)| AgentCapabilities {
            streaming,
            push_notifications,
            extensions,
            extended_agent_card,
        },
    )
}

/// Its required lists are never empty: the proto crate leaves empty ones out.
pub(crate) fn card() -> impl Strategy<Value = AgentCard> {
    let names = (text(), text(), text(), of(any::<String>()), of(any::<String>()));
    let provider = (text(), text()).prop_map(|(url, organization)| AgentProvider { url, organization });
    let signature = (text(), text(), of(object()))
        .prop_map(|(protected, signature, header)| AgentCardSignature { protected, signature, header });
    let offers =
        (vec(interface(), 1..3), of(provider), capabilities(), vec(skill(), 1..3), vec(signature, 0..2));
    let modes = (vec(text(), 1..3), vec(text(), 1..3));
    let security = (btree_map(text(), scheme(), 0..3), vec(requirement(), 0..2));
    (names, offers, modes, security).prop_map(|(names, offers, modes, security)| {
        let (name, description, version, documentation_url, icon_url) = names;
        let (supported_interfaces, provider, capabilities, skills, signatures) = offers;
        AgentCard {
            name,
            description,
            supported_interfaces,
            provider,
            version,
            documentation_url,
            capabilities,
            security_schemes: security.0,
            security_requirements: security.1,
            default_input_modes: modes.0,
            default_output_modes: modes.1,
            skills,
            signatures,
            icon_url,
        }
    })
}
