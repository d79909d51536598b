//! The two ports of a link, and the pair that an LLM link has: what each side may say to the other.
//!
//! Core implements [`FunduqPort`] and [`LlmPort`]; a link implements [`ConnectedProvider`] or
//! [`ConnectedLlmProvider`]. In one process the two are joined directly, over a wire they are joined by frames, and
//! the handshake is the same.

mod agents;
mod errors;
mod llm;

pub use agents::{ConnectedProvider, FunduqPort};
pub use errors::{LinkClosed, LinkGone, PortError, PortErrorCode, UnknownWord};
pub use llm::{ConnectedLlmProvider, LlmPort};

/// Which link speaks: what `open` gives out, never used twice in one process.
///
/// Everything that a provider says names its link, so that what an old connection still says, or its cleanup, can
/// never be taken for the connection that replaced it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(u64);

impl LinkId {
    /// The link with this number.
    pub fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    pub fn get(self) -> u64 {
        self.0
    }
}

impl std::fmt::Display for LinkId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "link {}", self.0)
    }
}
