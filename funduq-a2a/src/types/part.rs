//! A part of a message or an artifact: exactly one of text, bytes, a URL or data (A2A 1.0 §4.1.6).

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::wire::{Bytes, Fields, JsonObject, OneLine, ReadMessage, deserialize_as_message};

/// One piece of content, with what is said about it.
#[derive(Clone, Debug, Default)]
pub struct Part {
    /// The content itself.
    pub content: PartContent,
    /// What the parties attach to this part.
    pub metadata: Option<JsonObject>,
    /// The name of the file that the content is or was, such as `document.pdf`.
    pub filename: Option<String>,
    /// The content's media type, such as `text/plain`; absent when the sender left it open.
    pub media_type: Option<String>,
}

/// What a part holds.
#[derive(Clone, Debug)]
pub enum PartContent {
    /// Text.
    Text(String),
    /// The bytes of a file, base64 in JSON.
    Raw(Bytes),
    /// Where a file's content can be fetched.
    Url(String),
    /// Any JSON value, as the text that was sent.
    Data(Box<RawValue>),
}

impl Part {
    /// A part with nothing but text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: PartContent::Text(text.into()), ..Self::default() }
    }

    /// A part with nothing but a JSON value.
    #[must_use]
    pub fn data(value: Box<RawValue>) -> Self {
        Self { content: PartContent::Data(value), ..Self::default() }
    }

    /// The text, if that is what the part holds.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) => Some(text),
            PartContent::Raw(_) | PartContent::Url(_) | PartContent::Data(_) => None,
        }
    }
}

impl Default for PartContent {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// JSON data is equal when its text is.
impl PartialEq for PartContent {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Text(left), Self::Text(right)) | (Self::Url(left), Self::Url(right)) => left == right,
            (Self::Raw(left), Self::Raw(right)) => left == right,
            (Self::Data(left), Self::Data(right)) => left.get() == right.get(),
            _ => false,
        }
    }
}

impl PartialEq for Part {
    fn eq(&self, other: &Self) -> bool {
        self.content == other.content
            && self.metadata == other.metadata
            && self.filename == other.filename
            && self.media_type == other.media_type
    }
}

impl ReadMessage for Part {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            content: read_content(fields),
            metadata: fields.optional("metadata"),
            filename: fields.text("filename"),
            media_type: fields.text("mediaType"),
        }
    }
}

fn read_content(fields: &mut Fields<'_, '_>) -> PartContent {
    const KINDS: [&str; 4] = ["text", "raw", "url", "data"];
    // `data` is a google.protobuf.Value, for which null is a value; beside another kind it means absent.
    let others_absent = KINDS[..3].iter().all(|name| !fields.is_set(name));
    if others_absent && !fields.is_set("data") && fields.is_null("data") {
        return PartContent::Data(RawValue::NULL.to_owned());
    }
    match fields.one_of(&KINDS) {
        Some("text") => PartContent::Text(fields.or_default("text")),
        Some("raw") => PartContent::Raw(fields.or_default("raw")),
        Some("url") => PartContent::Url(fields.or_default("url")),
        Some(_) => fields.optional("data").map_or_else(PartContent::default, PartContent::Data),
        None => PartContent::default(),
    }
}

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        match &self.content {
            PartContent::Text(text) => map.serialize_entry("text", text)?,
            PartContent::Raw(bytes) => map.serialize_entry("raw", bytes)?,
            PartContent::Url(url) => map.serialize_entry("url", url)?,
            PartContent::Data(value) => map.serialize_entry("data", &OneLine(value))?,
        }
        if let Some(metadata) = &self.metadata {
            map.serialize_entry("metadata", metadata)?;
        }
        for (name, text) in [("filename", &self.filename), ("mediaType", &self.media_type)] {
            if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
                map.serialize_entry(name, text)?;
            }
        }
        map.end()
    }
}

deserialize_as_message!(Part);

impl JsonSchema for Part {
    fn schema_name() -> Cow<'static, str> {
        "Part".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "description": "One piece of content, with what is said about it.",
            "properties": {
                "text": { "type": "string" },
                "raw": generator.subschema_for::<Bytes>(),
                "url": { "type": "string" },
                "data": true,
                "metadata": generator.subschema_for::<Option<JsonObject>>(),
                "filename": { "type": ["string", "null"] },
                "mediaType": { "type": ["string", "null"] }
            },
            "oneOf": [
                { "required": ["text"] },
                { "required": ["raw"] },
                { "required": ["url"] },
                { "required": ["data"] }
            ]
        })
    }
}
