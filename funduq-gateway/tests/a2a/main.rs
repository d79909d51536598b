//! The A2A door over real sockets, one test binary: each file holds the promises of one part.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands, and so may what it is helped by")]

#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each test binary uses its part of the support")]
mod support;

mod bindings;
mod caller;
mod card;
mod json_rpc;
mod own_errors;
mod rest;
mod security;
mod streams;
mod v03;
