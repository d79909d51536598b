//! One line in the log for each request, and the answers to requests that no route takes.

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use tokio::time::Instant;

use super::error::ApiError;

/// Notes a request and its answer. The query stays out of the log: people put secrets there.
pub(crate) async fn note(request: Request, next: Next) -> Response {
    let began = Instant::now();
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let response = next.run(request).await;
    let status = response.status().as_u16();
    tracing::debug!(%method, path, status, ms = began.elapsed().as_millis(), "request");
    response
}

/// Nothing is here.
pub(crate) async fn not_found() -> Response {
    let message = "there is nothing at this path; GET /.well-known/funduq.json says what there is";
    ApiError::new(StatusCode::NOT_FOUND, "not_found", message).into_response()
}

/// Something is here, but does not take this method; the router names those that it takes in `Allow`.
pub(crate) async fn method_not_allowed(request: Request) -> Response {
    let message = format!("{} is not possible here; the header Allow says what is", request.method());
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", message).into_response()
}
