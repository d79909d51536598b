//! Stands between every party and the gateway, and keeps what passes: bytes of HTTP, and the texts of links, which are
//! masked on their way.

use std::sync::{Arc, Mutex};

use futures_util::{Sink, SinkExt, Stream, StreamExt};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};
use tokio_tungstenite::tungstenite::{Error, Message};

type Seen = Arc<Mutex<Vec<u8>>>;

pub(crate) struct Tap {
    pub(crate) url: String,
    listener: Arc<TcpListener>,
    seen: Seen,
    task: Option<tokio::task::JoinHandle<()>>,
}

impl Tap {
    /// Has an address, by which the gateway is to be known.
    pub(crate) async fn listen() -> Self {
        let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
        let url = format!("http://{}", listener.local_addr().unwrap());
        Self { url, listener, seen: Seen::default(), task: None }
    }

    /// Hands on to the gateway at `http://{host}`.
    pub(crate) fn hand_on_to(&mut self, gateway: &str) {
        let host = gateway.strip_prefix("http://").unwrap().to_owned();
        let (listener, seen) = (Arc::clone(&self.listener), self.seen.clone());
        self.task = Some(tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, host.clone(), seen.clone()));
            }
        }));
    }

    pub(crate) fn url_of(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Everything that has passed.
    pub(crate) fn seen(&self) -> Vec<u8> {
        self.seen.lock().unwrap().clone()
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn pass(stream: TcpStream, host: String, seen: Seen) {
    const LINK: &[u8] = b"GET /link/";
    let mut first = [0; LINK.len()];
    while stream.peek(&mut first).await.is_ok_and(|read| (1..LINK.len()).contains(&read)) {
        tokio::task::yield_now().await;
    }
    if first != LINK {
        let far = TcpStream::connect(host).await.unwrap();
        let ((near_in, near_out), (far_in, far_out)) = (stream.into_split(), far.into_split());
        tokio::join!(copy(near_in, far_out, &seen), copy(far_in, near_out, &seen));
        return;
    }
    let mut path = String::new();
    #[expect(clippy::result_large_err, reason = "the library's own signature")]
    let note = |request: &Request, response: Response| {
        path = request.uri().path().to_owned();
        Ok(response)
    };
    let near = tokio_tungstenite::accept_hdr_async(stream, note).await.unwrap();
    let (far, _) = tokio_tungstenite::connect_async(format!("ws://{host}{path}")).await.unwrap();
    let ((near_out, near_in), (far_out, far_in)) = (near.split(), far.split());
    tokio::join!(relay(near_in, far_out, &seen), relay(far_in, near_out, &seen));
}

async fn copy(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, seen: &Seen) {
    let mut bytes = vec![0; 16 << 10];
    while let Ok(read @ 1..) = from.read(&mut bytes).await {
        seen.lock().unwrap().extend_from_slice(&bytes[..read]);
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
    }
    let _ended = to.shutdown().await;
}

async fn relay(
    mut from: impl Stream<Item = Result<Message, Error>> + Unpin,
    mut to: impl Sink<Message> + Unpin,
    seen: &Seen,
) {
    while let Some(Ok(message)) = from.next().await {
        if let Message::Text(text) = &message {
            seen.lock().unwrap().extend_from_slice(text.as_bytes());
        }
        if to.send(message).await.is_err() {
            return;
        }
    }
    let _ended = to.close().await;
}
