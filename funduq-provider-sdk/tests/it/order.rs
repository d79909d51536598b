//! AG-UI's rules about the order of a run's events: what breaks them is refused by name, as typed event and as JSON.

use std::sync::{Arc, Mutex};

use funduq_provider_sdk::agui::{Event, RelayedEvent};
use funduq_provider_sdk::{
    EmitError, Entity, EventSink, OrderError, RunContext, ServedAgent, TextOpening, agent_fn,
};

use crate::support::{builder, check_order, linked, offer, typed, types};

/// An event in short: its type, and its members as `name=text` or `name:=JSON`.
fn event(short: &str) -> String {
    let (kind, members) = short.split_once(' ').unwrap_or((short, ""));
    let mut json = format!(r#"{{"type":"{kind}""#);
    for member in members.split_whitespace() {
        match member.split_once('=').unwrap() {
            (name, value) if name.ends_with(':') => {
                json += &format!(r#","{}":{value}"#, &name[..name.len() - 1]);
            }
            (name, text) => json += &format!(r#","{name}":"{text}""#),
        }
    }
    json + "}"
}

/// Says the events, and answers what came of the last one, and the run's events.
async fn last_of(stream: &[&str], as_json: bool) -> (Result<(), EmitError>, Vec<String>) {
    let stream: Vec<String> = stream.iter().map(|short| event(short)).collect();
    let last = Arc::new(Mutex::new(None));
    let kept = last.clone();
    let agent = agent_fn(move |run: RunContext| {
        let (stream, kept) = (stream.clone(), kept.clone());
        async move {
            let (last, before) = stream.split_last().unwrap();
            for json in before {
                say(run.events(), json, as_json).await?;
            }
            let last = say(run.events(), last, as_json).await;
            *kept.lock().unwrap() = Some(last);
            Ok(())
        }
    });
    let (_runtime, _link, funduq) = linked(builder().agent(ServedAgent::new("a", agent).unwrap())).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    let events = funduq.finished("1").await;
    let last = last.lock().unwrap().take().unwrap_or_else(|| panic!("{events:?}"));
    (last, events)
}

async fn say(events: &EventSink, json: &str, as_json: bool) -> Result<(), EmitError> {
    match as_json {
        true => events.emit_json(json).await,
        false => events.emit(Event::try_from(&RelayedEvent::parse(json)?).unwrap()).await,
    }
}

/// The last event is refused, and the run ends well without it.
async fn refused(stream: &[&str]) -> OrderError {
    let mut errors = Vec::new();
    for as_json in [false, true] {
        let (last, events) = last_of(stream, as_json).await;
        check_order(&events, "t", "1");
        let Err(EmitError::OutOfOrder(error)) = last else { panic!("{last:?} for {stream:?}") };
        errors.push(error);
    }
    assert_eq!(errors[0], errors[1]);
    errors.remove(0)
}

async fn taken(stream: &[&str]) -> Vec<String> {
    let mut streams = Vec::new();
    for as_json in [false, true] {
        let (last, events) = last_of(stream, as_json).await;
        assert_eq!(last, Ok(()), "{stream:?}");
        check_order(&events, "t", "1");
        streams.push(events);
    }
    assert_eq!(types(&streams[0]), types(&streams[1]));
    streams.remove(0)
}

/// Each thing that is opened and closed: its start, a piece if it has any, its end.
const THINGS: [(Entity, &str, &str, &str); 6] = [
    (
        Entity::TextMessage,
        "TEXT_MESSAGE_START messageId=x",
        "TEXT_MESSAGE_CONTENT messageId=x delta=d",
        "TEXT_MESSAGE_END messageId=x",
    ),
    (
        Entity::ToolCall,
        "TOOL_CALL_START toolCallId=x toolCallName=n",
        "TOOL_CALL_ARGS toolCallId=x delta={}",
        "TOOL_CALL_END toolCallId=x",
    ),
    (Entity::ReasoningSpan, "REASONING_START messageId=x", "", "REASONING_END messageId=x"),
    (
        Entity::ReasoningMessage,
        "REASONING_MESSAGE_START messageId=x role=reasoning",
        "REASONING_MESSAGE_CONTENT messageId=x delta=d",
        "REASONING_MESSAGE_END messageId=x",
    ),
    (Entity::Step, "STEP_STARTED stepName=x", "", "STEP_FINISHED stepName=x"),
    (Entity::Subagent, "SUBAGENT_STARTED subagentRunId=x name=n", "", "SUBAGENT_FINISHED subagentRunId=x"),
];

#[tokio::test(start_paused = true)]
async fn nothing_is_opened_twice_nor_continued_or_closed_unopened() {
    for (what, start, piece, end) in THINGS {
        let id = "x".to_owned();
        let twice = refused(&[start, start]).await;
        assert_eq!(twice, OrderError::AlreadyOpen { what, id: id.clone() });
        assert!(twice.to_string().starts_with(&format!("the {what} `x` is open already; ")));
        let not_open = OrderError::NotOpen { what, id };
        assert_eq!(refused(&[end]).await, not_open);
        assert_eq!(refused(&[start, end, end]).await, not_open);
        if !piece.is_empty() {
            assert_eq!(refused(&[piece]).await, not_open);
            assert_eq!(refused(&[start, end, piece]).await, not_open);
            taken(&[start, piece, piece, end]).await;
        }
        if what != Entity::Subagent {
            // What was closed can be continued.
            taken(&[start, end, start]).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_an_event_has_opened_is_closed_before_the_finish() {
    let starts = THINGS.map(|(_, start, ..)| start);
    let events = taken(&starts).await;
    assert_eq!(
        types(&events)[7..],
        [
            "SUBAGENT_FINISHED",
            "STEP_FINISHED",
            "REASONING_MESSAGE_END",
            "REASONING_END",
            "TOOL_CALL_END",
            "TEXT_MESSAGE_END",
            "RUN_FINISHED"
        ]
    );
    // A step is its agent's, and ends as it began.
    let events = taken(&["STEP_STARTED stepName=s", "STEP_STARTED stepName=s subagentRunId=b"]).await;
    assert_eq!(
        events[3..5],
        [event("STEP_FINISHED stepName=s subagentRunId=b"), event("STEP_FINISHED stepName=s")]
    );
    // A snapshot says that the open message is another's: its end then says nobody's.
    let restated = r#"MESSAGES_SNAPSHOT messages:=[{"id":"m","role":"assistant","content":"x"}]"#;
    let events = taken(&["TEXT_MESSAGE_START messageId=m subagentRunId=b", restated]).await;
    assert_eq!(events[3], event("TEXT_MESSAGE_END messageId=m"));
}

#[tokio::test(start_paused = true)]
async fn the_writers_keep_the_rules_among_themselves_and_with_events() {
    let agent = agent_fn(|run: RunContext| async move {
        let events = run.events();
        let open = |what, id: &str| Err(EmitError::from(OrderError::AlreadyOpen { what, id: id.to_owned() }));
        let named = |id: &str| TextOpening { id: Some(id.into()), ..TextOpening::default() };

        let step = events.step("s").await?;
        assert_eq!(events.step("s").await.map(drop), open(Entity::Step, "s"));
        let call = events.open_tool_call_as("c", "n", None).await?;
        assert_eq!(events.open_tool_call_as("c", "n", None).await.map(drop), open(Entity::ToolCall, "c"));
        let said = events.open_text_as(named("m")).await?;
        assert_eq!(events.open_text_as(named("m")).await.map(drop), open(Entity::TextMessage, "m"));
        let start = typed(&event("TEXT_MESSAGE_START messageId=m"));
        assert_eq!(events.emit(start).await, open(Entity::TextMessage, "m"));
        said.push("after all the refusals").await?;

        // An event closes what a writer has opened.
        events.emit(typed(&event("TEXT_MESSAGE_END messageId=m"))).await?;
        let not_open = OrderError::NotOpen { what: Entity::TextMessage, id: "m".to_owned() };
        assert_eq!(said.push("more").await, Err(not_open.into()));
        drop(said);
        step.finish().await?;
        call.end().await?;
        // A message that was closed goes on.
        events.open_text_as(named("m")).await?.push("more").await?;
        Ok(())
    });
    let (_runtime, _link, funduq) = linked(builder().agent(ServedAgent::new("a", agent).unwrap())).await;
    funduq.offer(offer("a", "t", "1", "x")).unwrap();
    let events = funduq.finished("1").await;
    check_order(&events, "t", "1");
    assert_eq!(types(&events).last().unwrap(), "RUN_FINISHED", "{events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_subagent_is_started_once_by_one_that_was_and_ends_with_the_run() {
    let (start, end) = ("SUBAGENT_STARTED subagentRunId=b name=n", "SUBAGENT_FINISHED subagentRunId=b");
    assert_eq!(refused(&[start, end, start]).await, OrderError::SubagentOver { id: "b".into() });
    let failed = "SUBAGENT_ERROR subagentRunId=b message=m";
    assert_eq!(refused(&[start, failed, start]).await, OrderError::SubagentOver { id: "b".into() });
    let child = "SUBAGENT_STARTED subagentRunId=c name=n parentSubagentRunId=b";
    let orphan = OrderError::ParentNotStarted { id: "c".into(), parent: "b".into() };
    assert_eq!(refused(&[child]).await, orphan);
    taken(&[start, child]).await;
    taken(&[start, end, child]).await;

    let ends = async |end: &str| taken(&[start, end]).await.swap_remove(2);
    assert_eq!(ends("RUN_FINISHED threadId=t runId=1").await, event(end));
    let asks = r#"RUN_FINISHED threadId=t runId=1 outcome:={"type":"interrupt","interrupts":[{"id":"i","reason":"r","subagentRunId":"b"},{"id":"j","reason":"r"}]}"#;
    let suspended = format!(r#"{end} outcome:={{"type":"suspended","interruptIds":["i"]}}"#);
    assert_eq!(ends(asks).await, event(&suspended));
    assert_eq!(
        ends("RUN_ERROR message=broken code=c").await,
        event("SUBAGENT_ERROR subagentRunId=b message=broken code=c")
    );
    let cancelled = ends(r#"RUN_FINISHED threadId=t runId=1 outcome:={"type":"cancelled"}"#).await;
    assert!(cancelled.starts_with(r#"{"type":"SUBAGENT_ERROR","#), "{cancelled}");
}

#[tokio::test(start_paused = true)]
async fn what_is_one_agents_is_not_anothers() {
    let other = |what, id: &str, of: Option<&str>, said: Option<&str>| {
        let (of, said) = (of.map(str::to_owned), said.map(str::to_owned));
        OrderError::OtherAgents { what, id: id.to_owned(), of, said }
    };
    for (what, start, piece, end) in THINGS {
        if what == Entity::Subagent {
            continue;
        }
        let [start_b, piece_b, end_b] = [start, piece, end].map(|event| format!("{event} subagentRunId=b"));
        let own = other(what, "x", None, Some("b"));
        assert_eq!(refused(&[start, &end_b]).await, own);
        if what == Entity::Step {
            assert_eq!(refused(&[&start_b, end]).await, other(what, "x", Some("b"), None));
            continue;
        }
        if !piece.is_empty() {
            assert_eq!(refused(&[start, &piece_b]).await, own);
            taken(&[&start_b, piece, &piece_b, end]).await;
        }
        // Also when it was closed meanwhile; but an event that names nobody is whoever's.
        assert_eq!(refused(&[start, end, &start_b]).await, own);
        let event = refused(&[&start_b, end, start, end, &start_b.replace("=b", "=c")]).await;
        assert_eq!(event, other(what, "x", Some("b"), Some("c")));
    }
    let hidden = "REASONING_ENCRYPTED_VALUE subtype=tool-call entityId=x encryptedValue=v subagentRunId=b";
    let call = "TOOL_CALL_START toolCallId=x toolCallName=n";
    assert_eq!(
        refused(&[call, "TOOL_CALL_END toolCallId=x", hidden]).await,
        other(Entity::ToolCall, "x", None, Some("b"))
    );
    let hidden = "REASONING_ENCRYPTED_VALUE subtype=message entityId=x encryptedValue=v subagentRunId=b";
    let thought = "REASONING_MESSAGE_START messageId=x role=reasoning";
    assert_eq!(refused(&[thought, hidden]).await, other(Entity::ReasoningMessage, "x", None, Some("b")));
    taken(&[&format!("{thought} subagentRunId=b"), hidden]).await;

    // A tool call is of the agent whose message it is in.
    let message = "TEXT_MESSAGE_START messageId=m subagentRunId=b";
    let call = "TOOL_CALL_START toolCallId=x toolCallName=n parentMessageId=m";
    let wrong = refused(&[message, &format!("{call} subagentRunId=c")]).await;
    assert_eq!(wrong, other(Entity::TextMessage, "m", Some("b"), Some("c")));
    let args = "TOOL_CALL_ARGS toolCallId=x delta=d subagentRunId=c";
    assert_eq!(refused(&[message, call, args]).await, other(Entity::ToolCall, "x", Some("b"), Some("c")));
}

#[tokio::test(start_paused = true)]
async fn whose_an_activity_or_a_restated_message_is_is_what_was_said_last() {
    let of = |owner: &str| format!("ACTIVITY_SNAPSHOT messageId=x activityType=a content:={{}}{owner}");
    let delta = "ACTIVITY_DELTA messageId=x activityType=a patch:=[] subagentRunId=b";
    let (of_b, own) = (of(" subagentRunId=b"), of(""));
    assert!(matches!(refused(&[&own, delta]).await, OrderError::OtherAgents { what: Entity::Activity, .. }));
    taken(&[&own, &of_b, delta]).await;
    let kept = format!("{of_b} replace:=false");
    assert!(matches!(refused(&[&own, &kept, delta]).await, OrderError::OtherAgents { .. }));

    let of = |owner: &str| {
        format!(
            r#"MESSAGES_SNAPSHOT messages:=[{{"id":"m","role":"assistant","toolCalls":[{{"id":"c","type":"function","function":{{"name":"n","arguments":""}}}}]{owner}}}]"#
        )
    };
    let (own, of_b) = (of(""), of(r#","subagentRunId":"b""#));
    for start in [
        "TEXT_MESSAGE_START messageId=m subagentRunId=b",
        "TOOL_CALL_START toolCallId=c toolCallName=n subagentRunId=b",
    ] {
        assert!(matches!(refused(&[&own, start]).await, OrderError::OtherAgents { of: None, .. }));
        taken(&[&own, &of_b, start]).await;
    }
    let repeated = r#"RUN_STARTED threadId=t runId=1 protocolVersion=1.0 input:={"threadId":"t","runId":"1","messages":[{"id":"m","role":"reasoning","content":"x","subagentRunId":"b"}]}"#;
    let thought = "REASONING_MESSAGE_START messageId=m role=reasoning";
    taken(&[repeated, &format!("{thought} subagentRunId=b")]).await;
    assert!(matches!(
        refused(&[repeated, &format!("{thought} subagentRunId=c")]).await,
        OrderError::OtherAgents { .. }
    ));
    let result = "TOOL_CALL_RESULT messageId=r toolCallId=c content=x";
    let reopened = "TEXT_MESSAGE_START messageId=r subagentRunId=b";
    assert!(matches!(refused(&[result, reopened]).await, OrderError::OtherAgents { .. }));
}

/// The chunks of each kind: one that opens, one that only goes on, and the start that it stands for.
const CHUNKS: [(Entity, &str, &str, &str); 3] = [
    (
        Entity::TextMessage,
        "TEXT_MESSAGE_CHUNK messageId=x delta=d",
        "TEXT_MESSAGE_CHUNK delta=d",
        "TEXT_MESSAGE_START messageId=x",
    ),
    (
        Entity::ToolCall,
        "TOOL_CALL_CHUNK toolCallId=x toolCallName=n delta=d",
        "TOOL_CALL_CHUNK delta=d",
        "TOOL_CALL_START toolCallId=x toolCallName=n",
    ),
    (
        Entity::ReasoningMessage,
        "REASONING_MESSAGE_CHUNK messageId=x delta=d",
        "REASONING_MESSAGE_CHUNK delta=d",
        "REASONING_MESSAGE_START messageId=x role=reasoning",
    ),
];

#[tokio::test(start_paused = true)]
async fn a_chunk_goes_on_with_what_its_agent_streams_or_says_what_it_opens() {
    for (what, first, more, start) in CHUNKS {
        let member = if what == Entity::ToolCall { "toolCallId" } else { "messageId" };
        let incomplete = OrderError::ChunkIncomplete { what, member };
        assert_eq!(refused(&[more]).await, incomplete);
        taken(&[first, more, first]).await;
        // Whatever else the agent says ends it; what is not in its stream does not.
        let custom = "CUSTOM name=c value:=1";
        assert_eq!(refused(&[first, custom, more]).await, incomplete);
        assert_eq!(refused(&[first, "MESSAGES_SNAPSHOT messages:=[]", more]).await, incomplete);
        taken(&[first, "RAW event:=1", more, custom, first]).await;
        taken(&[first, &format!("{custom} subagentRunId=b"), more]).await;

        let open = OrderError::AlreadyOpen { what, id: "x".into() };
        assert_eq!(refused(&[start, first]).await, open);
        taken(&[first, start]).await;

        // Each agent streams its own.
        let [first_b, more_b] = [first, more].map(|chunk| format!("{chunk} subagentRunId=b"));
        assert!(matches!(refused(&[first, &first_b]).await, OrderError::OtherAgents { said: Some(_), .. }));
        let first_b = first_b.replace("=x", "=y");
        let first_c = first_b.replace("=y", "=z").replace("=b", "=c");
        taken(&[first, &first_b, more, &more_b]).await;
        taken(&[&first_b, more]).await;
        assert_eq!(refused(&[&first_b, &first_c, more]).await, OrderError::ChunkAmbiguous { what });
        taken(&[&first_b, &first_c, &more_b]).await;
        let ended = "SUBAGENT_FINISHED subagentRunId=b";
        let started = "SUBAGENT_STARTED subagentRunId=b name=n";
        assert_eq!(refused(&[started, &first_b, ended, &more_b]).await, incomplete);
    }
    let nameless = refused(&["TOOL_CALL_CHUNK toolCallId=x delta=d"]).await;
    assert_eq!(nameless, OrderError::ChunkIncomplete { what: Entity::ToolCall, member: "toolCallName" });
    // Its client closes what comes in chunks.
    let end = "TEXT_MESSAGE_END messageId=x";
    let chunks = "TEXT_MESSAGE_CHUNK messageId=x subagentRunId=b";
    let not_open = OrderError::NotOpen { what: Entity::TextMessage, id: "x".into() };
    assert_eq!(refused(&[chunks, end]).await, not_open);
    assert_eq!(refused(&["TEXT_MESSAGE_CHUNK messageId=x", end]).await, not_open);
    let result = refused(&[chunks, "TOOL_CALL_RESULT messageId=x toolCallId=c content=x"]).await;
    assert_eq!(result, OrderError::AlreadyOpen { what: Entity::TextMessage, id: "x".into() });
}

#[tokio::test(start_paused = true)]
async fn a_chunk_contradicts_none_before_it() {
    let differs = |what, member| OrderError::ChunkDiffers { what, id: "x".into(), member };
    let first = "TEXT_MESSAGE_CHUNK messageId=x delta=d";
    taken(&[first, "TEXT_MESSAGE_CHUNK role=assistant"]).await;
    let text = Entity::TextMessage;
    assert_eq!(refused(&[first, "TEXT_MESSAGE_CHUNK role=user"]).await, differs(text, "role"));
    assert_eq!(refused(&[first, "TEXT_MESSAGE_CHUNK name=n"]).await, differs(text, "name"));
    let first = "TOOL_CALL_CHUNK toolCallId=x toolCallName=n parentMessageId=m";
    taken(&[first, first]).await;
    let call = Entity::ToolCall;
    let renamed = "TOOL_CALL_CHUNK toolCallName=o";
    assert_eq!(refused(&[first, renamed]).await, differs(call, "toolCallName"));
    let moved = "TOOL_CALL_CHUNK parentMessageId=o";
    assert_eq!(refused(&[first, moved]).await, differs(call, "parentMessageId"));
}
