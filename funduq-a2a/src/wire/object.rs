//! `google.protobuf.Struct` as a JSON object whose values keep the text they came in.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};

/// A JSON object, such as a `metadata` member: ordered keys, each value exactly the text that was sent.
///
/// Values pass through unparsed, so that what a caller put there reaches the other side as written: key order,
/// number spelling and all; only line breaks between tokens are left out when written. A key given twice counts
/// once, with the later value.
///
/// Equality is equality of that text; compare [`JsonObject::to_map`] to compare as JSON values.
#[derive(Clone, Default)]
pub struct JsonObject(Vec<(String, Box<RawValue>)>);

impl JsonObject {
    /// An object without members.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The text of the member under `key`.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| &**value)
    }

    /// Sets `key` to JSON that is already text, replacing what was there.
    pub fn insert(&mut self, key: impl Into<String>, value: Box<RawValue>) {
        let key = key.into();
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// Sets `key` to a value written as JSON, replacing what was there.
    ///
    /// # Errors
    /// When the value does not write as JSON, such as a map with keys that are no strings.
    pub fn set(
        &mut self,
        key: impl Into<String>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<(), serde_json::Error> {
        self.insert(key, to_raw_value(value)?);
        Ok(())
    }

    /// Takes the member under `key` out of the object.
    pub fn remove(&mut self, key: &str) -> Option<Box<RawValue>> {
        let index = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(index).1)
    }

    /// Keeps only the members that `keep` says to keep.
    pub fn retain(&mut self, mut keep: impl FnMut(&str, &RawValue) -> bool) {
        self.0.retain(|(key, value)| keep(key, value));
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), &**value))
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The object as parsed values. A value nested deeper than `serde_json` parses is `null` here.
    #[must_use]
    pub fn to_map(&self) -> Map<String, Value> {
        self.iter()
            .map(|(key, value)| (key.to_owned(), serde_json::from_str(value.get()).unwrap_or_default()))
            .collect()
    }
}

impl From<Map<String, Value>> for JsonObject {
    fn from(map: Map<String, Value>) -> Self {
        let to_raw =
            |value: &Value| to_raw_value(value).expect("a Value has string keys and writes to memory");
        Self(map.into_iter().map(|(key, value)| (key, to_raw(&value))).collect())
    }
}

/// Builds the object from members in order; a key given twice counts once, with the later value.
impl FromIterator<(String, Box<RawValue>)> for JsonObject {
    fn from_iter<I: IntoIterator<Item = (String, Box<RawValue>)>>(members: I) -> Self {
        let mut object: Vec<(String, Box<RawValue>)> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for (key, value) in members {
            if let Some(place) = places.get(&key) {
                object[*place].1 = value;
            } else {
                places.insert(key.clone(), object.len());
                object.push((key, value));
            }
        }
        Self(object)
    }
}

impl IntoIterator for JsonObject {
    type Item = (String, Box<RawValue>);
    type IntoIter = std::vec::IntoIter<Self::Item>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl PartialEq for JsonObject {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len()
            && self
                .iter()
                .zip(other.iter())
                .all(|(left, right)| left.0 == right.0 && left.1.get() == right.1.get())
    }
}

impl Eq for JsonObject {}

impl fmt::Debug for JsonObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(key, value)| (key, value.get()))).finish()
    }
}

impl Serialize for JsonObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter().map(|(key, value)| (key, OneLine(value))))
    }
}

/// JSON text as it came, written without line breaks, because each frame of an event stream is one line.
///
/// Inside strings JSON escapes them, so those that are there stand between tokens and mean nothing.
pub(crate) struct OneLine<'a>(pub(crate) &'a RawValue);

impl Serialize for OneLine<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = self.0.get();
        if !text.contains(['\n', '\r']) {
            return self.0.serialize(serializer);
        }
        let line =
            RawValue::from_string(text.replace(['\n', '\r'], "")).map_err(serde::ser::Error::custom)?;
        line.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for JsonObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;

        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Vec<(String, Box<RawValue>)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(ObjectVisitor).map(|members| members.into_iter().collect())
    }
}

impl JsonSchema for JsonObject {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "JsonObject".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": true })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_keep_their_text_and_keys_their_order() {
        let text = r#"{"z":1.10,"a":{"y":1e2, "b":[ ]},"n":123456789012345678901234567890}"#;
        let object: JsonObject = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&object).unwrap(), text);
    }

    #[test]
    fn a_key_given_twice_counts_once_with_the_later_value() {
        let object: JsonObject = serde_json::from_str(r#"{"a":1,"b":2,"a":3}"#).unwrap();
        assert_eq!(serde_json::to_string(&object).unwrap(), r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn members_can_be_set_and_taken_out() {
        let mut object = JsonObject::new();
        object.set("a", &1).unwrap();
        object.set("b", "two").unwrap();
        object.set("a", &[true]).unwrap();
        assert_eq!(object.get("a").unwrap().get(), "[true]");
        assert_eq!(object.remove("a").unwrap().get(), "[true]");
        assert!(object.remove("a").is_none());
        assert_eq!(object.len(), 1);
    }
}
