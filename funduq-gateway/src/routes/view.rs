//! How the record is shown: threads and runs as JSON of the gateway's own.

use funduq_agui::RelayedInput;
use funduq_contract::{ActorChain, AgentName, PublicKey, RunId, ThreadId};
use funduq_core::{Run, RunMetadata, RunStatus, Thread};
use jiff::Timestamp;
use serde::{Serialize, Serializer};

/// A time of the record, Unix milliseconds, written as RFC 3339 in UTC.
#[derive(Debug, Clone, Copy)]
pub(super) struct Time(pub(super) i64);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A time that no calendar has is a fault of the record, and no reason to hide the rest of it.
        let time = Timestamp::from_millisecond(self.0).unwrap_or(Timestamp::UNIX_EPOCH);
        serializer.collect_str(&format_args!("{time:.3}"))
    }
}

/// A thread.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadView {
    thread_id: ThreadId,
    provider_key: PublicKey,
    agent_name: AgentName,
    /// The head of the chain that binds the thread; left out on an open one.
    #[serde(skip_serializing_if = "Option::is_none")]
    head: Option<PublicKey>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_thread_id: Option<ThreadId>,
    created_at: Time,
}

impl From<Thread> for ThreadView {
    fn from(thread: Thread) -> Self {
        Self {
            thread_id: thread.id,
            provider_key: thread.agent.provider,
            agent_name: thread.agent.name,
            head: thread.head,
            parent_thread_id: thread.parent,
            created_at: Time(thread.created_at),
        }
    }
}

/// A run without its input, which is as large as the conversation.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunView<'a> {
    run_id: &'a RunId,
    thread_id: &'a ThreadId,
    provider_key: PublicKey,
    agent_name: &'a AgentName,
    status: RunStatus,
    /// The first run of its lineage: the task that it belongs to.
    root_run_id: &'a RunId,
    /// The run whose asks it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers_run_id: Option<&'a RunId>,
    /// What the caller said that it continues.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent_run_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    addressed_run_id: Option<&'a RunId>,
    /// How many events it has; left out while it lives and they grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<u64>,
    created_at: Time,
    updated_at: Time,
    metadata: Metadata<'a>,
}

/// What funduq wrote about the run stands under its one key.
#[derive(Debug, Serialize)]
struct Metadata<'a> {
    funduq: &'a RunMetadata,
}

impl<'a> From<&'a Run> for RunView<'a> {
    fn from(run: &'a Run) -> Self {
        Self {
            run_id: &run.id,
            thread_id: &run.thread_id,
            provider_key: run.agent.provider,
            agent_name: &run.agent.name,
            status: run.status,
            root_run_id: &run.root_run_id,
            answers_run_id: run.answers_run_id.as_ref(),
            parent_run_id: run.input.parent_run_id.as_deref(),
            addressed_run_id: run.addressed_run_id.as_ref(),
            events: run.status.is_terminal().then_some(run.last_event),
            created_at: Time(run.created_at),
            updated_at: Time(run.updated_at),
            metadata: Metadata { funduq: &run.metadata },
        }
    }
}

/// A run with what it was asked and through whose hands.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WholeRun<'a> {
    #[serde(flatten)]
    run: RunView<'a>,
    input: &'a RelayedInput,
    #[serde(skip_serializing_if = "Option::is_none")]
    actor_chain: Option<&'a ActorChain>,
}

impl<'a> From<&'a Run> for WholeRun<'a> {
    fn from(run: &'a Run) -> Self {
        Self { run: run.into(), input: &run.input, actor_chain: run.chain.as_ref() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_with_its_milliseconds() {
        assert_eq!(serde_json::to_string(&Time(1_764_504_000_120)).unwrap(), "\"2025-11-30T12:00:00.120Z\"");
    }
}
