//! What a link serves: the agents or the LLM offerings that a provider publishes on it.

use crate::ids::AgentName;
use funduq_agui::RawObject;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One agent that a provider publishes. Nothing is signed here: the key was proved when the link opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Registration {
    /// The agent's name under the provider's key.
    pub name: AgentName,
    /// What the agent does, for people and for its A2A card. Default: nothing.
    #[serde(default)]
    pub description: String,
    /// Members that go into the agent's A2A card as they are, beside those that funduq writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_card_extra: Option<RawObject>,
    /// The provider's own data about the agent; funduq stores it and reads nothing from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<RawObject>,
    /// Whether the agent judges messages that are addressed to a run in flight. Default: no.
    #[serde(default)]
    pub takes_interjections: bool,
}

impl Registration {
    /// An agent with this name and nothing else said about it.
    pub fn new(name: AgentName) -> Self {
        Self {
            name,
            description: String::new(),
            agent_card_extra: None,
            metadata: None,
            takes_interjections: false,
        }
    }
}

/// The LLM offerings that a provider publishes on its LLM link: names, and one object about them all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LlmRegistration {
    /// The offerings' names under the provider's key; exactly these are served from now on.
    pub names: Vec<AgentName>,
    /// The provider's own data about its offerings; funduq stores it and reads nothing from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Option<RawObject>,
}
