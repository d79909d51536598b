//! JSON out, and small JSON bodies in.

use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde::Serialize;

/// The media type of every body of the gateway's own.
pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An answer with a JSON body.
pub(crate) fn answer(status: StatusCode, body: &impl Serialize) -> Response {
    text(status, string(body))
}

/// One of the gateway's own shapes as JSON.
pub(crate) fn string(shape: &impl Serialize) -> String {
    serde_json::to_string(shape).expect("the gateway's own shapes have string keys and JSON values only")
}

/// An answer with a body that is JSON already.
pub(crate) fn text(status: StatusCode, body: String) -> Response {
    (status, [(CONTENT_TYPE, JSON)], body).into_response()
}
