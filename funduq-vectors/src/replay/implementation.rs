//! What an implementation of the contract can be asked.

use crate::model::{ChainVerdict, PayloadInputs};

/// An implementation of the contract, as the replay sees it: texts in, texts out.
///
/// Each method answers with the implementation's own words where it cannot: a row that ends so has failed.
pub trait Implementation {
    /// The public key of a seed, both in hex.
    ///
    /// # Errors
    /// Where the seed is refused.
    fn public_key(&self, seed_hex: &str) -> Result<String, String>;

    /// The fingerprint of a public key, both in hex.
    ///
    /// # Errors
    /// Where the key is refused.
    fn fingerprint(&self, public_key: &str) -> Result<String, String>;

    /// The text that is signed for these inputs.
    ///
    /// # Errors
    /// Where the inputs are refused.
    fn payload(&self, inputs: &PayloadInputs) -> Result<String, String>;

    /// The signature in hex of that text under the key of a seed.
    ///
    /// # Errors
    /// Where seed or inputs are refused.
    fn sign(&self, seed_hex: &str, inputs: &PayloadInputs) -> Result<String, String>;

    /// Whether a signature is the key's over that text.
    ///
    /// # Errors
    /// Where the question makes no sense; a signature that does not verify is `Ok(false)`.
    fn verify(&self, public_key: &str, signature_hex: &str, inputs: &PayloadInputs) -> Result<bool, String>;

    /// What it makes of a chain.
    ///
    /// # Errors
    /// Where it can say neither yes nor no.
    fn judge_chain(&self, tokens: &[String]) -> Result<ChainVerdict, String>;

    /// Reads a text as a shape and writes it again.
    ///
    /// # Errors
    /// Why the text is refused.
    fn rewrite(&self, shape: &str, json: &str) -> Result<String, String>;
}
