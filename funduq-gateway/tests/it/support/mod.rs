//! A gateway of a test's own, and the two kinds of parties that talk to it.

mod http;
mod process;
mod provider;
mod signer;

use std::collections::HashMap;
use std::ops::Deref;
use std::time::Duration;

use funduq_contract::{ActorChain, AgentAddress, Identity, RunId};
use funduq_core::RunStatus;
use funduq_gateway::{Config, Durability, Gateway};
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use http::{Raw, client, clients, events, request};
pub(crate) use process::{Serving, end, funduq};
pub(crate) use provider::{Closed, Provider, finished, started, ticket};
pub(crate) use signer::{Fields, Heard, get_as, now, post, post_as, signed, signed_at};

/// How long a test waits for what has to come.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// A gateway on a port and a folder of its own.
pub(crate) struct TestGateway {
    gateway: Gateway,
    _folder: TempDir,
}

impl Deref for TestGateway {
    type Target = Gateway;

    fn deref(&self) -> &Gateway {
        &self.gateway
    }
}

impl TestGateway {
    pub(crate) async fn start() -> Self {
        Self::configured(|_| {}).await
    }

    /// Starts one on the folder of one that was stopped.
    pub(crate) async fn again(folder: TempDir) -> Self {
        Self::again_configured(folder, |_| {}).await
    }

    pub(crate) async fn configured(change: impl FnOnce(&mut Config)) -> Self {
        Self::again_configured(tempfile::tempdir().unwrap(), change).await
    }

    pub(crate) async fn again_configured(folder: TempDir, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = config(folder.path());
        change(&mut config);
        let gateway = Gateway::start(config).await.unwrap();
        Self { gateway, _folder: folder }
    }

    pub(crate) fn url_of(&self, path: &str) -> String {
        format!("{}{path}", self.url())
    }

    pub(crate) fn agui(&self, agent: &AgentAddress) -> String {
        format!("{}/agui/{}/{}", self.url(), agent.provider, agent.name)
    }

    /// Its data folder.
    pub(crate) fn data_dir(&self) -> std::path::PathBuf {
        self._folder.path().join("data")
    }

    /// Stops the gateway, and gives its folder back.
    pub(crate) async fn stop(self) -> TempDir {
        self.gateway.shutdown().await;
        self._folder
    }

    /// GET of one of the gateway's own routes.
    pub(crate) async fn read(&self, path: &str) -> Value {
        let answer = client().get(self.url_of(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        answer.json().await.unwrap()
    }

    /// What the page of metrics says now, by name and labels.
    pub(crate) async fn figures(&self) -> HashMap<String, f64> {
        let answer = client().get(self.url_of("/metrics")).send().await.unwrap();
        assert_eq!(answer.headers()["content-type"], "text/plain; version=0.0.4; charset=utf-8");
        let page = answer.text().await.unwrap();
        let lines = page.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(|line| line.rsplit_once(' ').unwrap())
            .map(|(name, value)| (name.into(), value.parse().unwrap()))
            .collect()
    }

    /// Waits until a run stands so.
    pub(crate) async fn until_run_is(&self, run: &str, wanted: RunStatus) {
        let run = RunId::new(run).unwrap();
        let mut changes = self.funduq().on_change();
        let waiting = async {
            while self.funduq().run(&run).await.unwrap().is_none_or(|run| run.status != wanted) {
                changes.recv().await.unwrap();
            }
        };
        tokio::time::timeout(SOON, waiting).await.unwrap();
    }

    /// Waits until somebody serves an agent, or nobody does.
    pub(crate) async fn until_online_is(&self, agent: &AgentAddress, wanted: bool) {
        let mut changes = self.funduq().on_change();
        let waiting = async {
            while self.funduq().is_online(agent) != wanted {
                changes.recv().await.unwrap();
            }
        };
        tokio::time::timeout(SOON, waiting).await.unwrap();
    }
}

/// The configuration of a test: the defaults, but on a port of its own and without waiting for the disk. A proxy that is
/// trusted, or another name, lets nobody else come.
pub(crate) fn config(folder: &std::path::Path) -> Config {
    Config {
        listen: "127.0.0.1:0".parse().unwrap(),
        data_dir: folder.join("data"),
        durability: Durability::Process,
        drain: "100ms".parse().unwrap(),
        allow_public_enrolment: true,
        ..Config::default()
    }
}

/// A run input that says `text` on a new thread.
pub(crate) fn input(text: &str) -> Value {
    input_on("new", text)
}

/// A run input that says `text` on a thread.
pub(crate) fn input_on(thread: &str, text: &str) -> Value {
    json!({ "threadId": thread, "runId": "new", "messages": [{ "id": "m1", "role": "user", "content": text }] })
}

/// A run input that presents a chain on a thread, with whatever else in the bag.
pub(crate) fn chained(thread: &str, text: &str, chain: &ActorChain, more: Value) -> Value {
    let mut bag = json!({ "actorChain": chain });
    bag.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let mut input = input_on(thread, text);
    input["forwardedProps"] = bag;
    input
}

/// The address of an agent of nobody who is here.
pub(crate) fn nobody() -> AgentAddress {
    AgentAddress::new(Identity::generate().public_key(), "nobody".parse().unwrap())
}
