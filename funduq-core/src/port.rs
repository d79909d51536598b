//! What providers may say, as core hears it: [`FunduqPort`] and [`LlmPort`] on [`Funduq`].

use std::sync::Arc;

use async_trait::async_trait;
use funduq_agui::{RelayedEvent, RelayedMessage};
use funduq_contract::{
    Ack, AgentName, Chunk, CompletionEnd, CompletionFailed, CompletionId, Connect, ConnectErr, ConnectOk,
    ConnectedLlmProvider, ConnectedProvider, FunduqPort, LinkId, LlmPort, LlmRegistration, PortError,
    PublicKey, Registration, RunId, Verdict,
};

use crate::dispatch::thread::Message;
use crate::dispatch::{Letter, weight};
use crate::funduq::Funduq;
use crate::funduq::unavailable;
use crate::links::News;
use crate::record::Store;

/// The most messages of a thread's history that one request may ask for.
const MAX_HISTORY: u32 = 10_000;
/// The most bytes of it: what fits into a frame of a link beside anything else.
const MAX_HISTORY_BYTES: usize = 8 << 20;
/// The longest reason of a refusal that is kept, in bytes.
const MAX_REASON: usize = 4096;

impl Funduq {
    /// A link that broke may have taken the news with it that a run's events are recorded and the run has ended; without
    /// them, its provider waits for the run to be offered again.
    async fn tell_of_the_settled(&self, key: &PublicKey, run_id: &RunId) {
        let run = run_id.clone();
        // What cannot be read now is asked for again.
        if let Ok(Some(run)) = self.dispatch().record.read(move |store| store.run(&run)).await
            && run.agent.provider == *key
            && run.status.is_terminal()
        {
            self.dispatch().links.received(key, run_id, run.last_event);
        }
    }

    /// What [`FunduqPort::report_event`] does, for events of a run that come one after another, the first with the number
    /// `first`: for a host that reads them off a connection faster than one at a time.
    ///
    /// # Errors
    /// As for one event; none of them is taken then. What becomes of each is told through the link.
    pub async fn report_events(
        &self,
        link: LinkId,
        run_id: &RunId,
        first: u64,
        events: Vec<RelayedEvent>,
    ) -> Result<(), PortError> {
        let key = self.speaker(link)?;
        let weight = weight(events.iter().map(|event| event.json().len()));
        let run = run_id.clone();
        self.report(key, run_id, weight, || Letter::Events { key, run, first, events }).await
    }

    async fn report(
        &self,
        key: PublicKey,
        run_id: &RunId,
        weight: usize,
        letter: impl FnOnce() -> Letter,
    ) -> Result<(), PortError> {
        let taken = self.dispatch().take_in(key, run_id, weight, letter).await;
        if let Err(PortError::NotHeld(_)) = &taken {
            self.tell_of_the_settled(&key, run_id).await;
        }
        taken
    }

    fn speaker(&self, link: LinkId) -> Result<PublicKey, PortError> {
        self.dispatch().links.key_of(link).ok_or(PortError::LinkClosed)
    }
}

#[async_trait]
impl FunduqPort for Funduq {
    async fn open(
        &self,
        provider: Arc<dyn ConnectedProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr> {
        self.attach_provider(provider, connect).await
    }

    async fn register(&self, link: LinkId, agents: Vec<Registration>) -> Result<(), PortError> {
        self.register_agents(link, agents).await
    }

    async fn delete(&self, link: LinkId, name: &AgentName) -> Result<(), PortError> {
        self.delete_agent(link, name).await
    }

    async fn thread_messages(
        &self,
        link: LinkId,
        run_id: &RunId,
        limit: u32,
    ) -> Result<Vec<RelayedMessage>, PortError> {
        let key = self.speaker(link)?;
        let live = self.dispatch().live(run_id).filter(|live| live.agent.provider == key);
        let thread = live.ok_or_else(|| PortError::NotHeld(run_id.clone()))?.log.thread.clone();
        let limit = limit.min(MAX_HISTORY) as usize;
        let read = move |store: &dyn Store| store.latest_messages(&thread, limit, MAX_HISTORY_BYTES);
        let latest = self.dispatch().record.read(read).await;
        Ok(latest.map_err(unavailable)?.into_iter().map(|stored| stored.message).collect())
    }

    async fn answer(
        &self,
        link: LinkId,
        run_id: &RunId,
        attempt: u32,
        verdict: Verdict,
    ) -> Result<(), PortError> {
        let key = self.speaker(link)?;
        let verdict = match verdict {
            Verdict::Refused { mut reason } => {
                let end = (0..=MAX_REASON.min(reason.len())).rev().find(|&at| reason.is_char_boundary(at));
                reason.truncate(end.unwrap_or(0));
                Verdict::Refused { reason }
            }
            other => other,
        };
        let run = run_id.clone();
        let message = Message::Verdict { key, run, attempt, verdict };
        self.dispatch().take_in(key, run_id, 0, || Letter::Machine(message)).await
    }

    async fn report_event(
        &self,
        link: LinkId,
        run_id: &RunId,
        number: u64,
        event: Arc<str>,
    ) -> Result<(), PortError> {
        let key = self.speaker(link)?;
        let run = run_id.clone();
        let weight = weight([event.len()].into_iter());
        let read = || {
            let event = RelayedEvent::parse(event).map_err(Box::new);
            Letter::Machine(Message::Event { key, run, number, event })
        };
        self.report(key, run_id, weight, read).await
    }

    async fn finish(&self, link: LinkId, run_id: &RunId) -> Result<(), PortError> {
        let key = self.speaker(link)?;
        let run = run_id.clone();
        self.dispatch().take_in(key, run_id, 0, || Letter::Machine(Message::Finish { key, run })).await
    }

    async fn ack(&self, link: LinkId, ack: Ack) -> Result<(), PortError> {
        let key = self.speaker(link)?;
        if ack.held {
            return Ok(());
        }
        // A provider that does not hold what it was asked to stop will never end it.
        let run = ack.run_id.clone();
        self.dispatch().take_in(key, &ack.run_id, 0, || Letter::Machine(Message::Finish { key, run })).await
    }

    async fn close(&self, link: LinkId) {
        if let Ok(key) = self.speaker(link) {
            self.detach_provider(&key, link);
        }
    }
}

impl Funduq {
    async fn tell(&self, link: LinkId, id: &CompletionId, news: News) -> Result<(), PortError> {
        self.dispatch().llm.tell(link, id, news).await
    }
}

#[async_trait]
impl LlmPort for Funduq {
    async fn open_llm(
        &self,
        provider: Arc<dyn ConnectedLlmProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr> {
        self.attach_llm_provider(provider, connect).await
    }

    async fn register_llm(&self, link: LinkId, offerings: LlmRegistration) -> Result<(), PortError> {
        self.register_llm_providers(link, offerings).await
    }

    async fn chunk(&self, link: LinkId, chunk: Chunk) -> Result<(), PortError> {
        self.tell(link, &chunk.completion_id, News::Chunk(chunk.chunk)).await
    }

    async fn end(&self, link: LinkId, end: CompletionEnd) -> Result<(), PortError> {
        self.tell(link, &end.completion_id, News::End).await
    }

    async fn failed(&self, link: LinkId, failed: CompletionFailed) -> Result<(), PortError> {
        let news = News::Failed { error: failed.error, refused: failed.refused };
        self.tell(link, &failed.completion_id, news).await
    }

    async fn close_llm(&self, link: LinkId) {
        if let Some(key) = self.dispatch().llm.key_of(link) {
            self.detach_llm_provider(&key, link);
        }
    }
}
