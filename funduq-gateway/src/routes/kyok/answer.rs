//! A completion as the answer to its call: chunk by chunk as they came, or collapsed into one.
//!
//! The answer's status waits for the provider's first word, so that a refusal is a status and not a broken stream.
//! Dropping the answer, as a lost connection does, tells the provider to stop at once.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::{Bytes, BytesMut};
use funduq_contract::RawJson;
use funduq_core::{Collapse, CompletionStream, KyokError};
use futures_util::{FutureExt, stream};
use http::StatusCode;
use tokio::time::timeout;

use super::error::OpenAiError;
use crate::http::json;
use crate::limits::Permit;
use crate::sse::{self, frame};

/// What ends every stream, so that no client waits for more.
const DONE: &str = "[DONE]";
/// How many bytes of chunks that are ready go out together.
const TOGETHER: usize = 64 << 10;
/// The most bytes of chunks that are collapsed into one answer.
const MAX_WHOLE: usize = 32 << 20;

/// Answers with the chunks as the bytes that came, and `data: [DONE]`. What breaks the answer off is told in its place.
///
/// # Errors
/// Whatever the provider says before its first chunk.
pub(super) async fn streamed(
    mut stream: CompletionStream,
    permit: Permit,
    keep_alive: Duration,
) -> Result<Response, OpenAiError> {
    let first = stream.next().await?;
    let pump = Pump { stream, _permit: permit, first: Some(first), keep_alive, is_over: false };
    Ok(sse::events(Body::from_stream(stream::unfold(pump, Pump::next))))
}

struct Pump {
    stream: CompletionStream,
    _permit: Permit,
    /// What came before the answer began, with `None` for its end.
    first: Option<Option<RawJson>>,
    keep_alive: Duration,
    is_over: bool,
}

impl Pump {
    async fn next(mut self) -> Option<(Result<Bytes, Infallible>, Self)> {
        if self.is_over {
            return None;
        }
        let said = match self.first.take() {
            Some(first) => Ok(first),
            None => match timeout(self.keep_alive, self.stream.next()).await {
                Ok(said) => said,
                Err(_silence) => return Some((Ok(Bytes::from_static(frame::KEEP_ALIVE)), self)),
            },
        };
        let mut buffer = BytesMut::new();
        self.write(&mut buffer, said);
        while !self.is_over
            && buffer.len() < TOGETHER
            && let Some(said) = self.stream.next().now_or_never()
        {
            self.write(&mut buffer, said);
        }
        Some((Ok(buffer.freeze()), self))
    }

    fn write(&mut self, buffer: &mut BytesMut, said: Result<Option<RawJson>, KyokError>) {
        match said {
            Ok(Some(chunk)) => return frame::write_data(buffer, chunk.get()),
            Ok(None) => {}
            Err(error) => frame::write_data(buffer, &OpenAiError::from(error).json()),
        }
        frame::write_data(buffer, DONE);
        self.is_over = true;
    }
}

/// Answers with one chat completion out of all chunks.
///
/// # Errors
/// Whatever the provider says in place of its answer's end, and 502 for an answer that cannot be collapsed.
pub(super) async fn whole(mut stream: CompletionStream) -> Result<Response, OpenAiError> {
    let mut collapse = Collapse::new();
    let mut bytes = 0;
    while let Some(chunk) = stream.next().await? {
        bytes += chunk.get().len();
        if bytes > MAX_WHOLE {
            let message = format!("the answer has more than {MAX_WHOLE} bytes; ask for a stream");
            return Err(OpenAiError::bad_answer("answer_too_large", message));
        }
        collapse.push(&chunk)?;
    }
    Ok(json::answer(StatusCode::OK, &collapse.finish()))
}
