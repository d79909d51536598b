//! The AG-UI door: run input in, events out (AG-UI 1.0).

mod asks;
mod history;

use std::collections::VecDeque;

use funduq_agui::{RelayedEvent, RelayedInput};
use funduq_contract::{AgentAddress, PublicKey, RunId, ThreadId};

use self::asks::{Answer, Replies};
use super::open::{DoorContext, Request, not_opened};
use crate::dispatch::{run_error, run_started};
use crate::error::DoorError;
use crate::record::{FailureReason, RunStream, Store, StoreError, StreamEnd, Thread};
use crate::{clock, ids};

/// The AG-UI door as an object: no socket, no SSE.
#[derive(Clone)]
pub struct AguiAdapter {
    context: DoorContext,
}

impl std::fmt::Debug for AguiAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AguiAdapter").finish_non_exhaustive()
    }
}

/// An event of an AG-UI stream, and its number if it is in the record.
#[derive(Debug, Clone)]
pub struct AguiEvent {
    /// The number in the run, from 1; `None` for what funduq says about the stream and not about the run.
    pub number: Option<u64>,
    /// The event.
    pub event: RelayedEvent,
}

/// The events of one AG-UI request. It ends right after the first terminal event.
#[derive(Debug)]
pub struct AguiStream {
    run: RunId,
    thread: ThreadId,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Run(RunStream),
    /// What funduq says without a run.
    Said(VecDeque<RelayedEvent>),
}

impl AguiStream {
    /// The run's id, funduq's own.
    pub fn run_id(&self) -> &RunId {
        &self.run
    }

    /// The thread's id, funduq's own.
    pub fn thread_id(&self) -> &ThreadId {
        &self.thread
    }

    fn of_run(stream: RunStream) -> Self {
        Self { run: stream.run_id().clone(), thread: stream.thread_id().clone(), source: Source::Run(stream) }
    }

    /// The next event once it is in the record; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// [`StoreError`] when the record cannot be read; the stream may be polled again.
    pub async fn next(&mut self) -> Result<Option<AguiEvent>, StoreError> {
        let stream = match &mut self.source {
            Source::Said(events) => return Ok(said(events.pop_front())),
            Source::Run(stream) => stream,
        };
        if let Some(numbered) = stream.next().await? {
            return Ok(Some(AguiEvent { number: Some(numbered.number), event: numbered.event }));
        }
        match stream.end() {
            Some(StreamEnd::Suspended) => {
                // The run goes on after the restart; only this stream ends, and it may not be cut.
                let reason = FailureReason::FunduqShutdown;
                self.source = Source::Said(VecDeque::new());
                Ok(said(Some(run_error(
                    reason.code(),
                    "funduq is shutting down; the run stays queued and goes on after the restart",
                ))))
            }
            Some(StreamEnd::RunEnded) | None => Ok(None),
        }
    }

    /// An event that needs no waiting, if there is one.
    pub fn next_ready(&mut self) -> Option<AguiEvent> {
        match &mut self.source {
            Source::Said(events) => said(events.pop_front()),
            Source::Run(stream) => stream
                .next_ready()
                .map(|numbered| AguiEvent { number: Some(numbered.number), event: numbered.event }),
        }
    }
}

fn said(event: Option<RelayedEvent>) -> Option<AguiEvent> {
    event.map(|event| AguiEvent { number: None, event })
}

impl AguiAdapter {
    pub(crate) fn new(context: DoorContext) -> Self {
        Self { context }
    }

    /// Mints a thread for a client that wants its id beforehand.
    ///
    /// # Errors
    /// [`DoorError::AgentNotFound`]; [`DoorError::Store`]; [`DoorError::NotServing`].
    pub async fn create_thread(&self, agent: &AgentAddress) -> Result<ThreadId, DoorError> {
        self.context.check_serving()?;
        self.context.check_agent(agent).await?;
        let thread = Thread {
            id: ids::thread(),
            agent: agent.clone(),
            head: None,
            parent: None,
            created_at: clock::now_millis(),
            has_runs: false,
        };
        let id = thread.id.clone();
        self.context
            .record()
            .write_and_wait(crate::record::Write::OpenThread(crate::record::OpenThread { thread }))
            .await
            .map_err(|error| not_opened(agent, error))?;
        Ok(id)
    }

    /// Runs an agent. A `threadId` that funduq never gave out opens a new thread under funduq's own id, which every
    /// event carries because the run input did. `presenter` is the key that the transport authenticated, if any.
    ///
    /// A resume that answers no open ask, or only some, dispatches nothing: its stream says so with `RUN_STARTED`,
    /// `MESSAGES_SNAPSHOT` and `RUN_ERROR`.
    ///
    /// # Errors
    /// Every [`DoorError`] but those about cancels and streams; nothing was recorded then.
    pub async fn run(
        &self,
        agent: &AgentAddress,
        mut input: RelayedInput,
        presenter: Option<PublicKey>,
    ) -> Result<AguiStream, DoorError> {
        self.context.check_serving()?;
        self.context.check_agent(agent).await?;
        let thread = match ThreadId::new(input.thread_id.as_str()) {
            Ok(id) => self.context.find_thread(agent, &id).await?,
            // No id of funduq's looks like that, so it is one that funduq never gave out.
            Err(_) => None,
        };
        let bag = input.forwarded_props.as_mut();
        let said = self.context.identify("forwardedProps", bag, presenter, thread.as_ref())?;
        let mut request = Request { agent: agent.clone(), input, said, thread, parent: None, answers: None };
        let mut lost = None;
        loop {
            let asking = match self.find_ask(&request).await? {
                Answer::To(asking) => asking,
                Answer::Nothing => return self.context.open(request).await.map(AguiStream::of_run),
                Answer::NoPendingAsk => {
                    let message = "nothing that this resume names is open on the thread";
                    return self.not_dispatched(request, "no_pending_ask", message).await;
                }
                Answer::NotCovered { missing } => {
                    let missing = missing.join(", ");
                    let message = format!("the resume must cover every open ask; missing: {missing}");
                    return self.not_dispatched(request, "asks_not_covered", &message).await;
                }
            };
            let id = asking.clone();
            request.answers = self.context.record().read(move |store| store.run(&id)).await?;
            match self.context.open(request.clone()).await {
                // Another request was first, and what this one answers now is to be seen.
                Err(DoorError::AlreadyAnswered(_)) if lost.as_ref() != Some(&asking) => lost = Some(asking),
                opened => return opened.map(AguiStream::of_run),
            }
        }
    }

    /// A run's events again, after the number `after`, and on to its end.
    ///
    /// # Errors
    /// [`DoorError::RunNotFound`]; [`DoorError::StreamTaken`]; [`DoorError::Store`].
    pub async fn replay(
        &self,
        agent: &AgentAddress,
        run: &RunId,
        after: u64,
    ) -> Result<AguiStream, DoorError> {
        let (run, _) = self.context.find_run(agent, run).await?;
        self.context.stream(&run, after).map(AguiStream::of_run)
    }

    /// Which waiting lineage the request answers.
    async fn find_ask(&self, request: &Request) -> Result<Answer, StoreError> {
        let replies = Replies::of(&request.input);
        let waiting = match &request.thread {
            Some(thread) if !replies.is_empty() => {
                let id = thread.id.clone();
                self.context.record().read(move |store| store.waiting(&id)).await?
            }
            Some(_) | None => Vec::new(),
        };
        Ok(replies.judge(waiting))
    }

    /// A stream of three events about a resume that dispatches nothing.
    async fn not_dispatched(
        &self,
        Request { thread, input, .. }: Request,
        code: &str,
        message: &str,
    ) -> Result<AguiStream, DoorError> {
        let run = ids::run();
        let (id, recorded) = match thread {
            Some(Thread { id, .. }) => {
                let of = id.clone();
                let read =
                    move |store: &dyn Store| store.latest_messages(&of, history::MESSAGES, history::BYTES);
                (id, self.context.record().read(read).await?)
            }
            None => (ids::thread(), Vec::new()),
        };
        let snapshot = history::snapshot(&recorded, &input.messages);
        let events = [run_started(&id, &run), snapshot, run_error(code, message)];
        Ok(AguiStream { run, thread: id, source: Source::Said(events.into()) })
    }
}
