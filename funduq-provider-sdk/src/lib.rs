//! What a provider's author uses to put an agent online behind funduq.

mod agent;
mod chain;
mod context;
pub mod demo;
mod handshake;
mod identity;
pub mod identity_file;
mod in_process;
mod runtime;
mod served;
mod sink;
#[cfg(feature = "ws")]
pub mod ws;

pub use agent::{Agent, AgentError, AgentResult, Cancelled, agent_fn};
pub use async_trait::async_trait;
pub use chain::{CallerChain, verify_chain};
pub use context::{HistoryError, NoChain, RunContext};
pub use funduq_agui as agui;
pub use funduq_contract as contract;
pub use handshake::Handshake;
pub use identity::ProviderIdentity;
pub use identity_file::IdentityFileError;
pub use in_process::{InProcessError, InProcessLink};
pub use runtime::{Attachment, BufferLimits, Capacity, Outgoing, Runtime, RuntimeBuilder, Stuck};
pub use served::{InFlight, Interjections, ServedAgent};
pub use sink::{
    EmitError, EventSink, RawStream, ReasoningWriter, Step, TextOpening, TextWriter, ToolCallWriter,
};
