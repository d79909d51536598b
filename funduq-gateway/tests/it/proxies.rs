//! What a proxy in front says of a caller: believed from configured addresses, and from nobody else.

use crate::support::{Provider, Raw, TestGateway};

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
