//! What routes take from a request: the agent in the path, ids, pages. What does not fit is refused in the gateway's own words.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path, Query, RawPathParams};
use funduq_contract::{AgentAddress, AgentName, PublicKey};
use http::StatusCode;
use http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::ApiError;
use super::requests;
use crate::app::App;

/// The agent that a path names: `{provider}` is a public key or its fingerprint, `{agent}` the agent's name.
#[derive(Debug)]
pub(crate) struct Agent(pub(crate) AgentAddress);

impl FromRequestParts<Arc<App>> for Agent {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, ApiError> {
        let params = params(parts).await?;
        let find = |wanted: &str| params.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value);
        let provider = provider(app, find("provider").unwrap_or_default())?;
        requests::about_provider(&provider);
        let name = AgentName::new(find("agent").unwrap_or_default())
            .map_err(|invalid| ApiError::bad_request("invalid_path", "agent", invalid.to_string()))?;
        Ok(Self(AgentAddress::new(provider, name)))
    }
}

fn provider(app: &App, text: &str) -> Result<PublicKey, ApiError> {
    if let Ok(fingerprint) = text.parse() {
        let unknown = || {
            let message = format!("there is no provider with the fingerprint {fingerprint} here");
            ApiError::new(StatusCode::NOT_FOUND, "agent_not_found", message).at("provider")
        };
        return app.directory.find(&fingerprint).ok_or_else(unknown);
    }
    text.parse().map_err(|invalid| {
        let message = format!("neither a provider's public key nor its 16-character fingerprint: {invalid}");
        ApiError::bad_request("invalid_path", "provider", message)
    })
}

async fn params(parts: &mut Parts) -> Result<RawPathParams, ApiError> {
    RawPathParams::from_request_parts(parts, &())
        .await
        .map_err(|_| ApiError::bad_request("invalid_path", "", "the path is not UTF-8 when it is decoded"))
}

/// One id in a path, under the name of its place in the route.
#[derive(Debug)]
pub(crate) struct Id<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Id<T> {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let path = Path::<T>::from_request_parts(parts, state).await;
        path.map(|Path(id)| Self(id))
            .map_err(|rejection| ApiError::bad_request("invalid_path", "", rejection.body_text()))
    }
}

/// The most items that one page of a read may have.
const MAX_PAGE: usize = 10_000;

/// Which part of a list: what comes after the position `after` (default 0), at most `limit` items (default 1,000, at most
/// 10,000).
#[derive(Debug, Clone, Copy, Deserialize)]
pub(crate) struct Page {
    #[serde(default)]
    pub(crate) after: u64,
    #[serde(default = "default_page")]
    limit: usize,
}

fn default_page() -> usize {
    1000
}

impl Page {
    /// The most items that are wanted, at least 1.
    pub(crate) fn limit(&self) -> usize {
        self.limit.clamp(1, MAX_PAGE)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Page {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, ApiError> {
        let query = Query::<Self>::from_request_parts(parts, state).await;
        query
            .map(|Query(page)| page)
            .map_err(|rejection| ApiError::bad_request("invalid_query", "", rejection.body_text()))
    }
}
