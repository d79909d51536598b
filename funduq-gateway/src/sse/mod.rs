//! An AG-UI stream as the body of an answer: frames as they come, a sign of life in silence, and a clean end.

pub(crate) mod frame;
mod readers;
#[cfg(test)]
mod tests;

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use funduq_agui::event::RunError;
use funduq_agui::{Event, RelayedEvent};
use funduq_core::{AguiEvent, AguiStream};
use futures_util::stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use tokio::time::timeout;

use crate::limits::Permit;
pub(crate) use readers::{Place, Readers};

/// How many bytes of events that are ready go out together.
const CHUNK: usize = 64 << 10;

/// Answers with a stream. The body ends right after the run's terminal event and is never cut: whatever ends it is an
/// event. Dropping it, as a lost connection does, frees the stream and stops nothing.
pub(crate) fn answer(stream: AguiStream, place: Place, permit: Permit, keep_alive: Duration) -> Response {
    let pump = Pump { stream, place, _permit: permit, keep_alive, is_over: false, last: 0 };
    events(Body::from_stream(stream::unfold(pump, Pump::next)))
}

/// The head of such an answer, for who asks for no more. How long the body would be is not known, and so not said.
pub(crate) fn head() -> Response {
    events(Body::from_stream(stream::empty::<Result<Bytes, Infallible>>()))
}

/// An answer whose body is an event stream.
pub(crate) fn events(body: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, HeaderValue::from_static("text/event-stream")),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        // Asks a proxy in between not to gather events (nginx, and those that follow it).
        (HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no")),
    ];
    (headers, body).into_response()
}

struct Pump {
    // Before the place, so that who waits for the place finds the stream free.
    stream: AguiStream,
    place: Place,
    _permit: Permit,
    keep_alive: Duration,
    is_over: bool,
    /// How large the last chunk was: the next is likely to be as large.
    last: usize,
}

impl Pump {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        let chunk = self.chunk().await?;
        Some((Ok(chunk), self))
    }

    async fn chunk(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let next = tokio::select! {
            biased;
            () = self.place.taken() => {
                return Some(self.end("stream_taken_over", "another connection came for this stream and has it now"));
            }
            next = timeout(self.keep_alive, self.stream.next()) => next,
        };
        match next {
            Err(_silence) => Some(Bytes::from_static(frame::KEEP_ALIVE)),
            Ok(Ok(Some(event))) => Some(self.gather(&event)),
            Ok(Ok(None)) => None,
            Ok(Err(error)) => {
                tracing::error!(run = %self.stream.run_id(), %error, "a stream cannot be read on");
                Some(
                    self.end(
                        "record_unavailable",
                        "the record cannot be read right now; the run itself goes on",
                    ),
                )
            }
        }
    }

    /// An event and those behind it that need no waiting, each whole.
    fn gather(&mut self, first: &AguiEvent) -> Bytes {
        let mut buffer = BytesMut::with_capacity(self.last);
        let run = self.stream.run_id().clone();
        frame::write(&mut buffer, &run, first.number, first.event.json());
        while buffer.len() < CHUNK
            && let Some(event) = self.stream.next_ready()
        {
            frame::write(&mut buffer, &run, event.number, event.event.json());
        }
        self.last = buffer.len().min(CHUNK);
        buffer.freeze()
    }

    /// The last frame of a stream that ends before its run. It has no number, because it is no event of the run.
    fn end(&mut self, code: &str, message: &str) -> Bytes {
        self.is_over = true;
        let event = RelayedEvent::from(Event::from(RunError::new(message).code(code)));
        let mut buffer = BytesMut::new();
        frame::write(&mut buffer, self.stream.run_id(), None, event.json());
        buffer.freeze()
    }
}
