//! Whether the relay can work, asked of it at most once a second however often it is asked here, and answered in time whether
//! or not its record does.

use std::time::Duration;

use funduq_core::{Funduq, StoreError};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// How long an answer is good for. The question costs a write of one page to the record, flushed as its commits are.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// How long the record may take to be written.
const PATIENCE: Duration = Duration::from_secs(5);

/// How the relay stands.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Health {
    /// Whether the record can be written.
    pub(crate) record: bool,
    /// Whether its schema is the one that this funduq knows.
    pub(crate) schema: bool,
    /// Whether work is accepted.
    pub(crate) serving: bool,
}

/// Asks the relay how it stands.
#[derive(Debug)]
pub(crate) struct HealthCheck {
    good_for: Duration,
    patience: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: Option<(Instant, Health)>,
    /// A question that the record has not answered. No other is put to it beside.
    asked: Option<JoinHandle<funduq_core::Health>>,
}

impl Default for HealthCheck {
    fn default() -> Self {
        Self { good_for: GOOD_FOR, patience: PATIENCE, state: Mutex::default() }
    }
}

impl HealthCheck {
    /// How the relay stands, or stood a moment ago.
    pub(crate) async fn ask(&self, funduq: &Funduq) -> Health {
        let mut state = self.state.lock().await;
        if let Some((at, health)) = state.last
            && at.elapsed() < self.good_for
        {
            return health;
        }
        let asking = funduq.clone();
        let asked = state.asked.get_or_insert_with(|| tokio::spawn(async move { asking.health().await }));
        let answer = timeout(self.patience, asked).await;
        let record = match answer {
            Ok(answered) => {
                state.asked = None;
                answered
                    .map_err(|error| StoreError::Unavailable(error.to_string()))
                    .and_then(|found| found.record)
            }
            Err(_) => Err(StoreError::Unavailable(format!("no answer within {:?}", self.patience))),
        };
        if let Err(error) = &record {
            tracing::error!(%error, "the record cannot be used");
        }
        let schema = !matches!(record, Err(StoreError::TooNew { .. }));
        let health = Health { record: record.is_ok(), schema, serving: funduq.serving().is_ok() };
        state.last = Some((Instant::now(), health));
        health
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use funduq_core::{CoreSettings, Durability, SqliteStore};

    use super::*;

    #[tokio::test]
    async fn a_record_that_does_not_answer_is_told_in_time_and_asked_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.sqlite");
        let store = SqliteStore::open(&path, Durability::Process).unwrap();
        let funduq = Funduq::new(CoreSettings::default(), None, Arc::new(store));
        let check = HealthCheck {
            good_for: Duration::ZERO,
            patience: Duration::from_millis(20),
            state: Mutex::default(),
        };
        // Somebody else has the file, for less than the engine waits.
        let other = rusqlite::Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        assert!(!check.ask(&funduq).await.record);
        let asked = |state: &State| state.asked.as_ref().map(JoinHandle::id);
        let first = asked(&*check.state.lock().await);
        assert!(first.is_some() && !check.ask(&funduq).await.record);
        assert_eq!(asked(&*check.state.lock().await), first, "the question waits for its answer");
        other.execute_batch("COMMIT").unwrap();
        let well = async { while !check.ask(&funduq).await.record {} };
        timeout(Duration::from_secs(30), well).await.unwrap();
        assert!(asked(&*check.state.lock().await).is_none());
    }
}
