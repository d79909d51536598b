//! One completion from its arrival to its end: the handler is called, and whatever becomes of it, funduq is told.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use funduq_contract::{Chunk, CompletionEnd, CompletionFailed, CompletionId};
use futures_util::{FutureExt, StreamExt};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::runtime::{Admission, Inner};
use super::{Completion, CompletionError, LlmOutgoing};

/// Where a completion's words go, and when nobody wants them.
pub(super) struct Errand {
    pub(super) id: CompletionId,
    pub(super) out: mpsc::Sender<LlmOutgoing>,
    pub(super) cancelled: CancellationToken,
}

/// The link does not take words any more.
struct LinkGone;

pub(super) async fn drive(inner: Arc<Inner>, admission: Admission, completion: Completion, errand: Errand) {
    let Errand { id, out, cancelled } = errand;
    // Dropping the answer is what stops it: at once, and with it whatever the handler holds open.
    tokio::select! {
        biased;
        () = cancelled.cancelled() => tracing::debug!(completion = %id, "nobody reads this completion any more"),
        _link = answer(&inner, admission, completion, &id, &out) => {}
    }
    inner.left(&id);
}

async fn answer(
    inner: &Inner,
    admission: Admission,
    completion: Completion,
    id: &CompletionId,
    out: &mpsc::Sender<LlmOutgoing>,
) -> Result<(), LinkGone> {
    let ended = match admission {
        Admission::Yes => tokio::select! {
            biased;
            () = inner.abort.cancelled() => Ok(Err(stopped())),
            ended = AssertUnwindSafe(chunks(inner, completion, id, out)).catch_unwind() => {
                // What it panicked with is for its author, not for the agent.
                ended.unwrap_or_else(|_panic| {
                    tracing::error!(completion = %id, "the handler panicked");
                    Ok(Err(CompletionError::failure("provider_panicked", "the LLM provider failed")))
                })
            }
        },
        Admission::Stopping => Ok(Err(stopped())),
        Admission::Busy => Ok(Err(CompletionError::failure(
            "provider_busy",
            "the LLM provider answers as many completions as it can; try again",
        ))),
    };
    let completion_id = id.clone();
    let last = match ended? {
        Ok(()) => LlmOutgoing::End(CompletionEnd { completion_id }),
        Err(error) => {
            let (error, refused) = error.into_parts();
            LlmOutgoing::Failed(CompletionFailed { completion_id, error, refused })
        }
    };
    out.send(last).await.map_err(|_| LinkGone)
}

/// Calls the handler and hands on what it streams, in order and no faster than the link takes it.
async fn chunks(
    inner: &Inner,
    completion: Completion,
    id: &CompletionId,
    out: &mpsc::Sender<LlmOutgoing>,
) -> Result<Result<(), CompletionError>, LinkGone> {
    let mut chunks = match inner.handler().complete(completion).await {
        Ok(chunks) => chunks,
        Err(error) => return Ok(Err(error)),
    };
    while let Some(chunk) = chunks.next().await {
        match chunk {
            Ok(chunk) => {
                let chunk = Chunk { completion_id: id.clone(), chunk };
                out.send(LlmOutgoing::Chunk(chunk)).await.map_err(|_| LinkGone)?;
            }
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}

fn stopped() -> CompletionError {
    CompletionError::failure("provider_stopped", "the LLM provider stopped before the answer was whole")
}
