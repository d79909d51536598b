//! Each message, written here, is read by the official crates without loss; what they write is read here the same.
//!
//! Two oracles: the types that `a2a-pb` generates from the proto file, and the hand-written ones of `a2a-lf`.
//! Where they deviate from ProtoJSON or from the specification, the generators steer around it and say so, or
//! [`canonical`] levels it:
//! - `a2a-pb` writes numbers of a `Struct` as doubles, timestamps with `+00:00`, and leaves out required members
//!   that hold their default;
//! - `a2a-lf` wants a task's context and an extension's URI, drops empty part metadata, and rewrites GRPC URLs.

use std::fmt::Debug;

use a2a_pb::protojson;
use funduq_a2a::{Timestamp, WireMessage};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::arbitrary as any_;
use crate::arbitrary_cards::card;

/// Members that the specification wants written even at their default, which the proto crate leaves out.
fn always_present() -> Value {
    json!({ "tasks": [], "nextPageToken": "", "pageSize": 0, "totalSize": 0 })
}

fn round_trips<T: WireMessage + PartialEq + Debug>(message: &T) {
    let json = message.to_json();
    let read = T::from_json(json.as_bytes()).unwrap();
    assert_eq!(&read, message);
    assert_eq!(read.to_json(), json);
}

fn equals_oracle<O, T>(message: &T, left_out: &Value)
where
    O: Serialize + DeserializeOwned,
    T: WireMessage + Debug,
{
    let json = message.to_json();
    let oracle: O = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    let oracle_json = serde_json::to_string(&oracle).unwrap();
    let mut theirs = canonical(&oracle_json);
    if let (Value::Object(members), Value::Object(left_out)) = (&mut theirs, left_out) {
        for (name, value) in left_out {
            members.entry(name).or_insert_with(|| value.clone());
        }
    }
    assert_eq!(canonical(&json), level(theirs));
    let read = T::from_json(oracle_json.as_bytes()).unwrap();
    assert_eq!(canonical(&read.to_json()), canonical(&json));
}

fn canonical(json: &str) -> Value {
    level(serde_json::from_str(json).unwrap())
}

/// Numbers as doubles, timestamps as this crate writes them.
fn level(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(values) => values.into_iter().map(level).collect(),
        Value::Object(members) => {
            let level_member = |(name, value): (String, Value)| {
                let is_timestamp = name == "timestamp" || name == "statusTimestampAfter";
                let timestamp =
                    value.as_str().filter(|_| is_timestamp).and_then(|text| text.parse::<Timestamp>().ok());
                let value = timestamp.map_or_else(|| level(value), |timestamp| json!(timestamp));
                (name, value)
            };
            members.into_iter().map(level_member).collect()
        }
        other => other,
    }
}

macro_rules! equal_json {
    ($($test:ident: $message:expr, $proto:ty, $native:ty;)+) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]
            $(
                #[test]
                fn $test(message in $message) {
                    round_trips(&message);
                    equals_oracle::<$proto, _>(&message, &Value::Null);
                    equals_oracle::<$native, _>(&message, &Value::Null);
                }
            )+
        }
    };
}

equal_json! {
    part: any_::part(), protojson::Part, a2a::Part;
    message: any_::message(), protojson::Message, a2a::Message;
    artifact: any_::artifact(), protojson::Artifact, a2a::Artifact;
    task_status: any_::status(), protojson::TaskStatus, a2a::TaskStatus;
    task: any_::task(), protojson::Task, a2a::Task;
    status_update: any_::status_update(), protojson::TaskStatusUpdateEvent, a2a::TaskStatusUpdateEvent;
    artifact_update: any_::artifact_update(), protojson::TaskArtifactUpdateEvent, a2a::TaskArtifactUpdateEvent;
    stream_response: any_::stream_response(), protojson::StreamResponse, a2a::StreamResponse;
    send_response: any_::send_response(), protojson::SendMessageResponse, a2a::SendMessageResponse;
    send_configuration: any_::configuration(), protojson::SendMessageConfiguration, a2a::SendMessageConfiguration;
    send_request: any_::send_request(), protojson::SendMessageRequest, a2a::SendMessageRequest;
    get_task: any_::get_task(), protojson::GetTaskRequest, a2a::GetTaskRequest;
    list_tasks: any_::list_tasks(), protojson::ListTasksRequest, a2a::ListTasksRequest;
    cancel_task: any_::cancel_task(), protojson::CancelTaskRequest, a2a::CancelTaskRequest;
    subscribe: any_::subscribe(), protojson::SubscribeToTaskRequest, a2a::SubscribeToTaskRequest;
    extended_card: any_::extended_card(), protojson::GetExtendedAgentCardRequest, a2a::GetExtendedAgentCardRequest;
    push_config: any_::push_config(), protojson::TaskPushNotificationConfig, a2a::TaskPushNotificationConfig;
    get_push: any_::get_push(),
        protojson::GetTaskPushNotificationConfigRequest, a2a::GetTaskPushNotificationConfigRequest;
    delete_push: any_::delete_push(),
        protojson::DeleteTaskPushNotificationConfigRequest, a2a::DeleteTaskPushNotificationConfigRequest;
    list_push: any_::list_push(),
        protojson::ListTaskPushNotificationConfigsRequest, a2a::ListTaskPushNotificationConfigsRequest;
    list_push_response: any_::list_push_response(),
        protojson::ListTaskPushNotificationConfigsResponse, a2a::ListTaskPushNotificationConfigsResponse;
    agent_card: card(), protojson::AgentCard, a2a::AgentCard;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]
    #[test]
    fn list_tasks_response(message in any_::list_tasks_response()) {
        round_trips(&message);
        equals_oracle::<protojson::ListTasksResponse, _>(&message, &always_present());
        equals_oracle::<a2a::ListTasksResponse, _>(&message, &Value::Null);
    }
}
