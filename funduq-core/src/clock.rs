//! The wall clock, for what is written into the record and for the freshness of proofs.

use std::time::{SystemTime, UNIX_EPOCH};

/// Now, in Unix milliseconds. A clock before 1970 reads as 1970.
pub(crate) fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Now, in Unix seconds.
pub(crate) fn now_seconds() -> i64 {
    now_millis() / 1000
}
