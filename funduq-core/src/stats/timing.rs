//! How long things take, counted into buckets whose bounds are fixed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, in microseconds: from what a memory takes to what nobody waits for.
const BOUNDS: [u64; 15] = [
    500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 30_000_000,
];

/// Counts durations.
#[derive(Debug, Default)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BOUNDS.len()],
    /// What is over every bound.
    over: AtomicU64,
    micros: AtomicU64,
}

impl Histogram {
    pub(crate) fn note(&self, duration: Duration) {
        let micros = u64::try_from(duration.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS.iter().position(|bound| micros <= *bound);
        bucket.map_or(&self.over, |bucket| &self.buckets[bucket]).fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Timing {
        let counts = self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed));
        Timing {
            buckets: BOUNDS.into_iter().map(Duration::from_micros).zip(counts).collect(),
            over: self.over.load(Ordering::Relaxed),
            sum: Duration::from_micros(self.micros.load(Ordering::Relaxed)),
        }
    }
}

/// How long something took, each time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Timing {
    /// How many took at most so long, and longer than the bound before.
    pub buckets: Vec<(Duration, u64)>,
    /// How many took longer than the last bound.
    pub over: u64,
    /// All of them together.
    pub sum: Duration,
}

impl Timing {
    /// How many there were.
    pub fn count(&self) -> u64 {
        self.buckets.iter().map(|(_, count)| count).sum::<u64>() + self.over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_first_bucket_that_holds_it() {
        let histogram = Histogram::default();
        for micros in [0, 500, 501, 30_000_000, 30_000_001] {
            histogram.note(Duration::from_micros(micros));
        }
        let read = histogram.read();
        assert_eq!(read.buckets[0], (Duration::from_micros(500), 2));
        assert_eq!(read.buckets[1], (Duration::from_millis(1), 1));
        assert_eq!(read.buckets.last(), Some(&(Duration::from_secs(30), 1)));
        assert_eq!((read.over, read.count()), (1, 5));
        assert_eq!(read.sum, Duration::from_micros(60_001_002));
    }
}
