//! Somebody else's threads and tasks, and words in funduq's own name.

use funduq_contract::RunId;
use serde_json::{Value, json};

use crate::ground::Ground;
use crate::support::{Heard, Provider, input_on, post};

async fn call(url: &str, method: &str, params: Value) -> Heard {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string();
    post(url, &call, &vec![("a2a-version", "1.0".to_owned())]).await
}

fn message(more: Value) -> Value {
    let mut message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hello"}]});
    message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"message": message})
}

#[tokio::test]
async fn a_planted_funduq_key_never_reaches_the_agent_nor_the_record() {
    let ground = Ground::new().await;
    let mut provider = Provider::serving(&ground, &["watch"]).await;
    let agent = provider.agent("watch");
    let (agui, a2a) =
        (ground.agui(&agent), format!("{}/a2a/{}/{}", ground.url(), agent.provider, agent.name));
    let planted =
        json!({"failureReason": "planted", "actorChain": ["planted"], "kyok": {"token": "planted"}});

    let mut body = input_on("new", "hello");
    body["forwardedProps"] = json!({"funduq": planted, "own": {"funduq": "kept"}});
    let asked = tokio::spawn(async move { post(&agui, &body.to_string(), &Vec::new()).await });
    let offer = provider.accept().await;
    let input: Value = serde_json::from_str(&offer.run.input.to_json()).unwrap();
    assert_eq!(input["forwardedProps"], json!({"own": {"funduq": "kept"}}));
    let run = offer.run.run_id.clone();
    provider.play(&offer, &[]).await;
    asked.await.unwrap();

    let mut params = message(json!({"metadata": {"funduq": planted, "own": 1}}));
    params["metadata"] = json!({"funduq": planted, "own": 1});
    let asked = tokio::spawn(async move { call(&a2a, "SendMessage", params).await });
    let offer = provider.accept().await;
    let input: Value = serde_json::from_str(&offer.run.input.to_json()).unwrap();
    assert_eq!(input["forwardedProps"], json!({"own": 1}));
    let text = input["messages"][0]["metadata"].clone();
    assert!(text.get("funduq").is_none(), "{text}");
    assert_eq!(text["own"], 1);
    let task = offer.run.run_id.clone();
    provider.play(&offer, &[]).await;
    asked.await.unwrap();

    for id in [run, task] {
        let recorded = ground.read(&format!("/runs/{id}")).await;
        assert!(!recorded["metadata"].to_string().contains("planted"), "{recorded}");
    }
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn another_agents_thread_and_task_are_not_to_be_had() {
    let ground = Ground::new().await;
    // A conversation with one agent, and its task.
    let heard = call(&ground.a2a_url(), "SendMessage", message(json!({}))).await.json();
    let task = &heard["result"]["task"];
    let (task, thread) =
        (task["id"].as_str().unwrap().to_owned(), task["contextId"].as_str().unwrap().to_owned());
    // And another agent, of a provider that would like to have it.
    let thief = Provider::serving(&ground, &["thief"]).await;
    let agent = thief.agent("thief");
    let (agui, a2a) =
        (ground.agui(&agent), format!("{}/a2a/{}/{}", ground.url(), agent.provider, agent.name));

    let heard = post(&agui, &input_on(&thread, "mine now").to_string(), &Vec::new()).await;
    assert_eq!(heard.refusal(), (404, "thread_of_another_agent".to_owned()));
    let heard = call(&a2a, "SendMessage", message(json!({"contextId": thread}))).await;
    assert_eq!(heard.json()["error"]["code"], -32602);
    for (method, params) in [
        ("GetTask", json!({"id": task})),
        ("CancelTask", json!({"id": task})),
        ("SubscribeToTask", json!({"id": task})),
        ("SendMessage", message(json!({"taskId": task}))),
    ] {
        let heard = call(&a2a, method, params).await;
        assert_eq!(heard.json()["error"]["code"], -32001, "{method}: {heard:?}");
    }
    let page = call(&a2a, "ListTasks", json!({"contextId": thread})).await.json();
    assert_eq!(page["result"]["tasks"], json!([]));
    let replay = crate::support::get_as(None, &format!("{agui}/runs/{task}")).await;
    assert_eq!(replay.refusal(), (404, "run_not_found".to_owned()));
    // Nothing of it was written to the thread.
    let runs = ground.read(&format!("/threads/{thread}/runs")).await;
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1);
    assert!(
        ground.funduq().run(&RunId::new(task.as_str()).unwrap()).await.unwrap().unwrap().status.is_terminal()
    );
    ground.ends_unharmed().await;
}
