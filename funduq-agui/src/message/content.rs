//! What a message says: text, or parts that may be media.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Json;
use crate::wire::{Kind, Wire, wire_object, wire_union};

/// The content of a user's or a tool's message: text, or an ordered list of parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Parts, in order.
    Parts(Vec<ContentPart>),
}

impl Content {
    /// The text of it: the text itself, or its text parts one after the other.
    #[must_use]
    pub fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Parts(parts) => {
                let text = |part: &ContentPart| match part {
                    ContentPart::Text(part) => Some(part.text.clone()),
                    _ => None,
                };
                Cow::Owned(parts.iter().filter_map(text).collect())
            }
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentPart>> for Content {
    fn from(parts: Vec<ContentPart>) -> Self {
        Self::Parts(parts)
    }
}

impl Wire for Content {
    const KIND: Kind = Kind::TextOrList(&ContentPart::KIND);
}

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => serializer.serialize_str(text),
            Self::Parts(parts) => parts.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ContentVisitor;

        impl<'de> Visitor<'de> for ContentVisitor {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array of content parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Content, E> {
                Ok(text.into())
            }

            fn visit_string<E>(self, text: String) -> Result<Content, E> {
                Ok(text.into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, parts: A) -> Result<Content, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(parts)).map(Content::Parts)
            }
        }

        deserializer.deserialize_any(ContentVisitor)
    }
}

impl JsonSchema for Content {
    fn schema_name() -> Cow<'static, str> {
        "Content".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Text, or an ordered list of parts.",
            "oneOf": [{ "type": "string" }, generator.subschema_for::<Vec<ContentPart>>()],
        })
    }
}

wire_union! {
    /// A part of a message's content, told apart by `type`.
    ContentPart by "type", untagged carried {
        /// Text.
        Text(TextPart) = "text",
        /// An image.
        Image(ImagePart) = "image",
        /// Sound.
        Audio(AudioPart) = "audio",
        /// Moving pictures.
        Video(VideoPart) = "video",
        /// A document.
        Document(DocumentPart) = "document",
    }
}

wire_object! {
    /// The part `text`.
    TextPart {
        fixed { "type" = "text" }
        required {
            /// The text.
            text: String = "text",
        }
        optional {
            /// The part's id; absent when it has none.
            id: String = "id",
            /// Further information about the part: any JSON; absent means none.
            metadata: Json = "metadata",
        }
    }
}

wire_object! {
    /// The part `image`.
    ImagePart {
        fixed { "type" = "image" }
        required {
            /// Where the image is.
            source: PartSource = "source",
        }
        optional {
            /// The part's id; absent when it has none.
            id: String = "id",
            /// Further information about the part: any JSON; absent means none.
            metadata: Json = "metadata",
        }
    }
}

wire_object! {
    /// The part `audio`.
    AudioPart {
        fixed { "type" = "audio" }
        required {
            /// Where the sound is.
            source: PartSource = "source",
        }
        optional {
            /// The part's id; absent when it has none.
            id: String = "id",
            /// Further information about the part: any JSON; absent means none.
            metadata: Json = "metadata",
        }
    }
}

wire_object! {
    /// The part `video`.
    VideoPart {
        fixed { "type" = "video" }
        required {
            /// Where the video is.
            source: PartSource = "source",
        }
        optional {
            /// The part's id; absent when it has none.
            id: String = "id",
            /// Further information about the part: any JSON; absent means none.
            metadata: Json = "metadata",
        }
    }
}

wire_object! {
    /// The part `document`.
    DocumentPart {
        fixed { "type" = "document" }
        required {
            /// Where the document is.
            source: PartSource = "source",
        }
        optional {
            /// The part's id; absent when it has none.
            id: String = "id",
            /// Further information about the part: any JSON; absent means none.
            metadata: Json = "metadata",
        }
    }
}

wire_union! {
    /// Where a part's media is, told apart by `type`.
    PartSource by "type", untagged carried {
        /// In the message itself.
        Data(DataSource) = "data",
        /// Behind a URL.
        Url(UrlSource) = "url",
        /// In a file that a model provider holds.
        File(FileSource) = "file",
    }
}

wire_object! {
    /// The source `data`: the media itself.
    DataSource {
        fixed { "type" = "data" }
        required {
            /// The bytes, in base64; funduq does not look into them.
            value: String = "value",
            /// What they are.
            mime_type: String = "mimeType",
        }
        optional {}
    }
}

wire_object! {
    /// The source `url`: where the media can be fetched.
    UrlSource {
        fixed { "type" = "url" }
        required {
            /// The URL.
            value: String = "value",
        }
        optional {
            /// What is there; absent when not told.
            mime_type: String = "mimeType",
        }
    }
}

wire_object! {
    /// The source `file`: media that was handed to a model provider before.
    FileSource {
        fixed { "type" = "file" }
        required {
            /// The file's id at that provider.
            value: String = "value",
        }
        optional {
            /// The provider that holds it; absent when not told.
            provider: String = "provider",
            /// What it is; absent when not told.
            mime_type: String = "mimeType",
        }
    }
}
