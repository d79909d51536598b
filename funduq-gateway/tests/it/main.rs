//! The gateway's behaviour over real sockets, one test binary: each file holds the promises of one part.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands, and so may what it is helped by")]

#[allow(unused_imports, reason = "each test binary uses its part of the support")]
mod support;

mod agui_refusals;
mod agui_stream;
mod bench_figures;
mod bytes;
mod damage;
mod delegation;
mod demo;
mod enrolment;
#[cfg(unix)]
mod full_disk;
mod limits;
mod link_opening;
mod link_talk;
mod logs;
#[cfg(target_os = "linux")]
mod memory;
mod metrics;
mod operator;
mod origins;
mod presenters;
mod process;
mod proxies;
mod reads;
mod replay;
mod run_input;
mod shutdown;
mod sizes;
mod tls;
