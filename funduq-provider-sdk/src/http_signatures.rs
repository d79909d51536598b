//! Requests that say whose they are: HTTP Message Signatures (RFC 9421) with the provider's own key.
//!
//! An agent that hands a run on presents the run's chain, and funduq has to know that it is the chain's last hop who presents
//! it. The signature says so with the key that funduq knows already: [`headers`] makes it for any HTTP library,
//! [`sign`] for a [`reqwest::Request`], and [`HttpSignatures`] is a middleware for a `reqwest_middleware` client.
//!
//! ```no_run
//! use funduq_provider_sdk::ProviderIdentity;
//! use funduq_provider_sdk::http_signatures::HttpSignatures;
//!
//! # async fn ask() -> Result<(), Box<dyn std::error::Error>> {
//! let identity = ProviderIdentity::load_or_create("provider.key")?;
//! let client = reqwest_middleware::ClientBuilder::new(reqwest::Client::new())
//!     .with(HttpSignatures::new(identity))
//!     .build();
//! let answer = client.post("https://relay.example/a2a/KEY/echo").body("{}").send().await?;
//! # drop(answer);
//! # Ok(())
//! # }
//! ```
//!
//! A signature is good for a minute and for one sending: sign when you send, and again when you send again. A client that
//! follows a redirect sends the signature of the first address along, which holds nowhere else.

use std::time::{SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use funduq_contract::Nonce;
use funduq_contract::http_signature::{RequestTarget, SignatureHeaders};
use http::header::HOST;
use http::request::Parts;
use http::{Extensions, HeaderName, HeaderValue};
use reqwest_middleware::{Middleware, Next};

use crate::identity::ProviderIdentity;

/// Why a request cannot be signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsignableRequest {
    /// It names no host, in neither its address nor a `Host` header.
    #[error("the request names no host; give it a whole address or a Host header")]
    NoHost,
    /// Its body is a stream, whose digest is known only when it was sent.
    #[error("the request's body is a stream; a signature covers the body, so it has to be there as a whole")]
    StreamedBody,
}

/// The header fields that sign a request as it stands, now: `Content-Digest`, `Signature-Input` and `Signature`, to be added
/// to it. The body as its bytes go out.
///
/// # Errors
/// [`UnsignableRequest::NoHost`].
pub fn headers(
    identity: &ProviderIdentity,
    request: &Parts,
    body: &[u8],
) -> Result<[(HeaderName, HeaderValue); 3], UnsignableRequest> {
    let named = request.headers.get(HOST).and_then(|host| host.to_str().ok());
    let authority = request.uri.authority().map(|authority| authority.as_str()).or(named);
    let authority = authority.map(|authority| authority.rsplit_once('@').map_or(authority, |(_, host)| host));
    let target = RequestTarget::new(
        request.method.as_str(),
        request.uri.scheme_str().unwrap_or("https"),
        authority.ok_or(UnsignableRequest::NoHost)?,
        request.uri.path(),
        request.uri.query(),
    );
    Ok(fields(&signed(identity, &target, body)))
}

/// Signs a request where it stands, in place of a signature that it had.
///
/// # Errors
/// [`UnsignableRequest`].
pub fn sign(identity: &ProviderIdentity, request: &mut reqwest::Request) -> Result<(), UnsignableRequest> {
    let body = match request.body() {
        None => b"",
        Some(body) => body.as_bytes().ok_or(UnsignableRequest::StreamedBody)?,
    };
    let url = request.url();
    let host = url.host_str().ok_or(UnsignableRequest::NoHost)?;
    let authority = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    let target =
        RequestTarget::new(request.method().as_str(), url.scheme(), &authority, url.path(), url.query());
    for (name, value) in fields(&signed(identity, &target, body)) {
        request.headers_mut().insert(name, value);
    }
    Ok(())
}

fn signed(identity: &ProviderIdentity, target: &RequestTarget, body: &[u8]) -> SignatureHeaders {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let now = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
    identity.sign_request(target, body, now, &Nonce::generate())
}

fn fields(signed: &SignatureHeaders) -> [(HeaderName, HeaderValue); 3] {
    let value =
        |text: &str| HeaderValue::from_str(text).expect("base64, hex and punctuation are header text");
    [
        (HeaderName::from_static("content-digest"), value(&signed.content_digest)),
        (HeaderName::from_static("signature-input"), value(&signed.signature_input)),
        (HeaderName::from_static("signature"), value(&signed.signature)),
    ]
}

/// A middleware that signs each request of a `reqwest_middleware` client. Put it last, so that nothing changes behind it.
#[derive(Debug, Clone)]
pub struct HttpSignatures {
    identity: ProviderIdentity,
}

impl HttpSignatures {
    /// Signs with this key.
    pub fn new(identity: ProviderIdentity) -> Self {
        Self { identity }
    }
}

#[async_trait]
impl Middleware for HttpSignatures {
    async fn handle(
        &self,
        mut request: reqwest::Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        sign(&self.identity, &mut request).map_err(reqwest_middleware::Error::middleware)?;
        next.run(request, extensions).await
    }
}

#[cfg(test)]
mod tests {
    use funduq_contract::http_signature::RequestSignature;

    use super::*;

    fn verified(fields: &[(HeaderName, HeaderValue)], target: &RequestTarget, body: &[u8]) -> bool {
        let field = |name: &str| {
            let value =
                fields.iter().find(|(known, _)| known == name).map(|(_, value)| value.to_str().unwrap());
            value.map(str::to_owned)
        };
        let signature = RequestSignature::read(&field).unwrap().unwrap();
        signature.verify(target, &field).is_ok() && signature.check_body(body).is_ok()
    }

    #[test]
    fn a_requests_parts_are_signed_as_they_are_sent() {
        let identity = ProviderIdentity::generate();
        let target = RequestTarget::new("POST", "https", "relay.example:8443", "/a%20b", Some("c=d"));
        let whole = http::Request::post("https://user@Relay.example:8443/a%20b?c=d").body(()).unwrap();
        let relative = http::Request::post("/a%20b?c=d").header(HOST, "relay.example:8443").body(()).unwrap();
        for request in [whole, relative] {
            let fields = headers(&identity, &request.into_parts().0, b"body").unwrap();
            assert!(verified(&fields, &target, b"body"));
        }
        let nowhere = http::Request::post("/a").body(()).unwrap().into_parts().0;
        assert_eq!(headers(&identity, &nowhere, b""), Err(UnsignableRequest::NoHost));
    }

    #[test]
    fn a_reqwest_request_is_signed_in_place_and_anew() {
        let identity = ProviderIdentity::generate();
        let url = "http://127.0.0.1:8787/x?y".parse().unwrap();
        let mut request = reqwest::Request::new(reqwest::Method::POST, url);
        *request.body_mut() = Some("body".into());
        sign(&identity, &mut request).unwrap();
        let first = request.headers()["signature"].clone();
        sign(&identity, &mut request).unwrap();
        assert_ne!(request.headers()["signature"], first, "each has a nonce of its own");
        let fields: Vec<_> =
            request.headers().iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        assert_eq!(fields.len(), 3);
        let target = RequestTarget::new("POST", "http", "127.0.0.1:8787", "/x", Some("y"));
        assert!(verified(&fields, &target, b"body"));
    }

    #[test]
    fn a_streamed_body_is_not_signed_as_an_empty_one() {
        let url = "http://127.0.0.1/".parse().unwrap();
        let mut request = reqwest::Request::new(reqwest::Method::POST, url);
        let stream = futures_util::stream::iter([Ok::<_, std::io::Error>("a")]);
        *request.body_mut() = Some(reqwest::Body::wrap_stream(stream));
        let refused = sign(&ProviderIdentity::generate(), &mut request);
        assert_eq!(refused, Err(UnsignableRequest::StreamedBody));
    }
}
