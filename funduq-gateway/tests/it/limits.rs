//! What one peer, one key and all together may take: who is over it is told, nobody else notices, and health and metrics
//! can be asked all the while.

use funduq_contract::{Identity, PublicKey};
use http::StatusCode;
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{Provider, Raw, SOON, TestGateway, client, input};

/// A gateway that counts for this machine as it does for others, and believes it who else is asking.
async fn limited(change: impl FnOnce(&mut funduq_gateway::Config)) -> TestGateway {
    TestGateway::configured(|config| {
        config.limit_exempt = "".parse().unwrap();
        config.trusted_proxies = "127.0.0.1".parse().unwrap();
        change(config);
    })
    .await
}

async fn get(gateway: &TestGateway, path: &str, from: &str) -> Raw {
    Raw::get(&gateway.url_of(path), &format!("x-forwarded-for: {from}\r\n")).await
}

#[tokio::test]
async fn an_address_that_asks_too_fast_is_told_when_to_come_back() {
    let gateway = limited(|config| {
        config.peer_request_rate = "1/h".parse().unwrap();
        config.peer_request_burst = 2;
    })
    .await;
    for _ in 0..2 {
        assert_eq!(get(&gateway, "/agents", "203.0.113.1").await.status, 200);
    }
    let mut refused = get(&gateway, "/agents", "203.0.113.1").await;
    assert_eq!(refused.status, 429);
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((3500..=3600).contains(&wait), "{wait}");
    assert_eq!(refused.json().await["error"]["code"], "too_many_requests");
    assert_eq!(get(&gateway, "/agents", "203.0.113.2").await.status, 200);
    for path in ["/healthz", "/readyz"] {
        assert_eq!(get(&gateway, path, "203.0.113.1").await.status, 200);
    }
    let page = client().get(gateway.url_of("/metrics")).send().await.unwrap().text().await.unwrap();
    assert!(page.contains("funduq_limited_total{limit=\"peer_request_rate\"} 1\n"), "{page}");
    gateway.stop().await;
}

#[tokio::test]
async fn a_key_that_asks_too_fast_is_refused_wherever_it_comes_from() {
    let gateway = limited(|config| {
        config.presenter_header = "x-presenter".parse().unwrap();
        config.key_request_rate = "1/h".parse().unwrap();
        config.key_request_burst = 1;
    })
    .await;
    let ask = async |key: &PublicKey, from: &str| {
        let headers = format!("x-presenter: {key}\r\nx-forwarded-for: {from}\r\n");
        Raw::get(&gateway.url_of("/agents"), &headers).await.status
    };
    let (key, other) = (Identity::generate().public_key(), Identity::generate().public_key());
    assert_eq!(ask(&key, "203.0.113.1").await, 200);
    assert_eq!(ask(&key, "203.0.113.2").await, 429);
    assert_eq!(ask(&other, "203.0.113.2").await, 200);
    // Whoever only names a key takes nothing from it.
    for _ in 0..2 {
        let body = json!({ "publicKey": other });
        let asked = client().post(gateway.url_of("/tickets")).json(&body).send().await.unwrap();
        assert_eq!(asked.status(), StatusCode::CREATED);
    }
    gateway.stop().await;
}

#[tokio::test]
async fn one_address_reads_so_many_streams_on_both_doors_and_no_more() {
    let gateway = limited(|config| config.peer_stream_limit = 1).await;
    let mut provider = Provider::serving(&gateway, &["echo"]).await;
    let url = gateway.agui(&provider.agent("echo"));
    let open = |from: &str| {
        let (url, from) = (url.clone(), from.to_owned());
        tokio::spawn(async move {
            let body = input("hello").to_string();
            let headers = format!("x-forwarded-for: {from}\r\ncontent-length: {}\r\n", body.len());
            Raw::send(&url, &crate::support::request("POST", &url, &headers), body.as_bytes()).await
        })
    };
    let first = open("203.0.113.1");
    let offer = provider.accept().await;
    let first = first.await.unwrap();
    let mut refused = open("203.0.113.1").await.unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (429, Some("5")));
    assert_eq!(refused.json().await["error"]["code"], "too_many_streams");
    let message = json!({
        "jsonrpc": "2.0", "id": 1, "method": "SendStreamingMessage",
        "params": { "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "hi" }] } },
    });
    let a2a = url.replacen("/agui/", "/a2a/", 1);
    let asked = client().post(&a2a).header("a2a-version", "1.0").header("x-forwarded-for", "203.0.113.1");
    assert_eq!(asked.json(&message).send().await.unwrap().status(), StatusCode::TOO_MANY_REQUESTS);

    let other = open("203.0.113.2");
    provider.accept().await;
    assert_eq!(other.await.unwrap().status, 200);
    // What was read to its end counts no more.
    provider.play(&offer, &[]).await;
    let mut first = first;
    first.rest().await;
    let again = open("203.0.113.1");
    provider.accept().await;
    assert_eq!(again.await.unwrap().status, 200);
    gateway.stop().await;
}

#[tokio::test]
async fn a_connection_over_the_limit_hears_why_and_can_ask_for_health_and_metrics() {
    for (in_all, status, code) in [(true, 503, "busy"), (false, 429, "too_many_connections")] {
        let gateway = limited(|config| {
            config.trusted_proxies = "".parse().unwrap();
            match in_all {
                true => config.connection_limit = 3,
                false => config.peer_connection_limit = 3,
            }
        })
        .await;
        let host = gateway.url().strip_prefix("http://").unwrap().to_owned();
        let mut idle = Vec::new();
        for _ in 0..3 {
            idle.push(TcpStream::connect(&host).await.unwrap());
        }
        let mut refused = Raw::get(&gateway.url_of("/agents"), "").await;
        assert_eq!((refused.status, refused.header("connection")), (status, Some("close")));
        assert_eq!(refused.json().await["error"]["code"], code);
        refused.closed().await;
        for path in ["/healthz", "/readyz", "/metrics"] {
            let mut answer = Raw::get(&gateway.url_of(path), "").await;
            assert_eq!((answer.status, answer.header("connection")), (200, Some("close")), "{path}");
            drop(answer.body().await);
        }
        drop(idle);
        // The places are free once the gateway has noticed.
        while Raw::get(&gateway.url_of("/agents"), "").await.status != 200 {
            tokio::task::yield_now().await;
        }
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_body_over_what_may_be_under_way_is_refused_and_counts_no_more() {
    for (in_all, status, code, limit) in [
        (true, 503, "busy", "body_bytes_limit"),
        (false, 429, "too_many_body_bytes", "peer_body_bytes_limit"),
    ] {
        let gateway = limited(|config| {
            config.limit_exempt = "203.0.113.7".parse().unwrap();
            let bytes = "64KiB".parse().unwrap();
            match in_all {
                true => config.body_bytes_limit = bytes,
                false => config.peer_body_bytes_limit = bytes,
            }
        })
        .await;
        let provider = Provider::serving(&gateway, &["echo"]).await;
        let url = gateway.agui(&provider.agent("echo"));
        let a2a = url.replacen("/agui/", "/a2a/", 1);
        let ask_at = async |url: &str, length: usize, from: &str| {
            let headers = format!("x-forwarded-for: {from}\r\ncontent-length: {length}\r\n");
            let head = crate::support::request("POST", url, &headers);
            Raw::send(url, &head, &vec![b' '; length]).await
        };
        let ask = async |length: usize, from: &str| ask_at(&url, length, from).await;
        let mut refused = ask((64 << 10) + 1, "203.0.113.1").await;
        assert_eq!(refused.status, status);
        assert_eq!((refused.header("retry-after"), refused.header("connection")), (Some("5"), Some("close")));
        assert_eq!(refused.json().await["error"]["code"], code);
        // What was refused or read counts no more. Nothing but blanks is no input, which shows that it was read.
        for _ in 0..2 {
            assert_eq!(ask(64 << 10, "203.0.113.1").await.status, 400);
        }
        let page = client().get(gateway.url_of("/metrics")).send().await.unwrap().text().await.unwrap();
        assert!(page.contains(&format!("funduq_limited_total{{limit=\"{limit}\"}} 1\n")), "{page}");
        for url in [a2a.clone(), format!("{a2a}/v1/message:send")] {
            let refused = ask_at(&url, (64 << 10) + 1, "203.0.113.1").await;
            assert_eq!((refused.status, refused.header("retry-after")), (status, Some("5")), "{url}");
        }
        let exempt = ask((64 << 10) + 1, "203.0.113.7").await.status;
        assert_eq!(exempt, if in_all { 503 } else { 400 });
        gateway.stop().await;
    }
}

#[tokio::test]
async fn one_link_more_than_the_limit_is_refused_until_another_goes() {
    let gateway = limited(|config| config.link_limit = 1).await;
    let first = Provider::serving(&gateway, &["echo"]).await;
    let handshake = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    let refused = Raw::get(&gateway.url_of("/link/agents"), handshake).await;
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("5")));
    drop(first);
    while Raw::get(&gateway.url_of("/link/agents"), handshake).await.status != 101 {
        tokio::task::yield_now().await;
    }
    gateway.stop().await;
}

#[tokio::test]
async fn who_is_exempt_is_not_counted_and_who_is_behind_it_is() {
    let gateway = TestGateway::configured(|config| {
        config.trusted_proxies = "127.0.0.1".parse().unwrap();
        config.peer_request_rate = "1/h".parse().unwrap();
        config.peer_request_burst = 1;
        config.peer_connection_limit = 1;
    })
    .await;
    // This machine is exempt as long as nothing else is said; a proxy on it names its callers, who are not.
    for _ in 0..3 {
        assert_eq!(Raw::get(&gateway.url_of("/agents"), "").await.status, 200);
    }
    assert_eq!(get(&gateway, "/agents", "203.0.113.1").await.status, 200);
    assert_eq!(get(&gateway, "/agents", "203.0.113.1").await.status, 429);
    gateway.stop().await;
}

#[tokio::test]
async fn connections_of_a_trusted_proxy_are_those_of_all_its_callers() {
    // Its one address may have as many as there may be; anybody else's may not.
    for (trusted, status) in [("127.0.0.1", 200), ("", 429)] {
        let gateway = limited(|config| {
            config.trusted_proxies = trusted.parse().unwrap();
            config.peer_connection_limit = 1;
        })
        .await;
        let first = Raw::get(&gateway.url_of("/healthz"), "").await;
        assert_eq!(Raw::get(&gateway.url_of("/agents"), "").await.status, status, "{trusted:?}");
        drop(first);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn places_for_those_over_a_limit_have_a_limit_themselves() {
    // Beside the one that is taken: so many that are told why they are not, and then none.
    for (in_all, reserve) in [(true, 64), (false, 4)] {
        let gateway = limited(|config| {
            config.trusted_proxies = "".parse().unwrap();
            match in_all {
                true => {
                    config.connection_limit = 1;
                    config.limit_exempt = "127.0.0.1".parse().unwrap();
                }
                false => config.peer_connection_limit = 1,
            }
        })
        .await;
        let host = gateway.url().strip_prefix("http://").unwrap().to_owned();
        let mut held = Vec::new();
        for _ in 0..1 + reserve {
            held.push(TcpStream::connect(&host).await.unwrap());
        }
        let mut unheard = TcpStream::connect(&host).await.unwrap();
        let mut said = Vec::new();
        let closed = timeout(SOON / 10, unheard.read_to_end(&mut said)).await.expect("it is closed at once");
        assert!(closed.is_err() || said.is_empty(), "{said:?}");
        drop(held);
        gateway.stop().await;
    }
}
