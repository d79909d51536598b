//! A gateway of a few lines on loopback: gives out tickets, opens links, and leaves every frame to the test.

use std::sync::{Arc, Mutex};

use funduq_provider_sdk::contract::{
    Connect, ConnectErr, ConnectOk, DownFrame, HeldRun, Identity, OkFrame, PublicKey, Registration, Ticket,
    UpFrame,
};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::{WebSocketStream, accept_async};

pub(crate) struct Server {
    pub(crate) url: String,
    identity: Arc<Mutex<Identity>>,
    links: mpsc::UnboundedReceiver<WebSocketStream<TcpStream>>,
    /// What `POST /tickets` answers before it gives tickets out.
    refusals: Arc<Mutex<Vec<(u16, String)>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let identity = Arc::new(Mutex::new(Identity::generate()));
        let refusals = Arc::new(Mutex::new(Vec::new()));
        let (opened, links) = mpsc::unbounded_channel();
        let task = tokio::spawn({
            let (identity, refusals) = (identity.clone(), refusals.clone());
            async move {
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    let key = identity.lock().unwrap().public_key();
                    tokio::spawn(answer(stream, key, refusals.clone(), opened.clone()));
                }
            }
        });
        Self { url, identity, links, refusals, task }
    }

    pub(crate) fn key(&self) -> PublicKey {
        self.identity.lock().unwrap().public_key()
    }

    /// From now on it is another funduq that answers here.
    pub(crate) fn change_key(&self) {
        *self.identity.lock().unwrap() = Identity::generate();
    }

    pub(crate) fn refuse_ticket(&self, status: u16, body: &str) {
        self.refusals.lock().unwrap().push((status, body.to_owned()));
    }

    /// The next connection, with its opening read and not answered.
    pub(crate) async fn opening(&mut self) -> (Peer, Connect) {
        let socket = self.links.recv().await.unwrap();
        let mut peer = Peer { socket };
        match peer.hear().await {
            Some(UpFrame::Connect(connect)) => (peer, connect),
            other => panic!("a link begins with connect, not {other:?}"),
        }
    }

    /// The next link, open and with its roster taken.
    pub(crate) async fn link(&mut self, held_runs: Vec<HeldRun>) -> (Peer, Vec<Registration>) {
        let (mut peer, connect) = self.opening().await;
        connect.check_proof(Some(&self.key())).unwrap();
        peer.say(DownFrame::ConnectOk(self.accept(&connect, held_runs))).await;
        let agents = peer.roster().await;
        peer.say(DownFrame::Ok(OkFrame { id: 0 })).await;
        (peer, agents)
    }

    pub(crate) fn accept(&self, connect: &Connect, held_runs: Vec<HeldRun>) -> ConnectOk {
        let identity = self.identity.lock().unwrap();
        ConnectOk {
            funduq_public_key: Some(identity.public_key()),
            answer: Some(identity.sign_funduq_connect(&connect.ticket, &connect.provider_nonce)),
            held_runs,
            revision: 1,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The gateway's end of one link.
pub(crate) struct Peer {
    socket: WebSocketStream<TcpStream>,
}

impl Peer {
    /// The next frame; `None` when the provider has closed.
    pub(crate) async fn hear(&mut self) -> Option<UpFrame> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Some(UpFrame::from_text(&text).unwrap()),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
                Some(Ok(_)) => {}
            }
        }
    }

    /// The next frame, which is to be a roster.
    pub(crate) async fn roster(&mut self) -> Vec<Registration> {
        match self.hear().await {
            Some(UpFrame::Register(register)) => register.agents,
            other => panic!("expected a roster, not {other:?}"),
        }
    }

    /// The numbers and texts of so many events.
    pub(crate) async fn events(&mut self, count: usize) -> Vec<(u64, String)> {
        let mut events = Vec::new();
        while events.len() < count {
            match self.hear().await {
                Some(UpFrame::Event(event)) => events.push((event.number, event.event.get().to_owned())),
                Some(UpFrame::Verdict(_) | UpFrame::Finish(_) | UpFrame::Ack(_)) => {}
                other => panic!("expected an event, not {other:?}"),
            }
        }
        events
    }

    pub(crate) async fn say(&mut self, frame: DownFrame) {
        self.say_text(&frame.to_text()).await;
    }

    pub(crate) async fn say_text(&mut self, text: &str) {
        self.socket.send(Message::text(text)).await.unwrap();
    }

    pub(crate) async fn refuse(mut self, refusal: ConnectErr) {
        self.say(DownFrame::ConnectErr(refusal)).await;
    }

    pub(crate) async fn close(mut self, reason: &'static str) {
        let frame = CloseFrame { code: 4000.into(), reason: reason.into() };
        let _ = self.socket.close(Some(frame)).await;
    }
}

async fn answer(
    mut stream: TcpStream,
    key: PublicKey,
    refusals: Arc<Mutex<Vec<(u16, String)>>>,
    opened: mpsc::UnboundedSender<WebSocketStream<TcpStream>>,
) {
    let mut start = [0; 16];
    while stream.peek(&mut start).await.unwrap() < start.len() {}
    if start.starts_with(b"GET /link/agents") {
        if let Ok(socket) = accept_async(stream).await {
            let _ = opened.send(socket);
        }
        return;
    }
    let mut request = Vec::new();
    while !request.windows(4).any(|window| window == b"\r\n\r\n") {
        request.push(stream.read_u8().await.unwrap());
    }
    let refusal = if start.starts_with(b"POST") { refusals.lock().unwrap().pop() } else { None };
    let (status, body) = match refusal {
        Some(refusal) => refusal,
        None if start.starts_with(b"POST /tickets") => {
            (201, format!(r#"{{"ticket":"{}","expiresInSeconds":60}}"#, Ticket::generate()))
        }
        None => (200, format!(r#"{{"publicKey":"{key}","contract":{{"revision":1}}}}"#)),
    };
    let head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
    // Whatever is left of the request is read, so that the answer is not lost in a reset.
    let _ = stream.shutdown().await;
    let mut rest = [0; 256];
    while stream.read(&mut rest).await.is_ok_and(|read| read > 0) {}
}
