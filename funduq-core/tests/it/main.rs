//! Core's behaviour, one test binary: each file holds the promises of one part, on every record engine.

#![expect(clippy::unwrap_used, reason = "helpers of tests stop as the tests themselves do")]

mod answers;
mod authority;
mod bench;
mod bounds;
mod bytes;
mod contract;
mod figures;
mod kyok;
mod links;
mod refusals;
mod restart;
mod scripted;
mod store_faults;
mod turns;
mod unread;
