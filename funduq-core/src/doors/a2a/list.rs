//! Listing tasks: those of one context, the newest status first, page by page (A2A 1.0 §3.1.4).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use funduq_a2a::{A2aError, ListTasksRequest, ListTasksResponse, Task, TaskState};
use funduq_contract::{AgentAddress, PublicKey, ThreadId};

use super::A2aAdapter;
use super::error::A2aDoorError;
use super::fold::error_message;
use super::intake::history_length;
use super::snapshot::Snapshot;
use super::task::{self, Said, status};
use crate::record::{
    PAGE_BYTES, Run, RunStatus, Store, StoreError, TaskPlace, TaskQuery, TaskStanding, Thread,
};

const DEFAULT_PAGE: i32 = 50;
const LARGEST_PAGE: i32 = 100;

/// A request whose own words are in order.
struct Wanted {
    /// No task ever stands otherwise than these, so a filter for another state finds none.
    standing: Result<Option<TaskStanding>, NeverSo>,
    since: Option<i64>,
    after: Option<TaskPlace>,
    page_size: i32,
    history_length: Option<usize>,
    artifacts: bool,
}

/// A state that no task of funduq's is ever in.
struct NeverSo;

impl A2aAdapter {
    /// The tasks of a context. The id that a caller holds is what makes them visible: without one, or with one that
    /// names no thread of this agent, the page is empty. On a bound thread the reader, which is the key that the
    /// transport authenticated, must be a party, or the page is empty likewise.
    ///
    /// # Errors
    /// [`A2aError::InvalidParams`] for a page size, token or filter that is none; [`DoorError::AgentNotFound`] and
    /// [`DoorError::Store`](crate::DoorError::Store).
    ///
    /// [`DoorError::AgentNotFound`]: crate::DoorError::AgentNotFound
    pub async fn list_tasks(
        &self,
        agent: &AgentAddress,
        request: ListTasksRequest,
        presenter: Option<PublicKey>,
    ) -> Result<ListTasksResponse, A2aDoorError> {
        self.context.check_agent(agent).await?;
        let context = request.context_id.clone().and_then(|id| ThreadId::new(id).ok());
        let wanted = wanted(&request)?;
        let empty = ListTasksResponse { page_size: wanted.page_size, ..ListTasksResponse::default() };
        let (Some(id), Ok(standing)) = (context, wanted.standing) else { return Ok(empty) };
        let wanted = Wanted { standing: Ok(standing), ..wanted };
        let agent = agent.clone();
        let read = self.context.record().read(move |store| {
            let visible = |thread: &Thread| thread.agent == agent && thread.is_open_to(presenter);
            if !store.thread(&id)?.is_some_and(|thread| visible(&thread)) {
                return Ok(None);
            }
            page(store, id, standing, &wanted).map(Some)
        });
        Ok(read.await?.unwrap_or(empty))
    }
}

fn wanted(request: &ListTasksRequest) -> Result<Wanted, A2aError> {
    let page_size = request.page_size.unwrap_or(DEFAULT_PAGE);
    if !(1..=LARGEST_PAGE).contains(&page_size) {
        return Err(A2aError::invalid_field("pageSize", format!("must be from 1 to {LARGEST_PAGE}")));
    }
    let token = request.page_token.as_deref().filter(|token| !token.is_empty());
    Ok(Wanted {
        standing: match &request.status {
            None | Some(TaskState::Unspecified) => Ok(None),
            Some(TaskState::Submitted) => Ok(Some(TaskStanding::Unclaimed)),
            Some(TaskState::Working) => Ok(Some(TaskStanding::Claimed)),
            Some(TaskState::InputRequired) => Ok(Some(TaskStanding::Waiting)),
            Some(TaskState::Completed) => Ok(Some(TaskStanding::Completed)),
            Some(TaskState::Failed) => Ok(Some(TaskStanding::Failed)),
            Some(TaskState::Canceled) => Ok(Some(TaskStanding::Cancelled)),
            Some(TaskState::Rejected | TaskState::AuthRequired) => Err(NeverSo),
            Some(TaskState::Unknown(_)) => {
                let known = TaskState::NAMES.join(", ");
                return Err(A2aError::invalid_field("status", format!("must be one of {known}")));
            }
        },
        since: request.status_timestamp_after.map(|after| after.unix_millis()),
        after: token.map(read_token).transpose()?,
        page_size,
        history_length: history_length("historyLength", request.history_length)?,
        artifacts: request.include_artifacts.unwrap_or_default(),
    })
}

fn page(
    store: &dyn Store,
    thread: ThreadId,
    standing: Option<TaskStanding>,
    wanted: &Wanted,
) -> Result<ListTasksResponse, StoreError> {
    let limit = wanted.page_size as usize;
    let query = TaskQuery { thread, standing, since: wanted.since, after: wanted.after, limit };
    let found = store.tasks(&query)?;
    let mut tails = found.tails.into_iter();
    let (mut tasks, mut bytes, mut last) = (Vec::new(), 0, None);
    while bytes < PAGE_BYTES
        && let Some((place, tail)) = tails.next()
    {
        let task = listed(store, tail, wanted)?;
        bytes += task::size(&task);
        tasks.push(task);
        last = Some(place);
    }
    let more = found.more || tails.next().is_some();
    Ok(ListTasksResponse {
        tasks,
        next_page_token: last.filter(|_| more).map(token).unwrap_or_default(),
        page_size: wanted.page_size,
        total_size: i32::try_from(found.total).unwrap_or(i32::MAX),
    })
}

/// A task as a list has it: without its events, and without artifacts unless they are asked for.
fn listed(store: &dyn Store, tail: Run, wanted: &Wanted) -> Result<Task, StoreError> {
    let runs = match tail.answers_run_id.is_some() && wanted.history_length != Some(0) || wanted.artifacts {
        true => {
            let mut runs = store.lineage(&tail.root_run_id)?;
            // Whatever was answered since the list was read is not in the list yet.
            let upto = runs.iter().position(|run| run.id == tail.id).map_or(0, |at| at + 1);
            runs.truncate(upto);
            runs
        }
        false => Vec::new(),
    };
    let runs = if runs.is_empty() { vec![tail] } else { runs };
    if wanted.artifacts {
        let Snapshot { runs, fold, .. } = Snapshot::now(store, runs)?;
        let Some(tail) = runs.last() else { return Ok(Task::default()) };
        let status = status(tail, fold.error());
        return Ok(listed_as(&runs, status, fold.artifacts(), wanted));
    }
    let Some(tail) = runs.last() else { return Ok(Task::default()) };
    let error = match tail.status {
        RunStatus::Failed => {
            store.events(&tail.id, tail.last_event.saturating_sub(1), 1)?.first().and_then(error_message)
        }
        _ => None,
    };
    Ok(listed_as(&runs, status(tail, error.as_deref()), Vec::new(), wanted))
}

fn listed_as(
    runs: &[Run],
    status: funduq_a2a::TaskStatus,
    artifacts: Vec<funduq_a2a::Artifact>,
    wanted: &Wanted,
) -> Task {
    let metadata = runs.last().and_then(|tail| Said::default().recorded(&tail.metadata).metadata());
    task::task(runs, status, artifacts, wanted.history_length, metadata)
}

/// A place in the list as a page token, which is opaque to callers.
fn token(place: TaskPlace) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{}", place.updated_at, place.number))
}

fn read_token(token: &str) -> Result<TaskPlace, A2aError> {
    let read = || {
        let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
        let (updated_at, number) = std::str::from_utf8(&bytes).ok()?.split_once('.')?;
        Some(TaskPlace { updated_at: updated_at.parse().ok()?, number: number.parse().ok()? })
    };
    read().ok_or_else(|| A2aError::invalid_field("pageToken", "must be the nextPageToken of an earlier page"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_reads_back_and_nothing_else_does() {
        let place = TaskPlace { updated_at: 1_764_504_000_123, number: 42 };
        assert_eq!(read_token(&token(place)).unwrap(), place);
        for bad in ["x", "42", "ÿ", "MTIz", "LjE", "MS4tMQ"] {
            assert!(read_token(bad).is_err(), "{bad}");
        }
    }
}
