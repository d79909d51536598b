//! All that is logged in this process, kept to look through.

use std::io::Write;
use std::sync::{Arc, LazyLock, Mutex};

use tracing_subscriber::filter::LevelFilter;

static LOG: LazyLock<Log> = LazyLock::new(|| {
    let log = Log::default();
    let writer = log.clone();
    // For the whole process: whether a line is of interest is remembered for all of its threads, so that one subscriber
    // of one thread can miss what another thread was the first to say.
    let subscriber = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(false);
    let subscriber = subscriber.with_writer(move || writer.clone());
    tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
    log
});

#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Begins to keep the log.
pub(crate) fn keep() {
    LazyLock::force(&LOG);
}

/// What was logged so far.
pub(crate) fn kept() -> Vec<u8> {
    LOG.0.lock().unwrap().clone()
}
