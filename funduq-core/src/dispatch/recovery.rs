//! Taking up what an earlier process left: queued runs go back to their threads in the order of arrival, and
//! whatever a provider may have had fails as orphaned, since nobody can say what became of it.

use std::sync::Arc;

use funduq_agui::RunFold;

use super::own;
use super::relay::{Dispatch, Letter};
use super::thread::{OwnTerminal, Settlement};
use crate::clock;
use crate::record::{FailureReason, Run, RunStatus, Settle, Store, StoreError, Write};

/// How many events are read from the record at once.
const PAGE: usize = 1024;

impl Dispatch {
    /// Recovers every run that has not ended. Called once, before anything is accepted.
    pub(crate) async fn recover(self: &Arc<Self>) -> Result<(), StoreError> {
        let unfinished = self.record.read(|store| store.unfinished()).await?;
        let (mut queued, mut orphaned) = (0, 0);
        for run in unfinished {
            if run.status == RunStatus::Queued {
                queued += 1;
                let (thread, agent) = (run.thread_id.clone(), run.agent.clone());
                self.post_or_start(&thread, &agent, Letter::Restore(Box::new(run)));
            } else {
                orphaned += 1;
                let settle = self.record.read(move |store| orphan(store, run)).await?;
                self.record.write_and_wait(Write::Settle(Box::new(settle))).await?;
            }
        }
        if queued + orphaned > 0 {
            tracing::info!(queued, orphaned, "took up the runs of an earlier process");
        }
        Ok(())
    }
}

/// The end of a run that was live in another process. What it had said so far stays in its thread's history.
fn orphan(store: &dyn Store, run: Run) -> Result<Settle, StoreError> {
    let mut fold = RunFold::new();
    let mut after = 0;
    loop {
        let page = store.events(&run.id, after, PAGE)?;
        for event in &page {
            fold.push(event);
        }
        after += page.len() as u64;
        if page.len() < PAGE {
            break;
        }
    }
    let settlement = Settlement {
        status: RunStatus::Failed,
        reason: Some(FailureReason::OrphanedByRestart),
        own_event: Some(OwnTerminal::Failure),
    };
    let events = own::closing(&run.thread_id, &run.id, &settlement, after > 0);
    let mut metadata = run.metadata;
    metadata.failure_reason = Some(FailureReason::OrphanedByRestart.as_str().to_owned());
    Ok(Settle {
        run: run.id,
        status: settlement.status,
        metadata,
        first: after + 1,
        events,
        messages: fold.messages(),
        at: clock::now_millis(),
    })
}
