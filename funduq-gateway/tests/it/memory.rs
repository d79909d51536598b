//! What a provider's process holds, measured on one.
//!
//! The process is this very test binary, in which the whole gateway and its tests are mapped from the file; so what it
//! holds beside that is measured. The example `echo`, a provider and nothing else, stands at 7 MB with all of its file.

use std::process::Stdio;

use funduq_contract::AgentAddress;
use funduq_provider_sdk::ws;
use funduq_provider_sdk::{ProviderIdentity, RunContext, ServedAgent, agent_fn};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::support::{Raw, SOON, TestGateway, events, input};

/// Where the provider's process finds its gateway, and the key that it pins.
const GATEWAY: &str = "PROVIDER_OF";
const PINNED: &str = "PROVIDER_PINS";

/// In kB, as the system counts. With the 6 MB of a provider's own file, far below the 12 MB that it may hold.
const MOST: u64 = 4_000;

#[tokio::test]
async fn a_process_that_serves_one_idle_agent_holds_little() {
    let gateway = TestGateway::start().await;
    let mut process = Command::new(std::env::current_exe().unwrap())
        .args(["memory::the_providers_process", "--exact", "--ignored", "--nocapture"])
        .env(GATEWAY, gateway.url())
        .env(PINNED, gateway.public_key().to_string())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
    let key = loop {
        let line = timeout(SOON, lines.next_line()).await.unwrap().unwrap().expect("the provider's key");
        if let Some(key) = line.strip_prefix("serving as ") {
            break key.parse().unwrap();
        }
    };
    let agent = AgentAddress::new(key, "idle".parse().unwrap());
    gateway.until_online_is(&agent, true).await;
    // It has worked before it idles.
    for _ in 0..10 {
        let answer = Raw::post(&gateway.agui(&agent), &input("hello")).await.rest().await;
        assert_eq!(events(&answer).last().unwrap().1["type"], "RUN_FINISHED");
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id().unwrap())).unwrap();
    let held = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    let held: u64 = held.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(held < MOST, "{held} kB");
    process.kill().await.unwrap();
    gateway.stop().await;
}

#[test]
#[ignore = "the process that the test above measures"]
fn the_providers_process() {
    let Ok(url) = std::env::var(GATEWAY) else { return };
    let identity = ProviderIdentity::generate();
    println!("serving as {}", identity.public_key());
    let idle = agent_fn(async |run: RunContext| {
        run.events().text("and back to sleep").await?;
        Ok(())
    });
    let connection = ws::connect(url, identity)
        .pin(std::env::var(PINNED).unwrap().parse().unwrap())
        .agent(ServedAgent::new("idle", idle).unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(connection.run()).unwrap();
}
