//! Names of things: runs, threads, agents, and the address of an agent.

use crate::keys::{InvalidKey, PublicKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Why a text is not an id or a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {problem}")]
pub struct InvalidName {
    /// Which kind of name it was to be: `run id`, `thread id`, `agent name`.
    pub what: &'static str,
    /// What is wrong with it.
    pub problem: NameProblem,
}

/// What is wrong with an id or a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameProblem {
    /// Nothing in it.
    #[error("empty; at least one character is needed")]
    Empty,
    /// Longer than the limit.
    #[error("{got} bytes long; the limit is {limit}")]
    TooLong {
        /// Bytes allowed.
        limit: usize,
        /// Bytes found.
        got: usize,
    },
    /// A control character, which would break logs, headers and the payloads that are joined from names.
    #[error("has the control character U+{0:04X}")]
    ControlCharacter(u32),
    /// A character with a meaning in a URL path, where agent names stand.
    #[error("has {0:?}, which has a meaning of its own in a URL")]
    UrlCharacter(char),
    /// `.` or `..`, which URL paths take for a folder.
    #[error("is a relative path segment")]
    PathSegment,
}

macro_rules! name {
    ($(#[$doc:meta])* $type:ident, $what:literal, $limit:literal, $extra:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String")]
        pub struct $type(Arc<str>);

        impl $type {
            /// The longest text that is allowed, in bytes of UTF-8.
            pub const MAX_BYTES: usize = $limit;

            /// Checks a text and keeps it.
            ///
            /// # Errors
            /// [`InvalidName`] with the rule that it breaks.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self, InvalidName> {
                let text = text.into();
                let extra: fn(&str) -> Option<NameProblem> = $extra;
                match common_problem(&text, $limit).or_else(|| extra(&text)) {
                    None => Ok(Self(text)),
                    Some(problem) => Err(InvalidName { what: $what, problem }),
                }
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!(stringify!($type), "({:?})"), &*self.0)
            }
        }

        impl std::str::FromStr for $type {
            type Err = InvalidName;

            fn from_str(text: &str) -> Result<Self, InvalidName> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $type {
            type Error = InvalidName;

            fn try_from(text: String) -> Result<Self, InvalidName> {
                Self::new(text)
            }
        }

        impl AsRef<str> for $type {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $type {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($type)).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": concat!($what, ", at most ", $limit, " bytes of UTF-8, no control characters"),
                    "minLength": 1,
                    "maxLength": $limit,
                })
            }
        }
    };
}

name!(
    /// The id of a run; of a lineage's first run also the id of its task. Any text of 1 to 256 bytes without
    /// control characters. An id is a capability: whoever knows it may name the run.
    RunId, "run id", 256, |_| None
);

name!(
    /// The id of a thread. Any text of 1 to 256 bytes without control characters. On a thread without a chain the
    /// id is the capability to write to it.
    ThreadId, "thread id", 256, |_| None
);

name!(
    /// The name of an agent or of an LLM offering under its provider's key: 1 to 128 bytes, one URL path segment, so
    /// no control characters, no `/`, `\`, `?` or `#`, and neither `.` nor `..`.
    AgentName, "agent name", 128, url_problem
);

name!(
    /// The id of a completion on its way through funduq, which mints it. Any text of 1 to 256 bytes without control
    /// characters.
    CompletionId, "completion id", 256, |_| None
);

/// Where an agent is: the key that serves it and its name under that key.
///
/// Also the name of an LLM offering, which has the same two parts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AgentAddress {
    /// The key of the provider.
    #[serde(rename = "providerKey")]
    pub provider: PublicKey,
    /// The name that this key has published.
    pub name: AgentName,
}

impl AgentAddress {
    /// The agent `name` of `provider`.
    pub fn new(provider: PublicKey, name: AgentName) -> Self {
        Self { provider, name }
    }
}

impl std::fmt::Display for AgentAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

/// Why a text is not an [`AgentAddress`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAddress {
    /// No `/` between key and name.
    #[error("expected <provider key>/<agent name>")]
    NoSlash,
    /// The part before the `/` is no key.
    #[error("provider key: {0}")]
    Key(#[from] InvalidKey),
    /// The part after the `/` is no name.
    #[error(transparent)]
    Name(#[from] InvalidName),
}

impl std::str::FromStr for AgentAddress {
    type Err = InvalidAddress;

    fn from_str(text: &str) -> Result<Self, InvalidAddress> {
        let (key, name) = text.split_once('/').ok_or(InvalidAddress::NoSlash)?;
        Ok(Self { provider: key.parse()?, name: name.parse()? })
    }
}

fn common_problem(text: &str, limit: usize) -> Option<NameProblem> {
    if text.is_empty() {
        return Some(NameProblem::Empty);
    }
    if text.len() > limit {
        return Some(NameProblem::TooLong { limit, got: text.len() });
    }
    text.chars().find(|c| c.is_control()).map(|c| NameProblem::ControlCharacter(u32::from(c)))
}

fn url_problem(text: &str) -> Option<NameProblem> {
    if text == "." || text == ".." {
        return Some(NameProblem::PathSegment);
    }
    text.chars().find(|c| matches!(c, '/' | '\\' | '?' | '#')).map(NameProblem::UrlCharacter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_printable_text_up_to_the_limit_is_a_run_id() {
        assert_eq!(RunId::new("run:1 / é").unwrap().as_str(), "run:1 / é");
        assert!(RunId::new("x".repeat(256)).is_ok());
        assert_eq!(
            RunId::new("x".repeat(257)).unwrap_err().problem,
            NameProblem::TooLong { limit: 256, got: 257 }
        );
        assert_eq!(RunId::new("").unwrap_err().problem, NameProblem::Empty);
    }

    #[test]
    fn control_characters_are_refused_everywhere() {
        for text in ["a\0b", "a\nb", "\u{7f}", "a\u{85}"] {
            assert!(RunId::new(text).is_err(), "{text:?}");
            assert!(ThreadId::new(text).is_err(), "{text:?}");
            assert!(AgentName::new(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn an_agent_name_is_one_url_path_segment() {
        for text in ["a/b", "a\\b", "a?b", "a#b", ".", ".."] {
            assert!(AgentName::new(text).is_err(), "{text:?}");
        }
        for text in ["...", "übersetzer", "a b", "a%2Fb"] {
            assert!(AgentName::new(text).is_ok(), "{text:?}");
        }
        assert!(AgentName::new("é".repeat(64)).is_ok());
        assert!(AgentName::new("é".repeat(65)).is_err());
    }

    #[test]
    fn a_refused_id_on_the_wire_says_why() {
        let error = serde_json::from_str::<RunId>("\"\"").unwrap_err();
        assert!(error.to_string().contains("run id: empty"), "{error}");
    }

    #[test]
    fn an_address_is_read_and_written_as_key_slash_name() {
        let text = "29e5833a915a6429a4e3a7948475c338ef436eb82be89c92f059704403db9d55/translator";
        let address: AgentAddress = text.parse().unwrap();
        assert_eq!(address.to_string(), text);
        assert!("translator".parse::<AgentAddress>().is_err());
        let json = serde_json::to_string(&address).unwrap();
        assert_eq!(
            json,
            r#"{"providerKey":"29e5833a915a6429a4e3a7948475c338ef436eb82be89c92f059704403db9d55","name":"translator"}"#
        );
    }
}
