//! Bearer tokens as they are kept: a name, the SHA-256 of the token and what it stands for. The token itself is nowhere.

use std::fmt;

use funduq_contract::PublicKey;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::files::{self, BadLine};
use crate::http::error::ApiError;

/// How many random bytes a token has that this program makes.
const TOKEN_BYTES: usize = 32;

/// A token's hash, as a file of tokens has it: 64 hex characters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct TokenHash([u8; 32]);

impl TokenHash {
    pub(crate) fn of(token: &str) -> Self {
        Self(Sha256::digest(token).into())
    }

    fn read(text: &str) -> Result<Self, String> {
        let problem =
            || "the second word has to be the SHA-256 of a token, 64 lower-case hex characters".to_owned();
        if text.len() != 64 || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(problem());
        }
        let mut hash = [0; 32];
        for (byte, at) in hash.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[at..at + 2], 16).map_err(|_| problem())?;
        }
        Ok(Self(hash))
    }
}

impl fmt::Display for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TokenHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenHash(…)")
    }
}

/// A new token, for whoever is to have it.
pub(crate) fn generate() -> std::io::Result<String> {
    let mut bytes = [0_u8; TOKEN_BYTES];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// One token of a file.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    /// What the operator calls it, for logs and for taking it back.
    pub(crate) name: String,
    hash: TokenHash,
    /// What it stands for.
    pub(crate) stands_for: T,
}

/// The tokens of a file.
#[derive(Debug)]
pub(crate) struct Tokens<T>(Vec<Entry<T>>);

impl<T> Tokens<T> {
    /// The entry of a token. Every entry is looked at, in a time that says nothing about where they differ.
    pub(crate) fn find(&self, token: &str) -> Option<&Entry<T>> {
        let hash = TokenHash::of(token);
        let mut found = None;
        for entry in &self.0 {
            if bool::from(entry.hash.0.ct_eq(&hash.0)) {
                found = Some(entry);
            }
        }
        found
    }
}

/// Operators' tokens: `NAME SHA256` a line.
pub(crate) fn operators(text: &str) -> Result<Tokens<()>, BadLine> {
    read(text, |rest| match rest {
        [] => Ok(()),
        _ => Err("a line has a name and a hash, and no more".to_owned()),
    })
}

/// Callers' tokens, each with the key that it stands for: `NAME SHA256 KEY` a line.
pub(crate) fn callers(text: &str) -> Result<Tokens<PublicKey>, BadLine> {
    read(text, |rest| match rest {
        [key] => key.parse().map_err(|invalid| format!("the third word has to be a public key: {invalid}")),
        _ => Err("a line has a name, a hash and a public key".to_owned()),
    })
}

fn read<T>(text: &str, stands_for: impl Fn(&[&str]) -> Result<T, String>) -> Result<Tokens<T>, BadLine> {
    let mut known: Vec<(String, TokenHash)> = Vec::new();
    let entries = files::lines(text, |words| {
        let [name, hash, rest @ ..] = words else {
            return Err("a line begins with a name and a hash".to_owned());
        };
        let hash = TokenHash::read(hash)?;
        if known.iter().any(|(other, token)| other == name || *token == hash) {
            return Err(format!("the name {name:?} or its token stands here twice"));
        }
        known.push(((*name).to_owned(), hash));
        Ok(Entry { name: (*name).to_owned(), hash, stands_for: stands_for(rest)? })
    })?;
    Ok(Tokens(entries))
}

/// The bearer token of a request; `None` where there is no `Authorization`.
///
/// # Errors
/// 401 for a credential of another kind, or for several: what cannot be read is not taken for none.
pub(crate) fn bearer(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let Some(value) = values.next() else { return Ok(None) };
    let credential = value.to_str().ok().and_then(|value| value.split_once(' '));
    match credential {
        Some((scheme, token)) if scheme.eq_ignore_ascii_case("bearer") && values.next().is_none() => {
            Ok(Some(token.trim_start()))
        }
        _ => Err(refusal("the header Authorization has to be one bearer token: Bearer TOKEN")),
    }
}

/// The answer to a token that nobody here knows.
pub(crate) fn unknown() -> ApiError {
    refusal("this token is not known here; it may have been taken back")
}

fn refusal(message: &'static str) -> ApiError {
    ApiError::new(StatusCode::UNAUTHORIZED, "unknown_token", message)
}

/// How a bearer token is asked for (RFC 6750, section 3).
pub(crate) const CHALLENGE: HeaderValue = HeaderValue::from_static("Bearer realm=\"funduq\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_by_its_hash_and_by_nothing_else() {
        let text = format!("laptop {}\nci {} # nightly\n", TokenHash::of("one"), TokenHash::of("two"));
        let tokens = operators(&text).unwrap();
        assert_eq!(tokens.find("two").unwrap().name, "ci");
        assert!(tokens.find("three").is_none());
        assert!(tokens.find(&TokenHash::of("one").to_string()).is_none());
        assert!(!format!("{tokens:?}").contains(&TokenHash::of("one").to_string()));
    }

    #[test]
    fn a_line_that_does_not_hold_is_refused() {
        let (one, two) = (TokenHash::of("one"), TokenHash::of("two"));
        for wrong in [
            "laptop".to_owned(),
            format!("laptop {}", one.to_string().to_uppercase()),
            format!("laptop {one} more"),
            format!("a {one}\na {two}"),
            format!("a {one}\nb {one}"),
        ] {
            assert!(operators(&wrong).is_err(), "{wrong}");
        }
        assert!(callers(&format!("a {one}")).is_err());
        assert!(callers(&format!("a {one} {}", "d0".repeat(32))).is_err());
    }

    #[test]
    fn one_bearer_token_and_nothing_else_is_a_credential() {
        let asked = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, HeaderValue::from_static(value));
            }
            bearer(&headers).map(|token| token.map(str::to_owned)).map_err(|error| error.code())
        };
        assert_eq!(asked(&[]), Ok(None));
        assert_eq!(asked(&["bearer abc"]), Ok(Some("abc".to_owned())));
        for wrong in [&["Basic YTpi"][..], &["Bearer"], &["Bearer a", "Bearer b"]] {
            assert_eq!(asked(wrong), Err("unknown_token"));
        }
    }

    #[test]
    fn two_made_tokens_differ() {
        assert_ne!(generate().unwrap(), generate().unwrap());
    }
}
