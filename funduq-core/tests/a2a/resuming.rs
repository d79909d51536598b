//! Taking a stream up where it broke off: what was missed follows the whole task, without gap or double.

use funduq_a2a::{StreamResponse, TaskState};
use funduq_core::TaskEvent;
use serde_json::{Value, json};

use crate::desk::*;

fn updates(events: &[TaskEvent]) -> Vec<(String, Value)> {
    events.iter().map(|event| (event.id.clone(), as_json(&event.event))).collect()
}

/// Two runs of one task: the first asks, in chunks that make two updates of one event; the second answers.
async fn two_runs(desk: &Desk) -> (String, Vec<TaskEvent>, Vec<TaskEvent>) {
    let mut stream = desk.stream(text_message("m-1", "ask")).await;
    desk.play(&[
        started(),
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "a", "delta": "on"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "delta": "e"}),
        json!({"type": "STEP_STARTED", "stepName": "s"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "b", "delta": "two"}),
        interrupt("i", "Go on?"),
    ])
    .await;
    let first = rest(&mut stream).await;
    let task = whole(&first[0]).id.clone();
    let mut stream = desk.stream(message_with("m-2", "yes", json!({"taskId": task}))).await;
    desk.play(&turn("c", &["three"])).await;
    let second = rest(&mut stream).await;
    (task, first, second)
}

#[test]
fn from_every_place_of_a_stream_the_rest_is_what_was_missed() {
    at_every_desk(|desk| async move {
        let (task, first, second) = two_runs(&desk).await;
        let end = desk.get(&task).await;
        // The second run's stream, from each of its places.
        for at in 0..second.len() {
            let resumed = rest(&mut desk.subscribe(&task, Some(&second[at].id)).await.unwrap()).await;
            assert_eq!(resumed[0].id, second[at].id, "the task as it was there");
            assert_eq!(
                states_left_out(&updates(&resumed[1..])),
                states_left_out(&updates(&second[at + 1..]))
            );
            assert_eq!(sum(&resumed), end.artifacts);
            assert_eq!(last_state(&resumed), TaskState::Completed);
        }
        // From the first run's places on, through the question and on to the end.
        for at in 0..first.len() {
            let resumed = rest(&mut desk.subscribe(&task, Some(&first[at].id)).await.unwrap()).await;
            let mut expected = updates(&first[at + 1..]);
            expected.extend(updates(&second[1..]));
            assert_eq!(states_left_out(&updates(&resumed[1..])), states_left_out(&expected));
            assert_eq!(sum(&resumed), end.artifacts);
            assert_eq!(last_state(&resumed), TaskState::Completed);
        }
    });
}

/// The same without the times of states that were in between, which only who was there knows.
fn states_left_out(updates: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut updates = updates.to_vec();
    for (_, update) in &mut updates {
        if let Some(status) = update.pointer_mut("/statusUpdate/status") {
            status.as_object_mut().unwrap().remove("timestamp");
        }
    }
    updates
}

#[test]
fn a_stream_that_broke_off_goes_on_while_the_task_works() {
    at_every_desk(|desk| async move {
        let mut stream = desk.stream(text_message("m-1", "hello")).await;
        let offer = desk.take().await;
        let events = turn("a", &["1", "2", "3"]);
        desk.say(&offer.run.run_id, 0, &events[..4]).await;
        let mut seen = Vec::new();
        for _ in 0..3 {
            seen.push(stream.next().await.unwrap().unwrap());
        }
        let (task, last) = (stream.task_id().clone(), seen.last().unwrap().id.clone());
        drop(stream);
        let mut stream = desk.subscribe(task.as_str(), Some(&last)).await.unwrap();
        assert!(desk.subscribe(task.as_str(), Some(&last)).await.is_err(), "one stream a task, here too");
        desk.say(&offer.run.run_id, 4, &events[4..]).await;
        let resumed = rest(&mut stream).await;
        let StreamResponse::Task(then) = &resumed[0].event else { panic!("not a task") };
        assert_eq!(then.artifacts, sum(&seen));
        assert_eq!(sum(&resumed), desk.get(task.as_str()).await.artifacts);
        assert_eq!(resumed.len(), 5);
    });
}

#[test]
fn a_place_that_is_not_the_tasks_is_taken_as_none() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "hello")).await;
        let offer = desk.play(&[started()]).await;
        desk.later().await;
        for place in ["", "x", "x:1", &format!("{}:x", offer.run.run_id), &format!("{}:99", offer.run.run_id)]
        {
            let mut stream = desk.subscribe(&task.id, Some(place)).await.unwrap();
            let first = stream.next().await.unwrap().unwrap();
            assert_eq!(first.id, format!("{}:1", offer.run.run_id), "{place}");
        }
    });
}
