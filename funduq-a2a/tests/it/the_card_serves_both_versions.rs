//! One card document: what a 1.0 client reads, and beside it what a 0.3 client looks for.

use funduq_a2a::v03::card_document;
use funduq_a2a::{AgentCard, WireMessage};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::arbitrary_cards::card;

fn sample() -> Value {
    json!({
        "name": "Recipes",
        "description": "Finds recipes",
        "version": "1.2.0",
        "supportedInterfaces": [
            {"url": "https://x.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
            {"url": "https://x.example/a2a", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"},
            {"url": "https://x.example/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
            {"url": "https://x.example/a2a", "protocolBinding": "HTTP+JSON", "protocolVersion": "0.3"}
        ],
        "capabilities": {"streaming": true, "pushNotifications": false},
        "securitySchemes": {
            "key": {"apiKeySecurityScheme": {"location": "header", "name": "X-Key"}},
            "oauth": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "https://t", "scopes": {"r": "read"}}}}},
            "device": {"oauth2SecurityScheme": {"flows": {"deviceCode": {"deviceAuthorizationUrl": "https://d", "tokenUrl": "https://t", "scopes": {}}}}}
        },
        "securityRequirements": [{"schemes": {"oauth": {"list": ["r"]}}}, {"schemes": {"key": {}}}],
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "s", "name": "S", "description": "d", "tags": ["t"],
                    "securityRequirements": [{"schemes": {"key": {}}}]}]
    })
}

fn document(card: &Value) -> Value {
    let card = AgentCard::from_json(card.to_string().as_bytes()).unwrap();
    serde_json::from_str(&card_document(&card)).unwrap()
}

#[test]
fn a_0_3_client_finds_where_to_go() {
    let document = document(&sample());
    assert_eq!(document["url"], "https://x.example/a2a");
    assert_eq!(document["preferredTransport"], "JSONRPC");
    assert_eq!(document["protocolVersion"], "0.3.0");
    assert_eq!(
        document["additionalInterfaces"],
        json!([
            {"url": "https://x.example/a2a", "transport": "JSONRPC"},
            {"url": "https://x.example/a2a", "transport": "HTTP+JSON"}
        ])
    );
    assert_eq!(document.get("supportsAuthenticatedExtendedCard"), None);
}

#[test]
fn a_0_3_client_finds_how_to_authenticate() {
    let document = document(&sample());
    assert_eq!(document["security"], json!([{"oauth": ["r"]}, {"key": []}]));
    assert_eq!(document["skills"][0]["security"], json!([{"key": []}]));
    let schemes = &document["securitySchemes"];
    assert_eq!(
        schemes["key"],
        json!({
            "apiKeySecurityScheme": {"location": "header", "name": "X-Key"},
            "type": "apiKey", "in": "header", "name": "X-Key"
        })
    );
    assert_eq!(schemes["oauth"]["type"], "oauth2");
    assert_eq!(
        schemes["oauth"]["flows"],
        json!({"clientCredentials": {"tokenUrl": "https://t", "scopes": {"r": "read"}}})
    );
    assert_eq!(schemes["device"]["flows"], json!({}));
}

#[test]
fn a_card_without_a_0_3_interface_says_nothing_about_0_3() {
    let mut only_new = sample();
    only_new["supportedInterfaces"].as_array_mut().unwrap().truncate(2);
    let document = document(&only_new);
    for member in ["url", "preferredTransport", "protocolVersion", "additionalInterfaces", "security"] {
        assert_eq!(document.get(member), None, "{member}");
    }
}

proptest! {
    #[test]
    fn a_1_0_client_reads_the_same_card(card in card()) {
        let document = card_document(&card);
        let read = AgentCard::from_json(document.as_bytes()).unwrap();
        let value = |card: &AgentCard| serde_json::to_value(card).unwrap();
        prop_assert_eq!(value(&read), value(&card));
        let oracle: a2a::AgentCard = serde_json::from_str(&document).unwrap();
        prop_assert_eq!(oracle.name, card.name);
        let proto: a2a_pb::protojson::AgentCard = serde_json::from_str(&document).unwrap();
        prop_assert_eq!(proto.version, card.version);
    }
}
