//! Lending a model: completions come in, chunks go out, and whose budget they spend is the lender's to say.
//!
//! A [`LlmHandler`], mostly a closure, answers one completion after another with [`Chunks`] or with a
//! [`CompletionError`]. [`LlmOfferings`] gives it the names that callers may bind their runs to; `ws::serve_llm` (feature
//! `ws`) or [`InProcessLlmLink`] joins it to a funduq. The model's key stays in this process.

mod attachment;
mod completion;
mod drive;
mod from_sse;
mod handler;
mod in_process;
mod offerings;
mod runtime;

pub use attachment::{LlmAttachment, LlmOutgoing};
pub use completion::Completion;
pub use handler::{Chunks, CompletionError, LlmHandler};
pub use in_process::InProcessLlmLink;
pub use offerings::LlmOfferings;
pub use runtime::LlmRuntime;
