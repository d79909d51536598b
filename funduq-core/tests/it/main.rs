//! Core's behaviour, one test binary: each file holds the promises of one part, on every record engine.

mod answers;
mod authority;
mod bench;
mod contract;
mod kyok;
mod links;
mod restart;
mod scripted;
mod store_faults;
mod turns;
