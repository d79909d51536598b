//! The relay, simulated: a seeded scheduler drives threads, providers and callers through everything that may happen to
//! a run, on a paused clock, and a reference says after each step what must hold.
//!
//! A seed decides everything, so a failure is its seed: `FUNDUQ_SIM_SEED=<seed> cargo test -p funduq-core --test sim`
//! replays it, and `cargo xtask sim --seeds N` tries any number.

#![expect(clippy::unwrap_used, reason = "the simulation stops as tests do")]

mod callers;
mod checks;
mod model;
mod panics;
mod plan;
mod prng;
mod provider;
mod script;
mod steps;
mod store;
mod wire;
mod world;

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use funduq_core::{Mutant, plant};
use world::World;

/// How many seeds `cargo test` tries.
const SEEDS: u64 = 2000;
/// Within how many seeds a planted bug must be found.
const SEEDS_OF_A_MUTANT: u64 = 50;
/// How much of a failed seed's trace is printed, in lines.
const TAIL: usize = 80;

/// What some seed must have come across: a simulation in which nothing happens finds nothing.
const MUST_HAPPEN: &[&str] = &[
    "completed",
    "failed",
    "cancelled",
    "agent_not_found",
    "agent_offline",
    "no_provider_took_it",
    "provider_did_not_answer",
    "provider_left_holding_it",
    "provider_stream_ended_without_finishing",
    "malformed_event",
    "orphaned_by_restart",
    "funduq_shutdown",
    "record_unavailable",
    "not on a Monday",
    "not_serving",
    "thread_queue_full",
    "a resume that answers nothing",
    "a resume that is a run",
    "a stream that is suspended",
    "a restart",
    "a run that is offered again",
    "an answer that matches nothing",
    "an answer of a stranger",
    "an event that comes again",
    "an event after a gap",
    "an event of a run that is not held",
    "a finish of a run that is not held",
    "a key that came back within the grace",
    "an interjection that became an ordinary turn",
];

/// What became of a seed.
struct Tried {
    problem: Option<String>,
    trace: Vec<String>,
    reached: BTreeSet<String>,
    runs: usize,
    events: usize,
}

fn try_seed(seed: u64, traced: bool) -> Tried {
    panics::watch();
    let world = World::new(seed, traced);
    let model = world.model.clone();
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| drop(world.run())));
    let panic = panics::take();
    let mut model = model.lock();
    let problem = model.violation().map(str::to_owned);
    let problem = problem.or(panic).or(outcome.err().map(|_| "the simulation broke off".to_owned()));
    Tried {
        problem,
        trace: model.take_trace(),
        reached: model.take_reached(),
        runs: model.runs.len(),
        events: model.runs.iter().map(|run| run.events.len()).sum(),
    }
}

/// Replays a seed with its trace and says what went wrong, if anything did.
fn report(seed: u64) -> Option<String> {
    let Tried { problem, trace, .. } = try_seed(seed, true);
    let problem = problem?;
    let tail = trace[trace.len().saturating_sub(TAIL)..].join("\n");
    Some(format!("seed {seed}: {problem}\n\n{tail}\n\nreplay: cargo xtask sim --seed {seed}"))
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number and is {text:?}")))
}

/// The first of the seeds that fails, and what happened in any of them.
fn try_seeds(from: u64, count: u64) -> (Option<u64>, BTreeSet<String>) {
    let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let (next, failed) = (AtomicU64::new(from), AtomicU64::new(u64::MAX));
    let (runs, events) = (AtomicU64::new(0), AtomicU64::new(0));
    let reached = Mutex::new(BTreeSet::new());
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                let mut here = BTreeSet::new();
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= from + count || seed > failed.load(Ordering::Relaxed) {
                        break;
                    }
                    let tried = try_seed(seed, false);
                    runs.fetch_add(tried.runs as u64, Ordering::Relaxed);
                    events.fetch_add(tried.events as u64, Ordering::Relaxed);
                    here.extend(tried.reached);
                    if tried.problem.is_some() {
                        failed.fetch_min(seed, Ordering::Relaxed);
                    }
                }
                reached.lock().unwrap().append(&mut here);
            });
        }
    });
    let took = began.elapsed().as_secs_f64();
    let (runs, events, rate) = (runs.into_inner(), events.into_inner(), count as f64 / took);
    println!("{count} seeds from {from}: {runs} runs, {events} events, {took:.1} s, {rate:.0} seeds/s");
    let failed = Some(failed.into_inner()).filter(|seed| *seed != u64::MAX);
    (failed, reached.into_inner().unwrap())
}

#[test]
fn every_seed_keeps_every_promise() {
    if let Some(seed) = number("FUNDUQ_SIM_SEED") {
        if let Some(report) = report(seed) {
            panic!("{report}");
        }
        return println!("seed {seed} keeps every promise");
    }
    let (from, count) = (number("FUNDUQ_SIM_FROM").unwrap_or(0), number("FUNDUQ_SIM_SEEDS").unwrap_or(SEEDS));
    let (failed, reached) = try_seeds(from, count);
    if let Some(seed) = failed {
        panic!("{}", report(seed).unwrap_or_else(|| format!("seed {seed} failed, and not when replayed")));
    }
    if count >= SEEDS {
        let missing: Vec<_> = MUST_HAPPEN.iter().filter(|what| !reached.contains(**what)).collect();
        assert!(missing.is_empty(), "no seed came across {missing:?}");
    }
}

#[test]
fn a_seed_replays_exactly() {
    for seed in 0..40 {
        let (first, second) = (try_seed(seed, true).trace, try_seed(seed, true).trace);
        let differs = first.iter().zip(&second).position(|(a, b)| a != b);
        let differs = differs.or((first.len() != second.len()).then_some(first.len().min(second.len())));
        if let Some(at) = differs {
            panic!("seed {seed} differs at line {at}: {:?} and {:?}", first.get(at), second.get(at));
        }
    }
}

/// Plants a bug in each seed in turn until the simulation finds it, in a seed that is sound without it.
fn must_find(mutant: Mutant) {
    plant(Some(mutant));
    let found = (0..SEEDS_OF_A_MUTANT).find_map(|seed| Some((seed, try_seed(seed, false).problem?)));
    plant(None);
    let Some((seed, problem)) = found else { panic!("{mutant:?} is not found in {SEEDS_OF_A_MUTANT} seeds") };
    println!("{mutant:?} is found in seed {seed}: {problem}");
    assert_eq!(try_seed(seed, false).problem, None);
}

#[test]
fn a_dropped_gate_is_found() {
    must_find(Mutant::GateDropped);
}

#[test]
fn a_late_verdict_that_is_accepted_is_found() {
    must_find(Mutant::LateVerdictAccepted);
}

#[test]
fn a_finish_before_the_verdict_that_is_honoured_is_found() {
    must_find(Mutant::FinishBeforeVerdict);
}
