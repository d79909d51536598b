//! JSON that belongs to two others: carried as its text, never read on the way.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::sync::Arc;

/// One JSON value as the text that came, cheap to clone.
///
/// It is read only by `serde_json` and only from a text or a slice, because it borrows from there before it copies.
#[derive(Clone, PartialEq, Eq)]
pub struct RawJson(Arc<str>);

/// The text is no JSON value.
#[derive(Debug, thiserror::Error)]
#[error("not one JSON value: {0}")]
pub struct NotJson(#[source] serde_json::Error);

impl RawJson {
    /// Keeps a text that is one JSON value.
    ///
    /// # Errors
    /// [`NotJson`] where it is not one.
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, NotJson> {
        let text = text.into();
        match serde_json::from_str::<&RawValue>(&text) {
            Ok(_) => Ok(Self(text)),
            Err(error) => Err(NotJson(error)),
        }
    }

    /// The text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// The text, to keep.
    pub fn into_text(self) -> Arc<str> {
        self.0
    }
}

impl From<&RawValue> for RawJson {
    fn from(raw: &RawValue) -> Self {
        Self(raw.get().into())
    }
}

impl From<&funduq_agui::RelayedEvent> for RawJson {
    fn from(event: &funduq_agui::RelayedEvent) -> Self {
        Self(event.json().into())
    }
}

impl std::fmt::Debug for RawJson {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RawJson({})", self.0)
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue =
            serde_json::from_str(&self.0).expect("each constructor has read this text as JSON");
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'de RawValue>::deserialize(deserializer).map(Self::from)
    }
}

impl JsonSchema for RawJson {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "RawJson".into()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        concat!(module_path!(), "::RawJson").into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "description": "any JSON value, carried as its text" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_survives_untouched() {
        let text = r#"[{"b": 1.0e5 ,"a":"é"}]"#;
        let read: Vec<RawJson> = serde_json::from_str(text).unwrap();
        assert_eq!(read[0].get(), r#"{"b": 1.0e5 ,"a":"é"}"#);
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn a_text_that_is_no_json_is_refused() {
        assert!(RawJson::new("{").is_err());
        assert!(RawJson::new("1 2").is_err());
        assert!(RawJson::new(" 1 ").is_ok());
    }
}
