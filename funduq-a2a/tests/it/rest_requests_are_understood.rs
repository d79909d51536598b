//! The HTTP+JSON binding: verb, path, query and body to the same requests that JSON-RPC gives.

use funduq_a2a::operation::OPERATIONS;
use funduq_a2a::rest::{self, RouteMiss};
use funduq_a2a::{A2aError, Operation, Request, TaskState, Version, json_rpc};
use serde_json::{Value, json};

fn read(verb: &str, path: &str, query: &str, body: &str) -> Result<Request, A2aError> {
    rest::find(verb, path).unwrap().read(Some("1.0"), query, body.as_bytes())
}

/// One request of each operation: its parameters by name, and the same as verb, path, query and body.
fn each_operation() -> Vec<(Value, &'static str, &'static str, &'static str, Value)> {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    let send = json!({"message": message, "configuration": {"historyLength": 3}, "metadata": {"k": 1}});
    let push = json!({"taskId": "t", "url": "https://example.com/hook"});
    vec![
        (send.clone(), "POST", "/message:send", "", send.clone()),
        (send.clone(), "POST", "/message:stream", "", send),
        (json!({"id": "t", "historyLength": 2}), "GET", "/tasks/t", "historyLength=2", Value::Null),
        (
            json!({
                "contextId": "c", "status": "TASK_STATE_WORKING", "pageSize": 7, "pageToken": "p",
                "historyLength": 0, "statusTimestampAfter": "2025-10-28T10:30:00Z", "includeArtifacts": true
            }),
            "GET",
            "/tasks",
            "contextId=c&status=working&pageSize=7&pageToken=p&historyLength=0\
             &statusTimestampAfter=2025-10-28T10%3A30%3A00Z&includeArtifacts=true",
            Value::Null,
        ),
        (
            json!({"id": "t", "metadata": {"k": 1}}),
            "POST",
            "/tasks/t:cancel",
            "",
            json!({"metadata": {"k": 1}}),
        ),
        (json!({"id": "t"}), "GET", "/tasks/t:subscribe", "", Value::Null),
        (
            push.clone(),
            "POST",
            "/tasks/t/pushNotificationConfigs",
            "",
            json!({"url": "https://example.com/hook"}),
        ),
        (json!({"taskId": "t", "id": "p"}), "GET", "/tasks/t/pushNotificationConfigs/p", "", Value::Null),
        (
            json!({"taskId": "t", "pageSize": 5}),
            "GET",
            "/tasks/t/pushNotificationConfigs",
            "pageSize=5",
            Value::Null,
        ),
        (json!({"taskId": "t", "id": "p"}), "DELETE", "/tasks/t/pushNotificationConfigs/p", "", Value::Null),
        (json!({"tenant": "x"}), "GET", "/extendedAgentCard", "tenant=x", Value::Null),
    ]
}

#[test]
fn both_bindings_give_the_same_request_for_each_operation() {
    let requests = each_operation();
    assert_eq!(requests.len(), OPERATIONS.len());
    for (row, (params, verb, path, query, body)) in OPERATIONS.iter().zip(requests) {
        let envelope = json!({"jsonrpc": "2.0", "id": 1, "method": row.method, "params": params});
        let call = json_rpc::parse(envelope.to_string().as_bytes(), Ok(Version::V1_0)).unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        assert_eq!(read(verb, path, query, &body).unwrap(), call.request, "{}", row.method);
        assert_eq!(call.request.operation(), row.operation);
        assert!(row.verbs.iter().any(|own| own.as_str() == verb));
    }
}

#[test]
fn a_subscription_may_be_posted_as_well() {
    for body in ["", "{}", "null", " \n", r#"{"id":"other"}"#] {
        let request = read("POST", "/tasks/t:subscribe/", "", body).unwrap();
        assert_eq!(request, read("GET", "/tasks/t:subscribe", "", "").unwrap(), "{body}");
    }
}

#[test]
fn a_cancellation_takes_no_body_an_empty_one_or_null() {
    for body in ["", "{}", "null"] {
        assert!(
            matches!(read("POST", "/tasks/t:cancel", "", body), Ok(Request::CancelTask(request)) if request.id == "t")
        );
    }
}

#[test]
fn the_path_wins_over_body_and_query() {
    let request =
        read("POST", "/tasks/t/pushNotificationConfigs", "", r#"{"task_id":"x","url":"u"}"#).unwrap();
    assert!(
        matches!(request, Request::CreateTaskPushNotificationConfig(config) if config.task_id.as_deref() == Some("t"))
    );
    let request = read("GET", "/tasks/t", "id=x", "").unwrap();
    assert!(matches!(request, Request::GetTask(request) if request.id == "t"));
}

#[test]
fn ids_in_paths_are_decoded() {
    let request = read("GET", "/tasks/a%2Fb%3Ac%20d", "", "").unwrap();
    assert!(matches!(request, Request::GetTask(request) if request.id == "a/b:c d"));
}

#[test]
fn unknown_paths_are_not_found() {
    for path in
        ["/", "", "/task", "/tasks/t/x", "/message", "/message:sent", "/v2/tasks", "/v1/tasks", "/tasks//"]
    {
        let miss = rest::find("GET", path).unwrap_err();
        assert_eq!(miss, RouteMiss::NotFound, "{path}");
        assert_eq!(miss.to_rest().error.code, 404);
    }
}

#[test]
fn other_verbs_are_told_what_is_allowed() {
    for (verb, path, allow) in [
        ("GET", "/message:send", &["POST"][..]),
        ("POST", "/tasks/t", &["GET"]),
        ("GET", "/tasks/t:cancel", &["POST"]),
        ("DELETE", "/tasks/t:subscribe", &["GET", "POST"]),
        ("PUT", "/tasks/t/pushNotificationConfigs", &["POST", "GET"]),
        ("POST", "/tasks/t/pushNotificationConfigs/p", &["GET", "DELETE"]),
        ("get", "/tasks", &["GET"]),
    ] {
        let miss = rest::find(verb, path).unwrap_err();
        assert_eq!(miss, RouteMiss::MethodNotAllowed { allow: allow.to_vec() }, "{verb} {path}");
        assert_eq!((miss.http_status(), miss.to_rest().error.code), (405, 405));
    }
}

#[test]
fn faults_name_the_member() {
    for (verb, path, query, body, message) in [
        (
            "GET",
            "/tasks",
            "pageSize=many",
            "",
            "pageSize: expected a whole number of 32 bits, found the string \"many\"",
        ),
        ("GET", "/tasks", "includeArtifacts=1", "", "includeArtifacts: expected true or false, found \"1\""),
        (
            "GET",
            "/tasks",
            "statusTimestampAfter=today",
            "",
            "statusTimestampAfter: expected an RFC 3339 timestamp such as 2025-10-28T10:30:00.000Z",
        ),
        ("POST", "/message:send", "", "", "message: is required"),
        ("POST", "/message:send", "", "[]", "expected an object, found an array"),
        ("POST", "/tasks/t:cancel", "", "[]", "the body must be an object"),
    ] {
        let error = read(verb, path, query, body).unwrap_err();
        assert_eq!((error.code(), error.to_string().as_str()), (-32602, message));
    }
    assert_eq!(read("POST", "/message:send", "", "{").unwrap_err().code(), -32700);
}

#[test]
fn a_state_that_is_not_known_reaches_the_host_as_such() {
    let request = read("GET", "/tasks", "status=TASK_STATE_RUNNING", "").unwrap();
    assert!(
        matches!(request, Request::ListTasks(list) if list.status == Some(TaskState::Unknown("TASK_STATE_RUNNING".into())))
    );
}

#[test]
fn the_path_tells_the_version_unless_the_parameter_contradicts() {
    let new = rest::find("GET", "/tasks/t").unwrap();
    let old = rest::find("GET", "/v1/tasks/t").unwrap();
    assert_eq!((new.version, old.version), (Version::V1_0, Version::V0_3));
    assert_eq!((new.operation, old.operation), (Operation::GetTask, Operation::GetTask));
    for parameter in [None, Some(""), Some("1.0"), Some("1.0.3")] {
        assert!(new.read(parameter, "", b"").is_ok(), "{parameter:?}");
    }
    for parameter in [None, Some(""), Some("0.3"), Some("0.3.0")] {
        assert!(old.read(parameter, "", b"").is_ok(), "{parameter:?}");
    }
    for (route, parameter) in [(&new, "0.3"), (&old, "1.0"), (&new, "2.0"), (&old, "0.2")] {
        assert_eq!(route.read(Some(parameter), "", b"").unwrap_err().code(), -32009);
    }
}
