//! The shapes that cross a link, and those that stand in a request or a run input. Each has a published JSON Schema.
//!
//! Names are camelCase. A field that a shape does not have is refused; only the caller's bag lets unknown members be.
//!
//! Canonical input is a shape's own writing of it: fields in the declared order, no spaces, an absent optional field
//! left out. Canonical input survives reading and writing byte for byte, and so do the parts that belong to others
//! (events, run input, completion bodies and chunks), whatever they look like.

mod bag;
mod completion;
mod handshake;
mod props;
mod registration;
mod run;
mod ticket;

pub use bag::{
    ADDRESSED_RUN_ID, CallerBag, CancelProof, INTERJECTION_EXTENSION, InvalidBag, KyokOptIn, ResolutionProof,
};
pub use completion::{
    CancelCompletion, Chunk, Complete, CompletionEnd, CompletionFailed, CompletionId, DeliveredCompletion,
};
pub use handshake::{Connect, ConnectErr, ConnectOk, ConnectRefusal, HeldRun, WrongFunduq};
pub use props::{FunduqProps, KyokGrant, RESERVED_KEY};
pub use registration::{LlmRegistration, Registration};
pub use run::{Ack, Cancel, DeliveredRun, Offer, Verdict};
pub(crate) use run::{VerdictFields, VerdictWord, verdict_schema};
pub use ticket::{TicketIssued, TicketRequest};

/// Reads a number that counts from one.
pub(crate) fn at_least_one<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: serde::Deserialize<'de> + PartialEq + From<u8>,
{
    let number = T::deserialize(deserializer)?;
    if number == T::from(0) {
        return Err(serde::de::Error::custom("0 where at least 1 is needed"));
    }
    Ok(number)
}
