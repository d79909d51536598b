//! The HTTP+JSON binding as pure functions: verb, path, query and body to a request (A2A 1.0 §11).

mod path;
mod query;

use serde_json::value::{RawValue, to_raw_value};

use crate::operation::{OPERATIONS, Operation, OperationRow, Verb};
use crate::version::VERSION_PARAMETER;
use crate::wire::{InvalidMessage, JsonObject, names_match, quoted};
use crate::{A2aError, Dialect, ErrorBody, Request, Version};

use self::path::match_template;

/// The media type of this binding's successes (A2A 1.0 §11.1).
pub const MEDIA_TYPE: &str = "application/a2a+json";

/// An operation found by verb and path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    /// The operation.
    pub operation: Operation,
    /// The version that has this path: 0.3 below `/v1/`, 1.0 elsewhere.
    pub version: Version,
    verb: Verb,
    parameters: Vec<(&'static str, String)>,
}

/// No operation for a verb and a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RouteMiss {
    /// Nothing is at this path: 404.
    #[error("there is nothing at this path")]
    NotFound,
    /// Something is at this path, for other verbs: 405.
    #[error("this path does not take this verb; it takes {}", .allow.join(", "))]
    MethodNotAllowed {
        /// The verbs for the `Allow` header.
        allow: Vec<&'static str>,
    },
}

impl RouteMiss {
    /// The HTTP status.
    #[must_use]
    pub fn http_status(&self) -> u16 {
        match self {
            Self::NotFound => 404,
            Self::MethodNotAllowed { .. } => 405,
        }
    }

    /// The body of the response.
    #[must_use]
    pub fn to_rest(&self) -> ErrorBody {
        let mut body = A2aError::MethodNotFound(self.to_string()).to_rest();
        body.error.code = self.http_status();
        if let Self::MethodNotAllowed { .. } = self {
            "UNIMPLEMENTED".clone_into(&mut body.error.status);
        }
        body
    }
}

/// Finds the operation for a verb and a path.
///
/// `path` is what follows the interface's URL, still percent-encoded; a trailing slash does not matter.
///
/// # Errors
/// [`RouteMiss`] when nothing is there, or nothing for this verb.
pub fn find(verb: &str, path: &str) -> Result<Route, RouteMiss> {
    let mut allow = Vec::new();
    for row in &OPERATIONS {
        for version in Version::ALL {
            let Some(parameters) = row.path_in(version).and_then(|template| match_template(template, path))
            else {
                continue;
            };
            if let Some(verb) = row.verbs.iter().find(|own| own.as_str() == verb) {
                return Ok(Route { operation: row.operation, version, verb: *verb, parameters });
            }
            allow.extend(row.verbs.iter().map(|verb| verb.as_str()));
        }
    }
    if allow.is_empty() { Err(RouteMiss::NotFound) } else { Err(RouteMiss::MethodNotAllowed { allow }) }
}

impl Route {
    /// How messages are spelled on this route.
    #[must_use]
    pub fn dialect(&self) -> Dialect {
        Dialect::of_rest(self.version)
    }

    /// Reads the request from the version parameter, the raw query string and the body.
    ///
    /// A caller who names no version speaks that of the path. A parameter in the path wins over one of the same
    /// name in the body. No body at all, and `null`, count as `{}`.
    ///
    /// # Errors
    /// [`A2aError::VersionNotSupported`] when the version named is unknown or not that of the path,
    /// [`A2aError::ParseError`] for a body that is no JSON, [`A2aError::InvalidParams`] for everything else.
    pub fn read(
        &self,
        version_parameter: Option<&str>,
        query: &str,
        body: &[u8],
    ) -> Result<Request, A2aError> {
        self.check_version(version_parameter)?;
        let params = match self.verb {
            Verb::Get | Verb::Delete => self.params_of_query(query)?,
            Verb::Post => self.params_of_body(body)?,
        };
        Request::read(self.operation, &params, self.dialect())
    }

    fn check_version(&self, parameter: Option<&str>) -> Result<(), A2aError> {
        match Version::named(parameter)? {
            Some(named) if named != self.version => Err(A2aError::VersionNotSupported(format!(
                "this path belongs to A2A {}, the request says {VERSION_PARAMETER}: {named}; 0.3 is below /v1/, 1.0 is not",
                self.version
            ))),
            _ => Ok(()),
        }
    }

    fn params_of_query(&self, query: &str) -> Result<Box<RawValue>, A2aError> {
        let row: &OperationRow = self.operation.row();
        let mut members = query::read(query, row.query)?;
        self.add_path_parameters(&mut members);
        Ok(as_raw(&members))
    }

    fn params_of_body(&self, body: &[u8]) -> Result<Box<RawValue>, A2aError> {
        let body = body.trim_ascii();
        let body = if body.is_empty() || body == b"null" { b"{}" } else { body };
        let raw: Box<RawValue> =
            serde_json::from_slice(body).map_err(|error| InvalidMessage::NotJson(error.to_string()))?;
        if self.parameters.is_empty() {
            return Ok(raw);
        }
        let Ok(mut members) = serde_json::from_str::<JsonObject>(raw.get()) else {
            return Err(A2aError::invalid_field("", "the body must be an object"));
        };
        self.add_path_parameters(&mut members);
        Ok(as_raw(&members))
    }

    fn add_path_parameters(&self, members: &mut JsonObject) {
        for (name, value) in &self.parameters {
            members.retain(|key, _| !names_match(key, name));
            members.insert(*name, string(value));
        }
    }
}

fn as_raw(members: &JsonObject) -> Box<RawValue> {
    to_raw_value(members).expect("an object of JSON texts writes to memory")
}

fn string(text: &str) -> Box<RawValue> {
    to_raw_value(text).expect("text writes to memory")
}

/// A query parameter that cannot be read.
fn invalid_parameter(name: &str, expected: &str, found: &str) -> A2aError {
    A2aError::invalid_field(name, format!("expected {expected}, found {}", quoted(found)))
}
