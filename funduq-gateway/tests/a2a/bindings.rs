//! One table drives both bindings: each operation answers the same over JSON-RPC and HTTP+JSON.

use funduq_a2a::operation::{OPERATIONS, Verb};
use serde_json::{Value, json};

use crate::caller::{Caller, at_once, demo, message};
use crate::support::events;

/// What an operation is given, so that both bindings have something to say.
fn params(operation: &str, task: &str, context: &str) -> Value {
    match operation {
        "SendMessage" | "SendStreamingMessage" => message("hello"),
        "ListTasks" => json!({"contextId": context, "pageSize": 5}),
        "GetTask" => json!({"id": task, "historyLength": 1}),
        "CancelTask" | "SubscribeToTask" => json!({"id": task}),
        "GetExtendedAgentCard" => json!({}),
        _ => json!({"taskId": task, "id": "c", "url": "https://example.org"}),
    }
}

/// What a binding answered: the results, or the error by its reason.
#[derive(Debug, PartialEq)]
enum Said {
    Results(Vec<Value>),
    Error(String),
}

/// Takes out what differs from one call to the next: ids that funduq minted, and times.
fn plain(mut value: Value) -> Value {
    match &mut value {
        Value::Object(members) => {
            for name in ["id", "contextId", "taskId", "timestamp", "artifactId", "agui_events", "agui_event"]
            {
                members.remove(name);
            }
            for member in members.values_mut() {
                *member = plain(member.take());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| *item = plain(item.take())),
        _ => {}
    }
    value
}

async fn over_json_rpc(caller: &Caller, method: &str, params: Value) -> Said {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = caller.post(body.to_string()).await;
    let envelopes = match answer.media.as_str() {
        "text/event-stream" => events(&answer.body).into_iter().map(|(_, envelope)| envelope).collect(),
        _ => vec![answer.json()],
    };
    if let Some(error) = envelopes[0].get("error") {
        return Said::Error(error["data"][0]["reason"].as_str().unwrap().to_owned());
    }
    Said::Results(envelopes.into_iter().map(|envelope| plain(envelope["result"].clone())).collect())
}

async fn over_http_json(caller: &Caller, verb: Verb, path: &str, mut params: Value) -> Said {
    let members = params.as_object_mut().unwrap();
    let path = path.replace("{id}", members.get("id").and_then(Value::as_str).unwrap_or_default());
    let path = path.replace("{taskId}", members.get("taskId").and_then(Value::as_str).unwrap_or_default());
    let (path, body) = match verb {
        Verb::Post => (path, Some(params)),
        Verb::Get | Verb::Delete => {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let query: Vec<_> =
                members.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
            (format!("{path}?{}", query.join("&")), None)
        }
    };
    let answer = caller.rest(verb.as_str(), &path, body).await;
    match answer.media.as_str() {
        "text/event-stream" => {
            Said::Results(events(&answer.body).into_iter().map(|(_, event)| plain(event)).collect())
        }
        "application/a2a+json" => Said::Results(vec![plain(answer.json())]),
        _ => Said::Error(answer.json()["error"]["details"][0]["reason"].as_str().unwrap().to_owned()),
    }
}

#[tokio::test]
async fn each_operation_says_the_same_over_both_bindings() {
    let (_gateway, caller) = demo().await;
    let ended = caller.result("SendMessage", message("hello")).await["task"].clone();
    for row in &OPERATIONS {
        for verb in row.verbs {
            let given =
                params(row.method, ended["id"].as_str().unwrap(), ended["contextId"].as_str().unwrap());
            let rpc = over_json_rpc(&caller, row.method, given.clone()).await;
            let rest = over_http_json(&caller, *verb, row.path, given).await;
            assert_eq!(rpc, rest, "{}", row.method);
        }
    }
}

#[tokio::test]
async fn a_waiting_task_and_one_that_works_say_the_same_over_both_bindings() {
    let (_gateway, caller) = demo().await;
    let waiting = caller.result("SendMessage", message("ask")).await["task"]["id"].clone();
    let given = json!({"id": waiting});
    let rpc = over_json_rpc(&caller, "GetTask", given.clone()).await;
    assert_eq!(rpc, over_http_json(&caller, Verb::Get, "/tasks/{id}", given.clone()).await);
    let rpc = over_json_rpc(&caller, "SubscribeToTask", given.clone()).await;
    assert_eq!(rpc, over_http_json(&caller, Verb::Post, "/tasks/{id}:subscribe", given).await);
    let mut said = Vec::new();
    for binding in ["rpc", "rest"] {
        let working = caller.result("SendMessage", at_once(message("slow"))).await["task"]["id"].clone();
        let given = json!({"id": working});
        said.push(match binding {
            "rpc" => over_json_rpc(&caller, "CancelTask", given).await,
            _ => over_http_json(&caller, Verb::Post, "/tasks/{id}:cancel", given).await,
        });
    }
    let cancelled = |said: &Said| match said {
        Said::Results(results) => results[0]["status"]["state"].as_str().unwrap().to_owned(),
        Said::Error(error) => panic!("{error}"),
    };
    // Claimed already or not yet: the state says which, and both are told in the same words.
    assert!(
        said.iter()
            .all(|said| ["TASK_STATE_WORKING", "TASK_STATE_CANCELED"].contains(&cancelled(said).as_str()))
    );
}
