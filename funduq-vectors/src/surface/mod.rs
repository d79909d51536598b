//! The published surface: everything that funduq invents, by name, and the fingerprint that moves when it does.

mod ports;
mod shapes;

pub(crate) use shapes::schemas;
pub use shapes::{Shape, shape, shapes};

use crate::stable;
use funduq_contract::http_signature::{CONTENT_DIGEST, SIGNATURE, SIGNATURE_INPUT, SignatureProblem, TAG};
use funduq_contract::{
    AgentName, CHAIN_HEADER, ChainError, DownFrame, FRESHNESS_SECONDS, INTERJECTION_EXTENSION, LlmDownFrame,
    LlmUpFrame, MAX_HOPS, MAX_TOKEN_BYTES, RESERVED_KEY, RunId, SIGNATURE_HEADER, SignedPayload,
    TICKET_SECONDS, TIMESTAMP_HEADER, UpFrame,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// Everything that funduq invents, by name. Words that explain it are not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Surface {
    /// The signed payloads: each family's template by its word.
    pub payloads: BTreeMap<String, String>,
    /// The actor chain.
    pub chain: ChainSurface,
    /// Signatures over HTTP requests.
    pub http_signature: HttpSignatureSurface,
    /// The crossing shapes: the hash of each one's schema by its name.
    pub shapes: BTreeMap<String, String>,
    /// The words of the WebSocket link, by direction.
    pub frames: BTreeMap<String, Vec<String>>,
    /// The ports' verbs with their signatures, by port.
    pub ports: BTreeMap<String, BTreeMap<String, String>>,
    /// Numbers and names that both sides must agree on.
    pub constants: Constants,
}

/// What of RFC 9421 and RFC 9530 is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSignatureSurface {
    /// The header fields, in lower case: the body's digest, what is covered, the signature.
    pub fields: Vec<String>,
    /// The application's tag, for signatures that have one.
    pub tag: String,
    /// The words that a refusal may carry.
    pub refusal_kinds: Vec<String>,
}

/// What makes a token of an actor chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainSurface {
    /// The one header.
    pub header_utf8: String,
    /// The claims, in their order.
    pub claims: Vec<String>,
    /// The claims inside `dispatchedTo`, in their order.
    pub dispatched_to: Vec<String>,
    /// The words that a refusal may carry.
    pub refusal_kinds: Vec<String>,
    /// The most hops.
    pub max_hops: usize,
    /// The most bytes of one token.
    pub max_token_bytes: usize,
}

/// Numbers and names that both sides must agree on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    /// How far a payload's time may lie from the verifier's clock, either way.
    pub freshness_seconds: i64,
    /// How long a ticket is good for.
    pub ticket_seconds: u64,
    /// The HTTP headers of a KYOK call: its time, and the agent's signature.
    pub kyok_headers: Vec<String>,
    /// The extension under which an agent card offers interjections.
    pub interjection_extension: String,
    /// The one key that funduq reserves in a caller's bag and in metadata.
    pub reserved_key: String,
    /// The most bytes of a run id, a thread id or a completion id.
    pub max_id_bytes: usize,
    /// The most bytes of an agent's name.
    pub max_agent_name_bytes: usize,
}

/// The surface of this revision.
pub fn surface() -> Surface {
    let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
    Surface {
        payloads: SignedPayload::FAMILIES
            .iter()
            .map(|f| (f.kind.to_owned(), f.template.to_owned()))
            .collect(),
        chain: ChainSurface {
            header_utf8: CHAIN_HEADER.to_owned(),
            claims: words(&["actorPublicKey", "prevHash", "dispatchedTo"]),
            dispatched_to: words(&["providerKey", "name"]),
            refusal_kinds: ChainError::KINDS.iter().map(|(kind, _)| (*kind).to_owned()).collect(),
            max_hops: MAX_HOPS,
            max_token_bytes: MAX_TOKEN_BYTES,
        },
        http_signature: HttpSignatureSurface {
            fields: words(&[CONTENT_DIGEST, SIGNATURE_INPUT, SIGNATURE]),
            tag: TAG.to_owned(),
            refusal_kinds: SignatureProblem::KINDS.iter().map(|(kind, _)| (*kind).to_owned()).collect(),
        },
        shapes: shape_hashes(),
        frames: BTreeMap::from([
            ("DownFrame".to_owned(), words(DownFrame::KINDS)),
            ("LlmDownFrame".to_owned(), words(LlmDownFrame::KINDS)),
            ("LlmUpFrame".to_owned(), words(LlmUpFrame::KINDS)),
            ("UpFrame".to_owned(), words(UpFrame::KINDS)),
        ]),
        ports: ports::ports(),
        constants: Constants {
            freshness_seconds: FRESHNESS_SECONDS,
            ticket_seconds: TICKET_SECONDS,
            kyok_headers: words(&[TIMESTAMP_HEADER, SIGNATURE_HEADER]),
            interjection_extension: INTERJECTION_EXTENSION.to_owned(),
            reserved_key: RESERVED_KEY.to_owned(),
            max_id_bytes: RunId::MAX_BYTES,
            max_agent_name_bytes: AgentName::MAX_BYTES,
        },
    }
}

impl Surface {
    /// The first 16 hex characters of the SHA-256 of the surface's compact JSON with sorted keys.
    pub fn fingerprint(&self) -> String {
        short_hash(&serde_json::to_value(self).expect("a struct of strings and numbers always serialises"))
    }
}

fn shape_hashes() -> BTreeMap<String, String> {
    let schemas = schemas();
    let hash = |shape: &Shape| short_hash(&without_words(&schemas[shape.name]));
    shapes().iter().map(|shape| (shape.name.to_owned(), hash(shape))).collect()
}

fn short_hash(value: &Value) -> String {
    stable::sha256_hex(stable::compact(value).as_bytes())[..16].to_owned()
}

/// A schema without its descriptions and titles: a better sentence is no other contract.
fn without_words(schema: &Value) -> Value {
    let Value::Object(members) = schema else {
        return match schema {
            Value::Array(items) => items.iter().map(without_words).collect(),
            leaf => leaf.clone(),
        };
    };
    let cleaned =
        members.iter().filter(|(key, value)| !(is_wording(key) && value.is_string())).map(|(key, value)| {
            let value = match (key.as_str(), value) {
                // Here the keys are names of fields, and one may be called `description`.
                ("properties" | "patternProperties" | "$defs", Value::Object(fields)) => {
                    fields.iter().map(|(name, field)| (name.clone(), without_words(field))).collect()
                }
                ("const" | "enum" | "default" | "required", data) => data.clone(),
                (_, schema) => without_words(schema),
            };
            (key.clone(), value)
        });
    Value::Object(cleaned.collect())
}

fn is_wording(key: &str) -> bool {
    matches!(key, "description" | "title")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_fingerprint_moves_with_the_surface_and_not_with_its_wording() {
        let mut moved = surface();
        moved.payloads.insert("transfer".to_owned(), "x".to_owned());
        assert_ne!(moved.fingerprint(), surface().fingerprint());
        let schema = json!({ "description": "old", "properties": { "description": { "type": "string" } } });
        let better = json!({ "description": "new", "properties": { "description": { "type": "string" } } });
        let other = json!({ "description": "old", "properties": {} });
        assert_eq!(without_words(&schema), without_words(&better));
        assert_ne!(without_words(&schema), without_words(&other));
    }
}
