//! What the record holds: threads, runs, their statuses and the words for why a run failed.

use std::fmt;

use funduq_agui::{RawObject, RelayedInput, RelayedMessage};
use funduq_contract::{ActorChain, AgentAddress, PublicKey, Registration, RunId, ThreadId};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Where a run stands. The only moves are `queued → offering → running → cancelling`,
/// `offering → queued` (an offer taken back), `queued|offering → failed|cancelled` and
/// `running|cancelling → completed|failed|cancelled`.
///
/// A run that finished asking is [`RunStatus::Completed`]; that its task waits for input is read
/// from [`RunMetadata`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum RunStatus {
    /// Recorded, and waiting for its turn to be offered.
    Queued,
    /// Offered to the provider, whose answer is outstanding.
    Offering,
    /// Accepted: claimed by the provider's key.
    Running,
    /// Claimed, and asked to stop; what happens is what will be recorded.
    Cancelling,
    /// Ended as the provider said, asks included.
    Completed,
    /// Ended in an error, the provider's or one that funduq observed.
    Failed,
    /// Ended because somebody asked for it.
    Cancelled,
}

impl RunStatus {
    /// Whether nothing more can happen to the run.
    pub fn is_terminal(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether a provider's key holds the run.
    pub fn is_claimed(self) -> bool {
        matches!(self, Self::Running | Self::Cancelling)
    }

    /// The word that the record and funduq's own JSON use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Offering => "offering",
            Self::Running => "running",
            Self::Cancelling => "cancelling",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// The status that [`RunStatus::as_str`] spells, or `None` for any other word.
    pub fn from_word(word: &str) -> Option<Self> {
        Some(match word {
            "queued" => Self::Queued,
            "offering" => Self::Offering,
            "running" => Self::Running,
            "cancelling" => Self::Cancelling,
            "completed" => Self::Completed,
            "failed" => Self::Failed,
            "cancelled" => Self::Cancelled,
            _ => return None,
        })
    }
}

/// Why funduq, or a provider's refusal, failed a run. Recorded under `metadata.funduq.failureReason`
/// and, where funduq writes the run's `RUN_ERROR`, as its `code`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureReason {
    /// Nobody served the agent when the run came to the door.
    AgentOffline,
    /// The run waited for the unserved limit and no provider of its agent came.
    NoProviderTookIt,
    /// Three offers lapsed without an answer.
    ProviderDidNotAnswer,
    /// The link of the key that holds the run went, and the key did not come back within the grace.
    ProviderLeftHoldingIt,
    /// The provider said that it had finished, without a terminal event.
    ProviderStreamEndedWithoutFinishing,
    /// An event had no type, or a known type and a wrong shape.
    MalformedEvent,
    /// The run was live in an earlier process of funduq.
    OrphanedByRestart,
    /// funduq stopped while the run was live.
    FunduqShutdown,
    /// The record could not be written.
    RecordUnavailable,
    /// The provider refused the run for good, in these words of its own.
    Refused(String),
}

impl FailureReason {
    /// The word (or, for a refusal, the provider's words) that the record keeps.
    pub fn as_str(&self) -> &str {
        match self {
            Self::AgentOffline => "agent_offline",
            Self::NoProviderTookIt => "no_provider_took_it",
            Self::ProviderDidNotAnswer => "provider_did_not_answer",
            Self::ProviderLeftHoldingIt => "provider_left_holding_it",
            Self::ProviderStreamEndedWithoutFinishing => "provider_stream_ended_without_finishing",
            Self::MalformedEvent => "malformed_event",
            Self::OrphanedByRestart => "orphaned_by_restart",
            Self::FunduqShutdown => "funduq_shutdown",
            Self::RecordUnavailable => "record_unavailable",
            Self::Refused(words) => words,
        }
    }

    /// The `code` of the `RUN_ERROR` that funduq writes for it: a word a machine can match.
    pub fn code(&self) -> &str {
        match self {
            Self::Refused(_) => "provider_refused",
            other => other.as_str(),
        }
    }

    /// The `message` of that `RUN_ERROR`: one sentence for a person.
    pub fn message(&self) -> &str {
        match self {
            Self::AgentOffline => "the agent is offline: no provider serves it right now",
            Self::NoProviderTookIt => "no provider of this agent took the run in time",
            Self::ProviderDidNotAnswer => "the provider did not answer the offer of this run",
            Self::ProviderLeftHoldingIt => {
                "the provider disconnected while it held this run and did not come back"
            }
            Self::ProviderStreamEndedWithoutFinishing => {
                "the provider ended the run without a terminal event"
            }
            Self::MalformedEvent => "the provider sent an event that is not valid AG-UI 1.0",
            Self::OrphanedByRestart => "funduq restarted while this run was live",
            Self::FunduqShutdown => "funduq shut down while this run was live",
            Self::RecordUnavailable => "funduq could not write this run's record",
            Self::Refused(words) => words,
        }
    }
}

impl fmt::Display for FailureReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One conversation with one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thread {
    /// The id, minted by funduq.
    pub id: ThreadId,
    /// The agent it belongs to, for ever.
    pub agent: AgentAddress,
    /// The head of the chain that its first run carried, which binds it; `None` on an open thread.
    pub head: Option<PublicKey>,
    /// The thread that this one hangs off, if its first run named one.
    pub parent: Option<ThreadId>,
    /// When it was opened, in Unix milliseconds.
    pub created_at: i64,
    /// Whether a run was ever opened on it: a thread minted beforehand is bound by its first run.
    pub has_runs: bool,
}

impl Thread {
    /// Whether a reader whom the transport authenticated as this key may read it where reads are guarded: anybody may an
    /// open thread, its head and its provider a bound one.
    pub fn is_open_to(&self, reader: Option<PublicKey>) -> bool {
        self.head.is_none_or(|head| reader.is_some_and(|key| key == head || key == self.agent.provider))
    }
}

/// One run: what was asked, through whose hands, and what became of it.
#[derive(Debug, Clone)]
pub struct Run {
    /// The id, minted by funduq.
    pub id: RunId,
    /// The thread it belongs to.
    pub thread_id: ThreadId,
    /// The agent it is for.
    pub agent: AgentAddress,
    /// Where it stands.
    pub status: RunStatus,
    /// The run input as the agent gets it, without what funduq adds under its own key.
    pub input: RelayedInput,
    /// The chain as relayed: what the caller presented, and funduq's dispatch hop.
    pub chain: Option<ActorChain>,
    /// The run whose asks this one answers: the lineage link, funduq's own.
    pub answers_run_id: Option<RunId>,
    /// The first run of its lineage: the id of the task, on A2A. Its own id, unless it answers.
    pub root_run_id: RunId,
    /// The target of an interjection, where the caller declared one.
    pub addressed_run_id: Option<RunId>,
    /// What funduq itself wrote about the run.
    pub metadata: RunMetadata,
    /// The highest event number recorded; events count from 1.
    pub last_event: u64,
    /// When it was opened, in Unix milliseconds.
    pub created_at: i64,
    /// When its status last changed, in Unix milliseconds.
    pub updated_at: i64,
}

impl Run {
    /// Whether the request went through the hands of this key: whether it signed a hop of the chain. An agent that hands
    /// its run on is no party of the thread that this opens, and is who asked.
    pub fn went_through(&self, key: PublicKey) -> bool {
        let verified = self.chain.as_ref().and_then(|chain| chain.verify().ok());
        verified.is_some_and(|chain| chain.hops().iter().any(|hop| hop.key == key))
    }
}

/// Everything that funduq writes into a run's record, under the one metadata key `funduq`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunMetadata {
    /// The interrupts that the run ended on, as the provider sent them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<Box<RawValue>>,
    /// The tool calls that the run ended without a result for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_tool_calls: Vec<PendingCall>,
    /// Why the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure_reason: Option<String>,
    /// The key that proved its right to answer an ask with this run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<PublicKey>,
    /// The key that proved its right to ask for this run's cancel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancel_requested_by: Option<PublicKey>,
    /// Whether a cancel was asked for, by anybody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancel_requested: bool,
}

impl RunMetadata {
    /// The ids of the asks that the run left open: interrupts, then tool calls.
    pub fn ask_ids(&self) -> Vec<String> {
        let Asks { mut interrupts, tool_calls } = self.asks();
        interrupts.extend(tool_calls);
        interrupts
    }

    /// The ids of the asks that the run left open.
    pub fn asks(&self) -> Asks {
        #[derive(Deserialize)]
        struct Id {
            id: String,
        }
        let id = |raw: &RawValue| serde_json::from_str::<Id>(raw.get()).ok().map(|interrupt| interrupt.id);
        Asks {
            interrupts: self.interrupts.iter().filter_map(|raw| id(raw)).collect(),
            tool_calls: self.pending_tool_calls.iter().map(|call| call.id.clone()).collect(),
        }
    }

    /// Whether the run left nothing open.
    pub fn has_no_asks(&self) -> bool {
        self.interrupts.is_empty() && self.pending_tool_calls.is_empty()
    }
}

/// The ids of what a run left open (AG-UI 1.0).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asks {
    /// Interrupts, which a resume answers.
    pub interrupts: Vec<String>,
    /// Tool calls, which tool messages answer too.
    pub tool_calls: Vec<String>,
}

/// A run that ended with asks open and that no run answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingRun {
    /// The run.
    pub id: RunId,
    /// What it waits for.
    pub asks: Asks,
}

/// A tool call that a run left for its caller to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingCall {
    /// The tool call's id, which is the ask's id.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as streamed: JSON text, as a rule.
    pub arguments: String,
}

/// One message of a thread's history.
#[derive(Debug, Clone)]
pub struct ThreadMessage {
    /// Its place in the thread, counted from 1.
    pub position: u64,
    /// The run that brought or made it.
    pub run_id: RunId,
    /// The message as it came.
    pub message: RelayedMessage,
}

/// An agent that a provider registered at least once.
#[derive(Debug, Clone)]
pub struct AgentRecord {
    /// Whose, and under which name.
    pub address: AgentAddress,
    /// What it says it is.
    pub description: String,
    /// Card members that the provider published.
    pub agent_card_extra: Option<RawObject>,
    /// The provider's own metadata.
    pub metadata: Option<RawObject>,
    /// Whether it takes runs addressed to one in flight.
    pub takes_interjections: bool,
    /// When it was first registered, in Unix milliseconds.
    pub joined_at: i64,
    /// When it was last registered or seen leaving, in Unix milliseconds.
    pub last_seen_at: i64,
}

impl AgentRecord {
    /// The record of an agent as its provider has just published it.
    pub fn registered(address: AgentAddress, agent: &Registration, joined_at: i64, at: i64) -> Self {
        Self {
            address,
            description: agent.description.clone(),
            agent_card_extra: agent.agent_card_extra.clone(),
            metadata: agent.metadata.clone(),
            takes_interjections: agent.takes_interjections,
            joined_at,
            last_seen_at: at,
        }
    }
}
