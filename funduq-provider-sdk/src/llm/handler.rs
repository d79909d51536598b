//! What a lender writes: a handler of completions, the chunks it answers with, and its two ways to say no.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_trait::async_trait;
use funduq_agui::RawObject;
use funduq_contract::RawJson;
use futures_util::Stream;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::{Map, Value};

use super::Completion;

/// Answers completions, each in a task of its own. A closure from a [`Completion`] to a future of the result will do.
#[async_trait]
pub trait LlmHandler: Send + Sync + 'static {
    /// Answers one completion with its chunks. When nobody reads it any more, this future, or the stream that it gave,
    /// is dropped where it stands.
    ///
    /// # Errors
    /// [`CompletionError`]: a refusal by this provider's own policy, or a failure. Its object reaches the agent intact.
    async fn complete(&self, completion: Completion) -> Result<Chunks, CompletionError>;
}

#[async_trait]
impl<F, R> LlmHandler for F
where
    F: Fn(Completion) -> R + Send + Sync + 'static,
    R: Future<Output = Result<Chunks, CompletionError>> + Send + 'static,
{
    async fn complete(&self, completion: Completion) -> Result<Chunks, CompletionError> {
        self(completion).await
    }
}

/// The chunks of one answer: OpenAI chat-completion chunks as the text that goes out.
///
/// An answer that is not streamed is collapsed from the same chunks by funduq; a handler need not care. A stream that ends
/// is a whole answer, so one that breaks off has to end with an error.
pub struct Chunks(BoxStream<'static, Result<RawJson, CompletionError>>);

impl Chunks {
    /// The chunks of a stream.
    pub fn new(chunks: impl Stream<Item = Result<RawJson, CompletionError>> + Send + 'static) -> Self {
        Self(chunks.boxed())
    }
}

/// Chunks that are known beforehand.
impl FromIterator<RawJson> for Chunks {
    fn from_iter<I: IntoIterator<Item = RawJson>>(chunks: I) -> Self {
        let chunks: Vec<_> = chunks.into_iter().map(Ok).collect();
        Self::new(stream::iter(chunks))
    }
}

impl Stream for Chunks {
    type Item = Result<RawJson, CompletionError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_next_unpin(cx)
    }
}

impl fmt::Debug for Chunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunks").finish_non_exhaustive()
    }
}

/// Why a completion is not answered, or not to its end. The object is the agent's to read, as OpenAI's `error`; keep
/// secrets out of it.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionError {
    error: RawObject,
    refused: bool,
}

impl CompletionError {
    /// This provider's decision, in an object of its own: no budget, no such model, not for this caller. The agent's
    /// call is answered with 403.
    pub fn refused(error: impl Into<RawObject>) -> Self {
        Self { error: error.into(), refused: true }
    }

    /// The same in OpenAI's own shape: a sentence for a person, a word for a machine.
    pub fn refusal(code: &str, message: &str) -> Self {
        Self::refused(openai_error("permission_error", code, message))
    }

    /// Something went wrong, in an object of the provider's own. The agent's call is answered with 502.
    pub fn failed(error: impl Into<RawObject>) -> Self {
        Self { error: error.into(), refused: false }
    }

    /// The same in OpenAI's own shape.
    pub fn failure(code: &str, message: &str) -> Self {
        Self::failed(openai_error("provider_error", code, message))
    }

    /// Whether it is a decision and no failure.
    pub fn is_refusal(&self) -> bool {
        self.refused
    }

    /// The object that the agent gets.
    pub fn error(&self) -> &RawObject {
        &self.error
    }

    pub(super) fn into_parts(self) -> (RawObject, bool) {
        (self.error, self.refused)
    }
}

fn openai_error(kind: &str, code: &str, message: &str) -> RawObject {
    let mut error = Map::new();
    error.insert("message".into(), message.into());
    error.insert("type".into(), kind.into());
    error.insert("param".into(), Value::Null);
    error.insert("code".into(), code.into());
    error.into()
}
