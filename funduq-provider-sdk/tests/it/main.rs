//! The promises of the provider SDK, from outside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod support;

mod demo;
mod endings;
#[cfg(unix)]
mod identity_file;
mod in_process;
mod llm;
mod order;
mod recovery;
mod sink;
mod stop;
mod turns;
#[cfg(unix)]
mod vectors;
#[cfg(feature = "ws")]
mod ws;
