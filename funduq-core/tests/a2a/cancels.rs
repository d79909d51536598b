//! Cancelling: what is not claimed ends at once, what waits is closed, what works is asked.

use funduq_a2a::{A2aError, TaskState};
use funduq_core::RunStatus;
use serde_json::{Value, json};

use crate::desk::*;
use crate::scripted::Heard;

fn said(task: &funduq_a2a::Task) -> Value {
    serde_json::to_value(&task.metadata).unwrap()["funduq"].clone()
}

#[test]
fn a_cancel_of_a_working_task_is_a_request_and_what_happens_is_what_is_recorded() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "hello")).await;
        let offer = desk.take().await;
        for _ in 0..2 {
            let asked = desk.cancel(&task.id).await.unwrap();
            assert_eq!(asked.status.state, TaskState::Working);
            assert_eq!(said(&asked)["cancelRequested"], true, "a second cancel returns the task again");
        }
        let cancels = desk.provider.heard().iter().filter(|heard| matches!(heard, Heard::Cancel(_))).count();
        assert_eq!(cancels, 1);
        desk.say(&offer.run.run_id, 0, &turn("a", &["all the same"])).await;
        desk.settled(&task.id).await;
        let ended = desk.get(&task.id).await;
        assert_eq!(ended.status.state, TaskState::Completed);
        assert_eq!(said(&ended)["cancelRequested"], true);
        assert!(matches!(a2a(desk.cancel(&task.id).await.unwrap_err()), A2aError::TaskNotCancelable { .. }));
    });
}

#[test]
fn a_working_task_that_stops_is_canceled_in_stream_and_record() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        let task = stream.task_id().as_str().to_owned();
        let offer = desk.play(&[started()]).await;
        desk.cancel(&task).await.unwrap();
        let stopped =
            json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "cancelled"}});
        desk.say(&offer.run.run_id, 1, &[stopped]).await;
        let events = rest(&mut stream).await;
        assert_eq!(last_state(&events), TaskState::Canceled);
        let ended = desk.get(&task).await;
        assert_eq!(as_json(&events.last().unwrap().event)["statusUpdate"]["status"], json!(ended.status));
    });
}

#[test]
fn a_cancel_of_an_unclaimed_task_ends_it_at_once() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        let task = stream.task_id().as_str().to_owned();
        let canceled = desk.cancel(&task).await.unwrap();
        assert_eq!(canceled.status.state, TaskState::Canceled);
        assert_eq!(last_state(&rest(&mut stream).await), TaskState::Canceled);
        assert!(matches!(a2a(desk.cancel(&task).await.unwrap_err()), A2aError::TaskNotCancelable { .. }));
    });
}

#[test]
fn a_cancel_of_a_waiting_task_closes_it() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        let canceled = desk.cancel(&task.id).await.unwrap();
        assert_eq!(canceled.id, task.id);
        assert_eq!(canceled.status.state, TaskState::Canceled);
        assert_eq!(said(&canceled)["cancelRequested"], true);
        assert_eq!(said(&canceled).get("interrupts"), None);
        assert_eq!(desk.get(&task.id).await, canceled);
        let error = a2a(desk.send(message_with("m-2", "yes", json!({"taskId": task.id}))).await.unwrap_err());
        assert_eq!(error.code(), -32004);
        let thread = funduq_contract::ThreadId::new(task.context_id.unwrap()).unwrap();
        let runs = desk.bench.funduq.thread_runs(&thread, 0, 9).await.unwrap();
        assert_eq!(
            runs.iter().map(|run| run.status).collect::<Vec<_>>(),
            [RunStatus::Completed, RunStatus::Cancelled]
        );
        assert!(
            desk.provider.heard().iter().all(|heard| !matches!(heard, Heard::Offer(_) | Heard::Cancel(_)))
        );
        let listed = desk.list(json!({"contextId": thread})).await;
        assert_eq!((listed.total_size, &listed.tasks[0].status), (1, &canceled.status));
    });
}

#[test]
fn a_cancel_and_an_answer_at_once_leave_one_of_them() {
    at_every_desk(|desk| async move {
        let task = desk.ask("ask", "Go on?").await;
        let mut answer = message_with("m-2", "yes", json!({"taskId": task.id}));
        answer["configuration"] = json!({"returnImmediately": true});
        let (answered, canceled) = tokio::join!(desk.send(answer), desk.cancel(&task.id));
        let state = desk.get(&task.id).await.status.state;
        match answered {
            // The answer was first: the cancel was of the task that went on, and nobody had claimed that yet.
            Ok(_) => assert_eq!(state, TaskState::Canceled),
            Err(error) => {
                assert_eq!(a2a(error).code(), -32004);
                assert_eq!(state, TaskState::Canceled);
            }
        }
        assert_eq!(canceled.unwrap().status.state, TaskState::Canceled);
    });
}

#[test]
fn a_cancel_counts_for_the_task_and_not_for_what_else_is_on_its_thread() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "one")).await;
        let other = desk.post(message_with("m-2", "two", json!({"contextId": task.context_id}))).await;
        desk.take().await;
        desk.cancel(&other.id).await.unwrap();
        assert_eq!(desk.get(&task.id).await.status.state, TaskState::Working);
    });
}
