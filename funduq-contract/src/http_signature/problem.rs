//! What can be wrong with a signature over a request; each problem has a word that does not change.

use super::{CONTENT_DIGEST, TAG};
use crate::keys::InvalidKey;

/// Why a signature over a request is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureProblem {
    /// A field is missing, too long, or not what its RFC says.
    #[error("the field {field}: {problem}")]
    Malformed {
        /// Which field, in lower case.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// Several signatures of this application: there is one presenter.
    #[error(
        "the request carries {0} signatures; one says who presents it (another application's has its own tag, not {TAG:?})"
    )]
    Several(usize),
    /// A component that no request has here, or one with parameters, or one that is covered twice.
    #[error("the component {0:?} cannot be covered here, is not in the request, or is covered twice")]
    UnknownComponent(String),
    /// Something that has to be covered is not.
    #[error(
        "the signature does not cover {0}; it has to cover @method, @target-uri (or @authority, @path and @query), \
         and content-digest where there is a body"
    )]
    NotCovered(&'static str),
    /// A parameter that is missing or of the wrong kind.
    #[error("the signature's parameter {parameter} has to be {expected}")]
    BadParameter {
        /// Which.
        parameter: &'static str,
        /// What it has to be.
        expected: &'static str,
    },
    /// `keyid` is no public key.
    #[error("the signature's keyid has to be a public key: {0}")]
    BadKey(#[from] InvalidKey),
    /// Made too long ago, or for a time too far ahead.
    #[error(
        "the signature was made at {created}, which is not within 60 seconds of {now}; sign when you send"
    )]
    Stale {
        /// When it says that it was made, in seconds since 1970.
        created: i64,
        /// The verifier's clock, likewise.
        now: i64,
    },
    /// It is not this key's over this request.
    #[error("the signature does not verify under its keyid over this request")]
    BadSignature,
    /// The body is not the one whose digest was signed.
    #[error("the body's SHA-256 is not the one in {CONTENT_DIGEST}")]
    DigestMismatch,
}

impl SignatureProblem {
    /// Each word with its meaning, in the order in which the checks are made.
    pub const KINDS: [(&'static str, &'static str); 9] = [
        ("malformed_field", "a field is missing, too long, or not what its RFC says"),
        ("several_signatures", "more than one signature of this application"),
        ("bad_parameter", "created, keyid, alg or expires is missing or of the wrong kind"),
        ("bad_key", "keyid is not the lower-case hex of a public key"),
        (
            "unknown_component",
            "a component that cannot be covered, is not in the request, or is covered twice",
        ),
        ("not_covered", "method, target, authority or, with a body, content-digest is not covered"),
        ("stale", "created is not fresh, or expires has passed"),
        ("bad_signature", "the signature is not the key's over this request"),
        ("digest_mismatch", "the body is not the one whose digest was signed"),
    ];

    /// The machine's word for it, one of [`KINDS`](Self::KINDS).
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Malformed { .. } => "malformed_field",
            Self::Several(_) => "several_signatures",
            Self::BadParameter { .. } => "bad_parameter",
            Self::BadKey(_) => "bad_key",
            Self::UnknownComponent(_) => "unknown_component",
            Self::NotCovered(_) => "not_covered",
            Self::Stale { .. } => "stale",
            Self::BadSignature => "bad_signature",
            Self::DigestMismatch => "digest_mismatch",
        }
    }
}
