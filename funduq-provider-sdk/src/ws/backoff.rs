//! How long to wait before the next attempt. Pure.

use std::time::Duration;

/// The shortest wait.
const SHORTEST: Duration = Duration::from_millis(500);
/// The longest wait.
const LONGEST: Duration = Duration::from_secs(30);

/// The wait after this many failed attempts in a row, 0 for the first: a random time between half a second
/// and a bound that starts at a second and doubles up to 30 seconds. `random` spreads providers that
/// have lost the same funduq at the same moment.
pub(super) fn backoff(failed: u32, random: u32) -> Duration {
    let bound = SHORTEST.saturating_mul(2_u32.saturating_pow(failed.saturating_add(1).min(16))).min(LONGEST);
    SHORTEST + (bound - SHORTEST).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_from_half_a_second_to_thirty_and_are_spread() {
        assert_eq!(backoff(0, 0), SHORTEST);
        assert_eq!(backoff(0, u32::MAX), Duration::from_secs(1));
        assert_eq!(backoff(3, u32::MAX), Duration::from_secs(8));
        for failed in [6, 100, u32::MAX] {
            assert_eq!(backoff(failed, u32::MAX), LONGEST);
            assert_eq!(backoff(failed, 0), SHORTEST);
        }
    }
}
