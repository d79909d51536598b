//! What of a run input an agent is handed: what AG-UI has no name for is carried, and a legacy null is nothing.

use serde_json::{Value, json};

use crate::support::{Heard, Provider, TestGateway, client};

/// What the agent is handed when this is posted.
async fn handed(gateway: &TestGateway, provider: &mut Provider, body: &str) -> Value {
    let asking = client().post(gateway.agui(&provider.agent("echo"))).body(body.to_owned());
    let asked = tokio::spawn(Heard::of(asking));
    let offer = provider.accept().await;
    provider.play(&offer, &[]).await;
    assert_eq!(asked.await.unwrap().last_event(), "RUN_FINISHED");
    serde_json::from_str(&offer.run.input.to_json()).unwrap()
}

#[tokio::test]
async fn thread_run_and_messages_suffice_and_null_is_as_good_as_absent() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let bare = r#"{"threadId":"new","runId":"new","messages":[{"id":"m","role":"user","content":"hi"}]}"#;
    let mut bare = handed(&gateway, &mut provider, bare).await;
    let nulls = json!({
        "threadId": "new", "runId": "new", "protocolVersion": null, "parentRunId": null, "state": null, "tools": null,
        "context": null, "forwardedProps": null, "resume": null,
        "messages": [{ "id": "m", "role": "user", "content": "hi", "name": null, "encryptedValue": null }],
    });
    let mut nulls = handed(&gateway, &mut provider, &nulls.to_string()).await;
    // The ids are funduq's, and new each time.
    for input in [&mut bare, &mut nulls] {
        for id in ["threadId", "runId"] {
            assert!(input[id].take().is_string());
        }
    }
    assert_eq!(nulls, bare);
    assert_eq!(bare["messages"], json!([{ "id": "m", "role": "user", "content": "hi" }]));
    drop(provider);
    gateway.stop().await;
}

#[tokio::test]
async fn members_that_nobody_knows_reach_the_agent_as_they_were_sent() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    // Each with what a reader that makes values of it would change: order, numbers, escapes, nulls.
    let odd = r#"{"z":1.0,"a":[1e2,12345678901234567890123,"\u00e9"],"n":null}"#;
    let body = format!(
        r#"{{"threadId":"new","runId":"new","x-mine":{odd},"state":{odd},"context":[{{"description":"d","value":"v","x":{odd}}}],
        "tools":[{{"name":"t","description":"d","parameters":{odd},"x":{odd}}}],"forwardedProps":{{"mine":{odd}}},
        "messages":[{{"id":"m","role":"user","content":"hi","x":{odd}}}]}}"#
    );
    let asking = client().post(gateway.agui(&provider.agent("echo"))).body(body);
    let asked = tokio::spawn(Heard::of(asking));
    let offer = provider.accept().await;
    provider.play(&offer, &[]).await;
    assert_eq!(asked.await.unwrap().last_event(), "RUN_FINISHED");
    let text = offer.run.input.to_json();
    assert_eq!(text.matches(odd).count(), 7, "{text}");
    let input: Value = serde_json::from_str(&text).unwrap();
    for member in [
        &input["x-mine"],
        &input["state"],
        &input["context"][0]["x"],
        &input["tools"][0]["parameters"],
        &input["tools"][0]["x"],
        &input["forwardedProps"]["mine"],
        &input["messages"][0]["x"],
    ] {
        assert_eq!(member["z"], 1.0, "{text}");
    }
    drop(provider);
    gateway.stop().await;
}
