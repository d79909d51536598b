//! What a provider's author uses to put an agent online behind funduq.
//!
//! An [`Agent`], mostly a closure in [`agent_fn`], takes one run after another and says what it does through the run's
//! [`EventSink`]. A [`ServedAgent`] gives it a name and its way of taking turns, a [`Runtime`] serves several under
//! one [`ProviderIdentity`], and a link joins the runtime to a funduq: `ws::connect` over the network
//! (feature `ws`), [`InProcessLink`] within a process, [`Attachment`] for a link of your own.
//!
//! Who has a model to lend serves it with [`llm`]; an agent whose caller lends it one spends it with [`kyok`].
//!
//! Every shape, payload and port that a provider meets is in [`contract`] and [`agui`]; nothing else needs to be
//! depended on. Without the features `ws` and
//! `http-signatures` no network crate is.

mod agent;
mod chain;
mod context;
pub mod demo;
mod handshake;
#[cfg(feature = "http-signatures")]
pub mod http_signatures;
mod identity;
pub mod identity_file;
mod in_process;
pub mod kyok;
pub mod llm;
mod runtime;
mod served;
mod sink;
mod sse;
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
pub use tokio_util::sync::CancellationToken;

pub use sink::{
    EmitError, Entity, EventSink, OrderError, RawStream, ReasoningWriter, Step, TextOpening, TextWriter,
    ToolCallWriter,
};

/// The guide's code, compiled.
#[cfg(all(doctest, feature = "ws"))]
#[doc = include_str!("../../docs/provider.md")]
struct Guide;

/// The code of the guide to lending, compiled.
#[cfg(all(doctest, feature = "ws"))]
#[doc = include_str!("../../docs/kyok.md")]
struct Lending;
