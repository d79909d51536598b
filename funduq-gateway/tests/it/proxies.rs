//! What a proxy in front says of a caller: believed from configured addresses, and from nobody else.

use crate::support::{Provider, Raw, TestGateway, request};

const TALE: &str =
    "x-forwarded-proto: https\r\nx-forwarded-host: relay.example\r\nx-forwarded-for: 203.0.113.9\r\n";

async fn agent_url(gateway: &TestGateway) -> String {
    let _provider = Provider::serving(gateway, &["echo"]).await;
    let mut answer = Raw::get(&gateway.url_of("/agents"), TALE).await;
    answer.json().await["agents"][0]["aguiUrl"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_trusted_proxy_says_by_which_name_and_scheme_callers_come() {
    let gateway =
        TestGateway::configured(|config| config.trusted_proxies = "127.0.0.0/8".parse().unwrap()).await;
    assert!(agent_url(&gateway).await.starts_with("https://relay.example/agui/"));
    gateway.stop().await;
}

#[tokio::test]
async fn from_anybody_else_such_headers_are_ignored() {
    let gateway =
        TestGateway::configured(|config| config.trusted_proxies = "192.0.2.1".parse().unwrap()).await;
    assert!(agent_url(&gateway).await.starts_with(gateway.url()));
    gateway.stop().await;
}

#[tokio::test]
async fn nobody_behind_a_trusted_proxy_passes_for_it() {
    let gateway = TestGateway::configured(|config| {
        config.trusted_proxies = "127.0.0.1".parse().unwrap();
        config.peer_request_rate = "1/h".parse().unwrap();
        config.peer_request_burst = 1;
    })
    .await;
    // What a caller sent, and behind it what its proxy has added, if anything.
    let tales: [&[u8]; 5] = [
        b"x-forwarded-for: \xe9, 203.0.113.9\r\n",
        b"x-forwarded-for: \xe9\r\nx-forwarded-for: 203.0.113.9\r\n",
        b"forwarded: for=\"x, for=203.0.113.9\r\n",
        b"forwarded: for=unknown\r\n",
        b"x-forwarded-for: \xe9\r\n",
    ];
    let ask = async |path: &str, tale: &[u8]| {
        let head = request("GET", &gateway.url_of(path), "");
        let head = [head.strip_suffix("\r\n").unwrap().as_bytes(), tale, b"\r\n"].concat();
        Raw::send(gateway.url(), "", &head).await.status
    };
    for tale in tales {
        let words = String::from_utf8_lossy(tale);
        assert_eq!(ask("/metrics", tale).await, 404, "{words}");
        let _first = ask("/agents", tale).await;
        assert_eq!(ask("/agents", tale).await, 429, "{words}");
    }
    // The proxy itself may ask, and so may whoever it names that may.
    for tale in [&b""[..], b"x-forwarded-for: 127.0.0.1\r\n"] {
        assert_eq!(ask("/metrics", tale).await, 200);
    }
    gateway.stop().await;
}
