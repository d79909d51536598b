//! The HTTP+JSON binding: paths, verbs, media types, and errors in the specification's body.

use serde_json::{Value, json};

use crate::caller::{Answer, at_once, demo, message, message_with};

#[tokio::test]
async fn a_success_is_a2a_json_and_an_error_is_json_with_its_status() {
    let (_gateway, caller) = demo().await;
    let sent = caller.rest("POST", "/message:send", Some(message("hello"))).await;
    assert_eq!((sent.status, sent.media.as_str()), (200, "application/a2a+json"));
    let id = sent.json()["task"]["id"].as_str().unwrap().to_owned();
    let read = caller.rest("GET", &format!("/tasks/{id}?historyLength=0"), None).await;
    assert_eq!(read.json()["id"], json!(id));
    assert_eq!(read.json().get("history"), None);
    for (method, path, body, status, word, reason) in [
        ("GET", "/tasks/nothing".to_owned(), None, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
        ("POST", format!("/tasks/{id}:cancel"), None, 400, "FAILED_PRECONDITION", "TASK_NOT_CANCELABLE"),
        ("POST", format!("/tasks/{id}:subscribe"), None, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
        ("GET", format!("/tasks/{id}?historyLength=x"), None, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
        ("GET", "/tasks?pageSize=0".to_owned(), None, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
        ("GET", "/tasks?includeArtifacts=yes".to_owned(), None, 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
        ("POST", "/message:send".to_owned(), Some(json!({})), 400, "INVALID_ARGUMENT", "INVALID_PARAMS"),
        ("GET", "/extendedAgentCard".to_owned(), None, 400, "FAILED_PRECONDITION", "UNSUPPORTED_OPERATION"),
        (
            "GET",
            "/tasks/x/pushNotificationConfigs".to_owned(),
            None,
            400,
            "FAILED_PRECONDITION",
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        (
            "POST",
            "/message:send".to_owned(),
            Some(message_with("x", json!({"parts": [{"data": 1}]}))),
            400,
            "INVALID_ARGUMENT",
            "CONTENT_TYPE_NOT_SUPPORTED",
        ),
    ] {
        let answer = caller.rest(method, &path, body).await;
        assert_eq!((answer.status, answer.media.as_str()), (status, "application/json"), "{method} {path}");
        let error = &answer.json()["error"];
        assert_eq!((&error["code"], &error["status"]), (&json!(status), &json!(word)), "{method} {path}");
        assert_eq!(error["details"][0]["reason"], reason, "{method} {path}");
        assert_eq!(error["details"][0]["domain"], "a2a-protocol.org");
    }
}

#[tokio::test]
async fn unknown_paths_are_404_and_other_verbs_405_with_allow() {
    let (_gateway, caller) = demo().await;
    for path in ["/nothing", "/tasks/a/b", "/message:nothing", "/v1", "/v2/tasks/x"] {
        let answer = caller.rest("GET", path, None).await;
        assert_eq!(answer.status, 404, "{path}");
        assert_eq!(answer.json()["error"]["code"], 404, "{path}");
    }
    for (method, path, allow) in [
        ("GET", "/message:send", "POST"),
        ("DELETE", "/tasks/x", "GET"),
        ("DELETE", "/tasks/x:subscribe", "GET, POST"),
        ("PUT", "/tasks", "GET"),
    ] {
        let answer = caller.rest(method, path, None).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some(allow)), "{method} {path}");
    }
}

#[tokio::test]
async fn a_cancel_takes_no_body_an_empty_one_or_null() {
    let (_gateway, caller) = demo().await;
    for body in ["", "{}", "null", r#"{"id":"other","metadata":{"k":1}}"#] {
        let task = caller.result("SendMessage", at_once(message("slow"))).await["task"]["id"].clone();
        let path = format!("/tasks/{}:cancel", task.as_str().unwrap());
        let request = caller.request("POST", &path).header("a2a-version", "1.0").body(body);
        let answer = Answer::of(request.send().await.unwrap()).await;
        assert_eq!(answer.status, 200, "{body}: {answer:?}");
        assert_eq!(answer.json()["id"], task);
    }
}

#[tokio::test]
async fn the_body_may_say_it_is_json_or_a2a_json_or_nothing() {
    let (_gateway, caller) = demo().await;
    for media in [Some("application/json"), Some("application/a2a+json"), Some("text/plain"), None] {
        let mut request = caller.request("POST", "/message:send").body(message("hello").to_string());
        if let Some(media) = media {
            request = request.header("content-type", media);
        }
        assert_eq!(request.send().await.unwrap().status(), 200, "{media:?}");
    }
    let broken = caller.request("POST", "/message:send").body("{").send().await.unwrap();
    let broken = Answer::of(broken).await;
    assert_eq!(
        (broken.status, &broken.json()["error"]["details"][0]["reason"]),
        (400, &json!("PARSE_ERROR"))
    );
}

#[tokio::test]
async fn a_version_that_is_not_the_paths_is_refused() {
    let (_gateway, caller) = demo().await;
    let ask = async |path: &str, version: &str| {
        let request = caller.request("GET", path).header("a2a-version", version);
        let answer = Answer::of(request.send().await.unwrap()).await;
        (answer.status, answer.json()["error"]["details"][0]["reason"].as_str().map(str::to_owned))
    };
    let unsupported = (400, Some("VERSION_NOT_SUPPORTED".to_owned()));
    let unknown_task = (404, Some("TASK_NOT_FOUND".to_owned()));
    assert_eq!(ask("/tasks/x", "9.9").await, unsupported);
    assert_eq!(ask("/tasks/x", "0.3").await, unsupported);
    assert_eq!(ask("/tasks/x?A2A-Version=1.0", "").await, unknown_task);
    assert_eq!(ask("/v1/tasks/x", "0.3").await, unknown_task);
    assert_eq!(ask("/v1/tasks/x", "1.0").await, unsupported);
}

#[tokio::test]
async fn tasks_are_listed_by_query() {
    let (_gateway, caller) = demo().await;
    let first = caller.result("SendMessage", message("one")).await["task"].clone();
    let context = first["contextId"].as_str().unwrap().to_owned();
    caller.result("SendMessage", message_with("two", json!({"contextId": context}))).await;
    let list = async |query: &str| {
        let answer = caller.rest("GET", &format!("/tasks?contextId={context}{query}"), None).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    };
    let page = list("&pageSize=1&historyLength=0").await;
    assert_eq!((&page["totalSize"], &page["pageSize"]), (&json!(2), &json!(1)));
    let token = page["nextPageToken"].as_str().unwrap();
    let last = list(&format!("&pageSize=1&pageToken={token}&includeArtifacts=true")).await;
    assert_eq!((&last["tasks"][0]["id"], &last["nextPageToken"]), (&first["id"], &json!("")));
    assert_eq!(last["tasks"][0]["artifacts"][0]["parts"][0]["text"], "one");
    assert_eq!(list("&status=TASK_STATE_COMPLETED").await["totalSize"], 2);
    assert_eq!(list("&status=TASK_STATE_WORKING").await["tasks"], Value::Array(Vec::new()));
}
