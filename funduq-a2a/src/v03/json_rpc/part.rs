//! Parts of 0.3: text, file or data, told apart by `kind`.

use serde::Serialize;

use crate::v03::{unwrap_data, wrap_data};
use crate::wire::{Bytes, Fields, JsonObject, ReadMessage, deserialize_as_message, unset};
use crate::{Part as PartV1, PartContent};

/// One piece of content.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Part {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// What the parties attach to it.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<JsonObject>,
    },
    /// A file.
    File {
        /// The file.
        file: File,
        /// What the parties attach to it.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<JsonObject>,
    },
    /// A JSON object.
    Data {
        /// The object.
        data: JsonObject,
        /// What the parties attach to it.
        #[serde(skip_serializing_if = "Option::is_none")]
        metadata: Option<JsonObject>,
    },
}

/// A file, by value or by reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// The content, or where it is.
    #[serde(flatten)]
    pub content: FileContent,
    /// The media type.
    #[serde(skip_serializing_if = "unset")]
    pub mime_type: Option<String>,
    /// The file's name.
    #[serde(skip_serializing_if = "unset")]
    pub name: Option<String>,
}

/// The content of a file, or where it is.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FileContent {
    /// The bytes, base64 in JSON.
    Bytes(Bytes),
    /// Where it can be fetched.
    Uri(String),
}

impl Default for FileContent {
    fn default() -> Self {
        Self::Bytes(Bytes::default())
    }
}

impl ReadMessage for Part {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let metadata = fields.optional("metadata");
        // Some peers leave `kind` out; the member that is there says it as well.
        let kind = match fields.text("kind") {
            Some(kind) => kind,
            None => fields.one_of(&["text", "file", "data"]).unwrap_or("unknown").to_owned(),
        };
        match kind.as_str() {
            "text" => Self::Text { text: fields.required("text"), metadata },
            "file" => Self::File { file: fields.required("file"), metadata },
            "data" => Self::Data { data: fields.required("data"), metadata },
            "unknown" => Self::Text { text: String::new(), metadata },
            _ => {
                fields.violation("kind", "must be text, file or data");
                Self::Text { text: String::new(), metadata }
            }
        }
    }
}

impl ReadMessage for File {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let content = match fields.one_of(&["bytes", "uri"]) {
            Some("uri") => FileContent::Uri(fields.or_default("uri")),
            _ => FileContent::Bytes(fields.or_default("bytes")),
        };
        Self { content, mime_type: fields.text("mimeType"), name: fields.text("name") }
    }
}

deserialize_as_message!(Part, File);

impl From<Part> for PartV1 {
    fn from(part: Part) -> Self {
        match part {
            Part::Text { text, metadata } => {
                Self { content: PartContent::Text(text), metadata, ..Self::default() }
            }
            Part::File { file, metadata } => {
                let content = match file.content {
                    FileContent::Bytes(bytes) => PartContent::Raw(bytes),
                    FileContent::Uri(uri) => PartContent::Url(uri),
                };
                Self { content, metadata, filename: file.name, media_type: file.mime_type }
            }
            Part::Data { data, metadata } => {
                let (content, metadata) = unwrap_data(data, metadata);
                Self { content, metadata, ..Self::default() }
            }
        }
    }
}

impl From<PartV1> for Part {
    fn from(part: PartV1) -> Self {
        let PartV1 { content, metadata, filename: name, media_type: mime_type } = part;
        let file = |content| File { content, mime_type, name };
        match content {
            PartContent::Text(text) => Self::Text { text, metadata },
            PartContent::Raw(bytes) => Self::File { file: file(FileContent::Bytes(bytes)), metadata },
            PartContent::Url(url) => Self::File { file: file(FileContent::Uri(url)), metadata },
            PartContent::Data(value) => {
                let (data, metadata) = wrap_data(value, metadata);
                Self::Data { data, metadata }
            }
        }
    }
}
