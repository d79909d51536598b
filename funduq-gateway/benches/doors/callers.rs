//! A thousand callers that read one event a second: what each costs, and what it leaves a fast one.

use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::house::{House, input};
use crate::{Figure, client, rate};

const SLOW: usize = 1_000;
/// How many events a slow caller's run has: more than a connection holds on the way.
const EVENTS: usize = 600;
/// What a slow caller's connection holds unread.
const WINDOW: u32 = 4 << 10;
/// How many events the fast caller's run has.
const FAST: usize = 20_000;

/// The speed of a caller that takes everything at once, the best of three.
async fn fast(url: &str) -> f64 {
    let mut best = 0.0_f64;
    for _ in 0..3 {
        let began = Instant::now();
        let seen = client::post(url, &input(FAST)).await.events().await;
        best = best.max(rate(seen, began));
    }
    best
}

/// The memory that this process holds, in bytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() * 1024.0
}

pub(crate) async fn measure() -> Vec<Figure> {
    let house = House::build().await;
    let url = house.agui();
    fast(&url).await;
    let alone = fast(&url).await;
    let before = resident();
    let mut slow = JoinSet::new();
    for _ in 0..SLOW {
        let mut answer = client::post_narrow(&url, &input(EVENTS), WINDOW).await;
        slow.spawn(async move {
            while answer.event().await {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        });
    }
    // Every run has ended and is in the record; only its caller is behind.
    while house.gateway.funduq().figures().live_runs.iter().any(|(_, count)| *count > 0) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let each = (resident() - before) / SLOW as f64 / 1024.0;
    let beside = fast(&url).await;
    slow.shutdown().await;
    house.take_down().await;
    vec![
        Figure::new("slow_caller_kib", each).at_most(64.0),
        Figure::new("fast_caller_events_per_second_alone", alone),
        Figure::new("fast_caller_events_per_second_beside_1000_slow", beside),
        Figure::new("fast_caller_ratio", beside / alone).at_least(0.8),
    ]
}
