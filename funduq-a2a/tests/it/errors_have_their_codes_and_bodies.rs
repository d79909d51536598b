//! Each error has the code, the status and the reason of the specification's table, and the body of its binding.

use funduq_a2a::A2aError;
use serde_json::json;

fn all() -> Vec<(A2aError, i32, u16, &'static str)> {
    let text = || "x".to_owned();
    vec![
        (A2aError::TaskNotFound { task_id: text() }, -32001, 404, "NOT_FOUND"),
        (A2aError::TaskNotCancelable { task_id: text() }, -32002, 400, "FAILED_PRECONDITION"),
        (A2aError::PushNotificationNotSupported, -32003, 400, "FAILED_PRECONDITION"),
        (A2aError::UnsupportedOperation(text()), -32004, 400, "FAILED_PRECONDITION"),
        (A2aError::ContentTypeNotSupported(text()), -32005, 400, "INVALID_ARGUMENT"),
        (A2aError::InvalidAgentResponse(text()), -32006, 500, "INTERNAL"),
        (A2aError::ExtendedAgentCardNotConfigured, -32007, 400, "FAILED_PRECONDITION"),
        (A2aError::ExtensionSupportRequired { uri: text() }, -32008, 400, "FAILED_PRECONDITION"),
        (A2aError::VersionNotSupported(text()), -32009, 400, "FAILED_PRECONDITION"),
        (A2aError::ParseError(text()), -32700, 400, "INVALID_ARGUMENT"),
        (A2aError::InvalidRequest(text()), -32600, 400, "INVALID_ARGUMENT"),
        (A2aError::MethodNotFound(text()), -32601, 404, "NOT_FOUND"),
        (A2aError::invalid_params("x"), -32602, 400, "INVALID_ARGUMENT"),
        (A2aError::Internal(text()), -32603, 500, "INTERNAL"),
    ]
}

#[test]
fn codes_and_statuses_are_those_of_the_table() {
    for (error, code, http_status, grpc_status) in all() {
        assert_eq!(error.code(), code, "{error:?}");
        assert_eq!(error.http_status(), http_status, "{error:?}");
        assert_eq!(error.grpc_status(), grpc_status, "{error:?}");
    }
}

#[test]
fn the_official_crate_agrees() {
    for (error, code, http_status, _) in all() {
        assert_eq!(a2a::reason_to_error_code(error.reason()), Some(code), "{error:?}");
        assert_eq!(a2a::error_reason(code), error.reason());
        // That crate answers 501 for an unknown method, which over HTTP is an unknown path, so 404.
        if code != a2a::error_code::METHOD_NOT_FOUND {
            assert_eq!(a2a::A2AError::new(code, "x").http_status_code(), http_status, "{error:?}");
        }
    }
}

#[test]
fn the_official_crate_reads_the_json_rpc_object() {
    for (error, code, ..) in all() {
        let json = serde_json::to_string(&error.to_json_rpc()).unwrap();
        let read: a2a::JsonRpcError = serde_json::from_str(&json).unwrap();
        assert_eq!(read.code, code);
        let details: Vec<a2a::TypedDetail> = serde_json::from_value(read.data.unwrap()).unwrap();
        assert_eq!(details[0].type_url, a2a::errordetails::ERROR_INFO_TYPE);
        assert_eq!(details[0].value["reason"], error.reason());
        assert_eq!(details[0].value["domain"], a2a::errordetails::PROTOCOL_DOMAIN);
    }
}

#[test]
fn the_json_rpc_object_is_code_message_and_data() {
    let error = A2aError::TaskNotFound { task_id: "t-1".into() };
    assert_eq!(
        serde_json::to_value(error.to_json_rpc()).unwrap(),
        json!({
            "code": -32001,
            "message": "there is no task \"t-1\"",
            "data": [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "TASK_NOT_FOUND",
                "domain": "a2a-protocol.org",
                "metadata": {"taskId": "t-1"}
            }]
        })
    );
}

#[test]
fn the_rest_body_is_a_google_rpc_status_with_the_http_status() {
    let error = A2aError::VersionNotSupported("the protocol version \"0.5\" is not supported".into());
    let body: serde_json::Value = serde_json::from_str(&error.to_rest().to_json()).unwrap();
    assert_eq!(
        body,
        json!({"error": {
            "code": 400,
            "status": "FAILED_PRECONDITION",
            "message": "the protocol version \"0.5\" is not supported",
            "details": [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "VERSION_NOT_SUPPORTED",
                "domain": "a2a-protocol.org",
                "metadata": {"supportedVersions": "1.0, 0.3"}
            }]
        }})
    );
}
