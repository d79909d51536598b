//! What the gateway answers when it does not do what was asked: one shape, and one place where a refusal gets its status.

use std::borrow::Cow;
use std::time::Duration;

use axum::response::{IntoResponse, Response};
use funduq_agui::{InvalidInput, Problem};
use funduq_core::{DoorError, StoreError};
use http::header::{HeaderName, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use super::json;
use super::refused::Refused;
use crate::limits::Limit;
use crate::presenters;

/// A refusal, answered as `{"error": {"code", "message", "field"?, "retryAfterSeconds"?}}`.
#[derive(Debug)]
pub(crate) struct ApiError(Box<Refusal>);

#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: Cow<'static, str>,
    field: Option<String>,
    retry_after: Option<Duration>,
    headers: Vec<(HeaderName, HeaderValue)>,
    limit: Option<Limit>,
}

impl ApiError {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Refusal {
            status,
            code,
            message: message.into(),
            field: None,
            retry_after: None,
            headers: Vec::new(),
            limit: None,
        }))
    }

    /// Something in the request has the wrong shape.
    pub(crate) fn bad_request(
        code: &'static str,
        field: &str,
        message: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self::new(StatusCode::BAD_REQUEST, code, message).at(field)
    }

    /// Says it in other words.
    pub(crate) fn message(mut self, message: impl Into<Cow<'static, str>>) -> Self {
        self.0.message = message.into();
        self
    }

    /// Names the part of the request that is wrong; an empty name is none.
    pub(crate) fn at(mut self, field: impl Into<String>) -> Self {
        self.0.field = Some(field.into()).filter(|field| !field.is_empty());
        self
    }

    /// After how long another try makes sense.
    pub(crate) fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.0.retry_after = wait;
        self
    }

    /// It is because of this limit.
    pub(crate) fn over(mut self, limit: Limit) -> Self {
        self.0.limit = Some(limit);
        self
    }

    /// One more header that belongs to the status.
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }
}

impl ApiError {
    /// Its status, for a door that says the rest in a protocol's own shape.
    pub(crate) fn status(&self) -> StatusCode {
        self.0.status
    }

    /// Its word, likewise.
    pub(crate) fn code(&self) -> &'static str {
        self.0.code
    }

    /// The limit that it is because of.
    pub(crate) fn limit(&self) -> Option<Limit> {
        self.0.limit
    }

    /// Its sentence, likewise.
    pub(crate) fn text(&self) -> &str {
        &self.0.message
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: Fields<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Fields<'a> {
    code: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_seconds: Option<u64>,
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let Refusal { status, code, message, field, retry_after, headers, limit } = *self.0;
        // Rounded up, so that nobody comes back too early.
        let seconds = retry_after.map(|wait| wait.as_millis().div_ceil(1000) as u64);
        let error = Fields { code, message: &message, field: field.as_deref(), retry_after_seconds: seconds };
        let mut response = json::answer(status, &Body { error });
        Refused { code, limit }.note(&mut response);
        if let Some(seconds) = seconds {
            response.headers_mut().insert(RETRY_AFTER, seconds.into());
        }
        for (name, value) in headers {
            response.headers_mut().append(name, value);
        }
        response
    }
}

/// How long a caller waits whose run's stream another connection still has.
const STREAM_RETRY: Duration = Duration::from_secs(1);

/// The status of each refusal at the doors.
impl From<DoorError> for ApiError {
    fn from(error: DoorError) -> Self {
        let status = match &error {
            DoorError::AgentNotFound(_)
            | DoorError::ThreadNotFound(_)
            | DoorError::ThreadOfAnotherAgent(_)
            | DoorError::RunNotFound(_) => StatusCode::NOT_FOUND,
            DoorError::ThreadQueueFull { .. } => StatusCode::TOO_MANY_REQUESTS,
            DoorError::PresenterRequired => StatusCode::UNAUTHORIZED,
            DoorError::InvalidChain(_)
            | DoorError::ThreadMembershipRequired(_)
            | DoorError::InvalidResolution { .. }
            | DoorError::InvalidCancel { .. } => StatusCode::FORBIDDEN,
            DoorError::UnknownOffering { .. } | DoorError::InvalidInput { .. } => StatusCode::BAD_REQUEST,
            DoorError::AlreadyAnswered(_) | DoorError::StreamTaken(_) => StatusCode::CONFLICT,
            DoorError::NotServing(_) => StatusCode::SERVICE_UNAVAILABLE,
            DoorError::Store(error) => return error.clone().into(),
        };
        let retry_after = match &error {
            DoorError::StreamTaken(_) => Some(STREAM_RETRY),
            other => other.retry_after(),
        };
        let answer = Self::new(status, error.code(), error.to_string()).retry_after(retry_after);
        match error {
            DoorError::InvalidInput { field, problem } => answer.message(problem).at(field),
            DoorError::PresenterRequired => presenters::challenge(answer),
            _ => answer,
        }
    }
}

/// What went wrong in the record is for the log; a stranger learns whether to come back.
impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the record failed a request");
        match error {
            StoreError::Unavailable(_) => Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "record_unavailable",
                "the record cannot be used right now",
            )
            .retry_after(Some(Duration::from_secs(5))),
            StoreError::Conflict(_) | StoreError::Corrupt(_) | StoreError::TooNew { .. } => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "internal",
                "the record holds something unexpected",
            ),
        }
    }
}

impl From<InvalidInput> for ApiError {
    fn from(invalid: InvalidInput) -> Self {
        let (status, code) = match invalid.problem() {
            Problem::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "body_too_large"),
            Problem::NotJson { .. } | Problem::NotUtf8 => (StatusCode::BAD_REQUEST, "invalid_json"),
            _ => (StatusCode::BAD_REQUEST, "invalid_input"),
        };
        Self::new(status, code, invalid.to_string()).at(invalid.path())
    }
}

#[cfg(test)]
mod tests {
    use funduq_contract::ThreadId;

    use super::*;

    #[test]
    fn a_full_thread_says_when_to_come_back_in_header_and_body() {
        let full = DoorError::ThreadQueueFull { thread: ThreadId::new("t").unwrap(), limit: 8 };
        let response = ApiError::from(full).into_response();
        assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(response.headers()[RETRY_AFTER], "1");
    }

    #[test]
    fn what_the_record_says_of_itself_stays_inside() {
        let error = ApiError::from(StoreError::Unavailable("/secret/path: disk full".into()));
        assert_eq!(error.0.status, StatusCode::SERVICE_UNAVAILABLE);
        assert!(!error.0.message.contains("secret"));
    }

    #[test]
    fn an_unknown_presenter_is_challenged() {
        let response = ApiError::from(DoorError::PresenterRequired).into_response();
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
        for challenge in ["www-authenticate", "accept-signature"] {
            assert!(response.headers().contains_key(challenge), "{challenge}");
        }
    }
}
