//! An identity: a private key that signs the contract's payloads and chain hops, and nothing else.

use crate::ids::RunId;
use crate::keys::{PublicKey, Signature};
use crate::payload::{
    SignedPayload, cancel_payload, funduq_connect_payload, kyok_call_payload, provider_connect_payload,
    resolve_payload, view_payload,
};
use crate::tickets::{Nonce, Ticket};
use ed25519_dalek::{Signer, SigningKey};
use zeroize::Zeroizing;

/// An Ed25519 key pair: a provider, a caller with a chain, or funduq itself.
///
/// There is no way to read the private key back, to print it, to serialise it or to copy it, and it signs nothing
/// but a [`SignedPayload`] and the hops of an [`ActorChain`](crate::ActorChain). Its memory is wiped on drop. Keep it
/// in an `Arc` where several parts sign.
///
/// ```compile_fail
/// let identity = funduq_contract::Identity::generate();
/// identity.sign(b"any bytes");
/// ```
/// ```compile_fail
/// let identity = funduq_contract::Identity::generate();
/// serde_json::to_string(&identity);
/// ```
/// ```compile_fail
/// let identity = funduq_contract::Identity::generate();
/// let copy = identity.clone();
/// ```
pub struct Identity {
    signing: SigningKey,
    public: PublicKey,
}

impl Identity {
    /// A new identity from the operating system's random source.
    ///
    /// # Panics
    /// When the operating system has no random source: there is no safe way on from there.
    pub fn generate() -> Self {
        let mut seed = Zeroizing::new([0u8; 32]);
        getrandom::fill(seed.as_mut()).expect("the operating system has a random source");
        Self::from_seed(&seed)
    }

    /// The identity of a stored seed: the 32 bytes of an RFC 8032 private key. Wipe your copy of the seed.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let signing = SigningKey::from_bytes(seed);
        let public = PublicKey::from_bytes(signing.verifying_key().as_bytes())
            .expect("a clamped scalar times the base point is a point of large order");
        Self { signing, public }
    }

    /// The public key: this party's name.
    pub fn public_key(&self) -> PublicKey {
        self.public
    }

    /// Signs a payload of the contract.
    pub fn sign(&self, payload: &SignedPayload) -> Signature {
        self.sign_bytes(&payload.to_bytes())
    }

    /// The proof that opens a link to this funduq, or to one without an identity.
    pub fn sign_connect(&self, funduq_key: Option<&PublicKey>, ticket: &Ticket, nonce: &Nonce) -> Signature {
        self.sign(&provider_connect_payload(funduq_key, ticket, nonce))
    }

    /// funduq's answer to a provider's proof.
    pub fn sign_funduq_connect(&self, ticket: &Ticket, nonce: &Nonce) -> Signature {
        self.sign(&funduq_connect_payload(ticket, nonce))
    }

    /// The proof that answers the open asks of a task; `task_id` is the lineage's root run.
    pub fn sign_resolution(
        &self,
        task_id: &RunId,
        ask_ids: impl IntoIterator<Item: AsRef<str>>,
    ) -> Signature {
        self.sign(&resolve_payload(task_id, ask_ids))
    }

    /// The proof that asks for a run to be stopped, at a time in seconds since 1970.
    pub fn sign_cancel(&self, run_id: &RunId, unix_seconds: i64) -> Signature {
        self.sign(&cancel_payload(run_id, unix_seconds))
    }

    /// The proof for one read of a run, at a time in seconds since 1970.
    pub fn sign_view(&self, run_id: &RunId, unix_seconds: i64) -> Signature {
        self.sign(&view_payload(run_id, unix_seconds))
    }

    /// The proof of a KYOK call: bearer, time in seconds since 1970, and the body as its bytes go out.
    pub fn sign_kyok_call(&self, bearer: &str, unix_seconds: i64, body: &[u8]) -> Signature {
        self.sign(&kyok_call_payload(bearer, unix_seconds, body))
    }

    /// The chain's way in: a hop is a JWS, whose signing input is no [`SignedPayload`].
    pub(crate) fn sign_hop(&self, signing_input: &str) -> Signature {
        self.sign_bytes(signing_input.as_bytes())
    }

    fn sign_bytes(&self, bytes: &[u8]) -> Signature {
        Signature::from_bytes(&self.signing.sign(bytes).to_bytes())
    }
}

/// Prints the public key only.
impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Identity({})", self.public)
    }
}

/// The signature is not this key's over this payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the signature does not verify under this key over this payload")]
pub struct BadSignature;

/// Checks a signature over a payload of the contract.
///
/// Strict: an S that is not reduced and an R of small order are refused, so that a payload has one signature per
/// signing and not a family of variations. The payload's time is not looked at; see [`is_fresh`](crate::is_fresh).
///
/// # Errors
/// [`BadSignature`], whatever the reason: a verifier that says more helps only a forger.
pub fn verify_signature(
    key: &PublicKey,
    signature: &Signature,
    payload: &SignedPayload,
) -> Result<(), BadSignature> {
    verify_bytes(key, signature, &payload.to_bytes())
}

pub(crate) fn verify_bytes(key: &PublicKey, signature: &Signature, bytes: &[u8]) -> Result<(), BadSignature> {
    key.point()
        .verify_strict(bytes, &ed25519_dalek::Signature::from_bytes(signature.as_bytes()))
        .map_err(|_| BadSignature)
}

#[cfg(test)]
mod tests {
    use super::*;

    // What the wiping rests on: the library's key type wipes itself.
    const fn wipes_itself<T: zeroize::ZeroizeOnDrop>() {}
    const _: () = wipes_itself::<SigningKey>();

    fn run() -> RunId {
        RunId::new("run-1").unwrap()
    }

    #[test]
    fn a_signature_holds_for_its_key_and_payload_only() {
        let identity = Identity::from_seed(&[1; 32]);
        let signature = identity.sign_cancel(&run(), 5);
        let key = identity.public_key();
        assert_eq!(verify_signature(&key, &signature, &cancel_payload(&run(), 5)), Ok(()));
        assert_eq!(verify_signature(&key, &signature, &cancel_payload(&run(), 6)), Err(BadSignature));
        assert_eq!(verify_signature(&key, &signature, &view_payload(&run(), 5)), Err(BadSignature));
        let other = Identity::generate().public_key();
        assert_eq!(verify_signature(&other, &signature, &cancel_payload(&run(), 5)), Err(BadSignature));
    }

    #[test]
    fn a_signature_malleated_in_s_is_refused() {
        // S + L is the same scalar in another spelling: a lax verifier takes it.
        const GROUP_ORDER: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let identity = Identity::from_seed(&[1; 32]);
        let mut bytes = *identity.sign_cancel(&run(), 5).as_bytes();
        let mut carry = 0u16;
        for (byte, add) in bytes[32..].iter_mut().zip(GROUP_ORDER) {
            let sum = u16::from(*byte) + u16::from(add) + carry;
            *byte = sum.to_le_bytes()[0];
            carry = sum >> 8;
        }
        let malleated = Signature::from_bytes(&bytes);
        let payload = cancel_payload(&run(), 5);
        assert_eq!(verify_signature(&identity.public_key(), &malleated, &payload), Err(BadSignature));
    }

    #[test]
    fn a_signature_with_an_r_of_small_order_is_refused() {
        // R is the neutral point and S makes up for it: a lax verifier takes this one.
        let signature: Signature = "0100000000000000000000000000000000000000000000000000000000000000\
                                    a4f35ec6ffc58c02ade06a8fd07a3f751a09364c0019618a64fb8587f540bd06"
            .parse()
            .unwrap();
        let (key, payload) = (Identity::from_seed(&[1; 32]).public_key(), cancel_payload(&run(), 5));
        let lax = ed25519_dalek::Verifier::verify(
            &key.point(),
            &payload.to_bytes(),
            &ed25519_dalek::Signature::from_bytes(signature.as_bytes()),
        );
        assert!(lax.is_ok());
        assert_eq!(verify_signature(&key, &signature, &payload), Err(BadSignature));
    }

    #[test]
    fn the_debug_text_is_the_public_key_alone() {
        let identity = Identity::from_seed(&[0xa5; 32]);
        let text = format!("{identity:?}");
        assert_eq!(text, format!("Identity({})", identity.public_key()));
        assert!(!text.contains("a5a5"));
    }
}
