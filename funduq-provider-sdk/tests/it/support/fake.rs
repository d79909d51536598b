//! A funduq of a few lines: admits everybody, records what is reported, and says so when the test wants it to.

use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};

use async_trait::async_trait;
use funduq_provider_sdk::agui::{RelayedEvent, RelayedMessage};
use funduq_provider_sdk::contract::{
    Ack, AgentName, Cancel, Connect, ConnectErr, ConnectOk, ConnectRefusal, ConnectedProvider, FunduqPort,
    HeldRun, Identity, LinkClosed, LinkGone, LinkId, Offer, PortError, PublicKey, Registration, RunId,
    Ticket, Verdict,
};
use funduq_provider_sdk::{InProcessError, InProcessLink, Runtime};
use tokio::sync::Notify;

pub(crate) struct FakeFunduq {
    identity: Identity,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    links: u64,
    provider: Option<Arc<dyn ConnectedProvider>>,
    roster: Option<Vec<Registration>>,
    verdicts: Vec<(RunId, u32, Verdict)>,
    acks: Vec<Ack>,
    runs: HashMap<RunId, Recorded>,
    held_runs: Vec<HeldRun>,
    silent: bool,
    answers_lost: bool,
}

#[derive(Clone, Default)]
pub(crate) struct Recorded {
    pub(crate) events: Vec<String>,
    /// A terminal or malformed event or a finish has come.
    pub(crate) finished: bool,
    /// How often an event was reported, the recorded ones included.
    pub(crate) reports: usize,
}

impl FakeFunduq {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            identity: Identity::generate(),
            state: Mutex::new(State::default()),
            changed: Notify::new(),
        })
    }

    pub(crate) fn key(&self) -> PublicKey {
        self.identity.public_key()
    }

    pub(crate) fn identity(&self) -> &Identity {
        &self.identity
    }

    pub(crate) async fn link(self: &Arc<Self>, runtime: &Runtime) -> Result<InProcessLink, InProcessError> {
        InProcessLink::open(runtime, self.clone(), Ticket::generate(), Some(self.key())).await
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    /// Forgets every run.
    pub(crate) fn clear(&self) {
        self.state().runs.clear();
    }

    /// What funduq holds of the link.
    pub(crate) fn hold_provider(&self) -> Arc<dyn ConnectedProvider> {
        self.provider()
    }

    fn provider(&self) -> Arc<dyn ConnectedProvider> {
        self.state().provider.clone().unwrap()
    }

    /// Does not say any more what it has recorded.
    pub(crate) fn silent(&self, silent: bool) {
        self.state().silent = silent;
    }

    /// Takes verdicts without having understood them, as when they come too late.
    pub(crate) fn lose_answers(&self, lost: bool) {
        self.state().answers_lost = lost;
    }

    /// What the next link is told of a run that is held.
    pub(crate) fn held(&self, run: &str, received: u64) {
        let held = HeldRun { run_id: super::run_id(run), received };
        self.state().held_runs.push(held);
    }

    /// Keeps only so many of a run's events.
    pub(crate) fn forget_after(&self, run: &str, received: usize) {
        self.state().runs.get_mut(run).unwrap().events.truncate(received);
    }

    pub(crate) fn offer(&self, offer: Offer) -> Result<(), LinkGone> {
        self.provider().deliver(offer)
    }

    pub(crate) fn cancel(&self, run: &str) {
        self.provider().cancel(Cancel { run_id: super::run_id(run) }).unwrap();
    }

    pub(crate) fn received(&self, run: &str, number: u64) {
        self.provider().received(&super::run_id(run), number);
    }

    pub(crate) fn refuse(&self, run: &str, error: PortError) {
        self.provider().refused(&super::run_id(run), error);
    }

    pub(crate) fn drop_link(&self, reason: LinkClosed) {
        let provider = self.state().provider.take().unwrap();
        provider.closed(reason);
    }

    pub(crate) fn roster(&self) -> Option<Vec<Registration>> {
        self.state().roster.clone()
    }

    pub(crate) fn verdicts(&self) -> Vec<(RunId, u32, Verdict)> {
        self.state().verdicts.clone()
    }

    pub(crate) fn verdict(&self, run: &str) -> Option<Verdict> {
        let verdicts = self.verdicts();
        verdicts.into_iter().rev().find(|(id, ..)| id.as_str() == run).map(|(.., verdict)| verdict)
    }

    pub(crate) fn acks(&self) -> Vec<Ack> {
        self.state().acks.clone()
    }

    pub(crate) fn recorded(&self, run: &str) -> Recorded {
        self.state().runs.get(run).cloned().unwrap_or_default()
    }

    pub(crate) fn events(&self, run: &str) -> Vec<String> {
        self.recorded(run).events
    }

    /// Waits until something is so.
    pub(crate) async fn until(&self, so: impl Fn(&Self) -> bool) {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if so(self) {
                return;
            }
            changed.await;
        }
    }

    /// Waits until the run is finished, and answers its events.
    pub(crate) async fn finished(&self, run: &str) -> Vec<String> {
        self.until(|funduq| funduq.recorded(run).finished).await;
        self.events(run)
    }

    fn is_link(&self, link: LinkId) -> Result<(), PortError> {
        let state = self.state();
        if state.provider.is_some() && link.get() == state.links {
            Ok(())
        } else {
            Err(PortError::LinkClosed)
        }
    }
}

#[async_trait]
impl FunduqPort for FakeFunduq {
    async fn open(
        &self,
        provider: Arc<dyn ConnectedProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr> {
        if connect.check_proof(Some(&self.key())).is_err() {
            return Err(ConnectErr::new(ConnectRefusal::BadProof, "not for this funduq"));
        }
        let held_runs = std::mem::take(&mut self.state().held_runs);
        let ok = ConnectOk {
            funduq_public_key: Some(self.key()),
            answer: Some(self.identity.sign_funduq_connect(&connect.ticket, &connect.provider_nonce)),
            held_runs,
            revision: 1,
        };
        provider
            .confirm_connect(&ok)
            .await
            .map_err(|wrong| ConnectErr::new(ConnectRefusal::Malformed, wrong.to_string()))?;
        let mut state = self.state();
        state.links += 1;
        state.provider = Some(provider);
        Ok((LinkId::new(state.links), ok))
    }

    async fn register(&self, link: LinkId, agents: Vec<Registration>) -> Result<(), PortError> {
        self.is_link(link)?;
        self.state().roster = Some(agents);
        self.changed.notify_waiters();
        Ok(())
    }

    async fn delete(&self, link: LinkId, name: &AgentName) -> Result<(), PortError> {
        self.is_link(link)?;
        Err(PortError::UnknownAgent(name.clone()))
    }

    async fn thread_messages(
        &self,
        link: LinkId,
        run_id: &RunId,
        limit: u32,
    ) -> Result<Vec<RelayedMessage>, PortError> {
        self.is_link(link)?;
        let message = |number| {
            let json = format!(r#"{{"id":"{run_id}-{number}","role":"user","content":"hello"}}"#);
            serde_json::from_str(&json).unwrap()
        };
        Ok((0..limit).map(message).collect())
    }

    async fn answer(
        &self,
        link: LinkId,
        run_id: &RunId,
        attempt: u32,
        verdict: Verdict,
    ) -> Result<(), PortError> {
        self.is_link(link)?;
        {
            let mut state = self.state();
            if verdict == Verdict::Accepted && !state.answers_lost {
                state.runs.entry(run_id.clone()).or_default();
            }
            state.verdicts.push((run_id.clone(), attempt, verdict));
        }
        self.changed.notify_waiters();
        Ok(())
    }

    async fn report_event(
        &self,
        link: LinkId,
        run_id: &RunId,
        number: u64,
        event: Arc<str>,
    ) -> Result<(), PortError> {
        self.is_link(link)?;
        let silent = {
            let mut state = self.state();
            let silent = state.silent;
            let Some(run) = state.runs.get_mut(run_id) else {
                return Err(PortError::NotHeld(run_id.clone()));
            };
            run.reports += 1;
            let expected = run.events.len() as u64 + 1;
            if number > expected {
                return Err(PortError::Gap { expected, got: number });
            }
            if number == expected {
                let ends = |event: RelayedEvent| event.terminal().is_some();
                run.finished |= RelayedEvent::parse(event.clone()).map_or(true, ends);
                run.events.push(event.to_string());
            }
            silent
        };
        if !silent {
            self.provider().received(run_id, number);
        }
        self.changed.notify_waiters();
        Ok(())
    }

    async fn finish(&self, link: LinkId, run_id: &RunId) -> Result<(), PortError> {
        self.is_link(link)?;
        self.state().runs.entry(run_id.clone()).or_default().finished = true;
        self.changed.notify_waiters();
        Ok(())
    }

    async fn ack(&self, link: LinkId, ack: Ack) -> Result<(), PortError> {
        self.is_link(link)?;
        self.state().acks.push(ack);
        self.changed.notify_waiters();
        Ok(())
    }

    async fn close(&self, link: LinkId) {
        if self.is_link(link).is_ok() {
            self.state().provider = None;
        }
        self.changed.notify_waiters();
    }
}
