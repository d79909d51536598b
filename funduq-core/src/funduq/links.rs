//! Links of both kinds on [`Funduq`]: admission, opening, rosters, and how they end.

use std::sync::{Arc, PoisonError};

use funduq_contract::{
    AgentAddress, AgentName, Connect, ConnectErr, ConnectOk, ConnectRefusal, ConnectedLlmProvider,
    ConnectedProvider, HeldRun, LinkClosed, LinkId, LlmRegistration, PortError, PublicKey, Registration,
    Ticket, WrongFunduq,
};

use super::Funduq;
use crate::clock;
use crate::links;
use crate::record::{Conflict, Register, StoreError, Write};

/// The most agents, or offerings, that one link may publish.
const MAX_AGENTS: usize = 1000;

impl Funduq {
    /// Admits a key: a ticket that opens one link for it, within a minute. Whoever calls this decides who may serve
    /// here. It must reach the provider over a channel that is not the link.
    pub fn issue_ticket(&self, key: &PublicKey) -> Ticket {
        let now = self.inner.dispatch.now();
        self.inner.admission.lock().unwrap_or_else(PoisonError::into_inner).issue(now, *key)
    }

    /// Opens a link: ticket, proof, funduq's answer, the provider's confirmation. A link that the key had open is
    /// replaced. Nothing is served until the first [`Funduq::register_agents`].
    ///
    /// # Errors
    /// [`ConnectErr`] saying which step failed; the link is not open then.
    pub async fn attach_provider(
        &self,
        provider: Arc<dyn ConnectedProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr> {
        let dispatch = &self.inner.dispatch;
        self.admit(provider.public_key(), &connect)?;
        // A run whose acceptance came over the key's last link is held, though it may not be judged yet.
        dispatch.catch_up(&connect.public_key).await;
        let held = self.held_runs(&connect.public_key);
        let ok = links::answer(&connect, self.inner.identity.as_deref(), held);
        provider.confirm_connect(&ok).await.map_err(not_confirmed)?;
        let (link, replaced, notices) = dispatch.links.opened(provider);
        if let Some(departure) = replaced {
            dispatch.departed(departure);
        }
        dispatch.notify(&connect.public_key, notices);
        tracing::info!(provider = %connect.public_key.fingerprint(), %link, "a provider's link is open");
        Ok((link, ok))
    }

    /// The steps of an opening up to funduq's own signature, the same for both kinds of link.
    fn admit(&self, key: PublicKey, connect: &Connect) -> Result<(), ConnectErr> {
        let dispatch = &self.inner.dispatch;
        if dispatch.is_stopping() || !dispatch.record.is_started() {
            return Err(ConnectErr::new(
                ConnectRefusal::ShuttingDown,
                "funduq is not accepting links now; try again",
            ));
        }
        if key != connect.public_key {
            return Err(ConnectErr::new(
                ConnectRefusal::Malformed,
                "the link and its proof name different keys",
            ));
        }
        links::check(connect, self.public_key().as_ref(), dispatch.now(), &self.inner.admission)
    }

    /// Opens an LLM link, through the same steps as [`Funduq::attach_provider`].
    ///
    /// # Errors
    /// [`ConnectErr`] saying which step failed; the link is not open then.
    pub async fn attach_llm_provider(
        &self,
        provider: Arc<dyn ConnectedLlmProvider>,
        connect: Connect,
    ) -> Result<(LinkId, ConnectOk), ConnectErr> {
        self.admit(provider.public_key(), &connect)?;
        let ok = links::answer(&connect, self.inner.identity.as_deref(), Vec::new());
        provider.confirm_connect(&ok).await.map_err(not_confirmed)?;
        let link = self.inner.dispatch.llm.opened(provider);
        tracing::info!(provider = %connect.public_key.fingerprint(), %link, "an LLM provider's link is open");
        Ok((link, ok))
    }

    /// Publishes exactly these LLM offerings on an open link.
    ///
    /// # Errors
    /// [`PortError::LinkClosed`]; [`PortError::Invalid`] for too many of them; [`PortError::Unavailable`] when the
    /// record cannot be written.
    pub async fn register_llm_providers(
        &self,
        link: LinkId,
        offerings: LlmRegistration,
    ) -> Result<(), PortError> {
        let dispatch = &self.inner.dispatch;
        let provider = dispatch.llm.key_of(link).ok_or(PortError::LinkClosed)?;
        let count = offerings.names.len();
        if count > MAX_AGENTS {
            return Err(PortError::Invalid(format!("{count} offerings on one link; at most {MAX_AGENTS}")));
        }
        let write = Write::RegisterLlm { provider, offering: offerings.clone(), at: clock::now_millis() };
        dispatch.record.write_and_wait(write).await.map_err(unavailable)?;
        dispatch.llm.register(link, offerings)
    }

    /// An LLM link's connection has ended; as [`Funduq::detach_provider`].
    pub fn detach_llm_provider(&self, key: &PublicKey, connection: LinkId) {
        if self.inner.dispatch.llm.key_of(connection) == Some(*key) {
            self.llm_gone(self.inner.dispatch.llm.closed(connection));
        }
    }

    pub(super) fn llm_gone(&self, gone: Option<PublicKey>) {
        if let Some(key) = gone {
            tracing::info!(provider = %key.fingerprint(), "an LLM provider's link has gone");
        }
    }

    /// Publishes exactly these agents on an open link; names that it published before and that are not among them go
    /// off the roster.
    ///
    /// # Errors
    /// [`PortError::LinkClosed`]; [`PortError::Invalid`] for a name that comes twice or too many of them;
    /// [`PortError::Unavailable`] when the record cannot be written.
    pub async fn register_agents(&self, link: LinkId, agents: Vec<Registration>) -> Result<(), PortError> {
        let dispatch = &self.inner.dispatch;
        let provider = dispatch.links.key_of(link).ok_or(PortError::LinkClosed)?;
        if agents.len() > MAX_AGENTS {
            return Err(PortError::Invalid(format!(
                "{} agents on one link; at most {MAX_AGENTS}",
                agents.len()
            )));
        }
        let mut names: Vec<_> = agents.iter().map(|agent| &agent.name).collect();
        names.sort();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(PortError::Invalid(format!("the name {} comes twice", twice[0])));
        }
        let register = Register { provider, agents: agents.clone(), at: clock::now_millis() };
        dispatch.record.write_and_wait(Write::Register(register)).await.map_err(unavailable)?;
        let (key, notices) = dispatch.links.register(link, agents)?;
        dispatch.notify(&key, notices);
        dispatch.registered(&key, link);
        Ok(())
    }

    /// Forgets an agent that the link serves.
    ///
    /// # Errors
    /// [`PortError::AgentInUse`] if it has a conversation behind it; [`PortError::UnknownAgent`];
    /// [`PortError::LinkClosed`]; [`PortError::Unavailable`].
    pub async fn delete_agent(&self, link: LinkId, name: &AgentName) -> Result<(), PortError> {
        let dispatch = &self.inner.dispatch;
        let provider = dispatch.links.key_of(link).ok_or(PortError::LinkClosed)?;
        let address = AgentAddress { provider, name: name.clone() };
        if !dispatch.links.serves(&address) {
            return Err(PortError::UnknownAgent(name.clone()));
        }
        dispatch.record.write_and_wait(Write::DeleteAgent(address)).await.map_err(|error| match error {
            StoreError::Conflict(Conflict::AgentInUse) => PortError::AgentInUse(name.clone()),
            StoreError::Conflict(Conflict::Missing(_)) => PortError::UnknownAgent(name.clone()),
            other => unavailable(other),
        })?;
        dispatch.notify(&provider, dispatch.links.unregister(link, name)?);
        Ok(())
    }

    /// A link's connection has ended. Only if the link is still the key's does anything go offline: the clean-up of a link
    /// that was replaced takes nothing with it.
    pub fn detach_provider(&self, key: &PublicKey, connection: LinkId) {
        if self.inner.dispatch.links.key_of(connection) == Some(*key) {
            self.inner.dispatch.link_lost(self.inner.dispatch.links.closed(connection));
        }
    }

    /// Evicts a key: every link of both kinds, and everything that they serve. Says how many links were open.
    pub fn detach_all_for(&self, key: &PublicKey) -> usize {
        let of_agents = self.let_go(key, LinkClosed::Evicted);
        let of_llms = self.inner.dispatch.llm.evict(key, LinkClosed::Evicted);
        self.llm_gone(of_llms);
        usize::from(of_agents) + usize::from(of_llms.is_some())
    }

    /// Closes a key's agent link; says whether there was one.
    pub(super) fn let_go(&self, key: &PublicKey, reason: LinkClosed) -> bool {
        let gone = self.inner.dispatch.links.evict(key, reason);
        let was_open = gone.is_some();
        self.inner.dispatch.link_lost(gone);
        was_open
    }

    /// What funduq believes that a key holds, and how far each run is recorded. A provider that comes back sends the
    /// rest, and finishes what it does not know.
    pub fn held_runs(&self, key: &PublicKey) -> Vec<HeldRun> {
        let runs = self.inner.dispatch.runs_of(key);
        let held = runs.into_iter().filter(|live| live.log.is_claimed());
        held.map(|live| HeldRun { run_id: live.log.run.clone(), received: live.log.durable() }).collect()
    }
}

fn not_confirmed(wrong: WrongFunduq) -> ConnectErr {
    ConnectErr::new(ConnectRefusal::BadProof, format!("the provider did not confirm this funduq: {wrong}"))
}

pub(crate) fn unavailable(error: StoreError) -> PortError {
    PortError::Unavailable(error.to_string())
}
