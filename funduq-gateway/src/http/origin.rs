//! Web pages: those of listed origins may call, and may read every answer, also a refusal; those of others are refused.
//!
//! A browser sends some requests without asking first and only keeps the answer from the page. A gateway on somebody's own
//! machine has no other guard against those, so an origin that is not listed is refused and not merely left unanswered.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::IntoResponse;
use http::header::{
    ACCEPT, ACCESS_CONTROL_REQUEST_METHOD, ALLOW, AUTHORIZATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, ORIGIN,
    RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use tower::{Layer, ServiceExt};
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

use super::error::ApiError;
use super::requests::{REQUEST_ID, TRACEPARENT, TRACESTATE};
use crate::config::Origins;
use crate::presenters::ACCEPT_SIGNATURE;

/// How long a browser may keep the answer to its preflight.
const MAX_AGE: Duration = Duration::from_secs(3600);

/// Request headers that are read here and that a browser asks leave for; `tracestate` goes with `traceparent`.
const REQUEST_HEADERS: [HeaderName; 14] = [
    ACCEPT,
    AUTHORIZATION,
    CONTENT_TYPE,
    IF_NONE_MATCH,
    REQUEST_ID,
    TRACEPARENT,
    TRACESTATE,
    HeaderName::from_static("last-event-id"),
    HeaderName::from_static("a2a-version"),
    A2A_EXTENSIONS,
    X_A2A_EXTENSIONS,
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("signature-input"),
    HeaderName::from_static("signature"),
];

/// Response headers that a browser keeps from a page unless it is told otherwise.
const RESPONSE_HEADERS: [HeaderName; 8] = [
    ALLOW,
    ETAG,
    RETRY_AFTER,
    WWW_AUTHENTICATE,
    ACCEPT_SIGNATURE,
    REQUEST_ID,
    A2A_EXTENSIONS,
    X_A2A_EXTENSIONS,
];

const A2A_EXTENSIONS: HeaderName = HeaderName::from_static("a2a-extensions");
const X_A2A_EXTENSIONS: HeaderName = HeaderName::from_static("x-a2a-extensions");

/// Refuses pages of any other origin than these.
pub(crate) fn refuse_others(router: Router, origins: &Origins) -> Router {
    let origins = Arc::new(origins.clone());
    router.layer(middleware::from_fn(move |request: Request, next: Next| {
        let origins = Arc::clone(&origins);
        async move {
            match request.headers().get(ORIGIN) {
                Some(origin) if !origins.contain(origin) => Err(refusal()),
                _ => Ok(next.run(request).await),
            }
        }
    }))
}

fn refusal() -> ApiError {
    let message = "pages of this origin may not call this gateway; its owner can list it under cors-origins";
    let refusal = ApiError::new(StatusCode::FORBIDDEN, "origin_not_allowed", message);
    refusal.with(VARY, HeaderValue::from_static("origin"))
}

/// Answers the preflights of these origins' pages, without a word to `router`, and lets the pages read whatever `router`
/// answers: what refuses a request has to be within.
pub(crate) fn let_read(router: Router, origins: &Origins) -> Router {
    let allowed: AllowOrigin = match origins {
        Origins::Any => Any.into(),
        Origins::These(listed) if listed.is_empty() => return router,
        Origins::These(listed) => AllowOrigin::list(listed.iter().cloned()),
    };
    let cors = CorsLayer::new()
        .allow_origin(allowed)
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(REQUEST_HEADERS)
        .expose_headers(RESPONSE_HEADERS)
        .max_age(MAX_AGE);
    let shared = Arc::new((cors, origins.clone()));
    router.layer(middleware::from_fn(move |request: Request, next: Next| {
        let shared = Arc::clone(&shared);
        async move {
            let (cors, origins) = &*shared;
            // The layer takes every OPTIONS for a preflight; any other is a request like others.
            if request.method() == Method::OPTIONS && !is_preflight(&request, origins) {
                return next.run(request).await;
            }
            cors.layer(next).oneshot(request).await.into_response()
        }
    }))
}

/// Whether a browser asks with this for leave to send something else (Fetch, CORS-preflight request).
fn is_preflight(request: &Request, origins: &Origins) -> bool {
    let headers = request.headers();
    headers.get(ORIGIN).is_some_and(|origin| origins.contain(origin))
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}
