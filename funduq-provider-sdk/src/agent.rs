//! What an author writes: an agent, as a trait or as a closure, and how it may fail.

use std::error::Error;
use std::fmt::{self, Display};
use std::future::Future;

use async_trait::async_trait;

use crate::context::RunContext;

/// What an agent's work comes to: `Ok` finishes the run, an error ends it with `RUN_ERROR`.
pub type AgentResult = Result<(), AgentError>;

/// An agent: takes one run after another, each in its own task.
///
/// When `run` returns and the run has not been finished through
/// [`events`](RunContext::events), the runtime finishes it: successfully after `Ok`, as cancelled
/// when funduq had asked to stop, with `RUN_ERROR` after an error or a panic. No run sees
/// anything of another's failure.
#[async_trait]
pub trait Agent: Send + Sync + 'static {
    /// Answers one run.
    ///
    /// # Errors
    /// Whatever ends the run; its text is shown to the caller.
    async fn run(&self, run: RunContext) -> AgentResult;
}

/// An agent made of a closure: `agent_fn(|run| async move { … })`.
pub fn agent_fn<F, R>(run: F) -> impl Agent
where
    F: Fn(RunContext) -> R + Send + Sync + 'static,
    R: Future<Output = AgentResult> + Send + 'static,
{
    AgentFn(run)
}

struct AgentFn<F>(F);

#[async_trait]
impl<F, R> Agent for AgentFn<F>
where
    F: Fn(RunContext) -> R + Send + Sync + 'static,
    R: Future<Output = AgentResult> + Send + 'static,
{
    async fn run(&self, run: RunContext) -> AgentResult {
        (self.0)(run).await
    }
}

/// Why an agent could not finish a run. `?` makes one of any error.
///
/// Message and code are sent to the caller in `RUN_ERROR`, up to 1 MiB and 1 KiB of them; keep secrets out of them.
pub struct AgentError {
    message: String,
    code: Option<String>,
    cancelled: bool,
}

impl AgentError {
    /// An error with this message for a person to read.
    pub fn new(message: impl Display) -> Self {
        Self { message: message.to_string(), code: None, cancelled: false }
    }

    /// The same with a word for a machine to match.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    /// The message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The machine's word.
    pub fn code(&self) -> Option<&str> {
        self.code.as_deref()
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled
    }
}

impl fmt::Debug for AgentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentError").field("message", &self.message).field("code", &self.code).finish()
    }
}

impl<E: Error> From<E> for AgentError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self::new(message)
    }
}

/// funduq asked for the run to be stopped: what [`RunContext::or_cancelled`] answers then.
///
/// Returned from the agent by `?`, it ends the run as cancelled and not as failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl From<Cancelled> for AgentError {
    fn from(_: Cancelled) -> Self {
        Self { cancelled: true, ..Self::new("the run was asked to stop") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_with_its_causes() {
        #[derive(Debug, thiserror::Error)]
        #[error("no model answered")]
        struct Outer(#[source] std::num::ParseIntError);
        let cause = "x".parse::<u8>().unwrap_err();
        let error = AgentError::from(Outer(cause)).with_code("model");
        assert_eq!(error.message(), "no model answered: invalid digit found in string");
        assert_eq!(error.code(), Some("model"));
        assert!(!error.is_cancelled());
    }
}
