//! The roster and the record over HTTP.

use serde_json::{Value, json};

use crate::support::{Provider, Raw, TestGateway, client, events, input, input_on};

/// One turn from its question to its end, on a thread or a new one; answers with the thread's and the run's id.
async fn turn(
    gateway: &TestGateway,
    provider: &mut Provider,
    thread: Option<&str>,
    said: &[String],
) -> (String, String) {
    let url = gateway.agui(&provider.agent("echo"));
    let input = match thread {
        Some(thread) => input_on(thread, "hello"),
        None => input("hello"),
    };
    let asked = tokio::spawn(async move { Raw::post(&url, &input).await });
    let offer = provider.accept().await;
    provider.play(&offer, said).await;
    asked.await.unwrap().rest().await;
    (offer.run.thread_id.to_string(), offer.run.run_id.to_string())
}

fn message(text: &str) -> Vec<String> {
    let event = |event: Value| event.to_string();
    vec![
        event(json!({ "type": "TEXT_MESSAGE_START", "messageId": "a1", "role": "assistant" })),
        event(json!({ "type": "TEXT_MESSAGE_CONTENT", "messageId": "a1", "delta": text })),
        event(json!({ "type": "TEXT_MESSAGE_END", "messageId": "a1" })),
    ]
}

#[tokio::test]
async fn the_roster_says_who_is_here_and_where() {
    let gateway = TestGateway::start().await;
    let here = Provider::serving(&gateway, &["echo", "für alle"]).await;
    let gone = Provider::serving(&gateway, &["gone"]).await;
    let agent = gone.agent("gone");
    drop(gone);
    gateway.until_online_is(&agent, false).await;

    let roster = gateway.read("/agents").await;
    let agents = roster["agents"].as_array().unwrap();
    assert_eq!(agents.len(), 3);
    let find = |name: &str| agents.iter().find(|agent| agent["name"] == name).unwrap();
    let key = here.identity.public_key();
    let echo = find("echo");
    assert_eq!(echo["providerKey"], key.to_string());
    assert_eq!(echo["fingerprint"], key.fingerprint().to_string());
    assert_eq!(echo["online"], true);
    assert_eq!(find("gone")["online"], false);
    let url = gateway.url();
    assert_eq!(echo["aguiUrl"], format!("{url}/agui/{key}/echo"));
    assert_eq!(echo["agentCardUrl"], format!("{url}/a2a/{key}/echo/.well-known/agent-card.json"));
    for time in ["joinedAt", "lastSeenAt"] {
        assert!(echo[time].as_str().unwrap().ends_with('Z'), "{echo}");
    }
    assert_eq!(find("für alle")["aguiUrl"], format!("{url}/agui/{key}/f%C3%BCr%20alle"));
    gateway.stop().await;
}

#[tokio::test]
async fn an_agent_is_reached_at_the_address_that_the_roster_gives() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["für alle"]).await;
    let roster = gateway.read("/agents").await;
    let url = roster["agents"][0]["aguiUrl"].as_str().unwrap().to_owned();
    let by_fingerprint = url.replace(
        roster["agents"][0]["providerKey"].as_str().unwrap(),
        roster["agents"][0]["fingerprint"].as_str().unwrap(),
    );
    for url in [url, by_fingerprint] {
        let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
        let offer = provider.accept().await;
        provider.play(&offer, &[]).await;
        assert_eq!(events(&asked.await.unwrap().rest().await).len(), 2);
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_configured_address_is_the_one_that_is_given_out() {
    let gateway =
        TestGateway::configured(|config| config.public_url = "https://relay.example/funduq".parse().unwrap())
            .await;
    let _provider = Provider::serving(&gateway, &["echo"]).await;
    let roster = gateway.read("/agents").await;
    assert!(
        roster["agents"][0]["aguiUrl"].as_str().unwrap().starts_with("https://relay.example/funduq/agui/")
    );
    gateway.stop().await;
}

#[tokio::test]
async fn a_thread_has_its_messages_and_its_runs() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let (thread, first) = turn(&gateway, &mut provider, None, &message("hi, 世界")).await;
    let (same, second) = turn(&gateway, &mut provider, Some(&thread), &[]).await;
    assert_eq!(same, thread);

    let read = gateway.read(&format!("/threads/{thread}")).await;
    assert_eq!(read["threadId"], *thread);
    assert_eq!(read["agentName"], "echo");
    assert_eq!(read["providerKey"], provider.identity.public_key().to_string());

    let read = gateway.read(&format!("/threads/{thread}/messages")).await;
    let expected = json!({ "messages": [
        { "id": "m1", "role": "user", "content": "hello" },
        { "id": "a1", "role": "assistant", "content": "hi, 世界" },
    ]});
    assert_eq!(read, expected);

    let read = gateway.read(&format!("/threads/{thread}/runs?limit=1")).await;
    assert_eq!(read["runs"][0]["runId"], *first);
    assert_eq!(read["runs"][0]["status"], "completed");
    assert_eq!(read["next"], 1);
    let read = gateway.read(&format!("/threads/{thread}/runs?after=1")).await;
    assert_eq!(read["runs"][0]["runId"], *second);
    assert_eq!(read.get("next"), None);

    let read = gateway.read(&format!("/threads/{thread}/tree")).await;
    assert_eq!(read["threads"][0]["threadId"], *thread);
    assert_eq!(read["truncated"], false);
    gateway.stop().await;
}

#[tokio::test]
async fn a_run_has_its_input_and_its_events_page_by_page() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let (thread, run) = turn(&gateway, &mut provider, None, &message("hi")).await;

    let read = gateway.read(&format!("/runs/{run}")).await;
    assert_eq!(
        (&read["threadId"], &read["status"], &read["events"]),
        (&json!(thread), &json!("completed"), &json!(5))
    );
    assert_eq!(read["input"]["messages"][0]["content"], "hello");
    assert_eq!(read["metadata"], json!({ "funduq": {} }));

    let whole = gateway.read(&format!("/runs/{run}/events")).await;
    let types: Vec<_> =
        whole["events"].as_array().unwrap().iter().map(|event| event["type"].clone()).collect();
    assert_eq!(types.len(), 5);
    assert_eq!((&types[0], &types[4]), (&json!("RUN_STARTED"), &json!("RUN_FINISHED")));
    assert_eq!(whole.get("next"), None);
    let page = gateway.read(&format!("/runs/{run}/events?after=1&limit=2")).await;
    assert_eq!(page["events"].as_array().unwrap()[..], whole["events"].as_array().unwrap()[1..3]);
    assert_eq!(page["next"], 3);
    gateway.stop().await;
}

#[tokio::test]
async fn the_gateway_says_who_it_is_and_how_it_is() {
    let gateway = TestGateway::start().await;
    let about = gateway.read("/.well-known/funduq.json").await;
    assert_eq!(about["publicKey"], gateway.public_key().to_string());
    assert_eq!(about["contractRevision"], funduq_contract::CONTRACT_REVISION);
    assert_eq!(about["contractFingerprint"], funduq_contract::CONTRACT_FINGERPRINT);
    assert_eq!(about["aguiVersion"], "1.0");
    assert_eq!(about["a2aVersions"], json!(["1.0", "0.3"]));
    assert_eq!(about["paths"]["a2a"], "/a2a/{provider}/{agent}");
    assert_eq!(gateway.read("/healthz").await, json!({ "status": "alive" }));
    let ready = gateway.read("/readyz").await;
    assert_eq!(
        ready,
        json!({ "status": "ready", "checks": { "record": "ok", "schema": "ok", "dispatch": "ok" } })
    );
    gateway.stop().await;
}

#[tokio::test]
async fn a_relay_that_stops_is_alive_but_not_ready() {
    let gateway = TestGateway::start().await;
    gateway.funduq().shutdown(std::time::Duration::ZERO).await;
    let answer = client().get(gateway.url_of("/readyz")).send().await.unwrap();
    assert_eq!(answer.status(), 503);
    let ready: Value = answer.json().await.unwrap();
    assert_eq!((&ready["checks"]["dispatch"], &ready["checks"]["record"]), (&json!("failing"), &json!("ok")));
    assert_eq!(gateway.read("/healthz").await, json!({ "status": "alive" }));
    gateway.stop().await;
}
