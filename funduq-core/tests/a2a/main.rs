//! The A2A door's behaviour, one test binary: each file holds the promises of one part of the contract page.

#![expect(clippy::unwrap_used, reason = "helpers of tests stop as the tests themselves do")]

mod asks;
#[path = "../it/bench.rs"]
#[allow(dead_code, unreachable_pub, reason = "each test binary uses its part of the bench")]
mod bench;
mod bound;
mod cancels;
mod desk;
mod listing;
mod refusals;
mod resuming;
#[path = "../it/scripted.rs"]
#[allow(dead_code, unreachable_pub, reason = "each test binary uses its part of the script")]
mod scripted;
mod sending;
mod streams;
