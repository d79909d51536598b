//! Links of nobody in particular: until its opening is judged, a link is anybody's.

use funduq_contract::{Connect, DownFrame, Nonce, OkFrame, RegisterFrame, Registration, UpFrame};
use futures_util::{SinkExt, StreamExt};
use serde_json::json;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::ground::Ground;
use crate::support::{Provider, SOON, ticket};

#[tokio::test]
async fn an_opening_that_is_larger_than_any_is_refused_at_its_first_bytes() {
    let ground = Ground::new().await;
    for kind in ["agents", "llm"] {
        let url = ground.url_of(&format!("/link/{kind}")).replacen("http", "ws", 1);
        let (mut link, _) = tokio_tungstenite::connect_async(url).await.unwrap();
        let large = json!({"type": "connect", "ticket": "x".repeat(17 << 10)}).to_string();
        let _ = link.send(Message::text(large)).await;
        let closed = timeout(SOON, link.next()).await.expect("an end").unwrap().unwrap();
        let Message::Close(Some(frame)) = closed else { panic!("{closed} instead of an end") };
        assert_eq!((u16::from(frame.code), frame.reason.as_str()), (1009, "messageTooLarge"), "{kind}");
    }
    ground.ends_unharmed().await;
}

#[tokio::test]
async fn what_comes_right_behind_an_opening_has_the_limits_of_an_open_link() {
    let ground = Ground::new().await;
    let mut provider = Provider::dial(&ground).await;
    let ticket = ticket(&ground, provider.identity.public_key()).await;
    let key = ground.public_key();
    let connect = Connect::sign(&provider.identity, Some(&key), ticket, Nonce::generate(), None);
    let mut agent = Registration::new("large".parse().unwrap());
    agent.description = "x".repeat(100 << 10);
    let register = RegisterFrame { id: 7, agents: vec![agent] };
    // All of it on its way before the opening is judged.
    provider.say_all(&[UpFrame::Connect(connect).to_text(), UpFrame::Register(register).to_text()]).await;
    assert!(matches!(provider.hear().await, DownFrame::ConnectOk(_)));
    assert_eq!(provider.hear().await, DownFrame::Ok(OkFrame { id: 7 }));
    ground.ends_unharmed().await;
}
