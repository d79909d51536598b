//! An LLM runtime's side of one open link: completions come in, what is to be said about them goes out.

use std::fmt;

use funduq_contract::{
    CancelCompletion, Chunk, Complete, CompletionEnd, CompletionFailed, ConnectOk, PublicKey,
};
use tokio::sync::{Mutex, mpsc};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::drive::{Errand, drive};
use super::{Completion, LlmRuntime};
use crate::runtime::Stuck;

/// How much may wait to be sent; a handler that is faster waits.
const WAITING: usize = 256;
/// How much is taken to be sent at once.
const BATCH: usize = 64;

/// One thing for an LLM link to send.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum LlmOutgoing {
    /// A chunk of an answer.
    Chunk(Chunk),
    /// An answer is whole.
    End(CompletionEnd),
    /// A completion was refused, or failed.
    Failed(CompletionFailed),
}

/// One open link of an [`LlmRuntime`], for whoever carries it over a wire.
///
/// Hand in what funduq says as it comes; send what [`next`](Self::next) gives, in that order. Dropping it drops every
/// completion that came over it: funduq has failed them by then, and takes nothing for them from another link.
pub struct LlmAttachment {
    runtime: LlmRuntime,
    funduq_key: Option<PublicKey>,
    out: mpsc::Sender<LlmOutgoing>,
    waiting: Mutex<mpsc::Receiver<LlmOutgoing>>,
    gone: CancellationToken,
    _when_dropped: DropGuard,
}

impl LlmRuntime {
    /// Joins the runtime to a link that funduq has opened with `ok`, which the link has confirmed.
    pub fn attach(&self, ok: &ConnectOk) -> LlmAttachment {
        let (out, waiting) = mpsc::channel(WAITING);
        let gone = CancellationToken::new();
        LlmAttachment {
            runtime: self.clone(),
            funduq_key: ok.funduq_public_key,
            out,
            waiting: Mutex::new(waiting),
            _when_dropped: gone.clone().drop_guard(),
            gone,
        }
    }
}

impl LlmAttachment {
    /// Begins to answer a completion.
    ///
    /// # Errors
    /// [`Stuck`] when thousands are waiting to be told that they are too many; the link should end.
    pub fn deliver(&self, complete: Complete) -> Result<(), Stuck> {
        let inner = &self.runtime.inner;
        let id = complete.completion.completion_id.clone();
        let (admission, cancelled) = inner.enter(&id, &self.gone)?;
        let completion = Completion::new(complete.completion, self.funduq_key);
        let errand = Errand { id, out: self.out.clone(), cancelled };
        tokio::spawn(drive(inner.clone(), admission, completion, errand));
        Ok(())
    }

    /// Drops a completion that nobody reads any more, at once.
    pub fn cancel(&self, cancel: &CancelCompletion) {
        self.runtime.inner.cancel(&cancel.completion_id);
    }

    /// Puts what is to be sent next at the end of `batch`, in order; waits until there is something.
    ///
    /// Dropping the future before it is ready takes nothing.
    pub async fn next(&self, batch: &mut Vec<LlmOutgoing>) {
        self.waiting.lock().await.recv_many(batch, BATCH).await;
    }

    /// The link has ended: what came over it is dropped.
    pub(super) fn close(&self) {
        self.gone.cancel();
    }
}

impl fmt::Debug for LlmAttachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmAttachment").finish_non_exhaustive()
    }
}
