//! Enrolment: who may serve here. A ticket goes out over HTTP and never over the link that it opens.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use funduq_contract::{TicketIssued, TicketRequest};
use http::StatusCode;
use http::request::Parts;

use crate::app::App;
use crate::http::error::ApiError;
use crate::http::{body, json, requests};

/// A request for a ticket is a key and little more.
const MAX_BODY: usize = 16 << 10;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/tickets", post(issue))
}

async fn issue(State(app): State<Arc<App>>, parts: Parts, body: Body) -> Result<Response, ApiError> {
    let body = body::read(&app, &parts, body, MAX_BODY).await?;
    let request: TicketRequest = serde_json::from_slice(&body).map_err(|error| {
        ApiError::bad_request("invalid_input", "", format!("no request for a ticket: {error}"))
    })?;
    requests::about_provider(&request.public_key);
    app.admission.admit(&parts.headers, &request.public_key)?;
    let ticket = app.funduq.issue_ticket(&request.public_key);
    tracing::info!(provider = %request.public_key.fingerprint(), "a ticket is issued");
    let expires_in_seconds = app.config.core().ticket_lifetime.as_secs();
    Ok(json::answer(StatusCode::CREATED, &TicketIssued { ticket, expires_in_seconds }))
}
