//! Two providers with one key: a key serves from one place, the later one.

use funduq_contract::{AgentAddress, Identity};
use funduq_provider_sdk::ws::{self, LinkError};
use funduq_provider_sdk::{ProviderIdentity, RunContext, ServedAgent, agent_fn};

use crate::support::{Raw, TestGateway, input};

fn provider(gateway: &TestGateway, word: &'static str) -> ws::Connection {
    let says = agent_fn(move |run: RunContext| async move {
        run.events().text(word).await?;
        Ok(())
    });
    let identity = ProviderIdentity::from(Identity::from_seed(&[7; 32]));
    ws::connect(gateway.url(), identity)
        .pin(gateway.public_key())
        .agent(ServedAgent::new("says", says).unwrap())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_later_one_serves_and_the_clean_up_of_the_earlier_one_takes_nothing_down() {
    let gateway = TestGateway::start().await;
    let key = Identity::from_seed(&[7; 32]).public_key();
    let agent = AgentAddress::new(key, "says".parse().unwrap());
    let answered_by = async |word: &str| {
        let answer = Raw::post(&gateway.agui(&agent), &input("hello")).await.rest().await;
        assert!(answer.contains(word) && answer.contains("RUN_FINISHED"), "{answer}");
    };
    let mut earlier = provider(&gateway, "the earlier one").start().unwrap();
    assert!(earlier.online().await);
    answered_by("the earlier one").await;

    let mut later = provider(&gateway, "the later one").start().unwrap();
    assert!(later.online().await);
    // It is told why, and does not come back to fight for the key.
    assert!(matches!(earlier.ended().await, Err(LinkError::Replaced)));
    earlier.stop().await.unwrap();
    for _ in 0..3 {
        answered_by("the later one").await;
    }
    assert!(later.is_online() && gateway.funduq().is_online(&agent));
    later.stop().await.unwrap();
    gateway.stop().await;
}
