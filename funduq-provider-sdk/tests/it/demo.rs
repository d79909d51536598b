//! The demo agents: each shows one thing, and all but two say only what AG-UI 1.0 knows.

use std::sync::Arc;

use funduq_provider_sdk::agui::{Event, RelayedEvent};
use funduq_provider_sdk::demo;

use crate::support::{
    FakeFunduq, builder, check_order, linked, offer, offer_of, offer_with, text, typed, types,
};

async fn demo() -> Arc<FakeFunduq> {
    let (_runtime, _link, funduq) = linked(builder().agents(demo::agents())).await;
    funduq
}

/// What a closed reading of AG-UI 1.0 allows: everything known, nothing beside it.
fn check_closed(events: &[String]) {
    for json in events {
        RelayedEvent::parse(json.as_str()).unwrap();
        let event = typed(json);
        assert!(!format!("{event:?}").contains("Unknown"), "{json}");
        let extras = format!("{event:?}").replace("extra: {}", "");
        assert!(!extras.contains("extra: "), "{json}");
        assert!(!json.contains(":null"), "{json}");
    }
}

async fn told(text: &str) -> Vec<String> {
    let funduq = demo().await;
    funduq.offer(offer("echo", "t", "1", text)).unwrap();
    let events = funduq.finished("1").await;
    if !text.starts_with("new") {
        check_closed(&events);
        check_order(&events, "t", "1");
    }
    events
}

#[tokio::test(start_paused = true)]
async fn plain_words_come_back_one_by_one() {
    let events = told("the quick brown fox").await;
    assert_eq!(text(&events), "the quick brown fox");
    assert_eq!(types(&events).iter().filter(|kind| *kind == "TEXT_MESSAGE_CONTENT").count(), 4);
    assert_eq!(text(&told("").await), "");
    assert_eq!(text(&told("höflich 👋🏽 世界").await), "höflich 👋🏽 世界");
}

#[tokio::test(start_paused = true)]
async fn ask_interrupts_and_the_answer_is_said() {
    let events = told("ask me something").await;
    let interrupt = &events.last().unwrap();
    for part in [r#""type":"interrupt""#, r#""message":"#, r#""responseSchema":{"type":"object""#] {
        assert!(interrupt.contains(part), "{interrupt}");
    }
    for (payload, said) in [(r#"{"answer":"cobalt"}"#, "cobalt"), (r#""plain""#, "plain"), ("[1]", "[1]")] {
        let funduq = demo().await;
        let resume = format!(r#""resume":[{{"interruptId":"i","status":"resolved","payload":{payload}}}],"#);
        funduq.offer(offer_with("echo", "t", "2", "ask me something", &resume)).unwrap();
        assert_eq!(text(&funduq.finished("2").await), format!("You said: {said}"));
    }
    // No answer is in an empty list, as the door sees it too.
    let funduq = demo().await;
    funduq.offer(offer_with("echo", "t", "3", "plain words", r#""resume":[],"#)).unwrap();
    assert_eq!(text(&funduq.finished("3").await), "plain words");
}

#[tokio::test(start_paused = true)]
async fn tool_calls_the_first_tool_and_says_its_result() {
    let events = told("tool please").await;
    assert!(events.concat().contains(r#""toolCallName":"get_weather""#));
    let funduq = demo().await;
    let tools = r#""tools":[{"name":"look_up","description":"d","parameters":{"type":"object","properties":{"what":{"type":"string"},"n":{"type":"integer"}}}},{"name":"other","description":"d"}],"#;
    funduq.offer(offer_with("echo", "t", "2", "tool the moon", tools)).unwrap();
    let events = funduq.finished("2").await;
    let Event::ToolCallStart(start) = typed(&events[1]) else { panic!("{events:?}") };
    let Event::ToolCallArgs(arguments) = typed(&events[2]) else { panic!("{events:?}") };
    assert_eq!(
        (start.tool_call_name.as_str(), arguments.delta.as_str()),
        ("look_up", r#"{"what":"the moon"}"#)
    );

    let messages = r#"[{"id":"m","role":"user","content":"tool"},{"id":"r","role":"tool","toolCallId":"c","content":"hail"}]"#;
    funduq.offer(offer_of("echo", "t", "3", messages, "")).unwrap();
    assert_eq!(text(&funduq.finished("3").await), "The tool says: hail");
}

#[tokio::test(start_paused = true)]
async fn slow_takes_five_seconds_unless_it_is_stopped() {
    let began = tokio::time::Instant::now();
    let events = told("slow and steady").await;
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(text(&events).split_whitespace().count(), 50);

    let funduq = demo().await;
    funduq.offer(offer("echo", "t", "1", "slow")).unwrap();
    funduq.until(|funduq| !text(&funduq.events("1")).is_empty()).await;
    funduq.cancel("1");
    let events = funduq.finished("1").await;
    check_order(&events, "t", "1");
    assert!(events.last().unwrap().contains(r#""outcome":{"type":"cancelled"}"#));
}

#[tokio::test(start_paused = true)]
async fn fail_fails_and_says_why() {
    let events = told("fail now").await;
    assert!(matches!(typed(events.last().unwrap()), Event::RunError(error) if error.code.is_some()));
}

#[tokio::test(start_paused = true)]
async fn think_shows_everything_around_an_answer() {
    let events = told("think about it").await;
    let kinds = types(&events);
    for kind in [
        "REASONING_MESSAGE_CONTENT",
        "STATE_SNAPSHOT",
        "STATE_DELTA",
        "STEP_STARTED",
        "STEP_FINISHED",
        "ACTIVITY_SNAPSHOT",
        "ACTIVITY_DELTA",
        "CUSTOM",
    ] {
        assert!(kinds.iter().any(|known| known == kind), "{kind} is missing in {kinds:?}");
    }
    assert_eq!(text(&events), "think about it");
}

#[tokio::test(start_paused = true)]
async fn new_sends_what_nobody_knows_and_goes_on() {
    let events = told("new things").await;
    let unknown: Vec<_> = events.iter().filter(|json| matches!(typed(json), Event::Unknown(_))).collect();
    assert_eq!(unknown.len(), 1);
    assert_eq!(types(&events).last().unwrap(), "RUN_FINISHED");
}

#[tokio::test(start_paused = true)]
async fn replay_sends_what_it_is_given_as_it_stands_under_the_runs_own_ids() {
    let funduq = demo().await;
    let stream = r#"[{"type":"RUN_STARTED","threadId":"theirs","runId":"theirs","x": 1.50},{"type":"NEW", "a":1},{"type":"RUN_FINISHED","runId":"theirs"},{"type":"CUSTOM"}]"#;
    let props = format!(r#""forwardedProps":{{"replay":{stream}}},"#);
    for (agent, run) in [("replay", "1"), ("echo", "2")] {
        funduq.offer(offer_with(agent, "t", run, "x", &props)).unwrap();
        let events = funduq.finished(run).await;
        let expected = [
            format!(r#"{{"type":"RUN_STARTED","threadId":"t","runId":"{run}","x":1.50}}"#),
            r#"{"type":"NEW", "a":1}"#.to_owned(),
            format!(r#"{{"type":"RUN_FINISHED","runId":"{run}"}}"#),
        ];
        assert_eq!(events, expected, "a member that was missing is missing still, and the run ends there");
    }
    funduq.offer(offer("replay", "t", "3", "x")).unwrap();
    assert!(funduq.finished("3").await.last().unwrap().contains("no_replay"));
}
