//! The WebSocket links: how a provider is heard and told.

mod activity;
mod agents;
mod ending;
mod llm;
mod outgoing;
mod serve;
mod socket;
mod threshold;
mod upgrade;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use axum::routing::get;

use crate::app::App;
use crate::http::error::ApiError;

/// The routes of the links.
pub(crate) fn routes() -> Router<Arc<App>> {
    Router::new().route("/link/agents", get(agents)).route("/link/llm", get(llm))
}

async fn agents(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    upgrade::accept(app, request, serve::serve::<agents::Agents>)
}

async fn llm(State(app): State<Arc<App>>, request: Request) -> Result<Response, ApiError> {
    upgrade::accept(app, request, serve::serve::<llm::LlmProviders>)
}
