//! The A2A door: A2A's own messages in and out (A2A 1.0), runs behind them. No JSON-RPC, no HTTP, no version.
//!
//! - [`intake`] checks a message and turns it into AG-UI's run input; [`send`] resolves what it refers to and opens the
//!   run.
//! - [`fold`] turns events into artifacts and updates, [`task`] runs into tasks, [`snapshot`] reads both from the record.
//! - [`stream`] is a task's live stream; [`tasks`] reads, cancels and subscribes; [`list`] lists.
//! - [`card`] is the agent card; [`call`] takes any operation, for transports that serve several bindings.

mod call;
mod card;
mod error;
mod fold;
mod intake;
mod list;
mod send;
mod snapshot;
mod stream;
mod task;
mod tasks;

use funduq_a2a::{AgentCard, AgentInterface};
use funduq_contract::AgentAddress;

pub use call::A2aReply;
pub use error::A2aDoorError;
pub use stream::{TaskEvent, TaskStream};

use super::open::DoorContext;
use crate::error::DoorError;

/// The A2A door as an object.
///
/// A task is a lineage of runs: its id is the root run's, its state the tail's, and everything is labelled with the
/// task's id whichever run it comes from. A context is a thread. Both ids are funduq's to mint.
///
/// A method that is asked about a task answers `None` for a task of another agent, and
/// [`TaskNotFound`](funduq_a2a::A2aError::TaskNotFound) for an id that names nothing.
#[derive(Clone)]
pub struct A2aAdapter {
    context: DoorContext,
}

impl std::fmt::Debug for A2aAdapter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("A2aAdapter").finish_non_exhaustive()
    }
}

impl A2aAdapter {
    pub(crate) fn new(context: DoorContext) -> Self {
        Self { context }
    }

    /// The agent's card. `interfaces` are where the host serves it, the preferred one first.
    ///
    /// # Errors
    /// [`DoorError::AgentNotFound`]; [`DoorError::Store`].
    pub async fn agent_card(
        &self,
        agent: &AgentAddress,
        interfaces: Vec<AgentInterface>,
    ) -> Result<AgentCard, A2aDoorError> {
        let address = agent.clone();
        let known = self.context.record().read(move |store| store.agent(&address)).await?;
        let known = known.ok_or_else(|| DoorError::AgentNotFound(agent.clone()))?;
        Ok(card::card(&known, interfaces))
    }
}
