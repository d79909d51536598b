//! Who serves here, and taking somebody off.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use funduq_contract::{AgentName, Fingerprint, PublicKey};
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

/// One key that was ever registered here.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Provider {
    pub(crate) public_key: PublicKey,
    pub(crate) fingerprint: Fingerprint,
    /// The agents that are served right now.
    pub(crate) online: Vec<AgentName>,
    /// Those that are not.
    pub(crate) offline: Vec<AgentName>,
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

async fn list(State(app): State<Arc<App>>) -> Result<Response, ApiError> {
    let mut providers = BTreeMap::new();
    for agent in app.funduq.agents().await? {
        let key = agent.address.provider;
        let provider = providers.entry(key.to_string()).or_insert_with(|| {
            let quality = app.funduq.quality(&key);
            Provider {
                public_key: key,
                fingerprint: key.fingerprint(),
                online: Vec::new(),
                offline: Vec::new(),
                places_taken: app.funduq.places_taken(&key),
                faults: Faults {
                    misdeclared: quality.misdeclared,
                    abandoned: quality.abandoned,
                    undelivered: quality.undelivered,
                    unanswered: quality.unanswered,
                },
            }
        });
        match app.funduq.is_online(&agent.address) {
            true => provider.online.push(agent.address.name),
            false => provider.offline.push(agent.address.name),
        }
    }
    Ok(json::answer(StatusCode::OK, &Providers { providers: providers.into_values().collect() }))
}

#[derive(Debug, Deserialize)]
struct Key {
    key: PublicKey,
}

/// Cuts the key's links. It may come back if it is given another ticket, which enrolment decides on.
async fn evict(State(app): State<Arc<App>>, Id(Key { key }): Id<Key>) -> StatusCode {
    tracing::info!(provider = %key.fingerprint(), "a provider is evicted");
    app.funduq.detach_all_for(&key);
    StatusCode::NO_CONTENT
}
