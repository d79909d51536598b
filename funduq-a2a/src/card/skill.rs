//! One thing an agent can do (A2A 1.0 §4.4.5).

use schemars::JsonSchema;
use serde::Serialize;

use super::SecurityRequirement;
use crate::wire::{Fields, ReadMessage, deserialize_as_message};

/// One thing an agent can do.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentSkill {
    /// Unique within the card; required.
    pub id: String,
    /// A name for people; required.
    pub name: String,
    /// What it does; required.
    pub description: String,
    /// Words that describe it; at least one.
    #[schemars(length(min = 1))]
    pub tags: Vec<String>,
    /// Prompts it can handle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    /// Media types it takes, in place of the card's; empty keeps the card's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_modes: Vec<String>,
    /// Media types it gives, in place of the card's; empty keeps the card's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output_modes: Vec<String>,
    /// Authentication it needs: any one entry suffices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub security_requirements: Vec<SecurityRequirement>,
}

impl ReadMessage for AgentSkill {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            id: fields.required_text("id"),
            name: fields.required_text("name"),
            description: fields.required_text("description"),
            tags: fields.required_list("tags"),
            examples: fields.or_default("examples"),
            input_modes: fields.or_default("inputModes"),
            output_modes: fields.or_default("outputModes"),
            security_requirements: fields.or_default("securityRequirements"),
        }
    }
}

deserialize_as_message!(AgentSkill);
