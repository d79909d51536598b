//! What is read: everything a ProtoJSON writer may send, and what newer peers may add.

use funduq_a2a::{
    AgentCard, ListTasksRequest, Message, Part, PartContent, Role, SendMessageRequest, Task, TaskState,
    Timestamp, WireMessage,
};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::arbitrary as any_;
use crate::arbitrary_cards::card;

fn read<T: WireMessage>(value: &Value) -> T {
    T::from_json(value.to_string().as_bytes()).unwrap()
}

#[test]
fn camel_case_and_snake_case_are_the_same() {
    let camel: Message = read(&json!({
        "messageId": "m", "contextId": "c", "taskId": "t", "role": "ROLE_USER",
        "parts": [{"text": "x", "mediaType": "text/plain"}], "referenceTaskIds": ["r"]
    }));
    let snake: Message = read(&json!({
        "message_id": "m", "context_id": "c", "task_id": "t", "role": "ROLE_USER",
        "parts": [{"text": "x", "media_type": "text/plain"}], "reference_task_ids": ["r"]
    }));
    assert_eq!(camel, snake);
}

#[test]
fn null_is_absent_everywhere() {
    let plain: SendMessageRequest =
        read(&json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x"}]}}));
    let nulls: SendMessageRequest = read(&json!({
        "tenant": null, "configuration": null, "metadata": null,
        "message": {
            "messageId": "m", "role": "ROLE_USER", "contextId": null, "taskId": null, "metadata": null,
            "extensions": null, "referenceTaskIds": null,
            "parts": [{"text": "x", "raw": null, "url": null, "data": null, "filename": null, "metadata": null}]
        }
    }));
    assert_eq!(plain, nulls);
}

#[test]
fn members_that_are_not_known_are_ignored() {
    let task: Task = read(&json!({
        "id": "t", "kind": "task", "final": true, "elicitationId": "e",
        "status": {"state": "TASK_STATE_WORKING", "mood": "good"}
    }));
    assert_eq!(task.status.state, TaskState::Working);
}

#[test]
fn enum_names_that_are_not_known_survive() {
    let json = r#"{"id":"t","status":{"state":"TASK_STATE_PONDERING","message":{"messageId":"m","role":"ROLE_ORACLE","parts":[{"text":"x"}]}}}"#;
    let task = Task::from_json(json.as_bytes()).unwrap();
    assert_eq!(task.status.state, TaskState::Unknown("TASK_STATE_PONDERING".into()));
    assert_eq!(task.status.message.as_ref().unwrap().role, Role::Unknown("ROLE_ORACLE".into()));
    assert_eq!(task.to_json(), json);
}

#[test]
fn enum_numbers_are_names() {
    let task: Task = read(&json!({"id": "t", "status": {"state": 6}}));
    assert_eq!(task.status.state, TaskState::InputRequired);
}

#[test]
fn a_filter_for_the_unspecified_state_is_no_filter() {
    let request: ListTasksRequest = read(&json!({"status": "TASK_STATE_UNSPECIFIED"}));
    assert_eq!(request, ListTasksRequest::default());
}

#[test]
fn numbers_and_timestamps_come_in_their_spellings() {
    let request: ListTasksRequest = read(&json!({
        "pageSize": "25", "historyLength": 2.0, "statusTimestampAfter": "2025-10-28T12:30:00.123456789+02:00",
        "includeArtifacts": false
    }));
    assert_eq!(request.page_size, Some(25));
    assert_eq!(request.history_length, Some(2));
    assert_eq!(request.status_timestamp_after, Some(Timestamp::from_unix_millis(1_761_647_400_123)));
    assert_eq!(request.include_artifacts, Some(false));
}

#[test]
fn each_kind_of_part_is_read() {
    let raw: Part = read(&json!({"raw": "-_8"}));
    assert_eq!(raw.to_json(), r#"{"raw":"+/8="}"#);
    let url: Part = read(&json!({"url": "https://example.com/x"}));
    assert_eq!(url.content, PartContent::Url("https://example.com/x".into()));
    let empty: Part = read(&json!({"text": ""}));
    assert_eq!(empty.as_text(), Some(""));
}

#[test]
fn data_may_be_any_json_value_null_included() {
    for data in [json!(null), json!([1, "a"]), json!("text"), json!(1.5), json!({"a": null})] {
        let part: Part = read(&json!({ "data": data }));
        let written: Value = serde_json::from_str(&part.to_json()).unwrap();
        assert_eq!(written, json!({ "data": data }));
    }
}

#[test]
fn json_values_pass_through_as_they_were_written() {
    let metadata = r#"{"z":1.10,"a":[1e2,12345678901234567890123, {"k" : null}],"é":"\u00e9"}"#;
    let json = format!(
        r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"data":{metadata}}}],"metadata":{metadata}}},"metadata":{metadata}}}"#
    );
    let request = SendMessageRequest::from_json(json.as_bytes()).unwrap();
    assert_eq!(request.to_json(), json);
}

#[test]
fn what_is_written_is_one_line_however_it_came() {
    let json = json!({
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"data": {"a": [1, {"b": "x\ny"}]}}]},
        "metadata": {"k": {"deep": [1, 2]}}
    });
    let pretty = serde_json::to_string_pretty(&json).unwrap().replace('\n', "\r\n");
    let written = SendMessageRequest::from_json(pretty.as_bytes()).unwrap().to_json();
    assert!(!written.contains(['\n', '\r']), "{written}");
    assert_eq!(serde_json::from_str::<Value>(&written).unwrap(), json);
}

/// The same message with the member names of the proto file; what is the parties' own keeps its keys.
fn in_snake_case(value: Value) -> Value {
    const OPAQUE: [&str; 5] = ["metadata", "data", "params", "header", "scopes"];
    const KEYED: [&str; 2] = ["schemes", "securitySchemes"];
    let snake = |name: &str| {
        name.chars().fold(String::new(), |mut snake, letter| {
            if letter.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(letter.to_ascii_lowercase());
            snake
        })
    };
    match value {
        Value::Array(values) => values.into_iter().map(in_snake_case).collect(),
        Value::Object(members) => {
            let rename = |(name, value): (String, Value)| {
                let value = match value {
                    value if OPAQUE.contains(&name.as_str()) => value,
                    Value::Object(map) if KEYED.contains(&name.as_str()) => {
                        map.into_iter().map(|(key, value)| (key, in_snake_case(value))).collect()
                    }
                    value => in_snake_case(value),
                };
                (snake(&name), value)
            };
            Value::Object(members.into_iter().map(rename).collect::<Map<_, _>>())
        }
        other => other,
    }
}

fn reads_the_same_in_snake_case<T: WireMessage>(message: &T) {
    let camel: Value = serde_json::from_str(&message.to_json()).unwrap();
    let read: T = read(&in_snake_case(camel.clone()));
    assert_eq!(serde_json::to_value(&read).unwrap(), camel);
}

proptest! {
    #[test]
    fn any_message_reads_the_same_in_snake_case(
        task in any_::task(), request in any_::send_request(), list in any_::list_tasks(), card in card(),
    ) {
        reads_the_same_in_snake_case(&task);
        reads_the_same_in_snake_case(&request);
        reads_the_same_in_snake_case(&list);
        reads_the_same_in_snake_case::<AgentCard>(&card);
    }
}
