//! The log's way into the file: a thread of its own brings it there beside the writing, so that no commit waits for that. What
//! has come meanwhile, which is little, the next commit brings in, since the log begins anew only when all of it is there.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use rusqlite::Connection;
use rusqlite::hooks::Wal;

/// When the log is brought into the file, in pages (of 4 KiB).
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// So many are brought there beside the writing. A log that goes on being written over in its place is also flushed
    /// faster than one that grows.
    enough: u32,
    /// With so many, the writer waits until all of it is there.
    most: u32,
}

const PACE: Pace = Pace { enough: 4000, most: 16_000 };

/// The thread, until this is dropped.
#[derive(Debug)]
pub(super) struct Checkpoints {
    wanted: SyncSender<Want>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is to do.
#[derive(Debug)]
enum Want {
    Pages,
    End,
}

impl Checkpoints {
    /// Starts the thread with a connection of its own, and has the writing connection tell it how long the log is.
    ///
    /// # Errors
    /// Where there can be no thread.
    pub(super) fn start(writer: &mut Connection, own: Connection) -> io::Result<Self> {
        let (wanted, wants) = sync_channel(1);
        let shared = listen(writer, wanted.clone(), PACE).map_err(io::Error::other)?;
        let thread = Builder::new().name("funduq-checkpoint".to_owned());
        let thread = thread.spawn(move || serve(&own, &shared, &wants))?;
        Ok(Self { wanted, thread: Some(thread) })
    }
}

impl Drop for Checkpoints {
    fn drop(&mut self) {
        // It may have ended by a panic, which was told where it happened.
        let _ = self.wanted.send(Want::End);
        if let Some(thread) = self.thread.take() {
            // Whoever closes the store finds nobody at its file.
            let _ = thread.join();
        }
    }
}

/// What the thread and the writing connection have in common.
#[derive(Debug, Default)]
struct Shared {
    /// How many pages of the log the thread has brought in.
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
fn listen(writer: &mut Connection, wanted: SyncSender<Want>, pace: Pace) -> rusqlite::Result<Arc<Shared>> {
    let shared = Arc::<Shared>::default();
    let of_writer = Arc::clone(&shared);
    writer.wal_hook(Some(move |log: &mut Wal, pages| {
        written(&of_writer, &wanted, pace, log, u32::try_from(pages).unwrap_or(0));
        // An error would be taken for one of the commit, which is done.
        Ok(())
    }))?;
    Ok(shared)
}

/// After each commit: the log has so many pages.
fn written(shared: &Shared, wanted: &SyncSender<Want>, pace: Pace, log: &mut Wal, pages: u32) {
    let mut done = shared.done.load(Ordering::Relaxed);
    if pages < done {
        // It has begun anew.
        done = 0;
        shared.done.store(done, Ordering::Relaxed);
    }
    let turn = if pages >= pace.most {
        Some(shared.turn())
    } else if done > 0 {
        // While the thread is at it again, there is time.
        shared.turn.try_lock().ok()
    } else {
        if pages >= pace.enough {
            // Where it is full, the thread knows already.
            let _ = wanted.try_send(Want::Pages);
        }
        None
    };
    if turn.is_some() {
        // If it fails, the next commit tries again.
        let _ = log.checkpoint();
    }
}

/// Brings in what there is whenever that is wanted.
fn serve(own: &Connection, shared: &Shared, wants: &Receiver<Want>) {
    let mut is_failing = false;
    while let Ok(Want::Pages) = wants.recv() {
        let _turn = shared.turn();
        // The call by that name does nothing on a connection that has read nothing yet.
        match own.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get::<_, i64>(2)) {
            Ok(done) => {
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

    use tempfile::TempDir;

    use super::*;
    use crate::record::{Durability, SqliteStore};

    const PAGE: u64 = 4096;

    fn open(folder: &Path) -> Connection {
        let db = Connection::open(folder.join("record.sqlite")).unwrap();
        db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF").unwrap();
        db
    }

    /// A connection that says what it wants to nobody but the test.
    fn without_thread(pace: Pace) -> (TempDir, Connection, Arc<Shared>, Receiver<Want>) {
        let folder = tempfile::tempdir().unwrap();
        let mut writer = open(folder.path());
        writer.execute_batch("CREATE TABLE filled (bytes BLOB)").unwrap();
        let (wanted, wants) = sync_channel(1);
        let shared = listen(&mut writer, wanted, pace).unwrap();
        (folder, writer, shared, wants)
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
        let store = SqliteStore::open(folder.path().join("record.sqlite"), Durability::Process).unwrap();
        let write = |pages| {
            let writer = store.writer();
            writer.db.execute_batch("CREATE TABLE IF NOT EXISTS filled (bytes BLOB)").unwrap();
            write(&writer.db, pages);
        };
        write(PACE.enough - 100);
        write(1);
        assert!(sizes(folder.path()).0 < 100, "there is not enough yet");
        write(200);
        let until = Instant::now() + Duration::from_secs(30);
        while sizes(folder.path()).0 < u64::from(PACE.enough) {
            assert!(Instant::now() < until, "{:?}", sizes(folder.path()));
            std::thread::yield_now();
        }
        drop(store);
        assert!(!folder.path().join("record.sqlite-wal").exists(), "somebody has the file open still");
    }

    #[test]
    fn where_nobody_brings_it_in_the_writer_does_before_it_is_too_long() {
        let (folder, writer, _shared, _wants) = without_thread(Pace { enough: 50, most: 200 });
        for _ in 0..100 {
            write(&writer, 20);
        }
        let (in_file, in_log) = sizes(folder.path());
        assert!(in_file > 1800 && in_log < 250, "{in_file} {in_log}");
    }

    #[test]
    fn what_came_while_the_thread_was_at_it_the_next_commit_brings_in_and_the_log_begins_anew() {
        let (folder, writer, shared, wants) = without_thread(Pace { enough: 50, most: u32::MAX });
        for _ in 0..100 {
            write(&writer, 20);
            if wants.try_recv().is_ok() {
                // The thread's part of it: what was there when it began.
                let began = open(folder.path());
                began.execute_batch("BEGIN; SELECT * FROM filled LIMIT 1").unwrap();
                write(&writer, 20);
                open(folder.path()).execute_batch("PRAGMA wal_checkpoint").unwrap();
                began.execute_batch("COMMIT").unwrap();
                shared.done.store(60, Ordering::Relaxed);
            }
        }
        let (in_file, in_log) = sizes(folder.path());
        assert!(in_file > 1800 && in_log < 250, "{in_file} {in_log}");
    }
}
