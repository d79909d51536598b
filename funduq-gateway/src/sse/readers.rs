//! Who reads which run's stream here, so that a caller who comes back for its stream does not wait for the old
//! connection to be noticed as gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use funduq_contract::RunId;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// How long a new reader waits for an old one to go.
const HAND_OVER: Duration = Duration::from_secs(1);

/// The readers of streams, by run.
#[derive(Debug, Default)]
pub(crate) struct Readers {
    reading: Mutex<HashMap<RunId, Arc<Reading>>>,
}

#[derive(Debug)]
struct Reading {
    /// Fired when another reader comes for the stream.
    taken: CancellationToken,
    /// Fired when the reader has let go of the stream.
    gone: CancellationToken,
}

impl Readers {
    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Reading>>> {
        // Each use leaves the map whole.
        self.reading.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a reader, for as long as what is returned lives.
    pub(crate) fn enter(self: &Arc<Self>, run: &RunId) -> Place {
        let reading = Arc::new(Reading { taken: CancellationToken::new(), gone: CancellationToken::new() });
        self.lock().insert(run.clone(), Arc::clone(&reading));
        Place { readers: Arc::clone(self), run: run.clone(), reading }
    }

    /// Whether somebody reads the run's stream.
    pub(crate) fn is_read(&self, run: &RunId) -> bool {
        self.lock().contains_key(run)
    }

    /// Asks the run's reader to give way, and waits a moment until it has.
    pub(crate) async fn take_over(&self, run: &RunId) {
        let reading = self.lock().get(run).cloned();
        if let Some(reading) = reading {
            reading.taken.cancel();
            wait(&reading).await;
        }
    }

    /// Waits a moment for the run's reader to go: its connection may have ended just now.
    pub(crate) async fn wait_for(&self, run: &RunId) {
        let reading = self.lock().get(run).cloned();
        if let Some(reading) = reading {
            wait(&reading).await;
        }
    }
}

async fn wait(reading: &Reading) {
    // Whether it went is what the door says next.
    let _ = timeout(HAND_OVER, reading.gone.cancelled()).await;
}

/// A reader's place.
#[derive(Debug)]
pub(crate) struct Place {
    readers: Arc<Readers>,
    run: RunId,
    reading: Arc<Reading>,
}

impl Place {
    /// Waits until another reader comes for the stream.
    pub(crate) async fn taken(&self) {
        self.reading.taken.cancelled().await;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut reading = self.readers.lock();
        if reading.get(&self.run).is_some_and(|current| Arc::ptr_eq(current, &self.reading)) {
            reading.remove(&self.run);
        }
        drop(reading);
        self.reading.gone.cancel();
    }
}
