//! How an A2A message is read from JSON and written to it: ProtoJSON, with every fault named by its path.

mod base64;
mod depth;
mod fields;
mod object;
mod open_enum;
mod scalars;
mod timestamp;

use std::fmt;

use serde::Serialize;
use serde_json::value::RawValue;

pub use self::base64::Bytes;
pub use self::depth::MAX_DEPTH;
pub use self::object::JsonObject;
pub use self::timestamp::{InvalidTimestamp, Timestamp};

pub(crate) use self::depth::is_too_deep;
pub(crate) use self::fields::{Fields, Problems, ReadMessage, names_match};
pub(crate) use self::object::OneLine;
pub(crate) use self::open_enum::open_enum;
pub(crate) use self::scalars::{FromRaw, describe, quoted, shortened};

/// A message of the A2A data model, read and written as ProtoJSON (A2A 1.0 §5.5–5.7).
///
/// Reading accepts `camelCase` and `snake_case` names, takes `null` for absent, ignores members it does not know
/// and keeps enum strings it does not know. It checks what the protocol marks as required and reports every fault
/// it finds, each with its path. Writing is `camelCase` only.
pub trait WireMessage: Serialize + Sized {
    /// Reads a message from the bytes of one JSON document.
    ///
    /// # Errors
    /// [`InvalidMessage`] when the bytes are no JSON, nest deeper than [`MAX_DEPTH`], or break the model.
    fn from_json(json: &[u8]) -> Result<Self, InvalidMessage>;

    /// Reads a message from JSON that has already been split off a larger document.
    ///
    /// # Errors
    /// [`InvalidMessage`] when the value nests deeper than [`MAX_DEPTH`] or breaks the model.
    fn from_raw(raw: &RawValue) -> Result<Self, InvalidMessage>;

    /// The message as one JSON document.
    fn to_json(&self) -> String {
        to_json(self)
    }
}

impl<T: FromRaw + Serialize> WireMessage for T {
    fn from_json(json: &[u8]) -> Result<Self, InvalidMessage> {
        let raw: &RawValue =
            serde_json::from_slice(json).map_err(|error| InvalidMessage::NotJson(error.to_string()))?;
        Self::from_raw(raw)
    }

    fn from_raw(raw: &RawValue) -> Result<Self, InvalidMessage> {
        if is_too_deep(raw.get()) {
            return Err(InvalidMessage::TooDeep);
        }
        let mut problems = Problems::default();
        let message = T::from_raw_value(raw, &mut problems);
        match (message, problems.into_violations()) {
            (Some(message), violations) if violations.is_empty() => Ok(message),
            (_, violations) => Err(InvalidMessage::Violations(violations)),
        }
    }
}

/// Writes any of this crate's shapes as one JSON document.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("every shape of this crate has string keys and writes to memory")
}

/// Why a JSON document is not the A2A message it was taken for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidMessage {
    /// The bytes are not one JSON document.
    #[error("the document is not valid JSON: {0}")]
    NotJson(String),
    /// The document nests deeper than [`MAX_DEPTH`].
    #[error("the document nests deeper than {MAX_DEPTH} levels")]
    TooDeep,
    /// The document is JSON but breaks the model, in one or more places.
    #[error("{}", Violations(.0))]
    Violations(Vec<FieldViolation>),
}

/// One fault of a message: where it is and what is wrong there (`google.rpc.BadRequest.FieldViolation`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FieldViolation {
    /// The path of the member from the root of the message, such as `message.parts[0].url`; empty for the root.
    pub field: String,
    /// What is wrong with the value and what would be right.
    pub description: String,
}

impl fmt::Display for FieldViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.description)
        } else {
            write!(f, "{}: {}", self.field, self.description)
        }
    }
}

/// Several violations as one line of text: the first, and how many more there are.
struct Violations<'a>(&'a [FieldViolation]);

impl fmt::Display for Violations<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("the message is invalid"),
            [only] => write!(f, "{only}"),
            [first, rest @ ..] => write!(f, "{first} (and {} more)", rest.len()),
        }
    }
}

/// Serde's `skip_serializing_if` for a string with implicit presence: unset and empty are the same.
pub(crate) fn unset(text: &Option<String>) -> bool {
    text.as_deref().is_none_or(str::is_empty)
}

/// Serde's `skip_serializing_if` for a bool with implicit presence.
pub(crate) fn is_false(value: &bool) -> bool {
    !*value
}

/// Implements `Deserialize` for message types through their ProtoJSON reading.
macro_rules! deserialize_as_message {
    ($($message:ty),+ $(,)?) => {$(
        impl<'de> serde::Deserialize<'de> for $message {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = <Box<serde_json::value::RawValue> as serde::Deserialize>::deserialize(deserializer)?;
                <$message as $crate::wire::WireMessage>::from_raw(&raw).map_err(serde::de::Error::custom)
            }
        }
    )+};
}
pub(crate) use deserialize_as_message;
