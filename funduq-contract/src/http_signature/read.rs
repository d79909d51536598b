//! Reads a request's signature out of its fields and checks it, step by step, cheapest first.

use super::base::{RequestTarget, SignatureBase};
use super::{CONTENT_DIGEST, SIGNATURE, SIGNATURE_INPUT, SignatureProblem, TAG};
use crate::identity::verify_signature;
use crate::keys::{PublicKey, Signature};
use crate::payload::{SignedPayload, is_fresh};
use sfv::{Dictionary, InnerList, ListEntry, ListSerializer, Parameters, Parser};
use sha2::{Digest, Sha256};

/// The most bytes of each of the three fields.
const MAX_FIELD_BYTES: usize = 8 << 10;
/// The most components that are covered.
const MAX_COMPONENTS: usize = 32;

/// What tells one signature from every other: the random point that each is made with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignatureId([u8; 32]);

impl SignatureId {
    /// Its bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// A request's signature as it was read: well formed, covering what it has to, and not verified yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestSignature {
    key: PublicKey,
    created: i64,
    expires: Option<i64>,
    components: Vec<String>,
    /// The value of `@signature-params`.
    parameters: String,
    signature: Signature,
    /// What the body has to hash to; `None` where no body was signed, and none may come.
    body_sha256: Option<[u8; 32]>,
}

impl RequestSignature {
    /// Reads the signature of a request; `Ok(None)` where there is none of this application. `field` has a field's values,
    /// by lower-case name, trimmed and joined by `, ` (RFC 9421, section 2.1).
    ///
    /// # Errors
    /// A signature that is not well formed, or does not cover what it has to.
    pub fn read(field: &dyn Fn(&str) -> Option<String>) -> Result<Option<Self>, SignatureProblem> {
        let (input, signature) = match (field(SIGNATURE_INPUT), field(SIGNATURE)) {
            (None, None) => return Ok(None),
            (Some(input), Some(signature)) => (input, signature),
            (None, Some(_)) => return Err(malformed(SIGNATURE_INPUT, "it is missing")),
            (Some(_), None) => return Err(malformed(SIGNATURE, "it is missing")),
        };
        let inputs = dictionary(SIGNATURE_INPUT, &input)?;
        let mut ours = inputs.iter().filter(|(_, entry)| is_ours(entry));
        let Some((label, entry)) = ours.next() else { return Ok(None) };
        let others = ours.count();
        if others > 0 {
            return Err(SignatureProblem::Several(others + 1));
        }
        let ListEntry::InnerList(covered) = entry else {
            return Err(malformed(SIGNATURE_INPUT, "it is no list of components"));
        };
        let signatures = dictionary(SIGNATURE, &signature)?;
        let bytes = signatures.get(label.as_str()).and_then(bytes_of::<64>);
        let bytes =
            bytes.ok_or_else(|| malformed(SIGNATURE, "there are no 64 bytes under the signature's label"))?;

        let (created, expires, key) = parameters(&covered.params)?;
        let components = components(covered)?;
        let covers = |name: &str| components.iter().any(|component| component == name);
        check_coverage(&covers)?;
        let body_sha256 = covers(CONTENT_DIGEST).then(|| body_digest(field)).transpose()?;
        let parameters = serialize(covered);
        let signature = Signature::from_bytes(&bytes);
        Ok(Some(Self { key, created, expires, components, parameters, signature, body_sha256 }))
    }

    /// The key that says that it makes the request.
    pub fn key(&self) -> PublicKey {
        self.key
    }

    /// When it says that it was made, in seconds since 1970.
    pub fn created(&self) -> i64 {
        self.created
    }

    /// What tells it from every other signature, for a memory of those that were seen. Only of a signature that was
    /// verified: what does not verify can carry anybody's.
    pub fn id(&self) -> SignatureId {
        let mut id = [0; 32];
        id.copy_from_slice(&self.signature.as_bytes()[..32]);
        SignatureId(id)
    }

    /// Checks that it is fresh, within [`FRESHNESS_SECONDS`](crate::FRESHNESS_SECONDS) either way, and not past an end that
    /// it sets itself.
    ///
    /// # Errors
    /// [`SignatureProblem::Stale`].
    pub fn check_time(&self, now: i64) -> Result<(), SignatureProblem> {
        match is_fresh(self.created, now) && self.expires.is_none_or(|expires| now <= expires) {
            true => Ok(()),
            false => Err(SignatureProblem::Stale { created: self.created, now }),
        }
    }

    /// Checks that it is the key's over this request, whose body is still to be checked.
    ///
    /// # Errors
    /// [`SignatureProblem::UnknownComponent`]; [`SignatureProblem::BadSignature`].
    pub fn verify(
        &self,
        target: &RequestTarget,
        field: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), SignatureProblem> {
        let base = SignatureBase::of(&self.components, &self.parameters, target, field)?;
        verify_signature(&self.key, &self.signature, &SignedPayload::HttpRequest(base))
            .map_err(|_| SignatureProblem::BadSignature)
    }

    /// Checks that the body, whole, is the one that was signed.
    ///
    /// # Errors
    /// [`SignatureProblem::DigestMismatch`]; [`SignatureProblem::NotCovered`] for a body that nothing was said about.
    pub fn check_body(&self, body: &[u8]) -> Result<(), SignatureProblem> {
        match &self.body_sha256 {
            Some(signed) if <[u8; 32]>::from(Sha256::digest(body)) == *signed => Ok(()),
            Some(_) => Err(SignatureProblem::DigestMismatch),
            None if body.is_empty() => Ok(()),
            None => Err(SignatureProblem::NotCovered(CONTENT_DIGEST)),
        }
    }
}

fn malformed(field: &'static str, problem: impl ToString) -> SignatureProblem {
    SignatureProblem::Malformed { field, problem: problem.to_string() }
}

fn dictionary(field: &'static str, value: &str) -> Result<Dictionary, SignatureProblem> {
    if value.len() > MAX_FIELD_BYTES {
        return Err(malformed(field, format_args!("it has more than {MAX_FIELD_BYTES} bytes")));
    }
    Parser::new(value).parse().map_err(|error| malformed(field, error))
}

/// Whether a signature is for this application. One that does not say for which it is, is.
fn is_ours(entry: &ListEntry) -> bool {
    let parameters = match entry {
        ListEntry::InnerList(list) => &list.params,
        ListEntry::Item(item) => &item.params,
    };
    parameters.get("tag").is_none_or(|tag| tag.as_string().is_some_and(|tag| tag.as_str() == TAG))
}

fn bytes_of<const N: usize>(entry: &ListEntry) -> Option<[u8; N]> {
    match entry {
        ListEntry::Item(item) => item.bare_item.as_byte_sequence()?.try_into().ok(),
        ListEntry::InnerList(_) => None,
    }
}

fn parameters(parameters: &Parameters) -> Result<(i64, Option<i64>, PublicKey), SignatureProblem> {
    let wrong = |parameter, expected| SignatureProblem::BadParameter { parameter, expected };
    let seconds = |name: &'static str| match parameters.get(name) {
        None => Ok(None),
        Some(value) => value
            .as_integer()
            .map(|value| Some(i64::from(value)))
            .ok_or_else(|| wrong(name, "a number of seconds since 1970")),
    };
    let created = seconds("created")?.ok_or_else(|| wrong("created", "there"))?;
    let expires = seconds("expires")?;
    if parameters.get("alg").is_some_and(|alg| alg.as_string().is_none_or(|alg| alg.as_str() != "ed25519")) {
        return Err(wrong("alg", "\"ed25519\", or left out"));
    }
    let key = parameters.get("keyid").and_then(|key| key.as_string());
    let key = key.ok_or_else(|| wrong("keyid", "a public key, 64 lower-case hex characters"))?;
    Ok((created, expires, key.as_str().parse()?))
}

fn components(covered: &InnerList) -> Result<Vec<String>, SignatureProblem> {
    if covered.items.len() > MAX_COMPONENTS {
        return Err(malformed(
            SIGNATURE_INPUT,
            format_args!("it covers more than {MAX_COMPONENTS} components"),
        ));
    }
    let mut names: Vec<String> = Vec::with_capacity(covered.items.len());
    for item in &covered.items {
        let name = item.bare_item.as_string();
        let name = name.ok_or_else(|| malformed(SIGNATURE_INPUT, "a component is not named in quotes"))?;
        let name = name.as_str();
        if !item.params.is_empty() || names.iter().any(|known| known == name) {
            return Err(SignatureProblem::UnknownComponent(name.to_owned()));
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// Method, target and authority. That the body is covered where there is one shows when it has come.
fn check_coverage(covers: &dyn Fn(&str) -> bool) -> Result<(), SignatureProblem> {
    let needed: &[&'static str] = match (covers("@target-uri"), covers("@request-target")) {
        (true, _) => &["@method"],
        (false, true) => &["@method", "@authority"],
        (false, false) => &["@method", "@authority", "@path", "@query"],
    };
    match needed.iter().find(|name| !covers(name)) {
        Some(missing) => Err(SignatureProblem::NotCovered(missing)),
        None => Ok(()),
    }
}

fn body_digest(field: &dyn Fn(&str) -> Option<String>) -> Result<[u8; 32], SignatureProblem> {
    let value = field(CONTENT_DIGEST).ok_or_else(|| malformed(CONTENT_DIGEST, "it is missing"))?;
    let digests = dictionary(CONTENT_DIGEST, &value)?;
    let digest = digests.get("sha-256").and_then(bytes_of::<32>);
    digest.ok_or_else(|| malformed(CONTENT_DIGEST, "it has no sha-256 of 32 bytes"))
}

/// The one spelling of what is covered, which is what was signed (RFC 9421, section 2.5).
fn serialize(covered: &InnerList) -> String {
    let mut list = ListSerializer::new();
    let mut inner = list.inner_list();
    inner.items(&covered.items);
    inner.finish().parameters(&covered.params);
    list.finish().unwrap_or_default()
}
