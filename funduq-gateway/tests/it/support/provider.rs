//! A provider that speaks the link frame by frame, so that a test decides what it says and when.

use funduq_contract::{
    AgentAddress, Connect, ConnectErr, ConnectOk, DownFrame, ErrFrame, EventFrame, Identity, Nonce, Offer,
    OkFrame, PublicKey, RawJson, RegisterFrame, Registration, RunId, Ticket, TicketIssued, UpFrame, Verdict,
    VerdictFrame,
};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream};

use super::{SOON, TestGateway, client};

/// How the other side closed a link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Closed {
    pub(crate) code: u16,
    pub(crate) reason: String,
}

/// A link from the provider's side.
pub(crate) struct Provider {
    pub(crate) identity: Identity,
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

impl Provider {
    /// A connection on which nothing was said.
    pub(crate) async fn dial(gateway: &TestGateway) -> Self {
        Self::dial_as(gateway, Identity::generate()).await
    }

    pub(crate) async fn dial_as(gateway: &TestGateway, identity: Identity) -> Self {
        let url = gateway.url_of("/link/agents").replacen("http", "ws", 1);
        // An offer is as large as a conversation.
        let config = WebSocketConfig::default().max_message_size(None).max_frame_size(None);
        let connected = tokio_tungstenite::connect_async_with_config(url, Some(config), true).await;
        let (socket, _) = connected.unwrap();
        Self { identity, socket }
    }

    /// A link that is open and serves these agents.
    pub(crate) async fn serving(gateway: &TestGateway, names: &[&str]) -> Self {
        Self::serving_as(gateway, Identity::generate(), names).await
    }

    pub(crate) async fn serving_as(gateway: &TestGateway, identity: Identity, names: &[&str]) -> Self {
        let mut provider = Self::dial_as(gateway, identity).await;
        let ticket = ticket(gateway, provider.identity.public_key()).await;
        provider.open(Some(&gateway.public_key()), ticket).await.unwrap();
        provider.register(names).await;
        provider
    }

    /// Sends an opening that is signed for a funduq, and has its answer.
    pub(crate) async fn open(
        &mut self,
        funduq: Option<&PublicKey>,
        ticket: Ticket,
    ) -> Result<ConnectOk, ConnectErr> {
        let nonce = Nonce::generate();
        let connect = Connect::sign(&self.identity, funduq, ticket, nonce, None);
        self.say(&UpFrame::Connect(connect)).await;
        match self.hear().await {
            DownFrame::ConnectOk(ok) => {
                if let Some(funduq) = funduq {
                    ok.confirm(funduq, &ticket, &nonce).unwrap();
                }
                Ok(ok)
            }
            DownFrame::ConnectErr(refusal) => Err(refusal),
            other => panic!("an opening was answered with {other:?}"),
        }
    }

    pub(crate) async fn register(&mut self, names: &[&str]) {
        let agents = names.iter().map(|name| Registration::new(name.parse().unwrap())).collect();
        self.say(&UpFrame::Register(RegisterFrame { id: 7, agents })).await;
        assert_eq!(self.hear().await, DownFrame::Ok(OkFrame { id: 7 }));
    }

    pub(crate) fn agent(&self, name: &str) -> AgentAddress {
        AgentAddress::new(self.identity.public_key(), name.parse().unwrap())
    }

    pub(crate) async fn say(&mut self, frame: &UpFrame) {
        self.say_text(&frame.to_text()).await;
    }

    pub(crate) async fn say_text(&mut self, text: &str) {
        self.send(Message::text(text)).await;
    }

    /// Says these in one go.
    pub(crate) async fn say_all(&mut self, texts: &[String]) {
        for text in texts {
            self.socket.feed(Message::text(text.as_str())).await.unwrap();
        }
        self.socket.flush().await.unwrap();
    }

    pub(crate) async fn send(&mut self, message: Message) {
        self.socket.send(message).await.unwrap();
    }

    /// Sends what the other side may not take whole.
    pub(crate) async fn try_send(&mut self, message: Message) {
        let _ = self.socket.send(message).await;
    }

    /// The next frame but `received`.
    pub(crate) async fn hear(&mut self) -> DownFrame {
        loop {
            match self.next().await {
                Ok(DownFrame::Received(_)) => {}
                Ok(frame) => return frame,
                Err(closed) => panic!("the link was closed: {closed:?}"),
            }
        }
    }

    /// The next frame, or how the link was closed.
    pub(crate) async fn next(&mut self) -> Result<DownFrame, Closed> {
        loop {
            let message = timeout(SOON, self.socket.next()).await.expect("a frame").expect("a frame");
            match message.expect("a link that is closed says why") {
                Message::Text(text) => return Ok(DownFrame::from_text(&text).unwrap()),
                Message::Close(Some(frame)) => {
                    return Err(Closed { code: frame.code.into(), reason: frame.reason.to_string() });
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?} on a link"),
            }
        }
    }

    /// The next frame, which refuses something.
    pub(crate) async fn refusal(&mut self) -> ErrFrame {
        match self.hear().await {
            DownFrame::Err(refusal) => refusal,
            other => panic!("{other:?} instead of a refusal"),
        }
    }

    /// Waits for the link to be closed, whatever is said before.
    pub(crate) async fn closed(&mut self) -> Closed {
        loop {
            if let Err(closed) = self.next().await {
                return closed;
            }
        }
    }

    /// Takes on the run that is offered next.
    pub(crate) async fn accept(&mut self) -> Offer {
        let offer = match self.hear().await {
            DownFrame::Offer(offer) => offer,
            other => panic!("{other:?} instead of an offer"),
        };
        let (run_id, attempt) = (offer.run.run_id.clone(), offer.attempt);
        self.say(&UpFrame::Verdict(VerdictFrame { run_id, attempt, verdict: Verdict::Accepted })).await;
        offer
    }

    /// Reports an event as the text that it is.
    pub(crate) async fn event(&mut self, run: &RunId, number: u64, event: &str) {
        let event = EventFrame { run_id: run.clone(), number, event: RawJson::new(event).unwrap() };
        self.say(&UpFrame::Event(event)).await;
    }

    /// Answers a run with these events between its beginning and its end; says with which texts.
    pub(crate) async fn play(&mut self, offer: &Offer, events: &[String]) -> Vec<String> {
        let mut texts = vec![started(offer)];
        texts.extend_from_slice(events);
        texts.push(finished(offer));
        for (number, text) in (1..).zip(&texts) {
            self.event(&offer.run.run_id, number, text).await;
        }
        texts
    }
}

/// A ticket for a key, asked for as any provider does.
pub(crate) async fn ticket(gateway: &TestGateway, key: PublicKey) -> Ticket {
    let answer =
        client().post(gateway.url_of("/tickets")).json(&json!({ "publicKey": key })).send().await.unwrap();
    assert_eq!(answer.status(), 201);
    answer.json::<TicketIssued>().await.unwrap().ticket
}

/// The event that begins a run.
pub(crate) fn started(offer: &Offer) -> String {
    event("RUN_STARTED", offer)
}

/// The event that ends a run.
pub(crate) fn finished(offer: &Offer) -> String {
    event("RUN_FINISHED", offer)
}

fn event(name: &str, offer: &Offer) -> String {
    let event: Value = json!({ "type": name, "threadId": offer.run.thread_id, "runId": offer.run.run_id });
    event.to_string()
}
