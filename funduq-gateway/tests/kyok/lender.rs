//! An LLM provider made of the SDK, whose every answer is the test's to give.

use std::time::Duration;

use funduq_agui::RawObject;
use funduq_contract::{AgentAddress, RawJson};
use funduq_provider_sdk::ProviderIdentity;
use funduq_provider_sdk::llm::{Chunks, Completion, CompletionError, LlmOfferings, LlmRuntime};
use funduq_provider_sdk::ws::{self, Link};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::support::{SOON, TestGateway};

/// One completion that the provider was asked for.
pub(crate) struct Asked {
    pub(crate) completion: Completion,
    say: Option<mpsc::UnboundedSender<Result<RawJson, CompletionError>>>,
}

pub(crate) struct Lender {
    pub(crate) identity: ProviderIdentity,
    link: Option<Link<LlmRuntime>>,
    asked: mpsc::UnboundedReceiver<Asked>,
}

impl Lender {
    /// Lends `gpt`.
    pub(crate) async fn online(gateway: &TestGateway) -> Self {
        Self::online_as(gateway, ProviderIdentity::generate()).await
    }

    pub(crate) async fn online_as(gateway: &TestGateway, identity: ProviderIdentity) -> Self {
        let (sender, asked) = mpsc::unbounded_channel();
        let handler = move |completion| {
            let (say, said) = mpsc::unbounded_channel();
            let _listening = sender.send(Asked { completion, say: Some(say) });
            let said = stream::unfold(said, |mut said| async { Some((said.recv().await?, said)) });
            std::future::ready(Ok(Chunks::new(said)))
        };
        let offerings = LlmOfferings::new(["gpt"], handler).unwrap().metadata(object(json!({"tier": 1})));
        let link = ws::serve_llm(gateway.url(), identity.clone(), offerings).pin(gateway.public_key());
        let mut link = link.drain(Duration::from_millis(100)).start().unwrap();
        assert!(link.online().await);
        Self { identity, link: Some(link), asked }
    }

    pub(crate) fn offering(&self) -> AgentAddress {
        AgentAddress::new(self.identity.public_key(), "gpt".parse().unwrap())
    }

    /// The next completion.
    pub(crate) async fn asked(&mut self) -> Asked {
        timeout(SOON, self.asked.recv()).await.expect("a completion").unwrap()
    }

    /// Whether nothing more was asked for.
    pub(crate) fn is_idle(&mut self) -> bool {
        self.asked.try_recv().is_err()
    }

    /// Its process ends, without a word.
    pub(crate) fn die(&mut self) {
        self.link = None;
    }

    /// It stops in order, and the gateway has seen it.
    pub(crate) async fn stop(mut self, gateway: &TestGateway) {
        let mut changes = gateway.funduq().on_change();
        self.link.take().unwrap().stop().await.unwrap();
        let gone = async {
            while gateway.funduq().served_llm().iter().any(|(served, _)| *served == self.offering()) {
                changes.recv().await.unwrap();
            }
        };
        timeout(SOON, gone).await.expect("the offering goes offline");
    }
}

impl Asked {
    pub(crate) fn chunk(&self, text: &str) {
        self.say.as_ref().unwrap().send(Ok(RawJson::new(text).unwrap())).unwrap();
    }

    /// A chunk that says a word.
    pub(crate) fn word(&self, word: &str) {
        self.chunk(&said(word).to_string());
    }

    pub(crate) fn fail(&mut self, error: CompletionError) {
        self.say.take().unwrap().send(Err(error)).unwrap();
    }

    /// The answer is whole.
    pub(crate) fn end(&mut self) {
        self.say = None;
    }

    /// Waits until the SDK has dropped the stream.
    pub(crate) async fn dropped(&self) {
        timeout(SOON, self.say.as_ref().unwrap().closed()).await.expect("the stream is dropped");
    }
}

/// A chunk with a piece of content.
pub(crate) fn said(word: &str) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": {"content": word}, "finish_reason": null}]})
}

pub(crate) fn object(value: Value) -> RawObject {
    serde_json::from_value(value).unwrap()
}
