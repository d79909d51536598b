//! What nothing costs: the memory of links on which nobody speaks, and of threads whose runs wait for their agent.

use std::sync::Arc;

use async_trait::async_trait;
use funduq_contract::{
    AgentAddress, Cancel, Connect, ConnectOk, ConnectedProvider, FunduqPort, Identity, LinkClosed, LinkGone,
    LinkId, Nonce, Offer, PortError, PublicKey, Registration, RunId, Signature, Ticket, Verdict, WrongFunduq,
};
use funduq_core::{AguiStream, CoreSettings, Durability, Funduq, SqliteStore};
use tokio::sync::mpsc;

/// A provider that keeps nothing, and has its offers taken on by whoever listens.
struct Silent {
    identity: Identity,
    offers: mpsc::UnboundedSender<(RunId, u32)>,
}

#[async_trait]
impl ConnectedProvider for Silent {
    fn public_key(&self) -> PublicKey {
        self.identity.public_key()
    }
    fn concurrency(&self) -> Option<u32> {
        None
    }
    fn deliver(&self, offer: Offer) -> Result<(), LinkGone> {
        self.offers.send((offer.run.run_id, offer.attempt)).map_err(|_| LinkGone)
    }
    fn cancel(&self, _: Cancel) -> Result<(), LinkGone> {
        Ok(())
    }
    fn received(&self, _: &RunId, _: u64) {}
    fn refused(&self, _: &RunId, _: PortError) {}
    fn closed(&self, _: LinkClosed) {}
    async fn sign_connect(&self, key: Option<PublicKey>, ticket: Ticket, nonce: Nonce) -> Option<Signature> {
        Some(self.identity.sign_connect(key.as_ref(), &ticket, &nonce))
    }
    async fn confirm_connect(&self, _: &ConnectOk) -> Result<(), WrongFunduq> {
        Ok(())
    }
}

/// How many mebibytes are held.
pub(crate) struct Idle {
    /// By links.
    pub(crate) links: f64,
    /// By threads.
    pub(crate) threads: f64,
}

/// Holds `count` idle links and as many threads, each with a run that its agent holds and a caller who reads.
pub(crate) async fn hold(count: usize) -> Idle {
    let folder = super::scratch();
    let store = SqliteStore::open(folder.path().join("record.sqlite"), Durability::Process).unwrap();
    let funduq = Funduq::new(CoreSettings::default(), Some(Identity::generate()), Arc::new(store));
    funduq.start().await.unwrap();
    let before = resident();

    let (taken, mut offers) = mpsc::unbounded_channel();
    for _ in 0..count {
        attach(&funduq, &taken).await;
    }
    let links = resident() - before;
    let (link, agent) = attach(&funduq, &taken).await;
    let mut streams = Vec::with_capacity(count);
    for _ in 0..count {
        let mut stream = super::ask(&funduq, &agent).await;
        let (run, attempt) = offers.recv().await.unwrap();
        funduq.answer(link, &run, attempt, Verdict::Accepted).await.unwrap();
        let started =
            format!(r#"{{"type":"RUN_STARTED","threadId":"{}","runId":"{run}"}}"#, stream.thread_id());
        funduq.report_event(link, &run, 1, started.into()).await.unwrap();
        stream.next().await.unwrap();
        streams.push(stream);
    }
    let all = resident() - before;
    drop::<Vec<AguiStream>>(streams);
    Idle { links, threads: all - links }
}

async fn attach(funduq: &Funduq, taken: &mpsc::UnboundedSender<(RunId, u32)>) -> (LinkId, AgentAddress) {
    let provider = Silent { identity: Identity::generate(), offers: taken.clone() };
    let key = provider.public_key();
    let ticket = funduq.issue_ticket(&key);
    let pinned = funduq.public_key();
    let connect = Connect::sign(&provider.identity, pinned.as_ref(), ticket, Nonce::generate(), None);
    let (link, _) = funduq.attach_provider(Arc::new(provider), connect).await.unwrap();
    let agent = AgentAddress::new(key, "idle".parse().unwrap());
    funduq.register_agents(link, vec![Registration::new(agent.name.clone())]).await.unwrap();
    (link, agent)
}

/// What the system says that this process holds in memory, in mebibytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}
