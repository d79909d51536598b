//! Enrolment: who may serve here. Whoever is given a ticket may open a link, so this is the whole of the decision.

use std::collections::HashSet;
use std::path::Path;

use funduq_contract::PublicKey;
use http::header::WWW_AUTHENTICATE;
use http::{HeaderMap, StatusCode};

use crate::config::{Config, Enrolment, FilePath};
use crate::files::{self, BadLine, FileError, Watched};
use crate::http::error::ApiError;
use crate::tokens::{self, Tokens};

/// The policy in force.
#[derive(Debug)]
pub(crate) enum Admission {
    /// Any key that asks.
    Open,
    /// Nobody.
    Closed,
    /// The keys of a file.
    Listed(Watched<HashSet<PublicKey>>),
    /// Any key, where an operator asks for it.
    Operators(Watched<Tokens<()>>),
}

impl Admission {
    /// # Errors
    /// [`FileError`] for a file that cannot be read.
    pub(crate) fn new(config: &Config) -> Result<Self, FileError> {
        Ok(match config.enrolment {
            Enrolment::Open => Self::Open,
            Enrolment::Closed => Self::Closed,
            Enrolment::AllowList => Self::Listed(Watched::open(path(&config.allow_list), keys)?),
            Enrolment::Operator => {
                Self::Operators(Watched::open(path(&config.operator_tokens), tokens::operators)?)
            }
        })
    }

    /// Reads its file anew.
    pub(crate) fn reload(&self) {
        match self {
            Self::Open | Self::Closed => {}
            Self::Listed(keys) => keys.reload(),
            Self::Operators(tokens) => tokens.reload(),
        }
    }

    /// Whether a key may serve, for which this request asks.
    ///
    /// # Errors
    /// 403 for a key that may not; 401 for who has to be an operator and is not.
    pub(crate) fn admit(&self, headers: &HeaderMap, key: &PublicKey) -> Result<(), ApiError> {
        let forbidden = |code, message| Err(ApiError::new(StatusCode::FORBIDDEN, code, message));
        match self {
            Self::Open => Ok(()),
            Self::Closed => {
                forbidden("enrolment_closed", "this funduq takes no new providers: its enrolment is closed")
            }
            Self::Listed(keys) if keys.get().contains(key) => Ok(()),
            Self::Listed(_) => forbidden(
                "key_not_listed",
                "this key is not on the list of those that may serve here; ask its owner",
            ),
            Self::Operators(tokens) => operator(&tokens.get(), headers, key),
        }
    }
}

/// The configuration was checked: where a policy needs a file, there is one named.
fn path(file: &FilePath) -> &Path {
    file.get().unwrap_or(Path::new(""))
}

fn operator(tokens: &Tokens<()>, headers: &HeaderMap, key: &PublicKey) -> Result<(), ApiError> {
    let asked = |error: ApiError| error.with(WWW_AUTHENTICATE, tokens::CHALLENGE);
    let Some(token) = tokens::bearer(headers).map_err(asked)? else {
        let message = "an operator's token is needed to enrol a provider here: Authorization: Bearer TOKEN";
        return Err(asked(ApiError::new(StatusCode::UNAUTHORIZED, "operator_required", message)));
    };
    let entry = tokens.find(token).ok_or_else(|| asked(tokens::unknown()))?;
    tracing::info!(operator = %entry.name, provider = %key.fingerprint(), "an operator enrols a provider");
    Ok(())
}

/// A list of keys: one a line, and whatever else stands there is a remark.
fn keys(text: &str) -> Result<HashSet<PublicKey>, BadLine> {
    let keys =
        files::lines(text, |words| words[0].parse().map_err(|invalid| format!("no public key: {invalid}")))?;
    Ok(keys.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use funduq_contract::Identity;

    use super::*;

    #[test]
    fn a_list_of_keys_has_one_a_line() {
        let key = Identity::from_seed(&[1; 32]).public_key();
        let listed = keys(&format!("# ours\n{key} the laptop on the desk\n")).unwrap();
        assert!(listed.contains(&key) && listed.len() == 1);
        assert_eq!(keys("abc").unwrap_err().to_string().split(':').next(), Some("line 1"));
    }
}
