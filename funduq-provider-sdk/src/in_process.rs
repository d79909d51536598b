//! The link without a wire: a runtime and a funduq in one process, joined through the whole handshake.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use funduq_contract::{
    Ack, AgentName, Cancel, ConnectErr, ConnectOk, ConnectRefusal, ConnectedProvider, FunduqPort, LinkClosed,
    LinkGone, LinkId, Nonce, Offer, PortError, PublicKey, RunId, Signature, Ticket, Verdict, WrongFunduq,
};
use tokio::sync::{mpsc, watch};

use crate::handshake::Handshake;
use crate::runtime::{Direct, FollowUp, Inner, Route, Runtime};

/// How many verdicts and receipts may wait to be posted; beyond it the link counts as gone.
const MAX_ANSWERS: usize = 4096;

/// Why no in-process link was opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InProcessError {
    /// funduq did not let the provider in.
    #[error("funduq refused the link: {0}")]
    Refused(#[from] ConnectErr),
    /// It is not the funduq that was meant; nothing was published.
    #[error(transparent)]
    WrongFunduq(#[from] WrongFunduq),
    /// funduq did not take the roster.
    #[error("funduq did not take the agents: {0}")]
    Register(#[source] PortError),
}

/// What a refused opening means to a provider that meant the funduq with this key.
pub(crate) fn refused(refusal: ConnectErr, funduq_key: Option<PublicKey>) -> InProcessError {
    match funduq_key {
        // The proof names a key, so it holds at that funduq and at no other.
        Some(named) if refusal.code == ConnectRefusal::BadProof => {
            WrongFunduq::NoProof { pinned: named.fingerprint() }.into()
        }
        _ => refusal.into(),
    }
}

/// An open link of a [`Runtime`] to a funduq in the same process.
///
/// Cloning means the same link. It stays open when every clone is dropped; [`close`](Self::close) ends it.
#[derive(Clone)]
pub struct InProcessLink {
    provider: Arc<Provider>,
    direct: Arc<Direct>,
}

/// What funduq holds of the link.
struct Provider {
    runtime: Arc<Inner>,
    handshake: Handshake,
    direct: OnceLock<Arc<Direct>>,
    answers: Mutex<Option<mpsc::Sender<Answer>>>,
    closed: watch::Sender<Option<LinkClosed>>,
}

enum Answer {
    Verdict { run_id: RunId, attempt: u32, verdict: Verdict, follow_up: FollowUp },
    Ack(Ack),
}

impl InProcessLink {
    /// Opens a link and publishes the runtime's agents: signs the opening, lets funduq answer, checks the
    /// answer, registers.
    ///
    /// `ticket` is one that this funduq issued to the runtime's key, `funduq_key` the funduq's own key, or `None` for a
    /// funduq without an identity. A link that the runtime had open is replaced.
    ///
    /// # Errors
    /// [`InProcessError`]; in every case nothing is published.
    pub async fn open(
        runtime: &Runtime,
        port: Arc<dyn FunduqPort>,
        ticket: Ticket,
        funduq_key: Option<PublicKey>,
    ) -> Result<Self, InProcessError> {
        let concurrency = runtime.capacity().declared();
        let (handshake, connect) = Handshake::begin(runtime.identity(), funduq_key, ticket, concurrency);
        let (answers, answered) = mpsc::channel(MAX_ANSWERS);
        let provider = Arc::new(Provider {
            runtime: runtime.inner().clone(),
            handshake,
            direct: OnceLock::new(),
            answers: Mutex::new(Some(answers)),
            closed: watch::Sender::new(None),
        });
        let opened = port.open(provider.clone(), connect).await;
        let (link, ok) = opened.map_err(|refusal| refused(refusal, funduq_key))?;
        if let Err(wrong) = provider.handshake.confirm(&ok) {
            port.close(link).await;
            return Err(wrong.into());
        }
        let direct = Arc::new(Direct { port: port.clone(), link });
        let open = Self { provider, direct };
        open.attach(&ok, answered).await;
        match port.register(link, runtime.registrations()).await {
            Ok(()) => Ok(open),
            Err(error) => {
                open.close().await;
                Err(InProcessError::Register(error))
            }
        }
    }

    async fn attach(&self, ok: &ConnectOk, answered: mpsc::Receiver<Answer>) {
        // Set once: this is the only caller, and it is called once for each provider.
        let _first = self.provider.direct.set(self.direct.clone());
        let runtime = &self.provider.runtime;
        let unknown = runtime.attach(&Route::Direct(self.direct.clone()), ok);
        for run_id in unknown {
            tracing::info!(run = %run_id, "funduq knows a run that this process does not; finishing it");
            if let Err(error) = self.direct.port.finish(self.direct.link, &run_id).await {
                tracing::debug!(run = %run_id, %error, "funduq did not take the finish");
            }
        }
        tokio::spawn(post_answers(runtime.clone(), self.direct.clone(), answered));
    }

    /// Deletes the record of an agent, which has to have no conversation behind it.
    ///
    /// # Errors
    /// As [`FunduqPort::delete`].
    pub async fn delete(&self, name: &AgentName) -> Result<(), PortError> {
        self.direct.port.delete(self.direct.link, name).await
    }

    /// Publishes the runtime's agents again: after funduq took them off its roster.
    ///
    /// # Errors
    /// As [`FunduqPort::register`].
    pub async fn register(&self) -> Result<(), PortError> {
        let agents = self.runtime().registrations();
        self.direct.port.register(self.direct.link, agents).await
    }

    /// The runtime that this link serves.
    pub fn runtime(&self) -> Runtime {
        Runtime::of(self.provider.runtime.clone())
    }

    /// The link's number at funduq.
    pub fn link_id(&self) -> LinkId {
        self.direct.link
    }

    /// Waits until the link is closed, by funduq for the reason answered, or here (`None`).
    pub async fn closed(&self) -> Option<LinkClosed> {
        let mut closed = self.provider.closed.subscribe();
        loop {
            if let Some(reason) = *closed.borrow_and_update() {
                return Some(reason);
            }
            if self.provider.is_closed() || closed.changed().await.is_err() {
                return *closed.borrow();
            }
        }
    }

    /// Takes the link down: funduq takes its agents off the roster at once. Held runs go on and wait for
    /// another link; [`Runtime::stop`] ends them first.
    pub async fn close(&self) {
        self.provider.shut(None);
        self.direct.port.close(self.direct.link).await;
    }
}

/// Posts verdicts and receipts in their order; a run begins when its verdict is posted, so that none of
/// its events can come before.
async fn post_answers(runtime: Arc<Inner>, direct: Arc<Direct>, mut answers: mpsc::Receiver<Answer>) {
    let route = Route::Direct(direct.clone());
    while let Some(answer) = answers.recv().await {
        let (port, link) = (&direct.port, direct.link);
        match answer {
            Answer::Verdict { run_id, attempt, verdict, follow_up } => {
                match port.answer(link, &run_id, attempt, verdict).await {
                    Ok(()) => runtime.follow_up(follow_up, &route),
                    Err(error) => {
                        tracing::debug!(run = %run_id, %error, "funduq did not take the answer to an offer");
                        runtime.take_back(follow_up);
                    }
                }
            }
            Answer::Ack(ack) => {
                if let Err(error) = port.ack(link, ack).await {
                    tracing::debug!(%error, "funduq did not take a receipt");
                }
            }
        }
    }
}

impl Provider {
    fn is_closed(&self) -> bool {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn shut(&self, reason: Option<LinkClosed>) {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(direct) = self.direct.get() {
            self.runtime.detach(&Route::Direct(direct.clone()));
        }
        self.closed.send_replace(reason);
    }

    /// A place for one answer, taken before anything is decided.
    fn place(&self) -> Result<mpsc::OwnedPermit<Answer>, LinkGone> {
        if self.direct.get().is_none() {
            return Err(LinkGone);
        }
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner).clone();
        answers.ok_or(LinkGone)?.try_reserve_owned().map_err(|_| LinkGone)
    }
}

#[async_trait]
impl ConnectedProvider for Provider {
    fn public_key(&self) -> PublicKey {
        self.runtime.identity.public_key()
    }

    fn concurrency(&self) -> Option<u32> {
        self.runtime.capacity().declared()
    }

    fn deliver(&self, offer: Offer) -> Result<(), LinkGone> {
        let place = self.place()?;
        let (run_id, attempt) = (offer.run.run_id.clone(), offer.attempt);
        let decision = self.runtime.decide(offer);
        let (verdict, follow_up) = (decision.verdict, decision.follow_up);
        place.send(Answer::Verdict { run_id, attempt, verdict, follow_up });
        Ok(())
    }

    fn cancel(&self, cancel: Cancel) -> Result<(), LinkGone> {
        let place = self.place()?;
        place.send(Answer::Ack(self.runtime.cancel(&cancel.run_id)));
        Ok(())
    }

    fn received(&self, run_id: &RunId, number: u64) {
        if let Some(run) = self.runtime.run(run_id) {
            run.received(number);
        }
    }

    fn refused(&self, run_id: &RunId, error: PortError) {
        if let Some(run) = self.runtime.run(run_id) {
            run.refused(&error);
        }
    }

    fn closed(&self, reason: LinkClosed) {
        self.shut(Some(reason));
    }

    async fn sign_connect(
        &self,
        _funduq_key: Option<PublicKey>,
        _ticket: Ticket,
        _nonce: Nonce,
    ) -> Option<Signature> {
        // The proof came with the opening; this link has nothing else to sign.
        None
    }

    async fn confirm_connect(&self, ok: &ConnectOk) -> Result<(), WrongFunduq> {
        self.handshake.confirm(ok)
    }
}

impl fmt::Debug for InProcessLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcessLink").field("link", &self.direct.link).finish_non_exhaustive()
    }
}
