//! Messages of 0.3.

use serde::Serialize;

use super::Part;
use crate::wire::{Fields, JsonObject, ReadMessage, deserialize_as_message, open_enum, unset};
use crate::{Message as MessageV1, Role as RoleV1};

open_enum! {
    /// Who speaks.
    pub enum Role {
        /// The agent, towards the client.
        Agent = "agent",
        /// The client, towards the agent.
        User = "user",
    }
}

/// One turn, from either side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(tag = "kind", rename = "message", rename_all = "camelCase")]
pub struct Message {
    /// The id its author gave it; required.
    pub message_id: String,
    /// The context it belongs to.
    #[serde(skip_serializing_if = "unset")]
    pub context_id: Option<String>,
    /// The task it belongs to or answers.
    #[serde(skip_serializing_if = "unset")]
    pub task_id: Option<String>,
    /// Who speaks; required.
    pub role: Role,
    /// The content; at least one part.
    pub parts: Vec<Part>,
    /// What the parties attach to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// URIs of the extensions that contributed to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
    /// Tasks it refers to for context.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference_task_ids: Vec<String>,
}

impl ReadMessage for Message {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            message_id: fields.required_text("messageId"),
            context_id: fields.text("contextId"),
            task_id: fields.text("taskId"),
            role: fields.required("role"),
            parts: fields.required_list("parts"),
            metadata: fields.optional("metadata"),
            extensions: fields.or_default("extensions"),
            reference_task_ids: fields.or_default("referenceTaskIds"),
        }
    }
}

deserialize_as_message!(Message);

impl From<Role> for RoleV1 {
    fn from(role: Role) -> Self {
        match role {
            Role::Agent => Self::Agent,
            Role::User => Self::User,
            Role::Unknown(name) => Self::Unknown(name),
        }
    }
}

impl From<RoleV1> for Role {
    fn from(role: RoleV1) -> Self {
        match role {
            RoleV1::User => Self::User,
            RoleV1::Agent | RoleV1::Unspecified => Self::Agent,
            RoleV1::Unknown(name) => Self::Unknown(name),
        }
    }
}

impl From<Message> for MessageV1 {
    fn from(message: Message) -> Self {
        Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            role: message.role.into(),
            parts: message.parts.into_iter().map(Into::into).collect(),
            metadata: message.metadata,
            extensions: message.extensions,
            reference_task_ids: message.reference_task_ids,
        }
    }
}

impl From<MessageV1> for Message {
    fn from(message: MessageV1) -> Self {
        Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            role: message.role.into(),
            parts: message.parts.into_iter().map(Into::into).collect(),
            metadata: message.metadata,
            extensions: message.extensions,
            reference_task_ids: message.reference_task_ids,
        }
    }
}
