//! The model's own server, and the only place where its key goes.

use std::error::Error;

use funduq_provider_sdk::contract::RawJson;
use funduq_provider_sdk::llm::{Chunks, Completion, CompletionError};
use reqwest::Client;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) struct Upstream {
    client: Client,
    url: String,
    key: Option<String>,
    model: Option<String>,
}

/// What goes to the server.
pub(crate) struct Request {
    body: Map<String, Value>,
    /// Whether the agent asked for the count of tokens.
    pub(crate) wants_usage: bool,
}

impl Upstream {
    pub(crate) fn from_environment(model: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let read = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let base = read("OPENAI_BASE_URL").ok_or("set OPENAI_BASE_URL, such as https://api.openai.com/v1")?;
        Ok(Self {
            client: Client::new(),
            url: format!("{}/chat/completions", base.trim_end_matches('/')),
            key: read("OPENAI_API_KEY"),
            model: model.map(str::to_owned),
        })
    }

    /// The agent's own request, always streamed, always counted, and for the model that is lent.
    pub(crate) fn request(&self, completion: &Completion) -> Result<Request, CompletionError> {
        let Ok(Value::Object(mut body)) = serde_json::to_value(&completion.body) else {
            return Err(CompletionError::failure("invalid_request", "the request cannot be read"));
        };
        let options = body.entry("stream_options").or_insert_with(|| json!({}));
        let wants_usage = options["include_usage"] == json!(true);
        *options = json!({"include_usage": true});
        body.insert("stream".to_owned(), true.into());
        if let Some(model) = &self.model {
            body.insert("model".to_owned(), model.as_str().into());
        }
        Ok(Request { body, wants_usage })
    }

    pub(crate) async fn complete(&self, request: &Request) -> Result<Chunks, CompletionError> {
        let mut post = self.client.post(&self.url).json(&request.body);
        if let Some(key) = &self.key {
            post = post.bearer_auth(key);
        }
        let response = post.send().await.map_err(|error| {
            eprintln!("the model's server: {error}");
            CompletionError::failure("upstream_unreachable", "the model's server cannot be reached")
        })?;
        let status = response.status().as_u16();
        if response.status().is_success() {
            return Ok(Chunks::from_sse(response.bytes_stream()));
        }
        let body = response.text().await.unwrap_or_default();
        eprintln!("the model's server answered {status}: {body}");
        // What it says about keys and accounts is for the log here; what it says about the request is for the agent.
        let about_the_request = matches!(status, 400 | 404 | 413 | 422 | 429);
        match serde_json::from_str::<Failure>(&body) {
            Ok(Failure { error }) if about_the_request => Err(CompletionError::failed(error)),
            _ => Err(CompletionError::failure("upstream_error", "the model's server did not answer")),
        }
    }
}

#[derive(Deserialize)]
struct Failure {
    error: Map<String, Value>,
}

#[derive(Deserialize)]
struct Counted {
    #[serde(default)]
    choices: Vec<Value>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    #[serde(default)]
    total_tokens: u64,
}

/// The tokens that a chunk tells.
pub(crate) fn tokens(chunk: &RawJson) -> u64 {
    let counted = serde_json::from_str::<Counted>(chunk.get()).ok();
    counted.and_then(|counted| counted.usage).map_or(0, |usage| usage.total_tokens)
}

/// Whether a chunk tells that alone.
pub(crate) fn is_usage_alone(chunk: &RawJson) -> bool {
    serde_json::from_str::<Counted>(chunk.get())
        .is_ok_and(|counted| counted.choices.is_empty() && counted.usage.is_some())
}
