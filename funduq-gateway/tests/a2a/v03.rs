//! A2A 0.3, which a caller speaks who names no version.

use serde_json::{Value, json};

use crate::caller::{Answer, Caller, demo};
use crate::support::events;

fn message(text: &str) -> Value {
    json!({"message": {"kind": "message", "messageId": "m", "role": "user", "parts": [{"kind": "text", "text": text}]}})
}

async fn call(caller: &Caller, method: &str, params: Value, accept: &str) -> Answer {
    let body = json!({"jsonrpc": "2.0", "id": "i", "method": method, "params": params});
    let request = caller.request("POST", "").header("accept", accept).body(body.to_string());
    Answer::of(request.send().await.unwrap()).await
}

#[tokio::test]
async fn a_caller_of_0_3_gets_0_3() {
    let (_gateway, caller) = demo().await;
    let sent = call(&caller, "message/send", message("ask"), "application/json").await.json();
    let task = &sent["result"];
    assert_eq!((&task["kind"], &task["status"]["state"]), (&json!("task"), &json!("input-required")));
    let question = &task["status"]["message"];
    assert_eq!((&question["kind"], &question["parts"][0]["kind"]), (&json!("message"), &json!("text")));
    let read = call(&caller, "tasks/get", json!({"id": task["id"]}), "*/*").await.json();
    assert_eq!(&read["result"], task);
    let canceled = call(&caller, "tasks/cancel", json!({"id": task["id"]}), "*/*").await.json();
    assert_eq!(canceled["result"]["status"]["state"], "canceled");
    let list = call(&caller, "ListTasks", json!({}), "*/*").await.json();
    assert_eq!(list["error"]["code"], -32601, "0.3 has no such method");
}

#[tokio::test]
async fn a_stream_of_0_3_says_which_update_is_final() {
    let (_gateway, caller) = demo().await;
    let answer = call(&caller, "message/stream", message("hello"), "text/event-stream").await;
    assert_eq!(answer.media, "text/event-stream");
    let seen: Vec<_> = events(&answer.body).into_iter().map(|(_, event)| event["result"].clone()).collect();
    let kinds: Vec<_> = seen.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "task").count(), 1);
    assert_eq!(kinds[0], "task");
    let finals: Vec<_> = seen.iter().filter(|event| event["final"] == json!(true)).collect();
    assert_eq!(finals, [seen.last().unwrap()]);
    assert_eq!(seen.last().unwrap()["status"]["state"], "completed");
}

#[tokio::test]
async fn a_stream_of_0_3_that_is_refused_is_a_stream_of_one_error() {
    let (_gateway, caller) = demo().await;
    let mut unknown = message("hello");
    unknown["message"]["taskId"] = json!("nothing");
    for (method, params, code) in [
        ("message/stream", unknown, -32001),
        ("message/stream", json!({}), -32602),
        ("tasks/resubscribe", json!({"id": "nothing"}), -32001),
    ] {
        let answer = call(&caller, method, params, "text/event-stream").await;
        assert_eq!((answer.status, answer.media.as_str()), (200, "text/event-stream"), "{method}");
        let seen = events(&answer.body);
        assert_eq!(seen.len(), 1);
        assert_eq!((&seen[0].1["error"]["code"], &seen[0].1["id"]), (&json!(code), &json!("i")));
    }
}

#[tokio::test]
async fn below_v1_the_http_json_binding_of_0_3_is_served() {
    let (_gateway, caller) = demo().await;
    let body = json!({"request": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "slow"}]},
        "configuration": {"blocking": false}});
    let sent = caller.request("POST", "/v1/message:send").body(body.to_string()).send().await.unwrap();
    let sent = Answer::of(sent).await;
    assert_eq!((sent.status, sent.media.as_str()), (200, "application/json"));
    let task = sent.json()["task"]["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/tasks/{task}:cancel");
    let canceled = caller.request("POST", &path).body(json!({"name": format!("tasks/{task}")}).to_string());
    assert_eq!(Answer::of(canceled.send().await.unwrap()).await.status, 200);
    let read = Answer::of(caller.request("GET", &format!("/v1/tasks/{task}")).send().await.unwrap()).await;
    assert_eq!(read.json()["id"], json!(task));
    let waiting = json!({"request": {"messageId": "m", "role": "ROLE_USER", "content": [{"text": "ask"}]}});
    let stream = caller.request("POST", "/v1/message:stream").body(waiting.to_string()).send().await.unwrap();
    let seen = events(&Answer::of(stream).await.body);
    let task = seen[0].1["task"]["id"].as_str().unwrap();
    let last = &seen.last().unwrap().1["statusUpdate"];
    assert_eq!(
        (&last["status"]["state"], &last["final"]),
        (&json!("TASK_STATE_INPUT_REQUIRED"), &json!(true))
    );
    let again = caller.request("GET", &format!("/v1/tasks/{task}:subscribe")).send().await.unwrap();
    assert_eq!(events(&Answer::of(again).await.body).len(), 1, "it waits, and says so");
}
