//! Callers: people over AG-UI, agents over A2A, some slow, some that go away, some that ask for what there is not.

use std::sync::Arc;
use std::time::Duration;

use funduq_contract::PublicKey;
use futures_util::StreamExt;
use reqwest::{Client, Response};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::gateway::Gateway;
use crate::ledger::{Ledger, Seen};

/// What a caller does, over and over.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Reads,
    ReadsSlowly,
    Vanishes,
    Sends,
    Streams,
    Asks,
    Cancels,
    Errs,
}

const KINDS: [Kind; 8] = [
    Kind::Reads,
    Kind::ReadsSlowly,
    Kind::Vanishes,
    Kind::Sends,
    Kind::Streams,
    Kind::Asks,
    Kind::Cancels,
    Kind::Errs,
];

/// What the demo agent is told, in turn.
const WORDS: [&str; 5] = ["hello there", "think of it", "fail", "tool weather", "a few words to say back"];

struct Caller {
    url: String,
    agents: Vec<PublicKey>,
    client: Client,
    ledger: Arc<Ledger>,
    turn: usize,
}

/// Starts so many of each kind.
pub(crate) fn start(
    gateway: &Gateway,
    agents: &[PublicKey],
    ledger: &Arc<Ledger>,
    stop: &CancellationToken,
    each: usize,
) -> Vec<JoinHandle<()>> {
    let all = (0..each).flat_map(|number| KINDS.map(|kind| (number, kind)));
    let started = all.map(|(number, kind)| {
        let (url, agents, ledger, stop) =
            (gateway.url.clone(), agents.to_vec(), Arc::clone(ledger), stop.clone());
        let client = Client::builder().no_proxy().build().unwrap();
        let mut caller = Caller { url, agents, client, ledger, turn: number };
        tokio::spawn(async move {
            while !stop.is_cancelled() {
                caller.turn += 1;
                caller.act(kind).await;
                sleep(Duration::from_millis(20)).await;
            }
        })
    });
    started.collect()
}

impl Caller {
    async fn act(&self, kind: Kind) {
        let words = WORDS[self.turn % WORDS.len()];
        match kind {
            Kind::Reads => self.read(words, Duration::ZERO).await,
            Kind::ReadsSlowly => self.read("slow", Duration::from_millis(150)).await,
            Kind::Vanishes => self.vanish(["slow", words][self.turn % 2]).await,
            Kind::Sends => drop(self.send(words, None).await),
            Kind::Streams => self.stream(words, false).await,
            Kind::Asks => {
                if let Some((task, Seen::Completed)) = self.send("ask me", None).await {
                    self.send("yes", Some(&task)).await;
                }
            }
            Kind::Cancels => self.stream("slow", true).await,
            Kind::Errs => self.err().await,
        }
    }

    fn agent(&self) -> String {
        format!("{}/echo", self.agents[self.turn % self.agents.len()])
    }

    async fn open(&self, words: &str) -> Response {
        let body = json!({
            "threadId": "new", "runId": "new", "messages": [{ "id": "m", "role": "user", "content": words }],
        });
        let answer =
            self.client.post(format!("{}/agui/{}", self.url, self.agent())).json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 200);
        answer
    }

    /// Reads a stream to its end.
    async fn read(&self, words: &str, pause: Duration) {
        let mut body = self.open(words).await.bytes_stream();
        let mut read = Vec::new();
        while let Some(chunk) = body.next().await {
            read.extend_from_slice(&chunk.unwrap());
            sleep(pause).await;
        }
        let events = events(&read);
        let (first, last) = (events.first().expect("a stream has events"), events.last().unwrap());
        self.ledger.opened(first["runId"].as_str().unwrap());
        let seen = match last["type"].as_str().unwrap() {
            "RUN_ERROR" => Seen::Failed,
            "RUN_FINISHED" if last["outcome"]["type"] == "cancelled" => Seen::Cancelled,
            "RUN_FINISHED" => Seen::Completed,
            other => panic!("a stream ended with {other}"),
        };
        self.ledger.ended(first["runId"].as_str().unwrap(), seen);
    }

    /// Goes away after what comes first.
    async fn vanish(&self, words: &str) {
        let mut body = self.open(words).await.bytes_stream();
        let mut read = Vec::new();
        while !read.ends_with(b"\n\n") {
            read.extend_from_slice(&body.next().await.expect("a stream has events").unwrap());
        }
        self.ledger.opened(events(&read)[0]["runId"].as_str().unwrap());
    }

    async fn call(&self, method: &str, params: Value) -> Response {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request =
            self.client.post(format!("{}/a2a/{}", self.url, self.agent())).header("a2a-version", "1.0");
        let answer = request.json(&body).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{method}");
        answer
    }

    /// Sends a message and waits for its task to end or to ask.
    async fn send(&self, words: &str, task: Option<&str>) -> Option<(String, Seen)> {
        let mut message = message(words);
        if let Some(task) = task {
            message["message"]["taskId"] = task.into();
        }
        let answer: Value = self.call("SendMessage", message).await.json().await.unwrap();
        // Between the ask and the answer its provider may have gone, and with it the agent.
        let (id, state) = task_of(&answer["result"])?;
        match task {
            // An answer is a run of its own, whose id the task does not tell.
            Some(_) => self.ledger.answered(),
            None => self.ledger.opened(&id),
        }
        let seen = state.and_then(|state| seen(&state)).unwrap_or_else(|| panic!("{answer}"));
        if task.is_none() {
            self.ledger.ended(&id, seen);
        }
        Some((id, seen))
    }

    /// Reads a task's stream, and asks for its end when it has begun if that is wanted.
    async fn stream(&self, words: &str, cancels: bool) {
        let mut body = self.call("SendStreamingMessage", message(words)).await.bytes_stream();
        let (mut read, mut cancelled) = (Vec::new(), false);
        while let Some(chunk) = body.next().await {
            read.extend_from_slice(&chunk.unwrap());
            if cancels && !cancelled && read.ends_with(b"\n\n") {
                cancelled = true;
                let (task, _) = task_of(&events(&read)[0]["result"]).unwrap();
                // It may have ended just now, which is an answer too.
                self.call("CancelTask", json!({ "id": task })).await;
            }
        }
        let events = events(&read);
        let told: Vec<_> = events.iter().filter_map(|event| task_of(&event["result"])).collect();
        let task = &told.first().expect("a task is told").0;
        self.ledger.opened(task);
        let last = told.iter().rev().find_map(|(_, state)| seen(state.as_deref()?));
        self.ledger.ended(task, last.expect("a stream ends with its task"));
    }

    /// Asks for what there is not.
    async fn err(&self) {
        let url = |path: &str| format!("{}{path}", self.url);
        let (agent, nobody) = (self.agent(), "0".repeat(64));
        for (answer, status) in [
            (self.client.post(url(&format!("/agui/{agent}"))).body("{").send(), 400),
            (self.client.get(url(&format!("/agui/{nobody}/none"))).send(), 405),
            (self.client.get(url("/runs/none/events")).send(), 404),
            (self.client.post(url(&format!("/a2a/{agent}"))).body("no json").send(), 200),
        ] {
            assert_eq!(answer.await.unwrap().status(), status);
        }
        // One that connects and says nothing, and one that breaks off.
        let host = self.url.strip_prefix("http://").unwrap();
        drop(tokio::net::TcpStream::connect(host).await.unwrap());
    }
}

fn message(words: &str) -> Value {
    json!({ "message": { "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": words }] } })
}

/// The events in an event stream's text.
fn events(read: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(read).unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// The task that an answer or an event tells of, and its state if it tells that.
fn task_of(result: &Value) -> Option<(String, Option<String>)> {
    let (id, state) = match result {
        Value::Object(fields) if fields.contains_key("task") => {
            (&result["task"]["id"], &result["task"]["status"])
        }
        Value::Object(fields) if fields.contains_key("statusUpdate") => {
            (&result["statusUpdate"]["taskId"], &result["statusUpdate"]["status"])
        }
        _ => return None,
    };
    Some((id.as_str()?.to_owned(), state["state"].as_str().map(str::to_owned)))
}

/// What a task's state says of its run; `None` while it has not ended.
fn seen(state: &str) -> Option<Seen> {
    match state {
        "TASK_STATE_COMPLETED" | "TASK_STATE_INPUT_REQUIRED" => Some(Seen::Completed),
        "TASK_STATE_FAILED" => Some(Seen::Failed),
        "TASK_STATE_CANCELED" => Some(Seen::Cancelled),
        _ => None,
    }
}
