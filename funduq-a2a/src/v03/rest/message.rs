//! Messages and parts of 0.3 over HTTP+JSON.

use serde::Serialize;

use crate::v03::{unwrap_data, wrap_data};
use crate::wire::{Bytes, Fields, JsonObject, ReadMessage, deserialize_as_message, unset};
use crate::{Message as MessageV1, Part as PartV1, PartContent as PartContentV1, Role};

/// One piece of content.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// The content.
    #[serde(flatten)]
    pub content: PartContent,
    /// What the parties attach to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
}

/// What a part holds; in JSON the one member that names the kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PartContent {
    /// Text.
    Text(String),
    /// A file.
    File(FilePart),
    /// A JSON object.
    Data(DataPart),
}

impl Default for PartContent {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// A file, by value or by reference.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FilePart {
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
#[serde(rename_all = "camelCase")]
pub enum FileContent {
    /// Where it can be fetched.
    FileWithUri(String),
    /// The bytes, base64 in JSON.
    FileWithBytes(Bytes),
}

impl Default for FileContent {
    fn default() -> Self {
        Self::FileWithBytes(Bytes::default())
    }
}

/// A JSON object where the proto needs a message.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DataPart {
    /// The object.
    pub data: JsonObject,
}

impl ReadMessage for Part {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let content = match fields.one_of(&["text", "file", "data"]) {
            Some("file") => PartContent::File(fields.or_default("file")),
            Some("data") => PartContent::Data(fields.or_default("data")),
            _ => PartContent::Text(fields.or_default("text")),
        };
        Self { content, metadata: fields.optional("metadata") }
    }
}

impl ReadMessage for FilePart {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        let content = match fields.one_of(&["fileWithUri", "fileWithBytes"]) {
            Some("fileWithUri") => FileContent::FileWithUri(fields.or_default("fileWithUri")),
            _ => FileContent::FileWithBytes(fields.or_default("fileWithBytes")),
        };
        Self { content, mime_type: fields.text("mimeType"), name: fields.text("name") }
    }
}

impl ReadMessage for DataPart {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self { data: fields.or_default("data") }
    }
}

/// One turn, from either side.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// The id its author gave it; required.
    pub message_id: String,
    /// The context it belongs to.
    #[serde(skip_serializing_if = "unset")]
    pub context_id: Option<String>,
    /// The task it belongs to or answers.
    #[serde(skip_serializing_if = "unset")]
    pub task_id: Option<String>,
    /// Who speaks; required.
    pub role: Role,
    /// The parts; at least one.
    pub content: Vec<Part>,
    /// What the parties attach to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<JsonObject>,
    /// URIs of the extensions that contributed to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub extensions: Vec<String>,
}

impl ReadMessage for Message {
    fn read(fields: &mut Fields<'_, '_>) -> Self {
        Self {
            message_id: fields.required_text("messageId"),
            context_id: fields.text("contextId"),
            task_id: fields.text("taskId"),
            role: fields.required("role"),
            content: fields.required_list("content"),
            metadata: fields.optional("metadata"),
            extensions: fields.or_default("extensions"),
        }
    }
}

deserialize_as_message!(Part, FilePart, DataPart, Message);

impl From<Part> for PartV1 {
    fn from(part: Part) -> Self {
        let metadata = part.metadata;
        match part.content {
            PartContent::Text(text) => {
                Self { content: PartContentV1::Text(text), metadata, ..Self::default() }
            }
            PartContent::File(file) => {
                let content = match file.content {
                    FileContent::FileWithUri(uri) => PartContentV1::Url(uri),
                    FileContent::FileWithBytes(bytes) => PartContentV1::Raw(bytes),
                };
                Self { content, metadata, filename: file.name, media_type: file.mime_type }
            }
            PartContent::Data(data) => {
                let (content, metadata) = unwrap_data(data.data, metadata);
                Self { content, metadata, ..Self::default() }
            }
        }
    }
}

impl From<PartV1> for Part {
    fn from(part: PartV1) -> Self {
        let PartV1 { content, metadata, filename: name, media_type: mime_type } = part;
        let file = |content| PartContent::File(FilePart { content, mime_type, name });
        match content {
            PartContentV1::Text(text) => Self { content: PartContent::Text(text), metadata },
            PartContentV1::Raw(bytes) => Self { content: file(FileContent::FileWithBytes(bytes)), metadata },
            PartContentV1::Url(url) => Self { content: file(FileContent::FileWithUri(url)), metadata },
            PartContentV1::Data(value) => {
                let (data, metadata) = wrap_data(value, metadata);
                Self { content: PartContent::Data(DataPart { data }), metadata }
            }
        }
    }
}

impl From<Message> for MessageV1 {
    fn from(message: Message) -> Self {
        Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            role: message.role,
            parts: message.content.into_iter().map(Into::into).collect(),
            metadata: message.metadata,
            extensions: message.extensions,
            reference_task_ids: Vec::new(),
        }
    }
}

/// The tasks a message refers to have no place in this spelling and are left out.
impl From<MessageV1> for Message {
    fn from(message: MessageV1) -> Self {
        Self {
            message_id: message.message_id,
            context_id: message.context_id,
            task_id: message.task_id,
            role: message.role,
            content: message.parts.into_iter().map(Into::into).collect(),
            metadata: message.metadata,
            extensions: message.extensions,
        }
    }
}
