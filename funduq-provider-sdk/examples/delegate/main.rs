//! An agent that hands its work to another agent over A2A and says what comes back:
//! `delegate --to CARD_BASE [--name AGENT] [--url URL] [--key FILE] [--funduq-key KEY]`.
//!
//! `CARD_BASE` is what the other agent's card is below, such as `http://127.0.0.1:8787/a2a/KEY/echo`. A run that came with a
//! responsibility chain is handed on with this provider's own hop at its end; funduq then has to know who presents it,
//! so every request is signed with the provider's key.

#[path = "../common/mod.rs"]
mod common;
mod signed;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use a2a::{Message, Part, Role, SendMessageRequest, StreamResponse, TaskState};
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::{A2AClient, A2AClientFactory, Transport};
use funduq_provider_sdk::{AgentError, AgentResult, RunContext, ServedAgent, agent_fn};
use futures_util::StreamExt;

use signed::SignedJsonRpc;

struct Delegate {
    client: A2AClient<Box<dyn Transport>>,
    /// The conversation there that goes with each thread here.
    contexts: Mutex<HashMap<String, String>>,
}

impl Delegate {
    async fn answer(&self, run: RunContext) -> AgentResult {
        let request = self.request(&run)?;
        let mut updates = run.or_cancelled(self.client.send_streaming_message(&request)).await??;
        let said = run.events().open_text().await?;
        while let Some(update) = run.or_cancelled(updates.next()).await? {
            match update? {
                StreamResponse::Task(task) => self.remember(&run, &task.context_id),
                StreamResponse::ArtifactUpdate(update) => {
                    self.remember(&run, &update.context_id);
                    said.push(&text_of(&update.artifact.parts)).await?;
                }
                StreamResponse::StatusUpdate(update) => match update.status.state {
                    TaskState::Failed | TaskState::Rejected | TaskState::Canceled => {
                        return Err(AgentError::new("the other agent did not finish").with_code("delegate"));
                    }
                    TaskState::InputRequired => {
                        let question = update.status.message.map(|message| text_of(&message.parts));
                        said.push(&question.unwrap_or_default()).await?;
                    }
                    _ => {}
                },
                StreamResponse::Message(message) => said.push(&text_of(&message.parts)).await?,
            }
        }
        Ok(said.end().await?)
    }

    fn request(&self, run: &RunContext) -> Result<SendMessageRequest, AgentError> {
        let mut message = Message::new(Role::User, vec![Part::text(run.user_text().unwrap_or_default())]);
        message.context_id =
            self.contexts.lock().ok().and_then(|known| known.get(run.thread_id().as_str()).cloned());
        let mut metadata = HashMap::new();
        if run.funduq().actor_chain.is_some() {
            metadata.insert("actorChain".to_owned(), serde_json::to_value(run.extend_chain()?)?);
        }
        Ok(SendMessageRequest { message, configuration: None, metadata: Some(metadata), tenant: None })
    }

    fn remember(&self, run: &RunContext, context: &str) {
        if let Ok(mut contexts) = self.contexts.lock() {
            contexts.insert(run.thread_id().to_string(), context.to_owned());
        }
    }
}

fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let serve = async {
        rustls::crypto::ring::default_provider().install_default().map_err(|_| "TLS is set up already")?;
        let flags = common::Flags::read(&["--to", "--name"])?;
        let to = flags.get("--to").ok_or("--to says where the other agent is")?;
        let card = AgentCardResolver::new(None).resolve(to).await?;
        let signed = Arc::new(SignedJsonRpc(flags.identity()?));
        let client = A2AClientFactory::builder().no_defaults().register(signed).build();
        let client = client.create_from_card(&card).await?;
        let delegate = Arc::new(Delegate { client, contexts: Mutex::default() });
        let agent = agent_fn(move |run| {
            let delegate = delegate.clone();
            async move { delegate.answer(run).await }
        });
        let agent = ServedAgent::new(flags.get("--name").unwrap_or("delegate"), agent)?;
        flags.serve(agent.description(format!("Asks {}", card.name))).await
    };
    common::report(serve.await);
}
