//! The demo provider, through the real link.

use funduq_gateway::Gateway;

use crate::support::{Raw, TestGateway, config, events, input};

fn text(seen: &[(String, serde_json::Value)]) -> String {
    let deltas = seen.iter().filter(|(_, event)| event["type"] == "TEXT_MESSAGE_CONTENT");
    deltas.map(|(_, event)| event["delta"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn the_demo_agent_is_online_when_the_gateway_has_started_and_answers() {
    let gateway = TestGateway::configured(|config| config.demo = true).await;
    let echo = gateway.demo_agent().unwrap().clone();
    assert!(gateway.funduq().is_online(&echo));
    let mut answer = Raw::post(&gateway.agui(&echo), &input("hello 世界 👩‍🚀")).await;
    let seen = events(&answer.rest().await);
    assert_eq!(text(&seen), "hello 世界 👩‍🚀");
    assert_eq!(seen.last().unwrap().1["type"], "RUN_FINISHED");
    gateway.stop().await;
}

#[tokio::test]
async fn the_demo_agent_keeps_its_address() {
    let first = TestGateway::configured(|config| config.demo = true).await;
    let echo = first.demo_agent().unwrap().clone();
    let folder = first.stop().await;
    let mut config = config(folder.path());
    config.demo = true;
    let second = Gateway::start(config).await.unwrap();
    assert_eq!(second.demo_agent(), Some(&echo));
    second.shutdown().await;
}

#[tokio::test]
async fn a_demo_that_is_not_admitted_is_a_gateway_that_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(folder.path());
    config.demo = true;
    config.enrolment = "closed".parse().unwrap();
    let error = Gateway::start(config).await.unwrap_err();
    assert!(error.to_string().contains("enrolment"), "{error}");
}
