//! Listing tasks: by context, own agent only, newest status first, page by page while tasks change.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

use funduq_a2a::{ListTasksRequest, Task, TaskState, WireMessage};
use funduq_contract::AgentAddress;
use serde_json::{Value, json};

use crate::desk::*;

fn names(tasks: &[Task]) -> Vec<&str> {
    tasks.iter().map(|task| task.history[0].message_id.as_str()).collect()
}

/// A context with these tasks, the first of them the oldest; each one's status is recorded at a time of its own.
async fn context_of(desk: &Desk, count: usize) -> String {
    let first = desk.post(text_message("m-0", "x")).await;
    let context = first.context_id.unwrap();
    desk.play(&turn("a-0", &["x"])).await;
    desk.settled(&first.id).await;
    for at in 1..count {
        let begun = SystemTime::now();
        // Two statuses of one millisecond would tie.
        while begun.elapsed().unwrap() < Duration::from_millis(2) {
            std::thread::yield_now();
        }
        let task = desk.post(message_with(&format!("m-{at}"), "x", json!({"contextId": context}))).await;
        desk.play(&turn(&format!("a-{at}"), &["x"])).await;
        desk.settled(&task.id).await;
    }
    context
}

async fn fault(desk: &Desk, request: Value) -> i32 {
    let request = ListTasksRequest::from_json(request.to_string().as_bytes()).unwrap();
    a2a(desk.door().list_tasks(&desk.agent, request, None).await.unwrap_err()).code()
}

#[test]
fn without_a_context_nothing_is_visible_and_the_page_is_empty() {
    at_every_desk(|desk| async move {
        let context = context_of(&desk, 1).await;
        for request in [json!({}), json!({"contextId": "unknown"}), json!({"contextId": "a\nb"})] {
            let page = desk.list(request).await;
            assert_eq!((page.tasks.len(), page.total_size, page.page_size), (0, 0, 50));
            let json = serde_json::to_value(&page).unwrap();
            assert_eq!(json, json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0}));
        }
        desk.bench.register(desk.link, &["echo", "other"]).await;
        let other = AgentAddress { name: "other".parse().unwrap(), ..desk.agent.clone() };
        let request = ListTasksRequest { context_id: Some(context), ..ListTasksRequest::default() };
        assert!(desk.door().list_tasks(&other, request, None).await.unwrap().tasks.is_empty());
    });
}

#[test]
fn tasks_come_newest_status_first_without_artifacts_unless_asked() {
    at_every_desk(|desk| async move {
        let context = context_of(&desk, 3).await;
        let page = desk.list(json!({"contextId": context})).await;
        assert_eq!(names(&page.tasks), ["m-2", "m-1", "m-0"]);
        assert_eq!((page.total_size, page.page_size, page.next_page_token.as_str()), (3, 50, ""));
        let json = serde_json::to_value(&page).unwrap();
        assert!(json["tasks"].as_array().unwrap().iter().all(|task| task.get("artifacts").is_none()));
        let whole =
            desk.list(json!({"contextId": context, "includeArtifacts": true, "historyLength": 0})).await;
        assert_eq!(texts(&whole.tasks[0]), [("a-2".to_owned(), "x".to_owned())]);
        assert!(whole.tasks.iter().all(|task| task.history.is_empty()));
        for (listed, whole) in page.tasks.iter().zip(&whole.tasks) {
            let read = desk.get(&listed.id).await;
            assert_eq!((&listed.status, &listed.history), (&read.status, &read.history));
            assert_eq!((&whole.status, &whole.artifacts), (&read.status, &read.artifacts));
        }
    });
}

#[test]
fn a_page_ends_when_it_is_full_and_the_next_goes_on() {
    at_every_desk(|desk| async move {
        // Said by the caller in two of them, and by the agent in four.
        let (said, answered) = ("x".repeat(9 << 20), "y".repeat(6 << 20));
        let mut context = None;
        let mut ids = Vec::new();
        for (text, answer) in [
            ("a", &*answered),
            ("b", &answered),
            ("c", &answered),
            ("d", &answered),
            (&said, "e"),
            (&said, "f"),
        ] {
            let members = context.as_ref().map_or(json!({}), |context| json!({"contextId": context}));
            let task = desk.post(message_with(&format!("m-{}", ids.len()), text, members)).await;
            context = task.context_id;
            desk.play(&turn("a", &[answer])).await;
            desk.settled(&task.id).await;
            ids.insert(0, task.id);
        }
        // By what is read for it: two large inputs; and by what it has: the artifacts of four answers.
        for (artifacts, sizes) in [(false, &[2, 4][..]), (true, &[2, 3, 1])] {
            let mut listed: Vec<String> = Vec::new();
            let mut token = String::new();
            for size in sizes {
                let request =
                    json!({"contextId": context, "pageToken": token, "includeArtifacts": artifacts});
                let page = desk.list(request).await;
                assert_eq!((page.tasks.len(), page.total_size), (*size, 6));
                listed.extend(page.tasks.into_iter().map(|task| task.id));
                token = page.next_page_token;
            }
            assert_eq!(token, "");
            assert_eq!(listed, ids);
        }
    });
}

#[test]
fn pages_hold_each_task_once_while_tasks_change() {
    at_every_desk(|desk| async move {
        let context = context_of(&desk, 7).await;
        let mut seen = Vec::new();
        let mut token = String::new();
        loop {
            let request = json!({"contextId": context, "pageSize": 2, "pageToken": token});
            let page = desk.list(request).await;
            assert!(page.tasks.len() <= 2);
            seen.extend(names(&page.tasks).into_iter().map(str::to_owned));
            token = page.next_page_token;
            if token.is_empty() {
                break;
            }
            // A new task comes before everything, and moves nothing that is still to come.
            let id = format!("new-{}", seen.len());
            desk.post(message_with(&id, "x", json!({"contextId": context}))).await;
        }
        assert_eq!(seen, ["m-6", "m-5", "m-4", "m-3", "m-2", "m-1", "m-0"]);
        assert_eq!(desk.list(json!({"contextId": context})).await.total_size, 10);
    });
}

#[test]
fn an_answered_task_is_one_task_in_the_list_with_its_whole_history() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        let context = task.context_id.clone().unwrap();
        let waiting = desk.list(json!({"contextId": context, "status": "TASK_STATE_INPUT_REQUIRED"})).await;
        assert_eq!(waiting.tasks[0].status, task.status);
        assert_eq!(
            serde_json::to_value(&waiting.tasks[0].metadata).unwrap()["funduq"]["interrupts"][0]["id"],
            "i-1"
        );
        desk.post(message_with("m-2", "yes", json!({"taskId": task.id}))).await;
        let page = desk.list(json!({"contextId": context})).await;
        assert_eq!((page.total_size, page.tasks.len()), (1, 1));
        assert_eq!(page.tasks[0].id, task.id);
        assert_eq!(page.tasks[0].status.state, TaskState::Submitted);
        assert_eq!(ids(&page.tasks[0]), ["ask-1", &format!("{}-ask", task.id), "m-2"]);
        let last = desk.list(json!({"contextId": context, "historyLength": 1})).await;
        assert_eq!(ids(&last.tasks[0]), ["m-2"]);
    });
}

#[test]
fn the_filters_find_what_stands_so_and_since_when() {
    at_every_desk(|desk| async move {
        let context = context_of(&desk, 2).await;
        let ask = |id: &str, text: &str| desk.post(message_with(id, text, json!({"contextId": context})));
        let failing = ask("failing", "x").await;
        desk.play(&[started(), failed("no luck")]).await;
        desk.settled(&failing.id).await;
        ask("working", "x").await;
        desk.take().await;
        let canceled = ask("canceled", "x").await;
        desk.cancel(&canceled.id).await.unwrap();
        let of = |state: &str| desk.list(json!({"contextId": context, "status": state}));
        for (state, expected) in [
            ("TASK_STATE_COMPLETED", vec!["m-0", "m-1"]),
            ("TASK_STATE_FAILED", vec!["failing"]),
            ("TASK_STATE_WORKING", vec!["working"]),
            ("TASK_STATE_CANCELED", vec!["canceled"]),
            ("TASK_STATE_SUBMITTED", vec![]),
            ("TASK_STATE_INPUT_REQUIRED", vec![]),
            ("TASK_STATE_REJECTED", vec![]),
            ("TASK_STATE_UNSPECIFIED", vec!["canceled", "failing", "m-0", "m-1", "working"]),
        ] {
            let page = of(state).await;
            let found: BTreeSet<_> = names(&page.tasks).into_iter().collect();
            assert_eq!(found, expected.iter().copied().collect(), "{state}");
            assert_eq!(page.total_size as usize, expected.len(), "{state}");
        }
        let failed = of("TASK_STATE_FAILED").await.tasks.remove(0);
        assert_eq!(failed.status, desk.get(&failing.id).await.status, "with what the agent said");
        let oldest = desk
            .list(json!({"contextId": context, "status": "TASK_STATE_COMPLETED"}))
            .await
            .tasks
            .pop()
            .unwrap();
        let at = oldest.status.timestamp.unwrap();
        let since = |millis: i64| {
            let after = funduq_a2a::Timestamp::from_unix_millis(at.unix_millis() + millis).to_string();
            desk.list(json!({"contextId": context, "statusTimestampAfter": after, "status": "TASK_STATE_COMPLETED"}))
        };
        assert_eq!(since(0).await.total_size, 2, "the instant itself counts");
        assert_eq!(since(1).await.total_size, 1);
        assert_eq!(since(3_600_000).await.total_size, 0);
    });
}

#[test]
fn what_is_no_page_is_invalid_params() {
    at_every_desk(|desk| async move {
        let context = context_of(&desk, 1).await;
        for (member, value) in [
            ("pageSize", json!(0)),
            ("pageSize", json!(101)),
            ("pageSize", json!(-1)),
            ("pageToken", json!("next")),
            ("historyLength", json!(-1)),
            ("status", json!("TASK_STATE_OF_TOMORROW")),
        ] {
            assert_eq!(
                fault(&desk, json!({"contextId": context, member: value})).await,
                -32602,
                "{member} {value}"
            );
        }
        for size in [1, 100] {
            assert_eq!(desk.list(json!({"contextId": context, "pageSize": size})).await.page_size, size);
        }
    });
}
