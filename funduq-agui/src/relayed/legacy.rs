//! The one leniency towards clients older than 1.0: a null for an optional member is taken as absent.
//!
//! It holds for requests alone, and for members that AG-UI 1.0 declares; under
//! keys that are data a null is data. Nothing funduq writes has such a null.

use std::borrow::Cow;

use crate::json::{self, Members};
use crate::wire::{Field, Kind, Shape};

/// The value without the nulls that stand for absent members. Borrowed, byte for
/// byte, when there are none. The value's syntax has been checked.
pub(super) fn without_nulls<'a>(kind: &'static Kind, value: &'a str) -> Cow<'a, str> {
    // Most values have none, and this is quicker than a walk.
    if value.contains("null") { walk(kind, value) } else { Cow::Borrowed(value) }
}

fn walk<'a>(kind: &'static Kind, value: &'a str) -> Cow<'a, str> {
    match kind {
        Kind::Object(shape) => object(shape, value),
        Kind::Union(union) => {
            let tag = Members::of(value).text(union.tag.as_str());
            match tag.and_then(|tag| union.place(&tag)) {
                Some(member) => object(union.members[member].1, value),
                None => Cow::Borrowed(value),
            }
        }
        Kind::List { items, .. } | Kind::TextOrList(items) => list(items, value),
        _ => Cow::Borrowed(value),
    }
}

fn object<'a>(shape: &'static Shape, value: &'a str) -> Cow<'a, str> {
    let mut changed = false;
    let mut kept = Vec::new();
    for (key, value) in Members::of(value).iter() {
        let field = shape.place(&json::decode(key), 0).map(|place| &shape.fields[place]);
        let value = match field {
            Some(Field { required: false, .. }) if value == "null" => {
                changed = true;
                continue;
            }
            Some(field) => without_nulls(&field.kind, value),
            None => Cow::Borrowed(value),
        };
        changed |= matches!(value, Cow::Owned(_));
        kept.push((key, value));
    }
    if !changed {
        return Cow::Borrowed(value);
    }
    let kept: Vec<String> = kept.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
    Cow::Owned(format!("{{{}}}", kept.join(",")))
}

fn list<'a>(items: &'static Kind, value: &'a str) -> Cow<'a, str> {
    let kept: Vec<Cow<'a, str>> =
        json::items(value).into_iter().map(|item| without_nulls(items, item)).collect();
    if kept.iter().all(|item| matches!(item, Cow::Borrowed(_))) {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("[{}]", kept.join(",")))
}
