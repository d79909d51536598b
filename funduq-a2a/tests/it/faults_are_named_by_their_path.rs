//! A message that breaks the model is refused with every fault, each with its path.

use funduq_a2a::{
    A2aError, AgentCard, InvalidMessage, MAX_DEPTH, SendMessageRequest, StreamResponse, WireMessage,
};
use serde_json::{Value, json};

fn faults<T: WireMessage>(value: &Value) -> Vec<String> {
    match T::from_json(value.to_string().as_bytes()) {
        Err(InvalidMessage::Violations(violations)) => violations.iter().map(ToString::to_string).collect(),
        Err(other) => vec![other.to_string()],
        Ok(_) => Vec::new(),
    }
}

fn with_part(part: &Value) -> Value {
    json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [part]}})
}

#[test]
fn all_that_is_missing_is_named_at_once() {
    assert_eq!(
        faults::<SendMessageRequest>(&json!({"message": {"messageId": "", "parts": []}})),
        [
            "message.messageId: is required and must not be empty",
            "message.role: is required",
            "message.parts: must have at least one element"
        ]
    );
    assert_eq!(faults::<SendMessageRequest>(&json!({})), ["message: is required"]);
    assert_eq!(
        faults::<SendMessageRequest>(
            &json!({"message": {"messageId": "m", "role": "ROLE_UNSPECIFIED", "parts": null}})
        ),
        [
            "message.role: must be ROLE_USER or ROLE_AGENT",
            "message.parts: is required and must have at least one element"
        ]
    );
}

#[test]
fn a_part_has_exactly_one_kind() {
    assert_eq!(
        faults::<SendMessageRequest>(&with_part(&json!({"filename": "x"}))),
        ["message.parts[0]: must have exactly one of text, raw, url, data"]
    );
    assert_eq!(
        faults::<SendMessageRequest>(&with_part(&json!({"text": "x", "data": {}}))),
        ["message.parts[0]: must have exactly one of text, raw, url, data, has text and data"]
    );
    assert_eq!(
        faults::<SendMessageRequest>(&with_part(&json!({"raw": "?"}))),
        ["message.parts[0].raw: is not valid base64"]
    );
}

#[test]
fn a_wrong_kind_of_value_is_named_with_what_was_found() {
    assert_eq!(
        faults::<SendMessageRequest>(&json!({
            "message": {"messageId": 7, "role": true, "parts": [{"text": "x"}, "y"], "metadata": []},
            "configuration": {"historyLength": "many", "returnImmediately": "yes"}
        })),
        [
            "message.messageId: expected a string, found the number 7",
            "message.role: expected one of ROLE_UNSPECIFIED, ROLE_USER, ROLE_AGENT, found true",
            "message.parts[1]: expected an object, found the string \"y\"",
            "message.metadata: expected an object, found an array",
            "configuration.historyLength: expected a whole number of 32 bits, found the string \"many\"",
            "configuration.returnImmediately: expected true or false, found the string \"yes\""
        ]
    );
    assert_eq!(faults::<SendMessageRequest>(&json!([])), ["expected an object, found an array"]);
}

#[test]
fn a_member_given_in_both_spellings_is_refused() {
    let value = json!({"message": {
        "messageId": "m", "message_id": "n", "role": "ROLE_USER", "parts": [{"text": "x"}]
    }});
    assert!(faults::<SendMessageRequest>(&value).contains(&"message.messageId: is given twice".to_owned()));
}

#[test]
fn map_keys_are_part_of_the_path() {
    let card = json!({
        "name": "n", "version": "1", "capabilities": {},
        "supportedInterfaces": [{"url": "u", "protocolBinding": "JSONRPC"}],
        "securitySchemes": {"my key": {"apiKeySecurityScheme": {"name": "k"}}, "odd": {}}
    });
    assert_eq!(
        faults::<AgentCard>(&card),
        [
            "supportedInterfaces[0].protocolVersion: is required",
            "securitySchemes[\"my key\"].apiKeySecurityScheme.location: is required",
            "securitySchemes[\"odd\"]: must have exactly one of apiKeySecurityScheme, httpAuthSecurityScheme, \
             oauth2SecurityScheme, openIdConnectSecurityScheme, mtlsSecurityScheme"
        ]
    );
}

#[test]
fn an_event_without_a_kind_is_refused() {
    assert_eq!(
        faults::<StreamResponse>(&json!({"news": {}})),
        ["must have exactly one of task, message, statusUpdate, artifactUpdate"]
    );
}

#[test]
fn what_nests_too_deep_is_refused() {
    let nested = |depth: usize| {
        let data = "[".repeat(depth) + &"]".repeat(depth);
        format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"data":{data}}}]}}}}"#)
    };
    let around_the_data = 4;
    assert!(SendMessageRequest::from_json(nested(MAX_DEPTH - around_the_data).as_bytes()).is_ok());
    assert_eq!(
        SendMessageRequest::from_json(nested(MAX_DEPTH - around_the_data + 1).as_bytes()),
        Err(InvalidMessage::TooDeep)
    );
    assert_eq!(SendMessageRequest::from_json(nested(1_000_000).as_bytes()), Err(InvalidMessage::TooDeep));
}

#[test]
fn what_is_no_json_is_a_parse_error() {
    for bytes in [&b""[..], b"{", b"{} {}", b"\xff", b"nul"] {
        let error = A2aError::from(SendMessageRequest::from_json(bytes).unwrap_err());
        assert_eq!(error.code(), -32700);
    }
}

#[test]
fn a_flood_of_faults_is_cut() {
    let parts: Vec<Value> = (0..10_000).map(|_| json!({})).collect();
    let value = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": parts}});
    assert_eq!(faults::<SendMessageRequest>(&value).len(), 32);
}

#[test]
fn the_faults_become_the_details_of_invalid_params() {
    let invalid = SendMessageRequest::from_json(b"{}").unwrap_err();
    let error = A2aError::from(invalid);
    assert_eq!(error.code(), -32602);
    assert_eq!(
        serde_json::to_value(error.details()).unwrap(),
        json!([
            {
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "INVALID_PARAMS",
                "domain": "a2a-protocol.org"
            },
            {
                "@type": "type.googleapis.com/google.rpc.BadRequest",
                "fieldViolations": [{"field": "message", "description": "is required"}]
            }
        ])
    );
}
