//! Objects tagged by `type`, read in one pass and without a detour that would touch the bytes inside.
//!
//! serde's own internally tagged enums buffer an object before they look at its tag, which costs a tree for each event
//! and loses raw JSON. Here the rest of the object goes straight to the shape that the tag names.

use super::MalformedFrame;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::marker::PhantomData;

/// One direction of one link: which word means which shape.
pub(super) trait Tagged: Sized {
    /// Every word of it.
    const KINDS: &'static [&'static str];

    /// Reads the fields that stand beside the word; a word that is none of these is an error.
    fn read<'de, A: MapAccess<'de>>(kind: &str, fields: A) -> Result<Self, A::Error>;
}

/// Reads the fields beside a word as the shape `T`.
pub(super) fn fields<'de, T: DeserializeOwned, A: MapAccess<'de>>(fields: A) -> Result<T, A::Error> {
    T::deserialize(serde::de::value::MapAccessDeserializer::new(fields))
}

pub(super) fn deserialize<'de, T: Tagged, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_map(FrameVisitor(PhantomData))
}

pub(super) fn from_text<T: Tagged + DeserializeOwned>(text: &str) -> Result<T, MalformedFrame> {
    serde_json::from_str(text).map_err(|error| {
        #[derive(Deserialize)]
        struct Kind<'a> {
            #[serde(rename = "type", borrow)]
            kind: Cow<'a, str>,
        }
        let kind = serde_json::from_str::<Kind<'_>>(text).ok().map(|found| found.kind.into_owned());
        MalformedFrame { kind, problem: error.to_string() }
    })
}

struct FrameVisitor<T>(PhantomData<T>);

impl<'de, T: Tagged> Visitor<'de> for FrameVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object with a `type`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        use serde::de::Error;
        let mut before: Vec<(String, Box<RawValue>)> = Vec::new();
        while let Some(Text(key)) = map.next_key()? {
            if key != "type" {
                // Bounded by the longest shape: a frame with more fields than that is refused anyway.
                if before.len() == MAX_FIELDS {
                    return Err(A::Error::custom("more fields than any frame has"));
                }
                before.push((key.into_owned(), map.next_value()?));
                continue;
            }
            let Text(kind) = map.next_value()?;
            if !T::KINDS.contains(&&*kind) {
                return Err(A::Error::unknown_variant(&kind, T::KINDS));
            }
            if before.is_empty() {
                return T::read(&kind, map);
            }
            while let Some(field) = map.next_entry()? {
                if before.len() == MAX_FIELDS {
                    return Err(A::Error::custom("more fields than any frame has"));
                }
                before.push(field);
            }
            return read_buffered(&kind, &before).map_err(A::Error::custom);
        }
        Err(A::Error::missing_field("type"))
    }
}

/// No frame has more fields than this beside its `type`.
const MAX_FIELDS: usize = 16;

fn read_buffered<T: Tagged>(kind: &str, fields: &[(String, Box<RawValue>)]) -> serde_json::Result<T> {
    let entries = fields.iter().map(|(key, value)| (key.as_str(), &**value));
    T::read(kind, serde::de::value::MapDeserializer::new(entries))
}

/// A string that borrows where it can.
struct Text<'de>(Cow<'de, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E: serde::de::Error>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

/// Declares one direction of one link: the enum, its words, reading, writing and schema.
macro_rules! frames {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $word:literal => $variant:ident($shape:ty),)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        #[serde(tag = "type")]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $word)] $variant($shape),)+
        }

        impl $name {
            /// Every word that `type` may hold in this direction.
            pub const KINDS: &'static [&'static str] = &[$($word),+];

            /// The word in `type`.
            pub fn kind(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $word,)+
                }
            }

            /// Reads one message.
            ///
            /// # Errors
            #[doc = concat!("[`MalformedFrame`](super::MalformedFrame) where the text is none of these.")]
            pub fn from_text(text: &str) -> Result<Self, super::MalformedFrame> {
                super::tagged::from_text(text)
            }
        }

        impl super::tagged::Tagged for $name {
            const KINDS: &'static [&'static str] = Self::KINDS;

            fn read<'de, A: serde::de::MapAccess<'de>>(kind: &str, fields: A) -> Result<Self, A::Error> {
                match kind {
                    $($word => super::tagged::fields::<$shape, A>(fields).map(Self::$variant),)+
                    _ => Err(serde::de::Error::unknown_variant(kind, Self::KINDS)),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                super::tagged::deserialize(deserializer)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn schema_id() -> std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let frames = [$(super::tagged::tagged_schema($word, <$shape>::json_schema(generator))),+];
                schemars::json_schema!({ "oneOf": frames })
            }
        }
    };
}
pub(super) use frames;

/// A shape's schema with the word beside its fields, in each of its alternatives.
pub(super) fn tagged_schema(word: &str, mut schema: schemars::Schema) -> schemars::Schema {
    fn tag(word: &str, object: &mut serde_json::Map<String, serde_json::Value>) {
        if let Some(serde_json::Value::Array(alternatives)) = object.get_mut("oneOf") {
            alternatives
                .iter_mut()
                .filter_map(serde_json::Value::as_object_mut)
                .for_each(|one| tag(word, one));
            return;
        }
        let properties = object.entry("properties").or_insert_with(|| serde_json::json!({}));
        if let Some(properties) = properties.as_object_mut() {
            properties.insert("type".to_owned(), serde_json::json!({ "type": "string", "const": word }));
        }
        let required = object.entry("required").or_insert_with(|| serde_json::json!([]));
        if let Some(required) = required.as_array_mut() {
            required.insert(0, "type".into());
        }
    }
    tag(word, schema.ensure_object());
    schema
}
