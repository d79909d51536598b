//! The published vectors, replayed with what a provider has in hand: a key from its file, the sign methods, `verify_chain`.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use funduq_provider_sdk::contract::http_signature::RequestTarget;
use funduq_provider_sdk::contract::{ActorChain, PublicKey};
use funduq_provider_sdk::{ProviderIdentity, verify_chain};
use funduq_vectors::{ChainVerdict, ContractCrate, Implementation, PayloadInputs, replay, vectors};

struct Provider;

/// The identity whose file has this seed.
fn identity(seed_hex: &str) -> Result<ProviderIdentity, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path).unwrap();
    writeln!(file, "{seed_hex}").unwrap();
    ProviderIdentity::load_or_create(path).map_err(said)
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// The signature in a field `label=:base64:`, in hex.
fn hex_of(field: &str) -> Result<String, String> {
    let encoded = field.split(':').nth(1).ok_or("the field has no byte sequence")?;
    let bytes = STANDARD.decode(encoded).map_err(said)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Implementation for Provider {
    fn public_key(&self, seed_hex: &str) -> Result<String, String> {
        Ok(identity(seed_hex)?.public_key().to_string())
    }

    fn fingerprint(&self, public_key: &str) -> Result<String, String> {
        Ok(public_key.parse::<PublicKey>().map_err(said)?.fingerprint().to_string())
    }

    fn payload(&self, inputs: &PayloadInputs) -> Result<String, String> {
        ContractCrate.payload(inputs)
    }

    fn sign(&self, seed_hex: &str, inputs: &PayloadInputs) -> Result<String, String> {
        let identity = identity(seed_hex)?;
        let signature = match inputs {
            PayloadInputs::KyokCall { bearer, timestamp, body_utf8, .. } => {
                identity.sign_kyok_call(bearer, *timestamp, body_utf8.as_bytes())
            }
            PayloadInputs::HttpRequest {
                method,
                authority,
                path,
                query,
                body_utf8,
                timestamp,
                nonce,
                ..
            } => {
                let query = query.strip_prefix('?').filter(|query| !query.is_empty());
                let target = RequestTarget::new(method, "https", authority, path, query);
                let nonce = nonce.parse().map_err(said)?;
                let headers = identity.sign_request(&target, body_utf8.as_bytes(), *timestamp, &nonce);
                return hex_of(&headers.signature);
            }
            PayloadInputs::ProviderConnect { funduq_public_key, funduq_nonce, provider_nonce } => {
                let named = Some(funduq_public_key).filter(|key| !key.is_empty());
                let key = named.map(|key| key.parse()).transpose().map_err(said)?;
                let (ticket, nonce) =
                    (funduq_nonce.parse().map_err(said)?, provider_nonce.parse().map_err(said)?);
                identity.sign_connect(key.as_ref(), &ticket, &nonce)
            }
            PayloadInputs::FunduqConnect { funduq_nonce, provider_nonce } => {
                let (ticket, nonce) =
                    (funduq_nonce.parse().map_err(said)?, provider_nonce.parse().map_err(said)?);
                identity.sign_funduq_connect(&ticket, &nonce)
            }
            PayloadInputs::Resolution { run_id, ask_ids } => {
                identity.sign_resolution(&run_id.parse().map_err(said)?, ask_ids)
            }
            PayloadInputs::Cancel { run_id, timestamp } => {
                identity.sign_cancel(&run_id.parse().map_err(said)?, *timestamp)
            }
            PayloadInputs::View { run_id, timestamp } => {
                identity.sign_view(&run_id.parse().map_err(said)?, *timestamp)
            }
        };
        Ok(signature.to_string())
    }

    fn verify(&self, public_key: &str, signature_hex: &str, inputs: &PayloadInputs) -> Result<bool, String> {
        ContractCrate.verify(public_key, signature_hex, inputs)
    }

    fn judge_chain(&self, tokens: &[String]) -> Result<ChainVerdict, String> {
        Ok(match verify_chain(&ActorChain::from_tokens(tokens.to_vec())) {
            Ok(chain) => {
                ChainVerdict::Accepted { ok: chain.hops().iter().map(|hop| hop.key.to_string()).collect() }
            }
            Err(error) => ChainVerdict::Refused { error: error.kind().to_owned(), hop: error.hop() },
        })
    }

    fn rewrite(&self, shape: &str, json: &str) -> Result<String, String> {
        ContractCrate.rewrite(shape, json)
    }
}

#[test]
fn a_provider_reproduces_the_published_vectors() {
    replay(&vectors().unwrap(), &Provider).assert_clean();
}
