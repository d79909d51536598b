//! The A2A door beside an agent on the official Rust server.

use std::sync::Arc;
use std::time::{Duration, Instant};

use a2a::{
    A2AError, Artifact, Part, StreamResponse, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
    TaskStatusUpdateEvent,
};
use a2a_server::{AgentExecutor, DefaultRequestHandler, ExecutorContext, InMemoryTaskStore};
use axum::serve::ListenerExt;
use futures_util::stream::{self, BoxStream, StreamExt};
use serde_json::json;
use tokio::net::TcpListener;

use crate::house::House;
use crate::{Figure, client, p50, rate};

/// How many pieces of text a long answer has.
const LONG: usize = 2_000;
const TURNS: usize = 300;
/// After how many pieces the agent on the official server waits a moment: a reader more than 32 events behind is
/// dropped there with an error.
const BREATH: usize = 16;

/// Answers with as many pieces of text as it is asked for.
struct Says;

impl AgentExecutor for Says {
    fn execute(&self, context: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        let message = context.message.unwrap();
        let pieces: usize = message.text().unwrap().parse().unwrap();
        let (task_id, context_id) = (context.task_id, context.context_id);
        let status = |state| TaskStatus { state, message: None, timestamp: None };
        let task = Task {
            id: task_id.clone(),
            context_id: context_id.clone(),
            status: status(TaskState::Working),
            artifacts: None,
            history: Some(vec![message]),
            metadata: None,
        };
        let end = TaskStatusUpdateEvent {
            task_id: task_id.clone(),
            context_id: context_id.clone(),
            status: status(TaskState::Completed),
            metadata: None,
        };
        let piece = move |number: usize| {
            StreamResponse::ArtifactUpdate(TaskArtifactUpdateEvent {
                task_id: task_id.clone(),
                context_id: context_id.clone(),
                artifact: Artifact {
                    artifact_id: "0d1f6c1e-4a53-4b7e-9a57-0b1c2d3e4f50".into(),
                    name: None,
                    description: None,
                    parts: vec![Part::text("a few words of text ")],
                    metadata: None,
                    extensions: None,
                },
                append: Some(number > 0),
                last_chunk: None,
                metadata: None,
            })
        };
        let first = stream::iter([Ok(StreamResponse::Task(task))]);
        let pieces = stream::iter((0..pieces).map(move |number| Ok(piece(number)))).enumerate().then(
            async |(number, piece)| {
                if number % BREATH == BREATH - 1 {
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
                piece
            },
        );
        first.chain(pieces).chain(stream::iter([Ok(StreamResponse::StatusUpdate(end))])).boxed()
    }

    fn cancel(&self, _: ExecutorContext) -> BoxStream<'static, Result<StreamResponse, A2AError>> {
        stream::empty().boxed()
    }
}

async fn official() -> (String, tokio::task::JoinHandle<()>) {
    let handler = Arc::new(DefaultRequestHandler::new(Says, InMemoryTaskStore::new()));
    let router = a2a_server::jsonrpc::jsonrpc_router(handler);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let listener = listener.tap_io(|connection| connection.set_nodelay(true).unwrap());
    (url, tokio::spawn(async move { axum::serve(listener, router).await.unwrap() }))
}

/// A call that says `text`.
fn call(method: &str, text: &str) -> String {
    let message = json!({ "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": text }] });
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "message": message } }).to_string()
}

/// The middle time of an answered message, and the events a second of long answers.
async fn measured(url: &str, one: &str, long: &str) -> (f64, f64) {
    let mut times = Vec::new();
    for turn in 0..TURNS + 50 {
        let began = Instant::now();
        let answer = client::post(url, &call("SendMessage", one)).await.body().await;
        assert!(answer.contains("TASK_STATE_COMPLETED"), "{answer}");
        if turn >= 50 {
            times.push(began.elapsed());
        }
    }
    let streaming = call("SendStreamingMessage", long);
    client::post(url, &streaming).await.events().await;
    let began = Instant::now();
    let mut seen = 0;
    for _ in 0..10 {
        let events = client::post(url, &streaming).await.events().await;
        assert!(events >= LONG, "{events} events");
        seen += events;
    }
    (p50(times), rate(seen, began))
}

pub(crate) async fn measure() -> Vec<Figure> {
    let (url, server) = official().await;
    let (official_send, official_events) = measured(&url, "1", &LONG.to_string()).await;
    server.abort();
    let house = House::build().await;
    // Beside the pieces of text, a run has its four brackets.
    let (send, events) = measured(&house.a2a(), "5", &(LONG + 4).to_string()).await;
    house.take_down().await;
    vec![
        Figure::new("a2a_send_p50_ms", send),
        Figure::new("a2a_send_p50_ms_official", official_send),
        Figure::new("a2a_send_p50_ms_added", send - official_send).at_most(1.5),
        Figure::new("a2a_events_per_second", events),
        Figure::new("a2a_events_per_second_official", official_events),
        Figure::new("a2a_events_ratio", events / official_events).at_least(0.6),
    ]
}
