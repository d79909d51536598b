//! What the harness says of the gateway, and a fold of what the stock A2A client yields.

use std::time::Duration;

use a2a::{
    AgentCard, Artifact, Message, Part, Role, SendMessageRequest, StreamResponse, Task,
    TaskArtifactUpdateEvent,
};
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::{A2AClient, A2AClientFactory, BoxStream, Transport};
use futures_util::StreamExt;

/// How long one test may take.
pub const LIMIT: Duration = Duration::from_secs(30);

/// The bindings that the client is made for.
pub const BINDINGS: [&str; 2] = ["JSONRPC", "HTTP+JSON"];

pub type Client = A2AClient<Box<dyn Transport>>;

/// A variable that `cargo xtask interop` sets; without it there is nothing to test.
pub fn told(name: &str) -> String {
    match std::env::var(name) {
        Ok(value) if !value.is_empty() => value,
        _ => panic!("{name} is not set: run the suites with `cargo xtask interop`"),
    }
}

/// Runs a test to its end, and fails it when that does not come.
pub fn bounded(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime
        .block_on(async { tokio::time::timeout(LIMIT, test).await.expect("the test ends within its limit") });
}

/// The card at the address of the harness, as the client's own resolver finds it.
pub async fn card(variable: &str) -> AgentCard {
    // The client leaves the choice of a crypto provider to the application; a second choice changes nothing.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let base = told(variable).replace("/.well-known/agent-card.json", "");
    AgentCardResolver::new(None).resolve(&base).await.expect("the card")
}

/// The stock client, made from the agent's card as its own factory does.
pub async fn client(card: &AgentCard, binding: &str) -> Client {
    let factory = A2AClientFactory::builder().preferred_bindings(vec![binding.to_owned()]).build();
    let (client, chosen) = factory.create_from_card_with_interface(card).await.expect("a client");
    assert_eq!(chosen.protocol_binding, binding);
    client
}

/// A user message of one text part.
pub fn request(text: &str) -> SendMessageRequest {
    let message = Message::new(Role::User, vec![Part::text(text)]);
    SendMessageRequest { message, configuration: None, metadata: None, tenant: None }
}

/// Sends over a stream and takes in all that comes back.
pub async fn send(client: &Client, request: &SendMessageRequest) -> Result<Turn, a2a::A2AError> {
    let mut turn = Turn::default();
    let mut stream = client.send_streaming_message(request).await?;
    while turn.take_next(&mut stream).await? {}
    Ok(turn)
}

/// The updates of a stream, folded into the task as the specification says.
#[derive(Debug, Default)]
pub struct Turn {
    pub task: Option<Task>,
    pub deltas: Vec<String>,
}

impl Turn {
    /// Whether there was another event.
    pub async fn take_next(
        &mut self,
        stream: &mut BoxStream<'static, Result<StreamResponse, a2a::A2AError>>,
    ) -> Result<bool, a2a::A2AError> {
        match stream.next().await.transpose()? {
            None => return Ok(false),
            Some(StreamResponse::Task(task)) => self.task = Some(task),
            Some(StreamResponse::StatusUpdate(update)) => self.begun().status = update.status,
            Some(StreamResponse::ArtifactUpdate(update)) => self.append(update),
            Some(StreamResponse::Message(message)) => {
                panic!("an agent behind funduq answers with tasks: {message:?}")
            }
        }
        Ok(true)
    }

    pub fn task(&self) -> &Task {
        self.task.as_ref().expect("the first event of a stream is the whole task")
    }

    pub fn text(&self) -> String {
        artifact_text(self.task())
    }

    fn begun(&mut self) -> &mut Task {
        self.task.as_mut().expect("the first event of a stream is the whole task")
    }

    fn append(&mut self, update: TaskArtifactUpdateEvent) {
        let delta = text_of(&update.artifact.parts);
        if !delta.is_empty() {
            self.deltas.push(delta);
        }
        let artifacts: &mut Vec<Artifact> = self.begun().artifacts.get_or_insert_default();
        let known = artifacts.iter_mut().find(|artifact| artifact.artifact_id == update.artifact.artifact_id);
        match (known, update.append.unwrap_or(false)) {
            (Some(artifact), true) => artifact.parts.extend(update.artifact.parts),
            (None, false) => artifacts.push(update.artifact),
            (known, append) => {
                panic!("append = {append} to {known:?}: an artifact begins once, and with false")
            }
        }
    }
}

/// The text of a message or an artifact.
pub fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect()
}

/// All the text of a task's artifacts.
pub fn artifact_text(task: &Task) -> String {
    task.artifacts.iter().flatten().map(|artifact| text_of(&artifact.parts)).collect()
}
