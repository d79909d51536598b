//! Whether the relay can work, asked of it at most once a second however often it is asked here.

use std::time::Duration;

use funduq_core::{Funduq, StoreError};
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long an answer is good for. The question costs a write to the record.
const GOOD_FOR: Duration = Duration::from_secs(1);

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
#[derive(Debug, Default)]
pub(crate) struct HealthCheck {
    last: Mutex<Option<(Instant, Health)>>,
}

impl HealthCheck {
    /// How the relay stands, or stood a moment ago.
    pub(crate) async fn ask(&self, funduq: &Funduq) -> Health {
        let mut last = self.last.lock().await;
        if let Some((at, health)) = *last
            && at.elapsed() < GOOD_FOR
        {
            return health;
        }
        let found = funduq.health().await;
        if let Err(error) = &found.record {
            tracing::error!(%error, "the record cannot be used");
        }
        let schema = !matches!(found.record, Err(StoreError::TooNew { .. }));
        let health = Health { record: found.record.is_ok(), schema, serving: found.serving.is_ok() };
        *last = Some((Instant::now(), health));
        health
    }
}
