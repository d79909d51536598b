//! Which key a fingerprint stands for: of every provider that was ever registered here.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use funduq_contract::{Fingerprint, PublicKey};
use funduq_core::{Change, Funduq, StoreError};
use tokio::sync::broadcast::error::RecvError;

/// The keys by their fingerprints. Cheap to clone.
///
/// Of two keys with one fingerprint, which nobody can make on purpose for a key that is here, the first is found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    keys: Arc<RwLock<HashMap<Fingerprint, PublicKey>>>,
}

impl Directory {
    /// Begins with the keys that the record has.
    pub(crate) async fn load(funduq: &Funduq) -> Result<Self, StoreError> {
        let directory = Self::default();
        directory.add_recorded(funduq).await?;
        Ok(directory)
    }

    /// Adds each key that comes to serve, for as long as the relay lives.
    pub(crate) async fn follow(self, funduq: Funduq) {
        let mut changes = funduq.on_change();
        loop {
            match changes.recv().await {
                Ok(Change::Roster { provider }) => self.add([provider]),
                Ok(Change::Run { .. } | Change::LlmRoster { .. }) => {}
                // What was missed is in the record.
                Err(RecvError::Lagged(_)) => {
                    if let Err(error) = self.add_recorded(&funduq).await {
                        tracing::error!(%error, "fingerprints of new providers may not be found");
                    }
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    /// The key with this fingerprint.
    pub(crate) fn find(&self, fingerprint: &Fingerprint) -> Option<PublicKey> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).get(fingerprint).copied()
    }

    async fn add_recorded(&self, funduq: &Funduq) -> Result<(), StoreError> {
        let agents = funduq.agents().await?;
        self.add(agents.into_iter().map(|agent| agent.address.provider));
        Ok(())
    }

    fn add(&self, keys: impl IntoIterator<Item = PublicKey>) {
        let mut known = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        for key in keys {
            known.entry(key.fingerprint()).or_insert(key);
        }
    }
}
