//! The actor chain: who asked, through whose hands, each hop signed by the hand that added it.

mod claims;
mod problem;
mod verify;

pub use problem::{ChainError, HopProblem};
pub use verify::{Hop, VerifiedChain};

use crate::identity::Identity;
use crate::ids::AgentAddress;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use claims::{Claims, DispatchedTo, token_hash};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The most hops that a chain may have; more are refused before any signature is looked at.
pub const MAX_HOPS: usize = 64;

/// The most bytes that one token of a chain may have; longer ones are refused before any signature is looked at.
pub const MAX_TOKEN_BYTES: usize = 4096;

/// Each token's first part: the base64url of [`HEADER`].
const ENCODED_HEADER: &str = "eyJhbGciOiJFZERTQSIsInR5cCI6IkpXVCJ9";

/// The one header that a hop may have: one algorithm, so none to choose and none to confuse.
pub const HEADER: &str = r#"{"alg":"EdDSA","typ":"JWT"}"#;

/// A chain as it travels: compact JWS tokens, first hop first, not verified.
///
/// Nothing about the parties is known until [`verify`](Self::verify) has said so. Even then a hop says only
/// that its key took part and knew what came before: not when, and not that whoever presents the chain is its last hop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ActorChain(Vec<String>);

impl ActorChain {
    /// The chain of these tokens, unverified.
    pub fn from_tokens(tokens: Vec<String>) -> Self {
        Self(tokens)
    }

    /// A new chain with one hop: the party that is responsible for everything that follows.
    pub fn start(identity: &Identity) -> Self {
        Self(vec![make_token(identity, None, None)])
    }

    /// This chain with one more hop, by a party that received it.
    ///
    /// # Errors
    /// What would make the result one that nobody accepts: no hop to extend, no room for another, a last token
    /// that cannot be read, or a last hop that dispatched to somebody else. Signatures are not verified.
    pub fn extend(&self, identity: &Identity) -> Result<Self, ChainError> {
        self.append(identity, None)
    }

    /// This chain with one more hop, by a witness that hands the work to an agent.
    ///
    /// # Errors
    /// As [`extend`](Self::extend); after a dispatch the same witness may dispatch again.
    pub fn dispatch(&self, identity: &Identity, to: &AgentAddress) -> Result<Self, ChainError> {
        self.append(identity, Some(to))
    }

    /// The tokens, first hop first.
    pub fn tokens(&self) -> &[String] {
        &self.0
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no token; such a chain never verifies.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Checks every hop and says whose hands the chain went through.
    ///
    /// In this order: the limits, then hop by hop the form of the token, the link to the token before it and the
    /// rule about dispatches, and then the signatures from the first to the last.
    ///
    /// # Errors
    /// The first thing that is wrong, with the hop that has it.
    pub fn verify(&self) -> Result<VerifiedChain, ChainError> {
        verify::verify(&self.0)
    }

    fn append(&self, identity: &Identity, to: Option<&AgentAddress>) -> Result<Self, ChainError> {
        let Some(last) = self.0.last() else {
            return Err(ChainError::Empty);
        };
        if self.0.len() >= MAX_HOPS {
            return Err(ChainError::TooManyHops { limit: MAX_HOPS, got: self.0.len() + 1 });
        }
        let index = self.0.len();
        let previous =
            verify::read_token(last).map_err(|problem| ChainError::Hop { index: index - 1, problem })?;
        verify::check_succession(&previous, index - 1, identity.public_key(), to.is_some())
            .map_err(|problem| ChainError::Hop { index, problem })?;
        let mut tokens = self.0.clone();
        tokens.push(make_token(identity, Some(last), to));
        Ok(Self(tokens))
    }
}

fn make_token(identity: &Identity, previous: Option<&str>, to: Option<&AgentAddress>) -> String {
    let key = identity.public_key().to_string();
    let previous_hash = previous.map(token_hash);
    let provider = to.map(|to| to.provider.to_string());
    let claims = Claims {
        actor_public_key: key.into(),
        prev_hash: previous_hash.map(Into::into),
        dispatched_to: to.zip(provider).map(|(to, provider)| DispatchedTo {
            provider_key: provider.into(),
            name: to.name.as_str().into(),
        }),
    };
    let signing_input = format!("{ENCODED_HEADER}.{}", URL_SAFE_NO_PAD.encode(claims.to_json()));
    let signature = identity.sign_hop(&signing_input);
    format!("{signing_input}.{}", URL_SAFE_NO_PAD.encode(signature.as_bytes()))
}

#[cfg(test)]
mod tests;
