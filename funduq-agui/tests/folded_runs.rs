//! What a run's events add up to: its messages, as a stock client would show them, and its asks.

use funduq_agui::{RelayedEvent, RelayedMessage, RunFold};
use serde_json::{Value, json};

fn fold(events: &[Value]) -> RunFold {
    fold_over(RunFold::new(), events)
}

fn fold_over(mut fold: RunFold, events: &[Value]) -> RunFold {
    for event in events {
        fold.push(&RelayedEvent::parse(event.to_string()).expect("the test's event is valid"));
    }
    fold
}

#[track_caller]
fn assert_messages(fold: &RunFold, expected: Value) {
    let json = |message: &RelayedMessage| serde_json::from_str(message.json()).expect("a message is JSON");
    let messages: Vec<Value> = fold.messages().iter().map(json).collect();
    assert_eq!(Value::from(messages), expected);
}

fn finished(outcome: Value) -> Value {
    json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": outcome })
}

#[test]
fn text_is_joined_and_metadata_merged_key_by_key() {
    let fold = fold(&[
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "m", "name": "Ada", "metadata": { "a": 1, "b": [1] } }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "cafe", "metadata": { "b": null } }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "\u{301} \"", "subagentRunId": "s" }),
        json!({ "type": "TEXT_MESSAGE_END", "messageId": "m", "metadata": { "c": 3 } }),
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "m" }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "!" }),
    ]);
    assert_messages(
        &fold,
        json!([{
            "id": "m", "role": "assistant", "name": "Ada", "content": "cafe\u{301} \"!",
            "metadata": { "a": 1, "b": null, "c": 3 },
        }]),
    );
}

#[test]
fn a_surrogate_pair_cut_in_two_is_whole_again() {
    let mut fold = RunFold::new();
    for event in [
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a\ud83d"}"#,
        r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ude00b"}"#,
    ] {
        fold.push(&RelayedEvent::parse(event).unwrap());
    }
    assert_eq!(fold.messages()[0].text().as_deref(), Some("a😀b"));
}

#[test]
fn chunks_open_and_continue_what_their_lane_streams() {
    let fold = fold(&[
        json!({ "type": "TEXT_MESSAGE_CHUNK", "messageId": "m1", "role": "user", "delta": "one " }),
        json!({ "type": "RAW", "event": 1 }),
        json!({ "type": "TEXT_MESSAGE_CHUNK", "messageId": "m2", "delta": "sub ", "subagentRunId": "s" }),
        json!({ "type": "TEXT_MESSAGE_CHUNK", "delta": "two" }),
        json!({ "type": "TEXT_MESSAGE_CHUNK", "delta": "agent", "subagentRunId": "s" }),
        json!({ "type": "CUSTOM", "name": "n", "value": 1 }),
        json!({ "type": "TEXT_MESSAGE_CHUNK", "delta": " still", }),
        json!({ "type": "SUBAGENT_FINISHED", "subagentRunId": "s" }),
        json!({ "type": "TEXT_MESSAGE_CHUNK", "delta": "lost" }),
        json!({ "type": "REASONING_MESSAGE_CHUNK", "messageId": "m3", "delta": "hm" }),
        json!({ "type": "TOOL_CALL_CHUNK", "toolCallId": "c", "delta": "nameless" }),
        json!({ "type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "find", "delta": "{" }),
        json!({ "type": "TOOL_CALL_CHUNK", "delta": "}" }),
    ]);
    assert_messages(
        &fold,
        json!([
            { "id": "m1", "role": "user", "content": "one two" },
            { "id": "m2", "role": "assistant", "content": "sub agent still", "subagentRunId": "s" },
            { "id": "m3", "role": "reasoning", "content": "hm" },
            { "id": "c", "role": "assistant", "toolCalls": [
                { "id": "c", "type": "function", "function": { "name": "find", "arguments": "{}" } },
            ] },
        ]),
    );
}

#[test]
fn tool_calls_stand_on_their_parent_and_results_follow_it() {
    let fold = fold(&[
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "m" }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "Let me look." }),
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "find", "parentMessageId": "m", "metadata": { "n": 1 } }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"q\":" }),
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c2", "toolCallName": "find", "parentMessageId": "m" }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "1}" }),
        json!({ "type": "TOOL_CALL_END", "toolCallId": "c1", "metadata": { "n": 2 } }),
        json!({ "type": "TEXT_MESSAGE_CHUNK", "messageId": "after", "delta": "Found." }),
        json!({ "type": "TOOL_CALL_RESULT", "messageId": "r2", "toolCallId": "c2", "content": [{ "type": "text", "text": "x" }] }),
        json!({ "type": "TOOL_CALL_RESULT", "messageId": "r1", "toolCallId": "c1", "content": "", "metadata": { "ms": 3 } }),
        json!({ "type": "TOOL_CALL_RESULT", "messageId": "r0", "toolCallId": "earlier", "content": "y" }),
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c3", "toolCallName": "f", "parentMessageId": "r0" }),
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c4", "toolCallName": "f", "parentMessageId": "unseen" }),
    ]);
    let call = |id: &str, name: &str, arguments: &str| json!({ "id": id, "type": "function", "function": { "name": name, "arguments": arguments } });
    let mut c1 = call("c1", "find", "{\"q\":1}");
    c1["metadata"] = json!({ "n": 2 });
    assert_messages(
        &fold,
        json!([
            { "id": "m", "role": "assistant", "content": "Let me look.", "toolCalls": [c1, call("c2", "find", "")] },
            { "id": "r2", "role": "tool", "toolCallId": "c2", "content": [{ "type": "text", "text": "x" }] },
            { "id": "r1", "role": "tool", "toolCallId": "c1", "content": "", "metadata": { "ms": 3 } },
            { "id": "after", "role": "assistant", "content": "Found." },
            { "id": "r0", "role": "tool", "toolCallId": "earlier", "content": "y" },
            { "id": "c3", "role": "assistant", "toolCalls": [call("c3", "f", "")] },
            { "id": "unseen", "role": "assistant", "toolCalls": [call("c4", "f", "")] },
        ]),
    );
}

#[test]
fn a_call_that_begins_twice_is_one_call() {
    let start = |name: &str| json!({ "type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": name });
    let fold = fold(&[
        start("find"),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}" }),
        start("search"),
        finished(json!({ "type": "success" })),
    ]);
    assert_messages(
        &fold,
        json!([{ "id": "c", "role": "assistant", "toolCalls": [
            { "id": "c", "type": "function", "function": { "name": "search", "arguments": "{}" } },
        ] }]),
    );
    assert_eq!(fold.asks().ids(), ["c"]);
}

#[test]
fn reasoning_and_encrypted_values_stay_with_what_they_belong_to() {
    let fold = fold(&[
        json!({ "type": "REASONING_START", "messageId": "span" }),
        json!({ "type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning" }),
        json!({ "type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": "weighing" }),
        json!({ "type": "REASONING_MESSAGE_END", "messageId": "m" }),
        json!({ "type": "REASONING_END", "messageId": "span" }),
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f" }),
        json!({ "type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m", "encryptedValue": "b3Bh" }),
        json!({ "type": "REASONING_ENCRYPTED_VALUE", "subtype": "tool-call", "entityId": "c", "encryptedValue": "cXVl" }),
        json!({ "type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "unseen", "encryptedValue": "x" }),
    ]);
    assert_messages(
        &fold,
        json!([
            { "id": "m", "role": "reasoning", "content": "weighing", "encryptedValue": "b3Bh" },
            { "id": "c", "role": "assistant", "toolCalls": [{
                "id": "c", "type": "function", "function": { "name": "f", "arguments": "" }, "encryptedValue": "cXVl",
            }] },
        ]),
    );
}

#[test]
fn an_activity_is_patched_and_stays_what_it_was_when_that_fails() {
    let delta = |patch: Value| json!({ "type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "search", "patch": patch });
    let fold = fold(&[
        json!({ "type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "search", "content": { "found": 0 } }),
        delta(json!([{ "op": "replace", "path": "/found", "value": 3 }, { "op": "frobnicate" }])),
        delta(json!([{ "op": "add", "path": "/gone", "value": 1 }, { "op": "remove", "path": "/nowhere" }])),
        delta(json!([{ "op": "replace", "path": "", "value": "no object" }])),
        json!({ "type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "other", "content": {}, "replace": false, "metadata": { "k": 1 } }),
        json!({ "type": "TEXT_MESSAGE_START", "messageId": "a" }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": "not here" }),
        json!({ "type": "ACTIVITY_DELTA", "messageId": "unseen", "activityType": "x", "patch": [] }),
    ]);
    assert_messages(
        &fold,
        json!([{ "id": "a", "role": "activity", "activityType": "search", "content": { "found": 3 }, "metadata": { "k": 1 } }]),
    );
}

#[test]
fn a_snapshot_replaces_by_id_and_drops_what_it_lacks() {
    let say = |id: &str| json!({ "type": "TEXT_MESSAGE_CHUNK", "messageId": id, "delta": id });
    let fold = fold(&[
        say("kept"),
        say("dropped"),
        json!({ "type": "REASONING_MESSAGE_CHUNK", "messageId": "thought", "delta": "hm" }),
        json!({ "type": "ACTIVITY_SNAPSHOT", "messageId": "activity", "activityType": "x", "content": {} }),
        json!({ "type": "MESSAGES_SNAPSHOT", "messages": [
            { "id": "new", "role": "user", "content": "hi", "future": 1 },
            { "id": "kept", "role": "assistant", "content": "corrected", "toolCalls": [
                { "id": "c", "type": "function", "function": { "name": "f", "arguments": "{" }, "future": 2 },
            ] },
        ] }),
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "kept", "delta": "!" }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "}" }),
    ]);
    assert!(fold.snapshot_taken());
    assert_messages(
        &fold,
        json!([
            { "id": "kept", "role": "assistant", "content": "corrected!", "toolCalls": [
                { "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" }, "future": 2 },
            ] },
            { "id": "thought", "role": "reasoning", "content": "hm" },
            { "id": "activity", "role": "activity", "activityType": "x", "content": {} },
            { "id": "new", "role": "user", "content": "hi", "future": 1 },
        ]),
    );
    let fold = fold_over(
        fold,
        &[json!({ "type": "MESSAGES_SNAPSHOT", "messages": [
        { "id": "r", "role": "reasoning", "content": "the only" },
        { "id": "b", "role": "activity", "activityType": "x", "content": {} },
    ] })],
    );
    let ids: Vec<_> = fold.messages().iter().map(|message| message.id().unwrap().to_owned()).collect();
    assert_eq!(ids, ["r", "b"]);
}

#[test]
fn an_earlier_message_that_goes_on_is_whole() {
    let history = [
        RelayedMessage::parse(r#"{"id":"u","role":"user","content":"hi"}"#).unwrap(),
        RelayedMessage::parse(r#"{"id":"a","role":"assistant","content":"Well"}"#).unwrap(),
    ];
    let fold = fold_over(
        RunFold::over(&history),
        &[
            json!({ "type": "TEXT_MESSAGE_START", "messageId": "a" }),
            json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "a", "delta": ", hello." }),
        ],
    );
    assert_messages(&fold, json!([{ "id": "a", "role": "assistant", "content": "Well, hello." }]));
    let unchanged = json!({ "type": "MESSAGES_SNAPSHOT", "messages": [{ "id": "u", "role": "user", "content": "changed" }] });
    assert_messages(
        &fold_over(fold, &[unchanged]),
        json!([{ "id": "u", "role": "user", "content": "changed" }]),
    );
}

#[test]
fn an_interrupted_run_asks_its_interrupts() {
    let events = [
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f" }),
        finished(json!({ "type": "interrupt", "interrupts": [
            { "id": "i1", "reason": "approval", "message": "May I?", "responseSchema": { "type": "boolean" } },
            { "id": "i2", "reason": "input" },
        ] })),
    ];
    assert!(fold(&events[..1]).asks().is_empty(), "a run that goes on asks nothing");
    let asks = fold(&events).asks();
    assert_eq!(asks.ids(), ["i1", "i2"]);
    assert_eq!(asks.interrupts[0].message.as_deref(), Some("May I?"));
    assert!(asks.interrupts[0].raw.get().contains("responseSchema"));
    assert!(asks.tool_calls.is_empty(), "the interrupts are what it asks");
}

#[test]
fn a_run_that_ends_with_open_tool_calls_asks_for_their_results() {
    let events = [
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "confirm" }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "c1", "delta": "{\"a\":\"é\"}" }),
        json!({ "type": "TOOL_CALL_CHUNK", "toolCallId": "c2", "toolCallName": "done" }),
        json!({ "type": "TOOL_CALL_RESULT", "messageId": "m", "toolCallId": "c2", "content": "" }),
    ];
    let ending = |end: Value| fold(&[&events[..], &[end]].concat()).asks();
    for outcome in [json!({ "type": "success" }), json!({ "type": "paused" })] {
        let asks = ending(finished(outcome));
        assert_eq!(asks.tool_calls.len(), 1);
        let call = &asks.tool_calls[0];
        assert_eq!(
            (call.id.as_str(), call.name.as_str(), call.arguments.as_str()),
            ("c1", "confirm", "{\"a\":\"é\"}")
        );
    }
    let named = ending(finished(json!({ "type": "success", "pendingToolCallIds": ["c2", "c9"] })));
    assert_eq!(named.ids(), ["c2", "c9"], "an agent that names them is believed");
    assert!(ending(finished(json!({ "type": "cancelled" }))).is_empty());
    assert!(ending(json!({ "type": "RUN_ERROR", "message": "m" })).is_empty());
}

#[test]
fn a_tool_message_in_a_snapshot_answers_its_call() {
    let fold = fold(&[
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c1", "toolCallName": "f" }),
        json!({ "type": "TOOL_CALL_START", "toolCallId": "c2", "toolCallName": "f" }),
        json!({ "type": "MESSAGES_SNAPSHOT", "messages": [
            { "id": "m", "role": "tool", "toolCallId": "c1", "content": "" },
        ] }),
        finished(json!({ "type": "success" })),
    ]);
    assert_eq!(fold.asks().ids(), ["c2"], "a dropped message does not close its call");
    assert_eq!(fold.asks().tool_calls[0].name, "f");
}

#[test]
fn nothing_counts_after_the_terminal_event() {
    let fold = fold(&[
        json!({ "type": "RUN_ERROR", "message": "m" }),
        json!({ "type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "late" }),
        json!({ "type": "RUN_FINISHED", "threadId": "t", "runId": "r",
            "outcome": { "type": "interrupt", "interrupts": [{ "id": "i", "reason": "r" }] } }),
    ]);
    assert!(fold.messages().is_empty());
    assert!(fold.asks().is_empty());
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let fold = fold(&[
        json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "never began" }),
        json!({ "type": "TEXT_MESSAGE_END", "messageId": "m" }),
        json!({ "type": "TEXT_MESSAGE_CHUNK", "delta": "whose?" }),
        json!({ "type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "never began" }),
        json!({ "type": "FUTURE_EVENT", "messageId": "m", "delta": "x" }),
        json!({ "type": "STATE_SNAPSHOT", "snapshot": {} }),
    ]);
    assert!(fold.messages().is_empty());
    assert!(!fold.snapshot_taken());
}
