//! Callers: people over AG-UI, agents over A2A, some slow, some that go away, some that ask for what there is not.

use std::sync::Arc;
use std::time::Duration;

use funduq_contract::PublicKey;
use futures_util::StreamExt;
use futures_util::future::join_all;
use reqwest::{Client, RequestBuilder, Response};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::ledger::{Ledger, Seen};
use crate::lending::opting_in;
use crate::outage::Outage;

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
    /// Several turns of one thread at once, so that some of them wait.
    Queues,
    /// Lends a model to the agent.
    Lends,
}

const KINDS: [Kind; 10] = [
    Kind::Reads,
    Kind::ReadsSlowly,
    Kind::Vanishes,
    Kind::Sends,
    Kind::Streams,
    Kind::Asks,
    Kind::Cancels,
    Kind::Errs,
    Kind::Queues,
    Kind::Lends,
];

/// How many turns of a thread are asked for at once.
const TURNS: usize = 6;

/// What the demo agent is told, in turn.
const WORDS: [&str; 5] = ["hello there", "think of it", "fail", "tool weather", "a few words to say back"];

struct Caller {
    client: Client,
    to: Arc<Addressed>,
    turn: usize,
    /// What [`Outage::now`] said when it began to do what it does.
    began: usize,
}

/// Whom callers call, and where it is written down.
pub(crate) struct Addressed {
    pub(crate) url: String,
    /// Keys of providers, each with an agent `echo`.
    pub(crate) agents: Vec<PublicKey>,
    /// The key of the one whose agent `narrow` takes one run at a time.
    pub(crate) narrow: PublicKey,
    /// The key of the provider whose agent `spender` spends, and that of who lends.
    pub(crate) spender: PublicKey,
    pub(crate) lender: PublicKey,
    pub(crate) ledger: Arc<Ledger>,
    pub(crate) outage: Arc<Outage>,
}

/// Starts so many of each kind.
pub(crate) fn start(to: Addressed, stop: &CancellationToken, each: usize) -> Vec<JoinHandle<()>> {
    let to = Arc::new(to);
    let all = (0..each).flat_map(|number| KINDS.map(|kind| (number, kind)));
    let started = all.map(|(number, kind)| {
        let (to, stop) = (Arc::clone(&to), stop.clone());
        let client = Client::builder().no_proxy().build().unwrap();
        let mut caller = Caller { client, to, turn: number, began: 0 };
        tokio::spawn(async move {
            while !stop.is_cancelled() {
                caller.turn += 1;
                caller.began = caller.to.outage.now();
                // Without an answer, the gateway was away.
                if caller.act(kind).await.is_none() {
                    caller.to.ledger.unheard();
                }
                sleep(Duration::from_millis(20)).await;
            }
        })
    });
    started.collect()
}

impl Caller {
    /// `None` where something had no answer.
    async fn act(&self, kind: Kind) -> Option<()> {
        let words = WORDS[self.turn % WORDS.len()];
        match kind {
            Kind::Reads => self.read(words, Duration::ZERO).await,
            Kind::ReadsSlowly => self.read("slow", Duration::from_millis(150)).await,
            Kind::Vanishes => self.vanish(["slow", words][self.turn % 2]).await,
            Kind::Sends => self.send(words, None).await.map(drop),
            Kind::Streams => self.stream(words, false).await,
            Kind::Asks => {
                if let Some((task, Seen::Completed)) = self.send("ask me", None).await? {
                    self.send("yes", Some(&task)).await?;
                }
                Some(())
            }
            Kind::Cancels => self.stream("slow", true).await,
            Kind::Errs => self.err().await,
            Kind::Queues => self.queue().await,
            Kind::Lends => self.lend().await,
        }
    }

    /// What has no answer, which is right while the gateway is away and wrong otherwise.
    fn unanswered<T>(&self, why: impl std::fmt::Debug) -> Option<T> {
        assert!(self.to.outage.excuses(self.began), "no answer, and the gateway was there: {why:?}");
        None
    }

    async fn answer(&self, request: RequestBuilder) -> Option<Response> {
        match request.send().await {
            Ok(answer) if answer.status() == 200 || answer.status() == 201 => Some(answer),
            Ok(answer) => self.unanswered(answer.text().await),
            Err(error) => self.unanswered(error),
        }
    }

    fn ledger(&self) -> &Ledger {
        &self.to.ledger
    }

    fn agent(&self) -> String {
        format!("{}/echo", self.to.agents[self.turn % self.to.agents.len()])
    }

    async fn open(&self, agent: &str, input: &Value) -> Option<Response> {
        self.answer(self.client.post(format!("{}/agui/{agent}", self.to.url)).json(input)).await
    }

    /// Reads a stream to its end.
    async fn read(&self, words: &str, pause: Duration) -> Option<()> {
        let answer = self.open(&self.agent(), &input("new", words)).await?;
        self.follow(answer, pause).await;
        Some(())
    }

    /// Reads an answer to its end, which comes in order even where the gateway stops.
    async fn follow(&self, answer: Response, pause: Duration) {
        let mut body = answer.bytes_stream();
        let mut read = Vec::new();
        while let Some(chunk) = body.next().await {
            read.extend_from_slice(&chunk.unwrap());
            sleep(pause).await;
        }
        let events = events(&read);
        let (first, last) = (events.first().expect("a stream has events"), events.last().unwrap());
        let Some(run) = first["runId"].as_str() else {
            // It waits for the next process, and its caller has heard nothing of it but that.
            assert_eq!((events.len(), &last["code"]), (1, &"funduq_shutdown".into()), "{last}");
            self.unanswered::<()>(last);
            return self.ledger().suspended();
        };
        self.ledger().opened(run);
        let seen = match last["type"].as_str().unwrap() {
            "RUN_ERROR" if last["code"] == "funduq_shutdown" => {
                self.unanswered::<()>(last);
                Seen::Interrupted
            }
            "RUN_ERROR" => Seen::Failed,
            "RUN_FINISHED" if last["outcome"]["type"] == "cancelled" => Seen::Cancelled,
            "RUN_FINISHED" => Seen::Completed,
            other => panic!("a stream ended with {other}"),
        };
        self.ledger().ended(run, seen);
    }

    /// Goes away after what comes first.
    async fn vanish(&self, words: &str) -> Option<()> {
        let mut body = self.open(&self.agent(), &input("new", words)).await?.bytes_stream();
        let mut read = Vec::new();
        while !read.ends_with(b"\n\n") {
            read.extend_from_slice(&body.next().await.expect("a stream has events").unwrap());
        }
        match events(&read)[0]["runId"].as_str() {
            Some(run) => self.ledger().opened(run),
            None => {
                self.unanswered::<()>(&read);
                self.ledger().suspended();
            }
        }
        Some(())
    }

    /// Says several things on one thread at once, to an agent that takes one run at a time.
    async fn queue(&self) -> Option<()> {
        let agent = format!("{}/narrow", self.to.narrow);
        let url = format!("{}/agui/{agent}/threads", self.to.url);
        let created = self.answer(self.client.post(url).json(&json!({}))).await?;
        let created: Value = match created.json().await {
            Ok(created) => created,
            Err(error) => return self.unanswered(error),
        };
        let thread = created["threadId"].as_str().unwrap();
        let turn = async || match self.open(&agent, &input(thread, "next")).await {
            Some(answer) => self.follow(answer, Duration::ZERO).await,
            None => self.ledger().unheard(),
        };
        join_all((0..TURNS).map(|_| turn())).await;
        Some(())
    }

    /// Opens a run whose agent may spend a model.
    async fn lend(&self) -> Option<()> {
        let mut input = input("new", "go on");
        input["forwardedProps"] = opting_in(self.to.lender);
        let answer = self.open(&format!("{}/spender", self.to.spender), &input).await?;
        self.follow(answer, Duration::ZERO).await;
        Some(())
    }

    async fn call(&self, method: &str, params: Value) -> Option<Response> {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.client.post(format!("{}/a2a/{}", self.to.url, self.agent()));
        self.answer(request.header("a2a-version", "1.0").json(&body)).await
    }

    /// How a task's state says that its run ended; while the gateway stops, what it says may be of the moment.
    fn seen(&self, state: Option<&str>) -> Option<Seen> {
        let seen = state.and_then(seen);
        match self.to.outage.excuses(self.began) {
            true => Some(seen.filter(|seen| *seen != Seen::Failed).unwrap_or(Seen::Interrupted)),
            false => seen,
        }
    }

    /// Sends a message and waits for its task to end or to ask.
    async fn send(&self, words: &str, task: Option<&str>) -> Option<Option<(String, Seen)>> {
        let mut message = message(words);
        if let Some(task) = task {
            message["message"]["taskId"] = task.into();
        }
        let answer: Value = match self.call("SendMessage", message).await?.json().await {
            Ok(answer) => answer,
            Err(error) => return self.unanswered(error),
        };
        let Some((id, state)) = task_of(&answer["result"]) else {
            // Between the ask and the answer its provider may have gone, and with it the agent.
            return if self.to.outage.excuses(self.began) { None } else { Some(None) };
        };
        match task {
            // An answer is a run of its own, whose id the task does not tell.
            Some(_) => self.ledger().answered(),
            None => self.ledger().opened(&id),
        }
        let seen = self.seen(state.as_deref()).unwrap_or_else(|| panic!("{answer}"));
        if task.is_none() {
            self.ledger().ended(&id, seen);
        }
        Some(Some((id, seen)))
    }

    /// Reads a task's stream, and asks for its end when it has begun if that is wanted.
    async fn stream(&self, words: &str, cancels: bool) -> Option<()> {
        let mut body = self.call("SendStreamingMessage", message(words)).await?.bytes_stream();
        let (mut read, mut cancelled) = (Vec::new(), false);
        while let Some(chunk) = body.next().await {
            read.extend_from_slice(&chunk.unwrap());
            if cancels && !cancelled && read.ends_with(b"\n\n") {
                cancelled = true;
                let Some((task, _)) = events(&read).first().and_then(|first| task_of(&first["result"]))
                else {
                    continue;
                };
                // It may have ended just now, which is an answer too.
                self.call("CancelTask", json!({ "id": task })).await;
            }
        }
        let events = events(&read);
        let told: Vec<_> = events.iter().filter_map(|event| task_of(&event["result"])).collect();
        let Some((task, _)) = told.first() else { return self.unanswered(events) };
        self.ledger().opened(task);
        let last =
            told.iter().rev().filter_map(|(_, state)| state.as_deref()).find(|state| seen(state).is_some());
        self.ledger().ended(task, self.seen(last).expect("a stream ends with its task"));
        Some(())
    }

    /// Asks for what there is not.
    async fn err(&self) -> Option<()> {
        let url = |path: &str| format!("{}{path}", self.to.url);
        let (agent, nobody) = (self.agent(), "0".repeat(64));
        for (answer, status) in [
            (self.client.post(url(&format!("/agui/{agent}"))).body("{").send(), 400),
            (self.client.get(url(&format!("/agui/{nobody}/none"))).send(), 405),
            (self.client.get(url("/runs/none/events")).send(), 404),
            (self.client.post(url(&format!("/a2a/{agent}"))).body("no json").send(), 200),
        ] {
            match answer.await {
                Ok(answer) if answer.status() == status => {}
                other => self.unanswered(other)?,
            }
        }
        // One that connects and says nothing, and one that breaks off.
        let host = self.to.url.strip_prefix("http://").unwrap();
        match tokio::net::TcpStream::connect(host).await {
            Ok(_) => Some(()),
            Err(error) => self.unanswered(error),
        }
    }
}

/// A run input that says `words` on a thread.
fn input(thread: &str, words: &str) -> Value {
    json!({
        "threadId": thread, "runId": "new", "messages": [{ "id": "m", "role": "user", "content": words }],
    })
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
