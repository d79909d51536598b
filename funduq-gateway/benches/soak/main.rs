//! A soak: a gateway of its own as a process, mixed callers on both doors, providers that come and go, a lent model that is
//! spent, slow readers and such that vanish, and a restart in the midst of it. At the end the record, the metrics and what the
//! callers saw say the same, and the process holds what it held before. `--minutes N` says for how long. With `--idle` it measures instead what links and streams cost that are merely there.

#![expect(clippy::unwrap_used, reason = "a soak that cannot go on has nothing better to do than to stop")]

mod callers;
mod gateway;
mod idle;
mod ledger;
mod lending;
mod outage;
mod providers;
mod watch;

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use callers::Addressed;
use gateway::Gateway;
use ledger::{Ledger, Summary};
use lending::{Counted, Lending};
use outage::{Held, Outage};
use watch::Figures;

/// How many callers there are of each kind.
const CALLERS: usize = 3;
/// When the gateway is started anew, and when memory is looked at for the first time, as parts of the whole.
const RESTART: f64 = 0.3;
const EARLY: f64 = 0.6;
/// How long it is between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(200);
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
    let mut gateway = Gateway::start().await;
    let before = gateway.settled(|figures| figures.is_idle()).await;
    let held_before = gateway.at_rest().await;

    let (ledger, outage) = (Arc::new(Ledger::default()), Arc::new(Outage::default()));
    let stop = CancellationToken::new();
    let (agents, providers) = providers::start(&gateway, &stop).await;
    let lending = Lending::start(&gateway, &outage).await;
    let (narrow, narrow_link) = providers::narrow(&gateway).await;
    let to = Addressed {
        url: gateway.url.clone(),
        agents,
        narrow,
        spender: lending.agent,
        lender: lending.lender,
        ledger: Arc::clone(&ledger),
        outage: Arc::clone(&outage),
    };
    let callers = callers::start(to, &stop, CALLERS);
    let began = Instant::now();
    sleep_until(began + length.mul_f64(RESTART)).await;
    // Some of them get their turn while it stops.
    gateway.settled(|figures| figures.get("funduq_runs_live{status=\"queued\"}") >= 5.0).await;
    outage.begins();
    let (rest, lent) = gateway.restart(async |gateway| at_rest(gateway, &lending).await).await;
    // A caller that is back before the lender is told that nobody lends.
    gateway.settled(|figures| figures.get("funduq_links{kind=\"llm\"}") == 1.0).await;
    outage.is_over();
    sleep_until(began + length.mul_f64(EARLY)).await;
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
    narrow_link.stop().await.unwrap();
    let completions = lending.reconcile(lent, &gateway.settled(Figures::lends_nothing).await);
    lending.stop().await;
    // What vanished readers left behind ends by itself.
    let after = gateway.settled(|figures| figures.is_idle()).await;

    let summary = ledger.reconcile(&gateway, &rest, &after);
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
    let Summary { runs, events, queued, went_on, unheard } = summary;
    println!(
        "soak: {runs} runs, {events} events and {completions} completions in {:.0} s, all in the record and in the metrics; \
         over a restart {queued} runs were queued, of which {went_on} completed and none was lost, and {unheard} had callers \
         that were not told of them; {} descriptors left, as before; memory {:.0} MiB, then {:.0} MiB",
        length.as_secs_f64(),
        held.sockets + held.others,
        memory(&early) / 1048576.0,
        memory(&late) / 1048576.0,
    );
}

/// What the record holds between the two processes, and what was counted of the lent model until then.
async fn at_rest(gateway: &Gateway, lending: &Lending) -> (Held, Counted) {
    let rest = Held::read(&gateway.record());
    assert_eq!(rest.running, 0, "whatever was running when it stopped has an end");
    assert!(!rest.queued.is_empty(), "nothing was queued when it stopped, so that nothing could be lost");
    // What the last process had still asked for is being counted.
    let mut counted = lending.counted();
    loop {
        tokio::time::sleep(LOOK_AGAIN).await;
        let now = lending.counted();
        if now == counted {
            return (rest, counted);
        }
        counted = now;
    }
}
