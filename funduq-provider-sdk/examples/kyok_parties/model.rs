//! A model that does what the last message says, in OpenAI's shapes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use funduq_provider_sdk::agui::RawObject;
use funduq_provider_sdk::contract::RawJson;
use funduq_provider_sdk::llm::{Chunks, Completion, CompletionError};
use futures_util::stream::{self, Stream, StreamExt};
use serde_json::{Value, json};
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct Model {
    /// How many endless answers were stopped.
    stopped: Arc<AtomicU64>,
    /// Its process is to end in the middle of an answer.
    pub(crate) deaths: Arc<Notify>,
}

type Said = Result<RawJson, CompletionError>;

impl Model {
    /// `refuse`, `fail`, `die`, `endless` and `stopped` are commands; whatever else is said is said back, word for word. A
    /// request with tools is answered by a call of each, one with a response format by an object that names it.
    pub(crate) fn answer(&self, completion: &Completion) -> Result<Chunks, CompletionError> {
        let request = serde_json::to_value(&completion.body).unwrap_or_default();
        let said = request["messages"]
            .as_array()
            .and_then(|all| all.last()?["content"].as_str())
            .unwrap_or_default();
        match said {
            "refuse" => Err(CompletionError::refused(object(json!({
                "message": "no budget is left", "type": "permission_error", "code": "budget_spent", "left": {"tokens": 0},
            })))),
            "fail" => {
                let failure = CompletionError::failure("model_failed", "the model broke down");
                Ok(chunks(words("half ").chain(stream::iter([Err(failure)]))))
            }
            "die" => {
                let deaths = self.deaths.clone();
                let last = stream::once(async move {
                    // What was said before has to arrive, or nobody sees that it broke off.
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    deaths.notify_one();
                    std::future::pending().await
                });
                Ok(chunks(words("half ").chain(last)))
            }
            "endless" => {
                let counted = Counted(self.stopped.clone());
                let ticks = stream::unfold(counted, |counted| async {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                    Some((Ok(delta(json!({"content": "on "}), None)), counted))
                });
                Ok(chunks(ticks))
            }
            "stopped" => Ok(whole(&self.stopped.load(Ordering::Relaxed).to_string(), &request)),
            said => Ok(match (&request["tools"], &request["response_format"]["type"]) {
                (Value::Array(tools), _) => calls(tools),
                (_, Value::String(format)) => {
                    whole(&json!({"format": format, "said": said}).to_string(), &request)
                }
                _ => whole(said, &request),
            }),
        }
    }
}

struct Counted(Arc<AtomicU64>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn chunks(said: impl Stream<Item = Said> + Send + 'static) -> Chunks {
    Chunks::new(said)
}

/// A word a chunk, after one that says who speaks.
fn words(text: &str) -> impl Stream<Item = Said> + use<> {
    let mut said = vec![speaking()];
    said.extend(text.split_inclusive(' ').map(|word| Ok(delta(json!({"content": word}), None))));
    stream::iter(said)
}

fn speaking() -> Said {
    Ok(delta(json!({"role": "assistant", "content": ""}), None))
}

fn whole(text: &str, request: &Value) -> Chunks {
    let mut last = vec![Ok(delta(json!({}), Some("stop")))];
    if request["stream_options"]["include_usage"] == json!(true) || request["stream"] != json!(true) {
        let (prompt, said) = (1, text.split(' ').count());
        let usage =
            json!({"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said});
        last.push(Ok(raw(
            json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "model",
            "choices": [], "usage": usage}),
        )));
    }
    chunks(words(text).chain(stream::iter(last)))
}

/// One call of each tool, its arguments in pieces.
fn calls(tools: &[Value]) -> Chunks {
    let mut said = vec![speaking()];
    for (index, tool) in tools.iter().enumerate() {
        let function = json!({"name": tool["function"]["name"], "arguments": ""});
        let opened =
            json!({"index": index, "id": format!("call-{index}"), "type": "function", "function": function});
        said.push(Ok(delta(json!({"tool_calls": [opened]}), None)));
        for piece in ["{\"city\":", " \"Taipei\"}"] {
            let more = json!({"index": index, "function": {"arguments": piece}});
            said.push(Ok(delta(json!({"tool_calls": [more]}), None)));
        }
    }
    said.push(Ok(delta(json!({}), Some("tool_calls"))));
    chunks(stream::iter(said))
}

fn delta(delta: Value, finish_reason: Option<&str>) -> RawJson {
    raw(json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "model",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]}))
}

fn raw(chunk: Value) -> RawJson {
    RawJson::new(chunk.to_string()).expect("a Value is written as JSON")
}

fn object(value: Value) -> RawObject {
    serde_json::from_value(value).expect("it is an object")
}
