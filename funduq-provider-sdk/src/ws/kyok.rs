//! A client of funduq's OpenAI-compatible endpoint, for an agent that spends its caller's model.

use std::fmt;

use funduq_contract::RawJson;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::{Client, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::address::Address;
use super::error::LinkError;
use super::http::chain;
use super::proxy::Proxy;
use super::tls;
use crate::kyok::KyokSigner;
use crate::llm::{Chunks, CompletionError};

/// Calls `/kyok/v1` of one funduq, each call signed by a run's [`KyokSigner`]. One client serves all runs of an agent;
/// cloning is cheap.
#[derive(Clone)]
pub struct KyokClient {
    http: Client,
    address: Address,
}

/// Why a call has no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KyokCallError {
    /// The request is no JSON object.
    #[error("a chat-completion request is a JSON object")]
    NotAnObject,
    /// funduq, or the LLM provider, answered with an error: 401 token or signature, 403 the run is over or the provider
    /// refused, 400 the body, 503 nobody serves the offering, 502 the provider failed.
    #[error("the call was answered with {status}: {}", words(.error))]
    Status {
        /// The HTTP status.
        status: u16,
        /// OpenAI's `error`; the LLM provider's own object where it is the one that said no.
        error: Value,
    },
    /// The answer broke off; the object says why.
    #[error("the answer broke off: {}", words(.0))]
    BrokeOff(Value),
    /// funduq cannot be reached, or says what is no answer.
    #[error("funduq did not answer: {0}")]
    Unanswered(String),
}

fn words(error: &Value) -> String {
    error.get("message").and_then(Value::as_str).map_or_else(|| error.to_string(), str::to_owned)
}

impl KyokClient {
    /// A client of the funduq at `url`, which is the address that the agent's link goes to.
    ///
    /// # Errors
    /// [`LinkError::BadUrl`], [`LinkError::BadProxy`].
    pub fn new(url: &str) -> Result<Self, LinkError> {
        let address = Address::parse(url)?;
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls::client_config(&[])?)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none());
        let bad = |error: reqwest::Error| LinkError::BadUrl {
            url: url.to_owned(),
            problem: format!("no HTTP client for it: {error}"),
        };
        if let Some(proxy) = Proxy::from_environment(&address)? {
            builder = builder.proxy(reqwest::Proxy::all(proxy.url().as_str()).map_err(bad)?);
        }
        Ok(Self { http: builder.build().map_err(bad)?, address })
    }

    /// The whole answer to a chat-completion request, as an object of OpenAI's shape or a type that reads one.
    ///
    /// # Errors
    /// [`KyokCallError`].
    pub async fn complete<T: DeserializeOwned>(
        &self,
        signer: &KyokSigner,
        request: &impl Serialize,
    ) -> Result<T, KyokCallError> {
        let answer = self.call(signer, request, false).await?;
        let body = answer.bytes().await.map_err(unanswered)?;
        serde_json::from_slice(&body).map_err(|error| KyokCallError::Unanswered(error.to_string()))
    }

    /// The answer to a chat-completion request, chunk by chunk. Dropping the stream stops the provider.
    ///
    /// # Errors
    /// [`KyokCallError`], also in mid-stream; nothing comes after it.
    pub async fn stream(
        &self,
        signer: &KyokSigner,
        request: &impl Serialize,
    ) -> Result<BoxStream<'static, Result<RawJson, KyokCallError>>, KyokCallError> {
        let answer = self.call(signer, request, true).await?;
        let chunks = Chunks::from_sse(answer.bytes_stream());
        let broke_off = |broken: CompletionError| {
            KyokCallError::BrokeOff(serde_json::to_value(broken.error()).unwrap_or_default())
        };
        Ok(chunks.map(move |chunk| chunk.map_err(broke_off)).boxed())
    }

    async fn call(
        &self,
        signer: &KyokSigner,
        request: &impl Serialize,
        stream: bool,
    ) -> Result<Response, KyokCallError> {
        let Ok(Value::Object(mut request)) = serde_json::to_value(request) else {
            return Err(KyokCallError::NotAnObject);
        };
        request.insert("stream".to_owned(), stream.into());
        let body = Value::Object(request).to_string();
        let headers = signer.headers(body.as_bytes());
        let call = self
            .http
            .post(self.address.http("/kyok/v1/chat/completions"))
            .bearer_auth(signer.bearer())
            .header(headers.timestamp.0, headers.timestamp.1)
            .header(headers.signature.0, headers.signature.1)
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(body);
        let answer = call.send().await.map_err(unanswered)?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        let status = answer.status().as_u16();
        let body = answer.bytes().await.map_err(unanswered)?;
        let mut body: Value = serde_json::from_slice(&body).unwrap_or_default();
        Err(KyokCallError::Status { status, error: body["error"].take() })
    }
}

fn unanswered(error: reqwest::Error) -> KyokCallError {
    KyokCallError::Unanswered(chain(&error))
}

impl fmt::Debug for KyokClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KyokClient").field("address", &self.address.to_string()).finish_non_exhaustive()
    }
}
