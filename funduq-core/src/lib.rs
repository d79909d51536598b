//! The relay: doors, dispatch, links and the record. It never listens and never dials.
//!
//! A host holds a [`Funduq`], gives it a [`Store`], starts it, attaches providers' links and calls the doors as objects.
//! Everything about a run enters through one inbox and is judged in arrival order by one owner; what a caller
//! has seen is in the record.

mod clock;
mod dispatch;
mod doors;
mod error;
mod funduq;
mod ids;
mod links;
mod planted;
mod port;
mod record;
mod settings;
mod stats;

pub use dispatch::{CancelAnswer, Quality};
pub use doors::TokenSecret;
pub use doors::a2a::{A2aAdapter, A2aDoorError, A2aReply, TaskEvent, TaskStream};
pub use doors::agui::{AguiAdapter, AguiEvent, AguiStream};
pub use doors::kyok::{
    Collapse, CollapseError, CompletionStream, KyokAdapter, KyokCall, KyokError, ProvenCall,
};
pub use doors::place::read_place;
pub use error::{DoorError, InvalidChain, NotServing, ProofProblem};
pub use funduq::{Funduq, Health};
pub use links::{Change, LlmQuality, Served};
#[cfg(feature = "mutants")]
pub use planted::{Mutant, plant};
pub use record::*;
pub use settings::CoreSettings;
pub use stats::{CompletionEnding, CompletionFigures, Figures, RunsEnded, Timing};
