//! A2A 0.3 over JSON-RPC: its requests mean what their 1.0 counterparts mean, its answers have its shapes.

use funduq_a2a::v03::json_rpc as v03;
use funduq_a2a::{
    AuthenticationInfo, Dialect, Part, PartContent, Request, Response, SendMessageResponse, StreamResponse,
    Task, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp, Version, WireMessage, json_rpc,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::arbitrary as any_;

fn request(version: Version, method: &str, params: &Value) -> Request {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    json_rpc::parse(body.to_string().as_bytes(), Ok(version)).unwrap().request
}

/// Asserts that a 0.3 request means the same as a 1.0 one.
fn same(v03: (&str, Value), v1: (&str, Value)) {
    assert_eq!(request(Version::V0_3, v03.0, &v03.1), request(Version::V1_0, v1.0, &v1.1), "{}", v03.0);
}

#[test]
fn a_message_is_sent() {
    let old = json!({
        "message": {
            "kind": "message", "messageId": "m", "role": "user", "contextId": "c", "taskId": "t",
            "parts": [
                {"kind": "text", "text": "hi", "metadata": {"a": 1}},
                {"kind": "file", "file": {"bytes": "aGk=", "mimeType": "text/plain", "name": "hi.txt"}},
                {"kind": "file", "file": {"uri": "https://example.com/x"}},
                {"kind": "data", "data": {"k": [1]}}
            ],
            "metadata": {"b": 2}, "extensions": ["e"], "referenceTaskIds": ["r"]
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"], "blocking": false, "historyLength": 5,
            "pushNotificationConfig": {"url": "u", "id": "p", "authentication": {"schemes": ["Bearer", "Basic"]}}
        },
        "metadata": {"c": 3}
    });
    let new = json!({
        "message": {
            "messageId": "m", "role": "ROLE_USER", "contextId": "c", "taskId": "t",
            "parts": [
                {"text": "hi", "metadata": {"a": 1}},
                {"raw": "aGk=", "mediaType": "text/plain", "filename": "hi.txt"},
                {"url": "https://example.com/x"},
                {"data": {"k": [1]}}
            ],
            "metadata": {"b": 2}, "extensions": ["e"], "referenceTaskIds": ["r"]
        },
        "configuration": {
            "acceptedOutputModes": ["text/plain"], "returnImmediately": true, "historyLength": 5,
            "taskPushNotificationConfig": {"url": "u", "id": "p", "authentication": {"scheme": "Bearer"}}
        },
        "metadata": {"c": 3}
    });
    same(("message/send", old.clone()), ("SendMessage", new.clone()));
    same(("message/stream", old), ("SendStreamingMessage", new));
}

#[test]
fn the_other_methods_are_asked() {
    let id = || json!({"id": "t"});
    same(
        ("tasks/get", json!({"id": "t", "historyLength": 2})),
        ("GetTask", json!({"id": "t", "historyLength": 2})),
    );
    same(
        ("tasks/cancel", json!({"id": "t", "metadata": {"k": 1}})),
        ("CancelTask", json!({"id": "t", "metadata": {"k": 1}})),
    );
    same(("tasks/resubscribe", id()), ("SubscribeToTask", id()));
    same(
        ("tasks/pushNotificationConfig/set", json!({"taskId": "t", "pushNotificationConfig": {"url": "u"}})),
        ("CreateTaskPushNotificationConfig", json!({"taskId": "t", "url": "u"})),
    );
    let named = json!({"id": "t", "pushNotificationConfigId": "p"});
    let new = json!({"taskId": "t", "id": "p"});
    same(("tasks/pushNotificationConfig/get", named.clone()), ("GetTaskPushNotificationConfig", new.clone()));
    same(("tasks/pushNotificationConfig/delete", named), ("DeleteTaskPushNotificationConfig", new));
    same(
        ("tasks/pushNotificationConfig/list", id()),
        ("ListTaskPushNotificationConfigs", json!({"taskId": "t"})),
    );
    same(("agent/getAuthenticatedExtendedCard", json!({})), ("GetExtendedAgentCard", json!({})));
}

#[test]
fn a_history_length_of_zero_means_all_and_blocking_is_the_default() {
    same(("tasks/get", json!({"id": "t", "historyLength": 0})), ("GetTask", json!({"id": "t"})));
    let message = json!({"messageId": "m", "role": "user", "parts": [{"kind": "text", "text": "x"}]});
    for configuration in [json!({}), json!({"blocking": true}), json!({"blocking": null, "historyLength": 0})]
    {
        let params = json!({"message": message, "configuration": configuration});
        let Request::SendMessage(request) = request(Version::V0_3, "message/send", &params) else {
            panic!("not a SendMessage");
        };
        let configuration = request.configuration.unwrap();
        assert!(!configuration.return_immediately);
        assert_eq!(configuration.history_length, None);
    }
}

#[test]
fn a_part_without_kind_is_known_by_its_member() {
    let part = v03::Part::from_json(br#"{"text":"x"}"#).unwrap();
    assert_eq!(Part::from(part), Part::text("x"));
    for part in [
        &br#"{"kind":"video","text":"x"}"#[..],
        br#"{"kind":"text"}"#,
        b"{}",
        br#"{"kind":"file","file":{}}"#,
    ] {
        assert!(v03::Part::from_json(part).is_err());
    }
}

#[test]
fn faults_have_the_paths_of_the_old_shape() {
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","parts":[{"kind":"file","file":{"bytes":"?"}}]}}}"#;
    let error = json_rpc::parse(body, Ok(Version::V0_3)).unwrap_err().error;
    let details = serde_json::to_value(error.details()).unwrap();
    let fields: Vec<&str> = details[1]["fieldViolations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|fault| fault["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["message.messageId", "message.role", "message.parts[0].file.bytes"]);
}

fn task() -> Task {
    let json = json!({
        "id": "t", "contextId": "c",
        "status": {
            "state": "TASK_STATE_INPUT_REQUIRED", "timestamp": "2025-10-28T10:30:00Z",
            "message": {"messageId": "q", "role": "ROLE_AGENT", "parts": [{"text": "Which?"}]}
        },
        "artifacts": [{"artifactId": "a", "parts": [{"data": [1, 2]}]}]
    });
    Task::from_json(json.to_string().as_bytes()).unwrap()
}

fn old_task() -> Value {
    json!({
        "kind": "task", "id": "t", "contextId": "c",
        "status": {
            "state": "input-required", "timestamp": "2025-10-28T10:30:00.000Z",
            "message": {"kind": "message", "messageId": "q", "role": "agent", "parts": [{"kind": "text", "text": "Which?"}]}
        },
        "artifacts": [{
            "artifactId": "a",
            "parts": [{"kind": "data", "data": {"value": [1, 2]}, "metadata": {"data_part_compat": true}}]
        }]
    })
}

#[test]
fn results_are_bare_and_tell_their_kind() {
    let written = |response: &Response| -> Value {
        serde_json::from_str(&response.to_json_in(Dialect::V03JsonRpc)).unwrap()
    };
    assert_eq!(written(&Response::Task(task())), old_task());
    assert_eq!(written(&Response::SendMessage(SendMessageResponse::Task(task()))), old_task());
    assert_eq!(written(&Response::Deleted {}), Value::Null);
}

#[test]
fn a_status_update_is_final_when_its_stream_ends_there() {
    for name in TaskState::NAMES {
        let state = TaskState::from(*name);
        let ends = state.is_terminal() || state.is_interrupted();
        let event = StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
            task_id: "t".into(),
            context_id: "c".into(),
            status: TaskStatus { state, ..TaskStatus::default() },
            metadata: None,
        });
        let written: Value = serde_json::from_str(&event.to_json_in(Dialect::V03JsonRpc)).unwrap();
        assert_eq!(written["kind"], "status-update");
        assert_eq!(written["final"], json!(ends), "{name}");
        let state = written["status"]["state"].as_str().unwrap();
        assert!(v03::TaskState::NAMES.contains(&state), "{state}");
    }
}

#[test]
fn a_timestamp_without_an_offset_is_utc() {
    let status =
        v03::TaskStatus::from_json(br#"{"state":"working","timestamp":"2025-10-28T10:30:00.123456"}"#)
            .unwrap();
    assert_eq!(status.timestamp, Some(Timestamp::from_unix_millis(1_761_647_400_123)));
}

/// What 0.3 has no room for: the media type and file name of text and data, push details of a task, a tenant.
fn representable(mut part: Part) -> Part {
    if matches!(part.content, PartContent::Text(_) | PartContent::Data(_)) {
        part.filename = None;
        part.media_type = None;
    }
    part
}

proptest! {
    #[test]
    fn parts_survive_the_way_there_and_back(part in any_::part().prop_map(representable)) {
        let json = v03::Part::from(part.clone()).to_json();
        let read = v03::Part::from_json(json.as_bytes()).unwrap();
        prop_assert_eq!(read.to_json(), json);
        prop_assert_eq!(Part::from(read), part);
    }

    #[test]
    fn events_survive_the_way_there_and_back(event in any_::stream_response()) {
        let old = v03::Event::from(event);
        let read = v03::Event::from_json(old.to_json().as_bytes()).unwrap();
        prop_assert_eq!(&read, &old);
        let again = v03::Event::from(StreamResponse::from(read));
        prop_assert_eq!(again, old);
    }

    #[test]
    fn requests_survive_the_way_there_and_back(request in any_::send_request()) {
        let old = v03::MessageSendParams::from(request);
        let read = v03::MessageSendParams::from_json(old.to_json().as_bytes()).unwrap();
        prop_assert_eq!(&read, &old);
        let again = v03::MessageSendParams::from(funduq_a2a::SendMessageRequest::from(read.clone()));
        let zero_is_unset = |params: v03::MessageSendParams| {
            let configuration = params.configuration.map(|configuration| v03::MessageSendConfiguration {
                history_length: configuration.history_length.filter(|length| *length != 0),
                ..configuration
            });
            v03::MessageSendParams { configuration, ..params }
        };
        prop_assert_eq!(again, zero_is_unset(old));
    }
}

#[test]
fn push_targets_keep_their_first_scheme() {
    let info = AuthenticationInfo { scheme: "Bearer".into(), credentials: Some("secret".into()) };
    let old = v03::PushNotificationAuthenticationInfo::from(info.clone());
    assert_eq!(old.schemes, ["Bearer"]);
    assert_eq!(AuthenticationInfo::from(old.clone()), info);
    assert!(!format!("{info:?} {old:?}").contains("secret"));
}
