//! What goes into a card and what is left out.

use funduq_contract::{AgentAddress, Identity};
use serde_json::{Value, json};

use super::*;

fn carded(extra: Value, takes_interjections: bool) -> Value {
    let agent = AgentRecord {
        address: AgentAddress::new(Identity::from_seed(&[1; 32]).public_key(), "echo".parse().unwrap()),
        description: "Says it back.".to_owned(),
        agent_card_extra: serde_json::from_str(&extra.to_string()).unwrap(),
        metadata: None,
        takes_interjections,
        joined_at: 0,
        last_seen_at: 0,
    };
    let interfaces = vec![AgentInterface::new("https://example.org/a2a", "JSONRPC", "1.0")];
    serde_json::to_value(card(&agent, interfaces)).unwrap()
}

#[test]
fn a_card_says_what_the_door_does() {
    assert_eq!(
        carded(json!(null), false),
        json!({
            "name": "echo", "description": "Says it back.", "version": "1.0.0", "skills": [],
            "supportedInterfaces": [
                {"url": "https://example.org/a2a", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}
            ],
            "capabilities": {"streaming": true, "pushNotifications": false},
            "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"],
        })
    );
}

#[test]
fn interjections_are_declared_where_the_agent_takes_them() {
    let card = carded(json!({}), true);
    let extension = &card["capabilities"]["extensions"][0];
    assert_eq!(extension["uri"], "https://github.com/hukaichun/funduq/ext/interjection/v1");
    assert_eq!(extension.get("required"), None);
}

#[test]
fn what_the_provider_published_goes_in_if_it_is_what_a2a_says() {
    let good = json!({
        "version": "2.1", "iconUrl": "https://example.org/i.png", "documentationUrl": "https://example.org/docs",
        "provider": {"organization": "Example", "url": "https://example.org"},
        "capabilities": {"pushNotifications": true}, "supportedInterfaces": [], "name": "somebody else",
        "securitySchemes": {"x": {"httpAuthSecurityScheme": {"scheme": "Basic"}}}, "securityRequirements": [{"schemes": {"x": {}}}],
    });
    let card = carded(good, false);
    assert_eq!(card["version"], "2.1");
    assert_eq!(card["iconUrl"], "https://example.org/i.png");
    assert_eq!(card["documentationUrl"], "https://example.org/docs");
    assert_eq!(card["provider"]["organization"], "Example");
    assert_eq!(card["name"], "echo");
    assert_eq!(card["capabilities"]["pushNotifications"], false);
    assert_eq!((card.get("securitySchemes"), card.get("securityRequirements")), (None, None));
    assert_eq!(card["supportedInterfaces"].as_array().unwrap().len(), 1);
    let bad = carded(json!({"version": 2, "iconUrl": "", "provider": {"url": "x"}, "skills": {}}), false);
    assert_eq!(bad["version"], "1.0.0");
    assert_eq!((bad.get("iconUrl"), bad.get("provider")), (None, None));
    assert_eq!(bad["skills"], json!([]));
}

#[test]
fn skills_are_taken_one_by_one() {
    let skill = |id: &str| {
        json!({"id": id, "name": id, "description": "d", "tags": ["t"], "inputModes": ["text/plain", "image/png"],
        "securityRequirements": [{"schemes": {"x": {}}}]})
    };
    let untagged = json!({"id": "b", "name": "b", "description": "d", "tags": []});
    let card = carded(json!({"skills": [skill("a"), untagged, 7, skill("c")]}), false);
    let ids: Vec<_> = card["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
    assert_eq!(ids, ["a", "c"]);
    assert_eq!(
        card["skills"][0].get("securityRequirements"),
        None,
        "whom the door lets in is not the provider's to say"
    );
    assert_eq!(card["skills"][0]["inputModes"], json!(["text/plain"]), "nothing else reaches the agent");
}
