//! Everything funduq invents: signed payloads, the actor chain, the shapes that cross a link, the ports of a link.
//!
//! Both sides of a link are built on this crate, so each byte and each shape is defined once. It does no I/O, has no
//! runtime and reads no clock: times and random bits come in, bytes and judgements go out. What it holds is published
//! as data in `funduq-vectors/contract-vectors.json`, and `cargo xtask vectors --check` refuses a change that is not.
//!
//! An opening, from both sides:
//!
//! ```
//! use funduq_contract::{CONTRACT_REVISION, Connect, ConnectOk, Identity, Nonce, Ticket};
//!
//! let (provider, funduq) = (Identity::generate(), Identity::generate());
//! // funduq has given this ticket to the provider's key, by another way than the link.
//! let ticket = Ticket::generate();
//!
//! let connect = Connect::sign(&provider, Some(&funduq.public_key()), ticket, Nonce::generate(), None);
//!
//! // funduq: is it that key, and does it mean me? Then my own proof.
//! connect.check_proof(Some(&funduq.public_key()))?;
//! let ok = ConnectOk {
//!     funduq_public_key: Some(funduq.public_key()),
//!     answer: Some(funduq.sign_funduq_connect(&connect.ticket, &connect.provider_nonce)),
//!     held_runs: vec![],
//!     revision: CONTRACT_REVISION,
//! };
//!
//! // The provider: is it the funduq that I pinned?
//! ok.confirm(&funduq.public_key(), &connect.ticket, &connect.provider_nonce)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A chain, from the caller to the agent:
//!
//! ```
//! use funduq_contract::{ActorChain, AgentAddress, AgentName, Identity};
//!
//! let (caller, funduq, agent) = (Identity::generate(), Identity::generate(), Identity::generate());
//! let address = AgentAddress::new(agent.public_key(), AgentName::new("translator")?);
//!
//! let chain = ActorChain::start(&caller).dispatch(&funduq, &address)?.extend(&agent)?;
//!
//! let verified = chain.verify()?;
//! assert_eq!(verified.head(), caller.public_key());
//! assert_eq!(verified.last(), agent.public_key());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chain;
mod frames;
mod hex;
pub mod http_signature;
mod identity;
mod ids;
mod keys;
mod payload;
mod ports;
mod raw;
mod shapes;
mod tickets;

#[cfg(test)]
mod peer_facts;

/// The revision of the contract that this crate speaks. It moves with each change of the published surface, and
/// `docs/contract-changelog.md` says what changed.
pub const CONTRACT_REVISION: u32 = 2;

/// The fingerprint of the published surface at this revision: two parties that have the same one mean the same bytes.
pub const CONTRACT_FINGERPRINT: &str = "9323539d45cccc9a";

pub use chain::{
    ActorChain, ChainError, HEADER as CHAIN_HEADER, Hop, HopProblem, MAX_HOPS, MAX_TOKEN_BYTES, VerifiedChain,
};
pub use frames::{
    DeleteFrame, DownFrame, ErrFrame, EventFrame, FinishFrame, LlmDownFrame, LlmRegisterFrame, LlmUpFrame,
    MalformedFrame, MessagesFrame, OkFrame, ReceivedFrame, RegisterFrame, ThreadMessagesFrame, UpFrame,
    VerdictFrame,
};
pub use hex::HexProblem;
pub use identity::{BadSignature, Identity, verify_signature};
pub use ids::{AgentAddress, AgentName, InvalidAddress, InvalidName, NameProblem, RunId, ThreadId};
pub use keys::{Fingerprint, InvalidKey, PublicKey, Signature};
pub use payload::{
    FRESHNESS_SECONDS, PayloadFamily, SIGNATURE_HEADER, SignedPayload, TICKET_SECONDS, TIMESTAMP_HEADER,
    ask_ids_digest, cancel_payload, funduq_connect_payload, http_request_payload, is_fresh,
    kyok_call_payload, provider_connect_payload, resolve_payload, view_payload,
};
pub use ports::{
    ConnectedLlmProvider, ConnectedProvider, FunduqPort, LinkClosed, LinkGone, LinkId, LlmPort, PortError,
    PortErrorCode, UnknownWord,
};
pub use raw::{NotJson, RawJson};
pub use shapes::{
    ADDRESSED_RUN_ID, Ack, CallerBag, Cancel, CancelCompletion, CancelProof, Chunk, Complete, CompletionEnd,
    CompletionFailed, CompletionId, Connect, ConnectErr, ConnectOk, ConnectRefusal, DeliveredCompletion,
    DeliveredRun, FunduqProps, HeldRun, INTERJECTION_EXTENSION, InvalidBag, KyokGrant, KyokOptIn,
    LlmRegistration, Offer, RESERVED_KEY, Registration, ResolutionProof, TicketIssued, TicketRequest,
    Verdict, WrongFunduq,
};
pub use tickets::{Nonce, Ticket};
