//! A caller that speaks A2A by hand, so that a test sees what is on the wire.

use funduq_contract::AgentAddress;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use crate::support::{Raw, TestGateway, client, request};

/// A caller of one agent.
pub(crate) struct Caller {
    pub(crate) url: String,
    client: reqwest::Client,
}

/// A gateway with the demo agents, and a caller of `echo`.
pub(crate) async fn demo() -> (TestGateway, Caller) {
    let gateway = TestGateway::configured(|config| config.demo = true).await;
    let caller = Caller::of(&gateway, gateway.demo_agent().unwrap());
    (gateway, caller)
}

/// An answer as a test looks at it.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) media: String,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) async fn of(response: Response) -> Self {
        let headers = response.headers().clone();
        let media = headers.get("content-type").map(|media| media.to_str().unwrap().to_owned());
        let status = response.status().as_u16();
        Self { status, media: media.unwrap_or_default(), headers, body: response.text().await.unwrap() }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

impl Caller {
    pub(crate) fn of(gateway: &TestGateway, agent: &AgentAddress) -> Self {
        Self { url: format!("{}/a2a/{}/{}", gateway.url(), agent.provider, agent.name), client: client() }
    }

    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, format!("{}{path}", self.url))
    }

    /// Posts a body as it stands, as a caller of 1.0.
    pub(crate) async fn post(&self, body: impl Into<String>) -> Answer {
        let request = self.request("POST", "").header("a2a-version", "1.0").body(body.into());
        Answer::of(request.send().await.unwrap()).await
    }

    /// Calls a method of 1.0 and has the whole response.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Value {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = self.post(body.to_string()).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// The same, which has to have a result.
    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let response = self.call(method, params).await;
        response.get("result").unwrap_or_else(|| panic!("{response}")).clone()
    }

    /// Asks the HTTP+JSON binding of 1.0.
    pub(crate) async fn rest(&self, method: &str, path: &str, body: Option<Value>) -> Answer {
        let request = self.request(method, path).header("a2a-version", "1.0");
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        Answer::of(request.send().await.unwrap()).await
    }

    /// Opens a stream of 1.0 over JSON-RPC, as its bytes come.
    pub(crate) async fn open(&self, method: &str, params: Value, headers: &str) -> Raw {
        let body = json!({"jsonrpc": "2.0", "id": "s", "method": method, "params": params}).to_string();
        let headers = format!("a2a-version: 1.0\r\ncontent-length: {}\r\n{headers}", body.len());
        Raw::send(&self.url, &request("POST", &self.url, &headers), body.as_bytes()).await
    }
}

/// A message with a text.
pub(crate) fn message(text: &str) -> Value {
    json!({"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// The same with further members of the message.
pub(crate) fn message_with(text: &str, members: Value) -> Value {
    let mut request = message(text);
    request["message"].as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    request
}

/// The same, answered as soon as the task exists.
pub(crate) fn at_once(mut request: Value) -> Value {
    request["configuration"] = json!({"returnImmediately": true});
    request
}
