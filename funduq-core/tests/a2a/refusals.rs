//! What is refused, in whose words; and that a refusal leaves nothing behind.

use funduq_a2a::{A2aError, GetTaskRequest, Request};
use funduq_contract::{AgentAddress, AgentName, ThreadId};
use funduq_core::{A2aDoorError, DoorError};
use serde_json::{Value, json};

use crate::bench::identity;
use crate::desk::*;

async fn refused(desk: &Desk, request: Value) -> A2aError {
    a2a(desk.send(request.clone()).await.unwrap_err())
}

fn get(id: &str) -> GetTaskRequest {
    GetTaskRequest { id: id.into(), ..GetTaskRequest::default() }
}

#[test]
fn an_unknown_contextid_is_refused_rather_than_created() {
    at_every_desk(|desk| async move {
        for id in ["mine", "x y\u{e9}", &"long".repeat(100)] {
            let error = refused(&desk, message_with("m", "x", json!({"contextId": id}))).await;
            assert_eq!(error.code(), -32602);
            assert!(error.to_string().contains("this agent has no thread"), "{error}");
        }
        assert!(desk.bench.funduq.thread(&ThreadId::new("mine").unwrap()).await.unwrap().is_none());
    });
}

#[test]
fn a_contextid_belonging_to_a_different_agent_is_refused() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "x")).await;
        desk.bench.register(desk.link, &["echo", "other"]).await;
        let other = AgentAddress { name: "other".parse().unwrap(), ..desk.agent.clone() };
        let request = send(message_with("m-2", "x", json!({"contextId": task.context_id})));
        let error = a2a(desk.door().send_task(&other, request, None).await.unwrap_err());
        assert_eq!(error.code(), -32602);
        assert!(error.to_string().contains("belongs to another agent"), "{error}");
    });
}

#[test]
fn a_task_that_is_not_this_agents_comes_back_as_none() {
    at_every_desk(|desk| async move {
        let task = desk.post(text_message("m-1", "x")).await;
        desk.bench.register(desk.link, &["echo", "other"]).await;
        let other = AgentAddress { name: "other".parse().unwrap(), ..desk.agent.clone() };
        let door = desk.door();
        assert_eq!(door.get_task(&other, get(&task.id)).await.unwrap(), None);
        let cancel = funduq_a2a::CancelTaskRequest { id: task.id.clone(), ..Default::default() };
        assert_eq!(door.cancel_task(&other, cancel).await.unwrap(), None);
        let subscribe = funduq_a2a::SubscribeToTaskRequest { id: task.id.clone(), ..Default::default() };
        assert!(door.resubscribe_task(&other, subscribe, None).await.unwrap().is_none());
        let called = door.call(&other, Request::GetTask(get(&task.id)), None, None).await;
        assert_eq!(a2a(called.unwrap_err()).code(), -32001);
        let request = send(message_with("m-2", "x", json!({"taskId": task.id})));
        assert_eq!(a2a(door.send_task(&other, request, None).await.unwrap_err()).code(), -32001);
    });
}

#[test]
fn a_task_id_naming_nothing_is_task_not_found() {
    at_every_desk(|desk| async move {
        for id in ["nothing", "a\nb", &"x".repeat(500)] {
            let error = a2a(desk.door().get_task(&desk.agent, get(id)).await.unwrap_err());
            assert_eq!(error.code(), -32001, "{id}");
            assert_eq!(a2a(desk.cancel(id).await.unwrap_err()).code(), -32001, "{id}");
            assert_eq!(a2a(desk.subscribe(id, None).await.unwrap_err()).code(), -32001, "{id}");
            for member in ["taskId", "referenceTaskIds"] {
                let value = if member == "taskId" { json!(id) } else { json!([id]) };
                let error = refused(&desk, message_with("m", "x", json!({ member: value }))).await;
                assert_eq!(error.code(), -32001, "{member}");
            }
        }
    });
}

#[test]
fn a_params_level_task_id_is_ignored_and_the_call_starts_a_fresh_thread() {
    at_every_desk(|desk| async move {
        let mut request = text_message("m", "x");
        request["taskId"] = json!("nothing");
        let task = desk.post(request).await;
        assert_ne!(task.id, "nothing");
    });
}

#[test]
fn a_part_that_is_not_plain_text_is_refused_rather_than_lost() {
    at_every_desk(|desk| async move {
        let mut request = text_message("m", "x");
        request["message"]["parts"] = json!([{"text": "x"}, {"data": {"a": 1}}]);
        assert!(matches!(refused(&desk, request).await, A2aError::ContentTypeNotSupported(_)));
        assert!(desk.provider.heard().is_empty(), "the agent hears nothing of it");
    });
}

#[test]
fn push_notifications_are_not_supported_whatever_asks_for_them() {
    at_every_desk(|desk| async move {
        let mut request = text_message("m", "x");
        request["configuration"] = json!({"taskPushNotificationConfig": {"url": "https://example.org"}});
        assert_eq!(refused(&desk, request).await, A2aError::PushNotificationNotSupported);
        for operation in [
            Request::CreateTaskPushNotificationConfig(Default::default()),
            Request::GetTaskPushNotificationConfig(Default::default()),
            Request::ListTaskPushNotificationConfigs(Default::default()),
            Request::DeleteTaskPushNotificationConfig(Default::default()),
        ] {
            let error = desk.door().call(&desk.agent, operation, None, None).await.unwrap_err();
            assert_eq!(a2a(error), A2aError::PushNotificationNotSupported);
        }
        let card = Request::GetExtendedAgentCard(Default::default());
        assert_eq!(a2a(desk.door().call(&desk.agent, card, None, None).await.unwrap_err()).code(), -32004);
    });
}

#[test]
fn what_a2a_has_no_word_for_stays_funduqs() {
    at_every_desk(|desk| async move {
        let nobody = AgentAddress { name: AgentName::new("nobody").unwrap(), ..desk.agent.clone() };
        let unknown = A2aDoorError::Door(DoorError::AgentNotFound(nobody.clone()));
        let door = desk.door();
        assert_eq!(door.send_task(&nobody, send(text_message("m", "x")), None).await.unwrap_err(), unknown);
        assert_eq!(door.get_task(&nobody, get("x")).await.unwrap_err(), unknown);
        assert_eq!(door.agent_card(&nobody, Vec::new()).await.unwrap_err(), unknown);
        let list = Request::ListTasks(Default::default());
        assert_eq!(door.call(&nobody, list, None, None).await.unwrap_err(), unknown);
    });
}

#[test]
fn a_kyok_opt_in_naming_an_unregistered_offering_is_invalid_params() {
    at_every_desk(|desk| async move {
        let mut request = text_message("m", "x");
        let provider = identity(7).public_key();
        request["metadata"] = json!({"kyok": {"llmProvider": {"providerKey": provider, "name": "model"}}});
        let error = refused(&desk, request).await;
        assert_eq!(error.code(), -32602);
        assert!(error.to_string().contains("there is no LLM offering model"), "{error}");
        let mut request = text_message("m", "x");
        request["metadata"] = json!({"kyok": 7});
        let error = refused(&desk, request).await;
        assert_eq!(error.code(), -32602);
        assert!(error.to_string().contains("metadata.kyok"), "{error}");
    });
}

#[test]
fn at_the_limit_a_message_is_refused_loudly_and_answering_is_exempt() {
    at_every_desk(|desk| async move {
        let waiting = desk.ask("ask", "Go on?").await;
        desk.bench.register(desk.link, &["other"]).await;
        // Nobody serves it now, so what comes waits; what comes to an agent known to be offline fails at once.
        desk.bench.register(desk.link, &["echo"]).await;
        let context = json!({"contextId": waiting.context_id});
        for at in 0..9 {
            let id = format!("m-{at}");
            let result = {
                let mut request = message_with(&id, "x", context.clone());
                request["configuration"] = json!({"returnImmediately": true});
                desk.send(request).await
            };
            if at < 8 {
                result.unwrap();
            } else {
                let error = result.unwrap_err();
                assert!(
                    matches!(error, A2aDoorError::Door(DoorError::ThreadQueueFull { limit: 8, .. })),
                    "{error:?}"
                );
            }
        }
        desk.post(message_with("answer", "yes", json!({"taskId": waiting.id}))).await;
    });
}
