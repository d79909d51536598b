//! Each request's name in the logs, one line for each, and the answers to requests that no route takes.

use std::sync::Arc;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use tokio::time::Instant;
use tracing::Instrument;
use tracing::field::Empty;

use super::error::ApiError;
use super::peer::Peer;
use super::refused::Refused;
use crate::app::App;
use crate::limits::{AGAIN, Limit};

/// By which callers, proxies and this gateway name one request.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// By which a caller's telemetry names what the request is part of (W3C Trace Context §3).
pub(crate) const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
pub(crate) const TRACESTATE: HeaderName = HeaderName::from_static("tracestate");
/// The longest name that is taken from a caller.
const MAX_ID: usize = 64;

/// Names the request, and notes it and its answer. The query stays out of the log: people put secrets there.
pub(crate) async fn note(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let began = Instant::now();
    let id = id(request.headers());
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = request.extensions().get::<MatchedPath>().cloned();
    let peer = request.extensions().get::<Peer>().cloned();
    let span = tracing::info_span!(
        "request",
        id = id.to_str().unwrap_or_default(),
        trace = Empty,
        peer = Empty,
        provider = Empty,
        run = Empty,
        thread = Empty
    );
    if let Some(trace) = trace(request.headers()) {
        span.record("trace", trace);
    }
    if let Some(peer) = &peer {
        span.record("peer", tracing::field::display(peer.ip));
    }
    let route_of = route.as_ref().map(MatchedPath::as_str);
    let answering = async {
        let mut response = next.run(request).await;
        response.headers_mut().insert(REQUEST_ID, id);
        let status = response.status();
        app.metrics.answered(&method, route_of, status);
        let refused = response.extensions().get::<Refused>();
        tracing::debug!(
            %method,
            path,
            status = status.as_u16(),
            ms = began.elapsed().as_millis(),
            code = refused.map(|refused| refused.code),
            limit = refused.and_then(|refused| refused.limit).map(Limit::as_str),
            "request"
        );
        response
    };
    answering.instrument(span.clone()).await
}

/// Refuses a request that came on a connection over a limit, or too soon after others of its peer. Whoever watches over
/// the gateway is let in all the same, since it has to see it best when somebody asks too much of it.
pub(crate) async fn limit(
    State(app): State<Arc<App>>,
    request: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let of_request = request.extensions();
    let route = of_request.get::<MatchedPath>().map(MatchedPath::as_str);
    if !matches!(route, Some("/healthz" | "/readyz" | "/metrics")) {
        if let Some(OverLimit(limit)) = of_request.get() {
            return Err(limit.refusal(AGAIN));
        }
        if let Some(peer) = of_request.get::<Peer>() {
            app.limits.request(peer)?;
        }
    }
    Ok(next.run(request).await)
}

/// The limit that a request's connection is over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OverLimit(pub(crate) Limit);

/// Notes in the request's name whose it is: an agent's provider, a link's key.
pub(crate) fn about_provider(provider: &funduq_contract::PublicKey) {
    tracing::Span::current().record("provider", tracing::field::display(provider.fingerprint()));
}

/// Notes in the request's name which run it is about.
pub(crate) fn about_run(run: &funduq_contract::RunId, thread: &funduq_contract::ThreadId) {
    tracing::Span::current().record("run", run.as_str());
    about_thread(thread);
}

/// Notes in the request's name which thread it is about.
pub(crate) fn about_thread(thread: &funduq_contract::ThreadId) {
    tracing::Span::current().record("thread", thread.as_str());
}

/// The name that the caller gave the request, if it is one that can stand in a line; else a new one.
fn id(headers: &HeaderMap) -> HeaderValue {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let given = headers.get(REQUEST_ID).filter(|id| {
        let id = id.as_bytes();
        (1..=MAX_ID).contains(&id.len()) && id.iter().all(is_plain)
    });
    given.cloned().unwrap_or_else(|| {
        let mut bytes = [0_u8; 8];
        // A name that is not unique is worth more than no answer.
        let _ = getrandom::fill(&mut bytes);
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        HeaderValue::try_from(id).expect("hex is made of characters that a header may have")
    })
}

/// The trace's id in `traceparent` (W3C Trace Context §3.2): `00-{trace}-{parent}-{flags}`. A later version may have more
/// behind that.
fn trace(headers: &HeaderMap) -> Option<&str> {
    let mut parts = headers.get(TRACEPARENT)?.to_str().ok()?.split('-');
    let (version, trace, parent, flags) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_hex = |text: &str, length: usize| {
        text.len() == length && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let is_id = |text: &str, length| is_hex(text, length) && text.bytes().any(|byte| byte != b'0');
    let is_version = is_hex(version, 2) && version != "ff" && (version != "00" || parts.next().is_none());
    (is_version && is_id(trace, 32) && is_id(parent, 16) && is_hex(flags, 2)).then_some(trace)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: HeaderName, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_str(value).unwrap())])
    }

    #[test]
    fn a_callers_name_for_its_request_is_kept_if_it_can_stand_in_a_line() {
        assert_eq!(id(&headers(REQUEST_ID, "a-B_9.z")), "a-B_9.z");
        for wrong in ["", "a b", "a\"b", "é", &"x".repeat(65)] {
            let made = id(&headers(REQUEST_ID, wrong));
            assert!(made != wrong && made.len() == 16, "{wrong}");
        }
        assert_ne!(id(&HeaderMap::new()), id(&HeaderMap::new()));
    }

    #[test]
    fn a_trace_is_taken_from_a_traceparent_that_is_one() {
        let (trace_id, parent) = ("4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7");
        let of = |value: &str| trace(&headers(TRACEPARENT, value)).map(str::to_owned);
        assert_eq!(of(&format!("00-{trace_id}-{parent}-01")).as_deref(), Some(trace_id));
        assert_eq!(of(&format!("01-{trace_id}-{parent}-01-more")).as_deref(), Some(trace_id));
        for wrong in [
            format!("ff-{trace_id}-{parent}-01"),
            format!("00-{}-{parent}-01", "0".repeat(32)),
            format!("00-{}-{parent}-01", trace_id.to_uppercase()),
            format!("00-{trace_id}-{}-01", "0".repeat(16)),
            format!("00-{trace_id}-{parent}-01-junk"),
            format!("00-{trace_id}-{parent}-1"),
            format!("00-{trace_id}-{parent}-0X"),
            format!("00-{trace_id}-{parent}"),
            format!("01-{trace_id}-{parent}"),
            format!("00-{trace_id}"),
            "x".to_owned(),
        ] {
            assert_eq!(of(&wrong), None, "{wrong}");
        }
    }
}
