//! What a message becomes, and what is refused.

use funduq_a2a::WireMessage;
use serde_json::{Value, json};

use super::*;

fn taken(request: Value) -> Result<Intake, A2aError> {
    read(SendMessageRequest::from_json(request.to_string().as_bytes()).unwrap())
}

fn with_parts(parts: Value) -> Value {
    json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": parts}})
}

fn agui(request: Value) -> Value {
    serde_json::from_str(taken(request).unwrap().message.json()).unwrap()
}

#[test]
fn one_text_is_plain_content_and_several_are_parts() {
    let one = agui(with_parts(json!([{"text": "a"}])));
    assert_eq!(one, json!({"id": "m", "role": "user", "content": "a"}));
    let two = agui(with_parts(json!([{"text": "a"}, {"text": "b", "metadata": {"k": 1}}])));
    let parts = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b", "metadata": {"k": 1}}]);
    assert_eq!(two["content"], parts);
    let annotated = agui(with_parts(json!([{"text": "a", "metadata": {"k": 1}}])));
    assert_eq!(annotated["content"], json!([{"type": "text", "text": "a", "metadata": {"k": 1}}]));
}

#[test]
fn only_parts_of_plain_text_are_taken() {
    for media in ["text/plain", "text/plain; charset=utf-8", "TEXT/PLAIN"] {
        taken(with_parts(json!([{"text": "a", "mediaType": media}]))).unwrap();
    }
    for part in [
        json!({"text": "a", "mediaType": "text/markdown"}),
        json!({"raw": "YQ==", "mediaType": "text/plain"}),
        json!({"url": "https://example.org/a.txt"}),
        json!({"data": {"a": 1}}),
    ] {
        let error = taken(with_parts(json!([{"text": "a"}, part]))).unwrap_err();
        assert_eq!(error.code(), -32005, "{error}");
        assert!(error.to_string().starts_with("message.parts[1]"), "{error}");
    }
}

#[test]
fn a_caller_speaks_as_the_user() {
    let mut request = with_parts(json!([{"text": "a"}]));
    request["message"]["role"] = json!("ROLE_AGENT");
    assert_eq!(taken(request).unwrap_err().code(), -32602);
}

#[test]
fn the_configuration_is_kept_to_or_refused() {
    let with = |configuration: Value| {
        let mut request = with_parts(json!([{"text": "a"}]));
        request["configuration"] = configuration;
        taken(request)
    };
    let plain = with(json!({})).unwrap();
    assert_eq!((plain.history_length, plain.return_immediately), (None, false));
    let said = with(json!({"historyLength": 0, "returnImmediately": true})).unwrap();
    assert_eq!((said.history_length, said.return_immediately), (Some(0), true));
    assert_eq!(with(json!({"historyLength": -1})).unwrap_err().code(), -32602);
    let push = json!({"taskPushNotificationConfig": {"url": "https://example.org"}});
    assert_eq!(with(push).unwrap_err().code(), -32003);
    for modes in [json!(["text/plain"]), json!(["image/png", "text/*"]), json!(["*/*"]), json!([])] {
        with(json!({"acceptedOutputModes": modes})).unwrap();
    }
    assert_eq!(with(json!({"acceptedOutputModes": ["image/png"]})).unwrap_err().code(), -32005);
}

#[test]
fn empty_ids_are_none() {
    let mut request = with_parts(json!([{"text": "a"}]));
    request["message"]["contextId"] = json!("");
    request["message"]["taskId"] = json!("");
    let intake = taken(request).unwrap();
    assert_eq!((intake.context, intake.task), (None, None));
}

#[test]
fn the_one_reserved_key_is_taken_out_of_a_messages_metadata_and_no_other() {
    let planted = json!({"funduq": {"failureReason": "planted"}, "own": {"funduq": 1}});
    let mut message = with_parts(json!([{"text": "a"}]));
    message["message"]["metadata"] = planted;
    assert_eq!(agui(message)["metadata"], json!({"own": {"funduq": 1}}));
}

/// The run input that a request becomes.
fn run_input(request: &str) -> Result<RelayedInput, A2aError> {
    let Intake { message, bag, .. } = read(SendMessageRequest::from_json(request.as_bytes()).unwrap())?;
    input(message, bag, None)
}

#[test]
fn a_message_that_does_not_fit_as_a_run_input_is_refused() {
    let part = r#"{"text":""},"#;
    let many = |parts: usize| {
        let parts = part.repeat(parts);
        format!(
            r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{}]}}}}"#,
            parts.trim_end_matches(',')
        )
    };
    assert!(run_input(&many(1000)).is_ok());
    let large = many(funduq_agui::MAX_INPUT_BYTES / part.len() - 8);
    assert!(large.len() < funduq_agui::MAX_INPUT_BYTES);
    let refused = run_input(&large).unwrap_err();
    assert_eq!(refused.code(), -32602);
    assert!(refused.to_string().contains("larger than"), "{refused}");

    let deep = |levels: usize| {
        let value = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        let metadata = format!(r#"{{"k":{value}}}"#);
        format!(
            r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"a"}}],"metadata":{metadata}}}}}"#
        )
    };
    // As deep as A2A takes it, it fits, though as a run input it lies one level deeper.
    let is_taken = |levels: &usize| SendMessageRequest::from_json(deep(*levels).as_bytes()).is_ok();
    let deepest = (0..200).rev().find(is_taken).unwrap();
    assert!(deepest > 90, "{deepest}");
    assert!(run_input(&deep(deepest)).is_ok());
}
