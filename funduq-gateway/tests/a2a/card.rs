//! The card over HTTP: one document for clients of both versions.

use serde_json::json;

use crate::caller::{Answer, Caller, demo};
use crate::support::nobody;

const PATH: &str = "/.well-known/agent-card.json";

async fn get(caller: &Caller, path: &str) -> Answer {
    Answer::of(caller.request("GET", path).send().await.unwrap()).await
}

#[tokio::test]
async fn a_card_says_where_the_agent_is_reached_to_clients_of_both_versions() {
    let (_gateway, caller) = demo().await;
    let answer = get(&caller, PATH).await;
    assert_eq!((answer.status, answer.media.as_str()), (200, "application/json"));
    let card = answer.json();
    let interface = |binding: &str, version: &str| json!({"url": caller.url, "protocolBinding": binding, "protocolVersion": version});
    let ways = [("JSONRPC", "1.0"), ("HTTP+JSON", "1.0"), ("JSONRPC", "0.3"), ("HTTP+JSON", "0.3")];
    assert_eq!(
        card["supportedInterfaces"],
        json!(ways.map(|(binding, version)| interface(binding, version)))
    );
    assert_eq!(card["capabilities"]["streaming"], true);
    assert_eq!((&card["url"], &card["preferredTransport"]), (&json!(caller.url), &json!("JSONRPC")));
    assert_eq!(card["protocolVersion"], "0.3.0");
}

#[tokio::test]
async fn a_card_that_the_client_has_is_not_sent_again() {
    let (_gateway, caller) = demo().await;
    let answer = get(&caller, PATH).await;
    let tag = answer.header("etag").unwrap().to_owned();
    assert!(answer.header("cache-control").unwrap().contains("max-age="));
    let again = caller.request("GET", PATH).header("if-none-match", &tag).send().await.unwrap();
    let again = Answer::of(again).await;
    assert_eq!((again.status, again.body.as_str()), (304, ""));
    assert_eq!(again.header("etag"), Some(tag.as_str()));
    assert!(again.header("cache-control").is_some());
    let other = caller.request("GET", PATH).header("if-none-match", "\"other\"").send().await.unwrap();
    assert_eq!(other.status(), 200);
}

#[tokio::test]
async fn routes_answer_with_and_without_the_trailing_slash() {
    let (_gateway, caller) = demo().await;
    assert_eq!(get(&caller, &format!("{PATH}/")).await.status, 200);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": "x"}}).to_string();
    let answer = caller.request("POST", "/").header("a2a-version", "1.0").body(body).send().await.unwrap();
    assert_eq!(Answer::of(answer).await.json()["error"]["code"], -32001);
    assert_eq!(caller.rest("GET", "/tasks/", None).await.status, 200);
}

#[tokio::test]
async fn an_unknown_agent_is_a_404_on_every_route_before_any_json_rpc() {
    let (gateway, _) = demo().await;
    let caller = Caller::of(&gateway, &nobody());
    for (method, path) in
        [("GET", PATH), ("POST", ""), ("POST", "/message:send"), ("GET", "/tasks"), ("PUT", "/x")]
    {
        let answer =
            caller.request(method, path).header("a2a-version", "1.0").body("not json").send().await.unwrap();
        let answer = Answer::of(answer).await;
        assert_eq!(answer.status, 404, "{method} {path}");
        assert_eq!(answer.json()["error"]["code"], "agent_not_found", "{method} {path}");
        assert_eq!(answer.json().get("jsonrpc"), None);
    }
}
