//! A message: one turn of the conversation between a client and an agent (A2A 1.0 §4.1.4).

use schemars::JsonSchema;
use serde::Serialize;

use super::Part;
use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message, open_enum, unset};

open_enum! {
    /// Who speaks (A2A 1.0 §4.1.5).
    pub enum Role {
        /// Not said. Refused where a role is required.
        Unspecified = "ROLE_UNSPECIFIED",
        /// The client, towards the agent.
        User = "ROLE_USER",
        /// The agent, towards the client.
        Agent = "ROLE_AGENT",
    }
}

/// One turn, from either side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The id its author gave it; required.
    pub message_id: String,
    /// The context it belongs to; absent on a client's first message.
    #[serde(skip_serializing_if = "unset")]
    pub context_id: Option<String>,
    /// The task it belongs to or answers; absent when it starts a new one.
    #[serde(skip_serializing_if = "unset")]
    pub task_id: Option<String>,
    /// Who speaks; required.
    pub role: Role,
    /// The content; at least one part.
    #[schemars(length(min = 1))]
    pub parts: Vec<Part>,
    /// What the parties attach to this message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// URIs of the extensions that contributed to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Tasks it refers to for context, without continuing them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<String>,
}

impl ReadMessage for Message {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            message_id: fields.required_text("messageId"),
            context_id: fields.text("contextId"),
            task_id: fields.text("taskId"),
            role: read_role(fields),
            parts: fields.required_list("parts"),
            metadata: fields.optional("metadata"),
            extensions: fields.or_default("extensions"),
            reference_task_ids: fields.or_default("referenceTaskIds"),
        }
    }
}

/// The role; `ROLE_UNSPECIFIED` is the proto's word for "not set", so it does not count as given.
fn read_role(fields: &mut Fields<'_, '_>) -> Role {
    match fields.optional("role") {
        Some(Role::Unspecified) => fields.violation("role", "must be ROLE_USER or ROLE_AGENT"),
        Some(role) => return role,
        None if fields.is_set("role") => {}
        None => fields.violation("role", "is required"),
    }
    Role::Unspecified
}

deserialize_as_message!(Message);
