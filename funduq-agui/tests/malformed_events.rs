//! What is refused as an event, and what is carried: the tolerant reading of AG-UI 1.0.

use funduq_agui::{EventType, MAX_DEPTH, MAX_EVENT_BYTES, Problem, RelayedEvent};

/// Refused, with this place and this said about it.
#[track_caller]
fn refused(event: &str, said: &str) {
    let malformed = RelayedEvent::parse(event).expect_err("it should be refused");
    assert_eq!(malformed.to_string(), format!("malformed event: {said}"), "{event}");
}

/// Carried, byte for byte.
#[track_caller]
fn carried(event: &str) -> RelayedEvent {
    let relayed = RelayedEvent::parse(event).unwrap_or_else(|malformed| panic!("{malformed}: {event}"));
    assert_eq!(relayed.json(), event);
    relayed
}

#[test]
fn an_event_is_one_json_object_with_a_string_type() {
    refused("", "it is not JSON: it ends inside a value at byte 0");
    refused(r#"{"type":"RAW","event":1"#, "it is not JSON: it ends inside a value at byte 23");
    refused(r#"{"type":"RAW","event":1}}"#, "it is not JSON: an unexpected character at byte 24");
    refused(r#"{"type":"RAW","event":1} {}"#, "it is not JSON: an unexpected character at byte 25");
    refused(r#"{"type":"RAW","event":01}"#, "it is not JSON: an unexpected character at byte 23");
    refused(r#"{"type":"RAW","event":[1,]}"#, "it is not JSON: an unexpected character at byte 25");
    refused(r#"{"type":"RAW","event":NaN}"#, "it is not JSON: an unexpected character at byte 22");
    refused(
        "{\"type\":\"X\",\"a\":\"\u{1}\"}",
        "it is not JSON: a control character that is not escaped at byte 17",
    );
    refused(r#"{"type":"X","a":"\x"}"#, "it is not JSON: a backslash that starts no escape at byte 17");
    refused("[]", "it must be an object, but is an array");
    refused("null", "it must be an object, but is null");
    refused("{}", "`type` is required");
    refused(r#"{"event":{"type":"RAW"}}"#, "`type` is required");
    refused(r#"{"type":null}"#, "`type` must be a string, but is null");
    refused(r#"{"type":["RAW"],"event":1}"#, "`type` must be a string, but is an array");
}

#[test]
fn a_declared_member_must_be_what_the_protocol_says() {
    refused(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m"}"#, "`delta` is required");
    refused(
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":5}"#,
        "`delta` must be a string, but is a number",
    );
    refused(
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"narrator"}"#,
        r#"`role` must be one of "developer", "system", "assistant", "user""#,
    );
    refused(
        r#"{"type":"REASONING_MESSAGE_START","messageId":"m","role":"assistant"}"#,
        r#"`role` must be "reasoning""#,
    );
    refused(r#"{"type":"RUN_ERROR","message":"x","code":null}"#, "`code` must be a string, but is null");
    refused(
        r#"{"type":"STEP_STARTED","stepName":"s","rawEvent":null}"#,
        "`rawEvent` must be any value but null, but is null",
    );
    refused(
        r#"{"type":"STEP_STARTED","stepName":"s","metadata":[]}"#,
        "`metadata` must be an object, but is an array",
    );
    refused(
        r#"{"type":"STEP_STARTED","stepName":"s","timestamp":1.5}"#,
        "`timestamp` must be an integer from -9007199254740991 to 9007199254740991",
    );
    refused(
        r#"{"type":"ACTIVITY_SNAPSHOT","messageId":"m","activityType":"t","content":{},"replace":"no"}"#,
        "`replace` must be a boolean, but is a string",
    );
}

#[test]
fn the_place_of_a_flaw_is_told_from_the_outside_in() {
    refused(
        r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"id":"a","role":"user","content":"x"},{"id":"b","role":"user","content":[{"type":"text"}]}]}"#,
        "`messages[1].content[0].text` is required",
    );
    refused(
        r#"{"type":"STATE_DELTA","delta":[{"op":"add","path":"/a","value":null},{"op":"remove","path":"a"}]}"#,
        r#"`delta[1].path` must be a JSON Pointer, such as "/a/0""#,
    );
    refused(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"interrupt","interrupts":[]}}"#,
        "`outcome.interrupts` must have 1 or more items",
    );
    refused(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":[]}"#,
        "`outcome` must be an object, but is an array",
    );
    refused(
        r#"{"type":"RUN_STARTED","threadId":"t","runId":"r","input":{"threadId":"t","runId":"r","messages":[],"tools":[{"name":"n","description":null}]}}"#,
        "`input.tools[0].description` must be a string, but is null",
    );
    refused(
        r#"{"messages":[{"content":[{"text":1,"type":"text"}],"id":"b","role":"user"}],"type":"MESSAGES_SNAPSHOT"}"#,
        "`messages[0].content[0].text` must be a string, but is a number",
    );
}

#[test]
fn newer_material_is_carried() {
    let unknown = carried(r#"{"type":"THINKING_START","title":null,"at":1e400}"#);
    assert_eq!((unknown.event_type(), unknown.type_name()), (EventType::Unknown, "THINKING_START"));
    carried(r#"{"type":"STEP_STARTED","stepName":"s","futureMember":null}"#);
    carried(r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"paused","until":null}}"#);
    carried(r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"reason":"no type"}}"#);
    carried(r#"{"type":"STATE_DELTA","delta":[{"op":"frobnicate"},{"op":"remove","path":"/a","note":1}]}"#);
    carried(
        r#"{"type":"TOOL_CALL_RESULT","messageId":"m","toolCallId":"c","content":[{"type":"hologram","source":1}]}"#,
    );
    carried(r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"narrator","content":5},{"id":"x"}]}"#);
}

#[test]
fn a_member_that_comes_twice_could_be_read_as_two_events() {
    refused(r#"{"type":"RAW","event":1,"type":"CUSTOM"}"#, "`type` is there more than once");
    refused(r#"{"type":"FUTURE","type":"RUN_ERROR"}"#, "`type` is there more than once");
    refused(r#"{"type":"FUTURE","\u0074ype":"RUN_ERROR"}"#, "`type` is there more than once");
    refused(
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a","delta":"b"}"#,
        "`delta` is there more than once",
    );
    refused(
        r#"{"delta":"a","delta":"b","messageId":"m","type":"TEXT_MESSAGE_CONTENT"}"#,
        "`delta` is there more than once",
    );
    refused(
        r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r","outcome":{"type":"x","type":"cancelled"}}"#,
        "`outcome.type` is there more than once",
    );
    // Under keys that are data, it is the parties' own matter.
    carried(r#"{"type":"RAW","event":{"a":1,"a":2},"x":1,"x":2}"#);
}

#[test]
fn a_name_may_be_written_with_escapes() {
    let event = carried(r#"{"\u0074ype":"TEXT_MESSAGE_\u0043ONTENT","message\u0049d":"m","delta":""}"#);
    assert_eq!(
        (event.event_type(), event.type_name()),
        (EventType::TextMessageContent, "TEXT_MESSAGE_CONTENT")
    );
    let event = carried(r#"{"type":"NEW_\u0041\/\ud83d\ude00"}"#);
    assert_eq!((event.event_type(), event.type_name()), (EventType::Unknown, "NEW_A/😀"));
}

#[test]
fn half_a_surrogate_pair_is_carried() {
    carried(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ud83d","\ude00":1}"#);
    let event = carried(r#"{"type":"NEW_\ud83d"}"#);
    assert_eq!(event.type_name(), "NEW_\u{fffd}");
}

#[test]
fn numbers_of_any_size_are_carried_where_any_json_may_stand() {
    carried(r#"{"type":"STATE_SNAPSHOT","snapshot":[1e400,-0.0,123456789012345678901234567890]}"#);
    carried(r#"{"type":"CUSTOM","name":"n","value":1e999,"more":1E-999}"#);
    carried(r#"{"type":"STEP_STARTED","stepName":"s","timestamp":1.767e12}"#);
    carried(r#"{"type":"STEP_STARTED","stepName":"s","timestamp":-9007199254740991.0}"#);
    refused(
        r#"{"type":"STEP_STARTED","stepName":"s","timestamp":1e400}"#,
        "`timestamp` must be an integer from -9007199254740991 to 9007199254740991",
    );
}

#[test]
fn white_space_is_carried_too() {
    carried(" {\r\n\t\"type\" : \"RAW\" ,\n \"event\" : [ ] }\n");
}

#[test]
fn nesting_has_a_limit_wherever_it_stands() {
    let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    for event in [r#"{"type":"RAW","event":@}"#, r#"{"event":@,"type":"RAW"}"#, r#"{"type":"FUTURE","x":@}"#]
    {
        carried(&event.replace('@', &nested(MAX_DEPTH - 1)));
        let malformed = RelayedEvent::parse(event.replace('@', &nested(MAX_DEPTH))).unwrap_err();
        assert_eq!(*malformed.problem(), Problem::TooDeep);
        let malformed = RelayedEvent::parse(event.replace('@', &"[".repeat(1_000_000))).unwrap_err();
        assert_eq!(*malformed.problem(), Problem::TooDeep);
    }
    let parts = r#"{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","id":"m","content":[{"type":"text","text":"","metadata":@}]}]}"#;
    carried(&parts.replace('@', &nested(MAX_DEPTH - 5)));
    let malformed = RelayedEvent::parse(parts.replace('@', &nested(MAX_DEPTH - 4))).unwrap_err();
    assert_eq!(*malformed.problem(), Problem::TooDeep);
}

#[test]
fn size_has_a_limit() {
    let event = |bytes: usize| {
        let frame = r#"{"type":"RAW","event":""}"#.len();
        format!(r#"{{"type":"RAW","event":"{}"}}"#, "x".repeat(bytes - frame))
    };
    assert_eq!(event(100).len(), 100);
    carried(&event(MAX_EVENT_BYTES));
    refused(&event(MAX_EVENT_BYTES + 1), "it is larger than 8388608 bytes");
}
