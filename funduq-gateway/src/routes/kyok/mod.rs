//! The OpenAI-compatible endpoint: an agent spends the model that its run's caller lends it, and nobody lends a key.

mod answer;
mod error;
mod offerings;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{get, post};
use funduq_contract::{SIGNATURE_HEADER, Signature, TIMESTAMP_HEADER};
use funduq_core::KyokCall;
use http::header::AUTHORIZATION;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use serde_json::json;

use crate::app::App;
use crate::http::{body, json, requests};
use error::OpenAiError;

pub(super) fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/kyok/v1/chat/completions", post(complete))
        .route("/kyok/v1/models", get(models))
        .route("/llm-offerings", get(offerings::list))
}

/// One call: who makes it is in its headers, and what it asks is for the provider to read.
async fn complete(State(app): State<Arc<App>>, parts: Parts, body: Body) -> Result<Response, OpenAiError> {
    let bearer = bearer(&parts.headers)?;
    let (timestamp, signature) = proof(&parts.headers)?;
    let permit = app.limits.stream(&parts)?;
    let config = &app.config;
    let body = body::read(&app, &parts, body, config.body_limit.get()).await?;
    let call = KyokCall { bearer, timestamp, signature, body: &body };
    let kyok = app.funduq.kyok();
    let call = kyok.prove(call)?;
    app.limits.request_of_key(call.key())?;
    let stream = kyok.complete_proven(call).await?;
    // The provider has its own by now, and may take its time.
    drop(body);
    requests::about_run(stream.run_id(), stream.thread_id());
    requests::about_provider(&stream.llm_provider().provider);
    if stream.is_streaming() {
        answer::streamed(stream, permit, config.keep_alive.get()).await
    } else {
        answer::whole(stream).await
    }
}

/// The one offering that this bearer may use. That it lists nothing else is the point.
async fn models(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, OpenAiError> {
    let offering = app.funduq.kyok().offering_of(bearer(&headers)?).await?;
    // OpenAI's `created` is required; when the model was made is for its provider to know.
    let model = json!({"id": offering.name, "object": "model", "created": 0, "owned_by": offering.provider});
    Ok(json::answer(StatusCode::OK, &json!({"object": "list", "data": [model]})))
}

/// The token, which an OpenAI client takes for its API key.
fn bearer(headers: &HeaderMap) -> Result<&str, OpenAiError> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    // Two of them say two things about who calls.
    let value = values.next().filter(|_| values.next().is_none()).and_then(|value| value.to_str().ok());
    let credentials = value.and_then(|value| value.split_once(' '));
    match credentials.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer")) {
        Some((_, token)) => Ok(token.trim()),
        None => Err(OpenAiError::unauthorized(
            "missing_token",
            "send the run's token, forwardedProps.funduq.kyok.token, as the bearer",
        )),
    }
}

fn proof(headers: &HeaderMap) -> Result<(i64, Signature), OpenAiError> {
    let read = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let timestamp = read(TIMESTAMP_HEADER).and_then(|text| text.parse().ok());
    let signature = read(SIGNATURE_HEADER).and_then(|text| text.parse().ok());
    timestamp.zip(signature).ok_or_else(|| {
        OpenAiError::unauthorized(
            "missing_signature",
            format!(
                "each call carries {TIMESTAMP_HEADER} (Unix seconds) and {SIGNATURE_HEADER} (hex): the agent's signature \
                 over its token, that time and the body"
            ),
        )
    })
}
