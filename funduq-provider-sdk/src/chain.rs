//! The responsibility chain of a run: who asked, and whether it was handed to this very agent.

use funduq_contract::{ActorChain, AgentAddress, ChainError, PublicKey, VerifiedChain};

/// The chain that came with a run, every hop checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerChain {
    tokens: ActorChain,
    verified: VerifiedChain,
    dispatched_here: bool,
}

impl CallerChain {
    pub(crate) fn check(
        tokens: &ActorChain,
        funduq: Option<PublicKey>,
        agent: &AgentAddress,
    ) -> Result<Self, ChainError> {
        let verified = tokens.verify()?;
        let dispatched_here = verified.hops().last().is_some_and(|hop| {
            funduq.is_some_and(|funduq| hop.key == funduq) && hop.dispatched_to.as_ref() == Some(agent)
        });
        Ok(Self { tokens: tokens.clone(), verified, dispatched_here })
    }

    /// The chain as it came, to be extended and passed on.
    pub fn tokens(&self) -> &ActorChain {
        &self.tokens
    }

    /// Its hops.
    pub fn verified(&self) -> &VerifiedChain {
        &self.verified
    }

    /// The key that is responsible for the whole.
    pub fn head(&self) -> PublicKey {
        self.verified.head()
    }

    /// Whether the last hop is the dispatch of the funduq that this provider is linked to, to this
    /// provider's key and this agent's name.
    ///
    /// `false` means that the chain was made for somebody else, or that funduq has no identity of its own: a
    /// policy that rests on the chain should then refuse.
    pub fn dispatched_here(&self) -> bool {
        self.dispatched_here
    }
}

/// Checks every hop of a chain and says whose hands it went through.
///
/// # Errors
/// The first thing that is wrong, with the hop that has it.
pub fn verify_chain(chain: &ActorChain) -> Result<VerifiedChain, ChainError> {
    chain.verify()
}
