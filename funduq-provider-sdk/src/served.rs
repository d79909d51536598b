//! An agent with what funduq publishes about it and how it takes its turns.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use funduq_agui::{RawObject, RunAgentInput};
use funduq_contract::{AgentName, InvalidName, Registration, RunId};

use crate::agent::{Agent, AgentResult};
use crate::context::RunContext;
use crate::runtime::Run;

/// One agent as a provider serves it.
#[derive(Clone)]
pub struct ServedAgent {
    name: AgentName,
    description: String,
    agent_card_extra: Option<RawObject>,
    metadata: Option<RawObject>,
    agent: Arc<dyn Agent>,
    turns: Turns,
}

/// How the runs of one agent share its attention.
#[derive(Clone)]
pub(crate) enum Turns {
    OnePerThread,
    AllAtOnce,
    Interject(Arc<dyn Interjections>),
}

impl ServedAgent {
    /// Serves `agent` under `name`, one turn at a time per thread.
    ///
    /// # Errors
    /// [`InvalidName`] when the name is empty, longer than 128 bytes or no path segment.
    pub fn new(name: &str, agent: impl Agent) -> Result<Self, InvalidName> {
        Ok(Self {
            name: name.parse()?,
            description: String::new(),
            agent_card_extra: None,
            metadata: None,
            agent: Arc::new(agent),
            turns: Turns::OnePerThread,
        })
    }

    /// What the agent is for, in a sentence; shown in its A2A card and in the roster.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = description.into();
        self
    }

    /// Members that funduq adds to the agent's A2A card as they stand.
    #[must_use]
    pub fn agent_card_extra(mut self, extra: RawObject) -> Self {
        self.agent_card_extra = Some(extra);
        self
    }

    /// Anything else that readers of the roster should know; funduq does not read it.
    #[must_use]
    pub fn metadata(mut self, metadata: RawObject) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Runs of one thread start as they come, beside each other, instead of one after another.
    #[must_use]
    pub fn all_at_once(mut self) -> Self {
        self.turns = Turns::AllAtOnce;
        self
    }

    /// A run that addresses one in flight goes to `hook` at once; every other run takes its turn in its thread.
    ///
    /// With this the agent is published as one that takes interjections. A run whose
    /// addressed run has ended by the time it arrives is an ordinary next turn. An interjection
    /// does not wait for a running place, but it counts as a run held: give a limited
    /// [`Capacity`](crate::Capacity) a queue.
    #[must_use]
    pub fn on_interjection(mut self, hook: impl Interjections) -> Self {
        self.turns = Turns::Interject(Arc::new(hook));
        self
    }

    /// The name it is served under.
    pub fn name(&self) -> &AgentName {
        &self.name
    }

    /// Whether it takes interjections: whether it has a hook for them.
    pub fn takes_interjections(&self) -> bool {
        matches!(self.turns, Turns::Interject(_))
    }

    /// What is published.
    pub fn registration(&self) -> Registration {
        Registration {
            name: self.name.clone(),
            description: self.description.clone(),
            agent_card_extra: self.agent_card_extra.clone(),
            metadata: self.metadata.clone(),
            takes_interjections: self.takes_interjections(),
        }
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.turns
    }

    pub(crate) fn agent(&self) -> &dyn Agent {
        &*self.agent
    }
}

impl fmt::Debug for ServedAgent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServedAgent")
            .field("name", &self.name)
            .field("takes_interjections", &self.takes_interjections())
            .finish_non_exhaustive()
    }
}

/// What happens to a run that addresses one in flight. A closure of the two arguments will do.
///
/// The interjecting run is a run of its own: it has its own events and its own end, and is
/// finished when the hook returns, like any other.
#[async_trait]
pub trait Interjections: Send + Sync + 'static {
    /// Answers `run`, which speaks to `target`.
    ///
    /// # Errors
    /// Whatever ends the interjecting run; `target` goes on.
    async fn interject(&self, run: RunContext, target: InFlight) -> AgentResult;
}

#[async_trait]
impl<F, R> Interjections for F
where
    F: Fn(RunContext, InFlight) -> R + Send + Sync + 'static,
    R: Future<Output = AgentResult> + Send + 'static,
{
    async fn interject(&self, run: RunContext, target: InFlight) -> AgentResult {
        self(run, target).await
    }
}

/// The run in flight that an interjection addresses.
#[derive(Clone)]
pub struct InFlight {
    run: Arc<Run>,
}

impl InFlight {
    /// How many interjections may wait for the agent in flight to look.
    pub const MAX_WAITING: usize = 32;

    pub(crate) fn new(run: Arc<Run>) -> Self {
        Self { run }
    }

    /// The id of the run in flight.
    pub fn run_id(&self) -> &RunId {
        self.run.id()
    }

    /// Hands an input to the agent in flight, which takes it by [`RunContext::interjection`].
    ///
    /// `false` when that run has ended or [`MAX_WAITING`](Self::MAX_WAITING) inputs are waiting for it already.
    #[must_use = "when it was not taken, the interjecting run has to be answered in another way"]
    pub fn tell(&self, input: Arc<RunAgentInput>) -> bool {
        self.run.tell(input)
    }
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight").field("run", self.run.id()).finish()
    }
}
