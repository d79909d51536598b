//! The record as the rest of core holds it: an engine, and the writer in front of it once started.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use super::store::{Store, StoreError, Write};
use super::writer::{Job, Writer, WriterEvents};
use crate::stats::Stats;

/// A handle on the record: cheap to clone.
#[derive(Clone)]
pub(crate) struct Record {
    store: Arc<dyn Store>,
    writer: Arc<OnceLock<Writer>>,
    recovered: Arc<AtomicBool>,
    pub(crate) stats: Arc<Stats>,
}

impl std::fmt::Debug for Record {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Record").field("started", &self.is_started()).finish_non_exhaustive()
    }
}

impl Record {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, writer: Arc::default(), recovered: Arc::default(), stats: Arc::default() }
    }

    /// Starts the writer; a second start changes nothing.
    pub(crate) fn start_writer(&self, events: Arc<dyn WriterEvents>) {
        self.writer.get_or_init(|| Writer::start(Arc::clone(&self.store), events, Arc::clone(&self.stats)));
    }

    /// What an earlier process left is taken up: work may be accepted.
    pub(crate) fn started(&self) {
        self.recovered.store(true, Ordering::Release);
    }

    /// Whether work may be accepted.
    pub(crate) fn is_started(&self) -> bool {
        self.recovered.load(Ordering::Acquire)
    }

    /// Queues a write.
    pub(crate) fn write(&self, job: Job) {
        match self.writer.get() {
            Some(writer) => writer.write(job),
            None => tracing::error!("a write came before the record was started, and is lost"),
        }
    }

    /// Queues a write and waits until it is durable.
    pub(crate) async fn write_and_wait(&self, write: Write) -> Result<(), StoreError> {
        match self.writer.get() {
            Some(writer) => writer.write_and_wait(write).await,
            None => Err(StoreError::Unavailable("the record was not started".into())),
        }
    }

    /// Waits until everything queued before is written.
    pub(crate) async fn flush(&self) {
        if let Some(writer) = self.writer.get() {
            writer.flush().await;
        }
    }

    /// Reads, where blocking is allowed.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Store) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        if self.store.is_instant() {
            return read(self.store.as_ref());
        }
        let store = Arc::clone(&self.store);
        let result = match tokio::task::spawn_blocking(move || read(store.as_ref())).await {
            Ok(result) => result,
            Err(error) => Err(StoreError::Unavailable(format!("the read did not return: {error}"))),
        };
        if result.is_err() {
            self.stats.read_failed();
        }
        result
    }
}
