//! The signature base: the lines that a signature over an HTTP request covers (RFC 9421, section 2.5).

use super::{CONTENT_DIGEST, SignatureProblem, digest_field};
use crate::keys::PublicKey;
use crate::tickets::Nonce;

/// Where a request goes, in the one spelling that both sides come to (RFC 9421, section 2.2).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestTarget {
    method: String,
    scheme: String,
    authority: String,
    path: String,
    query: Option<String>,
}

impl RequestTarget {
    /// A request's target as its URL has it: `authority` is `host` or `host:port`, `path` and `query` stay percent-encoded as
    /// they are sent. Scheme and host become lower case, a scheme's default port is left out, an empty path is `/`.
    pub fn new(method: &str, scheme: &str, authority: &str, path: &str, query: Option<&str>) -> Self {
        let scheme = scheme.to_ascii_lowercase();
        let mut authority = authority.to_ascii_lowercase();
        let default_port = match scheme.as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => "",
        };
        if let Some(host) = authority.strip_suffix(default_port) {
            authority.truncate(host.len());
        }
        let path = if path.is_empty() { "/" } else { path };
        Self {
            method: method.to_owned(),
            scheme,
            authority,
            path: path.to_owned(),
            query: query.map(str::to_owned),
        }
    }

    /// The host, with its port where that is not the scheme's own.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The value of `@query`: with its question mark, which stands alone where there is no query.
    fn query(&self) -> String {
        format!("?{}", self.query.as_deref().unwrap_or_default())
    }

    fn path_and_query(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// The value of a derived component; `None` for one that requests do not have or that nobody here reads.
    pub(super) fn component(&self, name: &str) -> Option<String> {
        Some(match name {
            "@method" => self.method.clone(),
            "@scheme" => self.scheme.clone(),
            "@authority" => self.authority.clone(),
            "@path" => self.path.clone(),
            "@query" => self.query(),
            "@request-target" => self.path_and_query(),
            "@target-uri" => format!("{}://{}{}", self.scheme, self.authority, self.path_and_query()),
            _ => return None,
        })
    }
}

/// The text that is signed: made here alone, so that an identity signs requests and no other text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureBase(String);

impl SignatureBase {
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// The base of these components in their order. `field` is asked for header fields, by lower-case name.
    pub(super) fn of(
        components: &[String],
        parameters: &str,
        target: &RequestTarget,
        field: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SignatureProblem> {
        let mut text = String::new();
        for name in components {
            let value = match name.strip_prefix('@') {
                Some(_) => target.component(name),
                None => field(name),
            };
            let value = value.ok_or_else(|| SignatureProblem::UnknownComponent(name.clone()))?;
            // A line end within a value would let one component pass for two.
            if value.chars().any(|character| character.is_control() && character != '\t') {
                return Err(SignatureProblem::UnknownComponent(name.clone()));
            }
            line(&mut text, name, &value);
        }
        text.push_str("\"@signature-params\": ");
        text.push_str(parameters);
        Ok(Self(text))
    }

    /// The base that this crate's own signatures have.
    pub(crate) fn own(
        key: &PublicKey,
        target: &RequestTarget,
        body_sha256: &[u8; 32],
        unix_seconds: i64,
        nonce: &Nonce,
    ) -> Self {
        let mut text = String::new();
        line(&mut text, "@method", &target.method);
        line(&mut text, "@authority", &target.authority);
        line(&mut text, "@path", &target.path);
        line(&mut text, "@query", &target.query());
        line(&mut text, CONTENT_DIGEST, &digest_field(body_sha256));
        text.push_str("\"@signature-params\": ");
        text.push_str(&own_parameters(key, unix_seconds, nonce));
        Self(text)
    }
}

fn line(text: &mut String, name: &str, value: &str) {
    text.push('"');
    text.push_str(name);
    text.push_str("\": ");
    text.push_str(value);
    text.push('\n');
}

/// What this crate's own signatures cover, and their parameters.
pub(super) fn own_parameters(key: &PublicKey, unix_seconds: i64, nonce: &Nonce) -> String {
    format!(
        "(\"@method\" \"@authority\" \"@path\" \"@query\" \"{CONTENT_DIGEST}\");created={unix_seconds};\
         keyid=\"{key}\";alg=\"ed25519\";nonce=\"{nonce}\""
    )
}
