//! An agent in the middle of a run whose caller lends it a model, which calls by hand so that a test sees every byte.

use std::time::{SystemTime, UNIX_EPOCH};

use funduq_contract::{AgentAddress, FunduqProps, Identity, Offer, Signature};
use funduq_core::RunStatus;
use reqwest::{RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use crate::support::{Provider, Raw, TestGateway, client, finished, input, started};

/// A run that is live, with its grant.
pub(crate) struct Spender {
    pub(crate) provider: Provider,
    pub(crate) offer: Offer,
    pub(crate) token: String,
    url: String,
    caller: JoinHandle<Raw>,
}

/// A run input that opts in to an offering.
pub(crate) fn opting_in(offering: &AgentAddress) -> Value {
    let mut input = input("hello");
    input["forwardedProps"] = json!({
        "kyok": {"llmProvider": {"providerKey": offering.provider, "name": offering.name}, "context": {"budget": 5}},
        "voucher": "as sent",
    });
    input
}

impl Spender {
    /// Begins a run that may spend this offering.
    pub(crate) async fn begin(gateway: &TestGateway, offering: &AgentAddress) -> Self {
        let mut spender = Self::begin_with(gateway, opting_in(offering)).await;
        let grant = spender.props().kyok.expect("the run opted in, so it has a grant");
        spender.token = grant.token;
        spender
    }

    /// Begins a run with this input.
    pub(crate) async fn begin_with(gateway: &TestGateway, input: Value) -> Self {
        let mut provider = Provider::serving(gateway, &["spender"]).await;
        let agui = gateway.agui(&provider.agent("spender"));
        let caller = tokio::spawn(async move { Raw::post(&agui, &input).await });
        let offer = provider.accept().await;
        gateway.until_run_is(offer.run.run_id.as_str(), RunStatus::Running).await;
        let url = gateway.url_of("/kyok/v1/chat/completions");
        Self { provider, offer, token: String::new(), url, caller }
    }

    /// What funduq told the agent.
    pub(crate) fn props(&self) -> FunduqProps {
        let props = self.offer.run.input.forwarded_props.as_ref().unwrap().as_object().unwrap();
        FunduqProps::read(props).unwrap()
    }

    /// A call with this body, signed as it has to be.
    pub(crate) async fn call(&self, body: &str) -> Response {
        self.request(body).send().await.unwrap()
    }

    pub(crate) fn request(&self, body: &str) -> RequestBuilder {
        let at = now();
        self.signed(at, self.sign(&self.provider.identity, at, body), body)
    }

    pub(crate) fn sign(&self, signer: &Identity, at: i64, body: &str) -> Signature {
        signer.sign_kyok_call(&self.token, at, body.as_bytes())
    }

    /// A call with whatever time and signature.
    pub(crate) fn signed(&self, at: i64, signature: Signature, body: &str) -> RequestBuilder {
        client()
            .post(&self.url)
            .bearer_auth(&self.token)
            .header("funduq-timestamp", at.to_string())
            .header("funduq-signature", signature.to_string())
            .body(body.to_owned())
    }

    /// The run ends.
    pub(crate) async fn finish(mut self) -> (Provider, String) {
        let run = &self.offer.run.run_id;
        self.provider.event(run, 1, &started(&self.offer)).await;
        self.provider.event(run, 2, &finished(&self.offer)).await;
        self.caller.await.unwrap().rest().await;
        (self.provider, self.token)
    }
}

/// A request of a chat completion.
pub(crate) fn request(stream: bool) -> String {
    json!({"model": "any", "messages": [{"role": "user", "content": "hi"}], "stream": stream}).to_string()
}

pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().try_into().unwrap()
}

/// The status of an answer, and its `error`.
pub(crate) async fn error(answer: Response) -> (u16, Value) {
    let status = answer.status().as_u16();
    let body: Value = answer.json().await.unwrap();
    assert_eq!(body.as_object().unwrap().len(), 1, "{body}");
    (status, body["error"].clone())
}

/// The same, with the error's code alone.
pub(crate) async fn code(answer: Response) -> (u16, String) {
    let (status, error) = error(answer).await;
    assert!(error["message"].is_string() && error["type"].is_string(), "{error}");
    (status, error["code"].as_str().unwrap_or_default().to_owned())
}
