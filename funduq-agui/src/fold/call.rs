//! A tool call in the making.

use super::draft::{Merged, object};
use crate::json::{self, Members};

/// A tool call, and whether this run started it and got its result.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: String,
    /// The name of the tool, as a JSON string.
    pub(super) name: String,
    /// The inside of the arguments' string, still escaped.
    pub(super) arguments: String,
    pub(super) encrypted_value: Option<String>,
    pub(super) metadata: Merged,
    /// Members that no event changes: of the call, and of its function.
    rest: Vec<(String, String)>,
    function_rest: Vec<(String, String)>,
    pub(super) started: bool,
    pub(super) answered: bool,
}

impl Call {
    /// One that begins; `id` and `name` are JSON strings.
    pub(super) fn new(id: &str, name: &str) -> Self {
        Self {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: String::new(),
            encrypted_value: None,
            metadata: Merged::default(),
            rest: Vec::new(),
            function_rest: Vec::new(),
            started: true,
            answered: false,
        }
    }

    /// One that a snapshot has.
    pub(super) fn of(call: &str) -> Self {
        let mut new = Self::new("\"\"", "\"\"");
        new.started = false;
        for (key, value) in Members::of(call).iter() {
            match &*json::decode(key) {
                "id" => value.clone_into(&mut new.id),
                "type" => {}
                "encryptedValue" => new.encrypted_value = Some(value.to_owned()),
                "metadata" => new.metadata.merge(value),
                "function" => new.take_function(value),
                _ => new.rest.push((key.to_owned(), value.to_owned())),
            }
        }
        new
    }

    fn take_function(&mut self, function: &str) {
        for (key, value) in Members::of(function).iter() {
            match &*json::decode(key) {
                "name" => value.clone_into(&mut self.name),
                "arguments" => json::body(value).unwrap_or_default().clone_into(&mut self.arguments),
                _ => self.function_rest.push((key.to_owned(), value.to_owned())),
            }
        }
    }

    /// What its id says.
    pub(super) fn id_text(&self) -> String {
        json::decode(json::body(&self.id).unwrap_or_default()).into_owned()
    }

    pub(super) fn to_json(&self) -> String {
        let arguments = format!("\"{}\"", self.arguments);
        let function = [("name", self.name.as_str()), ("arguments", &arguments)];
        let function = object(function.into_iter().chain(pairs(&self.function_rest)));
        let metadata = self.metadata.to_json();
        let mut members =
            vec![("id", self.id.as_str()), ("type", "\"function\""), ("function", function.as_str())];
        members.extend(pairs(&self.rest));
        members.extend(self.encrypted_value.as_deref().map(|value| ("encryptedValue", value)));
        if !self.metadata.is_empty() {
            members.push(("metadata", &metadata));
        }
        object(members.into_iter())
    }
}

fn pairs(members: &[(String, String)]) -> impl Iterator<Item = (&str, &str)> {
    members.iter().map(|(key, value)| (key.as_str(), value.as_str()))
}
