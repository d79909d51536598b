//! A completion on its way to the LLM provider that holds the key, and what comes back.

use crate::chain::ActorChain;
use crate::ids::{AgentAddress, AgentName, RunId};
use crate::raw::RawJson;
use funduq_agui::RawObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::ids::CompletionId;

/// funduq hands a completion to the LLM provider that the run's caller opted in to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Complete {
    /// The completion.
    pub completion: DeliveredCompletion,
}

/// A completion as it reaches the LLM provider: everything that its policy may want to know, and the body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeliveredCompletion {
    /// The completion's id, which is funduq's; everything that comes back repeats it.
    pub completion_id: CompletionId,
    /// The run whose agent calls.
    pub run_id: RunId,
    /// The agent that calls; its key is proved by the call's signature.
    pub agent: AgentAddress,
    /// Which of the provider's offerings is meant.
    pub llm_name: AgentName,
    /// What the run's caller wrote beside the opt-in, as sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<RawJson>,
    /// The run's chain as funduq relayed it; left out where the run has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_chain: Option<ActorChain>,
    /// The OpenAI chat-completion request as the agent sent it.
    pub body: RawObject,
}

/// One OpenAI chat-completion chunk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Chunk {
    /// The completion that it belongs to.
    pub completion_id: CompletionId,
    /// The chunk as the provider made it.
    pub chunk: RawJson,
}

/// The completion is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompletionEnd {
    /// The completion.
    pub completion_id: CompletionId,
}

/// The completion will not be whole: the provider refused it, or failed at it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompletionFailed {
    /// The completion.
    pub completion_id: CompletionId,
    /// The provider's own object; the agent gets it as the OpenAI `error`.
    pub error: RawObject,
    /// Whether it is the provider's decision (`true`) or its failure (`false`).
    pub refused: bool,
}

/// Nobody reads the completion any more: the provider stops.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CancelCompletion {
    /// The completion.
    pub completion_id: CompletionId,
}
