//! The shapes that errors take on the wire: `google.rpc` details, the JSON-RPC object, the REST body.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::wire::{FieldViolation, to_json};

/// One structured detail, tagged by `@type` as ProtoJSON writes an `Any`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "@type")]
pub enum ErrorDetail {
    /// Which error it is, for machines.
    #[serde(rename = "type.googleapis.com/google.rpc.ErrorInfo")]
    ErrorInfo {
        /// The error's name in upper snake case.
        reason: String,
        /// Who defines that name.
        domain: String,
        /// What the error is about, by name.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        metadata: BTreeMap<String, String>,
    },
    /// Which members of the request are wrong.
    #[serde(rename = "type.googleapis.com/google.rpc.BadRequest")]
    #[serde(rename_all = "camelCase")]
    BadRequest {
        /// Each member with what is wrong with it.
        field_violations: Vec<FieldViolation>,
    },
}

impl ErrorDetail {
    /// An `ErrorInfo` without metadata.
    pub fn error_info(reason: impl Into<String>, domain: impl Into<String>) -> Self {
        Self::ErrorInfo { reason: reason.into(), domain: domain.into(), metadata: BTreeMap::new() }
    }

    /// A `BadRequest`.
    #[must_use]
    pub fn bad_request(field_violations: Vec<FieldViolation>) -> Self {
        Self::BadRequest { field_violations }
    }

    /// Adds an entry to the metadata of an `ErrorInfo`; a `BadRequest` has none and stays as it is.
    #[must_use]
    pub fn with_metadata(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        if let Self::ErrorInfo { metadata, .. } = &mut self {
            metadata.insert(key.into(), value.into());
        }
        self
    }
}

/// The `error` member of a JSON-RPC response (A2A 1.0 §9.5).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct JsonRpcErrorObject {
    /// The JSON-RPC code; a host uses the range from -32099 to -32000 for its own.
    pub code: i32,
    /// What is wrong, for people.
    pub message: String,
    /// What is wrong, for machines.
    pub data: Vec<ErrorDetail>,
}

/// The body of an HTTP+JSON error response (A2A 1.0 §11.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorBody {
    /// The error.
    pub error: RestError,
}

impl ErrorBody {
    /// The body as one JSON document.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_json(self)
    }
}

/// What an [`ErrorBody`] holds: `google.rpc.Status`, with the HTTP status for its code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RestError {
    /// The HTTP status.
    pub code: u16,
    /// The gRPC status by name.
    pub status: String,
    /// What is wrong, for people.
    pub message: String,
    /// What is wrong, for machines.
    pub details: Vec<ErrorDetail>,
}
