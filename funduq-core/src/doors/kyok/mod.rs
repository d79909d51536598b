//! Keep your own key: an agent spends a caller's LLM offering for one run, and nobody lends a key.
//!
//! The caller opts in, funduq grants the agent a token with the run, the agent calls with the token as its bearer and its
//! own key's signature over the body, and the provider that holds the model's key answers. funduq relays the body and
//! the chunks as they come and reads none of them but to collapse a stream for a caller who wants one answer.

mod collapse;
mod token;

use funduq_agui::RawObject;
use funduq_contract::{
    AgentAddress, Complete, CompletionId, DeliveredCompletion, KyokOptIn, PublicKey, RawJson, RunId,
    Signature, ThreadId, is_fresh, kyok_call_payload, verify_signature,
};

pub use collapse::{Collapse, CollapseError};
pub use token::TokenSecret;
pub(crate) use token::{Grant, InvalidToken};

use super::caller::take_bag;
use super::open::DoorContext;
use crate::links::{News, Reading};
use crate::record::{Run, RunStatus, StoreError};
use crate::{clock, ids};

/// The KYOK door as an object.
#[derive(Clone)]
pub struct KyokAdapter {
    context: DoorContext,
}

impl std::fmt::Debug for KyokAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KyokAdapter").finish_non_exhaustive()
    }
}

/// Why a call was not relayed, or its answer broke off. Each says in its documentation which HTTP status fits.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum KyokError {
    /// The bearer is no token of this funduq, or has expired. 401.
    #[error("the bearer is not a token of this funduq, or has expired")]
    InvalidToken,
    /// The signature is not the agent's key's over this bearer, time and body. 401.
    #[error("the signature is not the agent's over this token, timestamp and body")]
    BadSignature,
    /// The timestamp is more than a minute away from now. 401.
    #[error("the timestamp is more than 60 seconds away from now")]
    Stale,
    /// The run has ended, or was asked to stop, and its token died with it. 403.
    #[error("the run of this token is not live any more")]
    RunNotLive,
    /// The body is not a chat-completion request. 400.
    #[error("the body is not a chat-completion request: {0}")]
    InvalidBody(String),
    /// The run's caller bound it to no offering. 503.
    #[error("the run is bound to no LLM offering")]
    NoBinding,
    /// Nobody serves the offering right now. 503.
    #[error("nobody serves the LLM offering {0} right now")]
    NotAttached(AgentAddress),
    /// The provider refused by its own policy, in these words of its own, relayed intact. 403.
    #[error("the LLM provider refused")]
    Refused(RawObject),
    /// The provider failed, in these words of its own. 502.
    #[error("the LLM provider failed")]
    Failed(RawObject),
    /// The provider's link went in mid-answer. 502.
    #[error("the LLM provider disconnected before its answer was whole")]
    Disconnected,
    /// The agent was too far behind in reading, and what waited for it was given up. 503.
    #[error(
        "the agent did not read its completion, so what waited for it was given up; ask again and read as it comes"
    )]
    AgentTooSlow,
    /// The record could not be read. 503.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A call as the agent made it.
#[derive(Debug)]
pub struct KyokCall<'a> {
    /// The bearer of the call: the token.
    pub bearer: &'a str,
    /// What `Funduq-Timestamp` says, in Unix seconds.
    pub timestamp: i64,
    /// What `Funduq-Signature` says.
    pub signature: Signature,
    /// The request's body, byte for byte.
    pub body: &'a [u8],
}

/// A call whose proofs hold. Nothing has been asked of anybody yet.
#[derive(Debug)]
pub struct ProvenCall<'a> {
    grant: Grant,
    body: &'a [u8],
}

impl ProvenCall<'_> {
    /// The agent's key, which signed the call.
    pub fn key(&self) -> &PublicKey {
        &self.grant.provider_key
    }
}

/// The chunks of an answer. Dropping it before the end tells the provider to stop.
pub struct CompletionStream {
    reading: Reading,
    context: DoorContext,
    streaming: bool,
    ended: bool,
    run: RunId,
    thread: ThreadId,
    llm_provider: AgentAddress,
}

impl std::fmt::Debug for CompletionStream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CompletionStream").field("id", &self.reading.id).finish_non_exhaustive()
    }
}

impl CompletionStream {
    /// Whether the agent asked for a stream (`stream: true`) and not for one answer.
    pub fn is_streaming(&self) -> bool {
        self.streaming
    }

    /// The run whose agent asks.
    pub fn run_id(&self) -> &RunId {
        &self.run
    }

    /// That run's thread.
    pub fn thread_id(&self) -> &ThreadId {
        &self.thread
    }

    /// The offering that answers.
    pub fn llm_provider(&self) -> &AgentAddress {
        &self.llm_provider
    }

    /// The next chunk as it came; `None` when the answer is whole.
    ///
    /// # Errors
    /// [`KyokError::Refused`], [`KyokError::Failed`], [`KyokError::Disconnected`] or [`KyokError::AgentTooSlow`]; nothing
    /// comes after it.
    pub async fn next(&mut self) -> Result<Option<RawJson>, KyokError> {
        if self.ended {
            return Ok(None);
        }
        let ended = match self.context.llm().next(&self.reading).await {
            News::Chunk(chunk) => return Ok(Some(chunk)),
            News::End => Ok(None),
            News::Failed { error, refused: true } => Err(KyokError::Refused(error)),
            News::Failed { error, refused: false } => Err(KyokError::Failed(error)),
            News::LinkLost => Err(KyokError::Disconnected),
            News::GivenUp => Err(KyokError::AgentTooSlow),
        };
        self.ended = true;
        ended
    }
}

impl Drop for CompletionStream {
    fn drop(&mut self) {
        if !self.ended {
            self.context.llm().abandon(&self.reading.id);
        }
    }
}

/// What funduq reads of a request.
#[derive(serde::Deserialize)]
struct Request {
    #[serde(rename = "model")]
    _model: Option<String>,
    #[serde(rename = "messages")]
    _messages: Vec<serde::de::IgnoredAny>,
    #[serde(default)]
    stream: Option<bool>,
}

impl KyokAdapter {
    pub(crate) fn new(context: DoorContext) -> Self {
        Self { context }
    }

    /// Whom a bearer speaks for, and which offering it may use.
    ///
    /// # Errors
    /// As [`KyokAdapter::complete`], up to the binding.
    pub async fn offering_of(&self, bearer: &str) -> Result<AgentAddress, KyokError> {
        let grant = self.grant(bearer)?;
        let (run, _) = self.live_run(&grant).await?;
        binding(&run).map(|kyok| kyok.llm_provider)
    }

    /// Relays a call: verifies token, signature and run, and hands the body to whoever serves the run's offering.
    ///
    /// # Errors
    /// Every [`KyokError`] but those of an answer that breaks off.
    pub async fn complete(&self, call: KyokCall<'_>) -> Result<CompletionStream, KyokError> {
        self.complete_proven(self.prove(call)?).await
    }

    /// Verifies the token and the signature of a call, for a host that has a say about the key behind it before the call is
    /// relayed.
    ///
    /// # Errors
    /// [`KyokError::InvalidToken`], [`KyokError::Stale`], [`KyokError::BadSignature`].
    pub fn prove<'a>(&self, call: KyokCall<'a>) -> Result<ProvenCall<'a>, KyokError> {
        let grant = self.grant(call.bearer)?;
        if !is_fresh(call.timestamp, clock::now_seconds()) {
            return Err(KyokError::Stale);
        }
        let payload = kyok_call_payload(call.bearer, call.timestamp, call.body);
        verify_signature(&grant.provider_key, &call.signature, &payload)
            .map_err(|_| KyokError::BadSignature)?;
        Ok(ProvenCall { grant, body: call.body })
    }

    /// As [`complete`](Self::complete), for a call whose proofs hold.
    ///
    /// # Errors
    /// Those of `complete` that come after them.
    pub async fn complete_proven(&self, call: ProvenCall<'_>) -> Result<CompletionStream, KyokError> {
        let request: Request =
            serde_json::from_slice(call.body).map_err(|error| KyokError::InvalidBody(error.to_string()))?;
        let body: RawObject =
            serde_json::from_slice(call.body).map_err(|error| KyokError::InvalidBody(error.to_string()))?;
        let (run, agent) = self.live_run(&call.grant).await?;
        let kyok = binding(&run)?;
        let id = CompletionId::new(ids::text()).map_err(|error| KyokError::InvalidBody(error.to_string()))?;
        let completion = DeliveredCompletion {
            completion_id: id,
            run_id: run.id.clone(),
            agent,
            llm_name: kyok.llm_provider.name.clone(),
            context: kyok.context,
            actor_chain: run.chain,
            body,
        };
        let reading = self.context.llm().call(&kyok.llm_provider, Complete { completion });
        let llm_provider = kyok.llm_provider;
        let Some(reading) = reading else { return Err(KyokError::NotAttached(llm_provider)) };
        let (streaming, context) = (request.stream.unwrap_or(false), self.context.clone());
        let (run, thread) = (run.id, run.thread_id);
        Ok(CompletionStream { reading, context, streaming, ended: false, run, thread, llm_provider })
    }

    fn grant(&self, bearer: &str) -> Result<Grant, KyokError> {
        let secret = &self.context.dispatch.token_secret;
        secret.verify(bearer, clock::now_seconds()).map_err(|InvalidToken| KyokError::InvalidToken)
    }

    /// The run of a grant, while its agent holds it and nobody has asked it to stop.
    ///
    /// An agent may call in the moment in which it takes the run on, and its call overtakes its verdict, which goes another
    /// way: the call waits for the verdict as long as the offer does.
    async fn live_run(&self, grant: &Grant) -> Result<(Run, AgentAddress), KyokError> {
        let agent = AgentAddress::new(grant.provider_key, grant.agent_name.clone());
        let live = self.context.dispatch.live(&grant.run_id).filter(|live| live.agent == agent);
        let live = live.ok_or(KyokError::RunNotLive)?;
        let patience = self.context.dispatch.settings.offer_timeout;
        let claimed = tokio::time::timeout(patience, live.log.claimed()).await;
        if claimed.is_err() || live.log.status() != Some(RunStatus::Running) {
            return Err(KyokError::RunNotLive);
        }
        let id = grant.run_id.clone();
        let run = self.context.record().read(move |store| store.run(&id)).await?;
        Ok((run.ok_or(KyokError::RunNotLive)?, agent))
    }
}

/// The opt-in of a run, which stays in its bag as sent.
fn binding(run: &Run) -> Result<KyokOptIn, KyokError> {
    opt_in(run).ok_or(KyokError::NoBinding)
}

/// The opt-in of a run, if its caller made one.
pub(crate) fn opt_in(run: &Run) -> Option<KyokOptIn> {
    let mut bag = run.input.forwarded_props.as_ref()?.as_object()?.clone();
    take_bag("forwardedProps", &mut bag).ok()?.kyok
}
