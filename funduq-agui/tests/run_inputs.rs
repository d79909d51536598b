//! Run inputs: taken by the tolerant reading, kept member by member, refused with the place.

use funduq_agui::{
    Event, ForwardedProps, MAX_DEPTH, MAX_INPUT_BYTES, Message, Problem, RelayedEvent, RelayedInput,
    RelayedMessage, RelayedResume, ResumeStatus, Role, RunAgentInput,
};

#[track_caller]
fn taken(input: &str) -> RelayedInput {
    RelayedInput::parse(input.as_bytes()).unwrap_or_else(|invalid| panic!("{invalid}: {input}"))
}

#[track_caller]
fn refused(input: &str, said: &str) {
    let invalid = RelayedInput::parse(input.as_bytes()).expect_err("it should be refused");
    assert_eq!(invalid.to_string(), format!("invalid input: {said}"), "{input}");
}

#[test]
fn only_thread_run_and_messages_are_required() {
    let input = taken(r#"{"messages":[],"runId":"r","threadId":"t"}"#);
    assert_eq!(input.to_json(), r#"{"threadId":"t","runId":"r","messages":[]}"#);
    assert_eq!(input, RelayedInput::new("t", "r", Vec::new()));
    refused(r#"{"runId":"r","messages":[]}"#, "`threadId` is required");
    refused(r#"{"threadId":"t","messages":[]}"#, "`runId` is required");
    refused(r#"{"threadId":"t","runId":"r"}"#, "`messages` is required");
    refused(r#"{"threadId":"t","runId":null,"messages":[]}"#, "`runId` must be a string, but is null");
    refused("[]", "it must be an object, but is an array");
    refused("{", "it is not JSON: it ends inside a value at byte 1");
    assert_eq!(*RelayedInput::parse(b"\"\xff\"").unwrap_err().problem(), Problem::NotUtf8);
}

#[test]
fn each_member_keeps_its_bytes() {
    let members = [
        r#""threadId":"t""#,
        r#""runId":"r""#,
        r#""protocolVersion":"1.0""#,
        r#""parentRunId":"p""#,
        r#""state":{"z":1e400, "a" : -0.0}"#,
        r#""messages":[{"role":"user", "id":"m","content":"\u00e9","mood":null}]"#,
        r#""tools":[ {"name":"n","description":"d","parameters":{"type":"object"}} ]"#,
        r#""context":[{"description":"d","value":"v","more":[ ]}]"#,
        r#""forwardedProps":{"b":[1, 2],"a":null}"#,
        r#""resume":[{"interruptId":"i","status":"resolved","payload":{"ok" : true}}]"#,
        r#""future":[ 1,null ]"#,
    ];
    let input = taken(&format!("{{{}}}", members.join(", ")));
    assert_eq!(input.to_json(), format!("{{{}}}", members.join(",")));
    assert_eq!(input.protocol_version.as_deref(), Some("1.0"));
    assert_eq!(input.parent_run_id.as_deref(), Some("p"));
    assert_eq!(input.extra.len(), 1);
    let framed = serde_json::to_string(&input).unwrap();
    assert_eq!(serde_json::from_str::<RelayedInput>(&framed).unwrap(), input);
}

#[test]
fn a_null_for_an_optional_member_is_absent() {
    let input = taken(
        r#"{"threadId":"t","runId":"r","protocolVersion":null,"parentRunId":null,"state":null,"tools":null,"context":null,"forwardedProps":null,"resume":null,
        "messages":[
            {"name":null,"id":"u","role":"user","content":[{"type":"text","text":"x","id":null,"metadata":null},{"type":"new","x":null}],"encryptedValue":null},
            {"id":"a","role":"assistant","content":null,"toolCalls":[{"id":"c","type":"function","function":{"name":"n","arguments":""},"metadata":null}],"own":null},
            {"id":"n","role":"narrator","content":null},
            {"id":"k","role":"user","content":"as it came",  "metadata":{"key":null}}
        ]}"#,
    );
    let messages: Vec<&str> = input.messages.iter().map(RelayedMessage::json).collect();
    assert_eq!(
        messages,
        [
            r#"{"id":"u","role":"user","content":[{"type":"text","text":"x"},{"type":"new","x":null}]}"#,
            r#"{"id":"a","role":"assistant","toolCalls":[{"id":"c","type":"function","function":{"name":"n","arguments":""}}],"own":null}"#,
            r#"{"id":"n","role":"narrator","content":null}"#,
            r#"{"id":"k","role":"user","content":"as it came",  "metadata":{"key":null}}"#,
        ]
    );
    let mut bare = input.clone();
    bare.messages.clear();
    assert_eq!(bare.to_json(), r#"{"threadId":"t","runId":"r","messages":[]}"#);
}

#[test]
fn a_null_inside_tools_context_and_resume_is_absent_too() {
    let input = taken(
        r#"{"threadId":"t","runId":"r","messages":[],
        "tools":[{"name":"n","description":"d","parameters":null,"metadata":null}],
        "context":[{"description":"d","value":"v","x":null}],
        "resume":[{"interruptId":"i","status":"cancelled","payload":null}]}"#,
    );
    assert_eq!(input.tools.unwrap().get(), r#"[{"name":"n","description":"d"}]"#);
    assert_eq!(input.context.unwrap().get(), r#"[{"description":"d","value":"v","x":null}]"#);
    let resume = input.resume.unwrap();
    assert_eq!(resume[0].json(), r#"{"interruptId":"i","status":"cancelled"}"#);
    assert_eq!((resume[0].interrupt_id(), resume[0].status()), ("i", &ResumeStatus::Cancelled));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let with = |member: &str| format!(r#"{{"threadId":"t","runId":"r","messages":[],{member}}}"#);
    refused(&with(r#""tools":{}"#), "`tools` must be an array, but is an object");
    refused(&with(r#""tools":[{"name":"n"}]"#), "`tools[0].description` is required");
    refused(
        &with(r#""context":[{"description":"d","value":1}]"#),
        "`context[0].value` must be a string, but is a number",
    );
    refused(
        &with(r#""resume":[{"interruptId":"i","status":"done"}]"#),
        r#"`resume[0].status` must be one of "resolved", "cancelled""#,
    );
    refused(&with(r#""threadId":"t2""#), "`threadId` is there more than once");
    refused(&with(r#""protocolVersion":1"#), "`protocolVersion` must be a string, but is a number");
    let message = |message: &str| {
        format!(
            r#"{{"threadId":"t","runId":"r","messages":[{{"id":"a","role":"user","content":""}},{message}]}}"#
        )
    };
    refused(&message(r#"{"id":"m","role":"user"}"#), "`messages[1].content` is required");
    refused(
        &message(r#"{"id":"m","role":"user","content":[{"type":"text"}]}"#),
        "`messages[1].content[0].text` is required",
    );
    refused(&message(r#"{"id":"m","role":"tool","content":"x"}"#), "`messages[1].toolCallId` is required");
    refused(&message(r#"{"role":"system","content":"x"}"#), "`messages[1].id` is required");
    refused(&message("7"), "`messages[1]` must be an object, but is a number");
}

#[test]
fn ids_that_are_no_text_are_refused() {
    refused(r#"{"threadId":"\ud83d","runId":"r","messages":[]}"#, "`threadId` has half a surrogate pair");
    refused(
        r#"{"threadId":"t","runId":"r","messages":[{"id":"\ud83d","role":"user","content":""}]}"#,
        "`messages[0].id` has half a surrogate pair",
    );
    refused(
        r#"{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":"\ude00","status":"resolved"}]}"#,
        "`resume[0].interruptId` has half a surrogate pair",
    );
    // In content it is the parties' own matter.
    let input =
        taken(r#"{"threadId":"t","runId":"r","messages":[{"id":"m","role":"user","content":"\ud83d"}]}"#);
    assert_eq!(input.messages[0].text().as_deref(), Some("\u{fffd}"));
}

#[test]
fn forwarded_props_may_be_any_json() {
    let props = |value: &str| {
        taken(&format!(r#"{{"threadId":"t","runId":"r","messages":[],"forwardedProps":{value}}}"#))
            .forwarded_props
    };
    let Some(ForwardedProps::Object(bag)) = props(r#"{"funduq":1,"a": 2,"\u0066unduq":3}"#) else {
        panic!("an object is a bag")
    };
    // A key that comes twice is one key, however it is written.
    assert_eq!(serde_json::to_string(&bag).unwrap(), r#"{"funduq":3,"a":2}"#);
    for other in ["[1]", "\"x\"", "0", "false"] {
        assert!(matches!(props(other), Some(ForwardedProps::Other(raw)) if raw.get() == other));
    }
    assert!(props("null").is_none());
}

#[test]
fn size_and_nesting_have_limits() {
    let nested = |levels: usize| {
        let deep = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        RelayedInput::parse(format!(r#"{{"threadId":"t","runId":"r","messages":[],"x":{deep}}}"#).as_bytes())
    };
    assert!(nested(MAX_DEPTH - 1).is_ok());
    assert_eq!(*nested(MAX_DEPTH).unwrap_err().problem(), Problem::TooDeep);
    assert_eq!(*nested(2_000_000).unwrap_err().problem(), Problem::TooDeep);
    let large = RelayedInput::parse(&vec![b' '; MAX_INPUT_BYTES + 1]).unwrap_err();
    assert_eq!(large.to_string(), "invalid input: it is larger than 16777216 bytes");
    // What a door took has grown by funduq's own word when it is read again.
    let pad = " ".repeat(MAX_INPUT_BYTES);
    let grown = format!(r#"{{"threadId":"t","runId":"r","messages":[],"x":"{pad}"}}"#);
    assert!(RelayedInput::parse(grown.as_bytes()).is_err());
    assert_eq!(serde_json::from_str::<RelayedInput>(&grown).unwrap().to_json(), grown);
}

#[test]
fn many_members_take_time_in_proportion() {
    // A search for each of so many keys would take minutes.
    let members: Vec<String> = (0..200_000).map(|n| format!("\"{n}\":0")).collect();
    let bag = members.join(",");
    let input = taken(&format!(r#"{{"threadId":"t","runId":"r","messages":[],"forwardedProps":{{{bag}}}}}"#));
    assert_eq!(input.forwarded_props.unwrap().as_object().unwrap().len(), 200_000);
}

#[test]
fn a_message_tells_what_funduq_decides_on() {
    let message =
        RelayedMessage::parse(r#" {"toolCallId":"c","content":"done","role":"tool","id":"m"} "#).unwrap();
    assert_eq!((message.id(), message.role(), message.tool_call_id()), (Some("m"), &Role::Tool, Some("c")));
    assert_eq!(message.json(), r#"{"toolCallId":"c","content":"done","role":"tool","id":"m"}"#);
    assert_eq!(message.text().as_deref(), Some("done"));
    let parts = r#"{"id":"m","role":"user","content":[{"type":"text","text":"a\n"},{"type":"image","source":{}},{"text":"b","type":"text"}]}"#;
    assert_eq!(RelayedMessage::parse(parts).unwrap().text().as_deref(), Some("a\nb"));
    let unknown = RelayedMessage::parse(r#"{"content":5}"#).unwrap();
    assert_eq!((unknown.id(), unknown.role(), unknown.text()), (None, &Role::Unknown("".into()), None));
    let invalid = RelayedMessage::parse(r#"{"id":"m","role":"user"}"#).unwrap_err();
    assert_eq!((invalid.path(), invalid.problem()), ("content", &Problem::Missing));
}

#[test]
fn an_entry_is_refused_with_its_place() {
    let invalid = RelayedResume::parse(r#"{"interruptId":"i"}"#).unwrap_err();
    assert_eq!((invalid.path(), invalid.problem()), ("status", &Problem::Missing));
}

#[test]
fn an_input_reads_as_the_typed_one_and_back() {
    let json = r#"{"threadId":"t","runId":"r","messages":[{"role":"user","id":"m","content":"hi"}],"state":[1],"forwardedProps":"x","resume":[{"interruptId":"i","status":"resolved"}],"future":true}"#;
    let input = taken(json);
    let typed = RunAgentInput::try_from(&input).unwrap();
    assert_eq!(typed.messages.len(), 1);
    assert_eq!(typed.resume.as_ref().unwrap()[0].status, ResumeStatus::Resolved);
    assert_eq!(RelayedInput::from(&typed), input);
}

#[test]
fn half_a_surrogate_pair_in_a_text_reads_typed_as_the_replacement_character() {
    let json = r#"{"threadId":"t","runId":"r","state":{"a":"\uD83D"},"messages":[{"id":"a","role":"assistant","content":"cut \ud83d"},{"id":"u","role":"user","content":"\ud83d\ude00 \\ud83d","\uDE00":1}],"context":[{"description":"d","value":"\ude00"}],"forwardedProps":{"k":"\ude00"},"future":"\ud83d"}"#;
    let input = taken(json);
    let typed = RunAgentInput::try_from(&input).unwrap();
    let texts: Vec<_> = typed
        .messages
        .iter()
        .map(|message| match message {
            Message::Assistant(said) => said.content.clone().unwrap(),
            Message::User(said) => said.content.text().into_owned(),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(texts, ["cut \u{fffd}", r"😀 \ud83d"]);
    assert_eq!(typed.context.as_ref().unwrap()[0].value, "\u{fffd}");
    assert_eq!(typed.state.as_ref().unwrap().get(), r#"{"a":"\uD83D"}"#, "open JSON is as it came");
    assert_eq!(typed.forwarded_props.as_ref().unwrap().get(), r#"{"k":"\ude00"}"#);
    assert_eq!(typed.extra.get("future").unwrap().get(), r#""\ud83d""#);
    assert_eq!(input.messages[0].json(), r#"{"id":"a","role":"assistant","content":"cut \ud83d"}"#);

    let message = Message::try_from(&input.messages[0]).unwrap();
    assert!(matches!(message, Message::Assistant(said) if said.content.as_deref() == Some("cut \u{fffd}")));
    let event =
        RelayedEvent::parse(r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"\ud83d"}"#).unwrap();
    assert!(
        matches!(Event::try_from(&event), Ok(Event::TextMessageContent(said)) if said.delta == "\u{fffd}")
    );
}
