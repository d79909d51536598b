//! A message as it came, with the few members that funduq decides on.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::input::InvalidInput;
use super::legacy::without_nulls;
use crate::check::{self, Flaw, Problem};
use crate::json::{self, Members};
use crate::message::{Message, Role};
use crate::wire::Wire;

/// A message of a conversation, kept as the bytes that came. Equality is
/// equality of those bytes.
#[derive(Clone, Debug)]
pub struct RelayedMessage {
    id: Option<String>,
    role: Role,
    tool_call_id: Option<String>,
    raw: Box<RawValue>,
}

impl RelayedMessage {
    /// Reads a message by the tolerant reading: one of the seven roles must be what
    /// AG-UI 1.0 says, one of an unknown role is any object. A null for an optional
    /// member is taken as absent and left out.
    ///
    /// # Errors
    /// [`InvalidInput`] with the member that is wrong.
    pub fn parse(json: &str) -> Result<Self, InvalidInput> {
        Ok(Self::read(check::any(json)?)?)
    }

    /// The same for a value whose syntax has been checked.
    fn read(value: &str) -> Result<Self, Box<Flaw>> {
        let value = without_nulls(&Message::KIND, value);
        check::tagged(&Message::UNION, &value)?;
        Self::trusted(value.into_owned())
    }

    /// Takes a message that has been checked; fails when its id cannot be read as text.
    pub(crate) fn trusted(message: String) -> Result<Self, Box<Flaw>> {
        let members = Members::of(&message);
        let not_unicode = || Flaw::new(Problem::NotUnicode).in_member("id");
        let id = members.body("id");
        if id.is_some_and(|id| !json::is_lossless(id)) {
            return Err(not_unicode());
        }
        let id = id.map(|id| json::decode(id).into_owned());
        let role = Role::from(&*members.text("role").unwrap_or_default());
        let tool_call_id = members.text("toolCallId").map(Cow::into_owned);
        let raw = RawValue::from_string(message).map_err(|_| not_unicode())?;
        Ok(Self { id, role, tool_call_id, raw })
    }

    /// The message's id. Each of the seven roles has one; a message of an unknown
    /// role may have none.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The message's role; the empty unknown role when it names none.
    #[must_use]
    pub fn role(&self) -> &Role {
        &self.role
    }

    /// The tool call that a tool message answers; `None` when it has no such member.
    #[must_use]
    pub fn tool_call_id(&self) -> Option<&str> {
        self.tool_call_id.as_deref()
    }

    /// The message as JSON.
    #[must_use]
    pub fn json(&self) -> &str {
        self.raw.get()
    }

    /// The message as serde_json holds raw JSON.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.raw
    }

    /// The text of its content: the content itself when it is a string, the text
    /// parts one after the other when it is a list; `None` when there is neither.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let content = Members::of(self.json()).get("content")?;
        if let Some(text) = json::body(content) {
            return Some(json::decode(text).into_owned());
        }
        if !content.starts_with('[') {
            return None;
        }
        let parts = json::items(content).into_iter().map(Members::of);
        let texts = parts.filter(|part| part.text("type").as_deref() == Some("text"));
        Some(texts.filter_map(|part| part.text("text")).collect())
    }
}

impl PartialEq for RelayedMessage {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl From<&Message> for RelayedMessage {
    fn from(message: &Message) -> Self {
        let json = serde_json::to_string(message).expect("wire types have string keys and JSON values only");
        Self::trusted(json).expect("a Rust string has no half surrogate pairs")
    }
}

impl From<Message> for RelayedMessage {
    fn from(message: Message) -> Self {
        Self::from(&message)
    }
}

impl TryFrom<&RelayedMessage> for Message {
    type Error = serde_json::Error;

    /// Decodes into the typed message. Half a surrogate pair in a declared string, which only
    /// bytes can carry, reads as U+FFFD. Fails for nesting at the depth limit.
    fn try_from(message: &RelayedMessage) -> Result<Self, Self::Error> {
        json::read(message.json())
    }
}

impl Serialize for RelayedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RelayedMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse(raw.get()).map_err(D::Error::custom)
    }
}

impl JsonSchema for RelayedMessage {
    fn schema_name() -> Cow<'static, str> {
        Message::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Message::json_schema(generator)
    }
}
