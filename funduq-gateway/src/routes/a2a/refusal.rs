//! What the A2A door says when it does not do what was asked, in each binding's shape.
//!
//! A2A's own errors have their numbers from `funduq-a2a`. What A2A has no word for keeps funduq's status and body; over
//! JSON-RPC it is an error object from the range that the protocol leaves to servers.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use funduq_a2a::{A2aError, ErrorBody, ErrorDetail, JsonRpcErrorObject, RestError, json_rpc};
use funduq_core::A2aDoorError;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, StatusCode};

use crate::http::error::ApiError;
use crate::http::json;
use crate::http::refused::Refused as Noted;

/// Who defines the reasons of funduq's own errors.
const DOMAIN: &str = "funduq";

/// The JSON-RPC codes of what A2A has no word for, by funduq's word for it.
const CODES: [(&str, i32); 15] = [
    ("thread_queue_full", -32050),
    ("presenter_required", -32051),
    ("invalid_chain", -32052),
    ("thread_membership_required", -32053),
    ("invalid_resolution", -32054),
    ("invalid_cancel", -32055),
    ("not_serving", -32056),
    ("record_unavailable", -32057),
    ("invalid_signature", -32058),
    ("stale_signature", -32059),
    ("replayed_signature", -32060),
    ("digest_mismatch", -32061),
    ("unknown_authority", -32062),
    ("unknown_token", -32063),
    ("invalid_presenter_header", -32064),
];
/// For anything else of funduq's own.
const OTHER_CODE: i32 = -32099;

/// A refusal, before it is known in which shape it goes out.
#[derive(Debug)]
pub(super) enum Refused {
    /// One of A2A's.
    A2a(A2aError),
    /// One of funduq's.
    Funduq(ApiError),
}

impl From<A2aDoorError> for Refused {
    fn from(error: A2aDoorError) -> Self {
        match error {
            A2aDoorError::A2a(error) => Self::A2a(error),
            A2aDoorError::Door(error) => Self::Funduq(error.into()),
        }
    }
}

impl From<A2aError> for Refused {
    fn from(error: A2aError) -> Self {
        Self::A2a(error)
    }
}

impl From<ApiError> for Refused {
    fn from(error: ApiError) -> Self {
        Self::Funduq(error)
    }
}

impl Refused {
    /// The `error` member of a JSON-RPC response.
    pub(super) fn to_object(&self) -> JsonRpcErrorObject {
        match self {
            Self::A2a(error) => error.to_json_rpc(),
            Self::Funduq(error) => {
                let code = CODES.iter().find(|(word, _)| *word == error.code());
                let reason = error.code().to_ascii_uppercase();
                JsonRpcErrorObject {
                    code: code.map_or(OTHER_CODE, |(_, code)| *code),
                    message: error.text().to_owned(),
                    data: vec![ErrorDetail::error_info(reason, DOMAIN)],
                }
            }
        }
    }

    /// A JSON-RPC response under an id. A2A's errors come with HTTP 200, as JSON-RPC has it, but for a version that is
    /// not spoken here (A2A 1.0 §3.6.2); funduq's own with their status.
    pub(super) fn into_rpc(self, id: &json_rpc::Id) -> Response {
        let body = json_rpc::failure(id, &self.to_object());
        match self {
            Self::A2a(error @ A2aError::VersionNotSupported(_)) => {
                noted(&error, json::text(status(error.http_status()), body))
            }
            Self::A2a(error) => noted(&error, json::text(StatusCode::OK, body)),
            Self::Funduq(error) => with_body(error.into_response(), body),
        }
    }

    /// An HTTP+JSON response.
    pub(super) fn into_rest(self) -> Response {
        match self {
            Self::A2a(error) => {
                noted(&error, json::text(status(error.http_status()), error.to_rest().to_json()))
            }
            Self::Funduq(error) => error.into_response(),
        }
    }

    /// The document of an error event of an HTTP+JSON stream.
    pub(super) fn to_rest_json(&self) -> String {
        match self {
            Self::A2a(error) => error.to_rest().to_json(),
            Self::Funduq(error) => {
                let code = error.status();
                let word = if code.is_server_error() { "UNAVAILABLE" } else { "FAILED_PRECONDITION" };
                let details = self.to_object().data;
                rest_error(code, word, error.text(), details).to_json()
            }
        }
    }
}

/// A body that could not be read, as a JSON-RPC response: HTTP 200, and what belongs to the connection stays. One for which
/// there was no room says nothing about itself: that is funduq's to say.
pub(super) fn unread_rpc(error: ApiError) -> Response {
    if is_want_of_room(&error) {
        return Refused::from(error).into_rpc(&json_rpc::Id::null());
    }
    let object = A2aError::InvalidRequest(error.text().to_owned()).to_json_rpc();
    let body = json_rpc::failure(&json_rpc::Id::null(), &object);
    let mut answer = with_body(error.into_response(), body);
    *answer.status_mut() = StatusCode::OK;
    answer
}

/// A body that could not be read, as an HTTP+JSON response.
pub(super) fn unread_rest(error: ApiError) -> Response {
    if is_want_of_room(&error) {
        return Refused::from(error).into_rest();
    }
    let details = A2aError::InvalidRequest(String::new()).details();
    let body = rest_error(error.status(), "INVALID_ARGUMENT", error.text(), details).to_json();
    with_body(error.into_response(), body)
}

fn is_want_of_room(error: &ApiError) -> bool {
    matches!(error.status(), StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE)
}

/// No operation at a path, or not for this method.
pub(super) fn missed(miss: &funduq_a2a::rest::RouteMiss) -> Response {
    let mut answer = json::text(status(miss.http_status()), miss.to_rest().to_json());
    Noted::by("no_such_operation").note(&mut answer);
    if let funduq_a2a::rest::RouteMiss::MethodNotAllowed { allow } = miss
        && let Ok(allow) = HeaderValue::try_from(allow.join(", "))
    {
        answer.headers_mut().insert(ALLOW, allow);
    }
    answer
}

fn rest_error(status: StatusCode, word: &str, message: &str, details: Vec<ErrorDetail>) -> ErrorBody {
    let error =
        RestError { code: status.as_u16(), status: word.to_owned(), message: message.to_owned(), details };
    ErrorBody { error }
}

/// An answer that says for the log what it refuses.
pub(super) fn noted(error: &A2aError, mut answer: Response) -> Response {
    Noted::by(error.reason()).note(&mut answer);
    answer
}

/// The same answer with another JSON body.
fn with_body(answer: Response, body: String) -> Response {
    let (mut parts, _) = answer.into_parts();
    parts.headers.insert(CONTENT_TYPE, json::JSON);
    Response::from_parts(parts, Body::from(body))
}

fn status(code: u16) -> StatusCode {
    StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

#[cfg(test)]
mod tests {
    use funduq_contract::{ChainError, RunId, ThreadId};
    use funduq_core::{DoorError, InvalidChain, NotServing, ProofProblem, StoreError};

    use super::*;

    #[test]
    fn what_a2a_has_no_word_for_has_a_status_a_code_and_a_name() {
        let (run, thread) = (RunId::new("r").unwrap(), ThreadId::new("t").unwrap());
        let problem = ProofProblem::Missing;
        for (error, status, code, reason) in [
            (
                DoorError::ThreadQueueFull { thread: thread.clone(), limit: 8 },
                429,
                -32050,
                "THREAD_QUEUE_FULL",
            ),
            (DoorError::PresenterRequired, 401, -32051, "PRESENTER_REQUIRED"),
            (DoorError::InvalidChain(InvalidChain::Chain(ChainError::Empty)), 403, -32052, "INVALID_CHAIN"),
            (DoorError::ThreadMembershipRequired(thread), 403, -32053, "THREAD_MEMBERSHIP_REQUIRED"),
            (DoorError::InvalidResolution { task: run.clone(), problem }, 403, -32054, "INVALID_RESOLUTION"),
            (DoorError::InvalidCancel { run, problem }, 403, -32055, "INVALID_CANCEL"),
            (DoorError::NotServing(NotServing::Stopping), 503, -32056, "NOT_SERVING"),
            (DoorError::Store(StoreError::Unavailable("disk".into())), 503, -32057, "RECORD_UNAVAILABLE"),
        ] {
            let refused = || Refused::from(A2aDoorError::from(error.clone()));
            let object = refused().to_object();
            assert_eq!(object.code, code, "{reason}");
            assert_eq!(object.data, [ErrorDetail::error_info(reason, DOMAIN)]);
            assert!(!object.message.contains("disk"), "what the record says of itself stays inside");
            assert_eq!(refused().into_rpc(&json_rpc::Id::null()).status(), status, "{reason}");
            assert_eq!(refused().into_rest().status(), status, "{reason}");
        }
    }

    #[test]
    fn an_error_after_the_start_of_an_http_json_stream_has_the_specifications_body() {
        let refused = Refused::from(A2aDoorError::from(DoorError::NotServing(NotServing::Stopping)));
        let json: serde_json::Value = serde_json::from_str(&refused.to_rest_json()).unwrap();
        assert_eq!((&json["error"]["code"], &json["error"]["status"]), (&503.into(), &"UNAVAILABLE".into()));
        assert_eq!(json["error"]["details"][0]["reason"], "NOT_SERVING");
    }
}
