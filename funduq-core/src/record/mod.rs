//! The record: who asked, through whose hands, what came back.
//!
//! [`Store`] is what an engine must do; [`MemoryStore`] and [`SqliteStore`] are two of them. Everything is
//! written through one writer that groups what waits into one commit, and an event is shown to a
//! caller only after its group is durable.

mod live;
mod memory;
mod model;
#[cfg(feature = "sqlite")]
mod sqlite;
mod store;
mod stream;
mod tasks;
pub(crate) mod told;
mod writer;

pub(crate) use live::Record;
pub use memory::MemoryStore;
pub use model::{
    AgentRecord, Asks, FailureReason, PendingCall, Run, RunMetadata, RunStatus, Thread, ThreadMessage,
    WaitingRun,
};
#[cfg(feature = "sqlite")]
pub use sqlite::{Durability, Inspection, Pruned, RecordFile, SqliteStore};
pub use store::{
    Conflict, EVENT_PAGE_BYTES, OpenRun, OpenThread, PAGE_BYTES, Register, Settle, Store, StoreError, Write,
};
pub(crate) use stream::{Keep, RunEnd, RunLog};
pub use stream::{NumberedEvent, RunStream, StreamEnd};
pub use tasks::{TaskPage, TaskPlace, TaskQuery, TaskStanding};
pub(crate) use writer::{Done, Job, Room, WriterEvents};
