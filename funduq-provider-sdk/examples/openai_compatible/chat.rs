//! From a run to a chat completion request.

use funduq_provider_sdk::agui::message::{AssistantMessage, ToolMessage};
use funduq_provider_sdk::agui::{Message, Tool};
use funduq_provider_sdk::{AgentError, RunContext};
use reqwest::{Client, Response};
use serde::Serialize;
use serde_json::{Value, json};

/// How much of the conversation the model is given.
const MESSAGES: u32 = 200;

/// One model on one server.
pub(crate) struct Model {
    client: Client,
    base: String,
    key: Option<String>,
    name: String,
}

#[derive(Serialize)]
pub(crate) struct Request {
    pub(crate) model: String,
    messages: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Value>,
    stream: bool,
    stream_options: Value,
}

impl Model {
    pub(crate) async fn from_environment(name: Option<&str>) -> Result<Self, Box<dyn std::error::Error>> {
        let read = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let base = read("OPENAI_BASE_URL").ok_or("set OPENAI_BASE_URL, such as https://api.openai.com/v1")?;
        let base = base.trim_end_matches('/').to_owned();
        let mut model =
            Self { client: Client::new(), base, key: read("OPENAI_API_KEY"), name: String::new() };
        model.name = match name {
            Some(name) => name.to_owned(),
            None => model.first_listed().await?,
        };
        Ok(model)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    async fn first_listed(&self) -> Result<String, Box<dyn std::error::Error>> {
        let request = self.client.get(format!("{}/models", self.base));
        let list: Value = self.authorized(request).send().await?.error_for_status()?.json().await?;
        let first =
            list["data"][0]["id"].as_str().ok_or("the server lists no model; say which with --model")?;
        Ok(first.to_owned())
    }

    fn authorized(&self, request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// The whole conversation comes from funduq's record: an A2A caller sends only what is new.
    pub(crate) async fn request(&self, run: &RunContext) -> Result<Request, AgentError> {
        let mut messages = Vec::new();
        for context in run.input().context.iter().flatten() {
            messages.push(
                json!({"role": "system", "content": format!("{}: {}", context.description, context.value)}),
            );
        }
        for message in run.history(MESSAGES).await? {
            messages.extend(spoken(&serde_json::from_str(message.json())?));
        }
        let tools = run.input().tools.iter().flatten().map(offered).collect();
        let stream_options = json!({"include_usage": true});
        Ok(Request { model: self.name.clone(), messages, tools, stream: true, stream_options })
    }

    pub(crate) async fn complete(&self, request: &Request) -> Result<Response, AgentError> {
        let post = self.client.post(format!("{}/chat/completions", self.base)).json(request);
        let response = self.authorized(post).send().await?;
        if response.status().is_success() {
            return Ok(response);
        }
        // What the server says about its own limits and keys is for the log, not for the caller.
        let (status, body) = (response.status(), response.text().await.unwrap_or_default());
        eprintln!("the model's server answered {status}: {body}");
        Err(AgentError::new(format!("the model's server answered {status}")).with_code("model_error"))
    }
}

/// A message as the model is told it; activities and reasoning are not for it.
fn spoken(message: &Message) -> Option<Value> {
    Some(match message {
        Message::Developer(said) => json!({"role": "developer", "content": said.content}),
        Message::System(said) => json!({"role": "system", "content": said.content}),
        Message::User(said) => json!({"role": "user", "content": said.content.text()}),
        Message::Assistant(said) => assistant(said),
        Message::Tool(ToolMessage { content, tool_call_id, .. }) => {
            json!({"role": "tool", "tool_call_id": tool_call_id, "content": content.text()})
        }
        _ => return None,
    })
}

fn assistant(said: &AssistantMessage) -> Value {
    let mut message = json!({"role": "assistant", "content": said.content});
    if let Some(calls) = &said.tool_calls {
        message["tool_calls"] = calls
            .iter()
            .map(|call| {
                let function = json!({"name": call.function.name, "arguments": call.function.arguments});
                json!({"id": call.id, "type": "function", "function": function})
            })
            .collect();
    }
    message
}

fn offered(tool: &Tool) -> Value {
    let parameters = tool.parameters.as_ref().and_then(|schema| schema.to::<Value>().ok());
    let parameters = parameters.unwrap_or_else(|| json!({"type": "object", "properties": {}}));
    let function = json!({"name": tool.name, "description": tool.description, "parameters": parameters});
    json!({"type": "function", "function": function})
}
