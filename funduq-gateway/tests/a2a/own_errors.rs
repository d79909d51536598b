//! What A2A has no word for: funduq's status and body, and over JSON-RPC an error object that names it.

use funduq_contract::{ActorChain, Identity};
use serde_json::{Value, json};

use crate::caller::{Answer, Caller, at_once, demo, message, message_with};
use crate::support::{Provider, TestGateway};

async fn both(caller: &Caller, params: Value) -> (Answer, Answer) {
    let body = json!({"jsonrpc": "2.0", "id": 5, "method": "SendMessage", "params": params});
    (caller.post(body.to_string()).await, caller.rest("POST", "/message:send", Some(params)).await)
}

#[tokio::test]
async fn a_full_queue_is_a_429_that_says_when_to_come_back() {
    let gateway = TestGateway::configured(|config| config.thread_queue_limit = 1).await;
    // It is offered runs and never answers, so they wait.
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let caller = Caller::of(&gateway, &provider.agent("echo"));
    let first = caller.result("SendMessage", at_once(message("one"))).await["task"]["contextId"].clone();
    let next = at_once(message_with("two", json!({"contextId": first})));
    let (rpc, rest) = both(&caller, next).await;
    for answer in [&rpc, &rest] {
        assert_eq!(answer.status, 429, "{answer:?}");
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert_eq!(answer.media, "application/json");
    }
    let error = &rpc.json()["error"];
    assert_eq!((&rpc.json()["id"], &error["code"]), (&json!(5), &json!(-32050)));
    assert_eq!(
        (&error["data"][0]["reason"], &error["data"][0]["domain"]),
        (&json!("THREAD_QUEUE_FULL"), &json!("funduq"))
    );
    assert_eq!(rest.json()["error"]["code"], "thread_queue_full");
    assert_eq!(rest.json()["error"]["retryAfterSeconds"], 1);
}

#[tokio::test]
async fn a_chain_without_a_presenter_is_a_401_with_a_challenge() {
    let (_gateway, caller) = demo().await;
    let mut params = message("hello");
    params["metadata"] = json!({"actorChain": ActorChain::start(&Identity::generate())});
    let (rpc, rest) = both(&caller, params).await;
    for answer in [&rpc, &rest] {
        assert_eq!(answer.status, 401, "{answer:?}");
        assert!(answer.header("www-authenticate").is_some());
    }
    assert_eq!(rpc.json()["error"]["code"], -32051);
    assert_eq!(rpc.json()["error"]["data"][0]["reason"], "PRESENTER_REQUIRED");
    assert_eq!(rest.json()["error"]["code"], "presenter_required");
}
