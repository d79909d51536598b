//! Links: who may open one (tickets), how it is opened (the handshake), and who serves what on them.

mod admission;
mod handshake;
mod llm;
mod roster;

pub(crate) use admission::Admission;
pub(crate) use handshake::{answer, check};
pub use llm::LlmQuality;
pub(crate) use llm::{LlmLinks, News, Reading};
pub use roster::{Change, Served};
pub(crate) use roster::{Departure, Links};
