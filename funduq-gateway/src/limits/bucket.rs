//! Token buckets by key, as times: a bucket is the moment at which it will be full again (the generic cell rate
//! algorithm). Pure, and bounded however many keys there are.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// How much may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pace {
    /// How long one token takes to come back.
    pub(crate) interval: Duration,
    /// How many a full bucket has, at least 1.
    pub(crate) burst: u32,
}

/// How often buckets that are full again are looked for, at most.
const SWEEP: Duration = Duration::from_secs(1);

/// The buckets. One that is full is the same as none, so only those that were used lately are kept.
#[derive(Debug)]
pub(crate) struct Buckets<K> {
    pace: Pace,
    /// How many are kept. Keys that find no room share one bucket: they are slowed down together and not let through.
    limit: usize,
    full_at: HashMap<K, Duration>,
    shared: Duration,
    next_sweep: Duration,
}

impl<K: Hash + Eq> Buckets<K> {
    pub(crate) fn new(pace: Pace, limit: usize) -> Self {
        Self { pace, limit, full_at: HashMap::new(), shared: Duration::ZERO, next_sweep: Duration::ZERO }
    }

    /// Takes one token. `now` never goes back.
    ///
    /// # Errors
    /// For how long there is none.
    pub(crate) fn take(&mut self, now: Duration, key: K) -> Result<(), Duration> {
        if self.full_at.len() >= self.limit && now >= self.next_sweep {
            self.next_sweep = now + SWEEP;
            self.full_at.retain(|_, full_at| *full_at > now);
        }
        let has_room = self.full_at.len() < self.limit;
        let bucket = match self.full_at.get_mut(&key) {
            Some(bucket) => bucket,
            None if has_room => self.full_at.entry(key).or_default(),
            None => &mut self.shared,
        };
        let full_at = (*bucket).max(now);
        let slack = self.pace.interval * self.pace.burst.saturating_sub(1);
        match (full_at - now).checked_sub(slack) {
            Some(wait) if !wait.is_zero() => Err(wait),
            _ => {
                *bucket = full_at + self.pace.interval;
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACE: Pace = Pace { interval: Duration::from_millis(100), burst: 3 };

    fn at(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    #[test]
    fn a_burst_passes_and_then_one_an_interval() {
        let mut buckets = Buckets::new(PACE, 10);
        for _ in 0..3 {
            assert_eq!(buckets.take(at(0), "a"), Ok(()));
        }
        assert_eq!(buckets.take(at(0), "a"), Err(at(100)));
        assert_eq!(buckets.take(at(40), "a"), Err(at(60)));
        assert_eq!(buckets.take(at(40), "b"), Ok(()), "another key's bucket is its own");
        assert_eq!(buckets.take(at(100), "a"), Ok(()));
        assert_eq!(buckets.take(at(100), "a"), Err(at(100)));
    }

    #[test]
    fn a_bucket_fills_up_again_and_no_further() {
        let mut buckets = Buckets::new(PACE, 10);
        assert_eq!(buckets.take(at(0), "a"), Ok(()));
        for _ in 0..3 {
            assert_eq!(buckets.take(at(5000), "a"), Ok(()));
        }
        assert!(buckets.take(at(5000), "a").is_err());
    }

    #[test]
    fn keys_without_room_share_a_bucket_until_others_are_full_again() {
        let mut buckets = Buckets::new(PACE, 2);
        assert_eq!(buckets.take(at(0), 1), Ok(()));
        assert_eq!(buckets.take(at(0), 2), Ok(()));
        for key in 3..6 {
            assert_eq!(buckets.take(at(1), key), Ok(()));
        }
        assert!(buckets.take(at(1), 6).is_err());
        assert_eq!(buckets.full_at.len(), 2);
        // The first two are full again, and are swept.
        assert_eq!(buckets.take(at(1500), 6), Ok(()));
        assert_eq!(buckets.full_at.len(), 1);
    }
}
