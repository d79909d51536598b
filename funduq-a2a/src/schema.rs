//! The JSON Schemas of the 1.0 messages, as one document.

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::{
    AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse, ListTasksRequest, ListTasksResponse, SendMessageRequest,
    SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskPushNotificationConfig,
};

/// One JSON Schema document with each message of A2A 1.0 under `$defs`, by its name in the proto file.
///
/// The schemas describe what may be sent: `camelCase` names, required members as the protocol marks them.
#[must_use]
pub fn bundle() -> Schema {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    define::<AgentCard>(&mut generator);
    define::<SendMessageRequest>(&mut generator);
    define::<SendMessageResponse>(&mut generator);
    define::<StreamResponse>(&mut generator);
    define::<Task>(&mut generator);
    define::<GetTaskRequest>(&mut generator);
    define::<ListTasksRequest>(&mut generator);
    define::<ListTasksResponse>(&mut generator);
    define::<CancelTaskRequest>(&mut generator);
    define::<SubscribeToTaskRequest>(&mut generator);
    define::<TaskPushNotificationConfig>(&mut generator);
    define::<GetTaskPushNotificationConfigRequest>(&mut generator);
    define::<ListTaskPushNotificationConfigsRequest>(&mut generator);
    define::<ListTaskPushNotificationConfigsResponse>(&mut generator);
    define::<DeleteTaskPushNotificationConfigRequest>(&mut generator);
    define::<GetExtendedAgentCardRequest>(&mut generator);
    let definitions = generator.take_definitions(true);
    let mut document = Map::new();
    document.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    document.insert("title".to_owned(), json!("A2A 1.0"));
    document.insert("$defs".to_owned(), Value::Object(definitions));
    document.into()
}

/// Puts a type, and what it refers to, among the generator's definitions.
fn define<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}
