//! A task is a lineage of runs: questions, answers, and that everything is labelled with the task's id.

use funduq_a2a::{A2aError, TaskState};
use funduq_contract::RunId;
use serde_json::{Value, json};

use crate::desk::*;

#[test]
fn the_question_of_a_waiting_task_is_readable_by_a_stock_client() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        assert_eq!(task.status.state, TaskState::InputRequired);
        let message = task.status.message.unwrap();
        assert_eq!(message.parts[0].as_text(), Some("Go on?"));
        assert_eq!(message.task_id.as_deref(), Some(task.id.as_str()));
        let said = serde_json::to_value(&task.metadata).unwrap();
        let whole = json!([{"id": "i-1", "reason": "question", "message": "Go on?"}]);
        assert_eq!(said["funduq"]["interrupts"], whole);
    });
}

#[test]
fn a_run_that_ends_with_an_unanswered_tool_call_is_input_required_in_stream_and_record() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        desk.play(&[
            started(),
            json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "get_weather"}),
            json!({"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{}"}),
            json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
            finished(),
        ])
        .await;
        let events = rest(&mut stream).await;
        let task = desk.get(&whole(&events[0]).id).await;
        assert_eq!(task.status.state, TaskState::InputRequired);
        let last = as_json(&events.last().unwrap().event);
        assert_eq!(last["statusUpdate"]["status"], json!(task.status));
        let pending = json!([{"id": "c", "name": "get_weather", "arguments": "{}"}]);
        assert_eq!(last["statusUpdate"]["metadata"]["funduq"]["pendingToolCalls"], pending);
        assert_eq!(serde_json::to_value(&task.metadata).unwrap()["funduq"]["pendingToolCalls"], pending);
    });
}

#[test]
fn a_message_whose_taskid_names_a_waiting_task_answers_it_with_whatever_it_says() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        let answered = desk.post(message_with("m-2", "something else", json!({"taskId": task.id}))).await;
        assert_eq!(answered.id, task.id, "a task keeps its id across every answer");
        assert_eq!(answered.context_id, task.context_id);
        let offer = desk.take().await;
        let input: Value = serde_json::from_str(&offer.run.input.to_json()).unwrap();
        assert_ne!(offer.run.run_id.as_str(), task.id);
        assert_eq!(input["parentRunId"], json!(task.id));
        assert_eq!(input["messages"][0]["content"], "something else");
        assert_eq!(input.get("resume"), None);
        let recorded = desk.bench.funduq.run(&offer.run.run_id).await.unwrap().unwrap();
        assert_eq!(recorded.answers_run_id, Some(RunId::new(task.id).unwrap()));
    });
}

#[test]
fn get_task_reads_the_whole_lineage_and_every_event_is_labelled_with_the_task() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "ask")).await;
        let mut first = vec![started()];
        first.extend(words("a", &["one"]));
        first.push(interrupt("i-1", "Go on?"));
        desk.play(&first).await;
        desk.settled(&task.id).await;
        let mut stream = desk.stream(message_with("m-2", "yes", json!({"taskId": task.id}))).await;
        let offer = desk.play(&turn("b", &["two"])).await;
        let events = rest(&mut stream).await;
        let snapshot = whole(&events[0]);
        assert_eq!(snapshot.status.state, TaskState::Submitted);
        assert_eq!(
            texts(snapshot),
            [("a".to_owned(), "one".to_owned())],
            "the whole task, also in an answer's stream"
        );
        assert_eq!(ids(snapshot), ["m-1", &format!("{}-ask", task.id), "m-2"]);
        for event in &events[1..] {
            let json = as_json(&event.event);
            let update = json.as_object().unwrap().values().next().unwrap();
            assert_eq!((&update["taskId"], &update["contextId"]), (&json!(task.id), &json!(task.context_id)));
        }
        assert!(events.iter().all(|event| event.id.starts_with(offer.run.run_id.as_str())));
        let whole = desk.get(&task.id).await;
        assert_eq!(whole.id, task.id);
        assert_eq!(whole.status.state, TaskState::Completed);
        let both = [("a".to_owned(), "one".to_owned()), ("b".to_owned(), "two".to_owned())];
        assert_eq!(texts(&whole), both);
        let later = a2a(desk.door().get_task(&desk.agent, get(offer.run.run_id.as_str())).await.unwrap_err());
        assert_eq!(later.code(), -32001, "a later run's id is no task id");
    });
}

fn get(id: &str) -> funduq_a2a::GetTaskRequest {
    funduq_a2a::GetTaskRequest { id: id.into(), ..Default::default() }
}

#[test]
fn a_taskid_naming_a_task_that_has_ended_or_still_works_is_refused() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "x")).await;
        let follow_up = message_with("m-2", "and?", json!({"taskId": task.id}));
        for _ in 0..2 {
            let error = a2a(desk.send(follow_up.clone()).await.unwrap_err());
            assert!(matches!(error, A2aError::UnsupportedOperation(_)), "{error:?}");
            if desk.get(&task.id).await.status.state == TaskState::Submitted {
                desk.play(&turn("a", &["x"])).await;
                desk.settled(&task.id).await;
            }
        }
        assert_eq!(desk.get(&task.id).await.status.state, TaskState::Completed);
    });
}

#[test]
fn an_ask_is_answered_once() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        let answer = |id: &str| {
            let mut request = message_with(id, "yes", json!({"taskId": task.id}));
            request["configuration"] = json!({"returnImmediately": true});
            desk.send(request)
        };
        let (one, two) = tokio::join!(answer("m-2"), answer("m-3"));
        let refused = [one, two].into_iter().filter_map(Result::err).collect::<Vec<_>>();
        assert_eq!(refused.len(), 1);
        assert_eq!(a2a(refused.into_iter().next().unwrap()).code(), -32004);
    });
}

#[test]
fn a_taskid_says_its_context_and_another_one_beside_it_is_refused() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        let other = desk.post(text_message("m-9", "x")).await;
        let both = json!({"taskId": task.id, "contextId": other.context_id});
        let error = a2a(desk.send(message_with("m-2", "yes", both)).await.unwrap_err());
        assert_eq!(error.code(), -32602);
        desk.post(message_with("m-2", "yes", json!({"taskId": task.id, "contextId": task.context_id}))).await;
    });
}

#[test]
fn a_task_may_ask_again_and_again() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "One?").await;
        for at in 2..5 {
            let mut stream =
                desk.stream(message_with(&format!("m-{at}"), "yes", json!({"taskId": task.id}))).await;
            desk.play(&[started(), interrupt(&format!("i-{at}"), "And?")]).await;
            let events = rest(&mut stream).await;
            assert_eq!(last_state(&events), TaskState::InputRequired);
            let now = desk.get(&task.id).await;
            assert_eq!(as_json(&events.last().unwrap().event)["statusUpdate"]["status"], json!(now.status));
            assert_eq!(now.history.len(), 2 * at - 1);
        }
    });
}

#[test]
fn a_waiting_task_waits_over_a_restart_and_one_that_worked_has_failed() {
    at_every_desk(|desk| async move {
        let waiting = desk.ask("ask", "Go on?").await;
        let working = desk.post(text_message("m-2", "x")).await;
        desk.play(&[started()]).await;
        desk.later().await;
        let Desk { bench, agent, .. } = desk;
        let bench = bench.restart().await;
        let (provider, link, _) = bench.serving(None).await;
        let desk = Desk { bench, provider, link, agent };
        let orphan = desk.get(&working.id).await;
        assert_eq!(orphan.status.state, TaskState::Failed);
        assert_eq!(
            serde_json::to_value(&orphan.metadata).unwrap()["funduq"]["failureReason"],
            "orphaned_by_restart"
        );
        assert!(orphan.status.message.is_some());
        assert_eq!(desk.get(&waiting.id).await, waiting);
        let mut stream = desk.stream(message_with("m-3", "yes", json!({"taskId": waiting.id}))).await;
        desk.play(&turn("b", &["done"])).await;
        assert_eq!(last_state(&rest(&mut stream).await), TaskState::Completed);
    });
}
