//! What fits to the byte and to the level, and what becomes of what is one over: events, request bodies, JSON.

use funduq_agui::{MAX_DEPTH, MAX_EVENT_BYTES, MAX_INPUT_BYTES};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{Heard, Provider, Raw, TestGateway, client, events, input, started};

/// An event of so many bytes.
fn event_of(size: usize) -> String {
    let around = json!({ "type": "CUSTOM", "name": "n", "value": "" }).to_string().len();
    json!({ "type": "CUSTOM", "name": "n", "value": "x".repeat(size - around) }).to_string()
}

/// So many arrays inside one another.
fn nested(levels: usize) -> String {
    format!("{}{}", "[".repeat(levels), "]".repeat(levels))
}

/// Begins a run, and reads it to its end.
fn ask(url: &str) -> JoinHandle<String> {
    let url = url.to_owned();
    tokio::spawn(async move { Raw::post(&url, &input("hello")).await.rest().await })
}

/// An event that fits passes as its bytes, and one that does not ends its own run: others on the link go on.
async fn fits_and_not(gateway: &TestGateway, fits: &str, not: &str) {
    let mut provider = Provider::serving(gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let passing = ask(&url);
    let passes = provider.accept().await;
    let failing = ask(&url);
    let fails = provider.accept().await;
    provider.event(&fails.run.run_id, 1, &started(&fails)).await;
    provider.event(&fails.run.run_id, 2, not).await;
    let seen = events(&failing.await.unwrap());
    assert_eq!(seen.len(), 2, "nothing of it is shown");
    assert_eq!((&seen[1].1["type"], &seen[1].1["code"]), (&"RUN_ERROR".into(), &"malformed_event".into()));

    let texts = provider.play(&passes, &[fits.to_owned()]).await;
    let whole = passing.await.unwrap();
    let lines: Vec<_> = whole.lines().filter_map(|line| line.strip_prefix("data: ")).collect();
    assert!(lines == texts, "{} lines in place of {}", lines.len(), texts.len());
    // Out of the record as well.
    let again = Raw::get(&format!("{url}/runs/{}", passes.run.run_id), "").await.rest().await;
    assert!(again == whole, "{} bytes in place of {}", again.len(), whole.len());
}

#[tokio::test]
async fn an_event_of_eight_mebibytes_passes_and_one_byte_more_ends_its_run_alone() {
    let gateway = TestGateway::start().await;
    let (fits, not) = (event_of(MAX_EVENT_BYTES), event_of(MAX_EVENT_BYTES + 1));
    assert_eq!((fits.len(), not.len()), (8 << 20, (8 << 20) + 1));
    fits_and_not(&gateway, &fits, &not).await;
    gateway.stop().await;
}

#[tokio::test]
async fn an_event_of_128_levels_passes_and_one_level_more_ends_its_run_alone() {
    let gateway = TestGateway::start().await;
    // The event itself is one of them.
    let event = |levels| format!(r#"{{"type":"CUSTOM","name":"n","value":{}}}"#, nested(levels - 1));
    assert_eq!(MAX_DEPTH, 128);
    fits_and_not(&gateway, &event(MAX_DEPTH), &event(MAX_DEPTH + 1)).await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_body_of_sixteen_mebibytes_passes_and_one_byte_more_is_too_large() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let text_of = |size: usize| "x".repeat(size - input("").to_string().len());
    let (fits, not) = (text_of(MAX_INPUT_BYTES), text_of(MAX_INPUT_BYTES + 1));
    assert_eq!(input(&fits).to_string().len(), 16 << 20);
    let refused = Heard::of(client().post(&url).body(input(&not).to_string())).await;
    assert_eq!(refused.refusal(), (413, "body_too_large".to_owned()));

    let body = input(&fits);
    let asked = {
        let url = url.clone();
        tokio::spawn(async move { Raw::post(&url, &body).await.rest().await })
    };
    let offer = provider.accept().await;
    let delivered: Value = serde_json::from_str(&offer.run.input.to_json()).unwrap();
    assert!(delivered["messages"][0]["content"] == fits, "the agent has the whole of it");
    provider.play(&offer, &[]).await;
    let seen = asked.await.unwrap();
    assert_eq!(events(&seen).len(), 2);
    // With funduq's ids it is a little larger, and can be read out of the record all the same.
    let again = Raw::get(&format!("{url}/runs/{}", offer.run.run_id), "").await.rest().await;
    assert_eq!(again, seen);
    drop(provider);
    gateway.stop().await;
}

#[tokio::test]
async fn an_input_of_128_levels_passes_and_one_level_more_is_refused() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    // The input itself is one of them.
    let with = |levels: usize| {
        let state = nested(levels - 1);
        format!(r#"{{"threadId":"new","runId":"new","messages":[],"state":{state}}}"#)
    };
    let refused = Heard::of(client().post(&url).body(with(129))).await;
    assert_eq!(refused.refusal(), (400, "invalid_input".to_owned()));
    assert!(refused.json()["error"]["message"].as_str().unwrap().contains("128"), "{refused:?}");

    let asked = tokio::spawn(async move { Heard::of(client().post(&url).body(with(128))).await });
    let offer = provider.accept().await;
    assert!(offer.run.input.to_json().contains(&format!(r#""state":{}"#, nested(127))));
    provider.play(&offer, &[]).await;
    assert_eq!(asked.await.unwrap().last_event(), "RUN_FINISHED");
    drop(provider);
    gateway.stop().await;
}
