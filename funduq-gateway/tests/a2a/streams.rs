//! Streams over SSE: envelopes, places, signs of life, coming back, and leaving.

use std::time::Duration;

use funduq_contract::Offer;
use serde_json::{Value, json};
use tokio::time::{Instant, timeout};

use crate::caller::{Caller, at_once, demo, message};
use crate::support::{Provider, Raw, SOON, TestGateway, events, finished, started};

fn text(kind: &str, delta: &str) -> String {
    json!({"type": format!("TEXT_MESSAGE_{kind}"), "messageId": "a", "delta": delta}).to_string()
}

struct Live {
    _gateway: TestGateway,
    provider: Provider,
    caller: Caller,
    offer: Offer,
    stream: Raw,
}

/// A stream whose run has begun and goes on as the test says.
async fn live() -> Live {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let caller = Caller::of(&gateway, &provider.agent("echo"));
    let (stream, offer) =
        tokio::join!(caller.open("SendStreamingMessage", message("hello"), ""), provider.accept());
    provider.event(&offer.run.run_id, 1, &started(&offer)).await;
    Live { _gateway: gateway, provider, caller, offer, stream }
}

#[tokio::test]
async fn each_event_is_an_envelope_with_the_requests_id_and_a_place() {
    let (_gateway, caller) = demo().await;
    let mut stream = caller.open("SendStreamingMessage", message("hello there"), "").await;
    assert_eq!(stream.status, 200);
    assert_eq!(stream.header("content-type"), Some("text/event-stream"));
    assert_eq!(stream.header("cache-control"), Some("no-cache"));
    assert_eq!(stream.header("x-accel-buffering"), Some("no"));
    let seen = events(&stream.rest().await);
    let run = seen[0].1["result"]["task"]["id"].as_str().unwrap();
    for (number, (id, envelope)) in seen.iter().enumerate() {
        assert_eq!(*id, format!("{run}:{number}"));
        assert_eq!((&envelope["jsonrpc"], &envelope["id"]), (&json!("2.0"), &json!("s")));
    }
    let last = &seen.last().unwrap().1["result"]["statusUpdate"]["status"];
    assert_eq!(last["state"], "TASK_STATE_COMPLETED");
    let task = caller.result("GetTask", json!({"id": run})).await;
    assert_eq!(&task["status"], last);
}

#[tokio::test]
async fn over_http_json_events_are_bare() {
    let (_gateway, caller) = demo().await;
    let answer = caller.rest("POST", "/message:stream", Some(message("hello"))).await;
    assert_eq!((answer.status, answer.media.as_str()), (200, "text/event-stream"));
    let seen = events(&answer.body);
    assert!(seen[0].1["task"]["id"].is_string());
    assert_eq!(seen.last().unwrap().1["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_stream_closes_when_the_task_waits() {
    let (_gateway, caller) = demo().await;
    let mut stream = caller.open("SendStreamingMessage", message("ask"), "").await;
    let seen = events(&stream.rest().await);
    let last = &seen.last().unwrap().1["result"]["statusUpdate"];
    assert_eq!(last["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(last["status"]["message"]["parts"][0]["text"], "What should I say?");
}

#[tokio::test]
async fn what_a_stock_client_takes_for_a_line_end_is_escaped() {
    let Live { mut provider, offer, mut stream, .. } = live().await;
    let run = &offer.run.run_id;
    let hazards = "a\u{85}b\u{2028}c\u{2029}d\u{b}e\nf";
    provider.event(run, 2, &text("CHUNK", hazards)).await;
    provider
        .event(
            run,
            3,
            &format!("{{\n \"type\": \"CUSTOM\",\r\n \"name\": \"{}\", \"value\": 1}}", "x\u{2028}"),
        )
        .await;
    provider.event(run, 4, &finished(&offer)).await;
    let body = stream.rest().await;
    assert!(!body.contains(['\u{85}', '\u{2028}', '\u{2029}', '\u{b}', '\r']), "{body:?}");
    let seen = events(&body);
    let piece = seen
        .iter()
        .find_map(|(_, event)| event["result"]["artifactUpdate"]["artifact"]["parts"][0]["text"].as_str());
    assert_eq!(piece, Some(hazards));
    assert!(body.lines().all(|line| line.is_empty()
        || line.starts_with("data: ")
        || line.starts_with("id: ")
        || line == ":"));
}

#[tokio::test]
async fn a_silent_stream_shows_a_sign_of_life_within_five_seconds() {
    let Live { mut provider, offer, mut stream, .. } = live().await;
    stream.event().await.unwrap();
    let began = Instant::now();
    while stream.chunk().await.unwrap() != ":\n" {}
    assert!(began.elapsed() < Duration::from_secs(5));
    provider.event(&offer.run.run_id, 2, &finished(&offer)).await;
    stream.rest().await;
}

#[tokio::test]
async fn a_stream_that_broke_goes_on_after_the_place_that_the_caller_names() {
    let Live { mut provider, offer, caller, mut stream, .. } = live().await;
    let run = &offer.run.run_id;
    for (number, word) in (2..).zip(["one ", "two ", "three "]) {
        provider.event(run, number, &text("CHUNK", word)).await;
    }
    let mut seen = Vec::new();
    while seen.len() < 3 {
        seen.extend(events(stream.chunk().await.unwrap().trim_start_matches(":\n")));
    }
    seen.truncate(3);
    let place = seen.last().unwrap().0.clone();
    // It is not waited for that the gateway notices the loss.
    let header = format!("last-event-id: {place}\r\n");
    let mut resumed = caller.open("SubscribeToTask", json!({"id": run}), &header).await;
    assert_eq!(resumed.header("content-type"), Some("text/event-stream"));
    provider.event(run, 5, &text("CHUNK", "four")).await;
    provider.event(run, 6, &finished(&offer)).await;
    let rest = events(&resumed.rest().await);
    assert_eq!(rest[0].0, place, "the task as it was there");
    let said = |events: &[(String, Value)]| -> String {
        let pieces = events
            .iter()
            .map(|(_, event)| &event["result"]["artifactUpdate"]["artifact"]["parts"][0]["text"]);
        pieces.filter_map(Value::as_str).collect()
    };
    let before = rest[0].1["result"]["task"]["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    assert_eq!(format!("{before}{}", said(&rest)), "one two three four");
    let task = caller.result("GetTask", json!({"id": run})).await;
    assert_eq!(task["artifacts"][0]["parts"][0]["text"], "one two three four");
    // The connection that had the stream is told that another one has it.
    let old = events(&stream.rest().await);
    assert_eq!(old.last().unwrap().1["error"]["code"], -32004);
}

#[tokio::test]
async fn a_second_subscription_is_refused_and_the_place_is_free_when_the_first_leaves() {
    let Live { mut provider, offer, caller, stream, .. } = live().await;
    let task = json!({"id": offer.run.run_id});
    let refused = caller.call("SubscribeToTask", task.clone()).await;
    assert_eq!(refused["error"]["code"], -32004);
    drop(stream);
    let mut again = caller.open("SubscribeToTask", task, "").await;
    assert_eq!(again.header("content-type"), Some("text/event-stream"));
    provider.event(&offer.run.run_id, 2, &finished(&offer)).await;
    let seen = events(&again.rest().await);
    assert_eq!(seen.last().unwrap().1["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn who_names_nothing_of_the_task_or_wants_the_head_alone_takes_its_stream_from_nobody() {
    let Live { mut provider, offer, caller, mut stream, .. } = live().await;
    let run = &offer.run.run_id;
    for last in ["", "other:1"] {
        let header = format!("last-event-id: {last}\r\n");
        let mut refused = caller.open("SubscribeToTask", json!({"id": run}), &header).await;
        assert_eq!(refused.json().await["error"]["code"], -32004, "{last}");
    }
    let asked = caller.request("HEAD", &format!("/tasks/{run}:subscribe"));
    let asked = asked.header("last-event-id", format!("{run}:0")).send().await.unwrap();
    assert_eq!(asked.status(), 405);
    assert!(asked.headers()["allow"].to_str().unwrap().contains("GET"));
    provider.event(run, 2, &finished(&offer)).await;
    let seen = events(stream.rest().await.trim_start_matches(":\n"));
    assert_eq!(seen.last().unwrap().1["result"]["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
}

#[tokio::test]
async fn a_client_that_leaves_does_not_stop_the_run() {
    let Live { mut provider, offer, caller, stream, .. } = live().await;
    drop(stream);
    provider.event(&offer.run.run_id, 2, &finished(&offer)).await;
    let ended = async {
        loop {
            let task = caller.result("GetTask", json!({"id": offer.run.run_id})).await;
            if task["status"]["state"] == "TASK_STATE_COMPLETED" {
                return;
            }
            tokio::task::yield_now().await;
        }
    };
    timeout(SOON, ended).await.unwrap();
}

#[tokio::test]
async fn a_stream_that_is_refused_before_it_starts_is_a_plain_error() {
    let (_gateway, caller) = demo().await;
    for (method, params) in
        [("SubscribeToTask", json!({"id": "nothing"})), ("SendStreamingMessage", json!({}))]
    {
        let body = json!({"jsonrpc": "2.0", "id": "s", "method": method, "params": params});
        let answer = caller.post(body.to_string()).await;
        assert_eq!((answer.status, answer.media.as_str()), (200, "application/json"), "{method}");
        assert_eq!(answer.json()["id"], "s");
    }
}

#[tokio::test]
async fn a_stream_of_a_task_that_stays_queued_ends_with_an_error_when_the_gateway_stops() {
    let gateway = TestGateway::start().await;
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let caller = Caller::of(&gateway, &provider.agent("echo"));
    // The first is offered and never answered, so the second stays behind it.
    let first = caller.result("SendMessage", at_once(message("one"))).await["task"]["contextId"].clone();
    let mut second = message("two");
    second["message"]["contextId"] = first;
    let mut stream = caller.open("SendStreamingMessage", second, "").await;
    stream.event().await.unwrap();
    let stopping = tokio::spawn(gateway.stop());
    let rest = events(stream.rest().await.trim_start_matches(":\n"));
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0].1["error"]["code"], -32056);
    assert_eq!(rest[0].1["id"], "s");
    stopping.await.unwrap();
}
