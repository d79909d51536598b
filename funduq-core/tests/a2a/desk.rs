//! What every test here starts from: a caller with A2A's words, and an agent that does what the test says.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use funduq_a2a::{
    A2aError, Artifact, CancelTaskRequest, GetTaskRequest, ListTasksRequest, SendMessageRequest,
    StreamResponse, SubscribeToTaskRequest, Task, TaskState, WireMessage,
};
use funduq_contract::{AgentAddress, FunduqPort, LinkId, Offer, RunId, Verdict};
use funduq_core::{A2aAdapter, A2aDoorError, TaskEvent, TaskStream};
use serde_json::{Value, json};

use crate::bench::Bench;
use crate::scripted::Scripted;

/// A relay with one agent `echo`, scripted.
pub(crate) struct Desk {
    pub(crate) bench: Bench,
    pub(crate) provider: Arc<Scripted>,
    pub(crate) link: LinkId,
    pub(crate) agent: AgentAddress,
}

/// Runs a test at a desk on every store.
pub(crate) fn at_every_desk<F: Future<Output = ()>>(test: impl Fn(Desk) -> F) {
    crate::bench::on_every_store(|bench| async {
        let (provider, link, agent) = bench.serving(None).await;
        test(Desk { bench, provider, link, agent }).await;
    });
}

impl Desk {
    pub(crate) fn door(&self) -> A2aAdapter {
        self.bench.funduq.a2a()
    }

    pub(crate) async fn stream(&self, request: Value) -> TaskStream {
        self.door().send_task_streaming(&self.agent, send(request), None).await.unwrap()
    }

    pub(crate) async fn send(&self, request: Value) -> Result<Task, A2aDoorError> {
        self.door().send_task(&self.agent, send(request), None).await
    }

    /// Sends, and does not wait for the end.
    pub(crate) async fn post(&self, mut request: Value) -> Task {
        request["configuration"]["returnImmediately"] = json!(true);
        self.send(request).await.unwrap()
    }

    pub(crate) async fn get(&self, task: &str) -> Task {
        self.get_with(task, None).await
    }

    pub(crate) async fn get_with(&self, task: &str, history_length: Option<i32>) -> Task {
        let request = GetTaskRequest { id: task.into(), history_length, ..GetTaskRequest::default() };
        self.door().get_task(&self.agent, request).await.unwrap().unwrap()
    }

    pub(crate) async fn cancel(&self, task: &str) -> Result<Task, A2aDoorError> {
        let request = CancelTaskRequest { id: task.into(), ..CancelTaskRequest::default() };
        Ok(self.door().cancel_task(&self.agent, request).await?.unwrap())
    }

    pub(crate) async fn subscribe(
        &self,
        task: &str,
        after: Option<&str>,
    ) -> Result<TaskStream, A2aDoorError> {
        let request = SubscribeToTaskRequest { id: task.into(), ..SubscribeToTaskRequest::default() };
        Ok(self.door().resubscribe_task(&self.agent, request, after).await?.unwrap())
    }

    pub(crate) async fn list(&self, request: Value) -> funduq_a2a::ListTasksResponse {
        let request = ListTasksRequest::from_json(request.to_string().as_bytes()).unwrap();
        self.door().list_tasks(&self.agent, request, None).await.unwrap()
    }

    /// The agent takes the next run.
    pub(crate) async fn take(&self) -> Offer {
        let offer = self.provider.offer().await;
        self.bench
            .funduq
            .answer(self.link, &offer.run.run_id, offer.attempt, Verdict::Accepted)
            .await
            .unwrap();
        offer
    }

    /// The agent says these events, which follow `said` earlier ones.
    pub(crate) async fn say(&self, run: &RunId, said: u64, events: &[Value]) {
        for (number, event) in (said + 1..).zip(events) {
            self.bench.report(self.link, run, number, &event.to_string()).await;
        }
    }

    /// The agent takes the next run and plays it.
    pub(crate) async fn play(&self, events: &[Value]) -> Offer {
        let offer = self.take().await;
        self.say(&offer.run.run_id, 0, events).await;
        offer
    }

    /// Sends a message whose run ends asking, and returns the task.
    pub(crate) async fn ask(&self, text: &str, question: &str) -> Task {
        let task = self.post(text_message("ask-1", text)).await;
        self.play(&[started(), interrupt("i-1", question)]).await;
        self.settled(&task.id).await;
        self.get(&task.id).await
    }

    /// Waits until the record has the end of a run, here of a task's first, whose stream nobody has.
    pub(crate) async fn settled(&self, run: &str) {
        let run = RunId::new(run).unwrap();
        let mut stream = self.bench.funduq.run_stream(&self.agent, &run, 0).await.unwrap();
        while stream.next().await.unwrap().is_some() {}
    }

    /// Some time passes, in which everything that is on its way arrives.
    pub(crate) async fn later(&self) {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}

pub(crate) fn send(request: Value) -> SendMessageRequest {
    SendMessageRequest::from_json(request.to_string().as_bytes()).unwrap()
}

pub(crate) fn text_message(id: &str, text: &str) -> Value {
    json!({"message": {"messageId": id, "role": "ROLE_USER", "parts": [{"text": text}]}})
}

/// The same with further members of the message.
pub(crate) fn message_with(id: &str, text: &str, members: Value) -> Value {
    let mut request = text_message(id, text);
    request["message"].as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    request
}

pub(crate) fn started() -> Value {
    json!({"type": "RUN_STARTED", "threadId": "t", "runId": "r"})
}

pub(crate) fn finished() -> Value {
    json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r"})
}

pub(crate) fn interrupt(id: &str, question: &str) -> Value {
    json!({"type": "RUN_FINISHED", "threadId": "t", "runId": "r", "outcome": {"type": "interrupt", "interrupts": [
        {"id": id, "reason": "question", "message": question}
    ]}})
}

pub(crate) fn failed(message: &str) -> Value {
    json!({"type": "RUN_ERROR", "message": message, "code": "no_luck"})
}

/// A whole text message, word by word.
pub(crate) fn words(id: &str, words: &[&str]) -> Vec<Value> {
    let mut events = vec![json!({"type": "TEXT_MESSAGE_START", "messageId": id, "role": "assistant"})];
    events.extend(
        words.iter().map(|word| json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": id, "delta": word})),
    );
    events.push(json!({"type": "TEXT_MESSAGE_END", "messageId": id}));
    events
}

pub(crate) fn turn(id: &str, text: &[&str]) -> Vec<Value> {
    let mut events = vec![started()];
    events.extend(words(id, text));
    events.push(finished());
    events
}

/// Every event that is left.
pub(crate) async fn rest(stream: &mut TaskStream) -> Vec<TaskEvent> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await.unwrap() {
        events.push(event);
    }
    events
}

pub(crate) fn as_json(event: &StreamResponse) -> Value {
    serde_json::to_value(event).unwrap()
}

pub(crate) fn whole(event: &TaskEvent) -> &Task {
    match &event.event {
        StreamResponse::Task(task) => task,
        other => panic!("not a whole task: {other:?}"),
    }
}

/// The state of the last event, which has to be a status.
pub(crate) fn last_state(events: &[TaskEvent]) -> TaskState {
    match &events.last().unwrap().event {
        StreamResponse::StatusUpdate(update) => update.status.state.clone(),
        StreamResponse::Task(task) => task.status.state.clone(),
        other => panic!("not a status: {other:?}"),
    }
}

pub(crate) fn a2a(error: A2aDoorError) -> A2aError {
    match error {
        A2aDoorError::A2a(error) => error,
        A2aDoorError::Door(error) => panic!("funduq's own: {error}"),
    }
}

/// What artifacts say, by id.
pub(crate) fn texts(task: &Task) -> Vec<(String, String)> {
    let text = |artifact: &Artifact| artifact.parts.iter().filter_map(|part| part.as_text()).collect();
    task.artifacts.iter().map(|artifact| (artifact.artifact_id.clone(), text(artifact))).collect()
}

/// The ids of a task's messages.
pub(crate) fn ids(task: &Task) -> Vec<&str> {
    task.history.iter().map(|message| message.message_id.as_str()).collect()
}

/// What a stock client makes of a stream's artifacts: those of the whole task, and each piece in its place.
pub(crate) fn sum(events: &[TaskEvent]) -> Vec<Artifact> {
    let mut artifacts: Vec<Artifact> = Vec::new();
    for event in events {
        match &event.event {
            StreamResponse::Task(task) => artifacts.clone_from(&task.artifacts),
            StreamResponse::ArtifactUpdate(update) => {
                let known =
                    artifacts.iter_mut().find(|known| known.artifact_id == update.artifact.artifact_id);
                match known {
                    Some(known) => {
                        assert!(update.append, "a piece of an artifact that is there is appended");
                        let piece = update.artifact.parts[0].as_text().unwrap();
                        let text = format!("{}{piece}", known.parts[0].as_text().unwrap());
                        known.parts = vec![funduq_a2a::Part::text(text)];
                    }
                    None => {
                        assert!(!update.append, "the first piece is appended to nothing");
                        artifacts.push(update.artifact.clone());
                    }
                }
            }
            StreamResponse::StatusUpdate(_) | StreamResponse::Message(_) => {}
        }
    }
    artifacts
}
