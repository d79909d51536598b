//! Bound threads over A2A: who may write, answer, cancel and list.

use std::time::{SystemTime, UNIX_EPOCH};

use funduq_a2a::{CancelTaskRequest, ListTasksRequest, Task, TaskState, WireMessage};
use funduq_contract::{ActorChain, Identity, RunId};
use funduq_core::{A2aDoorError, DoorError, InvalidChain};
use serde_json::{Value, json};

use crate::bench::identity;
use crate::desk::*;

fn chained(mut request: Value, head: &Identity) -> Value {
    request["metadata"]["actorChain"] = json!(ActorChain::start(head));
    request["configuration"] = json!({"returnImmediately": true});
    request
}

fn door_error<T: std::fmt::Debug>(result: Result<T, A2aDoorError>) -> DoorError {
    match result.unwrap_err() {
        A2aDoorError::Door(error) => error,
        A2aDoorError::A2a(error) => panic!("A2A's: {error}"),
    }
}

/// A task that waits on a thread that is bound to `head`.
async fn waiting(desk: &Desk, head: &Identity) -> Task {
    let request = send(chained(text_message("m-1", "ask"), head));
    let task = desk.door().send_task(&desk.agent, request, Some(head.public_key())).await.unwrap();
    desk.play(&[started(), interrupt("i-1", "Go on?")]).await;
    desk.settled(&task.id).await;
    task
}

#[test]
fn a_chain_without_an_authenticated_presenter_is_funduqs_own_error() {
    at_every_desk(|desk| async move {
        let (caller, thief) = (identity(5), identity(6));
        let request = || send(chained(text_message("m-1", "x"), &caller));
        let sent = desk.door().send_task(&desk.agent, request(), None).await;
        assert_eq!(door_error(sent), DoorError::PresenterRequired);
        let sent = desk.door().send_task(&desk.agent, request(), Some(thief.public_key())).await;
        assert!(matches!(
            door_error(sent),
            DoorError::InvalidChain(InvalidChain::NotPresentedByItsLastHop { .. })
        ));
    });
}

#[test]
fn only_the_head_or_the_provider_may_write_to_a_bound_thread() {
    at_every_desk(|desk| async move {
        let head = identity(5);
        let task = waiting(&desk, &head).await;
        let more = || send(message_with("m-2", "x", json!({"contextId": task.context_id})));
        let stranger = desk.door().send_task(&desk.agent, more(), Some(identity(6).public_key())).await;
        assert!(matches!(door_error(stranger), DoorError::ThreadMembershipRequired(_)));
        let mut request = more();
        request.configuration =
            Some(funduq_a2a::SendMessageConfiguration { return_immediately: true, ..Default::default() });
        desk.door().send_task(&desk.agent, request, Some(head.public_key())).await.unwrap();
    });
}

#[test]
fn an_ask_on_a_bound_thread_is_answered_with_a_signature_over_the_task_and_its_asks() {
    at_every_desk(|desk| async move {
        let head = identity(5);
        let task = waiting(&desk, &head).await;
        let id = RunId::new(task.id.clone()).unwrap();
        let answer = |proof: Option<Value>| {
            let mut request = message_with("m-2", "yes", json!({"taskId": task.id}));
            request["configuration"] = json!({"returnImmediately": true});
            if let Some(proof) = proof {
                request["metadata"]["resolution"] = proof;
            }
            send(request)
        };
        let key = Some(head.public_key());
        let unproven = desk.door().send_task(&desk.agent, answer(None), key).await;
        assert!(matches!(door_error(unproven), DoorError::InvalidResolution { .. }));
        let wrong = json!({"signature": head.sign_resolution(&id, ["i-2"])});
        let sent = desk.door().send_task(&desk.agent, answer(Some(wrong)), key).await;
        assert!(matches!(door_error(sent), DoorError::InvalidResolution { .. }));
        let proof = json!({"signature": head.sign_resolution(&id, ["i-1"])});
        let answered = desk.door().send_task(&desk.agent, answer(Some(proof)), key).await.unwrap();
        assert_eq!(answered.id, task.id);
        let said = serde_json::to_value(&answered.metadata).unwrap();
        assert_eq!(said["funduq"]["answeredBy"], json!(head.public_key()));
    });
}

#[test]
fn a_cancel_on_a_bound_thread_takes_its_proof_from_the_requests_metadata() {
    at_every_desk(|desk| async move {
        let head = identity(5);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64;
        for working in [false, true] {
            let task = waiting(&desk, &head).await;
            let id = RunId::new(task.id.clone()).unwrap();
            if working {
                let mut answer = message_with("m-2", "yes", json!({"taskId": task.id}));
                answer["metadata"]["resolution"] = json!({"signature": head.sign_resolution(&id, ["i-1"])});
                answer["configuration"] = json!({"returnImmediately": true});
                desk.door().send_task(&desk.agent, send(answer), Some(head.public_key())).await.unwrap();
                desk.take().await;
            }
            let cancel = |metadata: Value| {
                let request = json!({"id": task.id, "metadata": metadata});
                CancelTaskRequest::from_json(request.to_string().as_bytes()).unwrap()
            };
            let unproven = desk.door().cancel_task(&desk.agent, cancel(json!({}))).await;
            assert!(matches!(door_error(unproven), DoorError::InvalidCancel { .. }));
            let proof = json!({"cancel": {"timestamp": now, "signature": head.sign_cancel(&id, now)}});
            let canceled = desk.door().cancel_task(&desk.agent, cancel(proof)).await.unwrap().unwrap();
            let expected = if working { TaskState::Working } else { TaskState::Canceled };
            assert_eq!(canceled.status.state, expected);
            let said = serde_json::to_value(&canceled.metadata).unwrap();
            assert_eq!(said["funduq"]["cancelRequestedBy"], json!(head.public_key()));
        }
    });
}

#[test]
fn on_a_bound_thread_the_reader_must_be_a_party_or_the_page_is_empty() {
    at_every_desk(|desk| async move {
        let head = identity(5);
        let task = waiting(&desk, &head).await;
        let list = |reader: Option<&Identity>| {
            let request = ListTasksRequest { context_id: task.context_id.clone(), ..Default::default() };
            let reader = reader.map(Identity::public_key);
            let door = desk.door();
            let agent = desk.agent.clone();
            async move { door.list_tasks(&agent, request, reader).await.unwrap().total_size }
        };
        assert_eq!(list(None).await, 0);
        assert_eq!(list(Some(&identity(6))).await, 0);
        assert_eq!(list(Some(&head)).await, 1);
        assert_eq!(list(Some(&desk.provider.identity)).await, 1);
    });
}
