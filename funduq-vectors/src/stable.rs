//! JSON written so that equal data is equal bytes: keys sorted, one space of indent, UTF-8, a newline at the end.

use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;

/// The text of the published file for this value.
pub(crate) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write_value(&mut text, value, 0);
    text.push('\n');
    text
}

/// The shortest text of this value, for hashing.
pub(crate) fn compact(value: &Value) -> String {
    sorted(value).to_string()
}

/// The SHA-256 of these bytes.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// The SHA-256 of these bytes in lower-case hex.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    sha256(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A map of this crate's own, so that the order does not hang on a feature that another crate switches on.
fn write_value(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            let members: BTreeMap<_, _> = members.iter().collect();
            text.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                begin_item(text, index, depth);
                write!(text, "{}: ", Value::String(key.clone()))
                    .expect("writing into a String does not fail");
                write_value(text, value, depth + 1);
            }
            end_items(text, '}', depth);
        }
        Value::Array(items) if !items.is_empty() => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                begin_item(text, index, depth);
                write_value(text, item, depth + 1);
            }
            end_items(text, ']', depth);
        }
        leaf => write!(text, "{leaf}").expect("writing into a String does not fail"),
    }
}

fn begin_item(text: &mut String, index: usize, depth: usize) {
    text.push_str(if index == 0 { "\n" } else { ",\n" });
    text.extend(std::iter::repeat_n(' ', depth + 1));
}

fn end_items(text: &mut String, bracket: char, depth: usize) {
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', depth));
    text.push(bracket);
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<_, _> =
                members.iter().map(|(key, value)| (key.clone(), sorted(value))).collect();
            members.into_iter().collect::<serde_json::Map<_, _>>().into()
        }
        Value::Array(items) => items.iter().map(sorted).collect::<Vec<_>>().into(),
        leaf => leaf.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_and_the_text_ends_with_a_newline() {
        let value = json!({ "b": [1, "é", {}], "a": { "d": null, "c": [] } });
        let text = "{\n \"a\": {\n  \"c\": [],\n  \"d\": null\n },\n \"b\": [\n  1,\n  \"é\",\n  {}\n ]\n}\n";
        assert_eq!(pretty(&value), text);
        assert_eq!(compact(&value), r#"{"a":{"c":[],"d":null},"b":[1,"é",{}]}"#);
    }
}
