//! The run input as it came: typed where funduq decides, raw elsewhere.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::legacy::without_nulls;
use super::message::RelayedMessage;
use super::resume::RelayedResume;
use crate::check::{self, Flaw, Problem};
use crate::input::RunAgentInput;
use crate::json::{self, Members};
use crate::wire::Wire;
use crate::{Json, RawObject};

/// The most bytes of one run input as its client sends it: 16 MiB. A client sends its whole history each time.
pub const MAX_INPUT_BYTES: usize = 16 * 1024 * 1024;

/// A run input. Serialises to the members that came, each as the bytes that came.
#[derive(Clone, Debug)]
pub struct RelayedInput {
    /// The thread.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// The protocol version the client speaks; absent when it does not say.
    pub protocol_version: Option<String>,
    /// The run that this one continues or was spawned by; absent when there is none.
    pub parent_run_id: Option<String>,
    /// The state the run starts from: any JSON but null; absent means none.
    pub state: Option<Box<RawValue>>,
    /// The conversation so far, in order.
    pub messages: Vec<RelayedMessage>,
    /// The tools that the client offers, an array; absent means none.
    pub tools: Option<Box<RawValue>>,
    /// What the agent should know beside the conversation, an array; absent means nothing.
    pub context: Option<Box<RawValue>>,
    /// The caller's own values; absent means none.
    pub forwarded_props: Option<ForwardedProps>,
    /// Answers to an earlier run's interrupts; absent means it answers none.
    pub resume: Option<Vec<RelayedResume>>,
    /// Members that AG-UI 1.0 does not declare.
    pub extra: RawObject,
}

/// `forwardedProps`: an object as a rule, but AG-UI lets it be any JSON but null.
#[derive(Clone, Debug)]
pub enum ForwardedProps {
    /// An object: the caller's bag.
    Object(RawObject),
    /// Anything else, carried as it came.
    Other(Box<RawValue>),
}

/// Why a run input, or a part of one, cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid input: {} {problem}", check::place(path))]
pub struct InvalidInput {
    path: String,
    problem: Problem,
}

impl InvalidInput {
    /// The member that is wrong, as in `messages[2].content`; empty for the whole.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl From<Box<Flaw>> for InvalidInput {
    fn from(flaw: Box<Flaw>) -> Self {
        Self { path: flaw.path(), problem: flaw.problem }
    }
}

impl RelayedInput {
    /// An input with its required members and nothing else.
    #[must_use]
    pub fn new(
        thread_id: impl Into<String>,
        run_id: impl Into<String>,
        messages: Vec<RelayedMessage>,
    ) -> Self {
        Self {
            thread_id: thread_id.into(),
            run_id: run_id.into(),
            protocol_version: None,
            parent_run_id: None,
            state: None,
            messages,
            tools: None,
            context: None,
            forwarded_props: None,
            resume: None,
            extra: RawObject::new(),
        }
    }

    /// Reads a run input by the tolerant reading. A null for an optional member, here
    /// and inside messages, tools, context and resume, is taken as absent and left out.
    ///
    /// # Errors
    /// [`InvalidInput`] when it is larger than [`MAX_INPUT_BYTES`], deeper than
    /// [`crate::MAX_DEPTH`], no JSON object, or a declared member is missing, comes
    /// twice or is not what AG-UI 1.0 says.
    pub fn parse(json: &[u8]) -> Result<Self, InvalidInput> {
        if json.len() > MAX_INPUT_BYTES {
            return Err(Flaw::new(Problem::TooLarge { limit: MAX_INPUT_BYTES }).into());
        }
        Self::parse_relayed(json)
    }

    /// Reads a run input that a door took before, from a link or a record. It may be larger than [`MAX_INPUT_BYTES`], as
    /// funduq adds its ids and its word; how much is read at all is for whoever reads the link or the record.
    ///
    /// # Errors
    /// As for [`parse`](Self::parse), but for the size.
    pub fn parse_relayed(json: &[u8]) -> Result<Self, InvalidInput> {
        let text = std::str::from_utf8(json).map_err(|_| Flaw::new(Problem::NotUtf8))?;
        Ok(Self::read(check::any(text)?)?)
    }

    /// The same for a value whose syntax has been checked.
    fn read(value: &str) -> Result<Self, Box<Flaw>> {
        let value = without_nulls(&RunAgentInput::KIND, value);
        check::text(&RunAgentInput::KIND, &value)?;
        let mut input = Self::new("", "", Vec::new());
        let mut extra = Vec::new();
        for (key, value) in Members::of(&value).iter() {
            let key = match json::is_lossless(key) {
                true => json::decode(key),
                false => return Err(Flaw::new(Problem::NotUnicode)),
            };
            match &*key {
                "threadId" => input.thread_id = string("threadId", value)?,
                "runId" => input.run_id = string("runId", value)?,
                "protocolVersion" => input.protocol_version = Some(string("protocolVersion", value)?),
                "parentRunId" => input.parent_run_id = Some(string("parentRunId", value)?),
                "state" => input.state = Some(raw(value)),
                "messages" => input.messages = list("messages", value, RelayedMessage::trusted)?,
                "tools" => input.tools = Some(raw(value)),
                "context" => input.context = Some(raw(value)),
                "forwardedProps" => input.forwarded_props = Some(forwarded_props(value)?),
                "resume" => input.resume = Some(list("resume", value, RelayedResume::trusted)?),
                _ => extra.push((key, raw(value))),
            }
        }
        input.extra = extra.into_iter().collect();
        Ok(input)
    }

    /// The input as JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("an input has string keys and JSON values only")
    }
}

fn string(name: &'static str, value: &str) -> Result<String, Box<Flaw>> {
    match json::body(value) {
        Some(text) if json::is_lossless(text) => Ok(json::decode(text).into_owned()),
        _ => Err(Flaw::new(Problem::NotUnicode).in_member(name)),
    }
}

fn raw(value: &str) -> Box<RawValue> {
    RawValue::from_string(value.to_owned()).expect("a slice of checked JSON is a JSON value")
}

fn list<T>(
    name: &'static str,
    value: &str,
    read: impl Fn(String) -> Result<T, Box<Flaw>>,
) -> Result<Vec<T>, Box<Flaw>> {
    let items = json::items(value).into_iter().enumerate();
    let read = |(index, item): (usize, &str)| read(item.to_owned()).map_err(|flaw| flaw.in_item(index));
    items.map(read).collect::<Result<_, _>>().map_err(|flaw| flaw.in_member(name))
}

fn forwarded_props(value: &str) -> Result<ForwardedProps, Box<Flaw>> {
    if !value.starts_with('{') {
        return Ok(ForwardedProps::Other(raw(value)));
    }
    let not_unicode = |_| Flaw::new(Problem::NotUnicode).in_member("forwardedProps");
    serde_json::from_str(value).map(ForwardedProps::Object).map_err(not_unicode)
}

impl PartialEq for RelayedInput {
    fn eq(&self, other: &Self) -> bool {
        self.to_json() == other.to_json()
    }
}

impl Serialize for RelayedInput {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("threadId", &self.thread_id)?;
        map.serialize_entry("runId", &self.run_id)?;
        if let Some(version) = &self.protocol_version {
            map.serialize_entry("protocolVersion", version)?;
        }
        if let Some(parent) = &self.parent_run_id {
            map.serialize_entry("parentRunId", parent)?;
        }
        if let Some(state) = &self.state {
            map.serialize_entry("state", state)?;
        }
        map.serialize_entry("messages", &self.messages)?;
        if let Some(tools) = &self.tools {
            map.serialize_entry("tools", tools)?;
        }
        if let Some(context) = &self.context {
            map.serialize_entry("context", context)?;
        }
        if let Some(props) = &self.forwarded_props {
            map.serialize_entry("forwardedProps", props)?;
        }
        if let Some(resume) = &self.resume {
            map.serialize_entry("resume", resume)?;
        }
        for (key, value) in self.extra.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RelayedInput {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse_relayed(raw.get().as_bytes()).map_err(D::Error::custom)
    }
}

impl JsonSchema for RelayedInput {
    fn schema_name() -> Cow<'static, str> {
        RunAgentInput::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RunAgentInput::json_schema(generator)
    }
}

impl TryFrom<&RelayedInput> for RunAgentInput {
    type Error = serde_json::Error;

    /// Decodes into the typed input. Half a surrogate pair in a declared string, which only
    /// bytes can carry, reads as U+FFFD; the members that are open JSON keep theirs. Fails
    /// for nesting at the depth limit.
    fn try_from(input: &RelayedInput) -> Result<Self, Self::Error> {
        let json = input.to_json();
        let mended = match serde_json::from_str(&json) {
            Ok(typed) => return Ok(typed),
            Err(error) => json::mended(&json).ok_or(error)?,
        };
        let mut typed: Self = serde_json::from_str(&mended)?;
        typed.state = input.state.clone().map(Json::from);
        typed.forwarded_props = input.forwarded_props.as_ref().map(encode).map(Json::from);
        typed.extra.clone_from(&input.extra);
        Ok(typed)
    }
}

impl From<&RunAgentInput> for RelayedInput {
    /// Encodes a typed input.
    fn from(input: &RunAgentInput) -> Self {
        let mut relayed = Self::new(
            input.thread_id.as_str(),
            input.run_id.as_str(),
            input.messages.iter().map(RelayedMessage::from).collect(),
        );
        relayed.protocol_version.clone_from(&input.protocol_version);
        relayed.parent_run_id.clone_from(&input.parent_run_id);
        relayed.state = input.state.clone().filter(|state| !state.is_null()).map(Into::into);
        relayed.tools = input.tools.as_ref().map(encode);
        relayed.context = input.context.as_ref().map(encode);
        let props = input.forwarded_props.as_ref().filter(|props| !props.is_null());
        relayed.forwarded_props = props.map(|props| match props.to() {
            Ok(object) => ForwardedProps::Object(object),
            Err(_) => ForwardedProps::Other(props.clone().into()),
        });
        relayed.resume = input.resume.as_ref().map(|resume| resume.iter().map(Into::into).collect());
        relayed.extra = input.extra.clone();
        relayed
    }
}

fn encode<T: Serialize>(value: &T) -> Box<RawValue> {
    to_raw_value(value).expect("wire types have string keys and JSON values only")
}

impl ForwardedProps {
    /// The object, when it is one.
    #[must_use]
    pub fn as_object(&self) -> Option<&RawObject> {
        match self {
            Self::Object(object) => Some(object),
            Self::Other(_) => None,
        }
    }
}

impl PartialEq for ForwardedProps {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(a), Self::Object(b)) => a == b,
            (Self::Other(a), Self::Other(b)) => a.get() == b.get(),
            _ => false,
        }
    }
}

impl Serialize for ForwardedProps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Object(object) => object.serialize(serializer),
            Self::Other(raw) => raw.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ForwardedProps {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        forwarded_props(raw.get()).map_err(|flaw| D::Error::custom(InvalidInput::from(flaw)))
    }
}

impl JsonSchema for ForwardedProps {
    fn schema_name() -> Cow<'static, str> {
        "ForwardedProps".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({ "not": { "type": "null" } })
    }
}
