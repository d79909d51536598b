//! What is written: camelCase, enum names, UTC with milliseconds, base64, and presence as proto3 has it.

use funduq_a2a::{
    Artifact, Bytes, JsonObject, ListTasksResponse, Message, Part, PartContent, Role,
    SendMessageConfiguration, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent, Timestamp, WireMessage,
};
use serde_json::json;

fn object(value: serde_json::Value) -> JsonObject {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_task_with_everything() {
    let task = Task {
        id: "t-1".into(),
        context_id: Some("c-1".into()),
        status: TaskStatus {
            state: TaskState::InputRequired,
            message: Some(Message {
                message_id: "m-2".into(),
                role: Role::Agent,
                parts: vec![Part::text("Which one?")],
                ..Message::default()
            }),
            timestamp: Some(Timestamp::from_unix_millis(1_761_647_400_000)),
        },
        artifacts: vec![Artifact {
            artifact_id: "a-1".into(),
            name: Some("report".into()),
            parts: vec![Part {
                content: PartContent::Raw(Bytes(b"hello".to_vec())),
                filename: Some("hello.txt".into()),
                media_type: Some("text/plain".into()),
                ..Part::default()
            }],
            ..Artifact::default()
        }],
        history: vec![Message {
            message_id: "m-1".into(),
            context_id: Some("c-1".into()),
            task_id: Some("t-1".into()),
            role: Role::User,
            parts: vec![Part::text("Report, please")],
            extensions: vec!["https://example.com/ext/v1".into()],
            reference_task_ids: vec!["t-0".into()],
            ..Message::default()
        }],
        metadata: Some(object(json!({"funduq": {"cancelRequested": true}}))),
    };
    let written: serde_json::Value = serde_json::from_str(&task.to_json()).unwrap();
    assert_eq!(
        written,
        json!({
            "id": "t-1",
            "contextId": "c-1",
            "status": {
                "state": "TASK_STATE_INPUT_REQUIRED",
                "message": {"messageId": "m-2", "role": "ROLE_AGENT", "parts": [{"text": "Which one?"}]},
                "timestamp": "2025-10-28T10:30:00.000Z"
            },
            "artifacts": [{
                "artifactId": "a-1",
                "name": "report",
                "parts": [{"raw": "aGVsbG8=", "filename": "hello.txt", "mediaType": "text/plain"}]
            }],
            "history": [{
                "messageId": "m-1",
                "contextId": "c-1",
                "taskId": "t-1",
                "role": "ROLE_USER",
                "parts": [{"text": "Report, please"}],
                "extensions": ["https://example.com/ext/v1"],
                "referenceTaskIds": ["t-0"]
            }],
            "metadata": {"funduq": {"cancelRequested": true}}
        })
    );
}

#[test]
fn what_is_unset_or_empty_is_left_out() {
    let task = Task {
        id: "t".into(),
        context_id: Some(String::new()),
        status: TaskStatus { state: TaskState::Working, ..TaskStatus::default() },
        ..Task::default()
    };
    assert_eq!(task.to_json(), r#"{"id":"t","status":{"state":"TASK_STATE_WORKING"}}"#);
    assert_eq!(SendMessageConfiguration::default().to_json(), "{}");
}

#[test]
fn a_struct_and_an_optional_value_are_there_when_set_even_to_their_default() {
    let configuration =
        SendMessageConfiguration { history_length: Some(0), ..SendMessageConfiguration::default() };
    assert_eq!(configuration.to_json(), r#"{"historyLength":0}"#);
    let part = Part { metadata: Some(JsonObject::new()), ..Part::text("") };
    assert_eq!(part.to_json(), r#"{"text":"","metadata":{}}"#);
}

#[test]
fn a_page_of_tasks_always_has_its_four_members() {
    assert_eq!(
        ListTasksResponse::default().to_json(),
        r#"{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}"#
    );
}

#[test]
fn an_event_names_its_kind_by_its_only_member() {
    let status = StreamResponse::StatusUpdate(TaskStatusUpdateEvent {
        task_id: "t".into(),
        context_id: "c".into(),
        status: TaskStatus { state: TaskState::Completed, ..TaskStatus::default() },
        metadata: None,
    });
    assert_eq!(
        status.to_json(),
        r#"{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}"#
    );
    let first = TaskArtifactUpdateEvent {
        task_id: "t".into(),
        context_id: "c".into(),
        artifact: Artifact { artifact_id: "a".into(), parts: vec![Part::text("x")], ..Artifact::default() },
        ..TaskArtifactUpdateEvent::default()
    };
    let next = TaskArtifactUpdateEvent { append: true, last_chunk: true, ..first.clone() };
    let artifact = r#""artifact":{"artifactId":"a","parts":[{"text":"x"}]}"#;
    assert_eq!(
        StreamResponse::ArtifactUpdate(first).to_json(),
        format!(r#"{{"artifactUpdate":{{"taskId":"t","contextId":"c",{artifact}}}}}"#)
    );
    assert_eq!(
        next.to_json(),
        format!(r#"{{"taskId":"t","contextId":"c",{artifact},"append":true,"lastChunk":true}}"#)
    );
}

#[test]
fn every_state_and_role_has_its_proto_name() {
    for name in TaskState::NAMES {
        assert!(TaskState::from(*name).is_known());
        assert_eq!(serde_json::to_value(TaskState::from(*name)).unwrap(), json!(name));
    }
    for name in Role::NAMES {
        assert!(Role::from(*name).is_known());
        assert_eq!(serde_json::to_value(Role::from(*name)).unwrap(), json!(name));
    }
}
