//! Lineages as a list: where each stands by its tail, the newest status first, page by page.

use std::collections::HashSet;

use funduq_contract::{RunId, ThreadId};

use super::model::{Run, RunStatus};
use super::store::{PAGE_BYTES, Store, StoreError, page_of};

/// Where a lineage stands, read from its tail: the run that no other answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskStanding {
    /// Nobody has claimed the tail yet.
    Unclaimed,
    /// A provider's key holds the tail.
    Claimed,
    /// The tail ended with asks open.
    Waiting,
    /// The tail ended as the provider said, and nothing is open.
    Completed,
    /// The tail ended in an error.
    Failed,
    /// The tail ended because somebody asked for it.
    Cancelled,
}

impl TaskStanding {
    /// Where the lineage with this tail stands.
    pub fn of(tail: &Run) -> Self {
        match tail.status {
            RunStatus::Queued | RunStatus::Offering => Self::Unclaimed,
            RunStatus::Running | RunStatus::Cancelling => Self::Claimed,
            RunStatus::Completed if tail.metadata.has_no_asks() => Self::Completed,
            RunStatus::Completed => Self::Waiting,
            RunStatus::Failed => Self::Failed,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

/// Which lineages of a thread to list.
#[derive(Debug, Clone)]
pub struct TaskQuery {
    /// The thread.
    pub thread: ThreadId,
    /// Only those that stand so.
    pub standing: Option<TaskStanding>,
    /// Only those whose status was recorded then or later, in Unix milliseconds.
    pub since: Option<i64>,
    /// Only those that come after this place.
    pub after: Option<TaskPlace>,
    /// How many at most; fewer where their inputs are a [page](super::PAGE_BYTES).
    pub limit: usize,
}

/// A lineage's place in a list: the time of its status, and its tail's number among all runs. The list goes down from
/// the highest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct TaskPlace {
    /// When the tail's status last changed, in Unix milliseconds.
    pub updated_at: i64,
    /// The tail's number, which is the engine's own.
    pub number: u64,
}

/// One page of lineages.
#[derive(Debug, Clone)]
pub struct TaskPage {
    /// Each one's place and tail, the newest status first.
    pub tails: Vec<(TaskPlace, Run)>,
    /// Whether more come after these.
    pub more: bool,
    /// How many match on all pages together.
    pub total: u64,
}

/// The list by the reads that every engine has. It goes over the whole thread, so an engine that holds much does it in
/// its own way.
pub(super) fn by_reading_all<S: Store + ?Sized>(
    store: &S,
    query: &TaskQuery,
) -> Result<TaskPage, StoreError> {
    let mut runs = Vec::new();
    loop {
        let page = store.runs(&query.thread, runs.len(), usize::MAX)?;
        if page.is_empty() {
            break;
        }
        runs.extend(page);
    }
    let answered: HashSet<RunId> = runs.iter().filter_map(|run| run.answers_run_id.clone()).collect();
    let mut tails: Vec<_> = (1..)
        .zip(runs)
        .filter(|(_, run)| !answered.contains(&run.id))
        .filter(|(_, run)| query.standing.is_none_or(|standing| TaskStanding::of(run) == standing))
        .filter(|(_, run)| query.since.is_none_or(|since| run.updated_at >= since))
        .map(|(number, run)| (TaskPlace { updated_at: run.updated_at, number }, run))
        .collect();
    let total = tails.len() as u64;
    tails.retain(|(place, _)| query.after.is_none_or(|after| *place < after));
    tails.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    let matching = tails.len();
    let tails = page_of(tails.into_iter(), query.limit, PAGE_BYTES, |(_, run)| run.input.to_json().len());
    Ok(TaskPage { more: tails.len() < matching, tails, total })
}
