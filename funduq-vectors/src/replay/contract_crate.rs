//! The contract crate itself as an implementation; a suite of something built on it wraps this one.

use super::Implementation;
use crate::model::{ChainVerdict, PayloadInputs};
use crate::surface;
use funduq_contract::http_signature::RequestTarget;
use funduq_contract::{
    ActorChain, Identity, PublicKey, RunId, SignedPayload, cancel_payload, funduq_connect_payload,
    http_request_payload, kyok_call_payload, provider_connect_payload, resolve_payload, verify_signature,
    view_payload,
};

/// `funduq-contract` as an [`Implementation`].
#[derive(Debug, Clone, Copy, Default)]
pub struct ContractCrate;

impl Implementation for ContractCrate {
    fn public_key(&self, seed_hex: &str) -> Result<String, String> {
        Ok(identity(seed_hex)?.public_key().to_string())
    }

    fn fingerprint(&self, public_key: &str) -> Result<String, String> {
        let key: PublicKey = public_key.parse().map_err(said)?;
        Ok(key.fingerprint().to_string())
    }

    fn payload(&self, inputs: &PayloadInputs) -> Result<String, String> {
        Ok(payload_of(inputs)?.to_text())
    }

    fn sign(&self, seed_hex: &str, inputs: &PayloadInputs) -> Result<String, String> {
        Ok(identity(seed_hex)?.sign(&payload_of(inputs)?).to_string())
    }

    fn verify(&self, public_key: &str, signature_hex: &str, inputs: &PayloadInputs) -> Result<bool, String> {
        let key: PublicKey = public_key.parse().map_err(said)?;
        let signature = signature_hex.parse().map_err(said)?;
        Ok(verify_signature(&key, &signature, &payload_of(inputs)?).is_ok())
    }

    fn judge_chain(&self, tokens: &[String]) -> Result<ChainVerdict, String> {
        Ok(match ActorChain::from_tokens(tokens.to_vec()).verify() {
            Ok(chain) => {
                ChainVerdict::Accepted { ok: chain.hops().iter().map(|hop| hop.key.to_string()).collect() }
            }
            Err(error) => ChainVerdict::Refused { error: error.kind().to_owned(), hop: error.hop() },
        })
    }

    fn rewrite(&self, shape: &str, json: &str) -> Result<String, String> {
        surface::shape(shape).ok_or_else(|| format!("there is no shape {shape}"))?.rewrite(json)
    }
}

/// The payload of a row's inputs.
pub(crate) fn payload_of(inputs: &PayloadInputs) -> Result<SignedPayload, String> {
    let run = |id: &str| id.parse::<RunId>().map_err(said);
    Ok(match inputs {
        PayloadInputs::KyokCall { bearer, timestamp, body_utf8, .. } => {
            kyok_call_payload(bearer, *timestamp, body_utf8.as_bytes())
        }
        PayloadInputs::HttpRequest {
            method,
            authority,
            path,
            query,
            body_utf8,
            timestamp,
            public_key,
            nonce,
            ..
        } => {
            // The scheme is in none of the lines; that of TLS leaves every other port where it stands.
            let query = query.strip_prefix('?').filter(|query| !query.is_empty());
            let target = RequestTarget::new(method, "https", authority, path, query);
            let (key, nonce) = (public_key.parse().map_err(said)?, nonce.parse().map_err(said)?);
            let body_sha256 = crate::stable::sha256(body_utf8.as_bytes());
            http_request_payload(&key, &target, &body_sha256, *timestamp, &nonce)
        }
        PayloadInputs::ProviderConnect { funduq_public_key, funduq_nonce, provider_nonce } => {
            let key = match funduq_public_key.as_str() {
                "" => None,
                key => Some(key.parse().map_err(said)?),
            };
            provider_connect_payload(
                key.as_ref(),
                &funduq_nonce.parse().map_err(said)?,
                &provider_nonce.parse().map_err(said)?,
            )
        }
        PayloadInputs::FunduqConnect { funduq_nonce, provider_nonce } => funduq_connect_payload(
            &funduq_nonce.parse().map_err(said)?,
            &provider_nonce.parse().map_err(said)?,
        ),
        PayloadInputs::Resolution { run_id, ask_ids } => resolve_payload(&run(run_id)?, ask_ids),
        PayloadInputs::Cancel { run_id, timestamp } => cancel_payload(&run(run_id)?, *timestamp),
        PayloadInputs::View { run_id, timestamp } => view_payload(&run(run_id)?, *timestamp),
    })
}

fn identity(seed_hex: &str) -> Result<Identity, String> {
    let mut seed = [0u8; 32];
    if seed_hex.len() != 64 || !seed_hex.is_ascii() {
        return Err("a seed is 64 hex characters".to_owned());
    }
    for (byte, digits) in seed.iter_mut().zip(seed_hex.as_bytes().chunks(2)) {
        let digits = std::str::from_utf8(digits).map_err(said)?;
        *byte = u8::from_str_radix(digits, 16).map_err(said)?;
    }
    Ok(Identity::from_seed(&seed))
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
