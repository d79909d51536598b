//! What an agent is given for one run: the input, the bag, the chain, the events to emit, the signal to stop.

use std::fmt;
use std::future::Future;
use std::sync::{Arc, OnceLock};

use funduq_agui::{ForwardedProps, Message, RawObject, RelayedInput, RelayedMessage, RunAgentInput};
use funduq_contract::{
    ActorChain, AgentAddress, AgentName, ChainError, FunduqProps, PortError, RESERVED_KEY, RunId, ThreadId,
};
use tokio_util::sync::CancellationToken;

use crate::agent::Cancelled;
use crate::chain::CallerChain;
use crate::identity::ProviderIdentity;
use crate::kyok::KyokSigner;
use crate::runtime::{Closed, Delivered, Inner, Route, Run};
use crate::sink::EventSink;

/// One run, as its agent sees it. Cloning is cheap and means the same run.
#[derive(Clone)]
pub struct RunContext {
    shared: Arc<Shared>,
}

struct Shared {
    run: Arc<Run>,
    runtime: Arc<Inner>,
    thread_id: ThreadId,
    relayed: RelayedInput,
    input: Arc<RunAgentInput>,
    bag: RawObject,
    funduq: FunduqProps,
    events: EventSink,
    chain: OnceLock<Result<Option<CallerChain>, ChainError>>,
}

/// Why the thread's messages could not be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The run has ended.
    #[error("the run has ended, so its thread cannot be asked for any more")]
    RunOver,
    /// funduq did not answer the question.
    #[error("funduq did not give the thread's messages: {0}")]
    Refused(#[source] PortError),
}

/// Why there is no chain to pass on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoChain {
    /// The run came without one.
    #[error("this run has no chain to extend")]
    Absent,
    /// It cannot be extended.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

impl RunContext {
    pub(crate) fn new(runtime: &Arc<Inner>, run: &Arc<Run>, delivered: Delivered) -> Self {
        let Delivered { thread_id, relayed, input, funduq } = delivered;
        let mut bag = match &relayed.forwarded_props {
            Some(ForwardedProps::Object(bag)) => bag.clone(),
            Some(ForwardedProps::Other(_)) | None => RawObject::new(),
        };
        bag.remove(RESERVED_KEY);
        let events = EventSink::new(run.clone(), &thread_id, relayed.parent_run_id.clone());
        Self {
            shared: Arc::new(Shared {
                run: run.clone(),
                runtime: runtime.clone(),
                thread_id,
                relayed,
                input,
                bag,
                funduq,
                events,
                chain: OnceLock::new(),
            }),
        }
    }

    /// The run's id, which is funduq's.
    pub fn run_id(&self) -> &RunId {
        self.shared.run.id()
    }

    /// The thread's id, which is funduq's.
    pub fn thread_id(&self) -> &ThreadId {
        &self.shared.thread_id
    }

    /// The name that the agent is served under.
    pub fn agent_name(&self) -> &AgentName {
        self.shared.run.agent.name()
    }

    /// What the agent was asked.
    pub fn input(&self) -> &Arc<RunAgentInput> {
        &self.shared.input
    }

    /// The same as it came, member for member: to hand on to another AG-UI agent.
    pub fn relayed_input(&self) -> &RelayedInput {
        &self.shared.relayed
    }

    /// The text of the last message that a user wrote, if there is one.
    pub fn user_text(&self) -> Option<String> {
        self.shared.input.messages.iter().rev().find_map(|message| match message {
            Message::User(user) => Some(user.content.text().into_owned()),
            _ => None,
        })
    }

    /// The caller's bag (`forwardedProps`), as sent, without what funduq added. Empty when the caller
    /// sent none, or something else than an object; that is in [`input`](Self::input).
    pub fn bag(&self) -> &RawObject {
        &self.shared.bag
    }

    /// What funduq says about the run: the KYOK grant, the chain, the run that is addressed.
    pub fn funduq(&self) -> &FunduqProps {
        &self.shared.funduq
    }

    /// The caller's chain, verified; `None` when the run has none.
    ///
    /// # Errors
    /// What is wrong with the chain that came.
    pub fn chain(&self) -> Result<Option<&CallerChain>, &ChainError> {
        let checked = self.shared.chain.get_or_init(|| {
            let Some(tokens) = &self.shared.funduq.actor_chain else { return Ok(None) };
            CallerChain::check(tokens, self.shared.runtime.funduq_key(), &self.address()).map(Some)
        });
        checked.as_ref().map(Option::as_ref)
    }

    /// The chain with this provider's own hop at its end: what an agent presents when it calls another one
    /// on behalf of its caller.
    ///
    /// # Errors
    /// [`NoChain`] when the run has no chain, or one that cannot be extended.
    pub fn extend_chain(&self) -> Result<ActorChain, NoChain> {
        let tokens = self.shared.funduq.actor_chain.as_ref().ok_or(NoChain::Absent)?;
        Ok(tokens.extend(self.identity())?)
    }

    /// What signs calls to the model that the run's caller lends it; `None` when the caller has not opted in.
    pub fn kyok(&self) -> Option<KyokSigner> {
        let grant = self.shared.funduq.kyok.as_ref()?;
        Some(KyokSigner::new(self.identity().clone(), grant))
    }

    /// Where this agent is: its provider's key and its name.
    pub fn address(&self) -> AgentAddress {
        AgentAddress::new(self.identity().public_key(), self.agent_name().clone())
    }

    /// The provider that serves this agent, to sign with.
    pub fn identity(&self) -> &ProviderIdentity {
        &self.shared.runtime.identity
    }

    /// Where the run's events go.
    pub fn events(&self) -> &EventSink {
        &self.shared.events
    }

    /// Fired when funduq asks to stop the run, and when nobody listens to it any more.
    pub fn cancellation(&self) -> &CancellationToken {
        &self.shared.run.cancel
    }

    /// Whether the run should stop.
    pub fn is_cancelled(&self) -> bool {
        self.shared.run.cancel.is_cancelled()
    }

    /// What `work` comes to, unless the run is asked to stop before: then `work` is dropped.
    ///
    /// # Errors
    /// [`Cancelled`], which `?` hands on so that the run ends as cancelled.
    pub async fn or_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, Cancelled> {
        tokio::select! {
            biased;
            () = self.shared.run.cancel.cancelled() => Err(Cancelled),
            done = work => Ok(done),
        }
    }

    /// The next input that an interjection hook [told](crate::InFlight::tell) this run. Waits for one; dropping
    /// the future loses none.
    pub async fn interjection(&self) -> Arc<RunAgentInput> {
        self.shared.run.told().await
    }

    /// The thread's newest messages, at most `limit`, oldest first, as funduq has them in its record.
    ///
    /// Without a link it waits until there is one again.
    ///
    /// # Errors
    /// [`HistoryError`] when the run has ended or funduq does not give them.
    pub async fn history(&self, limit: u32) -> Result<Vec<RelayedMessage>, HistoryError> {
        let run = &self.shared.run;
        loop {
            let route = run.route();
            let answer = match &route {
                Route::Detached => Err(PortError::LinkClosed),
                Route::Direct(direct) => direct.port.thread_messages(direct.link, run.id(), limit).await,
                // A link that goes takes its unanswered questions with it.
                Route::Queued(queue) => match queue.ask(run.id(), limit).await {
                    Ok(answer) => answer,
                    Err(_gone) => Err(PortError::LinkClosed),
                },
            };
            match answer {
                Ok(messages) => return Ok(messages),
                Err(PortError::LinkClosed) => {
                    run.route_changed(&route).await.map_err(|Closed| HistoryError::RunOver)?;
                }
                Err(error) => return Err(HistoryError::Refused(error)),
            }
        }
    }
}

impl fmt::Debug for RunContext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunContext")
            .field("run_id", self.run_id())
            .field("thread_id", self.thread_id())
            .field("agent", self.agent_name())
            .finish_non_exhaustive()
    }
}
