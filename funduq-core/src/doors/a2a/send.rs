//! Sending a message: what it continues, answers or hangs off, and the run that it becomes (A2A 1.0 §3.1.1, §3.1.2).

use std::sync::Arc;

use funduq_a2a::{A2aError, SendMessageRequest, Task};
use funduq_contract::{AgentAddress, PublicKey, RunId, ThreadId};

use super::A2aAdapter;
use super::error::{A2aDoorError, unknown_task};
use super::intake::{self, Intake};
use super::snapshot::{Found, Snapshot, find};
use super::stream::TaskStream;
use super::task::is_offline;
use crate::doors::open::Request;
use crate::error::DoorError;
use crate::record::{Run, RunStream, TaskStanding, Thread};

/// A message that has become a run.
struct Opened {
    task: RunId,
    stream: RunStream,
    history_length: Option<usize>,
    return_immediately: bool,
}

/// The thread that a message goes to, and the run whose asks it answers.
#[derive(Default)]
struct Target {
    thread: Option<Thread>,
    answers: Option<Run>,
}

impl A2aAdapter {
    /// Sends a message and answers with its task: when it has ended or waits for the caller, or at once if the
    /// request's configuration says `returnImmediately`. An agent that nobody serves makes a failed task.
    ///
    /// Dropping the future does not stop the run. `presenter` is the key that the transport authenticated, if any.
    ///
    /// # Errors
    /// [`A2aError`]s for what is wrong with the request: unknown task, context, part or push configuration, a task that
    /// does not wait. [`DoorError`]s for what A2A has no word for: an unknown agent, a full queue, a chain without
    /// presenter, an invalid chain or resolution, a bound thread's membership.
    pub async fn send_task(
        &self,
        agent: &AgentAddress,
        request: SendMessageRequest,
        presenter: Option<PublicKey>,
    ) -> Result<Task, A2aDoorError> {
        let opened = self.open(agent, request, presenter).await?;
        if !opened.return_immediately {
            self.wait_for_end(opened.stream).await?;
        }
        self.read_task(agent, &opened.task, opened.history_length).await?.ok_or_else(|| gone(&opened.task))
    }

    /// Sends a message and streams what becomes of it: first the whole task, then every update, until the task has
    /// ended or waits for the caller. Dropping the stream does not stop the run.
    ///
    /// # Errors
    /// As [`A2aAdapter::send_task`].
    pub async fn send_task_streaming(
        &self,
        agent: &AgentAddress,
        request: SendMessageRequest,
        presenter: Option<PublicKey>,
    ) -> Result<TaskStream, A2aDoorError> {
        let opened = self.open(agent, request, presenter).await?;
        let (agent, task, run) = (agent.clone(), opened.task.clone(), opened.stream.run_id().clone());
        let snapshot = self.context.record().read(move |store| {
            let Found::Lineage(mut runs) = find(store, &agent, &task)? else { return Ok(None) };
            let Some(at) = runs.iter().position(|opened| opened.id == run) else { return Ok(None) };
            runs.truncate(at + 1);
            // A run that failed at the door was never anything else.
            let is_stillborn = runs.last().is_some_and(is_offline);
            let snapshot =
                if is_stillborn { Snapshot::now(store, runs) } else { Snapshot::before(store, runs, at) };
            snapshot.map(Some)
        });
        let snapshot = snapshot.await?.ok_or_else(|| gone(&opened.task))?;
        Ok(TaskStream::new(self.context.clone(), snapshot, Some(opened.stream), opened.history_length))
    }

    /// Waits until the run's end is in the record, or funduq stops, without keeping others from its one live stream.
    async fn wait_for_end(&self, stream: RunStream) -> Result<(), A2aDoorError> {
        let (run, thread) = (stream.run_id().clone(), stream.thread_id().clone());
        let live = self.context.dispatch.live(&run);
        drop(stream);
        if let Some(live) = live {
            // Behind every event there is nothing but the end.
            let mut end = RunStream::new(
                self.context.record().clone(),
                run,
                thread,
                Some(Arc::clone(&live.log)),
                u64::MAX,
            );
            end.next().await?;
        }
        Ok(())
    }

    async fn open(
        &self,
        agent: &AgentAddress,
        request: SendMessageRequest,
        presenter: Option<PublicKey>,
    ) -> Result<Opened, A2aDoorError> {
        self.context.check_serving()?;
        self.context.check_agent(agent).await?;
        let intake = intake::read(request)?;
        let Target { thread, answers } = self.target(agent, &intake).await?;
        let parent = match &intake.reference {
            Some(id) => Some(self.thread_of_reference(id).await?),
            None => None,
        };
        let Intake { message, mut bag, history_length, return_immediately, .. } = intake;
        let said = self.context.identify("metadata", Some(&mut bag), presenter, thread.as_ref())?;
        let asking = answers.as_ref().map(|asking| asking.id.as_str().to_owned());
        let root = answers.as_ref().map(|asking| asking.root_run_id.clone());
        let input = intake::input(message, bag, asking)?;
        let request = Request { agent: agent.clone(), input, said, thread, parent, answers };
        let stream = self.context.open(request).await?;
        let task = root.unwrap_or_else(|| stream.run_id().clone());
        Ok(Opened { task, stream, history_length, return_immediately })
    }

    /// Where a message belongs. A task id alone says its context too.
    async fn target(&self, agent: &AgentAddress, intake: &Intake) -> Result<Target, A2aDoorError> {
        if let Some(task) = &intake.task {
            return self.waiting_task(agent, task, intake.context.as_deref()).await;
        }
        let Some(context) = &intake.context else { return Ok(Target::default()) };
        let unknown = || {
            let message = format!("this agent has no thread {context:.64}; leave the id out to start one");
            A2aError::invalid_field("message.contextId", message)
        };
        // No id of funduq's looks like that, so it is one that funduq never gave out.
        let id = ThreadId::new(context.as_str()).map_err(|_| unknown())?;
        let thread = self.context.find_thread(agent, &id).await?;
        let thread = thread.ok_or(DoorError::ThreadNotFound(id))?;
        Ok(Target { thread: Some(thread), answers: None })
    }

    /// The task that a message answers. There is no other follow-up on a task (A2A 1.0 §3.1.1).
    async fn waiting_task(
        &self,
        agent: &AgentAddress,
        task: &str,
        context: Option<&str>,
    ) -> Result<Target, A2aDoorError> {
        let id = RunId::new(task).map_err(|_| unknown_task(task))?;
        let address = agent.clone();
        let found = self.context.record().read(move |store| {
            let Found::Lineage(mut runs) = find(store, &address, &id)? else { return Ok(None) };
            let Some(tail) = runs.pop() else { return Ok(None) };
            Ok(store.thread(&tail.thread_id)?.map(|thread| (tail, thread)))
        });
        let (tail, thread) = found.await?.ok_or_else(|| unknown_task(task))?;
        if context.is_some_and(|context| context != thread.id.as_str()) {
            let message = format!("the task belongs to the context {}; leave one of the two out", thread.id);
            return Err(A2aError::invalid_field("message.contextId", message).into());
        }
        let refusal = match TaskStanding::of(&tail) {
            TaskStanding::Waiting => return Ok(Target { thread: Some(thread), answers: Some(tail) }),
            TaskStanding::Unclaimed | TaskStanding::Claimed => "is still working",
            TaskStanding::Completed | TaskStanding::Failed | TaskStanding::Cancelled => "has ended",
        };
        Err(A2aError::UnsupportedOperation(format!(
            "the task {task} {refusal}, so a message cannot go on with it; send it with the contextId {} alone",
            thread.id
        ))
        .into())
    }

    /// The thread of a referenced task, whoever's it is: a reference says where a call comes from, and grants nothing.
    async fn thread_of_reference(&self, task: &str) -> Result<ThreadId, A2aDoorError> {
        let id = RunId::new(task).map_err(|_| unknown_task(task))?;
        let run = self.context.record().read(move |store| store.run(&id)).await?;
        run.map(|run| run.thread_id).ok_or_else(|| unknown_task(task))
    }
}

/// A task that was opened a moment ago is not in the record, which loses nothing.
fn gone(task: &RunId) -> A2aDoorError {
    A2aError::Internal(format!("the task {task} does not read back")).into()
}
