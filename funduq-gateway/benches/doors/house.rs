//! The gateway under measurement, its provider, and what its agent says.

use std::sync::Arc;

use funduq_contract::AgentAddress;
use funduq_gateway::{Config, Gateway};
use funduq_provider_sdk::ws::{self, Link};
use funduq_provider_sdk::{ProviderIdentity, RunContext, ServedAgent, agent_fn};
use tempfile::TempDir;

/// A gateway as it is by default, on a file, with one agent behind the link.
pub(crate) struct House {
    pub(crate) gateway: Gateway,
    pub(crate) agent: AgentAddress,
    link: Link,
    _folder: TempDir,
}

/// A few words of a message: most of what agents send.
pub(crate) const DELTA: &str = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"0d1f6c1e-4a53-4b7e-9a57-0b1c2d3e4f50","delta":"a few words of text "}"#;
const MESSAGE: &str = "0d1f6c1e-4a53-4b7e-9a57-0b1c2d3e4f50";

/// The events of a run of `events` in all.
pub(crate) fn texts(events: usize, thread: &str, run: &str) -> impl Iterator<Item = Arc<str>> {
    let bracket = |kind: &str| format!(r#"{{"type":"{kind}","threadId":"{thread}","runId":"{run}"}}"#);
    let message = |kind: &str| format!(r#"{{"type":"{kind}","messageId":"{MESSAGE}"}}"#);
    let begin = [bracket("RUN_STARTED"), message("TEXT_MESSAGE_START")];
    let end = [message("TEXT_MESSAGE_END"), bracket("RUN_FINISHED")];
    let delta: Arc<str> = DELTA.into();
    let middle = std::iter::repeat_n(delta, events - 4);
    begin.map(Arc::from).into_iter().chain(middle).chain(end.map(Arc::from))
}

/// A run input of a new conversation that asks for so many events.
pub(crate) fn input(events: usize) -> String {
    let message = format!(r#"{{"id":"m","role":"user","content":"{events}"}}"#);
    format!(r#"{{"threadId":"new","runId":"new","messages":[{message}]}}"#)
}

impl House {
    pub(crate) async fn build() -> Self {
        let place = std::env::var_os("FUNDUQ_BENCH_DIR").unwrap_or(env!("CARGO_TARGET_TMPDIR").into());
        let folder = tempfile::tempdir_in(place).unwrap();
        let config = Config {
            listen: "127.0.0.1:0".parse().unwrap(),
            data_dir: folder.path().join("data"),
            ..Config::default()
        };
        let gateway = Gateway::start(config).await.unwrap();
        let says = agent_fn(async |run: RunContext| {
            let events: usize = run.user_text().and_then(|text| text.parse().ok()).unwrap_or(5);
            let stream = run.events().take_over()?;
            for text in texts(events, run.thread_id().as_str(), run.run_id().as_str()) {
                stream.send(text).await?;
            }
            Ok(())
        });
        let identity = ProviderIdentity::generate();
        let agent = AgentAddress::new(identity.public_key(), "says".parse().unwrap());
        let mut link = ws::connect(gateway.url(), identity)
            .pin(gateway.public_key())
            .agent(ServedAgent::new("says", says).unwrap().all_at_once())
            .start()
            .unwrap();
        assert!(link.online().await);
        Self { gateway, agent, link, _folder: folder }
    }

    pub(crate) fn agui(&self) -> String {
        format!("{}/agui/{}/{}", self.gateway.url(), self.agent.provider, self.agent.name)
    }

    pub(crate) fn a2a(&self) -> String {
        format!("{}/a2a/{}/{}", self.gateway.url(), self.agent.provider, self.agent.name)
    }

    pub(crate) async fn take_down(self) {
        self.link.stop().await.unwrap();
        self.gateway.shutdown().await;
    }
}
