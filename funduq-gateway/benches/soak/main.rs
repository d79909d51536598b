//! A soak: a gateway of its own as a process, mixed callers on both doors, providers that come and go, slow readers and such
//! that vanish. At the end the record, the metrics and what the callers saw say the same, and the process holds what it held
//! before. `--minutes N` says for how long. With `--idle` it measures instead what links and streams cost that are merely there.

#![expect(clippy::unwrap_used, reason = "a soak that cannot go on has nothing better to do than to stop")]

mod callers;
mod gateway;
mod idle;
mod ledger;
mod providers;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use gateway::Gateway;
use ledger::Ledger;
use watch::Figures;

/// How many callers there are of each kind.
const CALLERS: usize = 3;
/// How long what is under way may take to end.
const SETTLING: Duration = Duration::from_secs(60);
/// By how much memory may grow between two moments under the same load: what an allocator keeps, and no more.
const GROWTH: f64 = 1.25;
const GROWTH_BYTES: f64 = 32.0 * 1024.0 * 1024.0;

fn main() {
    let minutes = minutes().unwrap_or(1.0);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    drop(rustls::crypto::ring::default_provider().install_default());
    runtime.block_on(async {
        match std::env::args().any(|argument| argument == "--idle") {
            true => idle::measure().await,
            false => soak(Duration::from_secs_f64(minutes * 60.0)).await,
        }
    });
}

fn minutes() -> Option<f64> {
    let mut arguments = std::env::args().skip_while(|argument| argument != "--minutes");
    arguments.nth(1).map(|minutes| minutes.parse().expect("--minutes takes a number"))
}

async fn soak(length: Duration) {
    let gateway = Gateway::start().await;
    let before = gateway.settled(|figures| figures.is_idle()).await;
    let held_before = gateway.at_rest().await;

    let ledger = Arc::new(Ledger::default());
    let stop = CancellationToken::new();
    let (addresses, providers) = providers::start(&gateway, &stop).await;
    let callers = callers::start(&gateway, &addresses, &ledger, &stop, CALLERS);
    let began = Instant::now();
    sleep_until(began + length.mul_f64(0.4)).await;
    let early = Figures::read(&gateway).await;
    sleep_until(began + length).await;
    let late = Figures::read(&gateway).await;
    stop.cancel();
    for caller in callers {
        tokio::time::timeout(SETTLING, caller).await.expect("a caller has its answer in time").unwrap();
    }
    for provider in providers {
        provider.await.unwrap();
    }
    // What vanished readers left behind ends by itself.
    let after = gateway.settled(|figures| figures.is_idle()).await;

    let runs = ledger.reconcile(&gateway, &after);
    assert!(after.sum("funduq_runs_ended_total{outcome=\"cancelled\"") > 0.0, "nobody cancelled anything");
    assert!(after.sum("funduq_runs_ended_total{outcome=\"failed\"") > 0.0, "no provider left anybody");
    for name in ["funduq_tasks", "funduq_connections", "funduq_streams"] {
        assert_eq!(after.get(name), before.get(name), "{name}");
    }
    let held = gateway.released(&held_before).await;
    let memory = |figures: &Figures| figures.get("funduq_process_resident_memory_bytes");
    assert!(
        memory(&late) <= memory(&early) * GROWTH + GROWTH_BYTES,
        "memory grew from {} to {} under the same load",
        memory(&early),
        memory(&late)
    );
    gateway.stop_and_check().await;
    println!(
        "soak: {runs} runs and {} events in {:.0} s, all in the record and in the metrics; {} descriptors left, as before; \
         memory {:.0} MiB, then {:.0} MiB",
        after.get("funduq_events_total"),
        length.as_secs_f64(),
        held.sockets + held.others,
        memory(&early) / 1048576.0,
        memory(&late) / 1048576.0,
    );
}
