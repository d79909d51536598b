//! The link in bad weather: a proxy between a provider and the gateway cuts, stalls and doubles connections and
//! delivers openings late while runs flow, and callers notice nothing of it.
//!
//! The seed decides what the network does; how that meets the clock is chance. A round that fails prints its seed, and
//! `FUNDUQ_CHAOS_SEED=<seed> cargo test -p funduq-gateway --test chaos` goes through that one again and again.
//! `FUNDUQ_CHAOS_ROUNDS` tries another number of seeds.

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands, and so may what it is helped by")]

#[path = "../it/support/mod.rs"]
#[allow(dead_code, unused_imports, reason = "each test binary uses its part of the support")]
mod support;

#[path = "../../../funduq-core/tests/sim/prng.rs"]
#[allow(dead_code, reason = "the simulation uses more of it")]
mod prng;

mod grace;
mod proxy;
mod round;
mod script;
mod twins;
mod weather;

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use tokio::time::timeout;

use weather::Happened;

/// How many rounds `cargo test` tries, each with a seed of its own.
const ROUNDS: u64 = 50;
/// How many of them at once: a round spends much of its time waiting.
const AT_ONCE: usize = 4;
/// After how long a round is stuck.
const STUCK: Duration = Duration::from_secs(90);

/// What some round must have gone through: a network in which nothing happens proves nothing.
const MUST_HAPPEN: &[Happened] = &[
    Happened::Refused,
    Happened::CutBoth,
    Happened::CutGatewayFirst,
    Happened::CutProviderFirst,
    Happened::Stalled,
    Happened::Doubled,
    Happened::CameLate,
    Happened::AnsweredLate,
    Happened::ToldOffline,
];

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number and is {text:?}")))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_caller_gets_each_event_once_in_order_and_every_run_ends_as_its_agent_ended_it() {
    let rounds = number("FUNDUQ_CHAOS_ROUNDS").unwrap_or(ROUNDS);
    let one = number("FUNDUQ_CHAOS_SEED");
    let seeds = (0..rounds).map(|seed| one.unwrap_or(seed));
    let began = Instant::now();
    let mut tried = futures_util::stream::iter(seeds.map(|seed| async move {
        // A task of its own, so that what panics in it is told with its seed.
        match timeout(STUCK, tokio::spawn(round::round(seed))).await {
            Ok(Ok(happened)) => happened,
            Ok(Err(panic)) => panic!("{panic}; again: FUNDUQ_CHAOS_SEED={seed}"),
            Err(_) => panic!("a round does not end; again: FUNDUQ_CHAOS_SEED={seed}"),
        }
    }))
    .buffer_unordered(AT_ONCE);
    let mut happened = weather::Tally::default();
    while let Some(more) = tried.next().await {
        happened.extend(more);
    }
    println!("{rounds} rounds in {:.1} s: {happened:?}", began.elapsed().as_secs_f64());
    if one.is_none() && rounds >= ROUNDS {
        let missing: Vec<_> = MUST_HAPPEN.iter().filter(|what| happened.of(**what) == 0).collect();
        assert!(missing.is_empty(), "no round went through {missing:?}");
    }
}
