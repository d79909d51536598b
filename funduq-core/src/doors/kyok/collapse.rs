//! One answer out of a stream: chat-completion chunks folded into a chat completion, for an agent that asked for no
//! stream. Content, refusals, reasoning, tool calls merged by index, finish reasons, usage, logprobs and several choices
//! are kept; members that this fold does not know keep their latest value.

use funduq_contract::RawJson;
use serde_json::{Map, Value};

/// The most choices and the most tool calls of one choice that are folded.
const MAX_INDEX: u64 = 128;

/// Why a chunk cannot be folded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CollapseError {
    /// The chunk is not a JSON object.
    #[error("the provider sent a chunk that is not a JSON object")]
    NotAnObject,
    /// An index is out of bounds.
    #[error("the provider sent the index {0}; at most {MAX_INDEX} are folded")]
    Index(u64),
}

/// A chat completion in the making.
#[derive(Debug, Default)]
pub struct Collapse {
    top: Map<String, Value>,
    choices: Vec<Map<String, Value>>,
}

impl Collapse {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Folds one chunk.
    ///
    /// # Errors
    /// [`CollapseError`]; what was folded before stays.
    pub fn push(&mut self, chunk: &RawJson) -> Result<(), CollapseError> {
        let Ok(Value::Object(chunk)) = serde_json::from_str(chunk.get()) else {
            return Err(CollapseError::NotAnObject);
        };
        for (key, value) in chunk {
            match (key.as_str(), value) {
                ("choices", Value::Array(choices)) => {
                    for choice in choices {
                        self.choice(choice)?;
                    }
                }
                // A later chunk without usage does not take back what an earlier one told.
                (_, Value::Null) => {}
                (_, value) => drop(self.top.insert(key, value)),
            }
        }
        Ok(())
    }

    fn choice(&mut self, choice: Value) -> Result<(), CollapseError> {
        let Value::Object(choice) = choice else { return Err(CollapseError::NotAnObject) };
        let index = index_of(&choice)?;
        let at = slot(&mut self.choices, index);
        for (key, value) in choice {
            match (key.as_str(), value) {
                ("index", _) | (_, Value::Null) => {}
                ("delta", Value::Object(delta)) => {
                    let message = at.entry("message").or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(message) = message {
                        merge_delta(message, delta)?;
                    }
                }
                ("logprobs", Value::Object(logprobs)) => {
                    let known = at.entry("logprobs").or_insert_with(|| Value::Object(Map::new()));
                    if let Value::Object(known) = known {
                        append_lists(known, logprobs);
                    }
                }
                (_, value) => drop(at.insert(key, value)),
            }
        }
        Ok(())
    }

    /// The chat completion.
    pub fn finish(self) -> Value {
        let mut top = self.top;
        top.insert("object".into(), "chat.completion".into());
        let choices = self.choices.into_iter().enumerate().map(|(index, mut choice)| {
            choice.insert("index".into(), index.into());
            choice.entry("finish_reason").or_insert(Value::Null);
            choice.entry("logprobs").or_insert(Value::Null);
            let message = choice.entry("message").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(message) = message {
                message.entry("role").or_insert_with(|| "assistant".into());
                message.entry("content").or_insert(Value::Null);
            }
            Value::Object(choice)
        });
        top.insert("choices".into(), choices.collect());
        Value::Object(top)
    }
}

fn index_of(object: &Map<String, Value>) -> Result<u64, CollapseError> {
    let index = object.get("index").and_then(Value::as_u64).unwrap_or(0);
    if index < MAX_INDEX { Ok(index) } else { Err(CollapseError::Index(index)) }
}

fn slot(list: &mut Vec<Map<String, Value>>, index: u64) -> &mut Map<String, Value> {
    // The index is below MAX_INDEX.
    let index = index as usize;
    while list.len() <= index {
        list.push(Map::new());
    }
    &mut list[index]
}

/// Texts grow, tool calls merge by index, anything else is replaced.
fn merge_delta(message: &mut Map<String, Value>, delta: Map<String, Value>) -> Result<(), CollapseError> {
    for (key, value) in delta {
        match (key.as_str(), value) {
            (_, Value::Null) => {}
            ("role", value) => drop(message.insert(key, value)),
            ("tool_calls", Value::Array(calls)) => {
                let known = message.entry("tool_calls").or_insert_with(|| Value::Array(Vec::new()));
                let Value::Array(known) = known else { continue };
                for call in calls {
                    let Value::Object(call) = call else { return Err(CollapseError::NotAnObject) };
                    merge_call(known, call)?;
                }
            }
            (_, Value::String(more)) => match message.get_mut(&key) {
                Some(Value::String(text)) => text.push_str(&more),
                _ => drop(message.insert(key, Value::String(more))),
            },
            (_, value) => drop(message.insert(key, value)),
        }
    }
    Ok(())
}

fn merge_call(known: &mut Vec<Value>, call: Map<String, Value>) -> Result<(), CollapseError> {
    let index = index_of(&call)? as usize;
    while known.len() <= index {
        known.push(Value::Object(Map::new()));
    }
    let Value::Object(at) = &mut known[index] else { return Ok(()) };
    for (key, value) in call {
        match (key.as_str(), value) {
            ("index", _) | (_, Value::Null) => {}
            ("function" | "custom", Value::Object(part)) => {
                let function = at.entry(key).or_insert_with(|| Value::Object(Map::new()));
                if let Value::Object(function) = function {
                    for (key, value) in part {
                        match (function.get_mut(&key), value) {
                            (Some(Value::String(text)), Value::String(more)) if key != "name" => {
                                text.push_str(&more);
                            }
                            (_, value) => drop(function.insert(key, value)),
                        }
                    }
                }
            }
            (_, value) => drop(at.insert(key, value)),
        }
    }
    Ok(())
}

fn append_lists(known: &mut Map<String, Value>, more: Map<String, Value>) {
    for (key, value) in more {
        match (known.get_mut(&key), value) {
            (Some(Value::Array(list)), Value::Array(more)) => list.extend(more),
            (_, Value::Null) => {}
            (_, value) => drop(known.insert(key, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn collapsed(chunks: &[Value]) -> Value {
        let mut collapse = Collapse::new();
        for chunk in chunks {
            collapse.push(&serde_json::from_str(&chunk.to_string()).unwrap()).unwrap();
        }
        collapse.finish()
    }

    #[test]
    fn content_tool_calls_refusals_and_usage_are_kept() {
        let whole = collapsed(&[
            json!({"id": "c", "object": "chat.completion.chunk", "model": "m", "created": 1,
                "choices": [{"index": 0, "delta": {"role": "assistant", "content": "Hel"}, "finish_reason": null}]}),
            json!({"choices": [{"index": 0, "delta": {"content": "lo"},
                "logprobs": {"content": [{"token": "a"}]}}]}),
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [
                {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": "{\"a\""}}]},
                "logprobs": {"content": [{"token": "b"}]}}]}),
            json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": ":1}"}}]}}]}),
            json!({"choices": [{"index": 1, "delta": {"refusal": "I can"}}]}),
            json!({"choices": [{"index": 1, "delta": {"refusal": "not"}, "finish_reason": "stop"},
                {"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
            json!({"choices": [], "usage": {"total_tokens": 9}}),
        ]);
        assert_eq!(
            whole,
            json!({
                "id": "c", "object": "chat.completion", "model": "m", "created": 1, "usage": {"total_tokens": 9},
                "choices": [
                    {"index": 0, "finish_reason": "tool_calls",
                     "logprobs": {"content": [{"token": "a"}, {"token": "b"}]},
                     "message": {"role": "assistant", "content": "Hello", "tool_calls": [
                        {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{\"a\":1}"}}]}},
                    {"index": 1, "finish_reason": "stop", "logprobs": null,
                     "message": {"role": "assistant", "content": null, "refusal": "I cannot"}},
                ],
            })
        );
    }

    #[test]
    fn a_chunk_that_is_no_object_and_an_index_out_of_bounds_are_refused() {
        let push = |chunk: Value| Collapse::new().push(&serde_json::from_str(&chunk.to_string()).unwrap());
        assert_eq!(push(json!("text")), Err(CollapseError::NotAnObject));
        assert_eq!(
            push(json!({"choices": [{"index": 4_000_000_000u64}]})),
            Err(CollapseError::Index(4_000_000_000))
        );
    }
}
