//! Who is at a caller's door: what counts as proof of a key, in which order, and what a proof that does not hold is answered.

mod ahead;
mod names;
mod replays;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use funduq_contract::PublicKey;
use funduq_contract::http_signature::{RequestSignature, SignatureProblem};
use http::header::WWW_AUTHENTICATE;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use self::names::Names;
use self::replays::{CAPACITY, NotTaken, Replays};
use crate::config::Config;
use crate::files::{FileError, Watched};
use crate::http::error::ApiError;
use crate::http::peer::Peer;
use crate::limits::Limit;
use crate::tokens::{self, Tokens};

/// How a signature has to be that would be taken (RFC 9421 §5.1).
pub(crate) const ACCEPT_SIGNATURE: HeaderName = HeaderName::from_static("accept-signature");
/// What a signature has to cover, for a client that can be asked (RFC 9421, section 5.1).
const WANTED: HeaderValue = HeaderValue::from_static(
    "funduq=(\"@method\" \"@authority\" \"@path\" \"@query\" \"content-digest\");created;alg=\"ed25519\"",
);
/// How a caller is asked for proof. No registered scheme says so; `Accept-Signature` beside it says how.
const CHALLENGE: HeaderValue = HeaderValue::from_static("Signature realm=\"funduq\"");

/// How long a caller waits where no more signatures can be remembered.
const FULL_RETRY: Duration = Duration::from_secs(3);

/// What a request's head says of who makes it.
#[derive(Debug)]
pub(crate) enum Claim {
    /// Nothing.
    Nobody,
    /// This key, proven by the head alone.
    Known(PublicKey),
    /// A key whose signature over the head holds; its body is still to be seen, and whether it was here before.
    Signed(Box<RequestSignature>),
}

/// Every way to prove a key that is configured here.
#[derive(Debug)]
pub(crate) struct Presenters {
    names: Names,
    replays: Mutex<Replays>,
    tokens: Option<Watched<Tokens<PublicKey>>>,
    proxy_header: Option<HeaderName>,
    takes_anybody: bool,
}

impl Presenters {
    /// `note` is where what the next process has to know of signatures is kept.
    ///
    /// # Errors
    /// [`FileError`] for tokens, or a note, that cannot be read.
    pub(crate) fn new(config: &Config, listening: SocketAddr, note: &Path) -> Result<Self, FileError> {
        let tokens = config.presenter_tokens.get();
        let replays = Replays::open(CAPACITY, now(), note)
            .map_err(|source| FileError::Unreadable { path: note.to_owned(), source })?;
        Ok(Self {
            names: Names::new(&config.public_url, listening),
            replays: Mutex::new(replays),
            tokens: tokens.map(|path| Watched::open(path, tokens::callers)).transpose()?,
            proxy_header: config.presenter_header.get().cloned(),
            takes_anybody: config.anonymous,
        })
    }

    /// Reads the tokens anew.
    pub(crate) fn reload(&self) {
        if let Some(tokens) = &self.tokens {
            tokens.reload();
        }
    }

    /// What a request's head says: its signature, else what a trusted proxy says, else its bearer token. The first that
    /// is there counts, and nothing is looked at behind it.
    ///
    /// # Errors
    /// 401 for proof that does not hold, which is never taken for none; and for none, where the door is closed to those.
    pub(crate) fn read(&self, parts: &Parts) -> Result<Claim, ApiError> {
        if let Some(signature) = self.signature(parts)? {
            return Ok(Claim::Signed(Box::new(signature)));
        }
        let known = match self.proxy(parts)? {
            Some(key) => Some(key),
            None => self.bearer(&parts.headers)?,
        };
        match known {
            Some(key) => Ok(Claim::Known(key)),
            None if self.takes_anybody => Ok(Claim::Nobody),
            None => {
                let message = "callers prove a key here: sign the request (RFC 9421), or present a token";
                Err(self.refusal("presenter_required", message.to_owned()))
            }
        }
    }

    /// The key behind a claim, once the body has come whole.
    ///
    /// # Errors
    /// 401 for a body that is not the one that was signed, and for a signature that was here before.
    pub(crate) fn settle(&self, claim: Claim, body: &[u8]) -> Result<Option<PublicKey>, ApiError> {
        let signature = match claim {
            Claim::Nobody => return Ok(None),
            Claim::Known(key) => return Ok(Some(key)),
            Claim::Signed(signature) => signature,
        };
        signature.check_body(body).map_err(|problem| self.wrong(&problem))?;
        let mut replays = self.replays.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = replays.take(&signature.id(), signature.created(), now());
        drop(replays);
        match taken {
            Ok(()) => Ok(Some(signature.key())),
            Err(NotTaken::Replayed) => {
                let message =
                    "this very signature was here before; sign each request, with a nonce of its own";
                Err(self.refusal("replayed_signature", message.to_owned()))
            }
            Err(NotTaken::Forgotten) => {
                let message =
                    "this signature is from before the time that is remembered here; sign when you send";
                Err(self.refusal("stale_signature", message.to_owned()))
            }
            Err(NotTaken::Full) => {
                // Said where the other limits are, which are counted.
                Err(Limit::Signatures.refusal(FULL_RETRY))
            }
        }
    }

    /// Whether a caller without a key is refused, and a bearer token is one way to have one.
    pub(crate) fn ask_for_token(&self) -> bool {
        !self.takes_anybody && self.tokens.is_some()
    }

    fn signature(&self, parts: &Parts) -> Result<Option<RequestSignature>, ApiError> {
        let field = |name: &str| field(&parts.headers, name);
        let wrong = |problem| self.wrong(&problem);
        let Some(signature) = RequestSignature::read(&field).map_err(wrong)? else { return Ok(None) };
        signature.check_time(now()).map_err(wrong)?;
        let targets = self.names.targets(parts);
        if targets.is_empty() {
            let host = names::host(parts).map_or_else(String::new, |host| host.to_string());
            let message = format!(
                "this gateway does not know itself as {host:?}, so no signature for it can hold; its owner sets public-url"
            );
            return Err(self.refusal("unknown_authority", message));
        }
        let mut held = Err(SignatureProblem::BadSignature);
        for target in &targets {
            held = signature.verify(target, &field);
            if !matches!(held, Err(SignatureProblem::BadSignature)) {
                break;
            }
        }
        held.map_err(wrong)?;
        Ok(Some(signature))
    }

    /// What a trusted proxy says. From anybody else the header is nothing: it is taken out at the door, see [`strip`](Self::strip).
    fn proxy(&self, parts: &Parts) -> Result<Option<PublicKey>, ApiError> {
        let Some(name) = &self.proxy_header else { return Ok(None) };
        if !parts.extensions.get::<Peer>().is_some_and(|peer| peer.is_trusted_proxy) {
            return Ok(None);
        }
        let Some(value) = field(&parts.headers, name.as_str()) else { return Ok(None) };
        value.parse().map(Some).map_err(|invalid| {
            let message = format!("the header {name} has to be one public key: {invalid}");
            self.refusal("invalid_presenter_header", message)
        })
    }

    /// Takes the proxy's header out of what did not come from one, so that nothing behind the door believes it.
    pub(crate) fn strip(&self, headers: &mut HeaderMap, peer: Option<&Peer>) {
        if let Some(name) = &self.proxy_header
            && !peer.is_some_and(|peer| peer.is_trusted_proxy)
        {
            headers.remove(name);
        }
    }

    fn bearer(&self, headers: &HeaderMap) -> Result<Option<PublicKey>, ApiError> {
        let asked = |error: ApiError| error.with(WWW_AUTHENTICATE, tokens::CHALLENGE);
        let Some(token) = tokens::bearer(headers).map_err(asked)? else { return Ok(None) };
        let known = self.tokens.as_ref().map(Watched::get);
        match known.as_ref().and_then(|known| known.find(token)) {
            Some(entry) => {
                tracing::debug!(token = %entry.name, "a caller is known by a token");
                Ok(Some(entry.stands_for))
            }
            None => Err(asked(tokens::unknown())),
        }
    }

    fn wrong(&self, problem: &SignatureProblem) -> ApiError {
        let code = match problem {
            SignatureProblem::Stale { .. } => "stale_signature",
            SignatureProblem::DigestMismatch => "digest_mismatch",
            _ => "invalid_signature",
        };
        self.refusal(code, problem.to_string())
    }

    fn refusal(&self, code: &'static str, message: String) -> ApiError {
        self.challenge(ApiError::new(StatusCode::UNAUTHORIZED, code, message))
    }

    /// Says beside a 401 which proofs are taken here.
    pub(crate) fn challenge(&self, error: ApiError) -> ApiError {
        let error = challenge(error);
        match self.tokens {
            Some(_) => error.with(WWW_AUTHENTICATE, tokens::CHALLENGE),
            None => error,
        }
    }
}

/// Says beside a 401 what is taken everywhere: a signature.
pub(crate) fn challenge(error: ApiError) -> ApiError {
    error.with(WWW_AUTHENTICATE, CHALLENGE).with(ACCEPT_SIGNATURE, WANTED)
}

/// A field's values, as a signature sees them (RFC 9421, section 2.1).
fn field(headers: &HeaderMap, name: &str) -> Option<String> {
    let mut values = headers.get_all(name).iter().map(|value| value.to_str().unwrap_or("\u{0}").trim());
    let mut joined = values.next()?.to_owned();
    for value in values {
        joined.push_str(", ");
        joined.push_str(value);
    }
    Some(joined)
}

/// Seconds since 1970.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
}
