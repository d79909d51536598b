//! The JSON-RPC binding: what is a request, what is none, and what is answered under which id.

use funduq_a2a::json_rpc::{self, Id};
use funduq_a2a::{
    A2aError, Dialect, Operation, Request, Response, SendMessageResponse, StreamResponse, Task, Version,
};
use serde_json::{Value, json};

fn parse(body: &str) -> Result<json_rpc::Call, json_rpc::Refusal> {
    json_rpc::parse(body.as_bytes(), Ok(Version::V1_0))
}

fn get_task(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"GetTask","params":{{"id":"t"}}}}"#)
}

/// The id and the code of a refusal.
fn refused(body: &str) -> (String, i32) {
    let refusal = parse(body).unwrap_err();
    (refusal.id.map_or_else(|| "none".to_owned(), |id| id.to_string()), refusal.error.code())
}

#[test]
fn ids_are_echoed_with_their_kind_to_the_letter() {
    for id in [
        "1",
        "0",
        "-7",
        "1.0",
        "1.5e3",
        "123456789012345678901234567890",
        "\"s\"",
        "\"\\u00e9\"",
        "\"\"",
        "null",
    ] {
        let call = parse(&get_task(id)).unwrap();
        assert_eq!(call.id.as_ref().unwrap().as_json(), id);
        assert_eq!(call.request.operation(), Operation::GetTask);
        let answer = json_rpc::failure(&call.id.unwrap(), &A2aError::Internal("x".into()).to_json_rpc());
        assert!(answer.starts_with(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#)), "{answer}");
    }
}

#[test]
fn an_id_of_another_kind_is_an_invalid_request_under_null() {
    for id in ["true", "[1]", "{}"] {
        assert_eq!(refused(&get_task(id)), ("null".to_owned(), -32600), "{id}");
    }
}

#[test]
fn without_an_id_it_is_a_notification() {
    let call = parse(r#"{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t"}}"#).unwrap();
    assert_eq!(call.id, None);
    assert_eq!(refused(r#"{"jsonrpc":"2.0","method":"GetTask","params":{}}"#), ("none".to_owned(), -32602));
    assert_eq!(refused(r#"{"jsonrpc":"2.0","method":"Nonsense"}"#), ("none".to_owned(), -32601));
}

#[test]
fn what_is_no_json_is_a_parse_error_under_null() {
    for body in ["", "{", "hello", "{\"jsonrpc\":\"2.0\"}}"] {
        assert_eq!(refused(body), ("null".to_owned(), -32700), "{body}");
    }
    let refusal = json_rpc::parse(b"\xff\xfe", Ok(Version::V1_0)).unwrap_err();
    assert_eq!((refusal.id, refusal.error.code()), (Some(Id::null()), -32700));
}

#[test]
fn a_batch_is_refused_by_name() {
    for body in ["[]".to_owned(), format!(" [{}]", get_task("1"))] {
        let refusal = parse(&body).unwrap_err();
        assert_eq!(refusal.id, Some(Id::null()));
        assert_eq!(refusal.error.code(), -32600);
        assert!(refusal.error.to_string().contains("batch"), "{}", refusal.error);
    }
}

#[test]
fn a_wrong_shape_is_an_invalid_request_under_the_id_that_can_be_read() {
    for (body, id) in [
        ("7", "null"),
        ("\"x\"", "null"),
        ("null", "null"),
        (r#"{"id":3,"method":"GetTask"}"#, "3"),
        (r#"{"jsonrpc":"1.0","id":3,"method":"GetTask"}"#, "3"),
        (r#"{"jsonrpc":2.0,"id":"a","method":"GetTask"}"#, "\"a\""),
        (r#"{"jsonrpc":"2.0","id":3}"#, "3"),
        (r#"{"jsonrpc":"2.0","id":3,"method":null}"#, "3"),
        (r#"{"jsonrpc":"2.0","id":3,"method":["GetTask"]}"#, "3"),
        (r#"{"jsonrpc":"2.0","id":3,"method":"GetTask","params":"t"}"#, "3"),
        (r#"{"jsonrpc":"2.0"}"#, "null"),
    ] {
        assert_eq!(refused(body), (id.to_owned(), -32600), "{body}");
    }
}

#[test]
fn an_unknown_method_is_not_found_and_one_of_the_other_version_is_named_so() {
    let refusal = parse(r#"{"jsonrpc":"2.0","id":1,"method":"message/send","params":{}}"#).unwrap_err();
    assert_eq!(refusal.error.code(), -32601);
    assert!(refusal.error.to_string().contains("A2A-Version: 0.3"), "{}", refusal.error);
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}"#;
    let refusal = json_rpc::parse(body, Ok(Version::V0_3)).unwrap_err();
    assert!(refusal.error.to_string().contains("A2A-Version: 1.0"), "{}", refusal.error);
    assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"method":"getTask"}"#), ("1".to_owned(), -32601));
}

#[test]
fn params_may_be_absent_where_nothing_is_required() {
    for params in ["", r#","params":null"#, r#","params":{}"#] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ListTasks"{params}}}"#);
        assert!(matches!(parse(&body).unwrap().request, Request::ListTasks(_)), "{body}");
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"{params}}}"#);
        assert!(matches!(parse(&body).unwrap().request, Request::GetExtendedAgentCard(_)), "{body}");
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"GetTask"{params}}}"#);
        let error = parse(&body).unwrap_err().error;
        assert_eq!((error.code(), error.to_string().as_str()), (-32602, "id: is required"), "{body}");
    }
}

#[test]
fn params_by_position_are_invalid_params() {
    assert_eq!(
        refused(r#"{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["t"]}"#),
        ("1".to_owned(), -32602)
    );
}

#[test]
fn an_unsupported_version_is_answered_under_the_requests_id() {
    let version = Version::from_parameter(Some("9.9"));
    let refusal = json_rpc::parse(get_task("17").as_bytes(), version.clone()).unwrap_err();
    assert_eq!((refusal.id.unwrap().as_json(), refusal.error.code()), ("17", -32009));
    let refusal = json_rpc::parse(b"{", version).unwrap_err();
    assert_eq!(refusal.error.code(), -32700);
}

#[test]
fn a_body_that_nests_too_deep_is_refused() {
    let data = "[".repeat(200) + &"]".repeat(200);
    let body = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"GetTask","params":{{"id":{data}}}}}"#);
    assert_eq!(refused(&body), ("5".to_owned(), -32600));
}

#[test]
fn results_and_events_have_the_envelope() {
    let id = parse(&get_task("\"x\"")).unwrap().id.unwrap();
    let task = Task { id: "t".into(), ..Task::default() };
    let status = r#""status":{"state":"TASK_STATE_UNSPECIFIED"}"#;
    assert_eq!(
        json_rpc::success(&id, &Response::Task(task.clone()), Dialect::V1),
        format!(r#"{{"jsonrpc":"2.0","id":"x","result":{{"id":"t",{status}}}}}"#)
    );
    let sent = Response::SendMessage(SendMessageResponse::Task(task.clone()));
    let wrapped = format!(r#"{{"jsonrpc":"2.0","id":"x","result":{{"task":{{"id":"t",{status}}}}}}}"#);
    assert_eq!(json_rpc::success(&id, &sent, Dialect::V1), wrapped);
    assert_eq!(json_rpc::event(&id, &StreamResponse::Task(task), Dialect::V1), wrapped);
    let deleted: Value =
        serde_json::from_str(&json_rpc::success(&id, &Response::Deleted {}, Dialect::V1)).unwrap();
    assert_eq!(deleted, json!({"jsonrpc": "2.0", "id": "x", "result": {}}));
}
