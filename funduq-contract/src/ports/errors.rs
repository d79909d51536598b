//! What can go wrong at a port, said so that the other side can act on it.

use crate::ids::{AgentName, RunId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The connection behind a link is gone; what was handed to it has not arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the link is gone")]
pub struct LinkGone;

/// Why funduq lets go of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LinkClosed {
    /// The same key opened another link. The new one is the provider; do not come back with this one.
    Replaced,
    /// Whoever runs this funduq put the key out.
    Evicted,
    /// funduq is going down; come back later.
    ShuttingDown,
}

impl LinkClosed {
    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Replaced => "replaced",
            Self::Evicted => "evicted",
            Self::ShuttingDown => "shuttingDown",
        }
    }
}

/// The word is none of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no such word")]
pub struct UnknownWord;

impl std::str::FromStr for LinkClosed {
    type Err = UnknownWord;

    fn from_str(word: &str) -> Result<Self, UnknownWord> {
        [Self::Replaced, Self::Evicted, Self::ShuttingDown]
            .into_iter()
            .find(|reason| reason.as_str() == word)
            .ok_or(UnknownWord)
    }
}

impl std::fmt::Display for LinkClosed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why funduq does not do what a provider asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    /// This link is closed, or another one has taken its place.
    #[error("this link is closed; open a new one")]
    LinkClosed,
    /// The key does not hold this run: it never did, or the run is over.
    #[error("this key does not hold the run {0}")]
    NotHeld(RunId),
    /// An event's number leaves some out.
    #[error("expected event {expected} of the run, got {got}; send the ones between")]
    Gap {
        /// The number that comes next.
        expected: u64,
        /// The number that came.
        got: u64,
    },
    /// An agent with a conversation behind it is not deleted.
    #[error("the agent {0} has conversations behind it, so its record stays")]
    AgentInUse(AgentName),
    /// The key has no such agent or offering on this link.
    #[error("this link serves nothing named {0}")]
    UnknownAgent(AgentName),
    /// What was asked makes no sense; the text says what and why.
    #[error("{0}")]
    Invalid(String),
    /// funduq cannot do it now; the text says why.
    #[error("{0}; try again later")]
    Unavailable(String),
}

/// The machine's word for a [`PortError`] and for what only a wire can get wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PortErrorCode {
    /// The link is closed, or another one has taken its place.
    LinkClosed,
    /// The key does not hold the run.
    NotHeld,
    /// An event's number leaves some out.
    Gap,
    /// The agent has conversations behind it, so its record stays.
    AgentInUse,
    /// The link serves no such agent or offering.
    UnknownAgent,
    /// What was asked makes no sense.
    Invalid,
    /// funduq cannot do it now.
    Unavailable,
    /// The frame does not parse, or is not one that may come at this point.
    MalformedFrame,
}

impl PortError {
    /// The machine's word for it.
    pub fn code(&self) -> PortErrorCode {
        match self {
            Self::LinkClosed => PortErrorCode::LinkClosed,
            Self::NotHeld(_) => PortErrorCode::NotHeld,
            Self::Gap { .. } => PortErrorCode::Gap,
            Self::AgentInUse(_) => PortErrorCode::AgentInUse,
            Self::UnknownAgent(_) => PortErrorCode::UnknownAgent,
            Self::Invalid(_) => PortErrorCode::Invalid,
            Self::Unavailable(_) => PortErrorCode::Unavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reasons_word_is_the_one_on_the_wire_and_is_read_back() {
        for reason in [LinkClosed::Replaced, LinkClosed::Evicted, LinkClosed::ShuttingDown] {
            assert_eq!(serde_json::to_string(&reason).unwrap(), format!("\"{reason}\""));
            assert_eq!(reason.as_str().parse(), Ok(reason));
        }
        assert_eq!("bored".parse::<LinkClosed>(), Err(UnknownWord));
    }
}
