//! The JSON-RPC binding: envelopes, ids, versions, and the code of each fault.

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::caller::{Answer, at_once, demo, message};
use crate::support::TestGateway;

fn get_task(id: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "GetTask", "params": {"id": "nothing"}})
}

#[tokio::test]
async fn each_fault_has_its_code_and_comes_with_200() {
    let (_gateway, caller) = demo().await;
    for (body, code, id) in [
        ("{", -32700, Value::Null),
        ("", -32700, Value::Null),
        ("[]", -32600, Value::Null),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"x"}}]"#, -32600, Value::Null),
        ("7", -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":3}"#, -32600, json!(3)),
        (r#"{"jsonrpc":"1.0","id":3,"method":"GetTask"}"#, -32600, json!(3)),
        (r#"{"jsonrpc":"2.0","id":{},"method":"GetTask"}"#, -32600, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"a","method":"tasks/get"}"#, -32601, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":"GetTask"}"#, -32602, json!("a")),
        (r#"{"jsonrpc":"2.0","id":"a","method":"GetTask","params":[]}"#, -32602, json!("a")),
        (r#"{"jsonrpc":"2.0","id":0,"method":"GetTask","params":{"id":"x"}}"#, -32001, json!(0)),
        (r#"{"jsonrpc":"2.0","id":0,"method":"GetExtendedAgentCard"}"#, -32004, json!(0)),
        (
            r#"{"jsonrpc":"2.0","id":0,"method":"GetTaskPushNotificationConfig","params":{"taskId":"x","id":"y"}}"#,
            -32003,
            json!(0),
        ),
    ] {
        let answer = caller.post(body).await;
        assert_eq!((answer.status, answer.media.as_str()), (200, "application/json"), "{body}");
        let json = answer.json();
        assert_eq!((&json["error"]["code"], &json["id"]), (&json!(code), &id), "{body}");
        assert_eq!(json["jsonrpc"], "2.0");
        let info = &json["error"]["data"][0];
        assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo", "{body}");
        assert_eq!(info["domain"], "a2a-protocol.org");
    }
}

#[tokio::test]
async fn ids_come_back_with_their_type() {
    let (_gateway, caller) = demo().await;
    for id in [json!(0), json!(7), json!(-1), json!("s"), json!(""), json!(1.5), Value::Null] {
        assert_eq!(caller.post(get_task(id.clone()).to_string()).await.json()["id"], id);
    }
}

#[tokio::test]
async fn a_notification_is_carried_out_and_not_answered() {
    let (gateway, caller) = demo().await;
    let context = caller.result("SendMessage", message("hello")).await["task"]["contextId"].clone();
    let mut params = message("slow");
    params["message"]["contextId"] = context.clone();
    let send = json!({"jsonrpc": "2.0", "method": "SendMessage", "params": at_once(params)});
    let answer = caller.post(send.to_string()).await;
    assert_eq!((answer.status, answer.body.as_str()), (204, ""));
    let thread = funduq_contract::ThreadId::new(context.as_str().unwrap()).unwrap();
    assert_eq!(gateway.funduq().thread_runs(&thread, 0, 9).await.unwrap().len(), 2);
    let mut unknown = get_task(Value::Null);
    unknown.as_object_mut().unwrap().remove("id");
    assert_eq!(caller.post(unknown.to_string()).await.status, 204, "not even an error");
}

#[tokio::test]
async fn the_version_is_read_from_the_header_or_the_query_and_unknown_ones_are_400() {
    let (_gateway, caller) = demo().await;
    let ask = async |header: Option<&str>, query: &str, method: &str| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"id": "nothing"}});
        let mut request = caller.request("POST", query).body(body.to_string());
        if let Some(version) = header {
            request = request.header("A2A-Version", version);
        }
        let answer = Answer::of(request.send().await.unwrap()).await;
        (answer.status, answer.json()["error"]["code"].as_i64().unwrap())
    };
    for header in ["1.0", "1.0.0", "1.0.3"] {
        assert_eq!(ask(Some(header), "", "GetTask").await, (200, -32001), "{header}");
    }
    for (header, query) in [(None, ""), (Some(""), ""), (Some("0.3"), ""), (None, "?A2A-Version=0.3")] {
        assert_eq!(ask(header, query, "tasks/get").await, (200, -32001), "{header:?} {query}");
        assert_eq!(ask(header, query, "GetTask").await, (200, -32601), "{header:?} {query}");
    }
    assert_eq!(ask(None, "?x=1&A2A-Version=1%2E0", "GetTask").await, (200, -32001));
    assert_eq!(
        ask(Some("1.0"), "?A2A-Version=0.3", "GetTask").await,
        (200, -32001),
        "the header counts first"
    );
    for (header, query) in [(Some("2.0"), ""), (Some("1.1"), ""), (None, "?A2A-Version=0.2"), (Some("x"), "")]
    {
        assert_eq!(ask(header, query, "GetTask").await, (400, -32009), "{header:?} {query}");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_an_error_object() {
    let gateway = TestGateway::configured(|config| {
        config.demo = true;
        config.body_limit = "64KiB".parse().unwrap();
    })
    .await;
    let caller = Caller::of(&gateway, gateway.demo_agent().unwrap());
    let answer = caller.post("x".repeat(65 << 10)).await;
    assert_eq!((answer.status, answer.media.as_str()), (200, "application/json"));
    assert_eq!(answer.json()["error"]["code"], -32600);
    assert!(answer.json()["error"]["message"].as_str().unwrap().contains("65536 bytes"));
    assert_eq!(answer.json()["id"], Value::Null);
    let rest = caller.rest("POST", "/message:send", Some(json!("x".repeat(65 << 10)))).await;
    assert_eq!((rest.status, rest.json()["error"]["code"].as_u64()), (413, Some(413)));
}

#[tokio::test]
async fn a_message_nested_too_deep_is_invalid_and_not_a_crash() {
    let (_gateway, caller) = demo().await;
    let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{"message":{{"messageId":"m","role":"ROLE_USER",
        "parts":[{{"text":"x"}}],"metadata":{{"deep":{deep}}}}}}}}}"#
    );
    let json = caller.post(body).await.json();
    assert!([-32600, -32602, -32700].contains(&json["error"]["code"].as_i64().unwrap()), "{json}");
    assert!(caller.result("SendMessage", message("hello")).await["task"]["id"].is_string());
}

#[tokio::test]
async fn an_invalid_message_is_told_where_it_is_wrong() {
    let (_gateway, caller) = demo().await;
    let params = json!({"message": {"role": "ROLE_USER", "parts": [{"text": "a", "url": "b"}]}});
    let error = caller.call("SendMessage", params).await["error"].clone();
    assert_eq!(error["code"], -32602);
    let fields: Vec<_> =
        error["data"][1]["fieldViolations"].as_array().unwrap().iter().map(|v| &v["field"]).collect();
    assert_eq!(fields, ["message.messageId", "message.parts[0]"]);
}

#[tokio::test]
async fn an_extension_that_is_active_is_named_in_the_answer() {
    let (gateway, caller) = demo().await;
    const URI: &str = "https://github.com/hukaichun/funduq/ext/interjection/v1";
    let takes =
        gateway.funduq().agent(gateway.demo_agent().unwrap()).await.unwrap().unwrap().takes_interjections;
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": message("hello")});
    let ask = |extensions: &'static str| {
        let request =
            caller.request("POST", "").header("a2a-version", "1.0").header("A2A-Extensions", extensions);
        let request = request.body(body.to_string());
        async move { Answer::of(request.send().await.unwrap()).await }
    };
    let asked =
        ask("https://example.org/x/v1, https://github.com/hukaichun/funduq/ext/interjection/v1").await;
    assert_eq!(asked.header("a2a-extensions"), Some(URI).filter(|_| takes));
    assert_eq!(ask("https://example.org/x/v1").await.header("a2a-extensions"), None);
}
