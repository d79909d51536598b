//! Bytes in, bytes out: whatever an event is made of, it leaves as the provider sent it, live and out of the record.

use std::sync::{Arc, Mutex};

use funduq_agui::{EventType, arbitrary};
use funduq_contract::AgentAddress;
use funduq_provider_sdk::ws::{self, Link};
use funduq_provider_sdk::{ProviderIdentity, RunContext, ServedAgent, agent_fn};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, TestRunner};

use crate::support::{Raw, TestGateway, input};

/// What the agent is to send in its next run.
type Script = Arc<Mutex<Vec<String>>>;

/// One event of each type that AG-UI 1.0 knows, one of none that it knows, and one with a string of a mebibyte, in any
/// order; at the end one that ends the run.
fn streams() -> impl Strategy<Value = Vec<String>> {
    let is_terminal = |known: &EventType| matches!(known, EventType::RunFinished | EventType::RunError);
    let (ends, others): (Vec<_>, Vec<_>) = EventType::KNOWN.iter().copied().partition(is_terminal);
    let mut events: Vec<_> = others.into_iter().map(arbitrary::event).collect();
    events.push(arbitrary::event(EventType::Unknown));
    events.push(large().boxed());
    let end = select(ends).prop_flat_map(arbitrary::event);
    (events.prop_shuffle(), end).prop_map(|(mut events, end)| {
        events.push(end);
        events
    })
}

fn large() -> impl Strategy<Value = String> {
    let pieces = select(&["plain ", "é漢字", "👩‍🚀", "\\u00e9\\n", "\\ud83d\\ude00", "\u{2028}"][..]);
    pieces.prop_map(|piece| {
        let text = piece.repeat((1 << 20) / piece.len() + 1);
        format!(r#"{{"delta":"{text}","type":"TEXT_MESSAGE_CONTENT","messageId":"m"}}"#)
    })
}

/// The frames that a stream of these texts is made of, to the byte.
fn framed(run: &str, texts: &[String]) -> String {
    (1..).zip(texts).map(|(number, text): (u64, _)| format!("id: {run}:{number}\ndata: {text}\n\n")).collect()
}

async fn provider(gateway: &TestGateway, script: &Script) -> (Link, AgentAddress) {
    let script = script.clone();
    let says = agent_fn(move |run: RunContext| {
        let texts = script.lock().unwrap().clone();
        async move {
            let stream = run.events().take_over()?;
            for text in texts {
                stream.send(text).await?;
            }
            Ok(())
        }
    });
    let identity = ProviderIdentity::generate();
    let agent = AgentAddress::new(identity.public_key(), "says".parse().unwrap());
    let connection = ws::connect(gateway.url(), identity).pin(gateway.public_key());
    let mut link = connection.agent(ServedAgent::new("says", says).unwrap()).start().unwrap();
    assert!(link.online().await);
    (link, agent)
}

#[test]
fn an_event_of_any_type_leaves_as_the_bytes_that_came() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let script = Script::default();
    let (gateway, link, agent) = runtime.block_on(async {
        let gateway = TestGateway::start().await;
        let (link, agent) = provider(&gateway, &script).await;
        (gateway, link, agent)
    });
    let url = gateway.agui(&agent);
    let config = Config { cases: 12, max_shrink_iters: 100, failure_persistence: None, ..Config::default() };
    let passed = TestRunner::new(config).run(&streams(), |texts| {
        script.lock().unwrap().clone_from(&texts);
        let (run, live, recorded) = runtime.block_on(async {
            let live = Raw::post(&url, &input("hello")).await.rest().await;
            let run = live.split([' ', ':']).nth(2).unwrap().to_owned();
            let recorded = Raw::get(&format!("{url}/runs/{run}"), "").await.rest().await;
            (run, live, recorded)
        });
        let expected = framed(&run, &texts);
        // Compared in two steps: a mebibyte of difference is no message to read.
        let differs = live.lines().zip(expected.lines()).position(|(told, said)| told != said);
        prop_assert_eq!(differs, None);
        prop_assert!(live == expected, "{} bytes in place of {}", live.len(), expected.len());
        prop_assert!(recorded == live, "the record has other bytes than the caller had");
        Ok(())
    });
    runtime.block_on(async {
        link.stop().await.unwrap();
        gateway.stop().await;
    });
    passed.unwrap();
}
