//! JSON Schemas of the wire types, built from the same tables that check relayed bytes.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use super::{Kind, Shape, Union};

/// A member's documentation, its wire name and its type's schema.
type Member<'a> = (&'a [&'a str], &'a str, fn(&mut SchemaGenerator) -> Schema);

/// The schema of an object type: its documentation, its table, and the members that
/// have no fixed value. Members it does not declare stay allowed: receivers carry them.
pub(crate) fn object_schema(
    generator: &mut SchemaGenerator,
    doc: &[&str],
    shape: &Shape,
    members: &[Member<'_>],
) -> Schema {
    let mut properties = Map::new();
    for field in shape.fields {
        let member = members.iter().find(|(_, name, _)| *name == field.name.as_str());
        let property = match member {
            Some((doc, _, schema)) => member_schema(generator, &field.kind, doc, *schema),
            None => value_schema(&field.kind).unwrap_or_default(),
        };
        properties.insert(field.name.as_str().into(), property);
    }
    let required: Vec<Value> =
        shape.fields.iter().filter(|field| field.required).map(|field| field.name.as_str().into()).collect();
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    describe(&mut schema, doc);
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), required.into());
    }
    schema.into()
}

fn member_schema(
    generator: &mut SchemaGenerator,
    kind: &Kind,
    doc: &[&str],
    type_schema: fn(&mut SchemaGenerator) -> Schema,
) -> Value {
    let mut schema = value_schema(kind).unwrap_or_else(|| type_schema(generator).to_value());
    if let Value::Object(schema) = &mut schema {
        if let Kind::List { min: min @ 1.., .. } = kind {
            schema.insert("minItems".into(), (*min).into());
        }
        describe(schema, doc);
    }
    schema
}

/// What a kind says that the member's Rust type does not.
fn value_schema(kind: &Kind) -> Option<Value> {
    match kind {
        Kind::NotNull => Some(json!({ "not": { "type": "null" } })),
        Kind::Any => Some(json!({})),
        Kind::Pointer => Some(json!({ "type": "string", "pattern": "^(/([^/~]|~[01])*)*$" })),
        Kind::OneOf([value]) => Some(json!({ "const": value })),
        Kind::Integer { min, max } => Some(json!({ "type": "integer", "minimum": min, "maximum": max })),
        Kind::Text
        | Kind::OneOf(_)
        | Kind::Bool
        | Kind::Map
        | Kind::Object(_)
        | Kind::Union(_)
        | Kind::List { .. }
        | Kind::TextOrList(_) => None,
    }
}

/// The schema of an open union: one of its members, or an object with another tag.
pub(crate) fn union_schema(doc: &[&str], union: &Union, members: &[Schema]) -> Schema {
    let tag = union.tag.as_str();
    let tags: Vec<&str> = union.members.iter().map(|(tag, _)| tag.as_str()).collect();
    let unknown = json!({
        "type": "object",
        "description": "A member of a later version, carried as it came.",
        "not": { "properties": { tag: { "enum": tags } }, "required": [tag] },
    });
    let mut any_of: Vec<Value> = members.iter().map(|member| member.clone().to_value()).collect();
    any_of.push(unknown);
    let mut schema = Map::new();
    describe(&mut schema, doc);
    schema.insert("anyOf".into(), any_of.into());
    schema.into()
}

/// The schema of a set of strings.
pub(crate) fn string_schema(doc: &[&str], names: &[&str]) -> Schema {
    let mut schema = Map::new();
    schema.insert("type".into(), "string".into());
    schema.insert("enum".into(), names.into());
    describe(&mut schema, doc);
    schema.into()
}

/// Puts documentation lines in as the description, joined as rustdoc reads them.
fn describe(schema: &mut Map<String, Value>, doc: &[&str]) {
    let lines: Vec<&str> = doc.iter().map(|line| line.trim()).collect();
    let paragraphs = lines.split(|line| line.is_empty()).map(|lines| lines.join(" "));
    let text: Vec<String> = paragraphs.filter(|text| !text.is_empty()).collect();
    schema.insert("description".into(), text.join("\n\n").into());
}
