//! Every shape that crosses a link or stands in one that does: name, schema, and how it is read and written.

use funduq_contract as contract;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;

/// One published shape.
pub struct Shape {
    /// Its name, a key of the file's `schemas`.
    pub name: &'static str,
    add_schema: fn(&mut SchemaGenerator),
    rewrite: fn(&str) -> Result<String, String>,
}

impl Shape {
    /// Reads a text as this shape and writes it again.
    ///
    /// # Errors
    /// Why the text is refused.
    pub fn rewrite(&self, json: &str) -> Result<String, String> {
        (self.rewrite)(json)
    }
}

impl std::fmt::Debug for Shape {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Shape({})", self.name)
    }
}

macro_rules! shape_list {
    ($($name:ident),+ $(,)?) => {
        &[$(Shape {
            name: stringify!($name),
            add_schema: add_schema::<contract::$name>,
            rewrite: rewrite::<contract::$name>,
        }),+]
    };
}

/// Every published shape, sorted by name.
pub fn shapes() -> &'static [Shape] {
    shape_list![
        Ack,
        ActorChain,
        AgentAddress,
        AgentName,
        CallerBag,
        Cancel,
        CancelCompletion,
        CancelProof,
        Chunk,
        Complete,
        CompletionEnd,
        CompletionFailed,
        CompletionId,
        Connect,
        ConnectErr,
        ConnectOk,
        ConnectRefusal,
        DeleteFrame,
        DeliveredCompletion,
        DeliveredRun,
        DownFrame,
        ErrFrame,
        EventFrame,
        Fingerprint,
        FinishFrame,
        FunduqProps,
        HeldRun,
        KyokGrant,
        KyokOptIn,
        LinkClosed,
        LlmDownFrame,
        LlmRegisterFrame,
        LlmRegistration,
        LlmUpFrame,
        MessagesFrame,
        Nonce,
        Offer,
        OkFrame,
        PortErrorCode,
        PublicKey,
        RawJson,
        ReceivedFrame,
        RegisterFrame,
        Registration,
        ResolutionProof,
        RunId,
        Signature,
        ThreadId,
        ThreadMessagesFrame,
        Ticket,
        TicketIssued,
        TicketRequest,
        UpFrame,
        Verdict,
        VerdictFrame,
    ]
}

/// The shape with this name.
pub fn shape(name: &str) -> Option<&'static Shape> {
    shapes().iter().find(|shape| shape.name == name)
}

/// The schemas of all shapes, and of what they refer to, by name; each `$ref` points to `#/schemas/{name}`.
pub(crate) fn schemas() -> BTreeMap<String, Value> {
    let settings =
        SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = "/schemas".into());
    let mut generator = settings.into_generator();
    for shape in shapes() {
        (shape.add_schema)(&mut generator);
    }
    generator.take_definitions(true).into_iter().collect()
}

fn add_schema<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

fn rewrite<T: Serialize + DeserializeOwned>(json: &str) -> Result<String, String> {
    let value: T = serde_json::from_str(json).map_err(|error| error.to_string())?;
    serde_json::to_string(&value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_and_each_shape_has_a_schema_of_its_name() {
        assert!(shapes().is_sorted_by_key(|shape| shape.name));
        let schemas = schemas();
        for shape in shapes() {
            assert!(schemas.contains_key(shape.name), "{}", shape.name);
        }
    }

    #[test]
    fn each_reference_points_to_a_schema_that_is_there() {
        fn check(value: &Value, schemas: &BTreeMap<String, Value>) {
            match value {
                Value::Object(members) => {
                    if let Some(target) = members.get("$ref").and_then(Value::as_str) {
                        let name = target.strip_prefix("#/schemas/").unwrap_or_else(|| panic!("{target}"));
                        assert!(schemas.contains_key(name), "{target}");
                    }
                    members.values().for_each(|member| check(member, schemas));
                }
                Value::Array(items) => items.iter().for_each(|item| check(item, schemas)),
                _ => {}
            }
        }
        let schemas = schemas();
        schemas.values().for_each(|schema| check(schema, &schemas));
    }
}
