//! Each member that the proto file marks as required is missed by name, and is required in the schema.

use funduq_a2a::{
    AgentCard, AgentCardSignature, AgentInterface, AgentProvider, AgentSkill, ApiKeySecurityScheme, Artifact,
    AuthenticationInfo, AuthorizationCodeOAuthFlow, CancelTaskRequest, ClientCredentialsOAuthFlow,
    DeleteTaskPushNotificationConfigRequest, DeviceCodeOAuthFlow, GetTaskPushNotificationConfigRequest,
    GetTaskRequest, HttpAuthSecurityScheme, InvalidMessage, ListTaskPushNotificationConfigsRequest, Message,
    OAuth2SecurityScheme, OpenIdConnectSecurityScheme, SendMessageRequest, SubscribeToTaskRequest, Task,
    TaskArtifactUpdateEvent, TaskPushNotificationConfig, TaskStatus, TaskStatusUpdateEvent, WireMessage,
    schema,
};
use serde_json::{Value, json};

/// Takes a message apart that has its required members only; `may_be_left_out` are those that the specification
/// marks as required and a lenient reader does without.
fn check<T: WireMessage>(name: &str, minimal: &Value, may_be_left_out: &[&str]) {
    let read = |value: &Value| T::from_json(value.to_string().as_bytes());
    assert!(read(minimal).is_ok(), "{name}");
    let members = minimal.as_object().unwrap();
    for member in members.keys() {
        let mut without = minimal.clone();
        without.as_object_mut().unwrap().remove(member);
        let Err(InvalidMessage::Violations(violations)) = read(&without) else {
            panic!("{name} reads without {member}");
        };
        assert_eq!(violations.len(), 1, "{name}.{member}: {violations:?}");
        assert_eq!(&violations[0].field, member, "{name}");
        assert!(violations[0].description.starts_with("is required"), "{name}: {violations:?}");
    }
    let schemas = schema::bundle();
    let required = schemas.get("$defs").unwrap()[name]["required"].as_array().unwrap();
    let mut required: Vec<&str> = required.iter().map(|member| member.as_str().unwrap()).collect();
    required.retain(|member| !may_be_left_out.contains(member));
    required.sort_unstable();
    let mut expected: Vec<&str> = members.keys().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(required, expected, "the schema of {name}");
}

#[test]
fn of_messages_and_tasks() {
    let parts = || json!([{"text": "x"}]);
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": parts()});
    let status = json!({"state": "TASK_STATE_WORKING"});
    let artifact = json!({"artifactId": "a", "parts": parts()});
    check::<Message>("Message", &message, &[]);
    check::<Artifact>("Artifact", &artifact, &[]);
    check::<TaskStatus>("TaskStatus", &status, &[]);
    check::<Task>("Task", &json!({"id": "t", "status": status}), &[]);
    let update = json!({"taskId": "t", "contextId": "c", "status": status});
    check::<TaskStatusUpdateEvent>("TaskStatusUpdateEvent", &update, &[]);
    let update = json!({"taskId": "t", "contextId": "c", "artifact": artifact});
    check::<TaskArtifactUpdateEvent>("TaskArtifactUpdateEvent", &update, &[]);
    check::<SendMessageRequest>("SendMessageRequest", &json!({"message": message}), &[]);
}

#[test]
fn of_requests_about_tasks() {
    check::<GetTaskRequest>("GetTaskRequest", &json!({"id": "t"}), &[]);
    check::<CancelTaskRequest>("CancelTaskRequest", &json!({"id": "t"}), &[]);
    check::<SubscribeToTaskRequest>("SubscribeToTaskRequest", &json!({"id": "t"}), &[]);
}

#[test]
fn of_push_notifications() {
    let named = json!({"taskId": "t", "id": "p"});
    check::<GetTaskPushNotificationConfigRequest>("GetTaskPushNotificationConfigRequest", &named, &[]);
    check::<DeleteTaskPushNotificationConfigRequest>("DeleteTaskPushNotificationConfigRequest", &named, &[]);
    let of_task = json!({"taskId": "t"});
    check::<ListTaskPushNotificationConfigsRequest>("ListTaskPushNotificationConfigsRequest", &of_task, &[]);
    check::<TaskPushNotificationConfig>("TaskPushNotificationConfig", &json!({"url": "u"}), &[]);
    check::<AuthenticationInfo>("AuthenticationInfo", &json!({"scheme": "Bearer"}), &[]);
}

#[test]
fn of_cards() {
    let interface = json!({"url": "u", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"});
    check::<AgentInterface>("AgentInterface", &interface, &[]);
    let card = json!({"name": "n", "version": "1", "capabilities": {}, "supportedInterfaces": [interface]});
    let lenient = ["description", "defaultInputModes", "defaultOutputModes", "skills"];
    check::<AgentCard>("AgentCard", &card, &lenient);
    check::<AgentProvider>("AgentProvider", &json!({"url": "u", "organization": "o"}), &[]);
    let skill = json!({"id": "s", "name": "n", "description": "d", "tags": ["t"]});
    check::<AgentSkill>("AgentSkill", &skill, &[]);
    check::<AgentCardSignature>("AgentCardSignature", &json!({"protected": "p", "signature": "s"}), &[]);
}

#[test]
fn of_security_schemes() {
    check::<ApiKeySecurityScheme>("ApiKeySecurityScheme", &json!({"location": "header", "name": "n"}), &[]);
    check::<HttpAuthSecurityScheme>("HttpAuthSecurityScheme", &json!({"scheme": "Bearer"}), &[]);
    check::<OpenIdConnectSecurityScheme>(
        "OpenIdConnectSecurityScheme",
        &json!({"openIdConnectUrl": "u"}),
        &[],
    );
    let flows = json!({"flows": {"implicit": {}}});
    check::<OAuth2SecurityScheme>("OAuth2SecurityScheme", &flows, &[]);
    let code = json!({"authorizationUrl": "a", "tokenUrl": "t"});
    check::<AuthorizationCodeOAuthFlow>("AuthorizationCodeOAuthFlow", &code, &["scopes"]);
    check::<ClientCredentialsOAuthFlow>("ClientCredentialsOAuthFlow", &json!({"tokenUrl": "t"}), &["scopes"]);
    let device = json!({"deviceAuthorizationUrl": "d", "tokenUrl": "t"});
    check::<DeviceCodeOAuthFlow>("DeviceCodeOAuthFlow", &device, &["scopes"]);
}
