//! Lends a model and keeps its key: `openai_proxy [--offer NAMES] [--model NAME] [--allow-agents KEYS] [--allow-heads KEYS]
//! [--budget TOKENS] [--url URL] [--key FILE] [--funduq-key KEY]`; names and keys are lists with commas.
//!
//! Two environment variables say which model: `OPENAI_BASE_URL` (any server that speaks OpenAI's chat completions) and
//! `OPENAI_API_KEY`, which never leaves this process but to that server. Who may spend is `policy.rs`: change it.

#[allow(dead_code, reason = "what serves agents is for the other examples")]
#[path = "../common/mod.rs"]
mod common;
mod policy;
mod upstream;

use std::sync::Arc;

use funduq_provider_sdk::agui::RawObject;
use funduq_provider_sdk::llm::{Chunks, Completion, CompletionError, LlmOfferings};
use funduq_provider_sdk::ws;
use futures_util::StreamExt;
use rustls::crypto::ring;
use serde_json::json;

use policy::Policy;
use upstream::{Upstream, is_usage_alone, tokens};

async fn answer(
    policy: Arc<Policy>,
    upstream: Arc<Upstream>,
    completion: Completion,
) -> Result<Chunks, CompletionError> {
    policy.allow(&completion)?;
    let request = upstream.request(&completion)?;
    let chunks = upstream.complete(&request).await?;
    Ok(Chunks::new(chunks.filter_map(move |chunk| {
        if let Ok(chunk) = &chunk {
            policy.spent(tokens(chunk));
        }
        // The count was asked for by this proxy, and is passed on to who asked for it too.
        let unasked = !request.wants_usage && chunk.as_ref().is_ok_and(is_usage_alone);
        std::future::ready((!unasked).then_some(chunk))
    })))
}

async fn serve() -> Result<(), Box<dyn std::error::Error>> {
    ring::default_provider().install_default().map_err(|_| "a TLS provider is installed already")?;
    let flags = common::Flags::read(&["--offer", "--model", "--allow-agents", "--allow-heads", "--budget"])?;
    let policy = Arc::new(Policy::read(
        flags.get("--allow-agents"),
        flags.get("--allow-heads"),
        flags.get("--budget"),
    )?);
    let upstream = Arc::new(Upstream::from_environment(flags.get("--model"))?);
    let names = flags.get("--offer").unwrap_or("default").split(',');
    let about: RawObject = serde_json::from_value(json!({"model": flags.get("--model")}))?;
    let handler = move |completion| answer(policy.clone(), upstream.clone(), completion);
    let offerings = LlmOfferings::new(names, handler)?.metadata(about);
    let identity = flags.identity()?;
    println!("lending as {}", identity.public_key());
    let mut link = ws::serve_llm(&flags.url, identity, offerings);
    if let Some(key) = &flags.funduq_key {
        link = link.pin(key.parse()?);
    }
    Ok(link.run_until(common::asked_to_stop()?).await?)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    common::report(serve().await);
}
