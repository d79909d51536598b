//! The published file as types: what each of its parts is.

use crate::surface::Surface;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `contract-vectors.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractVectors {
    /// Which contract this is, and how to read the rest.
    pub contract: Contract,
    /// The keys that signed the rows.
    pub test_key: TestKeys,
    /// Signed payloads, with their texts and signatures.
    pub vectors: Vec<PayloadRow>,
    /// Crossing shapes in their canonical spelling, and spellings that are refused.
    pub wire: Vec<WireRow>,
    /// Actor chains that verify, with their keys, and chains that do not, with the reason.
    pub chains: Vec<ChainRow>,
    /// JSON Schemas by name; `$ref` points into this very section.
    pub schemas: BTreeMap<String, serde_json::Value>,
    /// One whole opening of a link, frame by frame.
    pub handshake: Handshake,
}

/// Which contract it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The revision, from 1.
    pub revision: u32,
    /// The fingerprint of [`surface`](Self::surface): moves with it, and only with it.
    pub fingerprint: String,
    /// Everything that funduq invents, by name.
    pub surface: Surface,
    /// What an implementer has to know, in the order in which it is needed.
    pub documentation: BTreeMap<String, Vec<String>>,
}

/// The keys that signed the rows: published, so never use them for anything else.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestKeys {
    /// The key of every payload row.
    #[serde(flatten)]
    pub main: TestKey,
    /// Further parties of chains and of the handshake, by the part they play there.
    pub others: BTreeMap<String, TestKey>,
}

/// One published key pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestKey {
    /// The 32 bytes of the RFC 8032 private key.
    pub seed_hex: String,
    /// The public key.
    pub public_key: String,
    /// The public key's fingerprint.
    pub fingerprint: String,
}

/// One signed payload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PayloadRow {
    /// What the row shows.
    pub name: String,
    /// The family and its inputs.
    #[serde(flatten)]
    pub inputs: PayloadInputs,
    /// The text whose bytes are signed.
    pub payload_utf8: String,
    /// The test key's signature over them.
    pub signature_hex: String,
}

/// A payload family's inputs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "inputs", rename_all = "kebab-case")]
pub enum PayloadInputs {
    /// An agent's call to the KYOK endpoint.
    KyokCall {
        /// The bearer token.
        bearer: String,
        /// Seconds since 1970.
        timestamp: i64,
        /// The request body.
        body_utf8: String,
        /// The SHA-256 of the body's bytes.
        body_sha256_hex: String,
    },
    /// An HTTP request.
    HttpRequest {
        /// The method.
        method: String,
        /// The host, with its port where that is not the scheme's own.
        authority: String,
        /// The path, percent-encoded as it is sent.
        path: String,
        /// The query with its question mark, which stands alone where there is none.
        query: String,
        /// The request body.
        body_utf8: String,
        /// The SHA-256 of the body's bytes, base64 with padding.
        body_sha256_base64: String,
        /// Seconds since 1970.
        timestamp: i64,
        /// The signer's key.
        public_key: String,
        /// The signer's nonce.
        nonce: String,
    },
    /// A provider opens a link.
    ProviderConnect {
        /// The funduq that is meant; empty for one without an identity.
        funduq_public_key: String,
        /// The ticket.
        funduq_nonce: String,
        /// The provider's nonce.
        provider_nonce: String,
    },
    /// funduq answers.
    FunduqConnect {
        /// The ticket.
        funduq_nonce: String,
        /// The provider's nonce.
        provider_nonce: String,
    },
    /// The open asks of a task are answered.
    Resolution {
        /// The task: the lineage's root run.
        run_id: String,
        /// The open asks, in any order.
        ask_ids: Vec<String>,
    },
    /// A run is to stop.
    Cancel {
        /// The run.
        run_id: String,
        /// Seconds since 1970.
        timestamp: i64,
    },
    /// A run is read.
    View {
        /// The run.
        run_id: String,
        /// Seconds since 1970.
        timestamp: i64,
    },
}

impl PayloadInputs {
    /// The family's word.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::HttpRequest { .. } => "http-request",
            Self::KyokCall { .. } => "kyok-call",
            Self::ProviderConnect { .. } => "provider-connect",
            Self::FunduqConnect { .. } => "funduq-connect",
            Self::Resolution { .. } => "resolution",
            Self::Cancel { .. } => "cancel",
            Self::View { .. } => "view",
        }
    }
}

/// One text of a crossing shape.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireRow {
    /// The shape's name in kebab case, as in `delivered-run`.
    pub kind: String,
    /// What the row shows.
    pub name: String,
    /// The shape, a name in `schemas`.
    pub shape: String,
    /// The text.
    pub json_utf8: String,
    /// What a reader must make of it.
    pub verdict: WireVerdict,
}

/// What a reader must make of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WireVerdict {
    /// It is taken, and written again it is the same bytes.
    Canonical,
    /// It is taken, and written again it is the canonical text of the row with the same name and `canonical`.
    Accepted,
    /// It is refused.
    Refused,
}

/// One actor chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainRow {
    /// What the row shows.
    pub name: String,
    /// The tokens.
    pub chain: Vec<String>,
    /// What a verifier must say.
    pub verdict: ChainVerdict,
}

/// What a verifier says of a chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ChainVerdict {
    /// It verifies.
    Accepted {
        /// The hops' keys, first to last.
        ok: Vec<String>,
    },
    /// It does not.
    Refused {
        /// The reason's kind, one of the published words.
        error: String,
        /// The hop that is wrong, from 0; absent where it is the chain as a whole.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hop: Option<usize>,
    },
}

/// One whole opening of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Handshake {
    /// What the script is made of.
    pub inputs: HandshakeInputs,
    /// What is said, in order.
    pub steps: Vec<HandshakeStep>,
}

/// What a handshake script is made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandshakeInputs {
    /// Which test key the provider has: `main`, or a name in `others`.
    pub provider: String,
    /// Which test key funduq has.
    pub funduq: String,
    /// The ticket that funduq issues; a real one is random.
    pub funduq_nonce: String,
    /// The provider's nonce; a real one is random.
    pub provider_nonce: String,
}

/// One step of a handshake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HandshakeStep {
    /// Who speaks.
    pub from: Party,
    /// Over what.
    pub channel: Channel,
    /// The shape of the text, a name in `schemas`.
    pub shape: String,
    /// What is said, byte for byte.
    pub text_utf8: String,
    /// What the listener does with it before the next step.
    pub then: String,
}

/// A party of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Party {
    /// The one that connects out and serves.
    Provider,
    /// The relay.
    Funduq,
}

/// Over what something is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// The channel on which tickets are given out; never the link.
    Tickets,
    /// The link that is being opened.
    Link,
}
