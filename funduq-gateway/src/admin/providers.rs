//! Who serves here, and taking somebody off.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use funduq_contract::{AgentName, Fingerprint, PublicKey};
use funduq_core::{Funduq, StoreError};
use http::StatusCode;
use serde::{Deserialize, Serialize};

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::extract::Id;
use crate::http::json;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/providers", get(list)).route("/providers/{key}/evict", post(evict))
}

/// What `GET /providers` answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Providers {
    pub(crate) providers: Vec<Provider>,
}

/// One key that has a link open, or has published anything here.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Provider {
    pub(crate) public_key: PublicKey,
    pub(crate) fingerprint: Fingerprint,
    /// The kinds of links that are open: `agents`, `llm`.
    pub(crate) links: Vec<String>,
    /// The agents that are served right now.
    pub(crate) online: Vec<AgentName>,
    /// Those that are not.
    pub(crate) offline: Vec<AgentName>,
    /// The models that are lent right now.
    pub(crate) lent: Vec<AgentName>,
    /// Those that are not.
    pub(crate) not_lent: Vec<AgentName>,
    /// How many runs are offered to the key or held by it.
    pub(crate) places_taken: u32,
    /// The faults counted since this funduq started.
    pub(crate) faults: Faults,
}

/// Counted faults, each of a kind.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Faults {
    pub(crate) misdeclared: u32,
    pub(crate) abandoned: u32,
    pub(crate) undelivered: u32,
    pub(crate) unanswered: u32,
}

/// Everybody, by their keys.
struct All<'a> {
    funduq: &'a Funduq,
    found: BTreeMap<PublicKey, Provider>,
}

impl All<'_> {
    fn of(&mut self, key: PublicKey) -> &mut Provider {
        let funduq = self.funduq;
        self.found.entry(key).or_insert_with(|| {
            let quality = funduq.quality(&key);
            Provider {
                public_key: key,
                fingerprint: key.fingerprint(),
                links: Vec::new(),
                online: Vec::new(),
                offline: Vec::new(),
                lent: Vec::new(),
                not_lent: Vec::new(),
                places_taken: funduq.places_taken(&key),
                faults: Faults {
                    misdeclared: quality.misdeclared,
                    abandoned: quality.abandoned,
                    undelivered: quality.undelivered,
                    unanswered: quality.unanswered,
                },
            }
        })
    }
}

async fn all(funduq: &Funduq) -> Result<BTreeMap<PublicKey, Provider>, StoreError> {
    let mut all = All { funduq, found: BTreeMap::new() };
    for key in funduq.agent_links() {
        all.of(key).links.push("agents".to_owned());
    }
    for key in funduq.llm_links() {
        all.of(key).links.push("llm".to_owned());
    }
    for agent in funduq.agents().await? {
        let provider = all.of(agent.address.provider);
        match funduq.is_online(&agent.address) {
            true => provider.online.push(agent.address.name),
            false => provider.offline.push(agent.address.name),
        }
    }
    let lent: BTreeSet<_> = funduq.served_llm().into_iter().map(|(offering, _)| offering).collect();
    for offering in funduq.llm_offerings().await? {
        let is_lent = lent.contains(&offering);
        let provider = all.of(offering.provider);
        match is_lent {
            true => provider.lent.push(offering.name),
            false => provider.not_lent.push(offering.name),
        }
    }
    Ok(all.found)
}

async fn list(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let providers = all(&app.funduq).await?.into_values().collect();
    Ok(json::answer(StatusCode::OK, &Providers { providers }))
}

#[derive(Debug, Deserialize)]
struct Key {
    key: PublicKey,
}

/// What `POST /providers/{key}/evict` answers.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Evicted {
    /// How many links were open and are cut.
    pub(crate) links: usize,
    /// Whether the key has a link here, or has published anything.
    pub(crate) known: bool,
}

/// Cuts the key's links. It may come back if it is given another ticket, which enrolment decides on.
async fn evict(State(app): State<Arc<App>>, Id(Key { key }): Id<Key>) -> Result<Response, ApiError> {
    let links = app.funduq.detach_all_for(&key);
    tracing::info!(provider = %key.fingerprint(), links, "a provider is evicted");
    let known = links > 0 || all(&app.funduq).await?.contains_key(&key);
    Ok(json::answer(StatusCode::OK, &Evicted { links, known }))
}
