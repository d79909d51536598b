//! Proofs over a bound thread: who may answer its asks and cancel its runs.

use funduq_contract::{
    CancelProof, PublicKey, ResolutionProof, Signature, SignedPayload, cancel_payload, is_fresh,
    resolve_payload, verify_signature,
};

use crate::error::{DoorError, ProofProblem};
use crate::record::{Run, Thread};

/// Who answers the ask of `asking`: on a bound thread the authority whose signature says so, on an open one nobody
/// in particular.
pub(super) fn resolution(
    thread: &Thread,
    asking: &Run,
    proof: Option<&ResolutionProof>,
) -> Result<Option<PublicKey>, DoorError> {
    let Some(head) = thread.head else { return Ok(None) };
    let payload = resolve_payload(&asking.root_run_id, asking.metadata.ask_ids());
    let signature = proof.map(|proof| &proof.signature);
    signed_by(thread, head, signature, &payload)
        .map(Some)
        .map_err(|problem| DoorError::InvalidResolution { task: asking.root_run_id.clone(), problem })
}

/// Who asks for `run` to stop, likewise. `now` is in Unix seconds.
pub(crate) fn cancel(
    thread: &Thread,
    run: &Run,
    proof: Option<&CancelProof>,
    now: i64,
) -> Result<Option<PublicKey>, DoorError> {
    let Some(head) = thread.head else { return Ok(None) };
    let judged = match proof {
        None => Err(ProofProblem::Missing),
        Some(proof) if !is_fresh(proof.timestamp, now) => Err(ProofProblem::Stale),
        Some(proof) => {
            let payload = cancel_payload(&run.root_run_id, proof.timestamp);
            let payload_of_run = cancel_payload(&run.id, proof.timestamp);
            signed_by(thread, head, Some(&proof.signature), &payload)
                .or_else(|_| signed_by(thread, head, Some(&proof.signature), &payload_of_run))
        }
    };
    judged.map(Some).map_err(|problem| DoorError::InvalidCancel { run: run.id.clone(), problem })
}

fn signed_by(
    thread: &Thread,
    head: PublicKey,
    signature: Option<&Signature>,
    payload: &SignedPayload,
) -> Result<PublicKey, ProofProblem> {
    let signature = signature.ok_or(ProofProblem::Missing)?;
    [head, thread.agent.provider]
        .into_iter()
        .find(|key| verify_signature(key, signature, payload).is_ok())
        .ok_or(ProofProblem::BadSignature)
}
