//! How wire types are described: one declaration gives the typed model, its
//! JSON Schema and the table by which relayed bytes are checked.

mod macros;
mod name;
mod schema;

use serde::de::{Error, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

pub(crate) use macros::{string_enum, wire_object, wire_union};
pub(crate) use name::{Name, Spelling};
pub(crate) use schema::{object_schema, string_schema, union_schema};

/// The largest integer that every JSON reader keeps exactly: 2^53 - 1. AG-UI
/// bounds its timestamps and counts by it.
pub const MAX_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// What a member's value may be.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Any JSON value, null included.
    Any,
    /// Any JSON value but null.
    NotNull,
    /// A string.
    Text,
    /// A string of the JSON Pointer syntax (RFC 6901).
    Pointer,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// `true` or `false`.
    Bool,
    /// A number without a fraction, within these bounds.
    Integer { min: i64, max: i64 },
    /// An object whose keys are data.
    Map,
    /// An object of a declared shape.
    Object(&'static Shape),
    /// An object whose shape hangs on its tag; an unknown tag is carried.
    Union(&'static Union),
    /// An array of so many items or more.
    List { items: &'static Kind, min: usize },
    /// A string, or an array of such items.
    TextOrList(&'static Kind),
}

/// An object's declared members. Members it does not declare are carried.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) fields: &'static [Field],
    /// The required ones, one bit each.
    pub(crate) required: u64,
}

impl Shape {
    pub(crate) const fn new(fields: &'static [Field]) -> Self {
        assert!(fields.len() <= 64, "a bit for each field");
        let mut required = 0;
        let mut at = 0;
        while at < fields.len() {
            required |= (fields[at].required as u64) << at;
            at += 1;
        }
        Self { fields, required }
    }

    /// The place of the member of that name; `likely` is looked at first.
    #[inline(always)]
    pub(crate) fn place(&self, name: &str, likely: usize) -> Option<usize> {
        let spelling = Spelling::of(name);
        match self.fields.get(likely) {
            Some(field) if field.name.is(&spelling) => Some(likely),
            _ => self.fields.iter().position(|field| field.name.is(&spelling)),
        }
    }
}

/// One declared member.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Name,
    pub(crate) kind: Kind,
    pub(crate) required: bool,
}

/// An open union: `tag` is the member that says which of `members` an object is.
#[derive(Debug)]
pub(crate) struct Union {
    pub(crate) tag: Name,
    pub(crate) members: &'static [(Name, &'static Shape)],
}

impl Union {
    /// The place of the member with that tag.
    #[inline(always)]
    pub(crate) fn place(&self, tag: &str) -> Option<usize> {
        let spelling = Spelling::of(tag);
        self.members.iter().position(|(name, _)| name.is(&spelling))
    }
}

/// A type that can stand as a member's value on the wire.
pub(crate) trait Wire: Sized + for<'de> Deserialize<'de> {
    /// What its JSON may be.
    const KIND: Kind;
    /// The same for an optional member, where 1.0 has no null.
    const OPTIONAL: Kind = Self::KIND;

    /// Whether it would be written as null, which an optional member never is.
    fn is_null(&self) -> bool {
        false
    }

    /// Reads it as a member's value.
    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        map.next_value()
    }
}

impl Wire for String {
    const KIND: Kind = Kind::Text;
}

impl Wire for bool {
    const KIND: Kind = Kind::Bool;
}

impl Wire for i64 {
    const KIND: Kind = Kind::Integer { min: -MAX_SAFE_INTEGER, max: MAX_SAFE_INTEGER };

    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        map.next_value().map(|Integer(value)| value)
    }
}

impl Wire for u64 {
    const KIND: Kind = Kind::Integer { min: 0, max: MAX_SAFE_INTEGER };

    fn read<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Self, A::Error> {
        let Integer(value) = map.next_value()?;
        value.try_into().map_err(|_| A::Error::invalid_value(Unexpected::Signed(value), &"a count"))
    }
}

impl<T: Wire> Wire for Vec<T> {
    const KIND: Kind = Kind::List { items: &T::KIND, min: 0 };
}

impl<T: Wire> Wire for Box<T> {
    const KIND: Kind = T::KIND;
}

/// An integer as JSON Schema sees it: `1.0` is one.
struct Integer(i64);

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntegerVisitor).map(Integer)
    }
}

struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = i64;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an integer within ±(2^53 - 1)")
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i64, E> {
        let safe = (-MAX_SAFE_INTEGER..=MAX_SAFE_INTEGER).contains(&value);
        if safe { Ok(value) } else { Err(E::invalid_value(Unexpected::Signed(value), &self)) }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i64, E> {
        match value.try_into() {
            Ok(value) => self.visit_i64(value),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(value), &self)),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<i64, E> {
        match whole(value) {
            Some(value) => Ok(value),
            None => Err(E::invalid_value(Unexpected::Float(value), &self)),
        }
    }
}

/// A float that is an integer within the safe bounds, as that integer.
#[expect(clippy::cast_possible_truncation, reason = "bounded by 2^53 and without a fraction")]
#[expect(clippy::cast_precision_loss, reason = "2^53 - 1 is exact in a double")]
pub(crate) fn whole(value: f64) -> Option<i64> {
    let safe = value.fract() == 0.0 && value.abs() <= MAX_SAFE_INTEGER as f64;
    safe.then_some(value as i64)
}
