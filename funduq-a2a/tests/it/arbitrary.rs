//! Generated messages: valid, with every member sometimes set and sometimes not.

use std::collections::BTreeMap;

use funduq_a2a::{
    Artifact, AuthenticationInfo, Bytes, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest, JsonObject,
    ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse, ListTasksRequest,
    ListTasksResponse, Message, Part, PartContent, Role, SendMessageConfiguration, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskArtifactUpdateEvent,
    TaskPushNotificationConfig, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
};
use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};

pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z0-9-]{1,8}", 1 => "\\PC{1,12}", 1 => any::<String>().prop_filter("not empty", |text| !text.is_empty())]
}

pub(crate) fn texts() -> impl Strategy<Value = Vec<String>> {
    vec(text(), 0..3)
}

pub(crate) fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        // The proto crate refuses integers of more than 32 bits inside a Struct.
        any::<i32>().prop_map(Value::from),
        (-1e9..1e9).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Value::from),
            btree_map(any::<String>(), inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// Never empty: the native crate drops an empty one.
pub(crate) fn object() -> impl Strategy<Value = JsonObject> {
    btree_map(any::<String>(), json(), 1..3)
        .prop_map(|map| JsonObject::from(map.into_iter().collect::<Map<_, _>>()))
}

pub(crate) fn scopes() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map(text(), any::<String>(), 1..3)
}

pub(crate) fn timestamp() -> impl Strategy<Value = Timestamp> {
    (-62_135_596_800_000_i64..=253_402_300_799_999).prop_map(Timestamp::from_unix_millis)
}

pub(crate) fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::User), Just(Role::Agent)]
}

pub(crate) fn state() -> impl Strategy<Value = TaskState> {
    (1..TaskState::NAMES.len()).prop_map(|number| TaskState::from(TaskState::NAMES[number]))
}

pub(crate) fn content() -> impl Strategy<Value = PartContent> {
    prop_oneof![
        3 => any::<String>().prop_map(PartContent::Text),
        1 => vec(any::<u8>(), 0..9).prop_map(|bytes| PartContent::Raw(Bytes(bytes))),
        1 => any::<String>().prop_map(PartContent::Url),
        1 => json()
            .prop_filter("the proto crate reads a null value as absent", |value| !value.is_null())
            .prop_map(|value| PartContent::Data(to_raw_value(&value).unwrap())),
    ]
}

pub(crate) fn part() -> impl Strategy<Value = Part> {
    (content(), of(object()), of(text()), of(text())).prop_map(|(content, metadata, filename, media_type)| {
        Part { content, metadata, filename, media_type }
    })
}

pub(crate) fn message() -> impl Strategy<Value = Message> {
    (text(), of(text()), of(text()), role(), vec(part(), 1..3), of(object()), texts(), texts()).prop_map(
        |(message_id, context_id, task_id, role, parts, metadata, extensions, reference_task_ids)| Message {
            message_id,
            context_id,
            task_id,
            role,
            parts,
            metadata,
            extensions,
            reference_task_ids,
        },
    )
}

pub(crate) fn artifact() -> impl Strategy<Value = Artifact> {
    (text(), of(text()), of(text()), vec(part(), 1..3), of(object()), texts()).prop_map(
        |(artifact_id, name, description, parts, metadata, extensions)| Artifact {
            artifact_id,
            name,
            description,
            parts,
            metadata,
            extensions,
        },
    )
}

pub(crate) fn status() -> impl Strategy<Value = TaskStatus> {
    (state(), of(message()), of(timestamp())).prop_map(|(state, message, timestamp)| TaskStatus {
        state,
        message,
        timestamp,
    })
}

pub(crate) fn task() -> impl Strategy<Value = Task> {
    (text(), text(), status(), vec(artifact(), 0..2), vec(message(), 0..2), of(object())).prop_map(
        |(id, context_id, status, artifacts, history, metadata)| Task {
            id,
            context_id: Some(context_id),
            status,
            artifacts,
            history,
            metadata,
        },
    )
}

pub(crate) fn status_update() -> impl Strategy<Value = TaskStatusUpdateEvent> {
    (text(), text(), status(), of(object())).prop_map(|(task_id, context_id, status, metadata)| {
        TaskStatusUpdateEvent { task_id, context_id, status, metadata }
    })
}

pub(crate) fn artifact_update() -> impl Strategy<Value = TaskArtifactUpdateEvent> {
    (text(), text(), artifact(), any::<bool>(), any::<bool>(), of(object())).prop_map(
        |(task_id, context_id, artifact, append, last_chunk, metadata)| TaskArtifactUpdateEvent {
            task_id,
            context_id,
            artifact,
            append,
            last_chunk,
            metadata,
        },
    )
}

pub(crate) fn stream_response() -> impl Strategy<Value = StreamResponse> {
    prop_oneof![
        task().prop_map(StreamResponse::Task),
        message().prop_map(StreamResponse::Message),
        status_update().prop_map(StreamResponse::StatusUpdate),
        artifact_update().prop_map(StreamResponse::ArtifactUpdate),
    ]
}

pub(crate) fn send_response() -> impl Strategy<Value = SendMessageResponse> {
    prop_oneof![task().prop_map(SendMessageResponse::Task), message().prop_map(SendMessageResponse::Message)]
}

pub(crate) fn push_config() -> impl Strategy<Value = TaskPushNotificationConfig> {
    let authentication =
        (text(), of(text())).prop_map(|(scheme, credentials)| AuthenticationInfo { scheme, credentials });
    (of(text()), of(text()), of(text()), text(), of(text()), of(authentication)).prop_map(
        |(tenant, id, task_id, url, token, authentication)| TaskPushNotificationConfig {
            tenant,
            id,
            task_id,
            url,
            token,
            authentication,
        },
    )
}

pub(crate) fn configuration() -> impl Strategy<Value = SendMessageConfiguration> {
    (texts(), of(push_config()), of(any::<i32>()), any::<bool>()).prop_map(
        |(accepted_output_modes, task_push_notification_config, history_length, return_immediately)| {
            SendMessageConfiguration {
                accepted_output_modes,
                task_push_notification_config,
                history_length,
                return_immediately,
            }
        },
    )
}

pub(crate) fn send_request() -> impl Strategy<Value = SendMessageRequest> {
    (of(text()), message(), of(configuration()), of(object())).prop_map(
        |(tenant, message, configuration, metadata)| SendMessageRequest {
            tenant,
            message,
            configuration,
            metadata,
        },
    )
}

pub(crate) fn get_task() -> impl Strategy<Value = GetTaskRequest> {
    (of(text()), text(), of(any::<i32>())).prop_map(|(tenant, id, history_length)| GetTaskRequest {
        tenant,
        id,
        history_length,
    })
}

pub(crate) fn list_tasks() -> impl Strategy<Value = ListTasksRequest> {
    let first = (of(text()), of(text()), of(state()), of(any::<i32>()));
    let second = (of(text()), of(any::<i32>()), of(timestamp()), of(any::<bool>()));
    (first, second).prop_map(
        |((tenant, context_id, status, page_size), (page_token, history_length, after, artifacts))| {
            ListTasksRequest {
                tenant,
                context_id,
                status,
                page_size,
                page_token,
                history_length,
                status_timestamp_after: after,
                include_artifacts: artifacts,
            }
        },
    )
}

pub(crate) fn list_tasks_response() -> impl Strategy<Value = ListTasksResponse> {
    (vec(task(), 0..3), any::<String>(), any::<i32>(), any::<i32>()).prop_map(
        |(tasks, next_page_token, page_size, total_size)| ListTasksResponse {
            tasks,
            next_page_token,
            page_size,
            total_size,
        },
    )
}

pub(crate) fn cancel_task() -> impl Strategy<Value = CancelTaskRequest> {
    (of(text()), text(), of(object())).prop_map(|(tenant, id, metadata)| CancelTaskRequest {
        tenant,
        id,
        metadata,
    })
}

pub(crate) fn subscribe() -> impl Strategy<Value = SubscribeToTaskRequest> {
    (of(text()), text()).prop_map(|(tenant, id)| SubscribeToTaskRequest { tenant, id })
}

pub(crate) fn get_push() -> impl Strategy<Value = GetTaskPushNotificationConfigRequest> {
    (of(text()), text(), text()).prop_map(|(tenant, task_id, id)| GetTaskPushNotificationConfigRequest {
        tenant,
        task_id,
        id,
    })
}

pub(crate) fn delete_push() -> impl Strategy<Value = DeleteTaskPushNotificationConfigRequest> {
    (of(text()), text(), text()).prop_map(|(tenant, task_id, id)| DeleteTaskPushNotificationConfigRequest {
        tenant,
        task_id,
        id,
    })
}

pub(crate) fn list_push() -> impl Strategy<Value = ListTaskPushNotificationConfigsRequest> {
    (of(text()), text(), any::<i32>(), of(text())).prop_map(|(tenant, task_id, page_size, page_token)| {
        ListTaskPushNotificationConfigsRequest { tenant, task_id, page_size, page_token }
    })
}

pub(crate) fn list_push_response() -> impl Strategy<Value = ListTaskPushNotificationConfigsResponse> {
    (vec(push_config(), 0..3), of(text())).prop_map(|(configs, next_page_token)| {
        ListTaskPushNotificationConfigsResponse { configs, next_page_token }
    })
}

pub(crate) fn extended_card() -> impl Strategy<Value = GetExtendedAgentCardRequest> {
    of(text()).prop_map(|tenant| GetExtendedAgentCardRequest { tenant })
}
