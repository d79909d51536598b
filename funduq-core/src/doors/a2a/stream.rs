//! A task's live stream: first the whole task, then update by update, until it has ended or waits (A2A 1.0 §3.1.2, §11.7).

use std::collections::VecDeque;

use funduq_a2a::{StreamResponse, TaskState, TaskStatus};
use funduq_agui::RelayedEvent;

use super::error::A2aDoorError;
use super::fold::{Fold, Update};
use super::snapshot::Snapshot;
use super::task::{self, Label, Said, bare_status, status};
use crate::clock;
use crate::doors::open::DoorContext;
use crate::error::{DoorError, NotServing};
use crate::record::{Run, RunStream, StreamEnd};

/// One event of a task's stream, with its place.
#[derive(Debug, Clone)]
pub struct TaskEvent {
    /// The place, `{run}:{number}`: a stream taken up after it goes on with the next event. The first event's is the
    /// place that the whole task is of.
    pub id: String,
    /// The event.
    pub event: StreamResponse,
}

/// The events of one streaming request. The first is the whole task; the last says that it has ended or waits.
///
/// An event is in the record before it is here. A dropped stream stops nothing but itself, and another may take its
/// place at once.
#[derive(Debug)]
pub struct TaskStream {
    context: Context,
    label: Label,
    runs: Vec<Run>,
    /// The run that is being read.
    at: usize,
    source: Option<RunStream>,
    fold: Fold,
    /// How many updates the run has made.
    updates: u64,
    working_since: Option<i64>,
    ready: VecDeque<TaskEvent>,
    /// A run's end, whose status is still to be read.
    terminal: Option<RelayedEvent>,
}

/// What a stream needs of core.
struct Context(DoorContext);

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DoorContext")
    }
}

impl TaskStream {
    /// The stream from a point on. `source` has the events of the point's run from there.
    pub(super) fn new(
        context: DoorContext,
        snapshot: Snapshot,
        source: Option<RunStream>,
        history_length: Option<usize>,
    ) -> Self {
        let first = first_event(&snapshot, history_length);
        let source = source.filter(|_| !snapshot.is_whole());
        let Snapshot { runs, at, mut fold, updates, behind, .. } = snapshot;
        fold.forget();
        let label = Label::of(&runs[at]);
        let working_since = Some(&runs[at]).filter(|run| run.status.is_claimed()).map(|run| run.updated_at);
        let context = Context(context);
        let (ready, terminal) = (VecDeque::from([first]), None);
        let mut stream =
            Self { context, label, runs, at, source, fold, updates, working_since, ready, terminal };
        stream.take(behind);
        stream
    }

    /// The task's id.
    pub fn task_id(&self) -> &funduq_contract::RunId {
        &self.label.task
    }

    /// The context's id.
    pub fn context_id(&self) -> &funduq_contract::ThreadId {
        &self.label.context
    }

    /// The run whose events come now.
    pub fn run_id(&self) -> &funduq_contract::RunId {
        &self.runs[self.at].id
    }

    /// The next event; `None` at the end. Cancel-safe.
    ///
    /// # Errors
    /// [`DoorError::Store`] when the record cannot be read, and the stream may be polled again.
    /// [`DoorError::NotServing`] when funduq stops while the task is queued; it goes on after the restart, without this
    /// stream.
    pub async fn next(&mut self) -> Result<Option<TaskEvent>, A2aDoorError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.terminal.is_some() {
                self.finish_run().await?;
                continue;
            }
            let Some(source) = &mut self.source else { return Ok(None) };
            if let Some(numbered) = source.next().await? {
                self.push(&numbered.event);
                continue;
            }
            if source.end() == Some(StreamEnd::Suspended) {
                self.source = None;
                return Err(DoorError::NotServing(NotServing::Stopping).into());
            }
            self.next_run()?;
        }
    }

    /// An event that needs no waiting, if there is one.
    pub fn next_ready(&mut self) -> Option<TaskEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.terminal.is_some() {
                return None;
            }
            let numbered = self.source.as_mut()?.next_ready()?;
            self.push(&numbered.event);
        }
    }

    fn push(&mut self, event: &RelayedEvent) {
        let mut updates = Vec::new();
        self.fold.push(event, &mut updates);
        self.take(updates);
    }

    fn take(&mut self, updates: Vec<Update>) {
        for update in updates {
            self.updates += 1;
            let event = match update {
                Update::Text(piece) => self.label.artifact_update(piece),
                Update::Event(event) if event.terminal().is_some() => {
                    self.terminal = Some(event);
                    return;
                }
                Update::Event(event) => {
                    let since = *self.working_since.get_or_insert_with(clock::now_millis);
                    let metadata = Said::default().event(&event).metadata();
                    self.label.status_update(bare_status(TaskState::Working, since), metadata)
                }
            };
            self.ready.push_back(TaskEvent { id: place(&self.runs[self.at], self.updates), event });
        }
    }

    /// The last update of a run is the status that the record has of it, so that the stream ends on what `GetTask` says.
    async fn finish_run(&mut self) -> Result<(), A2aDoorError> {
        let Some(terminal) = &self.terminal else { return Ok(()) };
        let id = self.runs[self.at].id.clone();
        if let Some(run) = self.context.0.record().read(move |store| store.run(&id)).await? {
            self.runs[self.at] = run;
        }
        let run = &self.runs[self.at];
        let metadata = Said::default().recorded(&run.metadata).event(terminal).metadata();
        let event = self.label.status_update(status(run, self.fold.error()), metadata);
        self.ready.push_back(TaskEvent { id: place(run, self.updates), event });
        self.terminal = None;
        self.next_run()
    }

    /// Goes on to the answer of the run that was read, where it was answered before this stream began.
    fn next_run(&mut self) -> Result<(), A2aDoorError> {
        self.source = None;
        if self.at + 1 < self.runs.len() {
            self.at += 1;
            self.updates = 0;
            self.working_since = None;
            self.source = Some(self.context.0.stream(&self.runs[self.at], 0)?);
        }
        Ok(())
    }
}

/// The whole task at the point.
fn first_event(snapshot: &Snapshot, history_length: Option<usize>) -> TaskEvent {
    let run = &snapshot.runs[snapshot.at];
    let is_over = run.status.is_terminal();
    let said = Said::default();
    // What is recorded of a run's end lies behind a point before it.
    let said = if !is_over || snapshot.is_whole() { said.recorded(&run.metadata) } else { said };
    let task = task::task(
        &snapshot.runs[..=snapshot.at],
        first_status(snapshot, run),
        snapshot.fold.artifacts(),
        history_length,
        said.events(&snapshot.fold).metadata(),
    );
    TaskEvent { id: place(run, snapshot.updates), event: StreamResponse::Task(task) }
}

fn first_status(snapshot: &Snapshot, run: &Run) -> TaskStatus {
    if snapshot.is_whole() {
        return status(run, snapshot.fold.error());
    }
    match (run.status.is_terminal(), snapshot.events) {
        (true, 0) => bare_status(TaskState::Submitted, run.created_at),
        (true, _) => bare_status(TaskState::Working, run.created_at),
        (false, 0) => bare_status(task::state(run), run.updated_at),
        (false, _) => bare_status(TaskState::Working, run.updated_at),
    }
}

fn place(run: &Run, updates: u64) -> String {
    format!("{}:{updates}", run.id)
}
