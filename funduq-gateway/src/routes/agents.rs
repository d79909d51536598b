//! The roster: every agent that was ever registered, and whether somebody serves it right now.

use std::collections::BTreeSet;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use funduq_contract::{AgentName, Fingerprint, PublicKey};
use http::StatusCode;
use http::request::Parts;
use serde::Serialize;

use super::view::Time;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::presenter::Reader;
use crate::http::{json, urls};

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/agents", get(list))
}

#[derive(Serialize)]
struct Roster {
    agents: Vec<AgentView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AgentView {
    provider_key: PublicKey,
    fingerprint: Fingerprint,
    name: AgentName,
    description: String,
    online: bool,
    takes_interjections: bool,
    joined_at: Time,
    last_seen_at: Time,
    agui_url: String,
    agent_card_url: String,
}

async fn list(State(app): State<Arc<App>>, _: Reader, parts: Parts) -> Result<Response, ApiError> {
    let base = urls::base(&parts, &app.config.public_url, &app.listening);
    let records = app.funduq.agents().await?;
    let served: BTreeSet<_> = app.funduq.served().into_iter().map(|served| served.address).collect();
    let agents = records
        .into_iter()
        .map(|record| AgentView {
            provider_key: record.address.provider,
            fingerprint: record.address.provider.fingerprint(),
            online: served.contains(&record.address),
            agui_url: urls::agui(&base, &record.address),
            agent_card_url: urls::agent_card(&base, &record.address),
            name: record.address.name,
            description: record.description,
            takes_interjections: record.takes_interjections,
            joined_at: Time(record.joined_at),
            last_seen_at: Time(record.last_seen_at),
        })
        .collect();
    Ok(json::answer(StatusCode::OK, &Roster { agents }))
}
