//! Who may spend: the place to write down your own rules.

use std::collections::HashSet;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

use funduq_provider_sdk::agui::RawObject;
use funduq_provider_sdk::contract::PublicKey;
use funduq_provider_sdk::llm::{Completion, CompletionError};
use serde_json::json;

/// The rules: each that is set has to hold.
pub(crate) struct Policy {
    agents: Option<HashSet<PublicKey>>,
    heads: Option<HashSet<PublicKey>>,
    budget: Option<u64>,
    spent: AtomicU64,
}

impl Policy {
    pub(crate) fn read(
        agents: Option<&str>,
        heads: Option<&str>,
        budget: Option<&str>,
    ) -> Result<Self, Box<dyn Error>> {
        let budget = budget.map(str::parse).transpose()?;
        Ok(Self { agents: keys(agents)?, heads: keys(heads)?, budget, spent: AtomicU64::new(0) })
    }

    /// Whether this completion is answered. A refusal is any object: the agent gets it as it is.
    pub(crate) fn allow(&self, completion: &Completion) -> Result<(), CompletionError> {
        // The agent's key is proved by its signature over the call; funduq has checked it.
        if self.agents.as_ref().is_some_and(|allowed| !allowed.contains(&completion.agent.provider)) {
            return Err(CompletionError::refusal(
                "agent_not_allowed",
                "this model is not lent to that agent",
            ));
        }
        if let Some(allowed) = &self.heads {
            // Whose hands the run went through: every hop is checked, and the last one has to be funduq's own, to the very
            // agent that calls, or the chain was made for somebody else.
            let refused =
                || CompletionError::refusal("caller_not_allowed", "this model is lent to known callers");
            let chain = completion.chain().ok().flatten().ok_or_else(refused)?;
            if !chain.dispatched_here() || !allowed.contains(&chain.head()) {
                return Err(refused());
            }
        }
        let spent = self.spent.load(Ordering::Relaxed);
        if self.budget.is_some_and(|budget| spent >= budget) {
            let message = "the token budget is spent";
            let error = json!({"code": "budget_spent", "message": message, "type": "permission_error", "spent": spent});
            return Err(match serde_json::from_value::<RawObject>(error) {
                Ok(error) => CompletionError::refused(error),
                Err(_) => CompletionError::refusal("budget_spent", message),
            });
        }
        Ok(())
    }

    /// Counts tokens. The completion that goes over the budget is answered to its end; the next one is not.
    pub(crate) fn spent(&self, tokens: u64) {
        self.spent.fetch_add(tokens, Ordering::Relaxed);
    }
}

fn keys(list: Option<&str>) -> Result<Option<HashSet<PublicKey>>, Box<dyn Error>> {
    let Some(list) = list else { return Ok(None) };
    let keys = list.split(',').map(|key| key.trim().parse()).collect::<Result<_, _>>();
    Ok(Some(keys?))
}
