//! The token of a grant: `base64url(json).hex(hmac-sha256)` over run, agent and expiry. It is worth something only with the
//! agent's key beside it and while the run is live.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use funduq_contract::{AgentName, KyokGrant, PublicKey, RunId};
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use zeroize::Zeroizing;

/// How long a token lives, at most: its run may end sooner.
const LIFETIME_SECONDS: i64 = 3600;
/// The longest bearer that is looked at.
const MAX_TOKEN_BYTES: usize = 2048;

/// The secret that funduq's KYOK tokens are made with: 32 bytes that the host keeps. Tokens outlive a restart if the secret
/// does.
#[derive(Clone)]
pub struct TokenSecret(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for TokenSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenSecret(hidden)")
    }
}

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Grant {
    pub(crate) run_id: RunId,
    pub(crate) provider_key: PublicKey,
    pub(crate) agent_name: AgentName,
    /// Unix seconds.
    pub(crate) expires_at: i64,
}

/// A bearer that is no token, or one that has expired.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct InvalidToken;

impl TokenSecret {
    /// A secret that the host kept.
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// A secret for this process alone.
    ///
    /// # Panics
    /// If the operating system gives no random bytes.
    pub fn generate() -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        getrandom::fill(bytes.as_mut()).expect("the operating system gives random bytes");
        Self(bytes)
    }

    fn mac(&self, text: &str) -> Hmac<Sha256> {
        let mut mac =
            Hmac::<Sha256>::new_from_slice(self.0.as_ref()).expect("HMAC takes a key of any length");
        mac.update(text.as_bytes());
        mac
    }

    /// A token for a run's agent, from now on.
    pub(crate) fn mint(
        &self,
        run_id: &RunId,
        provider_key: PublicKey,
        agent_name: &AgentName,
        now: i64,
    ) -> KyokGrant {
        let grant = Grant {
            run_id: run_id.clone(),
            provider_key,
            agent_name: agent_name.clone(),
            expires_at: now.saturating_add(LIFETIME_SECONDS),
        };
        let json = serde_json::to_vec(&grant).expect("a struct of texts and a number serialises");
        let text = URL_SAFE_NO_PAD.encode(json);
        let mac = self.mac(&text).finalize().into_bytes();
        let mut token = text;
        token.push('.');
        for byte in mac {
            token.push_str(&format!("{byte:02x}"));
        }
        KyokGrant { token }
    }

    /// What a bearer says, if this funduq made it and its time has not run out.
    pub(crate) fn verify(&self, token: &str, now: i64) -> Result<Grant, InvalidToken> {
        if token.len() > MAX_TOKEN_BYTES {
            return Err(InvalidToken);
        }
        let (text, mac) = token.split_once('.').ok_or(InvalidToken)?;
        let mac = unhex(mac).ok_or(InvalidToken)?;
        self.mac(text).verify_slice(&mac).map_err(|_| InvalidToken)?;
        let json = URL_SAFE_NO_PAD.decode(text).map_err(|_| InvalidToken)?;
        let grant: Grant = serde_json::from_slice(&json).map_err(|_| InvalidToken)?;
        if now >= grant.expires_at { Err(InvalidToken) } else { Ok(grant) }
    }
}

/// 32 bytes from lower-case hex: one spelling a token.
fn unhex(text: &str) -> Option<[u8; 32]> {
    let digits = text.as_bytes();
    if digits.len() != 64 || !digits.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use funduq_contract::Identity;

    use super::*;

    fn minted(secret: &TokenSecret) -> (String, Grant) {
        let key = Identity::from_seed(&[1; 32]).public_key();
        let (run, name) = ("run-1".parse().unwrap(), "echo".parse().unwrap());
        let token = secret.mint(&run, key, &name, 1_000).token;
        let grant = Grant { run_id: run, provider_key: key, agent_name: name, expires_at: 4_600 };
        (token, grant)
    }

    #[test]
    fn a_token_says_what_it_was_minted_for_until_it_expires() {
        let secret = TokenSecret::new([3; 32]);
        let (token, grant) = minted(&secret);
        assert_eq!(secret.verify(&token, 4_599), Ok(grant));
        assert_eq!(secret.verify(&token, 4_600), Err(InvalidToken));
    }

    #[test]
    fn no_change_of_one_character_is_a_token() {
        let secret = TokenSecret::new([3; 32]);
        let (token, _) = minted(&secret);
        for at in 0..token.len() {
            for other in ['A', 'a', '0', '.', 'F'] {
                let mut changed = token.clone();
                changed.replace_range(at..=at, &other.to_string());
                if changed != token {
                    assert_eq!(secret.verify(&changed, 1_000), Err(InvalidToken), "{changed}");
                }
            }
        }
    }

    #[test]
    fn another_funduqs_token_is_none() {
        let (token, _) = minted(&TokenSecret::new([3; 32]));
        assert_eq!(TokenSecret::new([4; 32]).verify(&token, 1_000), Err(InvalidToken));
        assert!(!format!("{:?}", TokenSecret::new([4; 32])).contains('4'));
    }
}
