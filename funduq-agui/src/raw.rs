//! JSON kept as it came: [`Json`], any value, and [`RawObject`], an object's members.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::wire::{Kind, Wire};

/// Any JSON value, kept as the text that came, so that numbers of any size and
/// half surrogate pairs pass through. Equality is equality of that text.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// The value as JSON text, without white space around it.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The value as serde_json holds raw JSON.
    #[must_use]
    pub fn raw(&self) -> &RawValue {
        &self.0
    }

    /// Whether it is null, which no optional member may be: one that is set to null is omitted.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.get() == "null"
    }

    /// Decodes the value.
    ///
    /// # Errors
    /// When the value is not what `T` reads.
    pub fn to<'a, T: Deserialize<'a>>(&'a self) -> serde_json::Result<T> {
        serde_json::from_str(self.get())
    }

    /// Encodes a value.
    ///
    /// # Errors
    /// When `value` has no JSON form, such as a map whose keys are no strings.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<Self> {
        to_raw_value(value).map(Self)
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<Json> for Box<RawValue> {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Self(to_raw_value(&value).expect("a serde_json::Value always has a JSON form"))
    }
}

impl Wire for Json {
    const KIND: Kind = Kind::Any;
    const OPTIONAL: Kind = Kind::NotNull;

    fn is_null(&self) -> bool {
        self.is_null()
    }
}

impl JsonSchema for Json {
    fn schema_name() -> Cow<'static, str> {
        "Json".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!(true)
    }
}

/// A JSON object whose keys are data: an ordered list of members, each value
/// kept as the text that came.
///
/// A key that came more than once stands once, with its last value: what stock
/// JSON readers make of it. Equality is equality of keys, order and value text.
#[derive(Clone, Default)]
pub struct RawObject(Vec<(String, Box<RawValue>)>);

impl RawObject {
    /// An object without members.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// The value of a member.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&RawValue> {
        self.iter().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// Takes a member out; the others keep their order.
    pub fn remove(&mut self, key: &str) -> Option<Box<RawValue>> {
        let at = self.0.iter().position(|(name, _)| name == key)?;
        Some(self.0.remove(at).1)
    }

    /// Sets a member: in its place when the key is there, else at the end.
    pub fn insert(&mut self, key: impl Into<String>, value: Box<RawValue>) {
        let key = key.into();
        match self.0.iter_mut().find(|(name, _)| *name == key) {
            Some((_, old)) => *old = value,
            None => self.0.push((key, value)),
        }
    }

    /// The members in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &RawValue)> {
        self.0.iter().map(|(key, value)| (key.as_str(), &**value))
    }

    /// Whether there is no member.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many members there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.0.iter().map(|(key, value)| (key, value.get()))).finish()
    }
}

impl PartialEq for RawObject {
    fn eq(&self, other: &Self) -> bool {
        let same = |(a, b): ((&str, &RawValue), (&str, &RawValue))| a.0 == b.0 && a.1.get() == b.1.get();
        self.len() == other.len() && self.iter().zip(other.iter()).all(same)
    }
}

impl<K: Into<String>> FromIterator<(K, Box<RawValue>)> for RawObject {
    fn from_iter<I: IntoIterator<Item = (K, Box<RawValue>)>>(members: I) -> Self {
        let mut places: HashMap<String, usize> = HashMap::new();
        let mut object = Self::new();
        for (key, value) in members {
            let key = key.into();
            // Looked up rather than searched: a stranger chooses how many keys there are.
            match places.entry(key.clone()) {
                Entry::Occupied(place) => object.0[*place.get()].1 = value,
                Entry::Vacant(place) => {
                    place.insert(object.0.len());
                    object.0.push((key, value));
                }
            }
        }
        object
    }
}

impl From<serde_json::Map<String, serde_json::Value>> for RawObject {
    fn from(map: serde_json::Map<String, serde_json::Value>) -> Self {
        map.into_iter().map(|(key, value)| (key, Json::from(value).into())).collect()
    }
}

impl Serialize for RawObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for RawObject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = RawObject;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawObject, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, _>()? {
                    members.push(member);
                }
                Ok(members.into_iter().collect())
            }
        }

        deserializer.deserialize_map(MembersVisitor)
    }
}

impl Wire for RawObject {
    const KIND: Kind = Kind::Map;
}

impl JsonSchema for RawObject {
    fn schema_name() -> Cow<'static, str> {
        "RawObject".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: &str) -> RawObject {
        serde_json::from_str(json).unwrap()
    }

    fn raw(json: &str) -> Box<RawValue> {
        RawValue::from_string(json.to_owned()).unwrap()
    }

    #[test]
    fn members_keep_their_order_and_their_bytes() {
        let json = r#"{"z":[1, 2],"a":1e400,"m":"\ud83d"}"#;
        let object = object(json);
        assert_eq!(serde_json::to_string(&object).unwrap(), json);
        assert_eq!(object.len(), 3);
        assert_eq!(object.get("a").map(RawValue::get), Some("1e400"));
        assert!(object.get("b").is_none());
        assert_eq!(object.iter().map(|(key, _)| key).collect::<Vec<_>>(), ["z", "a", "m"]);
    }

    #[test]
    fn members_are_set_in_place_and_taken_out() {
        let mut object = object(r#"{"a":1,"b":2}"#);
        object.insert("a", raw("3"));
        object.insert("c", raw("4"));
        assert_eq!(object, self::object(r#"{"a":3,"b":2,"c":4}"#));
        assert_eq!(object.remove("b").unwrap().get(), "2");
        assert!(object.remove("b").is_none());
        assert_eq!(serde_json::to_string(&object).unwrap(), r#"{"a":3,"c":4}"#);
        assert_ne!(object, self::object(r#"{"c":4,"a":3}"#), "order is part of it");
    }

    #[test]
    fn a_key_that_comes_twice_has_its_last_value() {
        assert_eq!(object(r#"{"a":1,"b":2,"\u0061":3}"#), object(r#"{"a":3,"b":2}"#));
        assert!(object("{}").is_empty());
        assert!(serde_json::from_str::<RawObject>("[]").is_err());
    }

    #[test]
    fn any_json_goes_in_and_out_of_values() {
        let json = Json::from(serde_json::json!({ "a": [1, null] }));
        assert_eq!(json.get(), r#"{"a":[1,null]}"#);
        assert_eq!(json.to::<serde_json::Value>().unwrap(), serde_json::json!({ "a": [1, null] }));
        assert_eq!(Json::of(&[1, 2]).unwrap().raw().get(), "[1,2]");
        assert!(Json::from(serde_json::Value::Null).is_null());
        assert_ne!(Json::of(&1.0).unwrap(), Json::of(&1).unwrap(), "equality is of the text");
        let object = RawObject::from(serde_json::Map::from_iter([("k".to_owned(), true.into())]));
        assert_eq!(serde_json::to_value(&object).unwrap(), serde_json::json!({ "k": true }));
    }
}
