//! An artifact: what a task produced (A2A 1.0 §4.1.7).

use schemars::JsonSchema;
use serde::Serialize;

use super::Part;
use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message, unset};

/// One output of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Artifact {
    /// Unique within its task; required.
    pub artifact_id: String,
    /// A name for people.
    #[serde(skip_serializing_if = "unset")]
    pub name: Option<String>,
    /// A description for people.
    #[serde(skip_serializing_if = "unset")]
    pub description: Option<String>,
    /// The content; at least one part.
    #[schemars(length(min = 1))]
    pub parts: Vec<Part>,
    /// What the agent attaches to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// URIs of the extensions that contributed to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl ReadMessage for Artifact {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            artifact_id: fields.required_text("artifactId"),
            name: fields.text("name"),
            description: fields.text("description"),
            parts: fields.required_list("parts"),
            metadata: fields.optional("metadata"),
            extensions: fields.or_default("extensions"),
        }
    }
}

deserialize_as_message!(Artifact);
