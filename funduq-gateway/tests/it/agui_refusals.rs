//! Bad input is refused whole, before any stream, in one shape, and troubles nobody else.

use serde_json::{Value, json};

use crate::support::{Provider, Raw, TestGateway, client, input, nobody};

/// Sends a body and checks that it is refused so, in the gateway's own shape.
async fn refused(url: &str, body: impl Into<reqwest::Body>, status: u16, code: &str) -> Value {
    let answer = client().post(url).body(body).send().await.unwrap();
    let found = answer.status().as_u16();
    assert_eq!(answer.headers()["content-type"], "application/json", "not {status} {code}");
    let answer: Value = answer.json().await.unwrap();
    let error = answer["error"].clone();
    assert_eq!((found, error["code"].as_str().unwrap()), (status, code), "{error}");
    assert!(!error["message"].as_str().unwrap().is_empty());
    error
}

#[tokio::test]
async fn a_body_that_is_no_run_input_is_refused_with_what_is_wrong_and_where() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));

    for body in ["", "{threadId: 'x'}", "{\"threadId\":", "\u{1}", "[1,2] 3"] {
        refused(&url, body, 400, "invalid_json").await;
    }
    refused(&url, vec![b'"', 0xff, b'"'], 400, "invalid_json").await;
    for body in ["[]", "7", "null", "\"text\""] {
        refused(&url, body, 400, "invalid_input").await;
    }
    for missing in ["threadId", "runId", "messages"] {
        let mut body = input("hello");
        body.as_object_mut().unwrap().remove(missing);
        let error = refused(&url, body.to_string(), 400, "invalid_input").await;
        assert_eq!(error["field"], missing);
    }
    let mut body = input("hello");
    body["messages"] = json!({});
    let error = refused(&url, body.to_string(), 400, "invalid_input").await;
    assert_eq!(error["field"], "messages");
    let deep = format!(
        r#"{{"threadId":"t","runId":"r","messages":[],"state":{}{}}}"#,
        "[".repeat(1000),
        "]".repeat(1000)
    );
    let error = refused(&url, deep, 400, "invalid_input").await;
    assert!(error["message"].as_str().unwrap().contains("128"), "{error}");
    let mut body = input("hello");
    body["forwardedProps"] = json!({ "kyok": 7 });
    let error = refused(&url, body.to_string(), 400, "invalid_input").await;
    assert_eq!(error["field"], "forwardedProps.kyok");

    // Nothing of it reached the provider: the next thing that it hears is a good run.
    let asked = tokio::spawn(async move { Raw::post(&url, &input("good")).await });
    let offer = provider.accept().await;
    provider.play(&offer, &[]).await;
    asked.await.unwrap().rest().await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_history_of_sixteen_mebibytes_is_taken() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let body = input(&"x".repeat((16 << 20) - 200));
    let too_large = input(&"x".repeat(16 << 20));
    let asked = {
        let url = url.clone();
        tokio::spawn(async move { Raw::post(&url, &body).await })
    };
    let offer = provider.accept().await;
    provider.play(&offer, &[]).await;
    let mut answer = asked.await.unwrap();
    assert_eq!(answer.status, 200);
    answer.rest().await;
    refused(&url, too_large.to_string(), 413, "body_too_large").await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_compressed_body_is_refused_as_such() {
    let gateway = TestGateway::start().await;
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let answer = client().post(&url).header("content-encoding", "gzip").body("x").send().await.unwrap();
    assert_eq!(answer.status(), 415);
    assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], "content_encoding");
    gateway.stop().await;
}

#[tokio::test]
async fn an_agent_that_nobody_registered_is_a_404() {
    let gateway = TestGateway::start().await;
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let good = input("hello").to_string();
    refused(&gateway.agui(&provider.agent("other")), good.clone(), 404, "agent_not_found").await;
    refused(&gateway.agui(&nobody()), good.clone(), 404, "agent_not_found").await;
    let unknown = gateway.url_of("/agui/0123456789abcdef/echo");
    refused(&unknown, good.clone(), 404, "agent_not_found").await;
    refused(&format!("{}/threads", gateway.agui(&nobody())), "", 404, "agent_not_found").await;
    gateway.stop().await;
}

#[tokio::test]
async fn a_path_that_names_no_agent_is_refused_in_the_gateways_own_words() {
    let gateway = TestGateway::start().await;
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let key = provider.identity.public_key();
    for (path, field) in [
        ("/agui/nobody/echo".to_owned(), Some("provider")),
        (format!("/agui/{}/echo", key.to_string().to_uppercase()), Some("provider")),
        (format!("/agui/{}/echo", "0".repeat(64)), Some("provider")),
        (format!("/agui/{key}/..%2f..%2fetc"), Some("agent")),
        (format!("/agui/{key}/%00"), Some("agent")),
        (format!("/agui/{key}/{}", "x".repeat(129)), Some("agent")),
        (format!("/agui/{key}/%ff"), None),
    ] {
        let error = refused(&gateway.url_of(&path), "{}", 400, "invalid_path").await;
        assert_eq!(error["field"].as_str(), field, "{path}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn no_answer_of_the_framework_leaks() {
    let gateway = TestGateway::start().await;
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    for (method, url, status, code, allow) in [
        ("GET", url.clone(), 405, "method_not_allowed", Some("POST")),
        ("PUT", gateway.url_of("/tickets"), 405, "method_not_allowed", Some("POST")),
        ("OPTIONS", url.clone(), 405, "method_not_allowed", Some("POST")),
        ("POST", gateway.url_of("/agents"), 405, "method_not_allowed", Some("GET,HEAD")),
        ("GET", gateway.url_of("/"), 404, "not_found", None),
        ("POST", gateway.url_of("/agui"), 404, "not_found", None),
        ("GET", gateway.url_of("/link/agents"), 426, "upgrade_required", None),
        ("GET", gateway.url_of("/runs/x/events"), 404, "run_not_found", None),
        ("GET", gateway.url_of("/threads/x"), 404, "thread_not_found", None),
        ("GET", gateway.url_of("/threads/x/runs?limit=-1"), 400, "invalid_query", None),
        ("GET", gateway.url_of("/runs/%ff"), 400, "invalid_path", None),
        ("GET", gateway.url_of("/runs/%0a"), 400, "invalid_path", None),
    ] {
        let request = client().request(method.parse().unwrap(), &url);
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), status, "{method} {url}");
        assert_eq!(
            answer.headers().get("allow").map(|allow| allow.to_str().unwrap()),
            allow,
            "{method} {url}"
        );
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["error"]["code"], code, "{method} {url}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_thread_with_too_many_runs_waiting_says_when_to_come_back() {
    let gateway = TestGateway::configured(|config| config.thread_queue_limit = 1).await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let mut created = Raw::post(&format!("{url}/threads"), &json!({})).await;
    let thread = created.json().await["threadId"].as_str().unwrap().to_owned();
    let first = Raw::post(&url, &crate::support::input_on(&thread, "one")).await;
    assert_eq!(first.status, 200);
    // The provider leaves the first offer unanswered, so that run waits, and another is one too many.
    assert!(matches!(provider.hear().await, funduq_contract::DownFrame::Offer(_)));
    let answer =
        client().post(&url).body(crate::support::input_on(&thread, "two").to_string()).send().await.unwrap();
    assert_eq!(answer.status(), 429);
    assert_eq!(answer.headers()["retry-after"], "1");
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body["error"]["code"], "thread_queue_full");
    assert_eq!(body["error"]["retryAfterSeconds"], 1);
    gateway.stop().await;
}

#[tokio::test]
async fn a_chain_without_a_presenter_is_401_with_a_challenge() {
    let gateway = TestGateway::start().await;
    let provider = Provider::serving(&gateway, &["echo"]).await;
    let chain = funduq_contract::ActorChain::start(&funduq_contract::Identity::generate());
    let mut body = input("hello");
    body["forwardedProps"] = json!({ "actorChain": chain });
    let answer =
        client().post(gateway.agui(&provider.agent("echo"))).body(body.to_string()).send().await.unwrap();
    assert_eq!(answer.status(), 401);
    assert!(answer.headers().contains_key("www-authenticate"));
    assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], "presenter_required");
    gateway.stop().await;
}
