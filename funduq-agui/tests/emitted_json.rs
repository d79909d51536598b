//! What typed values are written as: `type` first, only what is set, never a null.

use funduq_agui::event::*;
use funduq_agui::message::*;
use funduq_agui::*;
use serde::Serialize;
use serde_json::json;

#[track_caller]
fn written(value: &impl Serialize, expected: &str) {
    let json = serde_json::to_string(value).expect("wire types have a JSON form");
    assert_eq!(json, expected);
}

#[test]
fn events_are_written_with_their_type_first() {
    written(
        &RunStarted::current("t", "r").timestamp(1_i64),
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","protocolVersion":"1.0","timestamp":1}"#,
    );
    written(
        &TextMessageStart::new("m").role(TextMessageRole::Assistant),
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#,
    );
    written(
        &TextMessageContent::new("m", "héllo\n"),
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"héllo\n"}"#,
    );
    written(
        &ReasoningMessageStart::new("m").subagent_run_id("s"),
        r#"{"type":"REASONING_MESSAGE_START","role":"reasoning","messageId":"m","subagentRunId":"s"}"#,
    );
    written(
        &ToolCallResult::new("m", "c", "done").role(Role::Tool),
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":"done","role":"tool"}"#,
    );
    written(
        &RunFinished::interrupted("t", "r", Interrupt::new("i", "approval").message("May I?"), []),
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[{"id":"i","reason":"approval","message":"May I?"}]}}"#,
    );
    written(
        &RunError::new("it broke").usage(vec![TokenUsage::new().input_tokens(3_u64)]),
        r#"{"type":"RUN_ERROR","message":"it broke","usage":[{"inputTokens":3}]}"#,
    );
    written(&StateSnapshot::new(json!(null)), r#"{"type":"STATE_SNAPSHOT","snapshot":null}"#);
    written(&Event::from(StepStarted::new("s")), r#"{"type":"STEP_STARTED","stepName":"s"}"#);
}

#[test]
fn an_optional_member_is_never_written_as_null() {
    written(
        &RunFinished::new("t", "r").result(json!(null)).raw_event(json!(null)),
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#,
    );
    let part = TextPart::new("x").metadata(json!(null));
    written(&part, r#"{"type":"text","text":"x"}"#);
    written(
        &ResumeEntry::new("i", ResumeStatus::Resolved).payload(json!(null)),
        r#"{"interruptId":"i","status":"resolved"}"#,
    );
}

#[test]
fn messages_are_written_with_their_role_first() {
    written(&UserMessage::new("m", "hi"), r#"{"role":"user","id":"m","content":"hi"}"#);
    let image = ImagePart::new(UrlSource::new("https://example.org/cat.png").mime_type("image/png"));
    let parts: Vec<ContentPart> = vec![TextPart::new("look").into(), image.into()];
    written(
        &UserMessage::new("m", parts),
        r#"{"role":"user","id":"m","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"url","value":"https://example.org/cat.png","mimeType":"image/png"}}]}"#,
    );
    let call = ToolCall::new("c", FunctionCall::new("search", "{}"));
    written(
        &Message::from(AssistantMessage::new("m").tool_calls(vec![call])),
        r#"{"role":"assistant","id":"m","toolCalls":[{"type":"function","id":"c","function":{"name":"search","arguments":"{}"}}]}"#,
    );
}

#[test]
fn an_extra_member_cannot_stand_in_for_a_declared_one() {
    let mut step = StepStarted::new("s");
    step.extra.insert("stepName", Json::from(json!("another")).into());
    step.extra.insert("type", Json::from(json!("RUN_ERROR")).into());
    step.extra.insert("x", Json::from(json!(1)).into());
    written(&step, r#"{"type":"STEP_STARTED","stepName":"s","x":1}"#);
}

#[test]
fn unknown_members_and_strings_survive() {
    let outcome = r#"{"type":"paused","until":1e400}"#;
    let decoded: RunFinishedOutcome = serde_json::from_str(outcome).unwrap();
    assert!(matches!(decoded, RunFinishedOutcome::Unknown(_)));
    written(&decoded, outcome);
    let message = r#"{"role":"user","id":"m","content":[{"type":"hologram","of":["x"]}],"mood":"good"}"#;
    written(&serde_json::from_str::<Message>(message).unwrap(), message);
    let role: Role = serde_json::from_str(r#""narrator""#).unwrap();
    assert_eq!(role, Role::Unknown("narrator".into()));
    written(&role, r#""narrator""#);
}

#[test]
fn a_typed_value_does_not_take_what_the_protocol_refuses() {
    let refused = |event: &str| serde_json::from_str::<Event>(event).unwrap_err().to_string();
    assert!(refused(r#"{"stepName":"s"}"#).contains("missing field `type`"));
    assert!(refused(r#"{"type":"STEP_STARTED"}"#).contains("missing field `stepName`"));
    assert!(refused(r#"{"type":"STEP_STARTED","stepName":"s","stepName":"s"}"#).contains("duplicate field"));
    assert!(refused(r#"{"type":"STEP_STARTED","stepName":"s","timestamp":1.5}"#).contains("integer"));
    let call = serde_json::from_str::<ToolCall>(r#"{"id":"c","function":{"name":"n","arguments":""}}"#);
    assert!(call.unwrap_err().to_string().contains("missing field `type`"));
}
