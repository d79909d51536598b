//! Messages of a conversation, typed: seven roles and those yet to come.

mod content;
mod roles;

pub use content::{
    AudioPart, Content, ContentPart, DataSource, DocumentPart, FileSource, ImagePart, PartSource, TextPart,
    UrlSource, VideoPart,
};
pub use roles::{
    ActivityMessage, AssistantMessage, DeveloperMessage, FunctionCall, ReasoningMessage, SystemMessage,
    ToolCall, ToolMessage, UserMessage,
};

use crate::wire::{string_enum, wire_union};

string_enum! {
    /// Who a message is from: its `role`.
    Role {
        /// The application's developer.
        Developer = "developer",
        /// The system prompt.
        System = "system",
        /// The agent.
        Assistant = "assistant",
        /// The user.
        User = "user",
        /// A tool, answering a call.
        Tool = "tool",
        /// Structured progress.
        Activity = "activity",
        /// The agent's reasoning.
        Reasoning = "reasoning",
    }
}

wire_union! {
    /// A message, told apart by `role`.
    Message by "role", untagged carried {
        /// From the application's developer.
        Developer(DeveloperMessage) = "developer",
        /// The system prompt.
        System(SystemMessage) = "system",
        /// From the agent.
        Assistant(AssistantMessage) = "assistant",
        /// From the user.
        User(UserMessage) = "user",
        /// From a tool, answering a call.
        Tool(ToolMessage) = "tool",
        /// Structured progress.
        Activity(ActivityMessage) = "activity",
        /// The agent's reasoning.
        Reasoning(ReasoningMessage) = "reasoning",
    }
}
