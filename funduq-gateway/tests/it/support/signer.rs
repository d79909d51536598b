//! A caller that proves its key, and one that bends the proof.

use std::time::{SystemTime, UNIX_EPOCH};

use funduq_contract::http_signature::RequestTarget;
use funduq_contract::{Identity, Nonce};
use serde_json::Value;

use super::{client, events};

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

/// Header fields.
pub(crate) type Fields = Vec<(&'static str, String)>;

/// The fields that sign a request as of a time.
pub(crate) fn signed_at(identity: &Identity, method: &str, url: &str, body: &str, at: i64) -> Fields {
    let uri: http::Uri = url.parse().unwrap();
    let target = RequestTarget::new(
        method,
        uri.scheme_str().unwrap(),
        uri.authority().unwrap().as_str(),
        uri.path(),
        uri.query(),
    );
    let signed = identity.sign_request(&target, body.as_bytes(), at, &Nonce::generate());
    signed.iter().map(|(name, value)| (name, value.to_owned())).collect()
}

/// The fields that sign a POST as of now.
pub(crate) fn signed(identity: &Identity, url: &str, body: &str) -> Fields {
    signed_at(identity, "POST", url, body, now())
}

/// An answer, whole.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) body: String,
}

impl Heard {
    pub(crate) async fn of(request: reqwest::RequestBuilder) -> Self {
        let answer = request.send().await.unwrap();
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        Self { status, headers, body: answer.text().await.unwrap() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// Status and word of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap_or_else(|| panic!("{self:?}")).to_owned())
    }

    /// The type of the last event of a stream.
    pub(crate) fn last_event(&self) -> String {
        assert_eq!(self.status, 200, "{self:?}");
        events(&self.body).last().unwrap().1["type"].as_str().unwrap().to_owned()
    }
}

/// Posts a body with these fields.
pub(crate) async fn post(url: &str, body: &str, fields: &Fields) -> Heard {
    let mut request = client().post(url).header("content-type", "application/json").body(body.to_owned());
    for (name, value) in fields {
        request = request.header(*name, value);
    }
    Heard::of(request).await
}

/// Posts a body as somebody.
pub(crate) async fn post_as(identity: &Identity, url: &str, body: &Value) -> Heard {
    let body = body.to_string();
    post(url, &body, &signed(identity, url, &body)).await
}

/// Reads as somebody, or as nobody.
pub(crate) async fn get_as(identity: Option<&Identity>, url: &str) -> Heard {
    let mut request = client().get(url);
    for (name, value) in
        identity.map(|identity| signed_at(identity, "GET", url, "", now())).into_iter().flatten()
    {
        request = request.header(name, value);
    }
    Heard::of(request).await
}
