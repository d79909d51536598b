//! Names and texts that want to be something else: paths, lines of a log, pages of another origin.

use funduq_contract::{ConnectRefusal, DownFrame, PortErrorCode};
use http::Method;
use serde_json::{Value, json};

use crate::ground::Ground;
use crate::log;
use crate::support::{Heard, Provider, Raw, client, input, post, request};

const LISTED: &str = "https://app.example";
const OTHER: &str = "https://evil.example";

#[tokio::test]
async fn a_path_traversal_in_an_agents_name_names_no_agent() {
    let ground = Ground::new().await;
    let key = ground.echo().provider;
    for name in ["..%2f..%2fetc%2fpasswd", "%2e%2e", "..", "a%5cb", "a%3fb", "a%23b", "%00"] {
        for door in ["agui", "a2a"] {
            let url = ground.url_of(&format!("/{door}/{key}/{name}"));
            // As bytes, since a library would put the path in order by itself.
            let body = "{}";
            let head = request("POST", &url, "content-length: 2\r\n");
            let mut answer = Raw::send(&url, &head, body.as_bytes()).await;
            assert_eq!(answer.status, 400, "{url}");
            assert_eq!(answer.json().await["error"]["code"], "invalid_path");
        }
    }
    // Nor can one be registered.
    let mut provider = Provider::serving(&ground, &["good"]).await;
    for name in ["../up", "..", "a/b", "a\\b", "a\nb", ""] {
        provider
            .say_text(&json!({"type": "register", "id": 9, "agents": [{"name": name}]}).to_string())
            .await;
        assert_eq!(provider.refusal().await.code, PortErrorCode::MalformedFrame, "{name:?}");
    }
    assert!(ground.funduq().is_online(&provider.agent("good")));
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn a_line_cannot_be_injected_into_the_log_nor_a_secret_found_in_it() {
    log::keep();
    let ground = Ground::new().await;
    let forged = "2026-01-01T00:00:00.000000Z ERROR funduq: forged";
    let encoded = format!("x%0a{}", forged.replace(' ', "%20"));
    for path in
        [format!("/threads/{encoded}"), format!("/runs/{encoded}"), format!("/agui/{encoded}/a"), encoded]
    {
        let url = ground.url_of(&format!("/{}?secret=in-the-query", path.trim_start_matches('/')));
        Raw::get(&url, &format!("authorization: Bearer in-the-header\r\nuser-agent: {forged}\r\n")).await;
    }
    // In what a link says, too: as a frame, and as an opening.
    let mut provider = Provider::serving(&ground, &["loud"]).await;
    provider.say_text(&json!({"type": format!("x\n{forged}")}).to_string()).await;
    provider.refusal().await;
    let mut stranger = Provider::dial(&ground).await;
    stranger.say_text(&format!("\n{forged}\n")).await;
    match stranger.hear().await {
        DownFrame::ConnectErr(refusal) => assert_eq!(refusal.code, ConnectRefusal::Malformed),
        other => panic!("{other:?}"),
    }
    let mut body = input(&format!("x\n{forged}"));
    body["forwardedProps"] = json!({"kyok": format!("\n{forged}")});
    assert_eq!(post(&ground.agui_url(), &body.to_string(), &Vec::new()).await.refusal().0, 400);
    ground.ends_unharmed().await;

    let text = String::from_utf8(log::kept()).unwrap();
    assert!(text.contains("/threads/x%0a2026"), "the requests are in the log");
    for line in text.lines() {
        assert!(!line.starts_with(forged), "{line}");
        assert!(!line.contains("in-the-query") && !line.contains("in-the-header"), "{line}");
    }
}

#[tokio::test]
async fn a_page_of_an_unlisted_origin_is_refused_whatever_it_sends() {
    for origins in [LISTED, ""] {
        let ground = Ground::configured(|config| config.cors_origins = origins.parse().unwrap()).await;
        let preflight = client()
            .request(Method::OPTIONS, ground.url_of("/tickets"))
            .header("origin", OTHER)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type");
        assert_eq!(Heard::of(preflight).await.status, 403);
        for (method, path) in
            [(Method::POST, "/tickets"), (Method::GET, "/agents"), (Method::GET, "/link/agents")]
        {
            let asked = client().request(method, ground.url_of(path)).header("origin", OTHER);
            let heard = Heard::of(asked).await;
            assert_eq!(heard.refusal(), (403, "origin_not_allowed".to_owned()));
            assert!(!heard.headers.contains_key("access-control-allow-origin"));
        }
        let simple =
            client().post(ground.agui_url()).header("origin", OTHER).header("content-type", "text/plain");
        let heard = Heard::of(simple.body(input("hello").to_string())).await;
        assert_eq!(heard.refusal(), (403, "origin_not_allowed".to_owned()));
        let threads: Value = ground.read("/agents").await;
        assert!(threads["agents"].is_array());
        ground.ends_unharmed().await;
    }
}
