//! The LLM link: what funduq holds of a party with a model's key, and what that party may say to funduq.

use super::{LinkClosed, LinkGone, LinkId, PortError};
use crate::keys::{PublicKey, Signature};
use crate::shapes::{
    CancelCompletion, Chunk, Complete, CompletionEnd, CompletionFailed, Connect, ConnectErr, ConnectOk,
    LlmRegistration, WrongFunduq,
};
use crate::tickets::{Nonce, Ticket};
use async_trait::async_trait;
use std::sync::Arc;

/// What funduq holds of an open LLM link. As with [`ConnectedProvider`](super::ConnectedProvider), nothing waits.
#[async_trait]
pub trait ConnectedLlmProvider: Send + Sync + 'static {
    /// The key that this link proves, or is to prove.
    fn public_key(&self) -> PublicKey;

    /// Hands a completion over. What comes back is accepted on this very link only.
    ///
    /// # Errors
    /// [`LinkGone`] where it cannot arrive any more.
    fn complete(&self, complete: Complete) -> Result<(), LinkGone>;

    /// Says that nobody reads a completion any more.
    ///
    /// # Errors
    /// [`LinkGone`] where it cannot arrive any more.
    fn cancel_completion(&self, cancel: CancelCompletion) -> Result<(), LinkGone>;

    /// funduq lets go of this link.
    fn closed(&self, reason: LinkClosed);

    /// Signs an opening where the key is in this process; `None` where the proof came with the opening.
    async fn sign_connect(
        &self,
        funduq_key: Option<PublicKey>,
        ticket: Ticket,
        nonce: Nonce,
    ) -> Option<Signature>;

    /// Checks funduq's answer before the link counts as open.
    ///
    /// # Errors
    /// [`WrongFunduq`] where the one who answered is not the funduq that the provider pinned.
    async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq>;
}

/// What an LLM provider may say to funduq. Each call but `open_llm` names the link that it comes over.
#[async_trait]
pub trait LlmPort: Send + Sync + 'static {
    /// Opens an LLM link, with the same handshake as an agent link.
    ///
    /// # Errors
    /// [`ConnectErr`] with the reason.
    async fn open_llm(
        &self,
        provider: Arc<dyn ConnectedLlmProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr>;

    /// Publishes the link's offerings: exactly these.
    ///
    /// # Errors
    /// [`PortError::LinkClosed`], or [`PortError::Invalid`] for a name given twice.
    async fn register_llm(&self, link: LinkId, offerings: LlmRegistration) -> Result<(), PortError>;

    /// One chunk of a completion that was handed to this link. Waits while its reader is far behind and no
    /// other completion is on this link.
    ///
    /// # Errors
    /// [`PortError::Invalid`] where this link has no such completion; stop making it.
    async fn chunk(&self, link: LinkId, chunk: Chunk) -> Result<(), PortError>;

    /// A completion is whole.
    ///
    /// # Errors
    /// As for [`chunk`](Self::chunk).
    async fn end(&self, link: LinkId, end: CompletionEnd) -> Result<(), PortError>;

    /// A completion was refused or failed; the provider's object reaches the agent.
    ///
    /// # Errors
    /// As for [`chunk`](Self::chunk).
    async fn failed(&self, link: LinkId, failed: CompletionFailed) -> Result<(), PortError>;

    /// The connection ended. Completions in flight on it fail; a replaced link's end takes nothing else with it.
    async fn close_llm(&self, link: LinkId);
}
