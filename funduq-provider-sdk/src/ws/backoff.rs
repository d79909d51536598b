//! How long to wait before the next attempt. Pure.

use std::time::Duration;

/// How long a link waits between two attempts: a random time between `shortest` and a bound that starts at
/// twice that and doubles with each attempt in a row that failed, up to `longest`. The randomness spreads
/// providers that have lost the same funduq at the same moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The shortest wait. Default 0.5 s.
    pub shortest: Duration,
    /// The longest wait; the shortest one counts where that is longer. Default 30 s.
    pub longest: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { shortest: Duration::from_millis(500), longest: Duration::from_secs(30) }
    }
}

impl Backoff {
    /// The wait after this many failed attempts in a row, 0 for the first.
    pub(super) fn wait(self, failed: u32, random: u32) -> Duration {
        let doublings = failed.saturating_add(1).min(16);
        let bound = self.shortest.saturating_mul(2_u32.saturating_pow(doublings)).min(self.longest);
        let spread = bound.saturating_sub(self.shortest);
        self.shortest + spread.mul_f64(f64::from(random) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_from_half_a_second_to_thirty_and_are_spread() {
        let backoff = Backoff::default();
        assert_eq!(backoff.wait(0, 0), backoff.shortest);
        assert_eq!(backoff.wait(0, u32::MAX), Duration::from_secs(1));
        assert_eq!(backoff.wait(3, u32::MAX), Duration::from_secs(8));
        for failed in [6, 100, u32::MAX] {
            assert_eq!(backoff.wait(failed, u32::MAX), backoff.longest);
            assert_eq!(backoff.wait(failed, 0), backoff.shortest);
        }
    }

    #[test]
    fn a_longest_wait_below_the_shortest_is_the_shortest() {
        let backoff = Backoff { shortest: Duration::from_secs(5), longest: Duration::from_secs(1) };
        assert_eq!(backoff.wait(9, u32::MAX), backoff.shortest);
    }
}
