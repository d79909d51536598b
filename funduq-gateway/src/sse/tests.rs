//! A stream's signs of life, on a paused clock.

use std::sync::Arc;

use funduq_contract::{AgentAddress, FunduqPort, Identity};
use funduq_core::{CoreSettings, Funduq, MemoryStore};
use funduq_provider_sdk::{InProcessLink, ProviderIdentity, RunContext, Runtime, ServedAgent, agent_fn};
use http_body_util::BodyExt;
use tokio::time::Instant;

use super::*;
use crate::config::Config;
use crate::limits::Limits;
use crate::metrics::Metrics;

#[tokio::test(start_paused = true)]
async fn a_silent_minute_is_a_bare_comment_line_every_fifteen_seconds() {
    let funduq =
        Funduq::new(CoreSettings::default(), Some(Identity::generate()), Arc::new(MemoryStore::new()));
    funduq.start().await.unwrap();
    let silent = agent_fn(async |run: RunContext| {
        run.events().text("wait").await?;
        tokio::time::sleep(Duration::from_secs(61)).await;
        Ok(())
    });
    let agent = ServedAgent::new("silent", silent).unwrap();
    let runtime = Runtime::builder(ProviderIdentity::generate()).agent(agent).build();
    let key = runtime.identity().public_key();
    let port = Arc::new(funduq.clone()) as Arc<dyn FunduqPort>;
    let ticket = funduq.issue_ticket(&key);
    let _link = InProcessLink::open(&runtime, port, ticket, funduq.public_key()).await.unwrap();

    let address = AgentAddress::new(key, "silent".parse().unwrap());
    let input = br#"{"threadId":"new","runId":"r","messages":[{"id":"m","role":"user","content":"hello"}]}"#;
    let input = funduq_agui::RelayedInput::parse(input).unwrap();
    let stream = funduq.agui().run(&address, input, None).await.unwrap();
    let place = Arc::new(Readers::default()).enter(stream.run_id());
    let began = Instant::now();
    let config = Config::default();
    let permit = Limits::new(&config, Arc::new(Metrics::new(funduq.clone()))).link().unwrap();
    let mut body = answer(stream, place, permit, config.keep_alive.get()).into_body();
    let mut signs = Vec::new();
    let mut events = String::new();
    while let Some(frame) = body.frame().await {
        let data = frame.unwrap().into_data().unwrap();
        if data.starts_with(b":") {
            assert_eq!(&data[..], b":\n");
            signs.push(began.elapsed().as_secs());
        } else {
            events.push_str(std::str::from_utf8(&data).unwrap());
        }
    }
    assert_eq!(signs, [15, 30, 45, 60]);
    assert_eq!(events.matches("\n\n").count(), 5);
    assert!(events.contains("RUN_FINISHED") && began.elapsed().as_secs() == 61);
}
