//! An orderly stop: no new runs, the held ones end by themselves or are handed back by a deadline.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::{Inner, Run, Runtime};

/// How long the last events of runs that were stopped may take to be recorded.
const LAST_WORDS: Duration = Duration::from_secs(2);

impl Runtime {
    /// From now on every offer is declined and nothing is published any more; held runs go on.
    pub fn stop_accepting(&self) {
        self.inner.state().stopping = true;
    }

    /// Stops accepting, then waits until every held run has ended and is recorded.
    ///
    /// Runs that have not by `deadline` are handed back: their agents are dropped where they
    /// stand, and each run ends with `RUN_ERROR`, code `provider_stopped`. Answers whether all had ended by
    /// themselves. The link has to stay open meanwhile.
    pub async fn stop(&self, deadline: Duration) -> bool {
        self.stop_accepting();
        if timeout(deadline, self.inner.quiet()).await.is_ok() {
            return true;
        }
        tracing::warn!(runs = self.held_runs(), "the deadline passed; handing back what is still running");
        self.abandon();
        // What cannot be told to funduq by now it finds out by the link's end.
        let _in_time = timeout(LAST_WORDS, self.inner.quiet()).await;
        false
    }

    /// Stops every held run where it stands, without waiting.
    pub(crate) fn abandon(&self) {
        self.stop_accepting();
        let runs: Vec<Arc<Run>> = self.inner.state().runs.values().cloned().collect();
        for run in runs {
            run.abort.cancel();
        }
    }
}

impl Inner {
    /// Waits until no run is held.
    async fn quiet(&self) {
        loop {
            let mut quieter = pin!(self.quieter.notified());
            quieter.as_mut().enable();
            if self.state().runs.is_empty() {
                return;
            }
            quieter.await;
        }
    }
}
