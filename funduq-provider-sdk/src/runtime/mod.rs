//! The provider's side of dispatch: which runs are held, whose turn it is, what is owed to funduq. It knows no wire.

mod attachment;
mod capacity;
mod drive;
mod outbox;
mod queue;
mod route;
mod run;
mod schedule;
mod stop;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use funduq_agui::{ForwardedProps, RelayedInput, RunAgentInput};
use funduq_contract::{
    Ack, AgentName, ConnectOk, FunduqProps, Offer, PublicKey, RESERVED_KEY, Registration, RunId, ThreadId,
    Verdict,
};
use tokio::sync::Notify;

pub use attachment::{Attachment, Stuck};
pub use capacity::Capacity;
pub use outbox::BufferLimits;
pub use queue::Outgoing;

pub(crate) use outbox::{Closed, Ends};
pub(crate) use route::{Direct, Route};
pub(crate) use run::Run;

use crate::identity::ProviderIdentity;
use crate::served::{ServedAgent, Turns};
use schedule::{Admission, Schedule, Turn};

/// How long a run that funduq does not know as this key's waits to be offered again: longer
/// than funduq tries to place a queued run.
const LOST_PATIENCE: Duration = Duration::from_secs(60);
/// How often such a run asks, with one event, whether it is known by now.
const LOST_PROBE: Duration = Duration::from_secs(1);

/// Serves agents: decides about offers, gives turns, runs the agents and keeps what they say until
/// funduq has recorded it.
///
/// A runtime knows no wire; a link joins it to a funduq, one at a time. Cloning is cheap and
/// means the same runtime. It must live inside a tokio runtime.
#[derive(Clone)]
pub struct Runtime {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) identity: ProviderIdentity,
    agents: BTreeMap<AgentName, Arc<ServedAgent>>,
    capacity: Capacity,
    limits: BufferLimits,
    state: Mutex<State>,
    /// A run was forgotten.
    quieter: Notify,
    own: Weak<Inner>,
}

struct State {
    runs: HashMap<RunId, Arc<Run>>,
    schedule: Schedule,
    route: Route,
    funduq_key: Option<PublicKey>,
    stopping: bool,
    watching_lost: bool,
}

/// The answer to an offer, and what to do once it is on its way.
pub(crate) struct Decision {
    pub(crate) verdict: Verdict,
    pub(crate) follow_up: FollowUp,
}

pub(crate) enum FollowUp {
    Nothing,
    /// A new run: start its task.
    Begin(Arc<Run>, Box<Delivered>),
    /// A run that is held already: send what is not recorded.
    Resume(Arc<Run>),
}

/// What came with an offer, checked.
pub(crate) struct Delivered {
    pub(crate) thread_id: ThreadId,
    pub(crate) relayed: RelayedInput,
    pub(crate) input: Arc<RunAgentInput>,
    pub(crate) funduq: FunduqProps,
}

/// What a [`Runtime`] is to serve, before it does.
#[derive(Debug)]
#[must_use = "a builder serves nothing until it is built"]
pub struct RuntimeBuilder {
    identity: ProviderIdentity,
    agents: BTreeMap<AgentName, Arc<ServedAgent>>,
    capacity: Capacity,
    limits: BufferLimits,
}

impl RuntimeBuilder {
    /// Serves this agent too; a second one of the same name takes the first one's place.
    pub fn agent(mut self, agent: ServedAgent) -> Self {
        self.agents.insert(agent.name().clone(), Arc::new(agent));
        self
    }

    /// Serves these agents too.
    pub fn agents(self, agents: impl IntoIterator<Item = ServedAgent>) -> Self {
        agents.into_iter().fold(self, Self::agent)
    }

    /// How many runs to take on. Default: no limit.
    pub fn capacity(mut self, capacity: Capacity) -> Self {
        self.capacity = capacity;
        self
    }

    /// How much of each run may wait to be recorded before its agent is slowed.
    pub fn buffer(mut self, limits: BufferLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The runtime.
    pub fn build(self) -> Runtime {
        let Self { identity, agents, capacity, limits } = self;
        let state = State {
            runs: HashMap::new(),
            schedule: Schedule::new(capacity),
            route: Route::Detached,
            funduq_key: None,
            stopping: false,
            watching_lost: false,
        };
        let inner = Arc::new_cyclic(|own| Inner {
            identity,
            agents,
            capacity,
            limits,
            state: Mutex::new(state),
            quieter: Notify::new(),
            own: own.clone(),
        });
        Runtime { inner }
    }
}

impl Runtime {
    /// Begins a runtime for the provider with this identity.
    pub fn builder(identity: ProviderIdentity) -> RuntimeBuilder {
        RuntimeBuilder {
            identity,
            agents: BTreeMap::new(),
            capacity: Capacity::default(),
            limits: BufferLimits::default(),
        }
    }

    /// Whose runtime this is.
    pub fn identity(&self) -> &ProviderIdentity {
        &self.inner.identity
    }

    /// What to publish: one registration an agent, none once [`stop`](Self::stop) was called.
    pub fn registrations(&self) -> Vec<Registration> {
        if self.inner.state().stopping {
            return Vec::new();
        }
        self.inner.agents.values().map(|agent| agent.registration()).collect()
    }

    /// The capacity it was built with.
    pub fn capacity(&self) -> Capacity {
        self.inner.capacity
    }

    /// How many runs it holds: waiting, running, or with something that funduq has not recorded.
    pub fn held_runs(&self) -> usize {
        self.inner.state().runs.len()
    }

    pub(crate) fn of(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.inner
    }
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("identity", &self.inner.identity)
            .field("agents", &self.inner.agents.keys())
            .field("capacity", &self.inner.capacity)
            .finish_non_exhaustive()
    }
}

impl Inner {
    pub(crate) fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing under this lock leaves it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers an offer from what is known here, at once: nothing is awaited and no agent asked.
    pub(crate) fn decide(&self, offer: Offer) -> Decision {
        let no = |verdict| Decision { verdict, follow_up: FollowUp::Nothing };
        let run_id = offer.run.run_id.clone();
        if let Some(decision) = self.state().held_already(&run_id) {
            return decision;
        }
        let Some(agent) = self.agents.get(&offer.run.agent_name) else {
            return no(refused(format!("unknown_agent: {} is not served here", offer.run.agent_name)));
        };
        let delivered = match Delivered::check(offer) {
            Ok(delivered) => delivered,
            Err(problem) => return no(refused(format!("invalid_input: {problem}"))),
        };

        let mut state = self.state();
        if let Some(decision) = state.held_already(&run_id) {
            return decision;
        }
        if state.stopping {
            return no(Verdict::Declined);
        }
        let target = match agent.turns() {
            Turns::Interject(_) => delivered
                .funduq
                .addressed_run_id
                .as_ref()
                .filter(|addressed| state.schedule.is_running(addressed))
                .and_then(|addressed| state.runs.get(addressed))
                .filter(|addressed| Arc::ptr_eq(&addressed.agent, agent) && !addressed.is_over())
                .cloned(),
            Turns::OnePerThread | Turns::AllAtOnce => None,
        };
        let turn = match agent.turns() {
            _ if target.is_some() => Turn::Beside,
            Turns::AllAtOnce => Turn::Free,
            Turns::OnePerThread | Turns::Interject(_) => {
                Turn::InLane((agent.name().clone(), delivered.thread_id.clone()))
            }
        };
        let starts = match state.schedule.admit(run_id.clone(), turn) {
            Admission::Full => return no(Verdict::Declined),
            Admission::Wait => false,
            Admission::Start => true,
        };
        let run = Arc::new(Run::new(
            run_id.clone(),
            agent.clone(),
            target,
            state.route.clone(),
            self.limits,
            self.own.clone(),
        ));
        state.runs.insert(run_id, run.clone());
        drop(state);
        if starts {
            run.turn.notify_one();
        }
        Decision { verdict: Verdict::Accepted, follow_up: FollowUp::Begin(run, Box::new(delivered)) }
    }

    /// The verdict is on its way: what follows from it.
    pub(crate) fn follow_up(&self, follow_up: FollowUp, route: &Route) {
        match follow_up {
            FollowUp::Nothing => {}
            FollowUp::Resume(run) => run.claimed_again(route),
            FollowUp::Begin(run, delivered) => {
                if let Some(inner) = self.own.upgrade() {
                    tokio::spawn(drive::drive(inner, run, *delivered));
                }
            }
        }
    }

    /// The verdict did not reach funduq: a run that nobody began is none.
    pub(crate) fn take_back(&self, follow_up: FollowUp) {
        if let FollowUp::Begin(run, _) = follow_up {
            self.left(run.id());
            self.forget(run.id());
        }
    }

    pub(crate) fn cancel(&self, run_id: &RunId) -> Ack {
        let run = self.run(run_id).filter(|run| !run.is_over());
        if let Some(run) = &run {
            run.cancel.cancel();
        }
        Ack { run_id: run_id.clone(), held: run.is_some() }
    }

    pub(crate) fn run(&self, run_id: &RunId) -> Option<Arc<Run>> {
        self.state().runs.get(run_id).cloned()
    }

    pub(crate) fn funduq_key(&self) -> Option<PublicKey> {
        self.state().funduq_key
    }

    /// A link is open. Answers the runs that funduq believes to be held here and that are not:
    /// the link is to finish them.
    pub(crate) fn attach(&self, route: &Route, ok: &ConnectOk) -> Vec<RunId> {
        let mut held: HashMap<&RunId, u64> =
            ok.held_runs.iter().map(|held| (&held.run_id, held.received)).collect();
        let mut changed = Vec::new();
        {
            let mut state = self.state();
            state.route = route.clone();
            state.funduq_key = ok.funduq_public_key;
            for (run_id, run) in &state.runs {
                let received = held.get(run_id).copied();
                let effects = run.resume(route.clone(), received);
                if !run.is_over() {
                    held.remove(run_id);
                }
                changed.push((run.clone(), effects));
            }
        }
        for (run, effects) in changed {
            run.apply(effects);
        }
        let mut unknown: Vec<RunId> = held.into_keys().cloned().collect();
        unknown.sort();
        unknown
    }

    /// A link is gone. One that was replaced already takes nothing with it.
    pub(crate) fn detach(&self, route: &Route) {
        let runs: Vec<Arc<Run>> = {
            let mut state = self.state();
            if state.route.is(route) {
                state.route = Route::Detached;
            }
            state.runs.values().cloned().collect()
        };
        for run in runs {
            run.detach(route);
        }
    }

    /// The run has ended for funduq and takes no room here any more.
    fn made_room(&self, run_id: &RunId) {
        self.state().schedule.over(run_id);
    }

    /// The run's agent has returned, or will never start: whose turn it is now.
    fn left(&self, run_id: &RunId) {
        let starting: Vec<Arc<Run>> = {
            let mut state = self.state();
            let starting = state.schedule.left(run_id);
            starting.iter().filter_map(|run_id| state.runs.get(run_id).cloned()).collect()
        };
        for run in starting {
            run.turn.notify_one();
        }
    }

    fn forget(&self, run_id: &RunId) {
        self.state().runs.remove(run_id);
        self.quieter.notify_waiters();
    }

    /// Looks after runs that funduq does not know as held here, as long as there are any.
    fn watch_lost(&self) {
        {
            let mut state = self.state();
            if state.watching_lost {
                return;
            }
            state.watching_lost = true;
        }
        let own = self.own.clone();
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(LOST_PROBE).await;
                let Some(inner) = own.upgrade() else { return };
                let runs: Vec<Arc<Run>> = inner.state().runs.values().cloned().collect();
                let mut any = false;
                for run in runs {
                    any |= run.lapse(LOST_PATIENCE);
                }
                if !any {
                    inner.state().watching_lost = false;
                    return;
                }
            }
        });
    }
}

impl State {
    /// The answer to an offer of a run that is held here.
    fn held_already(&self, run_id: &RunId) -> Option<Decision> {
        let run = self.runs.get(run_id)?;
        // Its agent has not returned yet though funduq has settled it once: a matter of moments.
        if run.is_over() {
            return Some(Decision { verdict: Verdict::Declined, follow_up: FollowUp::Nothing });
        }
        Some(Decision { verdict: Verdict::Accepted, follow_up: FollowUp::Resume(run.clone()) })
    }
}

impl Delivered {
    fn check(offer: Offer) -> Result<Self, String> {
        let relayed = offer.run.input;
        let input = RunAgentInput::try_from(&relayed).map_err(|error| error.to_string())?;
        let funduq = match &relayed.forwarded_props {
            Some(ForwardedProps::Object(bag)) => {
                FunduqProps::read(bag).map_err(|error| format!("forwardedProps.{RESERVED_KEY}: {error}"))?
            }
            Some(ForwardedProps::Other(_)) | None => FunduqProps::default(),
        };
        Ok(Self { thread_id: offer.run.thread_id, relayed, input: Arc::new(input), funduq })
    }
}

fn refused(reason: String) -> Verdict {
    Verdict::Refused { reason }
}
