//! Which road each event takes, and that the sum of the pieces is the artifact.

use serde_json::{Value, json};

use super::*;

fn event(json: &Value) -> RelayedEvent {
    RelayedEvent::parse(json.to_string()).unwrap()
}

fn push(fold: &mut Fold, json: &Value) -> Vec<Update> {
    let mut updates = Vec::new();
    fold.push(&event(json), &mut updates);
    updates
}

/// The updates as text: pieces as `id:text`, `+` before one that is appended, `.` behind the last; events as their type.
fn told(updates: &[Update]) -> Vec<String> {
    let told = updates.iter().map(|update| match update {
        Update::Text(Piece { artifact, text, append, last, .. }) => {
            let (plus, dot) = (if *append { "+" } else { "" }, if *last { "." } else { "" });
            format!("{plus}{artifact}:{text}{dot}")
        }
        Update::Event(event) => event.type_name().to_owned(),
    });
    told.collect()
}

fn tell(fold: &mut Fold, events: &[Value]) -> Vec<String> {
    events.iter().flat_map(|json| told(&push(fold, json))).collect()
}

fn text(kind: &str, id: &str, delta: &str) -> Value {
    match kind {
        "CHUNK" | "CONTENT" => {
            json!({"type": format!("TEXT_MESSAGE_{kind}"), "messageId": id, "delta": delta})
        }
        _ => json!({"type": format!("TEXT_MESSAGE_{kind}"), "messageId": id}),
    }
}

fn finished() -> Value {
    json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"})
}

/// Every known type once, after what has to come before it.
fn samples() -> Vec<(Vec<Value>, Value)> {
    let bare = |event: Value| (Vec::new(), event);
    let begun = || vec![text("START", "m", "")];
    vec![
        (Vec::new(), text("START", "m", "")),
        (begun(), text("CONTENT", "m", "word")),
        (begun(), text("END", "m", "")),
        bare(text("CHUNK", "m", "word")),
        bare(json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "f"})),
        bare(json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"})),
        bare(json!({"type": "TOOL_CALL_END", "toolCallId": "c"})),
        bare(json!({"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f"})),
        bare(json!({"type": "TOOL_CALL_RESULT", "messageId": "r", "toolCallId": "c", "content": "x"})),
        bare(json!({"type": "STATE_SNAPSHOT", "snapshot": {}})),
        bare(json!({"type": "STATE_DELTA", "delta": []})),
        bare(json!({"type": "MESSAGES_SNAPSHOT", "messages": []})),
        bare(json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "p", "content": {}})),
        bare(json!({"type": "ACTIVITY_DELTA", "messageId": "a", "activityType": "p", "patch": []})),
        bare(json!({"type": "RAW", "event": 1})),
        bare(json!({"type": "CUSTOM", "name": "c", "value": 1})),
        bare(json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"})),
        bare(finished()),
        bare(json!({"type": "RUN_ERROR", "message": "no"})),
        bare(json!({"type": "STEP_STARTED", "stepName": "s"})),
        bare(json!({"type": "STEP_FINISHED", "stepName": "s"})),
        bare(json!({"type": "REASONING_START", "messageId": "m"})),
        bare(json!({"type": "REASONING_MESSAGE_START", "messageId": "m", "role": "reasoning"})),
        bare(json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": "m", "delta": "hm"})),
        bare(json!({"type": "REASONING_MESSAGE_END", "messageId": "m"})),
        bare(json!({"type": "REASONING_MESSAGE_CHUNK", "messageId": "m", "delta": "hm"})),
        bare(json!({"type": "REASONING_END", "messageId": "m"})),
        bare(
            json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "m", "encryptedValue": "x"}),
        ),
        bare(json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s", "name": "n"})),
        bare(json!({"type": "SUBAGENT_FINISHED", "subagentRunId": "s"})),
        bare(json!({"type": "SUBAGENT_ERROR", "subagentRunId": "s", "message": "no"})),
        bare(json!({"type": "OF_TOMORROW", "text": "new"})),
    ]
}

#[test]
fn every_event_takes_one_of_two_roads() {
    let samples = samples();
    let walked: Vec<_> = samples.iter().map(|(_, sample)| event(sample).event_type()).collect();
    let expected: Vec<_> = EventType::KNOWN.iter().copied().chain([EventType::Unknown]).collect();
    assert_eq!(walked, expected, "each type of AG-UI once, and one that it does not know");
    for (before, sample) in samples {
        let mut fold = Fold::default();
        tell(&mut fold, &before);
        let updates = push(&mut fold, &sample);
        let name = sample["type"].as_str().unwrap().to_owned();
        let is_text = name.starts_with("TEXT_MESSAGE");
        if name == "TEXT_MESSAGE_START" {
            // It says nothing yet: its artifact begins with the first word, or ends without one.
            assert_eq!(told(&updates), [""; 0]);
            assert_eq!(tell(&mut fold, &[text("CONTENT", "m", "word")]), ["m:word"]);
            continue;
        }
        assert_eq!(updates.len(), 1, "{name}");
        match &updates[0] {
            Update::Text(piece) => assert_eq!((is_text, piece.artifact.as_str()), (true, "m"), "{name}"),
            Update::Event(event) => {
                assert!(!is_text, "{name} is text");
                assert_eq!(event.json(), sample.to_string(), "carried as it is");
                assert_eq!(fold.events().0.back(), Some(event), "{name} is in the whole task too");
            }
        }
    }
}

#[test]
fn the_pieces_of_a_text_message_add_up_to_its_artifact() {
    let mut fold = Fold::default();
    let named = json!({"type": "TEXT_MESSAGE_START", "messageId": "a", "name": "Ada"});
    let updates = push(&mut fold, &named);
    assert!(updates.is_empty());
    let first = push(&mut fold, &text("CONTENT", "a", "one "));
    assert!(matches!(&first[..], [Update::Text(Piece { name: Some(name), .. })] if name == "Ada"));
    let events = [
        text("START", "b", ""),
        text("CONTENT", "b", "x"),
        text("CONTENT", "a", ""),
        text("CONTENT", "a", "two"),
        text("END", "a", ""),
        text("END", "b", ""),
    ];
    assert_eq!(tell(&mut fold, &events), ["b:x", "+a:two", "+a:.", "+b:."]);
    let artifacts = fold.artifacts();
    assert_eq!(artifacts, [artifact("a", Some("Ada".into()), "one two"), artifact("b", None, "x")]);
}

#[test]
fn a_text_message_without_text_is_an_empty_artifact_if_it_ended() {
    let mut fold = Fold::default();
    assert_eq!(tell(&mut fold, &[text("START", "a", ""), text("END", "a", "")]), ["a:."]);
    assert_eq!(fold.artifacts().len(), 1);
    assert_eq!(tell(&mut fold, &[text("START", "b", ""), finished()]), ["RUN_FINISHED"]);
    assert_eq!(fold.artifacts().len(), 1);
}

#[test]
fn the_end_of_the_run_ends_what_was_left_open() {
    let mut fold = Fold::default();
    let events =
        [text("START", "a", ""), text("CONTENT", "a", "half"), json!({"type": "RUN_ERROR", "message": "no"})];
    assert_eq!(tell(&mut fold, &events), ["a:half", "+a:.", "RUN_ERROR"]);
    assert_eq!(fold.error(), Some("no"));
    assert_eq!(
        tell(&mut fold, &[json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"})]),
        ["RUN_STARTED"]
    );
    assert_eq!(fold.error(), None);
}

#[test]
fn a_message_that_is_opened_again_goes_on_with_its_artifact() {
    let mut fold = Fold::default();
    let once = [text("START", "a", ""), text("CONTENT", "a", "1"), text("END", "a", "")];
    assert_eq!(tell(&mut fold, &once), ["a:1", "+a:."]);
    assert_eq!(tell(&mut fold, &once), ["+a:1", "+a:."]);
    assert_eq!(fold.artifacts(), [artifact("a", None, "11")]);
}

#[test]
fn chunks_begin_and_end_messages_by_themselves() {
    let mut fold = Fold::default();
    let unnamed = json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "2"});
    let step = json!({"type": "STEP_STARTED", "stepName": "s"});
    let raw = json!({"type": "RAW", "event": 1});
    let events = [text("CHUNK", "a", "1"), raw, unnamed.clone(), text("CHUNK", "b", "3"), step, unnamed];
    assert_eq!(
        tell(&mut fold, &events),
        ["a:1", "RAW", "+a:2", "+a:.", "b:3", "+b:.", "STEP_STARTED", "TEXT_MESSAGE_CHUNK"]
    );
    assert_eq!(fold.artifacts(), [artifact("a", None, "12"), artifact("b", None, "3")]);
}

#[test]
fn each_agent_of_a_run_streams_its_own_chunks() {
    let mut fold = Fold::default();
    let of = |id: &str, agent: &str| json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": id, "delta": id, "subagentRunId": agent});
    let tool =
        json!({"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "f", "subagentRunId": "s"});
    let events =
        [text("CHUNK", "a", "a"), of("b", "s"), text("CHUNK", "a", "a"), of("a", "s"), tool, finished()];
    assert_eq!(
        tell(&mut fold, &events),
        ["a:a", "b:b", "+a:a", "TEXT_MESSAGE_CHUNK", "+b:.", "TOOL_CALL_CHUNK", "+a:.", "RUN_FINISHED"]
    );
}

#[test]
fn a_fold_that_forgets_makes_the_same_updates() {
    let events =
        [text("CHUNK", "a", "1"), text("CHUNK", "a", "2"), json!({"type": "RAW", "event": 1}), finished()];
    let (mut whole, mut light) = (Fold::default(), Fold::default());
    tell(&mut whole, &events[..1]);
    tell(&mut light, &events[..1]);
    light.forget();
    assert_eq!(tell(&mut light, &events[1..]), tell(&mut whole, &events[1..]));
    assert!(light.events().0.is_empty() && light.drafts[0].text.is_empty());
}

#[test]
fn text_that_fits_no_message_rides_as_it_is() {
    let mut fold = Fold::default();
    assert_eq!(
        tell(&mut fold, &[text("CONTENT", "a", "x"), text("END", "a", "")]),
        ["TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END"]
    );
    let half =
        RelayedEvent::parse(r#"{"type":"TEXT_MESSAGE_CHUNK","messageId":"a","delta":"\ud800"}"#).unwrap();
    let mut updates = Vec::new();
    fold.push(&half, &mut updates);
    assert_eq!(told(&updates), ["TEXT_MESSAGE_CHUNK"]);
}

#[test]
fn a_whole_task_keeps_the_newest_events_as_far_as_there_is_room() {
    let mut fold = Fold::default();
    let large = json!({"type": "CUSTOM", "name": "c", "value": "x".repeat(EVENT_BYTES / 4)});
    let updates = tell(&mut fold, &[large.clone(), large.clone(), large.clone(), large.clone(), large]);
    assert_eq!(updates.len(), 5, "in the stream there is room for each");
    let (events, omitted) = fold.events();
    assert_eq!((events.len(), omitted), (3, 2));
}
