//! A task's stream as the body of an answer: an event a frame, a sign of life in silence, a clean end (A2A 1.0 §9.4.2, §11.7).

use std::borrow::Cow;
use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use funduq_a2a::json_rpc::{self, Id};
use funduq_a2a::{A2aError, Dialect, StreamResponse};
use funduq_core::{TaskEvent, TaskStream};
use futures_util::stream;
use tokio::time::timeout;

use super::refusal::Refused;
use crate::app::App;
use crate::http::requests;
use crate::limits::Permit;
use crate::sse::{Place, events};

/// After how much silence a stream shows a sign of life at the latest: a stock client gives up after 5 s.
const KEEP_ALIVE: Duration = Duration::from_secs(4);
/// That sign: a comment line, which is no frame.
const SIGN_OF_LIFE: &[u8] = b":\n";
/// How many bytes of events that are ready go out together.
const CHUNK: usize = 64 << 10;

/// What an event stands in.
#[derive(Debug)]
pub(super) enum Framing {
    /// An envelope with the request's id.
    Rpc {
        /// The id.
        id: Id,
        /// How the event is spelled.
        dialect: Dialect,
    },
    /// Nothing.
    Rest {
        /// How the event is spelled.
        dialect: Dialect,
    },
}

impl Framing {
    fn event(&self, event: &StreamResponse) -> String {
        match self {
            Self::Rpc { id, dialect } => json_rpc::event(id, event, *dialect),
            Self::Rest { dialect } => event.to_json_in(*dialect),
        }
    }

    /// The frame of an error after the start, which is the stream's last.
    fn error(&self, refused: &Refused) -> String {
        match self {
            Self::Rpc { id, .. } => frame(None, &json_rpc::failure(id, &refused.to_object())),
            Self::Rest { .. } => format!("event: error\n{}", frame(None, &refused.to_rest_json())),
        }
    }
}

/// Answers with a stream. Dropping its body, as a lost connection does, frees the stream and stops nothing.
pub(super) fn answer(app: &App, stream: TaskStream, permit: Option<Permit>, framing: Framing) -> Response {
    requests::about_run(stream.run_id(), stream.context_id());
    let place = app.readers.enter(stream.run_id());
    let keep_alive = app.config.keep_alive.get().min(KEEP_ALIVE);
    let pump = Pump { stream, place, _permit: permit, framing, keep_alive, is_over: false };
    events(Body::from_stream(stream::unfold(pump, Pump::next)))
}

/// Answers with a stream of one event.
pub(super) fn only(json: &str) -> Response {
    events(Body::from(frame(None, json)))
}

struct Pump {
    // Before the place, so that who waits for the place finds the stream free.
    stream: TaskStream,
    place: Place,
    _permit: Option<Permit>,
    framing: Framing,
    keep_alive: Duration,
    is_over: bool,
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
                let message = "another connection came for this stream and has it now";
                return Some(self.end(&A2aError::UnsupportedOperation(message.to_owned()).into()));
            }
            next = timeout(self.keep_alive, self.stream.next()) => next,
        };
        match next {
            Err(_silence) => Some(Bytes::from_static(SIGN_OF_LIFE)),
            Ok(Ok(Some(event))) => Some(self.gather(&event)),
            Ok(Ok(None)) => None,
            Ok(Err(error)) => {
                tracing::warn!(task = %self.stream.task_id(), %error, "a task's stream ends early");
                Some(self.end(&error.into()))
            }
        }
    }

    /// An event and those behind it that need no waiting, each whole.
    fn gather(&mut self, first: &TaskEvent) -> Bytes {
        let mut buffer = self.write(first);
        while buffer.len() < CHUNK
            && let Some(event) = self.stream.next_ready()
        {
            buffer.push_str(&self.write(&event));
        }
        buffer.into()
    }

    fn write(&self, event: &TaskEvent) -> String {
        frame(Some(&event.id), &self.framing.event(&event.event))
    }

    fn end(&mut self, refused: &Refused) -> Bytes {
        self.is_over = true;
        self.framing.error(refused).into()
    }
}

/// One frame: the event's place, if it has one, its JSON on one line, a blank line.
fn frame(id: Option<&str>, json: &str) -> String {
    let json = one_line(json);
    match id {
        Some(id) => format!("id: {id}\ndata: {json}\n\n"),
        None => format!("data: {json}\n\n"),
    }
}

/// JSON without what a stock client takes for the end of a line. A2A's JSON has no line ends between its values, and
/// within text JSON escapes all of them but these three, which then mean the same.
fn one_line(json: &str) -> Cow<'_, str> {
    const BREAKS: [(char, &str); 3] =
        [('\u{85}', "\\u0085"), ('\u{2028}', "\\u2028"), ('\u{2029}', "\\u2029")];
    if !json.contains(BREAKS.map(|(found, _)| found)) {
        return Cow::Borrowed(json);
    }
    let mut line = String::with_capacity(json.len() + 64);
    for found in json.chars() {
        match BREAKS.iter().find(|(sought, _)| *sought == found) {
            Some((_, escaped)) => line.push_str(escaped),
            None => line.push(found),
        }
    }
    Cow::Owned(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_its_place_its_event_on_one_line_and_a_blank_line() {
        assert_eq!(frame(Some("r:1"), "{}"), "id: r:1\ndata: {}\n\n");
        assert_eq!(frame(None, "{}"), "data: {}\n\n");
    }

    #[test]
    fn what_ends_a_line_for_a_stock_client_is_escaped_and_means_the_same() {
        let json = "{\"a\":\"\u{85}\u{2028}é\u{2029}\"}";
        let line = one_line(json);
        assert_eq!(line, "{\"a\":\"\\u0085\\u2028é\\u2029\"}");
        let read = |json: &str| serde_json::from_str::<serde_json::Value>(json).unwrap();
        assert_eq!(read(&line), read(json));
        assert!(matches!(one_line("{\"a\":\"é\"}"), Cow::Borrowed(_)));
    }
}
