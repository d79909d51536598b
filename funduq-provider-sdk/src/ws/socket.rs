//! One WebSocket in use: texts in, texts out, and the pings by which either end notices that the other is gone.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use funduq_contract::LinkClosed;
use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Bytes, Message, Utf8Bytes};

/// How often a ping goes out.
pub(super) const PING_EVERY: Duration = Duration::from_secs(10);
/// A peer that has said nothing for so long, not even a pong, is gone; so is one that takes nothing for so long.
pub(super) const DEAD_AFTER: Duration = Duration::from_secs(28);

/// Why a socket is of no use any more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lost {
    /// funduq let go of the link and said why.
    Closed(LinkClosed),
    /// Anything else, in words.
    Broken(String),
}

pub(super) struct Reader<S> {
    stream: SplitStream<WebSocketStream<S>>,
}

pub(super) struct Writer<S> {
    sink: SplitSink<WebSocketStream<S>, Message>,
}

pub(super) fn split<S: AsyncRead + AsyncWrite + Unpin>(socket: WebSocketStream<S>) -> (Reader<S>, Writer<S>) {
    let (sink, stream) = socket.split();
    (Reader { stream }, Writer { sink })
}

impl<S: AsyncRead + AsyncWrite + Unpin> Reader<S> {
    /// The next text. Pings are answered by the way.
    pub(super) async fn next(&mut self) -> Result<Utf8Bytes, Lost> {
        loop {
            let message = match timeout(DEAD_AFTER, self.stream.next()).await {
                Err(_) => {
                    return Err(Lost::Broken(format!("nothing heard for {} seconds", DEAD_AFTER.as_secs())));
                }
                Ok(None) => return Err(Lost::Broken("the connection ended".to_owned())),
                Ok(Some(Err(error))) => return Err(Lost::Broken(error.to_string())),
                Ok(Some(Ok(message))) => message,
            };
            match message {
                Message::Text(text) => return Ok(text),
                Message::Close(frame) => {
                    let reason = frame.map(|frame| frame.reason.to_string()).unwrap_or_default();
                    return Err(close_reason(&reason));
                }
                Message::Binary(_) => tracing::warn!("funduq sent a binary message; a link has none"),
                Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Writer<S> {
    /// Hands a text over; it leaves with the next [`flush`](Self::flush), or when much has gathered.
    pub(super) async fn feed(&mut self, text: String) -> Result<(), Lost> {
        let mut feed = self.sink.feed(Message::text(text));
        // What need not wait needs no clock.
        let at_once = poll_fn(|cx| Poll::Ready(Pin::new(&mut feed).poll(cx))).await;
        if let Poll::Ready(done) = at_once {
            return alive(Ok(done));
        }
        alive(timeout(DEAD_AFTER, feed).await)
    }

    pub(super) async fn flush(&mut self) -> Result<(), Lost> {
        alive(timeout(DEAD_AFTER, self.sink.flush()).await)
    }

    pub(super) async fn ping(&mut self) -> Result<(), Lost> {
        alive(timeout(DEAD_AFTER, self.sink.send(Message::Ping(Bytes::new()))).await)
    }

    /// Says goodbye; whether it arrives does not matter any more.
    pub(super) async fn close(mut self) {
        let _heard = timeout(Duration::from_secs(1), self.sink.send(Message::Close(None))).await;
    }
}

fn alive<E: std::error::Error>(done: Result<Result<(), E>, tokio::time::error::Elapsed>) -> Result<(), Lost> {
    match done {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(Lost::Broken(error.to_string())),
        Err(_) => Err(Lost::Broken(format!("nothing taken for {} seconds", DEAD_AFTER.as_secs()))),
    }
}

fn close_reason(reason: &str) -> Lost {
    match reason.parse() {
        Ok(known) => Lost::Closed(known),
        Err(_) if reason.is_empty() => Lost::Broken("funduq closed the connection".to_owned()),
        Err(_) => Lost::Broken(format!("funduq closed the connection: {reason}")),
    }
}
