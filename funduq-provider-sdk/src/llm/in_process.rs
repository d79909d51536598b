//! The LLM link without a wire: a runtime and a funduq in one process, joined through the whole handshake.

use std::fmt;
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use funduq_contract::{
    CancelCompletion, Complete, ConnectOk, ConnectedLlmProvider, LinkClosed, LinkGone, LinkId, LlmPort,
    Nonce, PublicKey, Signature, Ticket, WrongFunduq,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{LlmAttachment, LlmOutgoing, LlmRuntime};
use crate::handshake::Handshake;
use crate::in_process::{InProcessError, refused};

/// An open link of an [`LlmRuntime`] to a funduq in the same process. It stays open until it is closed or dropped.
pub struct InProcessLlmLink {
    port: Arc<dyn LlmPort>,
    link: LinkId,
    provider: Arc<Provider>,
    _when_dropped: DropGuard,
}

/// What funduq holds of the link.
struct Provider {
    runtime: LlmRuntime,
    handshake: Handshake,
    attachment: OnceLock<Arc<LlmAttachment>>,
    closed: CancellationToken,
    reason: OnceLock<LinkClosed>,
}

impl InProcessLlmLink {
    /// Opens a link and publishes the runtime's offerings; as [`InProcessLink::open`](crate::InProcessLink::open).
    ///
    /// # Errors
    /// [`InProcessError`]; in every case nothing is published.
    pub async fn open(
        runtime: &LlmRuntime,
        port: Arc<dyn LlmPort>,
        ticket: Ticket,
        funduq_key: Option<PublicKey>,
    ) -> Result<Self, InProcessError> {
        let (handshake, connect) = Handshake::begin(runtime.identity(), funduq_key, ticket, None);
        let closed = CancellationToken::new();
        let provider = Arc::new(Provider {
            runtime: runtime.clone(),
            handshake,
            attachment: OnceLock::new(),
            closed: closed.clone(),
            reason: OnceLock::new(),
        });
        let opened = port.open_llm(provider.clone(), connect).await;
        let (link, ok) = opened.map_err(|refusal| refused(refusal, funduq_key))?;
        let open = Self { port, link, provider, _when_dropped: closed.clone().drop_guard() };
        if let Err(wrong) = open.provider.handshake.confirm(&ok) {
            open.close().await;
            return Err(wrong.into());
        }
        let attachment = Arc::new(runtime.attach(&ok));
        // Set once: this is the only place, and the provider is new.
        let _ = open.provider.attachment.set(attachment.clone());
        if let Err(error) = open.port.register_llm(link, runtime.registration()).await {
            open.close().await;
            return Err(InProcessError::Register(error));
        }
        tokio::spawn(pump(open.port.clone(), link, attachment, closed));
        Ok(open)
    }

    /// The link's number at funduq.
    pub fn link_id(&self) -> LinkId {
        self.link
    }

    /// Waits until the link is closed, by funduq for the reason answered, or here (`None`).
    pub async fn closed(&self) -> Option<LinkClosed> {
        self.provider.closed.cancelled().await;
        self.provider.reason.get().copied()
    }

    /// Takes the link down: its offerings go off the roster, and its completions fail.
    pub async fn close(&self) {
        self.provider.closed.cancel();
        self.port.close_llm(self.link).await;
    }
}

/// Carries what the runtime says to funduq, for as long as the link is open.
async fn pump(
    port: Arc<dyn LlmPort>,
    link: LinkId,
    attachment: Arc<LlmAttachment>,
    closed: CancellationToken,
) {
    let carrying = async {
        let mut batch = Vec::new();
        loop {
            attachment.next(&mut batch).await;
            for outgoing in batch.drain(..) {
                let taken = match outgoing {
                    LlmOutgoing::Chunk(chunk) => port.chunk(link, chunk).await,
                    LlmOutgoing::End(end) => port.end(link, end).await,
                    LlmOutgoing::Failed(failed) => port.failed(link, failed).await,
                };
                if let Err(error) = taken {
                    tracing::debug!(%error, "funduq did not take what was said about a completion");
                }
            }
        }
    };
    tokio::select! {
        () = carrying => {}
        () = closed.cancelled() => {}
    }
    attachment.close();
    port.close_llm(link).await;
}

impl Provider {
    fn attachment(&self) -> Result<&LlmAttachment, LinkGone> {
        match self.attachment.get() {
            Some(attachment) if !self.closed.is_cancelled() => Ok(attachment),
            _ => Err(LinkGone),
        }
    }
}

#[async_trait]
impl ConnectedLlmProvider for Provider {
    fn public_key(&self) -> PublicKey {
        self.runtime.identity().public_key()
    }

    fn complete(&self, complete: Complete) -> Result<(), LinkGone> {
        self.attachment()?.deliver(complete).map_err(|_stuck| LinkGone)
    }

    fn cancel_completion(&self, cancel: CancelCompletion) -> Result<(), LinkGone> {
        self.attachment()?.cancel(&cancel);
        Ok(())
    }

    fn closed(&self, reason: LinkClosed) {
        // The first reason counts.
        let _ = self.reason.set(reason);
        self.closed.cancel();
    }

    async fn sign_connect(&self, _: Option<PublicKey>, _: Ticket, _: Nonce) -> Option<Signature> {
        // The proof came with the opening; this link has nothing else to sign.
        None
    }

    async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq> {
        self.handshake.confirm(ok)
    }
}

impl fmt::Debug for InProcessLlmLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcessLlmLink").field("link", &self.link).finish_non_exhaustive()
    }
}
