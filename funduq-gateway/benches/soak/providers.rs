//! Providers: one that stays, one whose process dies again and again, and one that stops in order and comes back.

use std::path::PathBuf;
use std::time::Duration;

use funduq_contract::PublicKey;
use funduq_provider_sdk::ws::{self, Link};
use funduq_provider_sdk::{Capacity, ProviderIdentity, RunContext, ServedAgent, agent_fn, demo};
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::gateway::Gateway;

/// How a provider goes.
#[derive(Debug, Clone, Copy)]
enum Manner {
    Stays,
    Dies,
    Stops,
}

struct Provider {
    url: String,
    funduq: PublicKey,
    key_file: PathBuf,
    manner: Manner,
}

/// Starts all of them; their keys, and what ends once they have stopped.
pub(crate) async fn start(
    gateway: &Gateway,
    stop: &CancellationToken,
) -> (Vec<PublicKey>, Vec<JoinHandle<()>>) {
    let (mut keys, mut tasks) = (Vec::new(), Vec::new());
    for manner in [Manner::Stays, Manner::Dies, Manner::Stops] {
        let key_file = gateway.folder.path().join(format!("{manner:?}.key"));
        let provider = Provider { url: gateway.url.clone(), funduq: gateway.key, key_file, manner };
        keys.push(provider.identity().public_key());
        let link = provider.connect().await;
        tasks.push(tokio::spawn(provider.live(link, stop.clone())));
    }
    (keys, tasks)
}

/// Starts one that stays and takes one run at a time, so that others wait for it.
pub(crate) async fn narrow(gateway: &Gateway) -> (PublicKey, Link) {
    let identity = ProviderIdentity::generate();
    let key = identity.public_key();
    let narrow = agent_fn(async |run: RunContext| {
        sleep(Duration::from_millis(150)).await;
        run.events().text("the next, please").await?;
        Ok(())
    });
    let link =
        ws::connect(&gateway.url, identity).pin(gateway.key).capacity(Capacity::max_concurrent_runs(1));
    let mut link = link.agent(ServedAgent::new("narrow", narrow).unwrap()).start().unwrap();
    assert!(link.online().await);
    (key, link)
}

impl Provider {
    fn identity(&self) -> ProviderIdentity {
        ProviderIdentity::load_or_create(&self.key_file).unwrap()
    }

    async fn connect(&self) -> Link {
        let link = ws::connect(&self.url, self.identity()).pin(self.funduq).drain(Duration::from_secs(1));
        let mut link = link.agents(demo::agents()).start().unwrap();
        assert!(link.online().await, "{:?}", link.ended().await);
        link
    }

    async fn live(self, mut link: Link, stop: CancellationToken) {
        loop {
            let (stay, pause) = match self.manner {
                Manner::Stays => (Duration::MAX, Duration::ZERO),
                Manner::Dies => (Duration::from_millis(2700), Duration::from_millis(900)),
                Manner::Stops => (Duration::from_millis(3900), Duration::from_millis(1700)),
            };
            if stop.run_until_cancelled(sleep(stay)).await.is_none() {
                return link.stop().await.unwrap();
            }
            match self.manner {
                Manner::Stays | Manner::Dies => drop(link),
                Manner::Stops => link.stop().await.unwrap(),
            }
            if stop.run_until_cancelled(sleep(pause)).await.is_none() {
                return;
            }
            link = self.connect().await;
        }
    }
}
