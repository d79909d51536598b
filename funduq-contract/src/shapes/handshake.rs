//! The opening of a link: each side proves its key to the other before anything else crosses.

use crate::identity::{BadSignature, Identity, verify_signature};
use crate::ids::RunId;
use crate::keys::{Fingerprint, PublicKey, Signature};
use crate::payload::{funduq_connect_payload, provider_connect_payload};
use crate::ports::UnknownWord;
use crate::tickets::{Nonce, Ticket};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A provider opens a link: its key, the ticket that admits it, and the proof that it holds the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connect {
    /// The provider's key.
    pub public_key: PublicKey,
    /// The ticket that funduq issued to this key, on a channel apart from the link.
    pub ticket: Ticket,
    /// The provider's own random bits, new for each opening.
    pub provider_nonce: Nonce,
    /// The key's signature over the `provider-connect` payload, which names the funduq that is meant.
    pub proof: Signature,
    /// How many runs the provider takes at once; left out means no limit. At least 1.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "some_room")]
    #[schemars(range(min = 1))]
    pub concurrency: Option<u32>,
}

/// A provider that takes no run at once would only ever decline.
fn some_room<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    match Option::<u32>::deserialize(deserializer)? {
        Some(0) => Err(serde::de::Error::custom("0 where at least 1 is needed; leave it out for no limit")),
        concurrency => Ok(concurrency),
    }
}

impl Connect {
    /// The opening of a link to the funduq with this key (`None`: one without an identity), signed.
    pub fn sign(
        identity: &Identity,
        funduq_key: Option<&PublicKey>,
        ticket: Ticket,
        provider_nonce: Nonce,
        concurrency: Option<u32>,
    ) -> Self {
        let proof = identity.sign_connect(funduq_key, &ticket, &provider_nonce);
        Self { public_key: identity.public_key(), ticket, provider_nonce, proof, concurrency }
    }

    /// Checks the proof as the funduq with this key does: a proof that was made for another one does not hold.
    ///
    /// Whether the ticket admits the key is a different question, and funduq's roster of tickets answers it.
    ///
    /// # Errors
    /// [`BadSignature`] where the proof is not this key's for this funduq, ticket and nonce.
    pub fn check_proof(&self, funduq_key: Option<&PublicKey>) -> Result<(), BadSignature> {
        let payload = provider_connect_payload(funduq_key, &self.ticket, &self.provider_nonce);
        verify_signature(&self.public_key, &self.proof, &payload)
    }
}

/// funduq lets the provider in, proves its own key, and says what it believes this provider still holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ConnectOk {
    /// funduq's key; left out by a funduq without an identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub funduq_public_key: Option<PublicKey>,
    /// funduq's signature over the `funduq-connect` payload; left out by a funduq without an identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Signature>,
    /// The runs that this key holds in funduq's record. A provider sends on from the number after `received` in those
    /// that it knows, and finishes those that it does not know.
    pub held_runs: Vec<HeldRun>,
    /// The contract revision that funduq speaks.
    pub revision: u32,
}

/// One run that a key holds, and how far funduq has its events.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeldRun {
    /// The run.
    pub run_id: RunId,
    /// The number of the last event that is in funduq's record; 0 where there is none.
    pub received: u64,
}

impl ConnectOk {
    /// Checks, as a provider does before it publishes anything, that the one who answered is the funduq it pinned.
    ///
    /// # Errors
    /// [`WrongFunduq`]: close the link and send nothing.
    pub fn confirm(&self, pinned: &PublicKey, ticket: &Ticket, nonce: &Nonce) -> Result<(), WrongFunduq> {
        if let Some(found) = self.funduq_public_key.filter(|found| found != pinned) {
            return Err(WrongFunduq::OtherKey { pinned: pinned.fingerprint(), found: found.fingerprint() });
        }
        let (Some(_), Some(answer)) = (self.funduq_public_key, self.answer) else {
            return Err(WrongFunduq::NoProof { pinned: pinned.fingerprint() });
        };
        verify_signature(pinned, &answer, &funduq_connect_payload(ticket, nonce))
            .map_err(|BadSignature| WrongFunduq::BadAnswer { pinned: pinned.fingerprint() })
    }
}

/// The one who answered an opening is not the funduq that the provider pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WrongFunduq {
    /// It names another key.
    #[error("pinned the funduq {pinned}, but {found} answered; check the address and the pinned key")]
    OtherKey {
        /// The pinned key.
        pinned: Fingerprint,
        /// The key that it names.
        found: Fingerprint,
    },
    /// It proves nothing: a funduq without an identity, or somebody in between.
    #[error("pinned the funduq {pinned}, but the one that answered has proved no key")]
    NoProof {
        /// The pinned key.
        pinned: Fingerprint,
    },
    /// It names the pinned key, but its signature is not that key's for this opening.
    #[error("the answer is not signed by the pinned funduq {pinned} for this opening")]
    BadAnswer {
        /// The pinned key.
        pinned: Fingerprint,
    },
}

/// funduq does not let the provider in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[error("{code}: {message}")]
pub struct ConnectErr {
    /// Why, for a machine.
    pub code: ConnectRefusal,
    /// Why, for a person.
    pub message: String,
}

impl ConnectErr {
    /// A refusal in these words.
    pub fn new(code: ConnectRefusal, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Why a link is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConnectRefusal {
    /// funduq issued no such ticket, or it was spent.
    TicketUnknown,
    /// The ticket's time is over.
    TicketExpired,
    /// The ticket admits another key; it is not spent by this attempt.
    TicketForAnotherKey,
    /// The proof does not verify: another key's, or made for another funduq, ticket or nonce.
    BadProof,
    /// funduq is going down; try again later.
    ShuttingDown,
    /// funduq has as many links as it takes; try again later.
    TooManyLinks,
    /// The opening is not one: no such shape, or a concurrency of 0.
    Malformed,
}

impl ConnectRefusal {
    /// Every refusal.
    pub const ALL: [Self; 7] = [
        Self::TicketUnknown,
        Self::TicketExpired,
        Self::TicketForAnotherKey,
        Self::BadProof,
        Self::ShuttingDown,
        Self::TooManyLinks,
        Self::Malformed,
    ];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::TicketUnknown => "ticketUnknown",
            Self::TicketExpired => "ticketExpired",
            Self::TicketForAnotherKey => "ticketForAnotherKey",
            Self::BadProof => "badProof",
            Self::ShuttingDown => "shuttingDown",
            Self::TooManyLinks => "tooManyLinks",
            Self::Malformed => "malformed",
        }
    }

    /// Whether the same provider may be let in with a new ticket and no other change.
    pub fn is_temporary(self) -> bool {
        match self {
            Self::TicketUnknown | Self::TicketExpired | Self::ShuttingDown | Self::TooManyLinks => true,
            Self::TicketForAnotherKey | Self::BadProof | Self::Malformed => false,
        }
    }
}

impl std::str::FromStr for ConnectRefusal {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        Self::ALL.into_iter().find(|refusal| refusal.as_str() == word).ok_or(UnknownWord)
    }
}

impl std::fmt::Display for ConnectRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(funduq: &Identity) -> (Connect, ConnectOk) {
        let (ticket, nonce) = (Ticket::generate(), Nonce::generate());
        let connect = Connect::sign(&Identity::generate(), Some(&funduq.public_key()), ticket, nonce, None);
        let ok = ConnectOk {
            funduq_public_key: Some(funduq.public_key()),
            answer: Some(funduq.sign_funduq_connect(&ticket, &nonce)),
            held_runs: vec![],
            revision: 1,
        };
        (connect, ok)
    }

    #[test]
    fn a_proof_holds_at_the_funduq_it_names_and_at_no_other() {
        let (funduq, other) = (Identity::generate(), Identity::generate());
        let (connect, _) = opening(&funduq);
        assert_eq!(connect.check_proof(Some(&funduq.public_key())), Ok(()));
        assert_eq!(connect.check_proof(Some(&other.public_key())), Err(BadSignature));
        assert_eq!(connect.check_proof(None), Err(BadSignature));
    }

    #[test]
    fn an_answer_is_confirmed_only_from_the_pinned_key_for_this_opening() {
        let (funduq, other) = (Identity::generate(), Identity::generate());
        let (connect, ok) = opening(&funduq);
        let confirm = |ok: &ConnectOk, pinned: &Identity| {
            ok.confirm(&pinned.public_key(), &connect.ticket, &connect.provider_nonce)
        };
        assert_eq!(confirm(&ok, &funduq), Ok(()));
        assert!(matches!(confirm(&ok, &other), Err(WrongFunduq::OtherKey { .. })));
        let (_, another_opening) = opening(&funduq);
        assert!(matches!(confirm(&another_opening, &funduq), Err(WrongFunduq::BadAnswer { .. })));
        let silent = ConnectOk { answer: None, ..ok.clone() };
        assert!(matches!(confirm(&silent, &funduq), Err(WrongFunduq::NoProof { .. })));
        let nameless = ConnectOk { funduq_public_key: None, ..ok };
        assert!(matches!(confirm(&nameless, &funduq), Err(WrongFunduq::NoProof { .. })));
    }

    #[test]
    fn neither_proof_can_be_reflected_as_the_others() {
        let funduq = Identity::generate();
        let (connect, ok) = opening(&funduq);
        let reflected = ConnectOk { answer: Some(connect.proof), ..ok };
        assert!(reflected.confirm(&funduq.public_key(), &connect.ticket, &connect.provider_nonce).is_err());
    }

    #[test]
    fn each_refusals_word_is_the_one_on_the_wire() {
        for code in ConnectRefusal::ALL {
            assert_eq!(serde_json::to_string(&code).unwrap(), format!("\"{code}\""));
            assert_eq!(code.as_str().parse(), Ok(code));
        }
    }
}
