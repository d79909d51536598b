//! AG-UI 1.0 wire models, the relayed event, and the folds that funduq reads a run by.

mod capabilities;
mod check;
pub mod event;
mod fold;
mod input;
mod interrupt;
mod json;
pub mod message;
pub mod patch;
mod raw;
mod relayed;
#[cfg(test)]
mod tests;
mod usage;
mod wire;

pub use capabilities::{
    AgentCapabilities, ExecutionCapabilities, HumanInTheLoopCapabilities, IdentityCapabilities,
    MultiAgentCapabilities, MultimodalCapabilities, MultimodalInputCapabilities,
    MultimodalOutputCapabilities, OutputCapabilities, ReasoningCapabilities, StateCapabilities, SubagentInfo,
    ToolsCapabilities, TransportCapabilities,
};
pub use check::Problem;
pub use event::{Event, EventType, RunFinishedOutcome};
pub use fold::{OpenAsks, OpenInterrupt, PendingToolCall, RunFold};
pub use input::{Context, RunAgentInput, Tool};
pub use interrupt::{Interrupt, ResumeEntry, ResumeStatus};
pub use json::MAX_DEPTH;
pub use message::{Content, ContentPart, Message, Role};
pub use patch::JsonPatchOperation;
pub use raw::{Json, RawObject};
pub use relayed::{
    ForwardedProps, InvalidInput, MAX_EVENT_BYTES, MAX_INPUT_BYTES, MalformedEvent, Outcome, RelayedEvent,
    RelayedInput, RelayedMessage, RelayedResume, Terminal,
};
pub use usage::TokenUsage;
pub use wire::MAX_SAFE_INTEGER;

/// The protocol version of this crate, as clients and agents tell each other.
pub const PROTOCOL_VERSION: &str = "1.0";
