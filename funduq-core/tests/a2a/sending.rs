//! Sending messages: whose ids come back, what continues what, and what the agent gets.

use std::time::Duration;

use funduq_a2a::{SendMessageRequest, TaskState, WireMessage};
use funduq_contract::ThreadId;
use serde_json::json;
use tokio::time::timeout;

use crate::desk::*;

#[test]
fn a_task_id_is_funduqs_run_id_and_a_context_id_its_thread_id() {
    at_every_desk(|desk| async move {
        let answer = turn("answer", &["he", "llo"]);
        let (task, offer) = tokio::join!(desk.send(text_message("m-1", "hello")), desk.play(&answer));
        let task = task.unwrap();
        assert_eq!(task.id, offer.run.run_id.as_str());
        assert_eq!(task.context_id.as_deref(), Some(offer.run.thread_id.as_str()));
        assert_eq!(task.status.state, TaskState::Completed);
        assert_eq!(texts(&task), [("answer".to_owned(), "hello".to_owned())]);
        assert_eq!(task.history.len(), 1);
        assert_eq!(task.history[0].message_id, "m-1");
        assert_eq!(desk.get(&task.id).await, task);
    });
}

#[test]
fn funduq_translates_every_call_into_a_run_input() {
    at_every_desk(|desk| async move {
        let request = SendMessageRequest::from_json(
            br#"{"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hello"}],
                             "metadata": {"mine": [1.50]}},
                 "metadata": {"voucher": {"a": 1.0e1}, "funduq": {"planted": true}},
                 "configuration": {"returnImmediately": true}}"#,
        );
        desk.door().send_task(&desk.agent, request.unwrap(), None).await.unwrap();
        let offer = desk.take().await;
        assert!(
            offer.run.input.to_json().contains(r#""forwardedProps":{"voucher":{"a": 1.0e1}}"#),
            "as it was sent"
        );
        let input: serde_json::Value = serde_json::from_str(&offer.run.input.to_json()).unwrap();
        assert_eq!(
            input,
            json!({
                "threadId": offer.run.thread_id, "runId": offer.run.run_id, "protocolVersion": "1.0", "state": {},
                "messages": [{"id": "m-1", "role": "user", "content": "hello", "metadata": {"mine": [1.5]}}],
                "tools": [], "context": [], "forwardedProps": {"voucher": {"a": 10.0}},
            })
        );
        let history = desk.bench.funduq.thread_messages(&offer.run.thread_id, 0, 9).await.unwrap();
        assert!(
            history[0].message.json().contains("\"mine\":[1.50]"),
            "stored with the message, as it was sent"
        );
    });
}

#[test]
fn a_contextid_continues_the_thread_and_leaving_it_out_starts_another() {
    at_every_desk(|desk| async move {
        let first = desk.post(text_message("m-1", "one")).await;
        let second = desk.post(message_with("m-2", "two", json!({"contextId": first.context_id}))).await;
        let third = desk.post(text_message("m-3", "three")).await;
        assert_eq!(second.context_id, first.context_id);
        assert_ne!(second.id, first.id);
        assert_ne!(third.context_id, first.context_id);
    });
}

#[test]
fn a_message_sent_while_a_run_is_active_becomes_its_own_task_delivered_alongside() {
    at_every_desk(|desk| async move {
        let first = desk.post(text_message("m-1", "one")).await;
        let working = desk.take().await;
        let second = desk.post(message_with("m-2", "two", json!({"contextId": first.context_id}))).await;
        let beside = desk.take().await;
        desk.later().await;
        assert_eq!(beside.run.run_id.as_str(), second.id);
        assert_eq!(beside.run.thread_id, working.run.thread_id);
        assert_eq!(desk.get(&first.id).await.status.state, TaskState::Working);
        assert_eq!(desk.get(&second.id).await.status.state, TaskState::Working);
    });
}

#[test]
fn the_first_reference_is_the_new_threads_parent_and_nothing_more() {
    at_every_desk(|desk| async move {
        let parent = desk.post(text_message("m-1", "one")).await;
        let other = desk.post(text_message("m-2", "two")).await;
        let references = json!({"referenceTaskIds": [parent.id, other.id]});
        let child = desk.post(message_with("m-3", "three", references)).await;
        assert_ne!(child.context_id, parent.context_id);
        let thread = |id: &Option<String>| ThreadId::new(id.clone().unwrap()).unwrap();
        let recorded = desk.bench.funduq.thread(&thread(&child.context_id)).await.unwrap().unwrap();
        assert_eq!(recorded.parent, Some(thread(&parent.context_id)));
    });
}

#[test]
fn a_reference_may_name_the_task_of_another_agent() {
    at_every_desk(|desk| async move {
        let parent = desk.post(text_message("m-1", "one")).await;
        desk.bench.register(desk.link, &["echo", "other"]).await;
        let mut other = desk.agent.clone();
        other.name = "other".parse().unwrap();
        let mut request = message_with("m-2", "two", json!({"referenceTaskIds": [parent.id]}));
        request["configuration"] = json!({"returnImmediately": true});
        let child = desk.door().send_task(&other, send(request), None).await.unwrap();
        let thread = ThreadId::new(child.context_id.unwrap()).unwrap();
        let recorded = desk.bench.funduq.thread(&thread).await.unwrap().unwrap();
        assert_eq!(recorded.parent.unwrap().as_str(), parent.context_id.unwrap());
    });
}

#[test]
fn an_offline_agent_looks_like_a_failed_task_and_not_like_an_error() {
    at_every_desk(|desk| async move {
        desk.bench.register(desk.link, &[]).await;
        let task = desk.send(text_message("m-1", "hello")).await.unwrap();
        assert_eq!(task.status.state, TaskState::Failed);
        assert_eq!(task.status.message, None);
        let said = serde_json::to_value(&task.metadata).unwrap();
        assert_eq!(said["funduq"]["failureReason"], "agent_offline");
        let events = rest(&mut desk.stream(text_message("m-2", "hello")).await).await;
        assert_eq!(events.len(), 1);
        assert_eq!(whole(&events[0]).status, desk.get(&whole(&events[0]).id).await.status);
    });
}

#[test]
fn a_failed_task_says_what_the_agent_said() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        desk.play(&[started(), failed("no luck today")]).await;
        let events = rest(&mut stream).await;
        let task = desk.get(&whole(&events[0]).id).await;
        assert_eq!(task.status.state, TaskState::Failed);
        assert_eq!(task.status.message.as_ref().unwrap().parts[0].as_text(), Some("no luck today"));
        assert_eq!(as_json(&events.last().unwrap().event)["statusUpdate"]["status"], json!(task.status));
    });
}

#[test]
fn blocking_is_the_default_and_ends_at_the_end_or_when_the_task_waits() {
    at_every_desk(|desk| async move {
        for (end, state) in [
            (finished(), TaskState::Completed),
            (failed("no"), TaskState::Failed),
            (interrupt("i", "Go on?"), TaskState::InputRequired),
        ] {
            let mut sending = Box::pin(desk.send(text_message("m", "x")));
            assert!(timeout(Duration::from_secs(1), &mut sending).await.is_err());
            let offer = desk.play(&[started()]).await;
            let early = timeout(Duration::from_secs(3600), &mut sending).await;
            assert!(early.is_err(), "it waits for as long as the agent takes");
            desk.say(&offer.run.run_id, 1, &[end]).await;
            assert_eq!(sending.await.unwrap().status.state, state);
        }
    });
}

#[test]
fn a_caller_that_does_not_wait_has_the_task_at_once() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "hello")).await;
        assert_eq!(task.status.state, TaskState::Submitted);
        desk.play(&turn("a", &["x"])).await;
        desk.settled(&task.id).await;
        assert_eq!(desk.get(&task.id).await.status.state, TaskState::Completed);
    });
}

#[test]
fn a_blocking_caller_keeps_nobody_from_the_stream_and_stops_nothing_by_leaving() {
    at_every_desk(|desk| async move {
        let mut sending = Box::pin(desk.send(text_message("m", "x")));
        assert!(timeout(Duration::from_secs(1), &mut sending).await.is_err());
        let offer = desk.play(&[started()]).await;
        let mut stream = desk.subscribe(offer.run.run_id.as_str(), None).await.unwrap();
        drop(sending);
        desk.say(&offer.run.run_id, 1, &[finished()]).await;
        assert_eq!(last_state(&rest(&mut stream).await), TaskState::Completed);
    });
}

#[test]
fn the_history_is_as_long_as_was_asked_for() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        let answer = message_with("m-2", "yes", json!({"taskId": task.id}));
        let with = |length: i32| {
            let mut request = answer.clone();
            request["configuration"] = json!({"historyLength": length, "returnImmediately": true});
            request
        };
        let sent = desk.send(with(1)).await.unwrap();
        assert_eq!(ids(&sent), ["m-2"]);
        let get = |length: Option<i32>| desk.get_with(&task.id, length);
        assert_eq!(ids(&get(None).await), ["ask-1", &format!("{}-ask", task.id), "m-2"]);
        assert_eq!(ids(&get(Some(0)).await), [""; 0]);
        assert_eq!(ids(&get(Some(2)).await), [&format!("{}-ask", task.id), "m-2"]);
    });
}

#[test]
fn an_interjections_target_reaches_the_agent_under_funduqs_key() {
    at_every_desk(|desk| async move {
        let first = desk.post(text_message("m-1", "one")).await;
        desk.take().await;
        let mut request = message_with("m-2", "stop that", json!({"contextId": first.context_id}));
        request["metadata"] = json!({ funduq_contract::ADDRESSED_RUN_ID: first.id });
        let second = desk.post(request).await;
        let offer = desk.take().await;
        let input: serde_json::Value = serde_json::from_str(&offer.run.input.to_json()).unwrap();
        assert_eq!(input["forwardedProps"]["funduq"], json!({"addressedRunId": first.id}));
        assert_eq!(
            input["forwardedProps"][funduq_contract::ADDRESSED_RUN_ID],
            json!(first.id),
            "as it was sent"
        );
        assert_eq!(input.get("parentRunId"), None, "which is another intent");
        assert_ne!(second.id, first.id, "a task of its own");
    });
}
