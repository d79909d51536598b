//! A message in the making.
//!
//! Text is kept escaped, as it came: appending one piece to another then joins even
//! a surrogate pair that was cut in two, and no piece is decoded and encoded again.

use std::collections::HashMap;

use serde_json::Value;

use super::call::Call;
use crate::json::{self, Members};
use crate::patch::{Document, JsonPatchOperation};

/// Members merged key by key, the last write of a key winning.
#[derive(Clone, Debug, Default)]
pub(super) struct Merged {
    members: Vec<(String, String)>,
    places: HashMap<String, usize>,
}

impl Merged {
    /// Takes the members of an object.
    pub(super) fn merge(&mut self, object: &str) {
        for (key, value) in Members::of(object).iter() {
            let place = self.places.entry(json::decode(key).into_owned()).or_insert(self.members.len());
            match self.members.get_mut(*place) {
                Some((_, old)) => value.clone_into(old),
                None => self.members.push((key.to_owned(), value.to_owned())),
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn to_json(&self) -> String {
        object(self.members.iter().map(|(key, value)| (key.as_str(), value.as_str())))
    }
}

/// What a message says so far.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// As it came.
    Raw(String),
    /// The inside of a string.
    Text(String),
    /// An activity's content, under patches.
    Patched(Document),
}

impl Body {
    fn to_json(&self) -> String {
        match self {
            Self::Raw(raw) => raw.clone(),
            Self::Text(text) => format!("\"{text}\""),
            Self::Patched(document) => document.value().to_string(),
        }
    }
}

/// A message in the making: the members that events change, and the rest as it came.
#[derive(Clone, Debug, Default)]
pub(super) struct Draft {
    /// The members that no event changes, as undecoded keys and values.
    pub(super) rest: Vec<(String, String)>,
    pub(super) content: Option<Body>,
    /// Places of its tool calls in the conversation.
    pub(super) calls: Vec<usize>,
    pub(super) activity_type: Option<String>,
    pub(super) subagent_run_id: Option<String>,
    pub(super) encrypted_value: Option<String>,
    pub(super) metadata: Merged,
}

impl Draft {
    /// Appends to its text; content that is no text gives way.
    pub(super) fn append(&mut self, escaped: &str) {
        match &mut self.content {
            Some(Body::Text(text)) => text.push_str(escaped),
            content => {
                let before = match content {
                    Some(Body::Raw(raw)) => json::body(raw).unwrap_or_default(),
                    _ => "",
                };
                *content = Some(Body::Text(format!("{before}{escaped}")));
            }
        }
    }

    /// Applies a patch to its content, an object. One that cannot be applied, or
    /// leaves no object, changes nothing; `false` then.
    pub(super) fn patch(&mut self, patch: &[JsonPatchOperation]) -> bool {
        if !matches!(self.content, Some(Body::Patched(_))) {
            let content = self.content.as_ref().map_or_else(|| "{}".to_owned(), Body::to_json);
            let Ok(value) = serde_json::from_str::<Value>(&content) else { return false };
            self.content = Some(Body::Patched(Document::new(value)));
        }
        let Some(Body::Patched(document)) = &mut self.content else { return false };
        // Only a patch that replaces the whole can leave something else than an object.
        let before = patch.iter().any(JsonPatchOperation::is_of_the_whole).then(|| document.clone());
        if document.apply(patch).is_err() {
            return false;
        }
        match before {
            Some(before) if !document.value().is_object() => {
                *document = before;
                false
            }
            _ => true,
        }
    }

    /// The message as JSON; `calls` are the conversation's.
    pub(super) fn to_json(&self, calls: &[Call]) -> String {
        let mut members: Vec<(&str, String)> = Vec::new();
        members.extend(self.rest.iter().map(|(key, value)| (key.as_str(), value.clone())));
        let activity_type = self.activity_type.clone();
        members.extend(activity_type.map(|value| ("activityType", value)));
        members.extend(self.content.as_ref().map(|content| ("content", content.to_json())));
        if !self.calls.is_empty() {
            let calls: Vec<String> = self.calls.iter().map(|place| calls[*place].to_json()).collect();
            members.push(("toolCalls", format!("[{}]", calls.join(","))));
        }
        members.extend(self.subagent_run_id.clone().map(|value| ("subagentRunId", value)));
        members.extend(self.encrypted_value.clone().map(|value| ("encryptedValue", value)));
        if !self.metadata.is_empty() {
            members.push(("metadata", self.metadata.to_json()));
        }
        object(members.iter().map(|(key, value)| (*key, value.as_str())))
    }
}

/// An object of these undecoded keys and values.
pub(super) fn object<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut out = String::from("{");
    for (index, (key, value)) in members.enumerate() {
        out.push_str(if index == 0 { "\"" } else { ",\"" });
        out.push_str(key);
        out.push_str("\":");
        out.push_str(value);
    }
    out.push('}');
    out
}
