//! The agent link: what funduq holds of a provider, and what a provider may say to funduq.

use super::{LinkClosed, LinkGone, LinkId, PortError};
use crate::ids::{AgentName, RunId};
use crate::keys::{PublicKey, Signature};
use crate::shapes::{Ack, Cancel, Connect, ConnectErr, ConnectOk, Offer, Registration, Verdict, WrongFunduq};
use crate::tickets::{Nonce, Ticket};
use async_trait::async_trait;
use funduq_agui::RelayedMessage;
use std::sync::Arc;

/// What funduq holds of an open link.
///
/// None of the plain methods waits: each hands something over and returns, and what the provider has to say to it
/// comes back through [`FunduqPort`].
#[async_trait]
pub trait ConnectedProvider: Send + Sync + 'static {
    /// The key that this link proves, or is to prove.
    fn public_key(&self) -> PublicKey;

    /// How many runs the provider says it takes at once; `None` means no limit.
    fn concurrency(&self) -> Option<u32>;

    /// Hands an offer over. The answer comes back through [`FunduqPort::answer`].
    ///
    /// # Errors
    /// [`LinkGone`] where it cannot arrive any more.
    fn deliver(&self, offer: Offer) -> Result<(), LinkGone>;

    /// Asks for a run to be stopped. The receipt comes back through [`FunduqPort::ack`], the end as an event.
    ///
    /// # Errors
    /// [`LinkGone`] where it cannot arrive any more.
    fn cancel(&self, cancel: Cancel) -> Result<(), LinkGone>;

    /// The run's events up to this number are in the record. A link over a wire passes it on, so that the provider
    /// can let go of what it would resend; in one process nothing is ever resent.
    fn received(&self, run_id: &RunId, number: u64) {
        let _ = (run_id, number);
    }

    /// A report or an answer of this provider was judged by the run's owner and not taken: the run is not held by this
    /// key or has ended ([`PortError::NotHeld`]), or events are missing before it ([`PortError::Gap`]). Reports are
    /// posted and not awaited, so this is how their refusal comes back; a link over a wire passes it on as an `err`
    /// frame with the run's id.
    fn refused(&self, run_id: &RunId, error: PortError) {
        let _ = (run_id, error);
    }

    /// funduq lets go of this link. Nothing more is handed to it, and nothing it says is heard.
    fn closed(&self, reason: LinkClosed);

    /// Signs an opening where the key is in this process; `None` where the proof came with the opening.
    async fn sign_connect(
        &self,
        funduq_key: Option<PublicKey>,
        ticket: Ticket,
        nonce: Nonce,
    ) -> Option<Signature>;

    /// Checks funduq's answer before the link counts as open: a provider that fails it here never serves.
    ///
    /// # Errors
    /// [`WrongFunduq`] where the one who answered is not the funduq that the provider pinned.
    async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq>;
}

/// What a provider may say to funduq. Each call but `open` names the link that it comes over.
#[async_trait]
pub trait FunduqPort: Send + Sync + 'static {
    /// Opens a link: spends the ticket, checks the proof, answers with funduq's own, lets the provider confirm it.
    /// An open link serves nothing until it registers; one that the same key had open is replaced.
    ///
    /// # Errors
    /// [`ConnectErr`] with the reason; a ticket for another key is not spent by the attempt.
    async fn open(
        &self,
        provider: Arc<dyn ConnectedProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr>;

    /// Publishes the link's agents: exactly these, so that a name left out is offline from now on.
    ///
    /// # Errors
    /// [`PortError::LinkClosed`], or [`PortError::Invalid`] for a name given twice.
    async fn register(&self, link: LinkId, agents: Vec<Registration>) -> Result<(), PortError>;

    /// Deletes the record of an agent that this link serves.
    ///
    /// # Errors
    /// [`PortError::UnknownAgent`], or [`PortError::AgentInUse`].
    async fn delete(&self, link: LinkId, name: &AgentName) -> Result<(), PortError>;

    /// The newest messages, oldest first, of the thread of a run that this key holds: at most `limit`, and as many as
    /// funduq sends at once (8 MiB).
    ///
    /// # Errors
    /// [`PortError::NotHeld`].
    async fn thread_messages(
        &self,
        link: LinkId,
        run_id: &RunId,
        limit: u32,
    ) -> Result<Vec<RelayedMessage>, PortError>;

    /// Answers an offer, from the provider's own state and at once: the thread's next run waits for it. Posted to the
    /// run's owner and not awaited; an answer to another attempt than the open one matches nothing.
    ///
    /// # Errors
    /// [`PortError::LinkClosed`]. What the owner makes of it comes back through [`ConnectedProvider::refused`].
    async fn answer(
        &self,
        link: LinkId,
        run_id: &RunId,
        attempt: u32,
        verdict: Verdict,
    ) -> Result<(), PortError>;

    /// Reports one event of a run, as the bytes that the agent made. Numbers count from 1 in each run: one that was
    /// reported before is dropped, one that leaves some out is refused. Posted to the run's owner; waits only while
    /// its inbox is full.
    ///
    /// # Errors
    /// [`PortError::LinkClosed`], or [`PortError::NotHeld`] where that is known at once. What the owner makes of it
    /// comes back through [`ConnectedProvider::received`] and [`ConnectedProvider::refused`].
    async fn report_event(
        &self,
        link: LinkId,
        run_id: &RunId,
        number: u64,
        event: Arc<str>,
    ) -> Result<(), PortError>;

    /// Says that nothing more will come of a run. After its terminal event this does nothing.
    ///
    /// # Errors
    /// [`PortError::NotHeld`] where the run never was this key's.
    async fn finish(&self, link: LinkId, run_id: &RunId) -> Result<(), PortError>;

    /// The receipt of a cancel.
    ///
    /// # Errors
    /// [`PortError::LinkClosed`].
    async fn ack(&self, link: LinkId, ack: Ack) -> Result<(), PortError>;

    /// The connection ended. For a link that was replaced this does nothing: its replacement stays.
    async fn close(&self, link: LinkId);
}
