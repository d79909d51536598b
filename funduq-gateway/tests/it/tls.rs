//! HTTPS by the gateway itself: both versions of HTTP, links, and a certificate that is replaced under way.

use std::path::Path;
use std::sync::Arc;

use funduq_gateway::{Config, Gateway, StartError};
use funduq_provider_sdk::{ProviderIdentity, ServedAgent, agent_fn, demo, ws};
use futures_util::StreamExt;
use http::Version;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use reqwest::{Certificate, Client};
use serde_json::Value;
use tokio::sync::Notify;

use crate::support::{TestGateway, client, config, events, input};

/// Writes a new certificate for localhost and its key; what clients may trust.
fn write_certificate(folder: &Path) -> Certificate {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(folder.join("cert.pem"), cert.pem()).unwrap();
    std::fs::write(folder.join("key.pem"), signing_key.serialize_pem()).unwrap();
    Certificate::from_der(cert.der()).unwrap()
}

fn with_tls(config: &mut Config, folder: &Path) {
    config.tls_certificate = folder.join("cert.pem").to_str().unwrap().parse().unwrap();
    config.tls_key = folder.join("key.pem").to_str().unwrap().parse().unwrap();
}

fn trusting(certificate: &Certificate) -> reqwest::ClientBuilder {
    drop(client());
    Client::builder().no_proxy().tls_certs_only([certificate.clone()])
}

/// The gateway's address under the name that the certificate is for.
fn named(gateway: &TestGateway) -> String {
    gateway.url().replacen("127.0.0.1", "localhost", 1)
}

#[tokio::test]
async fn callers_come_over_both_versions_of_http_and_providers_over_wss() {
    let files = tempfile::tempdir().unwrap();
    let certificate = write_certificate(files.path());
    let gateway = TestGateway::configured(|config| with_tls(config, files.path())).await;
    assert!(gateway.url().starts_with("https://"));
    let url = named(&gateway);
    let identity = ProviderIdentity::load_or_create(files.path().join("provider.key")).unwrap();
    let key = identity.public_key();
    let link = ws::connect(&url, identity).pin(gateway.public_key()).trust(files.path().join("cert.pem"));
    let mut link = link.agents(demo::agents()).start().unwrap();
    assert!(link.online().await);

    for (client, version) in
        [(trusting(&certificate), Version::HTTP_2), (trusting(&certificate).http1_only(), Version::HTTP_11)]
    {
        let client = client.build().unwrap();
        let answer =
            client.post(format!("{url}/agui/{key}/echo")).json(&input("hello")).send().await.unwrap();
        assert_eq!((answer.status().as_u16(), answer.version()), (200, version));
        let seen = events(&answer.text().await.unwrap());
        assert_eq!(seen.last().unwrap().1["type"], "RUN_FINISHED");
        let agents: Value = client.get(format!("{url}/agents")).send().await.unwrap().json().await.unwrap();
        assert!(agents["agents"][0]["aguiUrl"].as_str().unwrap().starts_with(&url), "{agents}");
    }
    link.stop().await.unwrap();
    gateway.stop().await;
}

#[tokio::test]
async fn a_new_certificate_is_for_new_connections_and_cuts_none() {
    let files = tempfile::tempdir().unwrap();
    let first = write_certificate(files.path());
    let gateway = TestGateway::configured(|config| with_tls(config, files.path())).await;
    let url = format!("{}/healthz", named(&gateway));
    let kept = trusting(&first).build().unwrap();
    assert!(kept.get(&url).send().await.unwrap().status().is_success());

    std::fs::write(files.path().join("cert.pem"), "no certificate").unwrap();
    gateway.reload().await;
    let fresh = || trusting(&first).build().unwrap();
    assert!(fresh().get(&url).send().await.is_ok(), "what cannot be read changes nothing");

    let second = write_certificate(files.path());
    gateway.reload().await;
    assert!(trusting(&second).build().unwrap().get(&url).send().await.is_ok());
    assert!(fresh().get(&url).send().await.is_err(), "the old one is not shown any more");
    assert!(kept.get(&url).send().await.unwrap().status().is_success(), "this connection began with it");
    gateway.stop().await;
}

#[tokio::test]
async fn a_reload_drops_no_stream_and_no_link() {
    let files = tempfile::tempdir().unwrap();
    let certificate = write_certificate(files.path());
    let gateway = TestGateway::configured(|config| with_tls(config, files.path())).await;
    let url = named(&gateway);
    let identity = ProviderIdentity::load_or_create(files.path().join("provider.key")).unwrap();
    let key = identity.public_key();
    let goes_on = Arc::new(Notify::new());
    let waits = Arc::clone(&goes_on);
    let agent = agent_fn(move |run| {
        let waits = Arc::clone(&waits);
        async move {
            run.events().text("before").await?;
            waits.notified().await;
            run.events().text("after").await?;
            Ok(())
        }
    });
    let link = ws::connect(&url, identity).pin(gateway.public_key()).trust(files.path().join("cert.pem"));
    let mut link = link.agent(ServedAgent::new("waits", agent).unwrap()).start().unwrap();
    assert!(link.online().await);
    let client = trusting(&certificate).build().unwrap();
    let asked = client.post(format!("{url}/agui/{key}/waits")).json(&input("hello")).send().await.unwrap();
    let mut body = asked.bytes_stream();
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains("before") {
        read.extend_from_slice(&body.next().await.unwrap().unwrap());
    }

    write_certificate(files.path());
    gateway.reload().await;
    goes_on.notify_one();
    while let Some(chunk) = body.next().await {
        read.extend_from_slice(&chunk.unwrap());
    }
    let seen = events(&String::from_utf8(read).unwrap());
    assert_eq!(seen.last().unwrap().1["type"], "RUN_FINISHED");
    assert!(link.is_online());
    drop(link);
    gateway.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_changes_is_read_without_being_told() {
    let files = tempfile::tempdir().unwrap();
    write_certificate(files.path());
    let (certificate, key) = (files.path().join("cert.pem"), files.path().join("key.pem"));
    let mut config = config(files.path());
    with_tls(&mut config, files.path());
    let gateway = Gateway::start(config).await.unwrap();
    let loads = |gateway: &Gateway| gateway.metrics();
    assert!(loads(&gateway).contains("certificate_loads_total{result=\"ok\"} 0"));
    std::fs::write(&certificate, std::fs::read_to_string(&certificate).unwrap() + "\n").unwrap();
    drop(key);
    while !loads(&gateway).contains("certificate_loads_total{result=\"ok\"} 1") {
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    }
    gateway.shutdown().await;
}

#[tokio::test]
async fn a_certificate_without_its_own_key_does_not_start() {
    let (files, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_certificate(files.path());
    write_certificate(others.path());
    let mut config = config(files.path());
    with_tls(&mut config, files.path());
    config.tls_key = others.path().join("key.pem").to_str().unwrap().parse().unwrap();
    let error = Gateway::start(config).await.unwrap_err();
    assert!(matches!(error, StartError::Certificate(_)), "{error}");
}
