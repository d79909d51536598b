//! Web pages: those of listed origins, and those of others.

use http::Method;

use crate::support::{TestGateway, client};

const LISTED: &str = "https://app.example";
const OTHER: &str = "https://evil.example";

async fn listing() -> TestGateway {
    TestGateway::configured(|config| config.cors_origins = LISTED.parse().unwrap()).await
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
    for wanted in
        ["content-type", "a2a-version", "a2a-extensions", "last-event-id", "authorization", "if-none-match"]
    {
        assert!(headers.contains(wanted), "{headers}");
    }
    let read = client().get(gateway.url_of("/agents")).header("origin", LISTED).send().await.unwrap();
    assert_eq!(read.status(), 200);
    assert_eq!(read.headers()["access-control-allow-origin"], LISTED);
    let shown = read.headers()["access-control-expose-headers"].to_str().unwrap();
    for wanted in ["etag", "a2a-extensions", "retry-after", "www-authenticate"] {
        assert!(shown.contains(wanted), "{shown}");
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
