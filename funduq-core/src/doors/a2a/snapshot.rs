//! A task read from the record: its lineage, and what the events of it add up to at some point.

use funduq_contract::{AgentAddress, RunId};

use super::fold::{Fold, Update};
use crate::record::{Run, Store, StoreError};

/// How many events are read at once.
const PAGE: usize = 1024;

/// What the record has under a task id.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing.
    Nothing,
    /// The task of another agent.
    OfAnother,
    /// The lineage: its root first, its tail last, never empty.
    Lineage(Vec<Run>),
}

/// Reads a lineage by its root, whose id is the task's. A later run's id is no task id.
pub(super) fn find(store: &dyn Store, agent: &AgentAddress, task: &RunId) -> Result<Found, StoreError> {
    let runs = store.lineage(task)?;
    Ok(match runs.first() {
        None => Found::Nothing,
        Some(root) if root.id != root.root_run_id => Found::Nothing,
        Some(root) if root.agent != *agent => Found::OfAnother,
        Some(_) => Found::Lineage(runs),
    })
}

/// A task at some point of its events.
#[derive(Debug)]
pub(super) struct Snapshot {
    /// The lineage, its tail as the record has it now.
    pub(super) runs: Vec<Run>,
    /// The run that the point is in.
    pub(super) at: usize,
    /// What everything up to the point adds up to.
    pub(super) fold: Fold,
    /// How many of that run's events the point is after.
    pub(super) events: u64,
    /// How many updates they make.
    pub(super) updates: u64,
    /// The updates of the last of those events that lie behind the point.
    pub(super) behind: Vec<Update>,
}

impl Snapshot {
    /// The point before anything of a run was seen, everything of the runs before it included.
    pub(super) fn before(store: &dyn Store, runs: Vec<Run>, at: usize) -> Result<Self, StoreError> {
        let mut snapshot =
            Self { runs, at: 0, fold: Fold::default(), events: 0, updates: 0, behind: Vec::new() };
        while snapshot.at < at {
            snapshot.read_on(store, u64::MAX)?;
            snapshot.next_run();
        }
        Ok(snapshot)
    }

    /// A point in a run, counted in its updates; `None` if the run has not made so many.
    pub(super) fn within(
        store: &dyn Store,
        runs: Vec<Run>,
        at: usize,
        updates: u64,
    ) -> Result<Option<Self>, StoreError> {
        let mut snapshot = Self::before(store, runs, at)?;
        snapshot.read_on(store, updates)?;
        Ok((snapshot.updates == updates).then_some(snapshot))
    }

    /// All that is recorded now, with the tail's status from before or after its end as its events are.
    pub(super) fn now(store: &dyn Store, runs: Vec<Run>) -> Result<Self, StoreError> {
        let tail = runs.len().saturating_sub(1);
        let mut snapshot = Self::before(store, runs, tail)?;
        let ended_before = snapshot.is_tail_ended();
        if snapshot.read_on(store, u64::MAX)? && !ended_before {
            // It ended between the two reads. The end and its status are one write, so the row says it now.
            snapshot.read_tail_again(store)?;
        }
        Ok(snapshot)
    }

    /// Whether the point is after everything that ever happens to the task, as far as is known.
    pub(super) fn is_whole(&self) -> bool {
        self.at + 1 == self.runs.len()
            && self.behind.is_empty()
            && self.is_tail_ended()
            && self.runs.last().is_some_and(|tail| self.events >= tail.last_event)
    }

    fn is_tail_ended(&self) -> bool {
        self.runs.last().is_some_and(|tail| tail.status.is_terminal())
    }

    fn read_tail_again(&mut self, store: &dyn Store) -> Result<(), StoreError> {
        if let Some(tail) = self.runs.last_mut()
            && let Some(now) = store.run(&tail.id)?
        {
            *tail = now;
        }
        Ok(())
    }

    fn next_run(&mut self) {
        self.at += 1;
        self.events = 0;
        self.updates = 0;
    }

    /// Reads the run's events on, until there are no more or they have made so many updates. Returns whether the last
    /// one ends the run.
    fn read_on(&mut self, store: &dyn Store, until: u64) -> Result<bool, StoreError> {
        let Some(run) = self.runs.get(self.at) else { return Ok(false) };
        let id = run.id.clone();
        let mut updates = Vec::new();
        let mut ends = false;
        while self.updates < until {
            let page = store.events(&id, self.events, PAGE)?;
            let is_last = page.is_empty();
            for event in page {
                if self.updates >= until {
                    return Ok(ends);
                }
                self.fold.push(&event, &mut updates);
                self.events += 1;
                ends = event.terminal().is_some();
                let made = updates.len() as u64;
                let fitting = made.min(until - self.updates);
                self.updates += fitting;
                self.behind = updates.split_off(fitting as usize);
                updates.clear();
            }
            if is_last || ends {
                break;
            }
        }
        Ok(ends)
    }
}
