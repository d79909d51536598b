//! Spending a caller's model: the grant of a run, and the signature that each call with it carries.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use funduq_contract::{KyokGrant, SIGNATURE_HEADER, TIMESTAMP_HEADER};

use crate::identity::ProviderIdentity;

/// Signs the calls of one run to funduq's OpenAI-compatible endpoint, below `{funduq}/kyok/v1`.
///
/// It goes with any HTTP client: send [`bearer`](Self::bearer) as the API key, and the headers of [`headers`](Self::headers) over
/// the body exactly as it goes out. `ws::KyokClient` (feature `ws`) does both. Cloning is cheap.
#[derive(Clone)]
pub struct KyokSigner {
    identity: ProviderIdentity,
    token: Arc<str>,
}

/// The two headers of a call, each with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KyokHeaders {
    /// `Funduq-Timestamp`.
    pub timestamp: (&'static str, String),
    /// `Funduq-Signature`.
    pub signature: (&'static str, String),
}

impl KyokSigner {
    /// The signer of a grant, for the provider whose agent was given it.
    pub fn new(identity: ProviderIdentity, grant: &KyokGrant) -> Self {
        Self { identity, token: grant.token.as_str().into() }
    }

    /// What goes out as `Authorization: Bearer …`: the grant's token. It is worth nothing without this provider's key,
    /// and nothing once the run has ended.
    pub fn bearer(&self) -> &str {
        &self.token
    }

    /// The headers that go with this body, good for a minute from now.
    pub fn headers(&self, body: &[u8]) -> KyokHeaders {
        // A clock before 1970 signs a time that is refused, as it has to be.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let at = i64::try_from(now).unwrap_or(i64::MAX);
        let signature = self.identity.sign_kyok_call(&self.token, at, body);
        KyokHeaders {
            timestamp: (TIMESTAMP_HEADER, at.to_string()),
            signature: (SIGNATURE_HEADER, signature.to_string()),
        }
    }
}

/// The token opens somebody's wallet, so it is not shown.
impl fmt::Debug for KyokSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KyokSigner").field("identity", &self.identity).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use funduq_contract::{Signature, kyok_call_payload, verify_signature};

    use super::*;

    #[test]
    fn a_signature_covers_the_token_the_time_and_the_body() {
        let identity = ProviderIdentity::generate();
        let signer = KyokSigner::new(identity.clone(), &KyokGrant { token: "t.m".into() });
        let headers = signer.headers(b"{}");
        assert_eq!((headers.timestamp.0, headers.signature.0), ("Funduq-Timestamp", "Funduq-Signature"));
        let at = headers.timestamp.1.parse().unwrap();
        let signature: Signature = headers.signature.1.parse().unwrap();
        let verify = |token: &str, at: i64, body: &[u8]| {
            verify_signature(&identity.public_key(), &signature, &kyok_call_payload(token, at, body))
        };
        assert!(verify("t.m", at, b"{}").is_ok());
        assert!(verify("t.n", at, b"{}").is_err());
        assert!(verify("t.m", at + 1, b"{}").is_err());
        assert!(verify("t.m", at, b"{ }").is_err());
        assert!(!format!("{signer:?}").contains("t.m"));
    }
}
