//! Lending a model within a process: what a handler's answer becomes, who is dropped when, and the end.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use funduq_provider_sdk::ProviderIdentity;
use funduq_provider_sdk::contract::{
    AgentAddress, CancelCompletion, Chunk, Complete, CompletionEnd, CompletionFailed, Connect, ConnectErr,
    ConnectOk, ConnectedLlmProvider, DeliveredCompletion, Identity, LinkClosed, LinkId, LlmPort,
    LlmRegistration, PortError, RawJson, Ticket,
};
use funduq_provider_sdk::llm::{
    Chunks, Completion, CompletionError, InProcessLlmLink, LlmOfferings, LlmRuntime,
};
use futures_util::{StreamExt, stream};
use serde_json::json;
use tokio::sync::{Notify, mpsc};

/// What a lender said.
#[derive(Debug, PartialEq)]
enum Said {
    Chunk(String),
    End,
    Failed { error: String, refused: bool },
}

/// A funduq of a few lines.
struct Fake {
    identity: Identity,
    provider: Mutex<Option<Arc<dyn ConnectedLlmProvider>>>,
    published: Mutex<Vec<LlmRegistration>>,
    said: mpsc::UnboundedSender<(String, Said)>,
}

impl Fake {
    fn say(&self, id: impl ToString, said: Said) -> Result<(), PortError> {
        self.said.send((id.to_string(), said)).unwrap();
        Ok(())
    }

    fn provider(&self) -> Arc<dyn ConnectedLlmProvider> {
        self.provider.lock().unwrap().clone().unwrap()
    }

    fn ask(&self, id: &str) {
        let completion = DeliveredCompletion {
            completion_id: id.parse().unwrap(),
            run_id: "r".parse().unwrap(),
            agent: AgentAddress::new(self.identity.public_key(), "a".parse().unwrap()),
            llm_name: "gpt".parse().unwrap(),
            context: None,
            actor_chain: None,
            body: serde_json::from_value(json!({"model": "m", "messages": []})).unwrap(),
        };
        self.provider().complete(Complete { completion }).unwrap();
    }
}

#[funduq_provider_sdk::async_trait]
impl LlmPort for Fake {
    async fn open_llm(
        &self,
        provider: Arc<dyn ConnectedLlmProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr> {
        connect.check_proof(Some(&self.identity.public_key())).unwrap();
        let ok = ConnectOk {
            funduq_public_key: Some(self.identity.public_key()),
            answer: Some(self.identity.sign_funduq_connect(&connect.ticket, &connect.provider_nonce)),
            held_runs: Vec::new(),
            revision: 1,
        };
        provider.confirm_connect(&ok).await.unwrap();
        *self.provider.lock().unwrap() = Some(provider);
        Ok((LinkId::new(1), ok))
    }
    async fn register_llm(&self, _: LinkId, offerings: LlmRegistration) -> Result<(), PortError> {
        self.published.lock().unwrap().push(offerings);
        Ok(())
    }
    async fn chunk(&self, _: LinkId, chunk: Chunk) -> Result<(), PortError> {
        self.say(chunk.completion_id, Said::Chunk(chunk.chunk.get().to_owned()))
    }
    async fn end(&self, _: LinkId, end: CompletionEnd) -> Result<(), PortError> {
        self.say(end.completion_id, Said::End)
    }
    async fn failed(&self, _: LinkId, failed: CompletionFailed) -> Result<(), PortError> {
        let error = serde_json::to_string(&failed.error).unwrap();
        self.say(failed.completion_id, Said::Failed { error, refused: failed.refused })
    }
    async fn close_llm(&self, _: LinkId) {}
}

struct Bench {
    funduq: Arc<Fake>,
    runtime: LlmRuntime,
    link: InProcessLlmLink,
    said: mpsc::UnboundedReceiver<(String, Said)>,
}

async fn lending(offerings: LlmOfferings) -> Bench {
    let (sender, said) = mpsc::unbounded_channel();
    let funduq = Arc::new(Fake {
        identity: Identity::generate(),
        provider: Mutex::default(),
        published: Mutex::default(),
        said: sender,
    });
    let runtime = LlmRuntime::new(ProviderIdentity::generate(), offerings);
    let key = Some(funduq.identity.public_key());
    let link = InProcessLlmLink::open(&runtime, funduq.clone(), Ticket::generate(), key).await.unwrap();
    Bench { funduq, runtime, link, said }
}

impl Bench {
    async fn next(&mut self) -> (String, Said) {
        self.said.recv().await.unwrap()
    }
}

fn chunk(text: &str) -> RawJson {
    RawJson::new(text).unwrap()
}

#[tokio::test]
async fn an_answer_goes_out_as_the_handler_wrote_it_and_its_end_is_told() {
    let handler = async |completion: Completion| {
        assert_eq!(completion.llm_name.as_str(), "gpt");
        assert!(completion.chain().unwrap().is_none());
        Ok([chunk(r#"{"n": 1.0}"#), chunk("{}")].into_iter().collect::<Chunks>())
    };
    let mut bench = lending(LlmOfferings::new(["gpt", "gpt"], handler).unwrap()).await;
    assert_eq!(bench.funduq.published.lock().unwrap()[0].names.len(), 1);
    bench.funduq.ask("1");
    assert_eq!(bench.next().await, ("1".into(), Said::Chunk(r#"{"n": 1.0}"#.into())));
    assert_eq!(bench.next().await, ("1".into(), Said::Chunk("{}".into())));
    assert_eq!(bench.next().await, ("1".into(), Said::End));
}

#[tokio::test]
async fn a_refusal_is_any_object_and_a_failure_or_panic_is_no_refusal() {
    let handler = async |completion: Completion| match completion.completion_id.as_str() {
        "refused" => {
            let words: funduq_provider_sdk::agui::RawObject =
                serde_json::from_value(json!({"left": 0, "code": "budget"})).unwrap();
            Err(CompletionError::refused(words))
        }
        "failed" => Ok(Chunks::new(stream::iter([
            Ok(chunk("{}")),
            Err(CompletionError::failure("upstream", "gone")),
            Ok(chunk("{}")),
        ]))),
        _ => panic!("secret words"),
    };
    let mut bench = lending(LlmOfferings::new(["gpt"], handler).unwrap()).await;
    bench.funduq.ask("refused");
    let error = r#"{"left":0,"code":"budget"}"#.to_owned();
    let (_, said) = bench.next().await;
    let Said::Failed { error: told, refused: true } = said else { panic!("{said:?}") };
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(value(&told), value(&error));
    bench.funduq.ask("failed");
    assert_eq!(bench.next().await.1, Said::Chunk("{}".into()));
    assert!(matches!(bench.next().await.1, Said::Failed { refused: false, .. }));
    bench.funduq.ask("panics");
    let (_, said) = bench.next().await;
    let Said::Failed { error, refused: false } = said else { panic!("{said:?}") };
    assert!(error.contains("provider_panicked") && !error.contains("secret"), "{error}");
    assert_eq!(bench.runtime.running(), 0);
}

/// Tells when it is dropped.
struct Dropped(Arc<Notify>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Says one chunk and then nothing for ever.
fn endless(dropped: &Arc<Notify>) -> LlmOfferings {
    let dropped = dropped.clone();
    let handler = move |_: Completion| {
        let guard = Dropped(dropped.clone());
        let endless = stream::once(async { Ok(chunk("{}")) }).chain(stream::pending()).map(move |said| {
            let _held = &guard;
            said
        });
        std::future::ready(Ok(Chunks::new(endless)))
    };
    LlmOfferings::new(["gpt"], handler).unwrap()
}

#[tokio::test]
async fn a_cancel_drops_the_stream_where_it_stands_and_nothing_is_said() {
    let dropped = Arc::new(Notify::new());
    let mut bench = lending(endless(&dropped)).await;
    bench.funduq.ask("1");
    assert_eq!(bench.next().await.1, Said::Chunk("{}".into()));
    let cancel = CancelCompletion { completion_id: "1".parse().unwrap() };
    bench.funduq.provider().cancel_completion(cancel).unwrap();
    dropped.notified().await;
    assert!(bench.said.try_recv().is_err());
}

#[tokio::test]
async fn a_link_that_ends_takes_its_completions_with_it() {
    let dropped = Arc::new(Notify::new());
    let mut bench = lending(endless(&dropped)).await;
    bench.funduq.ask("1");
    bench.next().await;
    bench.funduq.provider().closed(LinkClosed::Evicted);
    dropped.notified().await;
    assert_eq!(bench.link.closed().await, Some(LinkClosed::Evicted));
}

#[tokio::test]
async fn one_more_than_may_be_answered_is_told_so() {
    let dropped = Arc::new(Notify::new());
    let mut bench = lending(endless(&dropped).max_concurrent(1)).await;
    bench.funduq.ask("1");
    bench.next().await;
    bench.funduq.ask("2");
    let (id, said) = bench.next().await;
    assert_eq!(id, "2");
    assert!(matches!(said, Said::Failed { error, refused: false } if error.contains("provider_busy")));
}

#[tokio::test(start_paused = true)]
async fn a_stop_waits_and_then_hands_back_what_is_left() {
    let dropped = Arc::new(Notify::new());
    let mut bench = lending(endless(&dropped)).await;
    bench.funduq.ask("1");
    bench.next().await;
    assert!(!bench.runtime.stop(Duration::from_secs(5)).await);
    assert!(matches!(bench.next().await.1, Said::Failed { error, .. } if error.contains("provider_stopped")));
    assert!(bench.runtime.registration().names.is_empty());
    bench.funduq.ask("2");
    assert!(matches!(bench.next().await.1, Said::Failed { error, .. } if error.contains("provider_stopped")));
}
