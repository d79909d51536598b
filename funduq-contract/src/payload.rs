//! The signed payloads: every byte sequence that a key of funduq's world puts its name to.

use crate::hex;
use crate::http_signature::{RequestTarget, SignatureBase};
use crate::ids::RunId;
use crate::keys::PublicKey;
use crate::tickets::{Nonce, Ticket};
use sha2::{Digest, Sha256};

/// How far a payload's time may lie from the verifier's clock, in seconds, either way.
pub const FRESHNESS_SECONDS: i64 = 60;

/// How long a ticket admits its key after it was issued, in seconds.
pub const TICKET_SECONDS: u64 = 60;

/// The HTTP header of a KYOK call that carries its payload's time, in seconds since 1970.
pub const TIMESTAMP_HEADER: &str = "Funduq-Timestamp";

/// The HTTP header of a KYOK call that carries the agent's signature over its payload.
pub const SIGNATURE_HEADER: &str = "Funduq-Signature";

/// Whether a payload stamped with one time is fresh at another, both in seconds since 1970.
///
/// The verifier of a `cancel`, a `view` or a `kyok-call` checks this beside the signature; the other families
/// carry no time because something else in them is new each time.
pub fn is_fresh(stamped: i64, now: i64) -> bool {
    stamped.abs_diff(now) <= FRESHNESS_SECONDS.unsigned_abs()
}

/// Everything that is ever signed, apart from a chain's hop: seven families.
///
/// An [`Identity`](crate::Identity) signs nothing but these, and each is published: whatever carries a
/// signature, an implementer elsewhere can read what it covers.
#[derive(Clone, PartialEq, Eq)]
pub enum SignedPayload {
    /// An agent calls the KYOK endpoint: this bearer, now, with exactly this body.
    KyokCall {
        /// The token of the run's grant, as it stands in the `Authorization` header.
        bearer: String,
        /// When, in seconds since 1970.
        unix_seconds: i64,
        /// SHA-256 of the request's body as sent.
        body_sha256: [u8; 32],
    },
    /// Whoever makes an HTTP request proves which key they are: the base of a signature after RFC 9421, see
    /// [`http_signature`](crate::http_signature).
    HttpRequest(SignatureBase),
    /// A provider opens a link: to this funduq and no other, on this ticket.
    ProviderConnect {
        /// The key of the funduq that is meant; `None` for a funduq that has no identity.
        funduq_key: Option<PublicKey>,
        /// The ticket that funduq issued to this provider's key.
        ticket: Ticket,
        /// The provider's own nonce.
        nonce: Nonce,
    },
    /// funduq answers an opening: both parties' nonces under a tag of its own, so that neither proof can be
    /// reflected as the other's.
    FunduqConnect {
        /// The ticket of the opening.
        ticket: Ticket,
        /// The provider's nonce of the opening.
        nonce: Nonce,
    },
    /// A party of a bound thread answers the asks of a waiting task. Carries no time: new asks have new ids, so it
    /// is good for one pause and no other.
    Resolution {
        /// The task: the root run of the lineage that waits.
        task_id: RunId,
        /// SHA-256 of the open asks' ids, see [`ask_ids_digest`].
        asks_sha256: [u8; 32],
    },
    /// A party of a bound thread asks that a run be stopped.
    Cancel {
        /// The run.
        run_id: RunId,
        /// When, in seconds since 1970.
        unix_seconds: i64,
    },
    /// A party proves its key for one read of a run; a host may take it as presenter's proof.
    View {
        /// The run.
        run_id: RunId,
        /// When, in seconds since 1970.
        unix_seconds: i64,
    },
}

/// One family of [`SignedPayload`] as it is published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PayloadFamily {
    /// The word for it: the variant's name in kebab case.
    pub kind: &'static str,
    /// The bytes, with `{…}` where the row's inputs stand.
    pub template: &'static str,
    /// Who signs it, who verifies it, and what each part is.
    pub note: &'static str,
}

impl SignedPayload {
    /// Every family, sorted by kind; this list is what the vectors publish.
    pub const FAMILIES: [PayloadFamily; 7] = [
        PayloadFamily {
            kind: "cancel",
            template: "funduq-cancel:{run_id}:{timestamp}",
            note: "Signed by the head of a bound thread's chain or by the provider that serves it; verified by funduq. \
                   timestamp: seconds since 1970, decimal, fresh within 60 seconds either way.",
        },
        PayloadFamily {
            kind: "funduq-connect",
            template: "funduq-connect-funduq:{funduq_nonce}:{provider_nonce}",
            note: "Signed by funduq in answer to a provider's proof; verified by the provider under the funduq key that \
                   it pinned, before it publishes anything. funduq_nonce: the ticket.",
        },
        PayloadFamily {
            kind: "http-request",
            template: "\"@method\": {method}\n\"@authority\": {authority}\n\"@path\": {path}\n\"@query\": {query}\n\
                       \"content-digest\": sha-256=:{body_sha256_base64}:\n\
                       \"@signature-params\": (\"@method\" \"@authority\" \"@path\" \"@query\" \"content-digest\")\
                       ;created={timestamp};keyid=\"{public_key}\";alg=\"ed25519\";nonce=\"{nonce}\"",
            note: "Signed by whoever makes an HTTP request, verified by a host: a signature base of RFC 9421, and this \
                   template is the one that an identity makes; see the topic http_signature for what else is taken. \
                   query: with its question mark, which stands alone where there is no query. body_sha256_base64: the \
                   SHA-256 of the body's bytes, base64 with padding. timestamp: as for cancel. nonce: 128 random \
                   bits, 32 hex characters.",
        },
        PayloadFamily {
            kind: "kyok-call",
            template: "funduq-kyok-call:{bearer}:{timestamp}:{body_sha256_hex}",
            note: "Signed by the provider key that the run was dispatched to; verified by funduq. bearer: the grant's \
                   token. timestamp: as for cancel. body_sha256_hex: SHA-256 of the request body's bytes.",
        },
        PayloadFamily {
            kind: "provider-connect",
            template: "funduq-connect-provider:{funduq_public_key}:{funduq_nonce}:{provider_nonce}",
            note: "Signed by the provider when it opens a link; verified by funduq, which puts its own key into the \
                   payload. funduq_public_key: 64 hex characters, or nothing for a funduq without an identity. \
                   funduq_nonce: the ticket.",
        },
        PayloadFamily {
            kind: "resolution",
            template: "funduq-resolve:{run_id}:{ask_ids_sha256_hex}",
            note: "Signed by the head of a bound thread's chain or by the provider that serves it; verified by funduq. \
                   run_id: the task id, which is the lineage's root run. ask_ids_sha256_hex: SHA-256 of the open asks' \
                   ids, each once, sorted by their UTF-8 bytes, joined by one NUL byte.",
        },
        PayloadFamily {
            kind: "view",
            template: "funduq-view:{run_id}:{timestamp}",
            note: "Signed by whoever wants to read a run, verified by a host that takes it as the presenter's proof. \
                   timestamp: as for cancel.",
        },
    ];

    /// The family's word, as in [`FAMILIES`](Self::FAMILIES).
    pub fn kind(&self) -> &'static str {
        match self {
            Self::HttpRequest(_) => "http-request",
            Self::KyokCall { .. } => "kyok-call",
            Self::ProviderConnect { .. } => "provider-connect",
            Self::FunduqConnect { .. } => "funduq-connect",
            Self::Resolution { .. } => "resolution",
            Self::Cancel { .. } => "cancel",
            Self::View { .. } => "view",
        }
    }

    /// The text that is signed: UTF-8, parts joined by `:`, but for a request, whose lines are RFC 9421's.
    ///
    /// A part that may itself hold a `:` (a bearer, a run id) stands alone between parts of a fixed form, so two
    /// different payloads never have one text.
    pub fn to_text(&self) -> String {
        match self {
            Self::HttpRequest(base) => base.text().to_owned(),
            Self::KyokCall { bearer, unix_seconds, body_sha256 } => {
                format!("funduq-kyok-call:{bearer}:{unix_seconds}:{}", hex::encode(body_sha256))
            }
            Self::ProviderConnect { funduq_key, ticket, nonce } => {
                let key = funduq_key.map(|key| key.to_string()).unwrap_or_default();
                provider_connect_text(&key, ticket, nonce)
            }
            Self::FunduqConnect { ticket, nonce } => format!("funduq-connect-funduq:{ticket}:{nonce}"),
            Self::Resolution { task_id, asks_sha256 } => {
                format!("funduq-resolve:{task_id}:{}", hex::encode(asks_sha256))
            }
            Self::Cancel { run_id, unix_seconds } => format!("funduq-cancel:{run_id}:{unix_seconds}"),
            Self::View { run_id, unix_seconds } => format!("funduq-view:{run_id}:{unix_seconds}"),
        }
    }

    /// The bytes that are signed: those of [`to_text`](Self::to_text).
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_text().into_bytes()
    }
}

/// A bearer opens somebody's wallet, so it never reaches a log.
impl std::fmt::Debug for SignedPayload {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::KyokCall { unix_seconds, body_sha256, .. } => {
                write!(
                    f,
                    "SignedPayload(kyok-call, bearer hidden, {unix_seconds}, {})",
                    hex::encode(body_sha256)
                )
            }
            other => write!(f, "SignedPayload({})", other.to_text()),
        }
    }
}

pub(crate) fn provider_connect_text(funduq_key: &str, ticket: &Ticket, nonce: &Nonce) -> String {
    format!("funduq-connect-provider:{funduq_key}:{ticket}:{nonce}")
}

/// What a provider signs to open a link; `None` for a funduq that has no identity.
pub fn provider_connect_payload(
    funduq_key: Option<&PublicKey>,
    ticket: &Ticket,
    nonce: &Nonce,
) -> SignedPayload {
    SignedPayload::ProviderConnect { funduq_key: funduq_key.copied(), ticket: *ticket, nonce: *nonce }
}

/// What funduq signs in answer to a provider's proof.
pub fn funduq_connect_payload(ticket: &Ticket, nonce: &Nonce) -> SignedPayload {
    SignedPayload::FunduqConnect { ticket: *ticket, nonce: *nonce }
}

/// What answers the open asks of a task on a bound thread; `task_id` is the lineage's root run. The order in which
/// the ids are given does not matter.
pub fn resolve_payload(task_id: &RunId, ask_ids: impl IntoIterator<Item: AsRef<str>>) -> SignedPayload {
    SignedPayload::Resolution { task_id: task_id.clone(), asks_sha256: ask_ids_digest(ask_ids) }
}

/// What asks that a run on a bound thread be stopped; the time is in seconds since 1970.
pub fn cancel_payload(run_id: &RunId, unix_seconds: i64) -> SignedPayload {
    SignedPayload::Cancel { run_id: run_id.clone(), unix_seconds }
}

/// What proves a key for one read of a run; the time is in seconds since 1970.
pub fn view_payload(run_id: &RunId, unix_seconds: i64) -> SignedPayload {
    SignedPayload::View { run_id: run_id.clone(), unix_seconds }
}

/// What proves who makes an HTTP request, at a time in seconds since 1970; the body by its SHA-256.
pub fn http_request_payload(
    key: &PublicKey,
    target: &RequestTarget,
    body_sha256: &[u8; 32],
    unix_seconds: i64,
    nonce: &Nonce,
) -> SignedPayload {
    SignedPayload::HttpRequest(SignatureBase::own(key, target, body_sha256, unix_seconds, nonce))
}

/// What an agent signs over its call to the KYOK endpoint; the body as its bytes go out, the time in seconds since 1970.
pub fn kyok_call_payload(bearer: &str, unix_seconds: i64, body: &[u8]) -> SignedPayload {
    SignedPayload::KyokCall {
        bearer: bearer.to_owned(),
        unix_seconds,
        body_sha256: Sha256::digest(body).into(),
    }
}

/// The digest of a set of ask ids: sorted by their UTF-8 bytes, joined by NUL, SHA-256.
///
/// Sorting makes it the digest of a set; an id with a NUL in it could pass for two, and so is for the caller to keep out.
pub fn ask_ids_digest(ask_ids: impl IntoIterator<Item: AsRef<str>>) -> [u8; 32] {
    let ids: Vec<_> = ask_ids.into_iter().collect();
    let mut sorted: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    sorted.sort_unstable();
    Sha256::digest(sorted.join("\0")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> RunId {
        RunId::new("run-1").unwrap()
    }

    #[test]
    fn freshness_reaches_sixty_seconds_either_way() {
        assert!(is_fresh(1000, 1060) && is_fresh(1060, 1000));
        assert!(!is_fresh(1000, 1061) && !is_fresh(1061, 1000));
        assert!(!is_fresh(i64::MIN, i64::MAX));
    }

    #[test]
    fn each_family_begins_as_its_template_says() {
        let target = RequestTarget::new("GET", "https", "relay.example", "/", None);
        let key = crate::Identity::from_seed(&[1; 32]).public_key();
        let payloads = [
            http_request_payload(&key, &target, &[0; 32], 1, &Nonce::from_bytes([2; 16])),
            kyok_call_payload("b", 1, b""),
            provider_connect_payload(None, &Ticket::from_bytes([1; 16]), &Nonce::from_bytes([2; 16])),
            funduq_connect_payload(&Ticket::from_bytes([1; 16]), &Nonce::from_bytes([2; 16])),
            resolve_payload(&run(), ["a"]),
            cancel_payload(&run(), 1),
            view_payload(&run(), 1),
        ];
        assert_eq!(payloads.len(), SignedPayload::FAMILIES.len());
        for payload in payloads {
            let family = SignedPayload::FAMILIES.iter().find(|family| family.kind == payload.kind()).unwrap();
            let tag = &family.template[..=family.template.find(':').unwrap()];
            let parts = family.template.matches(':').count();
            assert!(payload.to_text().starts_with(tag), "{payload:?}");
            assert_eq!(payload.to_text().matches(':').count(), parts, "{payload:?}");
        }
    }

    #[test]
    fn the_order_of_ask_ids_does_not_matter_and_sorting_is_by_bytes() {
        assert_eq!(ask_ids_digest(["é", "z", "a"]), ask_ids_digest(["a", "z", "é"]));
        let joined: [u8; 32] = Sha256::digest("a\0z\0é").into();
        assert_eq!(ask_ids_digest(["é", "z", "a"]), joined);
    }

    #[test]
    fn a_bearer_is_not_in_the_debug_text() {
        let text = format!("{:?}", kyok_call_payload("secret-bearer", 1, b"{}"));
        assert!(!text.contains("secret-bearer"), "{text}");
    }

    #[test]
    fn a_time_before_1970_is_written_with_its_sign() {
        assert_eq!(cancel_payload(&run(), -5).to_text(), "funduq-cancel:run-1:-5");
    }
}
