//! The socket of a link: texts in, texts out, pings, and a parting that arrives.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncReadExt;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Error, Message, Utf8Bytes};

use super::activity::Watched;
use super::ending::Ending;
use super::outgoing::{Next, Outgoing};
use super::threshold::Threshold;

/// How long a parting may take.
const FAREWELL: Duration = Duration::from_secs(2);
/// How long a peer that was told to stop sending may pause before it is taken to have stopped.
const LAST_WORDS: Duration = Duration::from_millis(500);

pub(super) type Stream = WebSocketStream<Threshold<Watched<TokioIo<Upgraded>>>>;
pub(super) type Sink = SplitSink<Stream, Message>;
pub(super) type Source = SplitStream<Stream>;

pub(super) fn split(stream: Stream) -> (Sink, Source) {
    stream.split()
}

/// The same connection with the limits of an open link. Nothing was said on it so far, and nothing was read of it but whole
/// messages.
pub(super) async fn open(sink: Sink, source: Source, limits: WebSocketConfig) -> (Sink, Source) {
    let stream = source.reunite(sink).expect("both are of one link");
    let threshold = stream.into_inner().open();
    split(Stream::from_raw_socket(threshold, Role::Server, Some(limits)).await)
}

/// What came.
pub(super) enum Heard {
    Text(Utf8Bytes),
    Binary,
    Ended(Ending),
}

/// The next message. Pings are answered by the way.
pub(super) async fn hear(source: &mut Source) -> Heard {
    loop {
        if let Some(heard) = what(source.next().await) {
            return heard;
        }
    }
}

/// The next message, if it is here already.
pub(super) async fn heard(source: &mut Source) -> Option<Heard> {
    loop {
        let Poll::Ready(message) = poll_fn(|cx| Poll::Ready(source.poll_next_unpin(cx))).await else {
            return None;
        };
        if let Some(heard) = what(message) {
            return Some(heard);
        }
    }
}

fn what(message: Option<Result<Message, Error>>) -> Option<Heard> {
    Some(match message {
        Some(Ok(Message::Text(text))) => Heard::Text(text),
        Some(Ok(Message::Binary(_))) => Heard::Binary,
        Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => return None,
        Some(Ok(Message::Close(_))) | None => Heard::Ended(Ending::Left),
        Some(Err(error)) => Heard::Ended(ending(&error)),
    })
}

fn ending(error: &Error) -> Ending {
    match error {
        Error::Capacity(_) => Ending::TooLarge,
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ending::Left,
        Error::Protocol(_) | Error::Utf8(_) => Ending::NotWebSocket,
        _ => Ending::Left,
    }
}

/// Says what waits and pings, until the queue ends or the socket does.
pub(super) async fn speak(sink: &mut Sink, outgoing: &Outgoing, ping: Duration) -> Ending {
    let mut pings = interval_at(Instant::now() + ping, ping);
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let said = tokio::select! {
            next = outgoing.next() => match say(sink, outgoing, next).await {
                Ok(Some(ending)) => return ending,
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            },
            _ = pings.tick() => sink.send(Message::Ping(Bytes::new())).await,
        };
        if said.is_err() {
            return Ending::Left;
        }
    }
}

/// Says this and what waits behind it; answers with the ending where that comes next.
async fn say(sink: &mut Sink, outgoing: &Outgoing, first: Next) -> Result<Option<Ending>, Error> {
    let mut next = Some(first);
    while let Some(step) = next {
        match step {
            Next::Say(text) => sink.feed(Message::text(text)).await?,
            Next::Close(ending) => return Ok(Some(ending)),
        }
        next = outgoing.try_next();
    }
    sink.flush().await?;
    Ok(None)
}

/// Says what still waits and why the link ends, and lets the other side hear it: a connection that is closed on unread
/// bytes loses what was sent last.
pub(super) async fn farewell(ending: Ending, outgoing: &Outgoing, mut sink: Sink, mut source: Source) {
    let parting = async {
        while let Some(Next::Say(text)) = outgoing.try_next() {
            sink.feed(Message::text(text)).await?;
        }
        sink.send(Message::Close(Some(ending.frame()))).await?;
        match ending {
            // What comes is no message any more.
            Ending::TooLarge | Ending::NotWebSocket => {
                if let Ok(mut stream) = source.reunite(sink) {
                    discard(&mut stream).await;
                }
            }
            _ => while let Some(Ok(_)) = source.next().await {},
        }
        Ok::<_, Error>(())
    };
    // Who does not hear it sees the connection end all the same.
    let _ = timeout(FAREWELL, parting).await;
}

async fn discard(stream: &mut Stream) {
    let mut scratch = vec![0; 16 << 10];
    while let Ok(Ok(1..)) = timeout(LAST_WORDS, stream.get_mut().read(&mut scratch)).await {}
}
