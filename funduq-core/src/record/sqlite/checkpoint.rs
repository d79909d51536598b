//! The log's way into the file: a thread of its own brings it there beside the writing, so that no commit waits for the two
//! flushes that it takes. Only where the log has grown long all the same, a commit does it itself.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use rusqlite::hooks::Wal;
use rusqlite::wal::CheckpointMode;
use rusqlite::{Connection, MAIN_DB};

/// When the log is brought into the file, in pages (of 4 KiB).
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// So many that are not in the file yet are brought there beside the writing.
    enough: u32,
    /// So many the log may have. It begins anew only where all of it is in the file, which beside steady writing it never
    /// is: at this length the writer waits until it is.
    most: u32,
}

const PACE: Pace = Pace { enough: 4000, most: 16_000 };

/// The thread. It ends once the writing connection is closed, and is waited for.
#[derive(Debug)]
pub(super) struct Checkpoints {
    thread: Option<JoinHandle<()>>,
}

impl Checkpoints {
    /// Starts the thread with a connection of its own, and has the writing connection tell it how long the log is.
    ///
    /// # Errors
    /// Where there can be no thread.
    pub(super) fn start(writer: &mut Connection, own: Connection) -> io::Result<Self> {
        let (shared, wants) = listen(writer, PACE).map_err(io::Error::other)?;
        let thread = Builder::new().name("funduq-checkpoint".to_owned());
        let thread = thread.spawn(move || serve(&own, &shared, &wants))?;
        Ok(Self { thread: Some(thread) })
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // Whoever closes the store finds nobody at its file; a panic was told where it happened.
            let _ = thread.join();
        }
    }
}

/// What the thread and the writing connection have in common.
#[derive(Debug, Default)]
struct Shared {
    /// How many pages of the log are in the file.
    done: AtomicU32,
    /// Held by whoever brings in pages.
    turn: Mutex<()>,
}

impl Shared {
    fn turn(&self) -> MutexGuard<'_, ()> {
        // There is nothing in it that a panic could leave wrong.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Has the writing connection say when there is something to do.
fn listen(writer: &mut Connection, pace: Pace) -> rusqlite::Result<(Arc<Shared>, Receiver<()>)> {
    let shared = Arc::<Shared>::default();
    let (wanted, wants) = sync_channel(1);
    let of_writer = Arc::clone(&shared);
    writer.wal_hook(Some(move |log: &mut Wal, pages| {
        written(&of_writer, &wanted, pace, log, u32::try_from(pages).unwrap_or(0));
        // An error would be taken for one of the commit, which is done.
        Ok(())
    }))?;
    Ok((shared, wants))
}

/// After each commit: the log has so many pages.
fn written(shared: &Shared, wanted: &SyncSender<()>, pace: Pace, log: &mut Wal, pages: u32) {
    if pages < shared.done.load(Ordering::Relaxed) {
        // It has begun anew.
        shared.done.store(0, Ordering::Relaxed);
    }
    if pages >= pace.most {
        let _turn = shared.turn();
        // If it fails, the next commit tries again.
        let _ = log.checkpoint();
    } else if pages - shared.done.load(Ordering::Relaxed) >= pace.enough {
        // Where it is full, the thread knows already.
        let _ = wanted.try_send(());
    }
}

/// Brings in what there is whenever somebody wants it, until nobody can any more.
fn serve(own: &Connection, shared: &Shared, wants: &Receiver<()>) {
    let mut is_failing = false;
    while wants.recv().is_ok() {
        let _turn = shared.turn();
        match own.wal_checkpoint_v2(Some(MAIN_DB), CheckpointMode::PASSIVE) {
            Ok((_, done)) => {
                shared.done.store(u32::try_from(done).unwrap_or(0), Ordering::Relaxed);
                is_failing = false;
            }
            Err(error) => {
                // Each commit asks again.
                if !is_failing {
                    tracing::warn!(%error, "the record's log cannot be brought into its file; it grows meanwhile");
                }
                is_failing = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::metadata;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use super::*;

    const PAGE: u64 = 4096;

    fn open(folder: &Path) -> Connection {
        let db = Connection::open(folder.join("record.sqlite")).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF").unwrap();
        db
    }

    fn write(db: &Connection, pages: u32) {
        db.execute("INSERT INTO filled VALUES (zeroblob(?1 * 4096))", [pages]).unwrap();
    }

    fn sizes(folder: &Path) -> (u64, u64) {
        let pages = |name| metadata(folder.join(name)).unwrap().len() / PAGE;
        (pages("record.sqlite"), pages("record.sqlite-wal"))
    }

    #[test]
    fn the_log_goes_into_the_file_beside_the_writing() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = open(folder.path());
        writer.execute_batch("CREATE TABLE filled (bytes BLOB)").unwrap();
        let checkpoints = Checkpoints::start(&mut writer, open(folder.path())).unwrap();
        write(&writer, PACE.enough - 100);
        write(&writer, 1);
        assert!(sizes(folder.path()).0 < 100, "there is not enough yet");
        write(&writer, 200);
        let until = Instant::now() + Duration::from_secs(30);
        while sizes(folder.path()).0 < u64::from(PACE.enough) {
            assert!(Instant::now() < until, "{:?}", sizes(folder.path()));
            std::thread::yield_now();
        }
        drop(writer);
        drop(checkpoints);
        assert!(!folder.path().join("record.sqlite-wal").exists(), "somebody has the file open still");
    }

    #[test]
    fn where_nobody_brings_it_in_the_writer_does_before_it_is_too_long() {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = open(folder.path());
        writer.execute_batch("CREATE TABLE filled (bytes BLOB)").unwrap();
        let (_shared, _wants) = listen(&mut writer, Pace { enough: 50, most: 200 }).unwrap();
        for _ in 0..100 {
            write(&writer, 20);
        }
        let (in_file, in_log) = sizes(folder.path());
        assert!(in_file > 1800 && in_log < 250, "{in_file} {in_log}");
    }
}
