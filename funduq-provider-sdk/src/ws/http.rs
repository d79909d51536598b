//! What is asked of funduq over HTTP before a link: its key, and a ticket for the provider's.

use std::time::Duration;

use funduq_contract::{PublicKey, Ticket};
use reqwest::{Client, Response};
use serde::{Deserialize, Serialize};

use super::address::Address;
use super::error::LinkError;
use super::proxy::Proxy;

const TIMEOUT: Duration = Duration::from_secs(15);
/// The most bytes that an answer may have.
const MAX_BODY: usize = 64 << 10;

/// Asks funduq.
pub(super) struct Http {
    client: Client,
    address: Address,
    bearer: Option<String>,
}

/// Why there is no ticket.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    /// Trying again is of no use.
    #[error(transparent)]
    Final(#[from] LinkError),
    /// It may be otherwise in a while.
    #[error("{0}")]
    Temporary(String),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TicketRequest {
    public_key: PublicKey,
}

#[derive(Deserialize)]
struct TicketAnswer {
    ticket: Ticket,
}

/// As much of `/.well-known/funduq.json` as a provider needs.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WellKnown {
    public_key: Option<PublicKey>,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: ErrorText,
}

#[derive(Deserialize)]
struct ErrorText {
    message: String,
}

impl Http {
    pub(super) fn new(
        address: Address,
        tls: rustls::ClientConfig,
        proxy: Option<&Proxy>,
        bearer: Option<String>,
    ) -> Result<Self, LinkError> {
        let bad = |error: reqwest::Error| LinkError::BadUrl {
            url: address.to_string(),
            problem: format!("no HTTP client for it: {error}"),
        };
        // The proxy is chosen once, for these requests and for the link. Connections are not kept:
        // minutes or days lie between two tickets.
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls)
            .no_proxy()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(TIMEOUT)
            .pool_max_idle_per_host(0);
        if let Some(proxy) = proxy {
            builder = builder.proxy(reqwest::Proxy::all(proxy.url().as_str()).map_err(bad)?);
        }
        let client = builder.build().map_err(bad)?;
        Ok(Self { client, address, bearer })
    }

    /// A ticket for this key.
    pub(super) async fn ticket(&self, public_key: PublicKey) -> Result<Ticket, HttpError> {
        let body = serde_json::to_vec(&TicketRequest { public_key }).map_err(temporary)?;
        let mut request = self
            .client
            .post(self.address.http("/tickets"))
            .header(reqwest::header::CONTENT_TYPE, "application/json")
            .body(body);
        if let Some(bearer) = &self.bearer {
            request = request.bearer_auth(bearer);
        }
        let response = request.send().await.map_err(|error| temporary(chain(&error)))?;
        let status = response.status();
        let body = read(response).await?;
        if status.is_success() {
            let answer: TicketAnswer = serde_json::from_slice(&body)
                .map_err(|error| HttpError::Temporary(format!("the answer to POST /tickets: {error}")))?;
            return Ok(answer.ticket);
        }
        let message = match serde_json::from_slice::<ErrorBody>(&body) {
            Ok(body) => body.error.message,
            Err(_) => String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned(),
        };
        match status.as_u16() {
            status @ (400 | 401 | 403 | 422) => Err(LinkError::NotAdmitted { status, message }.into()),
            status => Err(HttpError::Temporary(format!("POST /tickets answered {status}: {message}"))),
        }
    }

    /// The key that this funduq says it has; `None` for one without an identity.
    pub(super) async fn funduq_key(&self) -> Result<Option<PublicKey>, HttpError> {
        let url = self.address.http("/.well-known/funduq.json");
        let response = self.client.get(url).send().await.map_err(|error| temporary(chain(&error)))?;
        let status = response.status();
        let body = read(response).await?;
        if !status.is_success() {
            return Err(HttpError::Temporary(format!("GET /.well-known/funduq.json answered {status}")));
        }
        let answer: WellKnown = serde_json::from_slice(&body)
            .map_err(|error| HttpError::Temporary(format!("/.well-known/funduq.json: {error}")))?;
        Ok(answer.public_key)
    }
}

async fn read(mut response: Response) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| temporary(chain(&error)))? {
        if body.len() + chunk.len() > MAX_BODY {
            return Err(temporary(format!("an answer of more than {MAX_BODY} bytes")));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn temporary(problem: impl std::fmt::Display) -> HttpError {
    HttpError::Temporary(problem.to_string())
}

/// An error with its causes: reqwest's own words say little without them.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
