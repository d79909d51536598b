//! Taking a JSON object apart member by member, collecting each fault with its path.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use super::FieldViolation;
use super::scalars::{FromRaw, describe};

/// How many faults of one document are reported; the rest add nothing for whoever has to mend it.
const MAX_VIOLATIONS: usize = 32;

/// A message that is read member by member.
pub(crate) trait ReadMessage: Sized {
    /// Reads the message from the members of its object.
    ///
    /// Faults go to the reader; what is returned then only completes the walk and is thrown away.
    fn read(fields: &mut Fields<'_, '_>) -> Self;
}

impl<T: ReadMessage> FromRaw for T {
    fn from_raw_value(raw: &RawValue, problems: &mut Problems) -> Option<Self> {
        let members = match serde_json::from_str::<Members<'_>>(raw.get()) {
            Ok(members) => members.0,
            Err(_) if raw.get().starts_with('{') => {
                problems.report("has a member name that is not valid text");
                return None;
            }
            Err(_) => {
                problems.report(format!("expected an object, found {}", describe(raw)));
                return None;
            }
        };
        Some(T::read(&mut Fields { members, problems }))
    }
}

/// The faults found so far, and the path of the member being read.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    path: String,
    violations: Vec<FieldViolation>,
}

impl Problems {
    pub(crate) fn into_violations(self) -> Vec<FieldViolation> {
        self.violations
    }

    /// Records a fault of the value being read.
    pub(crate) fn report(&mut self, description: impl Into<String>) {
        if self.violations.len() < MAX_VIOLATIONS {
            self.violations
                .push(FieldViolation { field: self.path.clone(), description: description.into() });
        }
    }

    /// Runs `read` with the path extended by a member name.
    pub(crate) fn in_member<R>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let result = read(self);
        self.path.truncate(length);
        result
    }

    /// Runs `read` with the path extended by an index, or a map key, in brackets.
    pub(crate) fn at_index<R>(&mut self, index: impl fmt::Display, read: impl FnOnce(&mut Self) -> R) -> R {
        let length = self.path.len();
        self.path.push_str(&format!("[{index}]"));
        let result = read(self);
        self.path.truncate(length);
        result
    }
}

/// The members of one JSON object, in the order they came.
pub(crate) struct Fields<'a, 'p> {
    members: Vec<(Cow<'a, str>, &'a RawValue)>,
    problems: &'p mut Problems,
}

impl<'a> Fields<'a, '_> {
    /// The member of that name, `None` when it is absent, `null`, or unfit (which is then reported).
    pub(crate) fn optional<T: FromRaw>(&mut self, name: &'static str) -> Option<T> {
        let raw = self.find(name)?;
        self.problems.in_member(name, |problems| T::from_raw_value(raw, problems))
    }

    /// A string with implicit presence: `""` is the same as absent.
    pub(crate) fn text(&mut self, name: &'static str) -> Option<String> {
        self.optional(name).filter(|text: &String| !text.is_empty())
    }

    /// A value with implicit presence: absent is the type's default.
    pub(crate) fn or_default<T: FromRaw + Default>(&mut self, name: &'static str) -> T {
        self.optional(name).unwrap_or_default()
    }

    /// A member that must be there.
    pub(crate) fn required<T: FromRaw + Default>(&mut self, name: &'static str) -> T {
        self.required_or(name, T::default)
    }

    /// A member that must be there, of a type without a default; `filler` completes the walk when it is not.
    pub(crate) fn required_or<T: FromRaw>(&mut self, name: &'static str, filler: impl FnOnce() -> T) -> T {
        if self.find(name).is_none() {
            self.violation(name, "is required");
            return filler();
        }
        self.optional(name).unwrap_or_else(filler)
    }

    /// A string that must be there and not be empty.
    pub(crate) fn required_text(&mut self, name: &'static str) -> String {
        match self.find(name) {
            Some(raw) if raw.get() == "\"\"" => {
                self.violation(name, "is required and must not be empty");
                String::new()
            }
            _ => self.required(name),
        }
    }

    /// A list that must have at least one element.
    pub(crate) fn required_list<T: FromRaw>(&mut self, name: &'static str) -> Vec<T> {
        match self.find(name) {
            None => {
                self.violation(name, "is required and must have at least one element");
                Vec::new()
            }
            Some(raw) => {
                let list: Option<Vec<T>> = self.optional(name);
                let list = list.unwrap_or_default();
                if list.is_empty() && is_empty_array(raw) {
                    self.violation(name, "must have at least one element");
                }
                list
            }
        }
    }

    /// Which one of the members of a oneof is set; none, or more than one, is reported at the object itself.
    ///
    /// `null` counts as absent.
    pub(crate) fn one_of(&mut self, names: &[&'static str]) -> Option<&'static str> {
        let mut set = Vec::with_capacity(1);
        for name in names {
            if self.find(name).is_some() {
                set.push(*name);
            }
        }
        match set[..] {
            [name] => Some(name),
            [] => {
                self.problems.report(format!("must have exactly one of {}", names.join(", ")));
                None
            }
            _ => {
                let given = set.join(" and ");
                self.problems.report(format!("must have exactly one of {}, has {given}", names.join(", ")));
                None
            }
        }
    }

    /// Whether the member is there and is not `null`.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.members.iter().any(|(key, raw)| names_match(key, name) && raw.get() != "null")
    }

    /// Whether the member is there and is a literal `null`.
    pub(crate) fn is_null(&self, name: &str) -> bool {
        self.members.iter().any(|(key, raw)| names_match(key, name) && raw.get() == "null")
    }

    /// Records a fault of the member of that name.
    pub(crate) fn violation(&mut self, name: &str, description: impl Into<String>) {
        self.problems.in_member(name, |problems| problems.report(description));
    }

    /// The member under its camelCase or its snake_case name; both at once, or one twice, is reported.
    fn find(&mut self, name: &'static str) -> Option<&'a RawValue> {
        let mut found: Option<&'a RawValue> = None;
        let mut twice = false;
        for (key, raw) in &self.members {
            if names_match(key, name) && raw.get() != "null" {
                twice = found.is_some();
                found = Some(raw);
            }
        }
        if twice {
            self.violation(name, "is given twice");
            // One report is enough: the members named so are taken out for the rest of the walk.
            self.members.retain(|(key, _)| !names_match(key, name));
        }
        found
    }
}

/// Whether a key that came is `name`, in camelCase as given or in the snake_case of the proto file.
pub(crate) fn names_match(key: &str, name: &str) -> bool {
    if key == name {
        return true;
    }
    let mut rest = key.chars();
    for wanted in name.chars() {
        if wanted.is_ascii_uppercase() {
            if rest.next() != Some('_') || rest.next() != Some(wanted.to_ascii_lowercase()) {
                return false;
            }
        } else if rest.next() != Some(wanted) {
            return false;
        }
    }
    rest.next().is_none()
}

fn is_empty_array(raw: &RawValue) -> bool {
    let text = raw.get();
    text.starts_with('[') && text[1..].trim_start().starts_with(']')
}

/// A JSON object with its values left as text.
struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'de> Visitor<'de> for MembersVisitor {
            type Value = Vec<(Cow<'de, str>, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry()? {
                    members.push((key, value));
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(MembersVisitor).map(Members)
    }
}

/// A member name, borrowed from the document unless it has escapes.
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_matches_in_camel_and_in_snake_case_only() {
        assert!(names_match("contextId", "contextId"));
        assert!(names_match("context_id", "contextId"));
        assert!(names_match("oauth2_metadata_url", "oauth2MetadataUrl"));
        assert!(!names_match("contextid", "contextId"));
        assert!(!names_match("ContextId", "contextId"));
        assert!(!names_match("context_id_", "contextId"));
        assert!(!names_match("context", "contextId"));
        assert!(!names_match("context_Id", "contextId"));
    }

    #[test]
    fn an_empty_array_is_seen_through_white_space() {
        let raw: Box<RawValue> = serde_json::from_str("[ \n ]").unwrap();
        assert!(is_empty_array(&raw));
        let raw: Box<RawValue> = serde_json::from_str("[ 1 ]").unwrap();
        assert!(!is_empty_array(&raw));
    }

    #[test]
    fn paths_name_members_and_indexes() {
        let mut problems = Problems::default();
        problems.in_member("message", |problems| {
            problems
                .in_member("parts", |problems| problems.at_index(2, |problems| problems.report("is odd")));
        });
        problems.report("the root");
        let violations = problems.into_violations();
        assert_eq!(violations[0].to_string(), "message.parts[2]: is odd");
        assert_eq!(violations[1].to_string(), "the root");
    }
}
