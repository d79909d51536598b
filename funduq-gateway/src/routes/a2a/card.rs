//! The agent card over HTTP: one document for both versions, which a client may keep for a while (A2A 1.0 §8.2, §8.6).

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use funduq_a2a::{AgentInterface, BINDING_HTTP_JSON, BINDING_JSONRPC, Version, v03};
use http::header::{CACHE_CONTROL, ETAG, IF_NONE_MATCH};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};

use super::refusal::Refused;
use super::security;
use crate::app::App;
use crate::http::error::ApiError;
use crate::http::extract::Agent;
use crate::http::{json, urls};

/// How long a client may keep a card without asking again.
const KEEP: HeaderValue = HeaderValue::from_static("public, max-age=60");

pub(super) async fn get(
    State(app): State<Arc<App>>,
    Agent(agent): Agent,
    parts: Parts,
) -> Result<Response, ApiError> {
    let url = urls::a2a(&urls::base(&parts, &app.config.public_url, &app.listening), &agent);
    let mut card = match app.funduq.a2a().agent_card(&agent, interfaces(&url)).await {
        Ok(card) => card,
        Err(error) => return Ok(Refused::from(error).into_rest()),
    };
    if app.presenters.ask_for_token() {
        security::ask_for_token(&mut card);
    }
    let document = v03::card_document(&card);
    let tag = tag(&document);
    let mut answer = match is_known(&parts.headers, &tag) {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => json::text(StatusCode::OK, document),
    };
    answer.headers_mut().insert(CACHE_CONTROL, KEEP);
    if let Ok(tag) = HeaderValue::try_from(tag) {
        answer.headers_mut().insert(ETAG, tag);
    }
    Ok(answer)
}

/// Where the agent is reached, the preferred way first: 1.0 before 0.3, JSON-RPC before HTTP+JSON.
fn interfaces(url: &str) -> Vec<AgentInterface> {
    let bindings = |version: Version| {
        [BINDING_JSONRPC, BINDING_HTTP_JSON]
            .map(|binding| AgentInterface::new(url, binding, version.as_str()))
    };
    Version::ALL.into_iter().flat_map(bindings).collect()
}

/// A document's entity tag.
fn tag(document: &str) -> String {
    let mut hasher = DefaultHasher::new();
    document.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

/// Whether the caller has the document already (RFC 9110 §13.1.2, which compares weakly).
fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_card_is_known_among_others_and_weakly() {
        let asked =
            |value: &str| is_known(&[(IF_NONE_MATCH, value.parse().unwrap())].into_iter().collect(), "\"a\"");
        for value in ["\"a\"", "W/\"a\"", "\"b\", \"a\"", "*"] {
            assert!(asked(value), "{value}");
        }
        assert!(!asked("\"b\""));
        assert!(!is_known(&HeaderMap::new(), "\"a\""));
    }
}
