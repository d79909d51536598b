//! The attack suite: each test is one attack, tried over a real socket and refused with its named error, while other callers
//! go on as if nothing had been.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands, and so may what it is helped by")]

#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each test binary uses its part of the support")]
mod support;

#[path = "../kyok/lender.rs"]
#[allow(dead_code, reason = "what lends here is what lends there")]
mod lender;
#[path = "../kyok/log.rs"]
mod log;
#[path = "../kyok/spender.rs"]
#[allow(dead_code, reason = "and so is what spends")]
mod spender;

mod chains;
mod deaf;
mod descriptors;
mod ground;
mod http2;
mod idle;
mod lending;
mod measure;
mod names;
mod openings;
mod proofs;
mod requests;
mod signatures;
mod threads;
mod tickets;
mod wire;
