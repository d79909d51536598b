//! A provider that stays away for too long.

use std::time::Duration;

use funduq_contract::{AgentAddress, RunId};
use funduq_core::RunStatus;
use funduq_provider_sdk::{ProviderIdentity, RunContext, ServedAgent, agent_fn};
use serde_json::Value;

use crate::prng::Rng;
use crate::proxy::Proxy;
use crate::round::{connection, frames, until_nothing_is_held, until_runs_are};
use crate::support::{Raw, TestGateway, events, input};
use crate::weather::Weather;

const HELD: usize = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_the_grace_exceeded_each_held_run_fails_and_its_caller_is_told() {
    let gateway = TestGateway::configured(|config| config.link_grace = "300ms".parse().unwrap()).await;
    let proxy = Proxy::before(gateway.url(), Weather::new(Rng::new(0), 0)).await;
    // Says one word and then waits to be stopped.
    let waits = agent_fn(async |run: RunContext| {
        run.events().text("one word").await?;
        if run.user_text().as_deref() == Some("wait") {
            run.cancellation().cancelled().await;
        }
        Ok(())
    });
    let identity = ProviderIdentity::generate();
    let agent = AgentAddress::new(identity.public_key(), "waits".parse().unwrap());
    let mut link = connection(&proxy, &gateway, identity)
        .agent(ServedAgent::new("waits", waits).unwrap())
        .start()
        .unwrap();
    assert!(link.online().await);

    let mut answers = Vec::new();
    for _ in 0..HELD {
        let mut answer = Raw::post(&gateway.agui(&agent), &input("wait")).await;
        let first = events(&answer.chunk().await.unwrap()).remove(0).0;
        answers.push((RunId::new(first.rsplit_once(':').unwrap().0).unwrap(), answer));
    }
    proxy.dark(true);
    let runs: Vec<_> = answers.iter().map(|(run, _)| run.clone()).collect();
    for (run, mut answer) in answers {
        // The body ends, and its end is clean.
        let seen = frames(&answer.rest().await);
        let (id, last) = seen.last().unwrap();
        let last: Value = serde_json::from_str(last).unwrap();
        assert_eq!((&last["type"], &last["code"]), (&"RUN_ERROR".into(), &"provider_left_holding_it".into()));
        let recorded = gateway.funduq().run(&run).await.unwrap().unwrap();
        assert_eq!(*id, format!("{run}:{}", recorded.last_event));
        assert_eq!(recorded.metadata.failure_reason.as_deref(), Some("provider_left_holding_it"));
    }
    until_runs_are(&gateway, &runs, RunStatus::Failed).await;

    // It comes back: nobody waits for those runs any more, and its agents are stopped.
    proxy.dark(false);
    gateway.until_online_is(&agent, true).await;
    until_nothing_is_held(&link).await;
    let answer = Raw::post(&gateway.agui(&agent), &input("and on")).await.rest().await;
    assert_eq!(events(&answer).last().unwrap().1["type"], "RUN_FINISHED");
    link.stop().await.unwrap();
    gateway.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn within_the_grace_a_silent_run_is_still_held_and_goes_on() {
    let gateway = TestGateway::start().await;
    let proxy = Proxy::before(gateway.url(), Weather::new(Rng::new(0), 0)).await;
    let (go, went) = tokio::sync::watch::channel(false);
    let waits = agent_fn(move |run: RunContext| {
        let mut went = went.clone();
        async move {
            run.events().text("before").await?;
            let _ = went.wait_for(|went| *went).await;
            run.events().text("after").await?;
            Ok(())
        }
    });
    let identity = ProviderIdentity::generate();
    let agent = AgentAddress::new(identity.public_key(), "waits".parse().unwrap());
    let mut link = connection(&proxy, &gateway, identity)
        .agent(ServedAgent::new("waits", waits).unwrap())
        .start()
        .unwrap();
    assert!(link.online().await);
    let mut answer = Raw::post(&gateway.agui(&agent), &input("hello")).await;
    answer.chunk().await.unwrap();
    for _ in 0..3 {
        proxy.dark(true);
        gateway.until_online_is(&agent, false).await;
        proxy.dark(false);
        gateway.until_online_is(&agent, true).await;
    }
    proxy.dark(true);
    gateway.until_online_is(&agent, false).await;
    // What it says now waits for the link.
    go.send_replace(true);
    tokio::time::sleep(Duration::from_millis(20)).await;
    proxy.dark(false);
    let seen = answer.rest().await;
    assert_eq!(events(&seen).last().unwrap().1["type"], "RUN_FINISHED");
    assert_eq!(seen.matches("after").count(), 1);
    link.stop().await.unwrap();
    gateway.stop().await;
}
