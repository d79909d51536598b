//! What a call is answered that comes to nothing: OpenAI's shape, `{"error": {…}}`, and each error's status.

use std::borrow::Cow;

use axum::response::{IntoResponse, Response};
use funduq_agui::RawObject;
use funduq_core::{CollapseError, KyokError};
use http::header::WWW_AUTHENTICATE;
use http::{HeaderValue, StatusCode};
use serde_json::{Map, Value};

use crate::http::error::ApiError;
use crate::http::json;
use crate::http::refused::Refused;

/// An error as stock OpenAI clients read it.
#[derive(Debug)]
pub(super) struct OpenAiError(Box<Refusal>);

#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    /// Its word for the log, which has nothing of a provider's own.
    word: &'static str,
    /// OpenAI's `error`, which is the provider's own where the provider said no.
    error: RawObject,
    /// What refused before the call was understood, with the headers that belong to it.
    beneath: Option<ApiError>,
}

impl OpenAiError {
    fn new(
        status: StatusCode,
        kind: &str,
        code: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        let mut error = Map::new();
        error.insert("message".into(), Value::String(message.into().into_owned()));
        error.insert("type".into(), kind.into());
        error.insert("param".into(), Value::Null);
        error.insert("code".into(), code.into());
        Self::of(status, code, error.into())
    }

    fn of(status: StatusCode, word: &'static str, error: RawObject) -> Self {
        Self(Box::new(Refusal { status, word, error, beneath: None }))
    }

    /// The caller has not shown who it is.
    pub(super) fn unauthorized(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "authentication_error", code, message)
    }

    /// The provider's answer is none.
    pub(super) fn bad_answer(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "provider_error", code, message)
    }

    /// The whole body, which is also what a broken stream says last.
    pub(super) fn json(&self) -> String {
        json::string(&serde_json::json!({ "error": &self.0.error }))
    }
}

impl IntoResponse for OpenAiError {
    fn into_response(self) -> Response {
        let answer = json::text(self.0.status, self.json());
        let mut response = match self.0.beneath {
            Some(beneath) => {
                let (mut parts, _) = beneath.into_response().into_parts();
                // Its length was that of its own body.
                parts.headers.remove(http::header::CONTENT_LENGTH);
                Response::from_parts(parts, answer.into_body())
            }
            None => {
                let mut answer = answer;
                Refused::by(self.0.word).note(&mut answer);
                answer
            }
        };
        if self.0.status == StatusCode::UNAUTHORIZED {
            response
                .headers_mut()
                .insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"funduq\""));
        }
        response
    }
}

/// The status of each way in which a call comes to nothing.
impl From<KyokError> for OpenAiError {
    fn from(error: KyokError) -> Self {
        let message = error.to_string();
        match error {
            KyokError::InvalidToken => Self::unauthorized("invalid_token", message),
            KyokError::BadSignature => Self::unauthorized("invalid_signature", message),
            KyokError::Stale => Self::unauthorized("stale_timestamp", message),
            KyokError::RunNotLive => {
                Self::new(StatusCode::FORBIDDEN, "permission_error", "run_not_live", message)
            }
            KyokError::InvalidBody(_) => {
                Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", "invalid_body", message)
            }
            KyokError::NoBinding => Self::unavailable("no_binding", message),
            KyokError::NotAttached(_) => Self::unavailable("provider_offline", message),
            KyokError::Refused(error) => Self::of(StatusCode::FORBIDDEN, "provider_refused", error),
            KyokError::Failed(error) => Self::of(StatusCode::BAD_GATEWAY, "provider_failed", error),
            KyokError::Disconnected => Self::bad_answer("provider_disconnected", message),
            KyokError::AgentTooSlow => Self::unavailable("agent_too_slow", message),
            // What went wrong in the record is for the log.
            KyokError::Store(error) => ApiError::from(error).into(),
        }
    }
}

impl OpenAiError {
    fn unavailable(code: &'static str, message: String) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "service_unavailable", code, message)
    }
}

impl From<CollapseError> for OpenAiError {
    fn from(error: CollapseError) -> Self {
        Self::bad_answer("malformed_chunk", error.to_string())
    }
}

impl From<ApiError> for OpenAiError {
    fn from(beneath: ApiError) -> Self {
        let kind = if beneath.status().is_client_error() { "invalid_request_error" } else { "server_error" };
        let mut error = Self::new(beneath.status(), kind, beneath.code(), beneath.text().to_owned());
        error.0.beneath = Some(beneath);
        error
    }
}
