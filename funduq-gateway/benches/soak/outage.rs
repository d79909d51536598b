//! The gateway is started anew under load: who may be left without an answer meanwhile, and what the record holds between
//! the two processes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rusqlite::Connection;

/// How often the gateway has begun to stop and has been back: odd while it is away.
#[derive(Debug, Default)]
pub(crate) struct Outage(AtomicUsize);

impl Outage {
    pub(crate) fn begins(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn is_over(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn now(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    /// Whether the gateway was away at some time since `began`, which is what [`Outage::now`] said then.
    pub(crate) fn excuses(&self, began: usize) -> bool {
        began % 2 == 1 || self.now() != began
    }
}

/// What a record holds.
#[derive(Debug, Default)]
pub(crate) struct Held {
    pub(crate) runs: usize,
    /// How many runs ended how, named as the metrics name it.
    pub(crate) ended: BTreeMap<String, u64>,
    pub(crate) events: u64,
    pub(crate) bytes: u64,
    /// Runs that no provider has taken on yet.
    pub(crate) queued: Vec<String>,
    /// Runs that one has taken on, and that have not ended.
    pub(crate) running: usize,
}

impl Held {
    pub(crate) fn read(record: &Connection) -> Self {
        let mut held = Self::default();
        let mut runs = record
            .prepare(
                "SELECT id, status, iif(status = 'failed', coalesce(json_extract(metadata, '$.failureReason'), 'provider_error'), '')
                 FROM runs",
            )
            .unwrap();
        let mut rows = runs.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let [id, status, reason]: [String; 3] = [0, 1, 2].map(|column| row.get(column).unwrap());
            held.runs += 1;
            match status.as_str() {
                "queued" => held.queued.push(id),
                "completed" | "failed" | "cancelled" => {
                    let name = format!("funduq_runs_ended_total{{outcome=\"{status}\",reason=\"{reason}\"}}");
                    *held.ended.entry(name).or_default() += 1;
                }
                _ => held.running += 1,
            }
        }
        // A row has `count` events, and one byte between every two.
        (held.events, held.bytes) = record
            .query_row(
                "SELECT coalesce(sum(count), 0), coalesce(sum(length(CAST(json AS BLOB)) - count + 1), 0)
                 FROM run_events",
                [],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .unwrap();
        held
    }

    /// How many ended so.
    pub(crate) fn of(&self, outcome: &str, reason: &str) -> u64 {
        let name = format!("funduq_runs_ended_total{{outcome=\"{outcome}\",reason=\"{reason}\"}}");
        self.ended.get(&name).copied().unwrap_or_default()
    }

    /// What ended since the record held that.
    pub(crate) fn ended_since(&self, before: &Self) -> BTreeMap<String, u64> {
        let since = |(name, count): (&String, &u64)| {
            let earlier = before.ended.get(name).copied().unwrap_or_default();
            (name.clone(), count - earlier)
        };
        self.ended.iter().map(since).filter(|(_, count)| *count > 0).collect()
    }
}
