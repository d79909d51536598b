//! What funduq's doors cost: each figure of a run through the gateway and a provider on the WebSocket link beside the
//! same figure of a server without a relay, taken by the same client in the same run. Prints a table, or with `--json`
//! one object for `cargo xtask bench`; words after that choose among `agui`, `callers`, `a2a` and `listing`.
//!
//! Everything runs in one process, so that two cores are shared by servers, provider and client alike.

#![expect(
    clippy::unwrap_used,
    reason = "a measurement that cannot go on has nothing better to do than to stop"
)]

mod a2a;
mod agui;
mod callers;
mod client;
#[path = "../figures/mod.rs"]
mod figures;
mod house;
mod listing;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use figures::Figure;

/// As in the binary.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// The middle one of some times, in milliseconds.
fn p50(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

/// How often something happens a second that happened so often since then.
fn rate(count: usize, since: Instant) -> f64 {
    count as f64 / since.elapsed().as_secs_f64()
}

#[tokio::main]
async fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let json = words.iter().any(|word| word == "--json");
    let chosen: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with("--")).collect();
    let wanted = |name: &str| chosen.is_empty() || chosen.contains(&name);
    let mut figures = Vec::new();
    // What memory costs is measured before anything else has grown it.
    if wanted("callers") {
        figures.extend(callers::measure().await);
    }
    if wanted("agui") {
        figures.extend(agui::measure().await);
    }
    if wanted("a2a") {
        figures.extend(a2a::measure().await);
    }
    if wanted("listing") {
        figures.extend(listing::measure().await);
    }
    figures::report(&figures, json)
}
