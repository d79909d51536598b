//! Dispatch: how a recorded run reaches a provider and comes to an end.
//!
//! [`thread`] decides, purely; [`actor`] carries out, one task for each thread with anything alive; [`provider`] keeps
//! each key's places and faults; [`recovery`] takes up what an earlier process left.

mod actor;
mod opening;
mod own;
mod provider;
mod recovery;
mod relay;
pub(crate) mod thread;

pub(crate) use opening::OpenError;
pub(crate) use own::{run_error, run_started};
pub use provider::Quality;
pub(crate) use provider::{Desks, Notice};
pub(crate) use relay::{Dispatch, Letter, weight};
pub use thread::CancelAnswer;
pub(crate) use thread::{Asking, Fault, Slot};
