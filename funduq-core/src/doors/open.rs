//! Opening a run, whatever the door: agent, thread, authority, lineage, and one transaction.

use std::sync::Arc;

use funduq_agui::{ForwardedProps, RelayedInput};
use funduq_contract::{AgentAddress, CallerBag, Identity, PublicKey, RunId, ThreadId};

use super::authority;
use super::caller::{Caller, take_bag};
use crate::dispatch::{Dispatch, OpenError};
use crate::error::{DoorError, InvalidChain, NotServing};
use crate::links::{Links, LlmLinks};
use crate::record::{Conflict, OpenRun, Record, Run, RunMetadata, RunStatus, RunStream, StoreError, Thread};
use crate::{clock, ids};

/// What every door needs of core.
#[derive(Clone)]
pub(crate) struct DoorContext {
    pub(crate) dispatch: Arc<Dispatch>,
    pub(crate) identity: Option<Arc<Identity>>,
}

/// A run as its door understood it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) agent: AgentAddress,
    /// What the agent gets; its ids are replaced by funduq's own.
    pub(crate) input: RelayedInput,
    /// What the caller says to funduq, and who they are, as [`DoorContext::identify`] found.
    pub(crate) said: (CallerBag, Caller),
    /// The thread that it continues; `None` opens one.
    pub(crate) thread: Option<Thread>,
    /// The thread that a new one hangs off.
    pub(crate) parent: Option<ThreadId>,
    /// The waiting run whose asks it answers.
    pub(crate) answers: Option<Run>,
}

impl DoorContext {
    pub(crate) fn record(&self) -> &Record {
        &self.dispatch.record
    }

    pub(crate) fn links(&self) -> &Links {
        &self.dispatch.links
    }

    pub(crate) fn llm(&self) -> &LlmLinks {
        &self.dispatch.llm
    }

    /// Refuses work before the start and after the stop.
    pub(crate) fn check_serving(&self) -> Result<(), DoorError> {
        if !self.record().is_started() {
            return Err(DoorError::NotServing(NotServing::NotStarted));
        }
        if self.dispatch.is_stopping() {
            return Err(DoorError::NotServing(NotServing::Stopping));
        }
        Ok(())
    }

    /// Refuses an address that names no agent.
    pub(crate) async fn check_agent(&self, agent: &AgentAddress) -> Result<(), DoorError> {
        if self.links().serves(agent) {
            return Ok(());
        }
        let address = agent.clone();
        let known = self.record().read(move |store| store.agent(&address)).await?;
        known.map(drop).ok_or_else(|| DoorError::AgentNotFound(agent.clone()))
    }

    /// Refuses a binding to an offering that was never registered. It names an offering and not a connection, so one that
    /// is offline right now will do.
    async fn check_offering(&self, offering: &AgentAddress) -> Result<(), DoorError> {
        if self.llm().serves(offering) {
            return Ok(());
        }
        let known = self.record().read(|store| store.llm_offerings()).await?;
        let AgentAddress { provider, name } = offering.clone();
        match known.iter().any(|known| (&known.0, &known.1) == (&provider, &name)) {
            true => Ok(()),
            false => Err(DoorError::UnknownOffering { provider, name }),
        }
    }

    /// A thread of this agent; `None` if no thread has that id.
    pub(crate) async fn find_thread(
        &self,
        agent: &AgentAddress,
        id: &ThreadId,
    ) -> Result<Option<Thread>, DoorError> {
        let wanted = id.clone();
        match self.record().read(move |store| store.thread(&wanted)).await? {
            Some(thread) if thread.agent == *agent => Ok(Some(thread)),
            Some(_) => Err(DoorError::ThreadOfAnotherAgent(id.clone())),
            None => Ok(None),
        }
    }

    /// Reads the bag, takes the reserved key out of it, verifies the caller, and refuses whoever may not write to the
    /// thread. `bag_name` is what the door calls its bag, for errors.
    pub(crate) fn identify(
        &self,
        bag_name: &str,
        bag: Option<&mut ForwardedProps>,
        presenter: Option<PublicKey>,
        thread: Option<&Thread>,
    ) -> Result<(CallerBag, Caller), DoorError> {
        let mut said = match bag {
            Some(ForwardedProps::Object(bag)) => take_bag(bag_name, bag)?,
            Some(ForwardedProps::Other(_)) | None => CallerBag::default(),
        };
        let caller = Caller::verify(said.actor_chain.take(), presenter)?;
        match thread {
            Some(Thread { id, head: Some(head), agent, .. }) if !caller.comes_under(head, agent) => {
                Err(DoorError::ThreadMembershipRequired(id.clone()))
            }
            _ => Ok((said, caller)),
        }
    }

    /// Opens the run; it is in the record when this returns.
    pub(crate) async fn open(&self, request: Request) -> Result<RunStream, DoorError> {
        self.check_serving()?;
        let limit = self.dispatch.settings.live_run_limit;
        if self.dispatch.live_runs() >= limit {
            self.record().stats.too_many_runs();
            return Err(DoorError::NotServing(NotServing::TooManyRuns { limit }));
        }
        if let Some(kyok) = &request.said.0.kyok {
            self.check_offering(&kyok.llm_provider).await?;
        }
        let (open, exempt) = self.judge(request)?;
        let (thread, agent) = (open.thread.id.clone(), open.thread.agent.clone());
        let task = open.run.root_run_id.clone();
        match self.dispatch.open(open, exempt).await {
            Ok(opened) => Ok(opened.stream),
            Err(OpenError::QueueFull) => {
                self.record().stats.full_thread();
                Err(DoorError::ThreadQueueFull { thread, limit: self.dispatch.settings.thread_queue_limit })
            }
            Err(OpenError::Stopping) => Err(DoorError::NotServing(NotServing::Stopping)),
            Err(OpenError::Store(StoreError::Conflict(Conflict::AlreadyAnswered))) => {
                Err(DoorError::AlreadyAnswered(task))
            }
            Err(OpenError::Store(error)) => Err(not_opened(&agent, error)),
        }
    }

    /// Judges authority and writes down the run, without having changed anything yet.
    fn judge(&self, request: Request) -> Result<(OpenRun, bool), DoorError> {
        let Request { agent, mut input, said: (bag, caller), thread: seen, parent, answers } = request;
        let answered_by = match (&seen, &answers) {
            (Some(thread), Some(asking)) => authority::resolution(thread, asking, bag.resolution.as_ref())?,
            _ => None,
        };
        let chain = match (caller.chain.as_ref(), &self.identity) {
            (Some((chain, _)), Some(identity)) => {
                Some(chain.dispatch(identity, &agent).map_err(InvalidChain::Full)?)
            }
            (Some((chain, _)), None) => Some(chain.clone()),
            (None, _) => None,
        };
        let now = clock::now_millis();
        let thread = match &seen {
            Some(thread) if thread.has_runs => thread.clone(),
            Some(thread) => Thread { head: caller.head(), parent, has_runs: true, ..thread.clone() },
            None => Thread {
                id: ids::thread(),
                agent: agent.clone(),
                head: caller.head(),
                parent,
                created_at: now,
                has_runs: true,
            },
        };
        let id = ids::run();
        input.thread_id = thread.id.as_str().to_owned();
        input.run_id = id.as_str().to_owned();
        let messages = input.messages.clone();
        let run = Run {
            root_run_id: answers.as_ref().map_or_else(|| id.clone(), |asking| asking.root_run_id.clone()),
            answers_run_id: answers.map(|asking| asking.id),
            id,
            thread_id: thread.id.clone(),
            agent,
            status: RunStatus::Queued,
            input,
            chain,
            addressed_run_id: bag.addressed_run_id,
            metadata: RunMetadata { answered_by, ..RunMetadata::default() },
            last_event: 0,
            created_at: now,
            updated_at: now,
        };
        let exempt = run.answers_run_id.is_some();
        Ok((OpenRun { thread, seen, run, messages, events: Vec::new() }, exempt))
    }

    /// A run of this agent, with its thread.
    pub(crate) async fn find_run(
        &self,
        agent: &AgentAddress,
        id: &RunId,
    ) -> Result<(Run, Thread), DoorError> {
        let wanted = id.clone();
        let found = self
            .record()
            .read(move |store| {
                let Some(run) = store.run(&wanted)? else { return Ok(None) };
                Ok(store.thread(&run.thread_id)?.map(|thread| (run, thread)))
            })
            .await?;
        match found {
            Some((run, thread)) if run.agent == *agent => Ok((run, thread)),
            _ => Err(DoorError::RunNotFound(id.clone())),
        }
    }

    /// A run's events after the number `after`: live if the run is, from the record otherwise. It takes the run's one
    /// live stream.
    pub(crate) fn stream(&self, run: &Run, after: u64) -> Result<RunStream, DoorError> {
        let record = self.record().clone();
        let Some(live) = self.dispatch.live(&run.id) else {
            return Ok(RunStream::new(record, run.id.clone(), run.thread_id.clone(), None, after));
        };
        let claim = live.log.claim_stream().ok_or_else(|| DoorError::StreamTaken(run.id.clone()))?;
        let stream =
            RunStream::new(record, run.id.clone(), run.thread_id.clone(), Some(Arc::clone(&live.log)), after);
        Ok(stream.with_claim(Some(claim)))
    }
}

/// Why a run or a thread of the agent was not written: the agent may have been forgotten since the door looked.
pub(super) fn not_opened(agent: &AgentAddress, error: StoreError) -> DoorError {
    match error {
        StoreError::Conflict(Conflict::Missing("agent")) => DoorError::AgentNotFound(agent.clone()),
        other => other.into(),
    }
}
