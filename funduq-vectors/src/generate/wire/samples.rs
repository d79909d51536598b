//! The values that the wire rows are made of.

use super::super::{MAIN, SECOND, THIRD, TIME, identity};
use funduq_contract::{
    ActorChain, AgentAddress, AgentName, CallerBag, CancelProof, Connect, ConnectOk, HeldRun, KyokOptIn,
    Nonce, ResolutionProof, RunId, Signature, Ticket,
};

pub(super) const RUN: &str = "6f1f8f0e-3c5a-4f6e-9d53-0b7a1c2d3e4f";
pub(super) const THREAD: &str = "0c0ffee0-5a5a-4b4b-8c8c-123456789abc";
pub(super) const COMPLETION: &str = "b2f6a1de-0d4e-4a77-8a55-6a1f0c9e7d21";

const TICKET: [u8; 16] = [0xb7; 16];
const NONCE: [u8; 16] = [0xc9; 16];

pub(super) fn key() -> String {
    identity(MAIN).public_key().to_string()
}

pub(super) fn address() -> String {
    format!(r#"{{"providerKey":"{}","name":"translator"}}"#, key())
}

/// A delivered run around this input.
pub(super) fn run(agent: &str, input: &str) -> String {
    format!(r#"{{"runId":"{RUN}","threadId":"{THREAD}","agentName":"{agent}","input":{input}}}"#)
}

pub(super) fn plain_run() -> String {
    let message = r#"{"id":"m1","role":"user","content":"hi"}"#;
    run("translator", &format!(r#"{{"threadId":"{THREAD}","runId":"{RUN}","messages":[{message}]}}"#))
}

/// A delivered completion with these members between `llmName` and the body.
pub(super) fn completion(between: &str, body: &str) -> String {
    let agent = address();
    format!(
        r#"{{"completionId":"{COMPLETION}","runId":"{RUN}","agent":{agent},"llmName":"house-model",{between}"body":{body}}}"#
    )
}

pub(super) fn plain_completion() -> String {
    completion("", r#"{"model":"m","messages":[]}"#)
}

pub(super) fn connect(concurrency: Option<u32>) -> String {
    let funduq = identity(SECOND).public_key();
    let (ticket, nonce) = (Ticket::from_bytes(TICKET), Nonce::from_bytes(NONCE));
    to_json(&Connect::sign(&identity(MAIN), Some(&funduq), ticket, nonce, concurrency))
}

pub(super) fn connect_ok() -> String {
    let funduq = identity(SECOND);
    let (ticket, nonce) = (Ticket::from_bytes(TICKET), Nonce::from_bytes(NONCE));
    to_json(&ConnectOk {
        funduq_public_key: Some(funduq.public_key()),
        answer: Some(funduq.sign_funduq_connect(&ticket, &nonce)),
        held_runs: vec![HeldRun { run_id: run_id(), received: 12 }],
        revision: 1,
    })
}

pub(super) fn chain() -> String {
    let name = AgentName::new("translator").expect("a word is an agent name");
    let chain = ActorChain::start(&identity(THIRD))
        .dispatch(&identity(SECOND), &AgentAddress::new(identity(MAIN).public_key(), name))
        .expect("a chain of one hop has room for a dispatch");
    to_json(&chain)
}

pub(super) fn caller_bag() -> String {
    let name = AgentName::new("house-model").expect("a word is an agent name");
    to_json(&CallerBag {
        actor_chain: Some(ActorChain::start(&identity(THIRD))),
        kyok: Some(KyokOptIn {
            llm_provider: AgentAddress::new(identity(SECOND).public_key(), name),
            context: None,
        }),
        resolution: Some(ResolutionProof { signature: resolution() }),
        cancel: Some(cancel_proof()),
        addressed_run_id: Some(run_id()),
    })
}

pub(super) fn cancel_proof() -> CancelProof {
    CancelProof { timestamp: TIME, signature: identity(MAIN).sign_cancel(&run_id(), TIME) }
}

pub(super) fn resolution() -> Signature {
    identity(MAIN).sign_resolution(&run_id(), ["int-1"])
}

pub(super) fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("a shape always serialises")
}

fn run_id() -> RunId {
    RUN.parse().expect("a UUID is a run id")
}
