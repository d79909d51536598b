//! Who makes an HTTP request: HTTP Message Signatures (RFC 9421) over method, target, body and time, and nothing of our own.
//!
//! Pure: a request is a [`RequestTarget`], a lookup of its header fields, and its body's bytes. Times are seconds since
//! 1970 and come from the caller, as does the memory of which signatures were seen ([`RequestSignature::id`]).
//!
//! ```
//! use funduq_contract::http_signature::{RequestSignature, RequestTarget};
//! use funduq_contract::{Identity, Nonce};
//!
//! let agent = Identity::generate();
//! let target = RequestTarget::new("POST", "https", "relay.example", "/a2a/key/echo", None);
//! let headers = agent.sign_request(&target, b"{}", 1_755_500_000, &Nonce::generate());
//!
//! // The other side: the fields as they came, then the body, once it was read.
//! let field = |name: &str| headers.get(name).map(str::to_owned);
//! let signature = RequestSignature::read(&field)?.ok_or("no signature of ours")?;
//! signature.check_time(1_755_500_030)?;
//! signature.verify(&target, &field)?;
//! signature.check_body(b"{}")?;
//! assert_eq!(signature.key(), agent.public_key());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Why it cannot be taken for another signature
//!
//! The bytes of every signature base begin with a quotation mark: RFC 9421 begins each line with a component's name in
//! quotes, also where no component is covered. Every other payload begins with `funduq-`, and a hop's signing input with
//! the base64url of its header. So no text is two of the three, and a signature over one is never one over another.
//! Between hosts the authority separates, which has to be covered and which a host takes from its own configuration; between
//! applications at one authority the parameter `tag` does, which this application leaves out or spells [`TAG`].

mod base;
mod problem;
mod read;

#[cfg(test)]
mod tests;

pub use base::{RequestTarget, SignatureBase};
pub use problem::SignatureProblem;
pub use read::{RequestSignature, SignatureId};

use crate::identity::Identity;
use crate::payload::http_request_payload;
use crate::tickets::Nonce;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// The field with the body's digest (RFC 9530).
pub const CONTENT_DIGEST: &str = "content-digest";
/// The field that says what is covered (RFC 9421, section 4.1).
pub const SIGNATURE_INPUT: &str = "signature-input";
/// The field with the signature itself (RFC 9421, section 4.2).
pub const SIGNATURE: &str = "signature";
/// The application that a signature is for (RFC 9421, section 2.3): where a signature has a `tag`, it is this one, and
/// one with another is somebody else's.
pub const TAG: &str = "funduq";

/// The label under which this crate's own signatures stand; a reader takes any.
const LABEL: &str = "funduq";

/// What a signed request carries beside what it carried before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureHeaders {
    /// The value of `Content-Digest`.
    pub content_digest: String,
    /// The value of `Signature-Input`.
    pub signature_input: String,
    /// The value of `Signature`.
    pub signature: String,
}

impl SignatureHeaders {
    /// Names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            (CONTENT_DIGEST, self.content_digest.as_str()),
            (SIGNATURE_INPUT, self.signature_input.as_str()),
            (SIGNATURE, self.signature.as_str()),
        ]
        .into_iter()
    }

    /// The value under a lower-case name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(found, _)| *found == name).map(|(_, value)| value)
    }
}

/// The value of `Content-Digest` for a body: its SHA-256, as RFC 9530 spells it.
pub fn content_digest(body: &[u8]) -> String {
    digest_field(&Sha256::digest(body).into())
}

pub(crate) fn digest_field(sha256: &[u8; 32]) -> String {
    format!("sha-256=:{}:", STANDARD.encode(sha256))
}

impl Identity {
    /// Signs a request at a time in seconds since 1970. The nonce makes each signature one of its own: without it, the same
    /// request twice in one second is one signature, and the second is taken for a replay of the first.
    pub fn sign_request(
        &self,
        target: &RequestTarget,
        body: &[u8],
        unix_seconds: i64,
        nonce: &Nonce,
    ) -> SignatureHeaders {
        let body_sha256 = Sha256::digest(body).into();
        let key = self.public_key();
        let signature = self.sign(&http_request_payload(&key, target, &body_sha256, unix_seconds, nonce));
        SignatureHeaders {
            content_digest: digest_field(&body_sha256),
            signature_input: format!("{LABEL}={}", base::own_parameters(&key, unix_seconds, nonce)),
            signature: format!("{LABEL}=:{}:", STANDARD.encode(signature.as_bytes())),
        }
    }
}
