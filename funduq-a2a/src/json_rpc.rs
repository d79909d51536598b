//! The JSON-RPC binding as pure functions: bytes to a call, a result or an error to bytes (A2A 1.0 §9).

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::operation::Operation;
use crate::wire::{JsonObject, MAX_DEPTH, describe, is_too_deep, quoted, to_json};
use crate::{A2aError, Dialect, JsonRpcErrorObject, Request, Response, StreamResponse, Version};

/// The id of a request, echoed exactly as it came.
///
/// JSON-RPC 2.0 allows strings, numbers and `null`. Fractions are discouraged there, not forbidden, and so accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id(String);

impl Id {
    /// The id of an answer to a request whose own id cannot be known.
    #[must_use]
    pub fn null() -> Self {
        Self("null".to_owned())
    }

    /// The id as JSON text.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.0
    }

    fn from_raw(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let legal = text == "null"
            || text.starts_with(['"', '-'])
            || text.starts_with(|first: char| first.is_ascii_digit());
        legal.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).expect("an id is built from valid JSON only");
        raw.serialize(serializer)
    }
}

/// A request that can be carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The id to answer under; `None` for a notification, which gets no answer.
    pub id: Option<Id>,
    /// The version the caller speaks.
    pub version: Version,
    /// What is asked.
    pub request: Request,
}

impl Call {
    /// How the answer is to be spelled.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        Dialect::of_json_rpc(self.version)
    }
}

/// A request that cannot be carried out, with the error to answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct Refusal {
    /// The id to answer under; `None` when the request was a notification, which gets no answer, not even an error.
    pub id: Option<Id>,
    /// What is wrong.
    #[source]
    pub error: A2aError,
}

/// Reads the body of a request.
///
/// `version` is what [`Version::from_parameter`] made of the service parameter: its error is answered under the
/// request's own id, after the envelope has been found sound.
///
/// # Errors
/// A [`Refusal`]: parse error and invalid request with the id as far as it can be read, version not supported,
/// unknown method, invalid parameters. A batch is an invalid request, by name.
pub fn parse(body: &[u8], version: Result<Version, A2aError>) -> Result<Call, Refusal> {
    let envelope = Envelope::parse(body)?;
    let id = envelope.id.clone();
    envelope.resolve(version).map_err(|error| Refusal { id, error })
}

/// The id under which a request is refused that nobody reads any further; the one for an unknown id where it tells none.
#[must_use]
pub fn id_of(body: &[u8]) -> Id {
    let id = match Envelope::parse(body) {
        Ok(envelope) => envelope.id,
        Err(refusal) => refusal.id,
    };
    id.unwrap_or_else(Id::null)
}

/// A response that carries a result.
#[must_use]
pub fn success(id: &Id, response: &Response, dialect: Dialect) -> String {
    with_result(id, &response.to_json_in(dialect))
}

/// One event of a stream, in the envelope that each event of a JSON-RPC stream has (A2A 1.0 §9.4.2).
#[must_use]
pub fn event(id: &Id, event: &StreamResponse, dialect: Dialect) -> String {
    with_result(id, &event.to_json_in(dialect))
}

fn with_result(id: &Id, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}

/// A response that carries an error; a host's own errors use the codes from -32099 to -32000.
#[must_use]
pub fn failure(id: &Id, error: &JsonRpcErrorObject) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, to_json(error))
}

/// A request before its method and parameters are looked at.
struct Envelope {
    id: Option<Id>,
    method: String,
    params: Option<Box<RawValue>>,
}

impl Envelope {
    fn parse(body: &[u8]) -> Result<Self, Refusal> {
        let unidentified = |error| Refusal { id: Some(Id::null()), error };
        let raw: &RawValue = serde_json::from_slice(body).map_err(|error| {
            unidentified(A2aError::ParseError(format!("the body is not valid JSON: {error}")))
        })?;
        let invalid = |problem: String| unidentified(A2aError::InvalidRequest(problem));
        if raw.get().starts_with('[') {
            return Err(invalid("batch requests are not supported; send one request at a time".to_owned()));
        }
        let mut members: JsonObject = serde_json::from_str(raw.get())
            .map_err(|_| invalid(format!("expected a request object, found {}", describe(raw))))?;
        let id = match members.remove("id") {
            None => None,
            Some(raw) => match Id::from_raw(&raw) {
                Some(id) => Some(id),
                None => {
                    return Err(invalid(format!(
                        "id must be a string, a number or null, not {}",
                        describe(&raw)
                    )));
                }
            },
        };
        // A request without an id that is no sound notification either is answered, under the id null.
        let invalid = |problem: String| Refusal {
            id: Some(id.clone().unwrap_or_else(Id::null)),
            error: A2aError::InvalidRequest(problem),
        };
        if members.get("jsonrpc").map(RawValue::get) != Some("\"2.0\"") {
            return Err(invalid("jsonrpc must be \"2.0\"".to_owned()));
        }
        let method = match members.get("method").map(|raw| serde_json::from_str(raw.get())) {
            Some(Ok(method)) => method,
            Some(Err(_)) => return Err(invalid("method must be a string".to_owned())),
            None => return Err(invalid("method is required".to_owned())),
        };
        let params = members.remove("params").filter(|raw| raw.get() != "null");
        if let Some(params) = &params
            && !params.get().starts_with(['{', '['])
        {
            return Err(invalid(format!("params must be an object, not {}", describe(params))));
        }
        if is_too_deep(raw.get()) {
            return Err(invalid(format!("the body nests deeper than {MAX_DEPTH} levels")));
        }
        Ok(Self { id, method, params })
    }

    fn resolve(self, version: Result<Version, A2aError>) -> Result<Call, A2aError> {
        let version = version?;
        let Some(operation) = Operation::from_method(version, &self.method) else {
            return Err(unknown_method(version, &self.method));
        };
        let params = match &self.params {
            Some(params) if params.get().starts_with('[') => {
                return Err(A2aError::invalid_params(
                    "params must be an object of named parameters, not an array",
                ));
            }
            Some(params) => params,
            None => no_params(),
        };
        let request = Request::read(operation, params, Dialect::of_json_rpc(version))?;
        Ok(Call { id: self.id, version, request })
    }
}

/// What absent parameters are read as: no member is given, so whatever is required is missed by name.
fn no_params() -> &'static RawValue {
    serde_json::from_str("{}").expect("an empty object is valid JSON")
}

/// An unknown method; one that the other version knows is named as such, for the header is easily forgotten.
fn unknown_method(version: Version, method: &str) -> A2aError {
    let other = match version {
        Version::V1_0 => Version::V0_3,
        Version::V0_3 => Version::V1_0,
    };
    let hint = match Operation::from_method(other, method) {
        Some(_) => format!("; it is one of {other}, to be asked for with the header A2A-Version: {other}"),
        None => String::new(),
    };
    A2aError::MethodNotFound(format!("there is no method {} in A2A {version}{hint}", quoted(method)))
}
