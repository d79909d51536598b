//! What every test here starts from: a relay on each record engine, and a scripted provider on it.

use std::future::Future;
use std::sync::Arc;

use funduq_agui::{RelayedEvent, RelayedInput};
use funduq_contract::{
    AgentAddress, Connect, ConnectedProvider, FunduqPort, Identity, LinkId, Nonce, Registration,
};
use funduq_core::{AguiStream, CoreSettings, DoorError, Durability, Funduq, MemoryStore, SqliteStore, Store};

use crate::scripted::Scripted;

/// A relay, and how to start another on the same record.
pub(crate) struct Bench {
    pub(crate) funduq: Funduq,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) settings: CoreSettings,
}

pub(crate) fn funduq_identity() -> Identity {
    Identity::from_seed(&[9; 32])
}

pub(crate) fn identity(seed: u8) -> Identity {
    Identity::from_seed(&[seed; 32])
}

/// Runs a test once on each engine, on a paused clock.
pub(crate) fn on_every_store<F: Future<Output = ()>>(test: impl Fn(Bench) -> F) {
    on_every_store_with(CoreSettings::default(), test);
}

pub(crate) fn on_every_store_with<F: Future<Output = ()>>(settings: CoreSettings, test: impl Fn(Bench) -> F) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("record.sqlite");
    let stores: [Arc<dyn Store>; 2] =
        [Arc::new(MemoryStore::new()), Arc::new(SqliteStore::open(file, Durability::Process).unwrap())];
    for store in stores {
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let bench = Bench::start(store, settings.clone()).await;
            test(bench).await;
        });
    }
}

impl Bench {
    pub(crate) async fn start(store: Arc<dyn Store>, settings: CoreSettings) -> Self {
        let funduq = Funduq::new(settings.clone(), Some(funduq_identity()), Arc::clone(&store));
        funduq.start().await.unwrap();
        Self { funduq, store, settings }
    }

    /// A new process on the same record. The old one is dropped as a crash would drop it.
    pub(crate) async fn restart(self) -> Self {
        let Self { funduq, store, settings } = self;
        drop(funduq);
        Self::start(store, settings).await
    }

    /// Opens a link for a scripted provider, through the whole handshake.
    pub(crate) async fn attach(&self, provider: &Arc<Scripted>) -> LinkId {
        let (key, nonce) = (provider.public_key(), Nonce::generate());
        let ticket = self.funduq.issue_ticket(&key);
        let funduq_key = self.funduq.public_key();
        let connect =
            Connect::sign(&provider.identity, funduq_key.as_ref(), ticket, nonce, provider.concurrency());
        let provider = Arc::clone(provider) as Arc<dyn ConnectedProvider>;
        self.funduq.attach_provider(provider, connect).await.unwrap().0
    }

    /// A scripted provider that serves `echo`, and its agent's address.
    pub(crate) async fn serving(&self, concurrency: Option<u32>) -> (Arc<Scripted>, LinkId, AgentAddress) {
        let provider = Arc::new(Scripted::new(identity(1), concurrency));
        let link = self.attach(&provider).await;
        self.register(link, &["echo"]).await;
        let address = AgentAddress::new(provider.public_key(), "echo".parse().unwrap());
        (provider, link, address)
    }

    pub(crate) async fn register(&self, link: LinkId, names: &[&str]) {
        let agents = names.iter().map(|name| Registration::new(name.parse().unwrap())).collect();
        self.funduq.register_agents(link, agents).await.unwrap();
    }

    pub(crate) async fn ask(
        &self,
        agent: &AgentAddress,
        thread: &str,
        text: &str,
    ) -> Result<AguiStream, DoorError> {
        self.funduq.agui().run(agent, input(thread, text), None).await
    }

    pub(crate) async fn report(&self, link: LinkId, run: &funduq_contract::RunId, number: u64, json: &str) {
        self.funduq.report_event(link, run, number, json.into()).await.unwrap();
    }
}

/// A run input with one user message whose id is its text.
pub(crate) fn input(thread: &str, text: &str) -> RelayedInput {
    let json = serde_json::json!({
        "threadId": thread, "runId": "the-clients", "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{"id": text, "role": "user", "content": text}],
    });
    RelayedInput::parse(json.to_string().as_bytes()).unwrap()
}

/// The same with a bag.
pub(crate) fn input_with_bag(thread: &str, text: &str, bag: serde_json::Value) -> RelayedInput {
    let json = serde_json::json!({
        "threadId": thread, "runId": "the-clients", "forwardedProps": bag,
        "messages": [{"id": text, "role": "user", "content": text}],
    });
    RelayedInput::parse(json.to_string().as_bytes()).unwrap()
}

/// Every event of a stream that is left, as its type.
pub(crate) async fn types(stream: &mut AguiStream) -> Vec<String> {
    rest(stream).await.iter().map(|event| event.type_name().to_owned()).collect()
}

pub(crate) async fn rest(stream: &mut AguiStream) -> Vec<RelayedEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await.unwrap() {
        events.push(event.event);
    }
    events
}

pub(crate) fn json(event: &RelayedEvent) -> serde_json::Value {
    serde_json::from_str(event.json()).unwrap()
}

pub(crate) fn started(run: &str) -> String {
    format!(r#"{{"type":"RUN_STARTED","threadId":"t","runId":"{run}"}}"#)
}

pub(crate) const FINISHED: &str = r#"{"type":"RUN_FINISHED","threadId":"t","runId":"r"}"#;
