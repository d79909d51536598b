//! Opening a link, in the order that is its security: ticket, proof, funduq's answer, the provider's confirmation, and
//! only then the roster (transport page, "The opening handshake, in order").

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use funduq_contract::{
    CONTRACT_REVISION, Connect, ConnectErr, ConnectOk, ConnectRefusal, HeldRun, Identity, PublicKey,
};

use super::admission::{Admission, TicketRefusal};

/// Checks the provider's half. The proof is checked between two looks at the ticket, so that nobody without the key can
/// burn it.
pub(crate) fn check(
    connect: &Connect,
    funduq: Option<&PublicKey>,
    now: Duration,
    admission: &Mutex<Admission>,
) -> Result<(), ConnectErr> {
    let tickets = || admission.lock().unwrap_or_else(PoisonError::into_inner);
    tickets().check(now, &connect.public_key, &connect.ticket).map_err(ticket_refused)?;
    connect.check_proof(funduq).map_err(|_| {
        ConnectErr::new(
            ConnectRefusal::BadProof,
            "the proof is not this key's signature over this funduq's key, the ticket and the nonce",
        )
    })?;
    tickets().redeem(now, &connect.public_key, &connect.ticket).map_err(ticket_refused)
}

fn ticket_refused(refusal: TicketRefusal) -> ConnectErr {
    match refusal {
        TicketRefusal::Unknown => ConnectErr::new(
            ConnectRefusal::TicketUnknown,
            "this ticket was never issued here or is used up; fetch a new one",
        ),
        TicketRefusal::Expired => {
            ConnectErr::new(ConnectRefusal::TicketExpired, "this ticket has expired; fetch a new one")
        }
        TicketRefusal::ForAnotherKey => {
            ConnectErr::new(ConnectRefusal::TicketForAnotherKey, "this ticket was issued to another key")
        }
    }
}

/// funduq's half: its own signature over both nonces, and what it believes the key to hold. Without an identity there is
/// no signature, and only a provider that pinned a key minds.
pub(crate) fn answer(connect: &Connect, funduq: Option<&Identity>, held_runs: Vec<HeldRun>) -> ConnectOk {
    ConnectOk {
        funduq_public_key: funduq.map(Identity::public_key),
        answer: funduq.map(|identity| identity.sign_funduq_connect(&connect.ticket, &connect.provider_nonce)),
        held_runs,
        revision: CONTRACT_REVISION,
    }
}
