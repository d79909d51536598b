//! How a link is opened, and the ways in which it is not. No failure troubles anybody else. Openings that are attacks are in
//! `tests/attacks/tickets.rs`.

use std::time::Duration;

use funduq_contract::{ConnectRefusal, Identity, LinkClosed, Ticket};
use funduq_provider_sdk::ws::{self, LinkError};
use funduq_provider_sdk::{ProviderIdentity, demo};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::support::{Closed, Provider, Raw, TestGateway, client, events, input, ticket};

fn decided(reason: &str) -> Closed {
    Closed { code: 4000, reason: reason.to_owned() }
}

/// Opens with a ticket and the gateway's key, and has the refusal.
async fn refused(provider: &mut Provider, gateway: &TestGateway, ticket: Ticket) -> ConnectRefusal {
    let refusal = provider.open(Some(&gateway.public_key()), ticket).await.unwrap_err();
    assert_eq!(provider.closed().await, decided(refusal.code.as_str()));
    refusal.code
}

#[tokio::test]
async fn a_ticket_that_nobody_gave_out_opens_nothing() {
    let gateway = TestGateway::start().await;
    let mut provider = Provider::dial(&gateway).await;
    assert_eq!(refused(&mut provider, &gateway, Ticket::generate()).await, ConnectRefusal::TicketUnknown);
    gateway.stop().await;
}

#[tokio::test]
async fn a_ticket_that_is_too_old_opens_nothing() {
    let gateway = TestGateway::start().await;
    let waiting = Provider::dial(&gateway).await;
    let ticket = ticket(&gateway, waiting.identity.public_key()).await;
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(61)).await;
    tokio::time::resume();
    // The first connection has waited for as long as any may.
    let mut provider = Provider::dial_as(&gateway, waiting.identity).await;
    assert_eq!(refused(&mut provider, &gateway, ticket).await, ConnectRefusal::TicketExpired);
    gateway.stop().await;
}

#[tokio::test]
async fn a_provider_that_pinned_another_key_learns_so_and_has_published_nothing() {
    let gateway = TestGateway::start().await;
    let other = Identity::generate().public_key();
    let link = ws::connect(gateway.url(), ProviderIdentity::generate()).pin(other).agents(demo::agents());
    let error = link.run().await.unwrap_err();
    assert!(matches!(error, LinkError::WrongFunduq { .. }), "{error}");
    assert!(gateway.funduq().agents().await.unwrap().is_empty());
    gateway.stop().await;
}

#[tokio::test]
async fn whatever_is_no_opening_is_refused_as_malformed() {
    let gateway = TestGateway::start().await;
    for first in ["nonsense", "{}", r#"{"type":"register","id":1,"agents":[]}"#, r#"{"type":"connect"}"#] {
        let mut provider = Provider::dial(&gateway).await;
        provider.say_text(first).await;
        let refusal = match provider.hear().await {
            funduq_contract::DownFrame::ConnectErr(refusal) => refusal,
            other => panic!("{other:?}"),
        };
        assert_eq!(refusal.code, ConnectRefusal::Malformed, "{first}");
        assert_eq!(provider.closed().await, decided("malformed"));
    }
    let mut provider = Provider::dial(&gateway).await;
    provider.send(Message::binary(vec![1, 2, 3])).await;
    assert!(matches!(provider.hear().await, funduq_contract::DownFrame::ConnectErr(_)));
    gateway.stop().await;
}

#[tokio::test]
async fn a_connection_that_says_nothing_is_closed() {
    let gateway = TestGateway::configured(|config| config.link_handshake = "20ms".parse().unwrap()).await;
    let mut provider = Provider::dial(&gateway).await;
    assert_eq!(provider.closed().await, decided("noOpening"));
    gateway.stop().await;
}

#[tokio::test]
async fn a_second_link_of_a_key_replaces_the_first_and_outlives_its_clean_up() {
    let gateway = TestGateway::start().await;
    let first = Provider::serving(&gateway, &["echo"]).await;
    let seed = Identity::from_seed(&[7; 32]);
    drop(first);
    let mut first = Provider::serving_as(&gateway, seed, &["echo"]).await;
    let mut second = Provider::serving_as(&gateway, Identity::from_seed(&[7; 32]), &["echo"]).await;
    assert_eq!(first.closed().await, decided(LinkClosed::Replaced.as_str()));
    drop(first);
    let url = gateway.agui(&second.agent("echo"));
    let asked = tokio::spawn(async move { Raw::post(&url, &input("hello")).await });
    let offer = second.accept().await;
    second.play(&offer, &[]).await;
    assert_eq!(events(&asked.await.unwrap().rest().await).len(), 2);
    gateway.stop().await;
}

#[tokio::test]
async fn a_request_for_a_ticket_has_to_be_one() {
    let gateway = TestGateway::start().await;
    let url = gateway.url_of("/tickets");
    for body in ["", "{}", "[]", r#"{"publicKey":"abc"}"#, r#"{"publicKey":null}"#] {
        let answer = client().post(&url).body(body).send().await.unwrap();
        assert_eq!(answer.status(), 400, "{body}");
        assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], "invalid_input");
    }
    let weak = json!({ "publicKey": format!("01{}", "0".repeat(62)) });
    assert_eq!(client().post(&url).json(&weak).send().await.unwrap().status(), 400);
    let huge = client().post(&url).body(vec![b' '; 1 << 20]).send().await.unwrap();
    assert_eq!(huge.status(), 413);
    gateway.stop().await;
}

#[tokio::test]
async fn a_closed_funduq_gives_no_tickets() {
    let gateway = TestGateway::configured(|config| config.enrolment = "closed".parse().unwrap()).await;
    let wanted = json!({ "publicKey": Identity::generate().public_key() });
    let answer = client().post(gateway.url_of("/tickets")).json(&wanted).send().await.unwrap();
    assert_eq!(answer.status(), 403);
    assert_eq!(answer.json::<Value>().await.unwrap()["error"]["code"], "enrolment_closed");
    gateway.stop().await;
}

#[tokio::test]
async fn a_request_that_is_no_websocket_handshake_is_told_what_is_missing() {
    let gateway = TestGateway::start().await;
    let url = gateway.url_of("/link/agents");
    let whole = [
        ("connection", "keep-alive, Upgrade"),
        ("upgrade", "websocket"),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA=="),
    ];
    for missing in 0..whole.len() {
        let headers = whole.iter().enumerate().filter(|(index, _)| *index != missing);
        let headers: String = headers.map(|(_, (name, value))| format!("{name}: {value}\r\n")).collect();
        let mut answer = Raw::get(&url, &headers).await;
        assert_eq!(answer.status, 426, "{headers}");
        assert_eq!(answer.json().await["error"]["code"], "upgrade_required");
    }
    let headers: String = whole.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let answer = Raw::get(&url, &headers).await;
    assert_eq!(answer.status, 101);
    // RFC 6455, section 1.3, for this key.
    assert_eq!(answer.header("sec-websocket-accept"), Some("ICX+Yqv66kxgM0FcWaLWlFLwTAI="));
    drop(answer);
    gateway.stop().await;
}
