//! What can be wrong with a chain, and with which hop; each problem has a word that does not change.

use crate::ids::InvalidName;
use crate::keys::{Fingerprint, InvalidKey};

/// Why a chain is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// A chain without a hop names nobody.
    #[error("the actor chain is empty; leave it out where there is none")]
    Empty,
    /// More hops than are ever verified.
    #[error("the actor chain has {got} hops; the limit is {limit}")]
    TooManyHops {
        /// Hops allowed.
        limit: usize,
        /// Hops found.
        got: usize,
    },
    /// One hop is wrong.
    #[error("hop {index} of the actor chain: {problem}")]
    Hop {
        /// Which hop, from 0.
        index: usize,
        /// What is wrong with it.
        problem: HopProblem,
    },
}

/// What is wrong with one hop.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HopProblem {
    /// The token is longer than is ever verified.
    #[error("the token has {got} bytes; the limit is {limit}")]
    TokenTooLong {
        /// Bytes allowed.
        limit: usize,
        /// Bytes found.
        got: usize,
    },
    /// Not three parts of canonical base64url without padding, or a signature that is not 64 bytes long.
    #[error("not a compact JWS in base64url without padding")]
    MalformedToken,
    /// Another header than the one that is allowed, or the same in other bytes.
    #[error("the header must be exactly {}", super::HEADER)]
    WrongHeader,
    /// Claims that are no such object, or that are not in their one spelling.
    #[error(
        "the claims are not spelled as the contract says: actorPublicKey, prevHash, dispatchedTo, without spaces"
    )]
    MalformedClaims,
    /// A claim that no hop has.
    #[error("the claim {0:?} is none of a hop's")]
    UnknownClaim(String),
    /// A key that is none.
    #[error("{claim}: {problem}")]
    BadKey {
        /// The claim that holds it.
        claim: &'static str,
        /// What is wrong with it.
        problem: InvalidKey,
    },
    /// A dispatch to a name that no agent can have.
    #[error("dispatchedTo: {0}")]
    BadName(InvalidName),
    /// A first hop that says there was one before it: the chain's head was cut off, or its hops changed places.
    #[error("the first hop has a prevHash, so what came before it is missing")]
    Headless,
    /// The hash is not that of the token before: hops changed places, are missing, or come from another chain.
    #[error("prevHash is not the hash of the token before it")]
    PrevHashMismatch,
    /// The hop before dispatched to another key.
    #[error("the hop before it dispatched to {expected}, but {found} signed this one")]
    DispatchNotFollowed {
        /// Whom the witness named.
        expected: Fingerprint,
        /// Who signed instead.
        found: Fingerprint,
    },
    /// A witness may dispatch again; it may not take the work itself.
    #[error("signed by the witness that dispatched at hop {dispatched_at}, but it is no dispatch")]
    WitnessSignsAsParty {
        /// The hop at which this key dispatched.
        dispatched_at: usize,
    },
    /// The signature is not the hop's own key's.
    #[error("the signature does not verify under the hop's own key")]
    BadSignature,
}

impl ChainError {
    /// The machine's word for it; it does not change within a contract revision.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::TooManyHops { .. } => "too_many_hops",
            Self::Hop { problem, .. } => problem.kind(),
        }
    }

    /// The hop that is wrong, from 0; `None` where it is the chain as a whole.
    pub fn hop(&self) -> Option<usize> {
        match self {
            Self::Empty | Self::TooManyHops { .. } => None,
            Self::Hop { index, .. } => Some(*index),
        }
    }

    /// Every word that [`kind`](Self::kind) may say, with what it means; this list is what the vectors publish.
    pub const KINDS: [(&'static str, &'static str); 14] = [
        ("empty", "the chain has no hop"),
        ("too_many_hops", "more than 64 hops"),
        ("token_too_long", "a token of more than 4096 bytes"),
        (
            "malformed_token",
            "not three parts of canonical base64url without padding, or a signature not 64 bytes long",
        ),
        ("wrong_header", "a header whose bytes are not the published ones"),
        ("malformed_claims", "claims that are no such object, or that do not re-encode to the same bytes"),
        ("unknown_claim", "a member that a hop's claims do not have"),
        ("bad_key", "not lower-case hex of 32 bytes, no canonical curve point, or a point of small order"),
        ("bad_name", "dispatchedTo.name is no agent name"),
        ("headless", "the first hop has a prevHash"),
        ("prev_hash_mismatch", "prevHash is not the SHA-256 of the token before"),
        (
            "dispatch_not_followed",
            "signed neither by the key that the hop before dispatched to nor by its witness",
        ),
        ("witness_signs_as_party", "signed by the witness of the dispatch before, but itself no dispatch"),
        ("bad_signature", "the signature is not the actorPublicKey's over the token's first two parts"),
    ];
}

impl HopProblem {
    /// The machine's word for it, one of [`ChainError::KINDS`].
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TokenTooLong { .. } => "token_too_long",
            Self::MalformedToken => "malformed_token",
            Self::WrongHeader => "wrong_header",
            Self::MalformedClaims => "malformed_claims",
            Self::UnknownClaim(_) => "unknown_claim",
            Self::BadKey { .. } => "bad_key",
            Self::BadName(_) => "bad_name",
            Self::Headless => "headless",
            Self::PrevHashMismatch => "prev_hash_mismatch",
            Self::DispatchNotFollowed { .. } => "dispatch_not_followed",
            Self::WitnessSignsAsParty { .. } => "witness_signs_as_party",
            Self::BadSignature => "bad_signature",
        }
    }
}
