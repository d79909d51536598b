//! Web pages: those of listed origins may call, and are told so; those of others are refused.
//!
//! A browser sends some requests without asking first and only keeps the answer from the page. A gateway on somebody's own
//! machine has no other guard against those, so an origin that is not listed is refused and not merely left unanswered.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_TYPE, ETAG, IF_NONE_MATCH, ORIGIN, RETRY_AFTER, VARY, WWW_AUTHENTICATE,
};
use http::{HeaderName, HeaderValue, Method, StatusCode};
use tower_http::cors::{AllowOrigin, Any, CorsLayer};

use super::error::ApiError;
use crate::config::Origins;

/// How long a browser may keep the answer to its preflight.
const MAX_AGE: Duration = Duration::from_secs(3600);

/// Request headers of the two protocols that a browser asks leave for.
const REQUEST_HEADERS: [HeaderName; 10] = [
    ACCEPT,
    AUTHORIZATION,
    CONTENT_TYPE,
    IF_NONE_MATCH,
    HeaderName::from_static("last-event-id"),
    HeaderName::from_static("a2a-version"),
    HeaderName::from_static("a2a-extensions"),
    HeaderName::from_static("content-digest"),
    HeaderName::from_static("signature-input"),
    HeaderName::from_static("signature"),
];

/// Lets pages of these origins in, and no others.
pub(crate) fn guard(router: Router, origins: &Origins) -> Router {
    let allowed = match origins {
        Origins::Any => return router.layer(cors().allow_origin(Any)),
        Origins::These(allowed) => Arc::new(allowed.clone()),
    };
    let router = match allowed.is_empty() {
        true => router,
        false => router.layer(cors().allow_origin(AllowOrigin::list(allowed.iter().cloned()))),
    };
    router.layer(middleware::from_fn(move |request: Request, next: Next| {
        let allowed = Arc::clone(&allowed);
        async move { check(&allowed, request, next).await }
    }))
}

fn cors() -> CorsLayer {
    CorsLayer::new()
        .allow_methods([Method::GET, Method::POST, Method::DELETE])
        .allow_headers(REQUEST_HEADERS)
        .expose_headers([ETAG, RETRY_AFTER, WWW_AUTHENTICATE, HeaderName::from_static("a2a-extensions")])
        .max_age(MAX_AGE)
}

async fn check(allowed: &[HeaderValue], request: Request, next: Next) -> Response {
    match request.headers().get(ORIGIN) {
        Some(origin) if !allowed.contains(origin) => {
            let message =
                "pages of this origin may not call this gateway; its owner can list it under cors-origins";
            let refusal = ApiError::new(StatusCode::FORBIDDEN, "origin_not_allowed", message);
            refusal.with(VARY, HeaderValue::from_static("origin")).into_response()
        }
        _ => next.run(request).await,
    }
}
