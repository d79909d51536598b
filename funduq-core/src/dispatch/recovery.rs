//! Taking up what an earlier process left: queued runs go back to their threads in the order of arrival, and
//! whatever a provider may have had fails as orphaned, since nobody can say what became of it.

use std::sync::Arc;

use funduq_agui::RunFold;

use tokio::sync::oneshot;

use super::own;
use super::relay::{Dispatch, Letter};
use super::thread::{OwnTerminal, Settlement};
use crate::clock;
use crate::record::{FailureReason, Run, RunStatus, Settle, Store, StoreError, Write, told};

/// How many events are read from the record at once.
const PAGE: usize = 1024;

impl Dispatch {
    /// Recovers every run that has not ended, before anything is accepted; afterwards it does nothing. When it fails it
    /// has taken up no run, and may be called again.
    pub(crate) async fn recover(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.record.is_started() {
            return Ok(());
        }
        let unfinished = self.record.read(|store| store.unfinished()).await?;
        let (queued, orphaned): (Vec<_>, Vec<_>) = unfinished.into_iter().partition(never_taken);
        let counts = (queued.len(), orphaned.len());
        for run in orphaned {
            let (thread, provider) = (run.thread_id.clone(), run.agent.provider);
            let settle = self.record.read(move |store| orphan(store, run)).await?;
            let (run, status, metadata) = (settle.run.clone(), settle.status, settle.metadata.clone());
            self.record.write_and_wait(Write::Settle(Box::new(settle))).await?;
            told::ended(&run, &thread, &provider, status, &metadata);
        }
        // Nothing may fail from here on: a run that is taken up twice would be offered twice.
        let mut restored = Vec::with_capacity(queued.len());
        for run in queued {
            let (thread, agent) = (run.thread_id.clone(), run.agent.clone());
            let (live, is_live) = oneshot::channel();
            self.post_or_start(&thread, &agent, Letter::Restore(Box::new(run), live));
            restored.push(is_live);
        }
        // Whoever asks for one of them after the start finds it live, and not a record that stands still.
        for is_live in restored {
            // An owner that is gone was ended with the runtime.
            let _ = is_live.await;
        }
        if counts != (0, 0) {
            let (queued, orphaned) = counts;
            tracing::info!(queued, orphaned, "took up the runs of an earlier process");
        }
        self.record.started();
        Ok(())
    }
}

/// Whether no provider has had the run.
fn never_taken(run: &Run) -> bool {
    run.status == RunStatus::Queued && run.last_event == 0
}

/// The end of a run that was live in another process. What it had said so far stays in its thread's history.
fn orphan(store: &dyn Store, run: Run) -> Result<Settle, StoreError> {
    let mut fold = RunFold::over(&run.input.messages);
    let mut after = 0;
    loop {
        let page = store.events(&run.id, after, PAGE)?;
        for event in &page {
            fold.push(event);
        }
        after += page.len() as u64;
        if page.is_empty() {
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
