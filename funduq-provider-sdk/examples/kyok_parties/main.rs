//! The two parties that a stock OpenAI client meets behind a funduq: an agent that holds its runs open and says which token
//! they were given, and a lender whose model does what it is told. `kyok_parties --url URL --funduq-key KEY`.
//!
//! It prints one line, `parties {…}`, when both are online. The agent's private key is in it, so that a test in any language
//! can sign for the agent; it is made for this process and worth nothing elsewhere.

#[allow(dead_code, reason = "what serves one agent is for the other examples")]
#[path = "../common/mod.rs"]
mod common;
mod model;

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use funduq_provider_sdk::contract::{Identity, PublicKey};
use funduq_provider_sdk::llm::{LlmOfferings, LlmRuntime};
use funduq_provider_sdk::ws::{self, Link};
use funduq_provider_sdk::{AgentError, ProviderIdentity, RunContext, ServedAgent, agent_fn};
use serde_json::json;

use model::Model;

/// Says the run's token and holds the run until it is asked to stop.
async fn hold(run: RunContext) -> Result<(), AgentError> {
    let signer = run.kyok().ok_or_else(|| AgentError::new("this run's caller lends no model"))?;
    run.events().text(signer.bearer()).await?;
    run.cancellation().cancelled().await;
    Ok(())
}

fn lend(
    url: &str,
    identity: ProviderIdentity,
    funduq: PublicKey,
    model: &Arc<Model>,
) -> Result<Link<LlmRuntime>, Box<dyn Error>> {
    let model = model.clone();
    let handler = move |completion| {
        let model = model.clone();
        async move { model.answer(&completion) }
    };
    Ok(ws::serve_llm(url, identity, LlmOfferings::new(["model"], handler)?).pin(funduq).start()?)
}

async fn serve() -> Result<(), Box<dyn Error>> {
    let flags = common::Flags::read(&[])?;
    let funduq: PublicKey = flags.funduq_key.as_deref().ok_or("--funduq-key is needed")?.parse()?;
    let mut seed = [0; 32];
    getrandom::fill(&mut seed)?;
    let agent = ProviderIdentity::from(Identity::from_seed(&seed));
    let spender = ServedAgent::new("spender", agent_fn(hold))?.all_at_once();
    let mut serving = ws::connect(&flags.url, agent.clone()).pin(funduq).agent(spender).start()?;

    let (lender, mortal) = (ProviderIdentity::generate(), ProviderIdentity::generate());
    let (model, dying) = (Arc::new(Model::default()), Arc::new(Model::default()));
    let mut lending = lend(&flags.url, lender.clone(), funduq, &model)?;
    let mut living = lend(&flags.url, mortal.clone(), funduq, &dying)?;
    if !(serving.online().await && lending.online().await && living.online().await) {
        return Err("not every link is open".into());
    }
    let seed: String = seed.iter().map(|byte| format!("{byte:02x}")).collect();
    let parties = json!({"agentKey": agent.public_key(), "agentSeed": seed, "agentName": "spender",
        "lenderKey": lender.public_key(), "mortalKey": mortal.public_key(), "offering": "model"});
    println!("parties {parties}");
    std::io::stdout().flush()?;

    let lives = async {
        loop {
            dying.deaths.notified().await;
            // As when its process ends: the connection is gone, and nobody said goodbye.
            drop(std::mem::replace(&mut living, lend(&flags.url, mortal.clone(), funduq, &dying)?));
        }
    };
    let ended: Result<(), Box<dyn Error>> = tokio::select! {
        ended = lives => ended,
        () = common::asked_to_stop()? => Ok(()),
    };
    ended
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    common::report(serve().await);
}
