//! Public keys, their fingerprints and signatures: what names a party and what it leaves behind.

use crate::hex::{self, HexProblem, hex_text};
use ed25519_dalek::VerifyingKey;
use sha2::{Digest, Sha256};

/// An Ed25519 public key: the name of a party.
///
/// Always a point of the curve in its one canonical encoding, and never of small order: such a key would accept
/// signatures that nobody made. On a wire it is 64 lower-case hex characters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey([u8; 32]);

/// Why some bytes or a text are not a [`PublicKey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// Not the lower-case hex of 32 bytes.
    #[error("{0}")]
    Hex(#[from] HexProblem),
    /// The bytes decode to no point of the curve, or are not the canonical encoding of one.
    #[error("these bytes are no canonical point of the Ed25519 curve")]
    NotAPoint,
    /// A point of small order: no private key stands behind it.
    #[error("this point has small order, so no private key stands behind it")]
    SmallOrder,
}

impl PublicKey {
    /// The key with these bytes.
    ///
    /// # Errors
    /// [`InvalidKey::NotAPoint`] or [`InvalidKey::SmallOrder`].
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<Self, InvalidKey> {
        Self::with_point(bytes).map(|(key, _)| key)
    }

    /// The 32 bytes of the compressed point.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// The short name of this key: the first 16 hex characters of the SHA-256 of its bytes.
    pub fn fingerprint(&self) -> Fingerprint {
        let digest: [u8; 32] = Sha256::digest(self.0).into();
        let mut short = [0u8; 8];
        short.copy_from_slice(&digest[..8]);
        Fingerprint(short)
    }

    /// The key and its decompressed point, for a caller that verifies at once: the point costs a square root.
    pub(crate) fn with_point(bytes: &[u8; 32]) -> Result<(Self, VerifyingKey), InvalidKey> {
        if !is_canonical(bytes) {
            return Err(InvalidKey::NotAPoint);
        }
        let point = VerifyingKey::from_bytes(bytes).map_err(|_| InvalidKey::NotAPoint)?;
        if point.is_weak() {
            return Err(InvalidKey::SmallOrder);
        }
        Ok((Self(*bytes), point))
    }

    pub(crate) fn point(&self) -> VerifyingKey {
        VerifyingKey::from_bytes(&self.0).expect("each constructor has decompressed these very bytes")
    }

    pub(crate) fn parse_hex(text: &str) -> Result<Self, InvalidKey> {
        Self::from_bytes(&hex::decode(text)?)
    }
}

/// Whether the y coordinate is below 2^255 − 19: the library reads it modulo that, which would give one key two names.
fn is_canonical(bytes: &[u8; 32]) -> bool {
    let high_bits_all_set = bytes[31] & 0x7f == 0x7f && bytes[1..31].iter().all(|byte| *byte == 0xff);
    !(high_bits_all_set && bytes[0] >= 0xed)
}

/// The short name of a [`PublicKey`]: 16 lower-case hex characters, for routes and for people.
///
/// Eight bytes of a hash: enough to tell the keys of one house apart, never a proof of anything.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 8]);

impl Fingerprint {
    /// The eight bytes.
    pub fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }

    fn parse_hex(text: &str) -> Result<Self, HexProblem> {
        hex::decode(text).map(Self)
    }
}

/// An Ed25519 signature: 64 bytes, on a wire 128 lower-case hex characters.
///
/// Any 64 bytes are a `Signature`; whether they sign anything is what
/// [`verify_signature`](crate::verify_signature) says.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl Signature {
    /// The signature with these bytes.
    pub fn from_bytes(bytes: &[u8; 64]) -> Self {
        Self(*bytes)
    }

    /// The 64 bytes: the point R, then the scalar S.
    pub fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    pub(crate) fn parse_hex(text: &str) -> Result<Self, HexProblem> {
        hex::decode(text).map(Self)
    }
}

hex_text!(PublicKey, InvalidKey, "64", "an Ed25519 public key, 64 lower-case hex characters");
hex_text!(Fingerprint, HexProblem, "16", "a key's fingerprint, 16 lower-case hex characters");
hex_text!(Signature, HexProblem, "128", "an Ed25519 signature, 128 lower-case hex characters");

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "29e5833a915a6429a4e3a7948475c338ef436eb82be89c92f059704403db9d55";

    #[test]
    fn a_key_is_read_and_written_as_lower_case_hex() {
        let key: PublicKey = KEY.parse().unwrap();
        assert_eq!(key.to_string(), KEY);
        assert_eq!(serde_json::to_string(&key).unwrap(), format!("\"{KEY}\""));
        assert_eq!(serde_json::from_str::<PublicKey>(&format!("\"{KEY}\"")).unwrap(), key);
    }

    #[test]
    fn a_wrong_length_or_case_is_refused() {
        assert!(matches!(
            KEY[1..].parse::<PublicKey>(),
            Err(InvalidKey::Hex(HexProblem::WrongLength { expected: 64, got: 63 }))
        ));
        assert!(matches!(
            KEY.to_uppercase().parse::<PublicKey>(),
            Err(InvalidKey::Hex(HexProblem::NotLowerHex { .. }))
        ));
    }

    #[test]
    fn bytes_that_are_no_point_are_refused() {
        assert_eq!("d0".repeat(32).parse::<PublicKey>(), Err(InvalidKey::NotAPoint));
    }

    #[test]
    fn each_small_order_point_is_refused_in_each_encoding() {
        // The eight points of the torsion subgroup; the two with x = 0 also with the sign bit set.
        let small_order = [
            "0100000000000000000000000000000000000000000000000000000000000000",
            "0100000000000000000000000000000000000000000000000000000000000080",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "0000000000000000000000000000000000000000000000000000000000000080",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
            "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
            "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        ];
        for text in small_order {
            assert!(
                matches!(text.parse::<PublicKey>(), Err(InvalidKey::SmallOrder | InvalidKey::NotAPoint)),
                "{text}"
            );
        }
        assert_eq!(small_order[0].parse::<PublicKey>(), Err(InvalidKey::SmallOrder));
        assert_eq!(small_order[6].parse::<PublicKey>(), Err(InvalidKey::SmallOrder));
    }

    #[test]
    fn a_second_encoding_of_a_point_is_refused() {
        // y = 3 + p is read by the library as y = 3, which is a point: one key under two names.
        let canonical = "0300000000000000000000000000000000000000000000000000000000000000";
        let respelled = "f0ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f";
        assert!(VerifyingKey::from_bytes(&hex::decode(respelled).unwrap()).is_ok());
        assert!(canonical.parse::<PublicKey>().is_ok());
        assert_eq!(respelled.parse::<PublicKey>(), Err(InvalidKey::NotAPoint));
    }

    #[test]
    fn a_fingerprint_is_the_start_of_the_keys_hash() {
        let key: PublicKey = KEY.parse().unwrap();
        assert_eq!(key.fingerprint().to_string(), "a1d577350a959ecd");
    }
}
