//! Web pages: those of listed origins, and those of others.

use funduq_gateway::Config;
use http::Method;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::support::{Raw, TestGateway, client, input, request};

const LISTED: &str = "https://app.example";
const OTHER: &str = "https://evil.example";

async fn listing() -> TestGateway {
    listing_and(|_| {}).await
}

async fn listing_and(change: impl FnOnce(&mut Config)) -> TestGateway {
    TestGateway::configured(|config| {
        config.cors_origins = LISTED.parse().unwrap();
        config.limit_exempt = "".parse().unwrap();
        change(config);
    })
    .await
}

fn preflight(url: &str, origin: &str) -> reqwest::RequestBuilder {
    client()
        .request(Method::OPTIONS, url)
        .header("origin", origin)
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "content-type,last-event-id,a2a-version")
}

#[tokio::test]
async fn a_page_of_a_listed_origin_may_ask_and_read() {
    let gateway = listing().await;
    let asked = preflight(&gateway.url_of("/agui/x/y"), LISTED).send().await.unwrap();
    assert_eq!(asked.status(), 200);
    assert_eq!(asked.headers()["access-control-allow-origin"], LISTED);
    assert!(asked.headers()["access-control-allow-methods"].to_str().unwrap().contains("POST"));
    let headers = asked.headers()["access-control-allow-headers"].to_str().unwrap();
    let headers: Vec<_> = headers.split(',').collect();
    for wanted in [
        "content-type",
        "a2a-version",
        "a2a-extensions",
        "x-a2a-extensions",
        "last-event-id",
        "authorization",
        "if-none-match",
        "x-request-id",
        "traceparent",
        "tracestate",
        "content-digest",
        "signature",
        "signature-input",
    ] {
        assert!(headers.contains(&wanted), "{headers:?}");
    }
    let read = client().get(gateway.url_of("/agents")).header("origin", LISTED).send().await.unwrap();
    assert_eq!(read.status(), 200);
    assert_eq!(read.headers()["access-control-allow-origin"], LISTED);
    let shown = read.headers()["access-control-expose-headers"].to_str().unwrap();
    let shown: Vec<_> = shown.split(',').collect();
    for wanted in [
        "allow",
        "etag",
        "a2a-extensions",
        "x-a2a-extensions",
        "retry-after",
        "www-authenticate",
        "accept-signature",
        "x-request-id",
    ] {
        assert!(shown.contains(&wanted), "{shown:?}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_star_lets_every_page_in() {
    let gateway = TestGateway::configured(|config| config.cors_origins = "*".parse().unwrap()).await;
    let read = client().get(gateway.url_of("/agents")).header("origin", OTHER).send().await.unwrap();
    assert_eq!(read.status(), 200);
    assert_eq!(read.headers()["access-control-allow-origin"], "*");
    gateway.stop().await;
}

#[tokio::test]
async fn who_is_no_page_is_told_nothing_of_pages() {
    let gateway = TestGateway::start().await;
    let read = client().get(gateway.url_of("/agents")).send().await.unwrap();
    assert_eq!(read.status(), 200);
    assert!(read.headers().keys().all(|name| !name.as_str().starts_with("access-control")));
    gateway.stop().await;
}

#[tokio::test]
async fn a_page_reads_every_refusal_and_when_to_come_back() {
    let gateway = listing_and(|config| {
        config.limit_exempt = "127.0.0.1".parse().unwrap();
        config.demo = true;
        config.body_timeout = "50ms".parse().unwrap();
    })
    .await;
    let agui = gateway.agui(gateway.demo_agent().unwrap());
    let threads = format!("{agui}/threads");
    let asks: [(&str, String, &str, &str, u16); 9] = [
        ("GET", gateway.url_of("/nothing"), "", "", 404),
        ("GET", gateway.url_of("/threads/nothing"), "", "", 404),
        ("GET", agui.clone(), "", "", 405),
        ("GET", gateway.url_of("/link/agents"), "", "", 426),
        ("POST", gateway.url_of("/tickets"), "content-length: 1\r\n", "{", 400),
        ("POST", threads.clone(), "authorization: Bearer wrong\r\ncontent-length: 0\r\n", "", 401),
        ("POST", gateway.url_of("/tickets"), "content-encoding: gzip\r\ncontent-length: 1\r\n", "x", 415),
        ("POST", threads.clone(), "content-length: 5000\r\nexpect: 100-continue\r\n", "", 413),
        ("POST", threads, "content-length: 5\r\n", "{", 408),
    ];
    for (method, url, headers, body, status) in asks {
        let head = request(method, &url, &format!("origin: {LISTED}\r\n{headers}"));
        let answer = Raw::send(&url, &head, body.as_bytes()).await;
        assert_eq!(answer.status, status, "{method} {url}");
        assert_eq!(answer.header("access-control-allow-origin"), Some(LISTED), "{method} {url} {status}");
        let shown = answer.header("access-control-expose-headers").unwrap();
        assert!(shown.contains("retry-after"), "{shown}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_preflight_takes_nothing_from_the_limit_and_a_page_reads_that_it_was_met() {
    let gateway = listing_and(|config| {
        config.peer_request_rate = "1/h".parse().unwrap();
        config.peer_request_burst = 2;
    })
    .await;
    let url = gateway.url_of("/agui/x/y");
    for _ in 0..5 {
        assert_eq!(preflight(&url, LISTED).send().await.unwrap().status(), 200);
    }
    let post = || client().post(&url).header("origin", LISTED).json(&input("hello"));
    for status in [400, 400, 429] {
        let answer = post().send().await.unwrap();
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()["access-control-allow-origin"], LISTED);
        if status == 429 {
            assert!(
                answer.headers()["access-control-expose-headers"].to_str().unwrap().contains("retry-after")
            );
            assert!(answer.headers().contains_key("retry-after"));
            let body: Value = answer.json().await.unwrap();
            assert!(body["error"]["retryAfterSeconds"].as_u64().is_some_and(|wait| wait > 3500), "{body}");
        }
    }
    assert_eq!(preflight(&url, LISTED).send().await.unwrap().status(), 200);
    gateway.stop().await;
}

#[tokio::test]
async fn what_only_looks_like_a_preflight_is_counted() {
    let options = |url: &str| client().request(Method::OPTIONS, url);
    for (ask, first) in [
        (preflight as fn(&str, &str) -> reqwest::RequestBuilder, 403),
        (|url: &str, _: &str| client().get(url).header("origin", OTHER), 403),
    ] {
        let gateway = listing_and(once_an_hour).await;
        let url = gateway.url_of("/agui/x/y");
        for status in [first, 429] {
            assert_eq!(ask(&url, OTHER).send().await.unwrap().status(), status);
        }
        gateway.stop().await;
    }
    for header in [("origin", LISTED), ("access-control-request-method", "POST"), ("accept", "*/*")] {
        let gateway = listing_and(once_an_hour).await;
        let url = gateway.url_of("/agui/x/y");
        for status in [405, 429] {
            assert_eq!(options(&url).header(header.0, header.1).send().await.unwrap().status(), status);
        }
        gateway.stop().await;
    }
}

fn once_an_hour(config: &mut Config) {
    config.peer_request_rate = "1/h".parse().unwrap();
    config.peer_request_burst = 1;
}

#[tokio::test]
async fn a_page_whose_connection_is_over_a_limit_reads_why() {
    let gateway = listing_and(|config| config.peer_connection_limit = 1).await;
    let held = TcpStream::connect(gateway.url().strip_prefix("http://").unwrap()).await.unwrap();
    let url = gateway.url_of("/agents");
    let mut refused = Raw::get(&url, &format!("origin: {LISTED}\r\n")).await;
    assert_eq!(refused.status, 429);
    assert_eq!(refused.header("access-control-allow-origin"), Some(LISTED));
    assert!(refused.header("retry-after").is_some() && refused.header("x-request-id").is_some());
    assert_eq!(refused.json().await["error"]["code"], "too_many_connections");
    let headers = format!("origin: {LISTED}\r\naccess-control-request-method: POST\r\n");
    let asked = Raw::send(&url, &request("OPTIONS", &url, &headers), b"").await;
    assert_eq!((asked.status, asked.header("connection")), (200, Some("close")));
    // Who is no page of a listed origin is refused for the limit, whatever it asks.
    let others = Raw::get(&url, &format!("origin: {OTHER}\r\n")).await;
    assert_eq!((others.status, others.header("access-control-allow-origin")), (429, None));
    drop(held);
    gateway.stop().await;
}
