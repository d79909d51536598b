//! The bytes of an AG-UI stream, and when it ends.

use funduq_core::RunStatus;
use serde_json::{Value, json};

use crate::support::{Provider, Raw, TestGateway, events, finished, input, request, started};

fn delta(text: &str) -> String {
    json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": text }).to_string()
}

/// What the frames of these events are, to the byte.
fn framed(run: &str, texts: &[String]) -> String {
    (1..).zip(texts).map(|(number, text): (u64, _)| format!("id: {run}:{number}\ndata: {text}\n\n")).collect()
}

#[tokio::test]
async fn an_answer_is_the_providers_bytes_in_frames_and_nothing_else() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let odd = [
        r#"{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}"#.to_owned(),
        r#"{ "type" : "TEXT_MESSAGE_CONTENT", "messageId":"m","delta":"é世\u00e9👩‍🚀\r\n\u2028" ,"more":1.50e+3 }"#.to_owned(),
        r#"{"a":1,"type":"FROM_THE_FUTURE","b":[null,{}]}"#.to_owned(),
        r#"{"type":"TEXT_MESSAGE_END","messageId":"m"}"#.to_owned(),
    ];
    let texts = provider.play(&offer, &odd).await;

    let mut answer = asked.await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    assert_eq!(answer.header("x-accel-buffering"), Some("no"));
    assert_eq!(answer.rest().await, framed(offer.run.run_id.as_str(), &texts));
    gateway.stop().await;
}

#[tokio::test]
async fn json_that_has_line_ends_is_one_event_all_the_same() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    provider.play(&offer, &["{\n\"type\": \"CUSTOM\",\r\n\"name\": \"n\", \"value\": 1\n}".to_owned()]).await;

    let body = asked.await.unwrap().rest().await;
    let frame = body.split("\n\n").nth(1).unwrap();
    let expected = "data: {\ndata: \"type\": \"CUSTOM\",\ndata: \"name\": \"n\", \"value\": 1\ndata: }";
    assert_eq!(frame.split_once('\n').unwrap().1, expected);
    gateway.stop().await;
}

#[tokio::test]
async fn whatever_is_ready_goes_out_together_and_no_frame_or_character_is_split() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move {
        let mut answer = Raw::post(&url, &input("hello")).await;
        let mut chunks = Vec::new();
        while let Some(chunk) = answer.chunk().await {
            assert!(chunk.starts_with("id: ") && chunk.ends_with("\n\n"), "{chunk:?}");
            chunks.push(chunk);
        }
        chunks
    });
    let offer = provider.accept().await;
    let many: Vec<_> = (0..2000).map(|n| delta(&"👩‍🚀é世".repeat(n % 7 + 1))).collect();
    let texts = provider.play(&offer, &many).await;

    let chunks = asked.await.unwrap();
    assert_eq!(chunks.concat(), framed(offer.run.run_id.as_str(), &texts));
    gateway.stop().await;
}

#[tokio::test]
async fn a_large_event_comes_through_whole() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await.rest().await });
    let offer = provider.accept().await;
    let texts = provider.play(&offer, &[delta(&"世界".repeat(1 << 20))]).await;
    assert!(texts[1].len() > 6 << 20);
    assert!(asked.await.unwrap() == framed(offer.run.run_id.as_str(), &texts));
    gateway.stop().await;
}

#[tokio::test]
async fn silence_is_broken_by_a_comment_line_without_a_blank_one() {
    let gateway = TestGateway::configured(|config| config.keep_alive = "20ms".parse().unwrap()).await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let mut answer = asked.await.unwrap();
    for _ in 0..3 {
        assert_eq!(answer.chunk().await.unwrap(), ":\n");
    }
    let texts = provider.play(&offer, &[]).await;
    let rest = answer.rest().await.replace(":\n", "");
    assert_eq!(rest, framed(offer.run.run_id.as_str(), &texts).replace(":\n", ""));
    gateway.stop().await;
}

#[tokio::test]
async fn what_a_caller_says_it_accepts_changes_nothing() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    for accept in ["application/vnd.ag-ui.event+proto", "application/json", "*/*", "nonsense"] {
        let url = url.clone();
        let asked = tokio::spawn(async move {
            let body = input("hello").to_string();
            let headers = format!("accept: {accept}\r\ncontent-length: {}\r\n", body.len());
            Raw::send(&url, &request("POST", &url, &headers), body.as_bytes()).await
        });
        let offer = provider.accept().await;
        provider.play(&offer, &[]).await;
        let mut answer = asked.await.unwrap();
        assert_eq!(answer.header("content-type"), Some("text/event-stream"), "{accept}");
        assert_eq!(events(&answer.rest().await).len(), 2);
    }
    gateway.stop().await;
}

#[tokio::test]
async fn the_body_ends_right_after_the_first_terminal_event() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let run = &offer.run.run_id;
    provider.event(run, 1, &started(&offer)).await;
    provider.event(run, 2, r#"{"type":"RUN_ERROR","message":"no"}"#).await;
    provider.event(run, 3, &finished(&offer)).await;
    // The provider has neither finished nor left; the caller is answered all the same.
    let seen = events(&asked.await.unwrap().rest().await);
    assert_eq!(
        seen.iter().map(|(_, event)| event["type"].as_str().unwrap()).collect::<Vec<_>>(),
        ["RUN_STARTED", "RUN_ERROR"]
    );
    gateway.stop().await;
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_its_run_running() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = provider.accept().await;
    let run = offer.run.run_id.clone();
    provider.event(&run, 1, &started(&offer)).await;
    let mut answer = asked.await.unwrap();
    answer.event().await.unwrap();
    drop(answer);
    provider.event(&run, 2, &finished(&offer)).await;
    gateway.until_run_is(run.as_str(), RunStatus::Completed).await;
    gateway.stop().await;
}

#[tokio::test]
async fn an_agent_that_is_offline_is_a_run_that_failed() {
    let gateway = TestGateway::start().await;
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let agent = provider.agent("echo");
    drop(provider);
    gateway.until_online_is(&agent, false).await;
    let mut answer = Raw::post(&gateway.agui(&agent), &input("hello")).await;
    assert_eq!(answer.status, 200);
    let seen = events(&answer.rest().await);
    let [(first, begun), (second, error)] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!(begun["type"], "RUN_STARTED");
    assert_eq!(begun["protocolVersion"], "1.0");
    assert!(begun["threadId"].is_string());
    let run = begun["runId"].as_str().unwrap();
    assert_eq!((error["type"].as_str(), error["code"].as_str()), (Some("RUN_ERROR"), Some("agent_offline")));
    assert_eq!((first.as_str(), second.as_str()), (&*format!("{run}:1"), &*format!("{run}:2")));
    gateway.stop().await;
}

#[tokio::test]
async fn what_funduq_says_about_no_run_has_no_id() {
    let gateway = TestGateway::start().await;
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let mut asked = input("yes");
    asked["resume"] = json!([{ "interruptId": "i", "status": "resolved" }]);
    let mut answer = Raw::post(&gateway.agui(&provider.agent("echo")), &asked).await;
    assert_eq!(answer.status, 200);
    let seen = events(&answer.rest().await);
    let types: Vec<Value> = seen.iter().map(|(_, event)| event["type"].clone()).collect();
    assert_eq!(types, ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_ERROR"]);
    assert!(seen.iter().all(|(id, _)| id.is_empty()));
    assert_eq!(seen[2].1["code"], "no_pending_ask");
    gateway.stop().await;
}

#[tokio::test]
async fn a_thread_given_out_beforehand_is_the_one_that_the_run_carries() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let mut created = Raw::post(&format!("{url}/threads"), &json!({})).await;
    assert_eq!(created.status, 201);
    let thread = created.json().await["threadId"].as_str().unwrap().to_owned();
    let input = crate::support::input_on(&thread, "hello");
    let asked = tokio::spawn(async move { Raw::post(&url, &input).await });
    let offer = provider.accept().await;
    assert_eq!(offer.run.thread_id.as_str(), thread);
    assert_eq!(offer.run.input.thread_id, thread);
    provider.play(&offer, &[]).await;
    asked.await.unwrap().rest().await;
    gateway.stop().await;
}
