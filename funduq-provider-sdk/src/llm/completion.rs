//! One completion as its handler sees it: who asks, through whose hands, and what.

use std::ops::Deref;
use std::sync::OnceLock;

use funduq_contract::{ChainError, DeliveredCompletion, PublicKey};

use crate::chain::CallerChain;

/// A completion to answer. It dereferences to what funduq delivered: the run, the agent that calls and has proved its
/// key, the offering that is meant, the caller's `context`, the chain's tokens, and the OpenAI body as the agent sent it.
#[derive(Debug)]
pub struct Completion {
    delivered: DeliveredCompletion,
    funduq_key: Option<PublicKey>,
    chain: OnceLock<Result<Option<CallerChain>, ChainError>>,
}

impl Completion {
    pub(super) fn new(delivered: DeliveredCompletion, funduq_key: Option<PublicKey>) -> Self {
        Self { delivered, funduq_key, chain: OnceLock::new() }
    }

    /// The chain of the run that spends, every hop checked; `None` when the run has none. Its
    /// [`dispatched_here`](CallerChain::dispatched_here) says whether this funduq handed the run to the agent that calls.
    ///
    /// # Errors
    /// What is wrong with the chain that came.
    pub fn chain(&self) -> Result<Option<&CallerChain>, &ChainError> {
        let checked = self.chain.get_or_init(|| {
            let Some(tokens) = &self.delivered.actor_chain else { return Ok(None) };
            CallerChain::check(tokens, self.funduq_key, &self.delivered.agent).map(Some)
        });
        checked.as_ref().map(Option::as_ref)
    }
}

impl Deref for Completion {
    type Target = DeliveredCompletion;

    fn deref(&self) -> &DeliveredCompletion {
        &self.delivered
    }
}
