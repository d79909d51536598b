//! Tasks that exist: reading, cancelling, subscribing (A2A 1.0 §3.1.3, §3.1.5, §3.1.6).

use std::sync::Arc;

use funduq_a2a::{A2aError, CancelTaskRequest, GetTaskRequest, SubscribeToTaskRequest, Task, TaskState};
use funduq_agui::event::RunFinished;
use funduq_agui::{Event, RawObject, RelayedInput};
use funduq_contract::{AgentAddress, PublicKey, RunId};

use super::A2aAdapter;
use super::error::{A2aDoorError, unknown_task};
use super::intake::history_length;
use super::snapshot::{Found, Snapshot, find};
use super::stream::TaskStream;
use super::task::{self, Said, status};
use crate::dispatch::{CancelAnswer, run_started};
use crate::doors::authority;
use crate::doors::caller::take_bag;
use crate::doors::place::read_place;
use crate::error::DoorError;
use crate::links::Change;
use crate::record::{
    Conflict, OpenRun, Run, RunMetadata, RunStatus, RunStream, StoreError, TaskStanding, Thread, Write,
};
use crate::{clock, ids};

/// How often a task that changes meanwhile is looked at again.
const ATTEMPTS: usize = 8;

impl A2aAdapter {
    /// A task as its whole lineage stands; `None` if it is another agent's.
    ///
    /// # Errors
    /// [`A2aError::TaskNotFound`], [`A2aError::InvalidParams`], [`DoorError::AgentNotFound`], [`DoorError::Store`].
    pub async fn get_task(
        &self,
        agent: &AgentAddress,
        request: GetTaskRequest,
    ) -> Result<Option<Task>, A2aDoorError> {
        self.context.check_agent(agent).await?;
        let length = history_length("historyLength", request.history_length)?;
        self.read_task(agent, &task_id(&request.id)?, length).await
    }

    /// Asks for a task to stop. One that nobody has claimed, or that waits, is canceled at once; a working one is
    /// marked `cancelRequested`, and what happens is what will be recorded. A bound thread takes the proof from the
    /// request's metadata. `None` if the task is another agent's.
    ///
    /// # Errors
    /// [`A2aError::TaskNotFound`]; [`A2aError::TaskNotCancelable`] for one that has ended; [`DoorError::InvalidCancel`];
    /// [`DoorError::AgentNotFound`], [`DoorError::NotServing`], [`DoorError::Store`].
    pub async fn cancel_task(
        &self,
        agent: &AgentAddress,
        request: CancelTaskRequest,
    ) -> Result<Option<Task>, A2aDoorError> {
        self.context.check_serving()?;
        self.context.check_agent(agent).await?;
        let mut bag: RawObject = request.metadata.unwrap_or_default().into_iter().collect();
        let said = take_bag("metadata", &mut bag)?;
        let task = task_id(&request.id)?;
        for _ in 0..ATTEMPTS {
            let Some(runs) = self.find_task(agent, &task).await? else { return Ok(None) };
            let Some(tail) = runs.last() else { return Err(unknown_task(&request.id)) };
            let (_, thread) = self.context.find_run(agent, &tail.id).await?;
            let by = authority::cancel(&thread, tail, said.cancel.as_ref(), clock::now_seconds())?;
            let done = match TaskStanding::of(tail) {
                TaskStanding::Waiting => self.close_ask(thread, tail, by).await?,
                TaskStanding::Unclaimed | TaskStanding::Claimed => {
                    let answer = self.context.dispatch.cancel(&tail.id, by).await;
                    // What the answer stands for was queued before it.
                    self.context.record().flush().await;
                    answer != CancelAnswer::NotLive
                }
                TaskStanding::Completed | TaskStanding::Failed | TaskStanding::Cancelled => {
                    return Err(A2aError::TaskNotCancelable { task_id: request.id }.into());
                }
            };
            if done {
                break;
            }
        }
        self.read_task(agent, &task, None).await
    }

    /// Streams what becomes of a task that has not ended: first the whole task, then what comes. One stream a task.
    /// `None` if the task is another agent's.
    ///
    /// `after` is the place of the last event that the caller has, from [`TaskEvent::id`](super::TaskEvent::id): the
    /// task is then given as it was there, and what was missed follows, also of a task that has ended meanwhile. A place
    /// that is not one of this task's is taken as none.
    ///
    /// # Errors
    /// [`A2aError::TaskNotFound`]; [`A2aError::UnsupportedOperation`] for a task that has ended or has a stream already;
    /// [`DoorError::AgentNotFound`], [`DoorError::Store`].
    pub async fn resubscribe_task(
        &self,
        agent: &AgentAddress,
        request: SubscribeToTaskRequest,
        after: Option<&str>,
    ) -> Result<Option<TaskStream>, A2aDoorError> {
        self.context.check_agent(agent).await?;
        let task = task_id(&request.id)?;
        for _ in 0..ATTEMPTS {
            let Some(runs) = self.find_task(agent, &task).await? else { return Ok(None) };
            if let Some(stream) = self.subscribe(runs, after).await? {
                return Ok(Some(stream));
            }
            // It is ending: its end is on the way to the record.
            self.context.record().flush().await;
        }
        Err(A2aError::UnsupportedOperation(format!("the task {task} is ending; read it instead")).into())
    }

    /// The stream of a lineage as it stands; `None` if that changed under the reader.
    async fn subscribe(
        &self,
        runs: Vec<Run>,
        after: Option<&str>,
    ) -> Result<Option<TaskStream>, A2aDoorError> {
        let Some(tail) = runs.last().cloned() else { return Ok(None) };
        let live = self.context.dispatch.live(&tail.id);
        if live.is_none() && !tail.status.is_terminal() {
            return Ok(None);
        }
        // Taken before the snapshot is, so that nobody can come between.
        let claim = match &live {
            Some(live) => Some(
                live.log.claim_stream().ok_or_else(|| DoorError::StreamTaken(tail.root_run_id.clone()))?,
            ),
            None => None,
        };
        let place = after.and_then(|after| place_in(&runs, after));
        let read = self.context.record().read(move |store| {
            let resumed = match place {
                Some((at, updates)) => Snapshot::within(store, runs.clone(), at, updates)?,
                None => None,
            };
            match resumed {
                Some(snapshot) => Ok((snapshot, true)),
                None => Ok((Snapshot::now(store, runs)?, false)),
            }
        });
        let (snapshot, is_resumed) = read.await?;
        if !is_resumed && snapshot.is_whole() {
            let state = snapshot.runs.last().map(task::state);
            if state.is_some_and(|state| state != TaskState::InputRequired) {
                return Err(A2aError::UnsupportedOperation(format!(
                    "the task {} has ended, so there is nothing to subscribe to; read it instead",
                    tail.root_run_id
                ))
                .into());
            }
        }
        let record = self.context.record().clone();
        let run = &snapshot.runs[snapshot.at];
        let log = live.filter(|_| run.id == tail.id).map(|live| Arc::clone(&live.log));
        let claim = claim.filter(|_| run.id == tail.id);
        let source = RunStream::new(record, run.id.clone(), run.thread_id.clone(), log, snapshot.events);
        let source = source.with_claim(claim);
        Ok(Some(TaskStream::new(self.context.clone(), snapshot, Some(source), None)))
    }

    /// Closes an ask that nobody will answer: the lineage ends with a run that is cancelled as it is opened. Returns
    /// whether it did, and not an answer that was quicker.
    async fn close_ask(
        &self,
        thread: Thread,
        asking: &Run,
        by: Option<PublicKey>,
    ) -> Result<bool, A2aDoorError> {
        let (id, now) = (ids::run(), clock::now_millis());
        let mut input = RelayedInput::new(thread.id.as_str(), id.as_str(), Vec::new());
        input.parent_run_id = Some(asking.id.as_str().to_owned());
        let events = vec![
            run_started(&thread.id, &id),
            Event::from(RunFinished::cancelled(thread.id.as_str(), id.as_str())).into(),
        ];
        let run = Run {
            id: id.clone(),
            thread_id: thread.id.clone(),
            agent: asking.agent.clone(),
            status: RunStatus::Cancelled,
            input,
            chain: None,
            answers_run_id: Some(asking.id.clone()),
            root_run_id: asking.root_run_id.clone(),
            addressed_run_id: None,
            metadata: RunMetadata {
                cancel_requested: true,
                cancel_requested_by: by,
                ..RunMetadata::default()
            },
            last_event: 0,
            created_at: now,
            updated_at: now,
        };
        let change = Change::Run { run: id, thread: thread.id.clone(), status: run.status };
        let open = OpenRun { seen: Some(thread.clone()), thread, run, messages: Vec::new(), events };
        match self.context.record().write_and_wait(Write::OpenRun(Box::new(open))).await {
            Ok(()) => {
                self.context.links().announce(change);
                Ok(true)
            }
            Err(StoreError::Conflict(Conflict::AlreadyAnswered)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// A task's lineage; `None` if it is another agent's.
    async fn find_task(&self, agent: &AgentAddress, task: &RunId) -> Result<Option<Vec<Run>>, A2aDoorError> {
        let (address, id) = (agent.clone(), task.clone());
        match self.context.record().read(move |store| find(store, &address, &id)).await? {
            Found::Lineage(runs) => Ok(Some(runs)),
            Found::OfAnother => Ok(None),
            Found::Nothing => Err(unknown_task(task.as_str())),
        }
    }

    /// A task as the record has it now; `None` if it is another agent's.
    pub(super) async fn read_task(
        &self,
        agent: &AgentAddress,
        task: &RunId,
        history_length: Option<usize>,
    ) -> Result<Option<Task>, A2aDoorError> {
        let (address, id) = (agent.clone(), task.clone());
        let read = self.context.record().read(move |store| {
            Ok(match find(store, &address, &id)? {
                Found::Nothing => Err(()),
                Found::OfAnother => Ok(None),
                Found::Lineage(runs) => Ok(Some(whole(&Snapshot::now(store, runs)?, history_length))),
            })
        });
        read.await?.map_err(|()| unknown_task(task.as_str()))
    }
}

/// The whole task of a snapshot of now.
fn whole(snapshot: &Snapshot, history_length: Option<usize>) -> Task {
    let tail = &snapshot.runs[snapshot.at];
    let metadata = Said::default().recorded(&tail.metadata).events(&snapshot.fold).metadata();
    let status = status(tail, snapshot.fold.error());
    task::task(&snapshot.runs, status, snapshot.fold.artifacts(), history_length, metadata)
}

fn task_id(id: &str) -> Result<RunId, A2aDoorError> {
    RunId::new(id).map_err(|_| unknown_task(id))
}

/// The run, by its place in the lineage, and the update that a stream's event id names.
fn place_in(runs: &[Run], id: &str) -> Option<(usize, u64)> {
    let (run, updates) = read_place(id)?;
    let at = runs.iter().position(|known| known.id.as_str() == run)?;
    Some((at, updates))
}
