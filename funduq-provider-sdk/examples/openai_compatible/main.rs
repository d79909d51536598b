//! Puts a model online: `openai_compatible [--model NAME] [--name AGENT] [--url URL] [--key FILE] [--funduq-key KEY]`.
//!
//! Two environment variables say which model: `OPENAI_BASE_URL` (any server that speaks OpenAI's chat completions, such as
//! `https://api.openai.com/v1` or `http://127.0.0.1:11434/v1`) and `OPENAI_API_KEY` (left out where none is needed).
//! Without `--model`, the first one that the server lists.

mod chat;
#[path = "../common/mod.rs"]
mod common;
mod stream;

use std::sync::Arc;

use funduq_provider_sdk::agui::TokenUsage;
use funduq_provider_sdk::{AgentError, AgentResult, RunContext, ServedAgent, agent_fn};
use rustls::crypto::ring;

use chat::Model;
use stream::{Piece, Pieces};

async fn answer(model: Arc<Model>, run: RunContext) -> AgentResult {
    let request = model.request(&run).await?;
    let response = run.or_cancelled(model.complete(&request)).await??;
    let mut pieces = Pieces::new(response);
    let events = run.events();
    let mut text = None;
    let mut calls = Vec::new();
    while let Some(piece) = run.or_cancelled(pieces.next()).await?? {
        match piece {
            Piece::Text(delta) => {
                if text.is_none() {
                    text = Some(events.open_text().await?);
                }
                if let Some(text) = &text {
                    text.push(&delta).await?;
                }
            }
            // The caller's tools: it runs them and comes back with their results.
            Piece::Call { index, id: Some(id), name } => {
                text = None;
                calls.push((index, events.open_tool_call_as(id, &name, None).await?));
            }
            Piece::Call { id: None, .. } => {}
            Piece::Arguments { index, delta } => {
                if let Some((_, call)) = calls.iter().find(|(known, _)| *known == index) {
                    call.push(&delta).await?;
                }
            }
            Piece::Usage { input, output } => {
                events.usage(
                    TokenUsage::new().model(&*request.model).input_tokens(input).output_tokens(output),
                )?;
            }
            Piece::Failed(message) => return Err(AgentError::new(message).with_code("model_error")),
        }
    }
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let serve = async {
        ring::default_provider().install_default().map_err(|_| "a TLS provider is installed already")?;
        let flags = common::Flags::read(&["--model", "--name"])?;
        let model = Arc::new(Model::from_environment(flags.get("--model")).await?);
        let description = format!("The model {}", model.name());
        let agent = agent_fn(move |run| answer(model.clone(), run));
        let agent = ServedAgent::new(flags.get("--name").unwrap_or("assistant"), agent)?;
        flags.serve(agent.description(description)).await
    };
    common::report(serve.await);
}
