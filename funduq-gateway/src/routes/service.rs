//! What the gateway says about itself: who it is, whether it lives, whether it can work.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get;
use funduq_a2a::Version;
use funduq_contract::{CONTRACT_FINGERPRINT, CONTRACT_REVISION, PublicKey};
use http::StatusCode;
use serde::Serialize;

use crate::app::App;
use crate::http::json;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/.well-known/funduq.json", get(about))
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct About {
    /// The key that providers pin; null for a funduq that can prove itself to nobody.
    public_key: Option<PublicKey>,
    contract_revision: u32,
    contract_fingerprint: &'static str,
    version: &'static str,
    agui_version: &'static str,
    a2a_versions: [&'static str; 2],
    paths: Paths,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Paths {
    agents: &'static str,
    agui: &'static str,
    a2a: &'static str,
    tickets: &'static str,
    agent_link: &'static str,
    llm_link: &'static str,
    llm_offerings: &'static str,
    kyok: &'static str,
}

async fn about(State(app): State<Arc<App>>) -> Response {
    let about = About {
        public_key: app.funduq.public_key(),
        contract_revision: CONTRACT_REVISION,
        contract_fingerprint: CONTRACT_FINGERPRINT,
        version: env!("CARGO_PKG_VERSION"),
        agui_version: funduq_agui::PROTOCOL_VERSION,
        a2a_versions: Version::ALL.map(Version::as_str),
        paths: Paths {
            agents: "/agents",
            agui: "/agui/{provider}/{agent}",
            a2a: "/a2a/{provider}/{agent}",
            tickets: "/tickets",
            agent_link: "/link/agents",
            llm_link: "/link/llm",
            llm_offerings: "/llm-offerings",
            kyok: "/kyok/v1",
        },
    };
    json::answer(StatusCode::OK, &about)
}

#[derive(Serialize)]
struct Alive {
    status: &'static str,
}

async fn alive() -> Response {
    json::answer(StatusCode::OK, &Alive { status: "alive" })
}

#[derive(Serialize)]
struct Ready {
    status: &'static str,
    checks: Checks,
}

#[derive(Serialize)]
struct Checks {
    record: &'static str,
    schema: &'static str,
    dispatch: &'static str,
}

async fn ready(State(app): State<Arc<App>>) -> Response {
    let health = app.health.ask(&app.funduq).await;
    let word = |is_well: bool| if is_well { "ok" } else { "failing" };
    let is_ready = health.record && health.serving;
    let status = if is_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let checks =
        Checks { record: word(health.record), schema: word(health.schema), dispatch: word(health.serving) };
    json::answer(status, &Ready { status: if is_ready { "ready" } else { "not ready" }, checks })
}
