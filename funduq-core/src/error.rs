//! What core refuses, and why: one enum for callers at the doors, one for the host.

use std::time::Duration;

use funduq_contract::{AgentAddress, AgentName, ChainError, PublicKey, RunId, ThreadId};

use crate::record::StoreError;

/// Why a caller's request was refused. Nothing of it was recorded or dispatched.
///
/// Which status or code a caller sees is the transport's choice; [`DoorError::code`] is the word for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DoorError {
    /// The address names no agent that was ever registered. Contract page: a routing answer, the endpoint does not exist.
    #[error("there is no agent {0} here")]
    AgentNotFound(AgentAddress),
    /// The id names no thread of this agent.
    #[error("this agent has no thread {0}; leave the id out to start one")]
    ThreadNotFound(ThreadId),
    /// The thread belongs to another agent.
    #[error("thread {0} belongs to another agent")]
    ThreadOfAnotherAgent(ThreadId),
    /// The id names no run of this agent.
    #[error("this agent has no run {0}")]
    RunNotFound(RunId),
    /// Too many runs of the thread wait unclaimed. The request was not accepted: try again when the thread has drained.
    #[error(
        "thread {thread} has {limit} runs waiting, which is its limit; nothing was accepted, try again later"
    )]
    ThreadQueueFull {
        /// The thread.
        thread: ThreadId,
        /// The limit.
        limit: usize,
    },
    /// A chain was presented, and the transport did not say who is at the door.
    #[error("an actor chain needs an authenticated presenter: the transport has not said who is at the door")]
    PresenterRequired,
    /// The chain does not verify, or its last hop is not who is at the door.
    #[error("the actor chain is not valid: {0}")]
    InvalidChain(#[from] InvalidChain),
    /// The thread is bound, and the caller comes under neither its head nor the serving provider's key.
    #[error("thread {0} is bound to a chain's head; only that head or its provider may write to it")]
    ThreadMembershipRequired(ThreadId),
    /// An ask on a bound thread was answered without the signature that it takes.
    #[error("the answer to the ask of task {task} is not proven: {problem}")]
    InvalidResolution {
        /// The task that waits.
        task: RunId,
        /// What is wrong with the proof.
        problem: ProofProblem,
    },
    /// A cancel on a bound thread came without the signature that it takes.
    #[error("the cancel of run {run} is not proven: {problem}")]
    InvalidCancel {
        /// The run.
        run: RunId,
        /// What is wrong with the proof.
        problem: ProofProblem,
    },
    /// The kyok opt-in names an offering that is not registered.
    #[error("there is no LLM offering {name} of {provider} here")]
    UnknownOffering {
        /// Whose it would be.
        provider: PublicKey,
        /// Its name.
        name: AgentName,
    },
    /// Something in the request has the wrong shape.
    #[error("{field}: {problem}")]
    InvalidInput {
        /// Where it stands in the request.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The ask of the A2A task was answered by somebody else just now.
    #[error("the ask of task {0} was answered by another message just now")]
    AlreadyAnswered(RunId),
    /// The run has a live stream already; funduq serves one (A2A §3.5.2).
    #[error("run {0} has a live stream already; it can be subscribed to again when that one ends")]
    StreamTaken(RunId),
    /// funduq is not accepting work.
    #[error("funduq is not accepting work: {0}")]
    NotServing(NotServing),
    /// The record could not be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DoorError {
    /// A stable word for it, in snake case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AgentNotFound(_) => "agent_not_found",
            Self::ThreadNotFound(_) => "thread_not_found",
            Self::ThreadOfAnotherAgent(_) => "thread_of_another_agent",
            Self::RunNotFound(_) => "run_not_found",
            Self::ThreadQueueFull { .. } => "thread_queue_full",
            Self::PresenterRequired => "presenter_required",
            Self::InvalidChain(_) => "invalid_chain",
            Self::ThreadMembershipRequired(_) => "thread_membership_required",
            Self::InvalidResolution { .. } => "invalid_resolution",
            Self::InvalidCancel { .. } => "invalid_cancel",
            Self::UnknownOffering { .. } => "unknown_offering",
            Self::InvalidInput { .. } => "invalid_input",
            Self::AlreadyAnswered(_) => "already_answered",
            Self::StreamTaken(_) => "stream_taken",
            Self::NotServing(_) => "not_serving",
            Self::Store(_) => "record_unavailable",
        }
    }

    /// After how long another try makes sense, where it does.
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::ThreadQueueFull { .. } => Some(Duration::from_secs(1)),
            Self::NotServing(_) | Self::Store(_) => Some(Duration::from_secs(5)),
            _ => None,
        }
    }
}

/// Why a chain is refused at the door.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidChain {
    /// It does not verify.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// It verifies, and its last hop is somebody else: a chain is presented by who signed its last hop.
    #[error("its last hop is signed by {last}, and {presenter} presents it")]
    NotPresentedByItsLastHop {
        /// Who signed the last hop.
        last: PublicKey,
        /// Who is at the door.
        presenter: PublicKey,
    },
    /// funduq could not add its own hop.
    #[error("it has no room for the hop that funduq adds: {0}")]
    Full(ChainError),
}

/// What is wrong with a signature that proves authority over a bound thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProofProblem {
    /// There is none.
    #[error("there is no signature by the thread's head or its provider")]
    Missing,
    /// It is by neither key, or over other bytes.
    #[error("the signature is not the thread's head's nor its provider's over these bytes")]
    BadSignature,
    /// Its time is more than a minute away from now.
    #[error("its timestamp is more than 60 seconds away from now")]
    Stale,
}

/// Why funduq accepts no work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotServing {
    /// `start` was not called yet.
    #[error("it has not been started")]
    NotStarted,
    /// It is shutting down.
    #[error("it is shutting down")]
    Stopping,
    /// As many runs are live as it takes.
    #[error("{limit} runs are live, which is its limit; nothing was accepted, try again later")]
    TooManyRuns {
        /// The limit.
        limit: usize,
    },
}
