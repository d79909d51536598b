//! The lines of the log on runs: that one is open, and how it ended. One line each, of what is durable, and none for what
//! happens in between.

use funduq_contract::{PublicKey, RunId, ThreadId};

use super::model::{Run, RunMetadata, RunStatus};
use super::store::Write;
use super::stream::RunLog;
use crate::stats;

/// An operation is done; `log` is of the run that it is about, if that is live.
pub(super) fn done(write: &Write, log: Option<&RunLog>) {
    match (write, log) {
        (Write::OpenRun(open), _) => {
            let Run { id, thread_id, agent, status, metadata, .. } = &open.run;
            let provider = &agent.provider;
            tracing::debug!(run = %id, thread = %thread_id, provider = %provider.fingerprint(), agent = %agent.name, "a run is open");
            if status.is_terminal() {
                ended(id, thread_id, provider, *status, metadata);
            }
        }
        (Write::Settle(settle), Some(log)) => {
            ended(&settle.run, &log.thread, &log.provider, settle.status, &settle.metadata);
        }
        _ => {}
    }
}

/// A run has ended. The reason is one of a list in the code: what a provider says in its own words is content.
pub(crate) fn ended(
    run: &RunId,
    thread: &ThreadId,
    provider: &PublicKey,
    outcome: RunStatus,
    metadata: &RunMetadata,
) {
    tracing::debug!(
        %run,
        %thread,
        provider = %provider.fingerprint(),
        outcome = outcome.as_str(),
        reason = stats::reason(outcome, metadata),
        "a run has ended"
    );
}
