//! Large tasks and long contexts, read over HTTP.

use std::time::Instant;

use serde_json::{Value, json};

use crate::house::{House, input};
use crate::{Figure, client, p50};

/// How many events the large task has.
const EVENTS: usize = 10_000;
/// How many tasks the long context has.
const TASKS: usize = 10_000;
const PAGE: usize = 50;

async fn call(url: &str, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let answer = client::post(url, &body).await.body().await;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    answer["result"].clone()
}

pub(crate) async fn measure() -> Vec<Figure> {
    let house = House::build().await;
    let url = house.a2a();
    let large = message(&url, EVENTS).await["id"].as_str().unwrap().to_owned();
    let mut times = Vec::new();
    for _ in 0..30 {
        let began = Instant::now();
        let task = call(&url, "GetTask", json!({ "id": large })).await;
        times.push(began.elapsed());
        assert_eq!(task["id"], large.as_str());
    }
    let get_task = p50(times);

    let context = message(&url, 5).await["contextId"].as_str().unwrap().to_owned();
    let agui = input(5).replace(r#""threadId":"new""#, &format!(r#""threadId":"{context}""#));
    for _ in 1..TASKS {
        assert_eq!(client::post(&house.agui(), &agui).await.events().await, 5);
    }
    let mut times = Vec::new();
    let (mut token, mut seen) = (String::new(), 0);
    loop {
        let params = json!({ "contextId": context, "pageSize": PAGE, "pageToken": token });
        let began = Instant::now();
        let page = call(&url, "ListTasks", params).await;
        times.push(began.elapsed());
        assert_eq!(page["totalSize"], TASKS);
        seen += page["tasks"].as_array().unwrap().len();
        token = page["nextPageToken"].as_str().unwrap().to_owned();
        if token.is_empty() {
            break;
        }
    }
    assert_eq!(seen, TASKS);
    house.take_down().await;
    // Each tenth of the pages by itself: a page is to be as fast at the end as at the beginning.
    let depths = times.chunks(times.len().div_ceil(10)).map(|tenth| p50(tenth.to_vec()));
    let slowest = depths.fold(0.0, f64::max);
    vec![
        Figure::new("get_task_of_10000_events_p50_ms", get_task).at_most(20.0),
        Figure::new("list_tasks_page_of_10000_p50_ms", p50(times)),
        Figure::new("list_tasks_page_of_10000_slowest_depth_p50_ms", slowest).at_most(10.0),
    ]
}

/// Has a message answered with so many events, and returns its task.
async fn message(url: &str, events: usize) -> Value {
    let message = json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": events.to_string() }] });
    call(url, "SendMessage", json!({ "message": message })).await["task"].clone()
}
