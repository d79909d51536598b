//! The care of a record: what is copied, what is found, what goes and what never does.

use super::*;
use crate::record::{Durability, SqliteStore, Store as _};

/// A record in a folder, filled by hand: it is the file that is looked after, whoever wrote it.
struct Filled {
    folder: tempfile::TempDir,
    db: Connection,
}

impl Filled {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("record.sqlite");
        drop(SqliteStore::open(&path, Durability::Process).unwrap());
        let db = Connection::open(&path).unwrap();
        db.execute_batch(
            "INSERT INTO providers VALUES ('p', 0, 0);
             INSERT INTO agents VALUES ('p', 'a', '', NULL, NULL, 0, 0, 0);",
        )
        .unwrap();
        Self { folder, db }
    }

    fn file(&self) -> RecordFile {
        RecordFile::open(self.folder.path().join("record.sqlite")).unwrap()
    }

    fn thread(&self, id: &str, at: i64, parent: Option<&str>) {
        let sql = "INSERT INTO threads (id, provider, agent, parent, has_runs, created_at) VALUES (?1, 'p', 'a', ?2, 1, ?3)";
        self.db.execute(sql, params![id, parent, at]).unwrap();
    }

    /// A run with two events, in one row, and a message.
    fn run(&self, id: &str, thread: &str, status: &str, at: i64, waits: bool) {
        let insert = "INSERT INTO runs (id, thread_no, status, input, root_run_id, metadata, waiting, created_at, updated_at)
             VALUES (?1, (SELECT no FROM threads WHERE id = ?2), ?3, '{}', ?1, '{}', ?4, ?5, ?5)";
        self.db.execute(insert, params![id, thread, status, waits, at]).unwrap();
        let no = self.db.last_insert_rowid();
        let events = params![no, "{\"type\":\"X\"}\u{1e}{\"type\":\"Y\"}"];
        self.db.execute("INSERT INTO run_events VALUES (?1, 2, 2, ?2)", events).unwrap();
        let message =
            "INSERT INTO thread_messages SELECT thread_no, no, id, no, '{}' FROM runs WHERE no = ?1";
        self.db.execute(message, [no]).unwrap();
    }

    fn threads(&self) -> Vec<String> {
        let mut rows = self.db.prepare("SELECT id FROM threads ORDER BY id").unwrap();
        rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    }
}

#[test]
fn old_threads_go_whole_and_none_that_somebody_may_come_back_to() {
    let record = Filled::new();
    for (thread, parent) in [
        ("old", None),
        ("old and empty", None),
        ("new", None),
        ("alive", None),
        ("old ask", None),
        ("old ask, newer run", None),
        ("parent of new", None),
        ("child, new", Some("parent of new")),
        ("parent of old", None),
        ("child, old", Some("parent of old")),
    ] {
        record.thread(thread, 10, parent);
    }
    record.run("r1", "old", "completed", 20, false);
    record.run("r2", "old", "failed", 30, false);
    record.run("r3", "new", "completed", 100, false);
    record.run("r4", "alive", "running", 20, false);
    record.run("r5", "old ask", "completed", 20, true);
    record.run("r6", "old ask, newer run", "completed", 20, true);
    record.run("r7", "old ask, newer run", "completed", 101, false);
    record.run("r8", "child, new", "completed", 100, false);
    record.run("r9", "child, old", "completed", 99, false);
    let before = record.threads();

    let would = record.file().prune(100, true).unwrap();
    assert_eq!(record.threads(), before, "a dry run takes nothing");
    let gone = Pruned { threads: 5, runs: 4, messages: 4, events: 8 };
    assert_eq!(would, BTreeMap::from([("p/a".to_owned(), gone)]));
    assert_eq!(record.file().prune(100, false).unwrap(), would, "it says beforehand exactly what goes");
    assert_eq!(record.threads(), ["alive", "child, new", "new", "old ask, newer run", "parent of new"]);
    assert_eq!(record.file().check().unwrap().findings, [""; 0]);
    assert_eq!(record.file().prune(100, false).unwrap(), BTreeMap::new());
}

#[test]
fn more_threads_than_go_at_once_go_all() {
    let record = Filled::new();
    for at in 0..THREADS_AT_ONCE + 7 {
        record.thread(&format!("t{at}"), 1, (at > 0).then(|| format!("t{}", at - 1)).as_deref());
    }
    let pruned = record.file().prune(2, false).unwrap();
    assert_eq!(pruned["p/a"].threads, THREADS_AT_ONCE as u64 + 7);
}

#[test]
fn a_whole_record_has_no_findings_and_each_damage_has_one() {
    let record = Filled::new();
    record.thread("t", 1, None);
    record.run("r", "t", "completed", 1, false);
    let whole = record.file().check().unwrap();
    assert_eq!((whole.schema, whole.findings), (migrate::KNOWN, vec![]));
    assert!(whole.counts.contains(&("run_events", 2)) && whole.counts.contains(&("runs", 1)));
    // Else some of the damage could not be done.
    record.db.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    let version = format!("PRAGMA user_version = {}", migrate::KNOWN);
    for (damage, repair, found) in [
        (
            "INSERT INTO run_events VALUES (99, 1, 1, '{}')",
            "DELETE FROM run_events WHERE run_no = 99",
            "events of a run",
        ),
        ("UPDATE run_events SET last = 3", "UPDATE run_events SET last = 2", "gaps"),
        (
            "UPDATE run_events SET last = 3, count = 3",
            "UPDATE run_events SET last = 2, count = 2",
            "more or fewer events",
        ),
        (
            "DELETE FROM run_events",
            "INSERT INTO run_events VALUES (1, 2, 2, '{}' || char(30) || '{}')",
            "ended without an event",
        ),
        ("UPDATE runs SET thread_no = 99", "UPDATE runs SET thread_no = 1", "runs of a thread"),
        ("DELETE FROM providers", "INSERT INTO providers VALUES ('p', 0, 0)", "agents of a provider"),
        ("UPDATE threads SET parent = 'x'", "UPDATE threads SET parent = NULL", "hang off a thread"),
        ("UPDATE runs SET root_run_id = 'x'", "UPDATE runs SET root_run_id = 'r'", "come from, a run"),
        ("UPDATE thread_messages SET run_no = 99", "UPDATE thread_messages SET run_no = 1", "messages of"),
        ("UPDATE threads SET agent = 'b'", "UPDATE threads SET agent = 'a'", "threads of an agent"),
        ("CREATE TABLE mine (x)", "DROP TABLE mine", "changed by something else"),
        ("PRAGMA user_version = 77", version.as_str(), "version 77"),
    ] {
        record.db.execute_batch(damage).unwrap();
        let findings = record.file().check().unwrap().findings;
        assert!(findings.len() == 1 && findings[0].contains(found), "{damage}: {findings:?}");
        record.db.execute_batch(repair).unwrap();
    }
    assert_eq!(record.file().check().unwrap().findings, [""; 0]);
}

/// Writes over a part of a page, as a disk does that fails.
fn damage(path: &Path, page: u64, from: u64, bytes: &[u8]) {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
    file.seek(SeekFrom::Start((page - 1) * 4096 + from)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn a_page_that_is_damaged_is_found_however_much_of_the_file_it_takes_along() {
    let record = Filled::new();
    for thread in 0..200 {
        record.thread(&format!("thread-{thread}"), 1, None);
        record.run(&format!("run-{thread}"), &format!("thread-{thread}"), "completed", 1, false);
    }
    record.db.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let root = |name: &str| -> u64 {
        let query = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
        record.db.query_row(query, [name], |row| row.get(0)).unwrap()
    };
    let whole = record.folder.path().join("record.sqlite");
    let copy = record.folder.path().join("damaged.sqlite");
    let findings = |how: &dyn Fn(&Path)| {
        std::fs::copy(&whole, &copy).unwrap();
        how(&copy);
        RecordFile::open(&copy).and_then(|file| file.check()).map(|inspection| inspection.findings)
    };
    assert_eq!(findings(&|_| {}), Ok(vec![]));
    // An index with a row under another agent's name: every page can be read, and only the look at the pages finds it.
    let of_index = |path: &Path| {
        let page = root("threads_by_agent");
        let bytes = std::fs::read(path).unwrap();
        let start = (page as usize - 1) * 4096;
        let entry = bytes[start..start + 4096].windows(2).rposition(|pair| pair == b"pa").unwrap();
        damage(path, page, entry as u64, b"pb");
    };
    let found = findings(&of_index).unwrap();
    assert!(!found.is_empty() && found.iter().all(|finding| finding.starts_with("the file: ")), "{found:?}");
    // A page of which nothing can be made.
    let of_table = |path: &Path| damage(path, root("runs"), 0, &[0xff; 200]);
    let found = findings(&of_table).unwrap();
    assert!(found.iter().any(|finding| finding.starts_with("the file")), "{found:?}");
    // With these gone it is no record that can be opened.
    let of_schema = |path: &Path| damage(path, 1, 100, &[0xff; 3000]);
    let of_half = |path: &Path| {
        let file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(file.metadata().unwrap().len() / 2).unwrap();
    };
    for damaged in [&of_schema as &dyn Fn(&Path), &of_half] {
        let found = findings(damaged);
        assert!(!matches!(&found, Ok(found) if found.is_empty()), "{found:?}");
    }
}

#[test]
fn a_copy_is_a_record_of_one_moment_and_never_written_over_anything() {
    let record = Filled::new();
    record.thread("t", 1, None);
    record.run("r", "t", "completed", 1, false);
    // Somebody is in the middle of something.
    record.db.execute_batch("BEGIN IMMEDIATE; UPDATE runs SET status = 'failed'").unwrap();
    let copy = record.folder.path().join("copy.sqlite");
    record.file().backup(&copy).unwrap();
    record.db.execute_batch("COMMIT").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(RecordFile::open(&copy).unwrap().check().unwrap().findings, [""; 0]);
    let opened = SqliteStore::open(&copy, Durability::Process).unwrap();
    opened.health().unwrap();
    let status: String =
        Connection::open(&copy).unwrap().query_row("SELECT status FROM runs", [], |row| row.get(0)).unwrap();
    assert_eq!(status, "completed");
    let length = std::fs::metadata(&copy).unwrap().len();
    assert!(record.file().backup(&copy).is_err());
    assert_eq!(std::fs::metadata(&copy).unwrap().len(), length);
}

#[test]
fn what_is_no_record_is_not_taken_for_one() {
    let folder = tempfile::tempdir().unwrap();
    assert!(RecordFile::open(folder.path().join("none.sqlite")).is_err());
    assert!(!folder.path().join("none.sqlite").exists());
    std::fs::write(folder.path().join("text"), "not a database at all, but some text of a certain length")
        .unwrap();
    assert!(RecordFile::open(folder.path().join("text")).is_err());
}

#[test]
fn a_record_that_a_later_funduq_has_taken_over_is_not_healthy() {
    let record = Filled::new();
    let store = SqliteStore::open(record.folder.path().join("record.sqlite"), Durability::Process).unwrap();
    store.health().unwrap();
    record.db.execute_batch("PRAGMA user_version = 77").unwrap();
    assert_eq!(store.health(), Err(StoreError::TooNew { found: 77, known: migrate::KNOWN }));
}
