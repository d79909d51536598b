//! What the gateway counts, for whoever watches over it.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;

use crate::app::App;
use crate::http::peer::Peer;
use crate::http::requests;
use crate::metrics;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new().route("/metrics", get(page))
}

/// The page, for those who may see it; for others there is nothing here.
async fn page(State(app): State<Arc<App>>, parts: Parts) -> Response {
    let peer = parts.extensions.get::<Peer>();
    if !peer.is_some_and(|peer| peer.is_in(&app.config.metrics_from)) {
        return requests::not_found().await;
    }
    let headers = [(CONTENT_TYPE, metrics::CONTENT_TYPE), (CACHE_CONTROL, "no-store")];
    (headers, app.metrics.page()).into_response()
}
