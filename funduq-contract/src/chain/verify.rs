//! Verification of a chain: limits, form, links, dispatches, signatures, in this order.

use super::claims::{Claims, token_hash, unknown_claim};
use super::problem::{ChainError, HopProblem};
use super::{ENCODED_HEADER, MAX_HOPS, MAX_TOKEN_BYTES};
use crate::hex;
use crate::ids::{AgentAddress, AgentName};
use crate::keys::{InvalidKey, PublicKey};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::VerifyingKey;

/// A chain whose every hop has been checked.
///
/// It says who took part and in which order, and that each knew what came before. It does not say when, nor that
/// the one who presents it is its last hop: that is for the door to check against the presenter's own proof.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedChain {
    hops: Vec<Hop>,
}

/// One hop of a verified chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The key that signed it.
    pub key: PublicKey,
    /// Whom it handed the work to, on a witness's hop.
    pub dispatched_to: Option<AgentAddress>,
}

impl VerifiedChain {
    /// The first hop's key: the party that is responsible for the whole.
    pub fn head(&self) -> PublicKey {
        self.hops.first().expect("an empty chain does not verify").key
    }

    /// The last hop's key: the party that may present the chain.
    pub fn last(&self) -> PublicKey {
        self.hops.last().expect("an empty chain does not verify").key
    }

    /// Every hop, first to last.
    pub fn hops(&self) -> &[Hop] {
        &self.hops
    }
}

/// A token whose form is right; its signature is still to be checked.
pub(super) struct ReadToken<'a> {
    pub(super) key: PublicKey,
    pub(super) dispatched_to: Option<AgentAddress>,
    prev_hash: Option<String>,
    point: VerifyingKey,
    signing_input: &'a str,
    signature: [u8; 64],
}

pub(super) fn verify(tokens: &[String]) -> Result<VerifiedChain, ChainError> {
    if tokens.is_empty() {
        return Err(ChainError::Empty);
    }
    if tokens.len() > MAX_HOPS {
        return Err(ChainError::TooManyHops { limit: MAX_HOPS, got: tokens.len() });
    }
    let at = |index| move |problem| ChainError::Hop { index, problem };
    for (index, token) in tokens.iter().enumerate() {
        check_length(token).map_err(at(index))?;
    }
    let mut hops: Vec<ReadToken<'_>> = Vec::with_capacity(tokens.len());
    for (index, token) in tokens.iter().enumerate() {
        let hop = read_token(token).map_err(at(index))?;
        let previous = index.checked_sub(1).map(|before| (&tokens[before], &hops[before], before));
        check_link(previous.map(|(token, ..)| token.as_str()), &hop).map_err(at(index))?;
        if let Some((_, previous, before)) = previous {
            check_succession(previous, before, hop.key, hop.dispatched_to.is_some()).map_err(at(index))?;
        }
        hops.push(hop);
    }
    for (index, hop) in hops.iter().enumerate() {
        check_signature(hop).map_err(at(index))?;
    }
    let hops = hops.into_iter().map(|hop| Hop { key: hop.key, dispatched_to: hop.dispatched_to }).collect();
    Ok(VerifiedChain { hops })
}

/// Reads one token and refuses every form but the one that this crate writes.
pub(super) fn read_token(token: &str) -> Result<ReadToken<'_>, HopProblem> {
    check_length(token)?;
    let (signing_input, encoded_signature) = token.rsplit_once('.').ok_or(HopProblem::MalformedToken)?;
    let (header, encoded_claims) = signing_input.split_once('.').ok_or(HopProblem::MalformedToken)?;
    if encoded_claims.contains('.') {
        return Err(HopProblem::MalformedToken);
    }
    if header != ENCODED_HEADER {
        return Err(HopProblem::WrongHeader);
    }
    let json = URL_SAFE_NO_PAD.decode(encoded_claims).map_err(|_| HopProblem::MalformedToken)?;
    let signature = URL_SAFE_NO_PAD.decode(encoded_signature).map_err(|_| HopProblem::MalformedToken)?;
    let signature = signature.try_into().map_err(|_| HopProblem::MalformedToken)?;
    let claims = read_claims(&json)?;
    let (key, point) = read_key("actorPublicKey", &claims.actor_public_key)?;
    let dispatched_to = match claims.dispatched_to {
        None => None,
        Some(to) => Some(AgentAddress {
            provider: read_key("dispatchedTo.providerKey", &to.provider_key)?.0,
            name: AgentName::new(&*to.name).map_err(HopProblem::BadName)?,
        }),
    };
    let prev_hash = claims.prev_hash.map(Into::into);
    Ok(ReadToken { key, dispatched_to, prev_hash, point, signing_input, signature })
}

fn check_length(token: &str) -> Result<(), HopProblem> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(HopProblem::TokenTooLong { limit: MAX_TOKEN_BYTES, got: token.len() });
    }
    Ok(())
}

fn read_claims(json: &[u8]) -> Result<Claims<'_>, HopProblem> {
    let claims: Claims<'_> = match serde_json::from_slice(json) {
        Ok(claims) => claims,
        Err(_) => {
            return Err(unknown_claim(json).map_or(HopProblem::MalformedClaims, HopProblem::UnknownClaim));
        }
    };
    if claims.to_json() != json {
        return Err(HopProblem::MalformedClaims);
    }
    Ok(claims)
}

fn read_key(claim: &'static str, text: &str) -> Result<(PublicKey, VerifyingKey), HopProblem> {
    hex::decode(text)
        .map_err(InvalidKey::from)
        .and_then(|bytes| PublicKey::with_point(&bytes))
        .map_err(|problem| HopProblem::BadKey { claim, problem })
}

fn check_link(previous_token: Option<&str>, hop: &ReadToken<'_>) -> Result<(), HopProblem> {
    match (previous_token, &hop.prev_hash) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(HopProblem::Headless),
        (Some(_), None) => Err(HopProblem::PrevHashMismatch),
        (Some(token), Some(hash)) if *hash == token_hash(token) => Ok(()),
        (Some(_), Some(_)) => Err(HopProblem::PrevHashMismatch),
    }
}

/// After a dispatch comes the party that it named, or the same witness with another dispatch.
pub(super) fn check_succession(
    previous: &ReadToken<'_>,
    previous_index: usize,
    key: PublicKey,
    is_dispatch: bool,
) -> Result<(), HopProblem> {
    let Some(named) = &previous.dispatched_to else {
        return Ok(());
    };
    if key == named.provider || (key == previous.key && is_dispatch) {
        return Ok(());
    }
    if key == previous.key {
        return Err(HopProblem::WitnessSignsAsParty { dispatched_at: previous_index });
    }
    Err(HopProblem::DispatchNotFollowed { expected: named.provider.fingerprint(), found: key.fingerprint() })
}

fn check_signature(hop: &ReadToken<'_>) -> Result<(), HopProblem> {
    hop.point
        .verify_strict(hop.signing_input.as_bytes(), &ed25519_dalek::Signature::from_bytes(&hop.signature))
        .map_err(|_| HopProblem::BadSignature)
}
