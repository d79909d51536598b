//! A lent model: who lends it, an agent that spends it, and what both of them count.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use funduq_contract::{PublicKey, RawJson};
use funduq_provider_sdk::llm::{Chunks, Completion, CompletionError, LlmOfferings, LlmRuntime};
use funduq_provider_sdk::ws::{self, KyokCallError, KyokClient, Link};
use funduq_provider_sdk::{AgentError, ProviderIdentity, RunContext, ServedAgent, agent_fn};
use futures_util::StreamExt;
use serde_json::{Value, json};

use crate::gateway::Gateway;
use crate::outage::Outage;
use crate::watch::Figures;

/// What the agent asks for in each of its runs: a few words, many, a refusal, and something that fails.
const ASKS: [&str; 4] = ["3", "200", "refuse", "fail"];

/// How many of something there were.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    fn add(&self, more: usize) {
        self.0.fetch_add(more as u64, Ordering::SeqCst);
    }

    fn get(&self) -> u64 {
        self.0.load(Ordering::SeqCst)
    }
}

/// What is counted on the two ends.
#[derive(Debug, Default)]
struct Tally {
    /// Completions that the lender was asked for, and the chunks that it said.
    asked: Count,
    said: Count,
    /// Answers that the agent had to their ends, and those that were a no or broke off, and the chunks that it heard.
    completed: Count,
    refused: Count,
    failed: Count,
    heard: Count,
    /// Calls that had no answer because the gateway went.
    lost: Count,
    /// The first answer that nothing excuses.
    astray: OnceLock<String>,
}

/// The figures of a tally at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    asked: u64,
    said: u64,
    completed: u64,
    refused: u64,
    failed: u64,
    heard: u64,
    lost: u64,
}

/// The lender and the agent, both of whom stay.
pub(crate) struct Lending {
    /// The agent's key; its name is `spender`.
    pub(crate) agent: PublicKey,
    /// The lender's; its offering is `model`.
    pub(crate) lender: PublicKey,
    tally: Arc<Tally>,
    lends: Link<LlmRuntime>,
    spends: Link,
}

impl Lending {
    pub(crate) async fn start(gateway: &Gateway, outage: &Arc<Outage>) -> Self {
        let tally = Arc::new(Tally::default());
        let (lender, agent) = (ProviderIdentity::generate(), ProviderIdentity::generate());
        let (lender_key, agent_key) = (lender.public_key(), agent.public_key());
        let lent = Arc::clone(&tally);
        let handler = move |completion| std::future::ready(answer(&lent, &completion));
        let offerings = LlmOfferings::new(["model"], handler).unwrap();
        let mut lends = ws::serve_llm(&gateway.url, lender, offerings).pin(gateway.key).start().unwrap();
        let client = KyokClient::new(&gateway.url).unwrap();
        let (spent, outage) = (Arc::clone(&tally), Arc::clone(outage));
        let spender = agent_fn(move |run: RunContext| {
            let (client, tally, outage) = (client.clone(), Arc::clone(&spent), Arc::clone(&outage));
            async move { spend(&run, &client, &tally, &outage).await }
        });
        let spender = ServedAgent::new("spender", spender).unwrap().all_at_once();
        let spends = ws::connect(&gateway.url, agent).pin(gateway.key).drain(Duration::from_secs(1));
        let mut spends = spends.agent(spender).start().unwrap();
        assert!(lends.online().await && spends.online().await);
        Self { agent: agent_key, lender: lender_key, tally, lends, spends }
    }

    pub(crate) fn counted(&self) -> Counted {
        let Tally { asked, said, completed, refused, failed, heard, lost, astray: _ } = &*self.tally;
        Counted {
            asked: asked.get(),
            said: said.get(),
            completed: completed.get(),
            refused: refused.get(),
            failed: failed.get(),
            heard: heard.get(),
            lost: lost.get(),
        }
    }

    /// Holds what the lender said, what the agent heard and the metrics of a process against each other; `before` is what
    /// was counted when that process began, and how many completions there were altogether.
    pub(crate) fn reconcile(&self, before: Counted, figures: &Figures) -> u64 {
        assert_eq!(self.tally.astray.get(), None, "what a call was answered with");
        let now = self.counted();
        let ended = |outcome: &str| {
            figures.get(&format!("funduq_completions_ended_total{{outcome=\"{outcome}\"}}")) as u64
        };
        let since = |count: fn(&Counted) -> u64| count(&now) - count(&before);
        assert_eq!(
            figures.get("funduq_completions_total") as u64,
            since(|count| count.asked),
            "completions: {now:?}"
        );
        assert_eq!(
            figures.get("funduq_completion_chunks_total") as u64,
            since(|count| count.said),
            "chunks: {now:?}"
        );
        assert_eq!(since(|count| count.heard), since(|count| count.said), "chunks said, and heard: {now:?}");
        assert_eq!(ended("completed"), since(|count| count.completed), "{now:?}");
        assert_eq!(ended("refused"), since(|count| count.refused), "{now:?}");
        assert_eq!(ended("failed"), since(|count| count.failed), "{now:?}");
        let others = ["provider_disconnected", "agent_too_slow", "agent_left"].map(ended);
        assert_eq!(others, [0; 3], "both of them stayed, and the agent read everything");
        for name in ["funduq_completions_live", "funduq_completion_unread_bytes"] {
            assert_eq!(figures.get(name), 0.0, "{name}");
        }
        assert!(since(|count| count.completed) > 0, "nothing was lent after the restart");
        now.asked
    }

    pub(crate) async fn stop(self) {
        self.spends.stop().await.unwrap();
        self.lends.stop().await.unwrap();
    }
}

fn answer(tally: &Tally, completion: &Completion) -> Result<Chunks, CompletionError> {
    tally.asked.add(1);
    let request = serde_json::to_value(&completion.body).unwrap();
    match request["messages"][0]["content"].as_str().unwrap() {
        "refuse" => Err(CompletionError::refusal("no_budget", "no budget is left")),
        "fail" => Err(CompletionError::failure("model_failed", "the model broke down")),
        many => {
            let chunk = |number: usize| {
                let chunk = json!({
                    "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
                    "choices": [{ "index": 0, "delta": { "content": format!("word {number} ") }, "finish_reason": null }],
                });
                RawJson::new(&*chunk.to_string()).unwrap()
            };
            let many = many.parse().unwrap();
            tally.said.add(many);
            Ok((0..many).map(chunk).collect())
        }
    }
}

/// Asks for everything in turn, and says what came of it.
async fn spend(
    run: &RunContext,
    client: &KyokClient,
    tally: &Tally,
    outage: &Outage,
) -> Result<(), AgentError> {
    let signer = run.kyok().ok_or_else(|| AgentError::new("this run's caller lends no model"))?;
    for ask in ASKS {
        let began = outage.now();
        let request = json!({ "model": "any", "messages": [{ "role": "user", "content": ask }] });
        let outcome = match client.stream(&signer, &request).await {
            Ok(mut chunks) => loop {
                match chunks.next().await {
                    Some(Ok(_)) => tally.heard.add(1),
                    Some(Err(error)) => break Err(error),
                    None => break Ok(()),
                }
            },
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => tally.completed.add(1),
            Err(KyokCallError::Status { status: 403, error }) if error["code"] == "no_budget" => {
                tally.refused.add(1);
            }
            Err(KyokCallError::Status { status: 502, error }) if error["code"] == "model_failed" => {
                tally.failed.add(1);
            }
            // Nothing else becomes of a call, unless the gateway went, and the run with it.
            Err(error) => {
                if outage.excuses(began) {
                    tally.lost.add(1);
                } else {
                    tally.astray.get_or_init(|| error.to_string());
                }
                return Err(AgentError::from(error));
            }
        }
        run.events().text(ask).await?;
    }
    Ok(())
}

/// What a caller says that lends the model.
pub(crate) fn opting_in(lender: PublicKey) -> Value {
    json!({ "kyok": { "llmProvider": { "providerKey": lender, "name": "model" } } })
}
