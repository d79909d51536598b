//! What every route shares: bodies, errors, origins, where a request comes from and who is at the door, the lines in the log.

pub(crate) mod body;
pub(crate) mod error;
pub(crate) mod extract;
mod flow;
mod forwarded;
pub(crate) mod json;
pub(crate) mod origin;
pub(crate) mod peer;
pub(crate) mod presenter;
pub(crate) mod refused;
pub(crate) mod requests;
pub(crate) mod server;
mod silence;
pub(crate) mod stall;
mod streams;
pub(crate) mod tls;
pub(crate) mod urls;
