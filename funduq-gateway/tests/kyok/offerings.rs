//! What can be seen of offerings, and the LLM link frame by frame.

use funduq_contract::{
    Chunk, CompletionEnd, Connect, DownFrame, Identity, LlmDownFrame, LlmUpFrame, Nonce, PortErrorCode,
    RawJson,
};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::lender::Lender;
use crate::spender::{Spender, request};
use crate::support::{TestGateway, client, ticket};

#[tokio::test]
async fn offerings_are_listed_with_who_serves_them_now() {
    let gateway = TestGateway::start().await;
    assert_eq!(gateway.read("/llm-offerings").await, json!({"llmOfferings": []}));
    let lender = Lender::online(&gateway).await;
    let key = lender.identity.public_key();
    let mut entry = json!({"providerKey": key, "fingerprint": key.fingerprint(), "name": "gpt", "online": true,
        "metadata": {"tier": 1}});
    assert_eq!(gateway.read("/llm-offerings").await, json!({"llmOfferings": [entry]}));
    lender.stop(&gateway).await;
    entry["online"] = json!(false);
    entry.as_object_mut().unwrap().remove("metadata");
    assert_eq!(gateway.read("/llm-offerings").await, json!({"llmOfferings": [entry]}));
    let about = gateway.read("/.well-known/funduq.json").await;
    assert_eq!(about["paths"]["kyok"], "/kyok/v1");
    assert_eq!(about["paths"]["llmLink"], "/link/llm");
    assert_eq!(about["paths"]["llmOfferings"], "/llm-offerings");
    gateway.stop().await;
}

#[tokio::test]
async fn a_bearer_is_shown_the_one_model_that_it_may_use() {
    let gateway = TestGateway::start().await;
    let lender = Lender::online(&gateway).await;
    let spender = Spender::begin(&gateway, &lender.offering()).await;
    let url = gateway.url_of("/kyok/v1/models");
    let models = client().get(&url).bearer_auth(&spender.token).send().await.unwrap();
    let model =
        json!({"id": "gpt", "object": "model", "created": 0, "owned_by": lender.identity.public_key()});
    assert_eq!(models.json::<Value>().await.unwrap(), json!({"object": "list", "data": [model]}));
    assert_eq!(client().get(&url).send().await.unwrap().status(), 401);
    drop(spender);
    gateway.stop().await;
}

#[tokio::test]
async fn a_second_process_with_the_key_takes_the_place_of_the_first() {
    let gateway = TestGateway::start().await;
    let mut first = Lender::online(&gateway).await;
    let mut second = Lender::online_as(&gateway, first.identity.clone()).await;
    let spender = Spender::begin(&gateway, &first.offering()).await;
    let body = request(false);
    let (answer, ()) = tokio::join!(spender.call(&body), async {
        second.asked().await.end();
    });
    assert_eq!(answer.status(), 200);
    assert!(first.is_idle());
    drop(spender);
    gateway.stop().await;
}

/// An LLM link spoken by hand.
struct Hand(tokio_tungstenite::WebSocketStream<tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>>);

impl Hand {
    async fn dial(gateway: &TestGateway) -> Self {
        let url = gateway.url_of("/link/llm").replacen("http", "ws", 1);
        Self(tokio_tungstenite::connect_async(url).await.unwrap().0)
    }

    async fn say(&mut self, text: impl Into<String>) {
        self.0.send(Message::text(text.into())).await.unwrap();
    }

    async fn hear(&mut self) -> LlmDownFrame {
        loop {
            if let Message::Text(text) = self.0.next().await.unwrap().unwrap() {
                return LlmDownFrame::from_text(&text).unwrap();
            }
        }
    }
}

#[tokio::test]
async fn an_llm_link_opens_as_an_agents_does_and_answers_what_it_cannot_take() {
    let gateway = TestGateway::start().await;
    let identity = Identity::generate();
    let mut link = Hand::dial(&gateway).await;
    link.say(r#"{"type":"verdict","runId":"r","attempt":1,"verdict":"accepted"}"#).await;
    assert!(matches!(link.hear().await, LlmDownFrame::ConnectErr(_)), "it has no such first frame");
    drop(link);

    let mut link = Hand::dial(&gateway).await;
    let ticket = ticket(&gateway, identity.public_key()).await;
    let funduq = gateway.public_key();
    let connect = Connect::sign(&identity, Some(&funduq), ticket, Nonce::generate(), None);
    link.say(LlmUpFrame::Connect(connect.clone()).to_text()).await;
    let LlmDownFrame::ConnectOk(ok) = link.hear().await else { panic!("the link is open") };
    ok.confirm(&funduq, &connect.ticket, &connect.provider_nonce).unwrap();
    for text in ["nonsense".to_owned(), LlmUpFrame::Connect(connect).to_text()] {
        link.say(text).await;
        let LlmDownFrame::Err(refusal) = link.hear().await else { panic!("it is refused") };
        assert_eq!(refusal.code, PortErrorCode::MalformedFrame);
    }
    // Words about a completion that is not this link's: nobody reads them, and the provider is told to stop.
    let completion_id: funduq_contract::CompletionId = "strange".parse().unwrap();
    let chunk = Chunk { completion_id: completion_id.clone(), chunk: RawJson::new("{}").unwrap() };
    link.say(LlmUpFrame::End(CompletionEnd { completion_id: completion_id.clone() }).to_text()).await;
    link.say(LlmUpFrame::Chunk(chunk).to_text()).await;
    let LlmDownFrame::CancelCompletion(cancel) = link.hear().await else { panic!("it is cancelled") };
    assert_eq!(cancel.completion_id, completion_id);
    // The opening is spelled alike on both kinds of links.
    assert!(matches!(
        DownFrame::from_text(&LlmDownFrame::ConnectOk(ok).to_text()),
        Ok(DownFrame::ConnectOk(_))
    ));
    drop(link);
    gateway.stop().await;
}
