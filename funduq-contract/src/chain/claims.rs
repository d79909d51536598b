//! What one hop claims, and the one way to spell it.

use crate::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::borrow::Cow;

/// A hop's claims. The order of the fields is the order on the wire.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Claims<'a> {
    #[serde(borrow)]
    pub(super) actor_public_key: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) prev_hash: Option<Cow<'a, str>>,
    #[serde(borrow, skip_serializing_if = "Option::is_none", default)]
    pub(super) dispatched_to: Option<DispatchedTo<'a>>,
}

/// Whom a witness handed the work to.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct DispatchedTo<'a> {
    #[serde(borrow)]
    pub(super) provider_key: Cow<'a, str>,
    #[serde(borrow)]
    pub(super) name: Cow<'a, str>,
}

impl Claims<'_> {
    /// The claims' one spelling: no spaces, this order, text as UTF-8 with only the escapes that JSON demands.
    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a struct of strings always serialises")
    }
}

/// What the next hop's `prevHash` is: SHA-256 of the token's text, in hex.
pub(super) fn token_hash(token: &str) -> String {
    hex::encode(&Sha256::digest(token))
}

/// The first claim that no hop has, if that is what is wrong with this JSON.
pub(super) fn unknown_claim(json: &[u8]) -> Option<String> {
    type Members<'a> = std::collections::BTreeMap<String, &'a serde_json::value::RawValue>;
    let members: Members<'_> = serde_json::from_slice(json).ok()?;
    let dispatched =
        members.get("dispatchedTo").and_then(|raw| serde_json::from_str::<Members<'_>>(raw.get()).ok());
    let top = ["actorPublicKey", "prevHash", "dispatchedTo"];
    let below = ["providerKey", "name"];
    members.keys().find(|key| !top.contains(&key.as_str())).cloned().or_else(|| {
        let unknown = dispatched?.keys().find(|key| !below.contains(&key.as_str()))?.clone();
        Some(format!("dispatchedTo.{unknown}"))
    })
}
