//! A2A 0.3 over HTTP+JSON: below `/v1/`, with `content`, `TASK_STATE_CANCELLED` and nothing its clients do not know.

use funduq_a2a::v03::rest as v03;
use funduq_a2a::{
    Dialect, ListTaskPushNotificationConfigsResponse, Request, Response, SendMessageResponse, StreamResponse,
    Task, TaskPushNotificationConfig, TaskState, WireMessage, rest,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::arbitrary as any_;

fn read(verb: &str, path: &str, query: &str, body: &Value) -> Request {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    rest::find(verb, path).unwrap().read(None, query, body.as_bytes()).unwrap()
}

#[test]
fn a_message_is_sent() {
    let old = json!({
        "message": {
            "messageId": "m", "role": "ROLE_USER", "contextId": "c",
            "content": [
                {"text": "hi", "metadata": {"a": 1}},
                {"file": {"fileWithBytes": "aGk=", "mimeType": "text/plain", "name": "hi.txt"}},
                {"file": {"fileWithUri": "https://example.com/x"}},
                {"data": {"data": {"k": [1]}}}
            ]
        },
        "configuration": {"blocking": true, "acceptedOutputModes": ["text/plain"], "historyLength": 0},
        "metadata": {"c": 3}
    });
    let new = json!({
        "message": {
            "messageId": "m", "role": "ROLE_USER", "contextId": "c",
            "parts": [
                {"text": "hi", "metadata": {"a": 1}},
                {"raw": "aGk=", "mediaType": "text/plain", "filename": "hi.txt"},
                {"url": "https://example.com/x"},
                {"data": {"k": [1]}}
            ]
        },
        "configuration": {"acceptedOutputModes": ["text/plain"]},
        "metadata": {"c": 3}
    });
    assert_eq!(read("POST", "/v1/message:send", "", &old), read("POST", "/message:send", "", &new));
    assert_eq!(read("POST", "/v1/message:stream", "", &old), read("POST", "/message:stream", "", &new));
    let mut by_its_proto_name = old.clone();
    by_its_proto_name["request"] = by_its_proto_name["message"].take();
    assert_eq!(
        read("POST", "/v1/message:send", "", &by_its_proto_name),
        read("POST", "/v1/message:send", "", &old)
    );
}

#[test]
fn the_other_routes_are_asked() {
    let no_body = &Value::Null;
    assert_eq!(
        read("GET", "/v1/tasks/t", "historyLength=2", no_body),
        read("GET", "/tasks/t", "historyLength=2", no_body)
    );
    assert_eq!(read("GET", "/v1/tasks/t", "historyLength=0", no_body), read("GET", "/tasks/t", "", no_body));
    assert_eq!(
        read("POST", "/v1/tasks/t:cancel", "", &json!({"name": "tasks/t"})),
        read("POST", "/tasks/t:cancel", "", no_body)
    );
    for verb in ["GET", "POST"] {
        assert_eq!(
            read(verb, "/v1/tasks/t:subscribe", "", no_body),
            read(verb, "/tasks/t:subscribe", "", no_body)
        );
    }
    let target = json!({"pushNotificationConfig": {"url": "u"}});
    let new = read("POST", "/tasks/t/pushNotificationConfigs", "", &json!({"url": "u"}));
    for body in [target.clone(), json!({"parent": "tasks/t", "configId": "p", "config": target})] {
        assert_eq!(read("POST", "/v1/tasks/t/pushNotificationConfigs", "", &body), new);
    }
    for (verb, path) in [
        ("GET", "/tasks/t/pushNotificationConfigs"),
        ("GET", "/tasks/t/pushNotificationConfigs/p"),
        ("DELETE", "/tasks/t/pushNotificationConfigs/p"),
    ] {
        assert_eq!(read(verb, &format!("/v1{path}"), "", no_body), read(verb, path, "", no_body));
    }
    assert_eq!(read("GET", "/v1/card", "", no_body), read("GET", "/extendedAgentCard", "", no_body));
}

#[test]
fn this_proto_cannot_tell_not_blocking_from_unset_so_only_no_configuration_means_the_default() {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "content": [{"text": "x"}]});
    let configuration = |body: Value| match read("POST", "/v1/message:send", "", &body) {
        Request::SendMessage(request) => request.configuration,
        other => panic!("{other:?}"),
    };
    assert_eq!(configuration(json!({"message": message})), None);
    assert!(configuration(json!({"message": message, "configuration": {}})).unwrap().return_immediately);
    let blocking = json!({"message": message, "configuration": {"blocking": true}});
    assert!(!configuration(blocking).unwrap().return_immediately);
}

fn canceled_task() -> Task {
    let json = json!({
        "id": "t", "contextId": "c", "status": {"state": "TASK_STATE_CANCELED"},
        "history": [{
            "messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x", "mediaType": "text/plain"}, {"data": 7}],
            "referenceTaskIds": ["r"]
        }]
    });
    Task::from_json(json.to_string().as_bytes()).unwrap()
}

#[test]
fn answers_have_that_versions_names_and_nothing_else() {
    let old = json!({
        "id": "t", "contextId": "c", "status": {"state": "TASK_STATE_CANCELLED"},
        "history": [{
            "messageId": "m", "role": "ROLE_USER",
            "content": [{"text": "x"}, {"data": {"data": {"value": 7}}, "metadata": {"data_part_compat": true}}]
        }]
    });
    let written = |response: &Response| -> Value {
        serde_json::from_str(&response.to_json_in(Dialect::V03Rest)).unwrap()
    };
    assert_eq!(written(&Response::Task(canceled_task())), old);
    assert_eq!(
        written(&Response::SendMessage(SendMessageResponse::Task(canceled_task()))),
        json!({ "task": old })
    );
    let event = StreamResponse::Task(canceled_task()).to_json_in(Dialect::V03Rest);
    assert_eq!(serde_json::from_str::<Value>(&event).unwrap(), json!({ "task": old }));
    assert_eq!(written(&Response::Deleted {}), json!({}));
    let config = TaskPushNotificationConfig {
        id: Some("p".into()),
        task_id: Some("t".into()),
        url: "u".into(),
        ..TaskPushNotificationConfig::default()
    };
    let page = ListTaskPushNotificationConfigsResponse { configs: vec![config], next_page_token: None };
    assert_eq!(
        written(&Response::PushNotificationConfigs(page)),
        json!({"configs": [{
            "name": "tasks/t/pushNotificationConfigs/p",
            "pushNotificationConfig": {"id": "p", "url": "u"}
        }]})
    );
}

#[test]
fn every_state_has_its_name_there_and_back() {
    for name in TaskState::NAMES {
        let old = v03::TaskState::from(TaskState::from(*name));
        assert!(old.is_known(), "{name}");
        assert_eq!(TaskState::from(old).as_str(), *name);
    }
    // A peer that spells it as 1.0 does is understood.
    assert_eq!(TaskState::from(v03::TaskState::from("TASK_STATE_CANCELED")), TaskState::Canceled);
}

proptest! {
    #[test]
    fn events_survive_the_way_there_and_back(event in any_::stream_response()) {
        let old = v03::StreamResponse::from(event);
        let read = v03::StreamResponse::from_json(old.to_json().as_bytes()).unwrap();
        prop_assert_eq!(&read, &old);
        prop_assert_eq!(v03::StreamResponse::from(StreamResponse::from(read)), old);
    }

    #[test]
    fn requests_survive_the_way_there_and_back(request in any_::send_request()) {
        let old = v03::SendMessageRequest::from(request);
        let read = v03::SendMessageRequest::from_json(old.to_json().as_bytes()).unwrap();
        prop_assert_eq!(&read, &old);
        prop_assert_eq!(v03::SendMessageRequest::from(funduq_a2a::SendMessageRequest::from(read)), old);
    }
}
