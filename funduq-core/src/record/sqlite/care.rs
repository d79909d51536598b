//! Care of a record's file: a copy of it, a look at whether it is whole, and taking out what is old. All of it beside a
//! funduq that is running on the same file, and none of it by itself.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior, params};

use super::migrate;
use crate::record::StoreError;

/// How many threads go in one transaction. A funduq that is running waits for its turn meanwhile.
const THREADS_AT_ONCE: usize = 50;
/// How long a turn with the file is waited for.
const PATIENCE: Duration = Duration::from_secs(10);

/// A record's file, for those who take care of it.
#[derive(Debug, Clone)]
pub struct RecordFile {
    path: PathBuf,
}

/// What is in a record, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// The version of its schema.
    pub schema: u32,
    /// How many there are of what, by the names of the tables.
    pub counts: Vec<(&'static str, u64)>,
    /// A sentence for each thing that is not as it should be; empty for a record that is whole.
    pub findings: Vec<String>,
}

/// What of one agent's is, or would be, taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Threads, each with all that follows.
    pub threads: u64,
    /// Runs.
    pub runs: u64,
    /// Messages of the threads' histories.
    pub messages: u64,
    /// Events of the runs.
    pub events: u64,
}

/// Threads that may go: old as a whole, with nothing alive, and with no other thread hanging off them that stays.
/// `?1` is the age.
const PRUNABLE: &str = "
    SELECT t.no, t.provider || '/' || t.agent FROM threads t
    WHERE t.created_at < ?1
      AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.thread_no = t.no AND (r.updated_at >= ?1
          OR r.status IN ('queued', 'offering', 'running', 'cancelling')))
      AND NOT EXISTS (SELECT 1 FROM threads c WHERE c.parent = t.id)
    LIMIT ?2";

/// How many events a thread's runs have.
const EVENTS: &str = "SELECT coalesce(sum(count), 0) FROM run_events
     WHERE run_no IN (SELECT no FROM runs WHERE thread_no = ?1)";

/// What would be an orphan: a sentence, and the query that counts.
const ORPHANS: [(&str, &str); 10] = [
    (
        "events of a run that is not there",
        "SELECT count(DISTINCT run_no) FROM run_events WHERE run_no NOT IN (SELECT no FROM runs)",
    ),
    (
        "runs whose events have gaps in their numbers",
        "SELECT count(DISTINCT run_no) FROM (SELECT run_no, last - count AS before,
             lag(last, 1, 0) OVER (PARTITION BY run_no ORDER BY last) AS previous FROM run_events)
         WHERE before <> previous",
    ),
    (
        "runs with rows of more or fewer events than they say",
        "SELECT count(DISTINCT run_no) FROM run_events
         WHERE length(json) - length(replace(json, char(30), '')) <> count - 1",
    ),
    (
        "runs that have ended without an event",
        "SELECT count(*) FROM runs r WHERE status IN ('completed', 'failed', 'cancelled')
         AND NOT EXISTS (SELECT 1 FROM run_events e WHERE e.run_no = r.no)",
    ),
    (
        "runs of a thread that is not there",
        "SELECT count(*) FROM runs WHERE thread_no NOT IN (SELECT no FROM threads)",
    ),
    (
        "runs that answer, or come from, a run that is not there",
        "SELECT count(*) FROM runs WHERE root_run_id NOT IN (SELECT id FROM runs)
         OR (answers_run_id IS NOT NULL AND answers_run_id NOT IN (SELECT id FROM runs))",
    ),
    (
        "messages of a thread or a run that is not there",
        "SELECT count(*) FROM thread_messages WHERE thread_no NOT IN (SELECT no FROM threads)
         OR run_no NOT IN (SELECT no FROM runs)",
    ),
    (
        "threads that hang off a thread that is not there",
        "SELECT count(*) FROM threads WHERE parent IS NOT NULL AND parent NOT IN (SELECT id FROM threads)",
    ),
    (
        "threads of an agent that is not there",
        "SELECT count(*) FROM threads t
         WHERE NOT EXISTS (SELECT 1 FROM agents a WHERE (a.provider, a.name) = (t.provider, t.agent))",
    ),
    (
        "agents of a provider that is not there",
        "SELECT count(*) FROM agents WHERE provider NOT IN (SELECT key FROM providers)",
    ),
];

/// What is counted, by the names of the tables. A row of `run_events` has several.
const COUNTS: [(&str, &str); 7] = [
    ("providers", "SELECT count(*) FROM providers"),
    ("agents", "SELECT count(*) FROM agents"),
    ("llm_offerings", "SELECT count(*) FROM llm_offerings"),
    ("threads", "SELECT count(*) FROM threads"),
    ("runs", "SELECT count(*) FROM runs"),
    ("thread_messages", "SELECT count(*) FROM thread_messages"),
    ("run_events", "SELECT coalesce(sum(count), 0) FROM run_events"),
];

impl RecordFile {
    /// The file at this path, which has to be there.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] where there is none, or none that is a database.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        let file = Self { path: path.as_ref().to_path_buf() };
        file.schema(&file.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?)?;
        Ok(file)
    }

    fn connect(&self, how: OpenFlags) -> Result<Connection, StoreError> {
        let connection = Connection::open_with_flags(&self.path, how | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
        connection.busy_timeout(PATIENCE)?;
        Ok(connection)
    }

    fn schema(&self, db: &Connection) -> Result<u32, StoreError> {
        Ok(db.query_row("PRAGMA user_version", [], |row| row.get(0))?)
    }

    /// Writes a copy of the record as it is at one moment to a file that is not there yet, readable by its owner only.
    /// The copy is a record by itself, as small as it can be.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`], also where the file is there already; no part of a copy is left then.
    pub fn backup(&self, to: impl AsRef<Path>) -> Result<(), StoreError> {
        let to = to.as_ref();
        let failed = |error: std::io::Error| StoreError::Unavailable(format!("{}: {error}", to.display()));
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(to).map_err(failed)?;
        let copied = || -> Result<(), StoreError> {
            let path = to.to_str().ok_or_else(|| {
                StoreError::Unavailable(format!("{} is not UTF-8, as a copy's path has to be", to.display()))
            })?;
            // SQLite takes a file that is empty for one that is not there.
            self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?.execute("VACUUM INTO ?1", [path])?;
            file.sync_all().map_err(failed)
        };
        copied().inspect_err(|_| {
            // What is left of it is of no use, and would be in the way of the next one.
            let _ = std::fs::remove_file(to);
        })
    }

    /// Looks at every page and every reference. Takes as long as reading the whole file. What cannot be read any further is
    /// a finding, and the last.
    ///
    /// # Errors
    /// [`StoreError::Unavailable`] where it cannot be opened at all.
    pub fn check(&self) -> Result<Inspection, StoreError> {
        let db = self.connect(OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        // One moment of a record that may be written meanwhile.
        let db = db.unchecked_transaction()?;
        let schema = self.schema(&db)?;
        let mut inspection = Inspection { schema, counts: Vec::new(), findings: Vec::new() };
        if let Err(error) = look(&db, &mut inspection) {
            inspection.findings.push(match error {
                StoreError::Unavailable(problem) => format!("the file cannot be read any further: {problem}"),
                other => other.to_string(),
            });
        }
        Ok(inspection)
    }

    /// Takes out the threads that nobody has touched since `before` (Unix milliseconds), with their runs, messages and
    /// events, and says by agent (`key/name`) what went. With `dry_run` it says what would, and takes nothing.
    ///
    /// A thread goes as a whole or not at all: not while a run of it has not ended, whatever its age; not because of an
    /// old ask, if anything on it is newer; and not before the threads that hang off it.
    ///
    /// # Errors
    /// [`StoreError`]; what was taken out before stays out.
    pub fn prune(&self, before: i64, dry_run: bool) -> Result<BTreeMap<String, Pruned>, StoreError> {
        let mut db = self.connect(OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        let found = self.schema(&db)?;
        let known = migrate::KNOWN;
        if found > known {
            return Err(StoreError::TooNew { found, known });
        }
        if found < known {
            let problem =
                format!("the schema has version {found}; start this funduq once, which brings it to {known}");
            return Err(StoreError::Unavailable(problem));
        }
        let mut pruned = BTreeMap::new();
        if dry_run {
            let transaction = db.transaction()?;
            count(&transaction, before, &mut pruned)?;
            return Ok(pruned);
        }
        loop {
            let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if take_out(&transaction, before, &mut pruned)? == 0 {
                return Ok(pruned);
            }
            transaction.commit()?;
        }
    }
}

/// Looks at all of it, and writes down what there is and what is wrong.
fn look(db: &Connection, inspection: &mut Inspection) -> Result<(), StoreError> {
    let Inspection { schema, counts, findings } = inspection;
    if *schema != migrate::KNOWN {
        findings.push(format!("the schema has version {schema}, and this funduq writes {}", migrate::KNOWN));
    } else if migrate::shape(db)? != migrate::intended()? {
        findings.push("the schema was changed by something else than funduq".to_owned());
    }
    let mut integrity = db.prepare("PRAGMA integrity_check(20)")?;
    for line in integrity.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            findings.push(format!("the file: {line}"));
        }
    }
    // The queries are about the tables of this version, and about pages that can be read.
    if !findings.is_empty() {
        return Ok(());
    }
    for (what, query) in ORPHANS {
        let count: u64 = db.query_row(query, [], |row| row.get(0))?;
        if count > 0 {
            findings.push(format!("{count}: {what}"));
        }
    }
    for (table, query) in COUNTS {
        counts.push((table, db.query_row(query, [], |row| row.get(0))?));
    }
    Ok(())
}

/// Says what would go, without a write: the same rule, applied to threads and those that hang off them together.
fn count(db: &Connection, before: i64, pruned: &mut BTreeMap<String, Pruned>) -> Result<(), StoreError> {
    // From what has to stay up to what it hangs off; the rest can go.
    let mut rows = db.prepare(
        "WITH RECURSIVE kept (id, parent) AS (
             SELECT t.id, t.parent FROM threads t
             WHERE t.created_at >= ?1 OR EXISTS (SELECT 1 FROM runs r WHERE r.thread_no = t.no AND
                 (r.updated_at >= ?1 OR r.status IN ('queued', 'offering', 'running', 'cancelling')))
             UNION
             SELECT t.id, t.parent FROM threads t JOIN kept k ON t.id = k.parent)
         SELECT t.no, t.provider || '/' || t.agent FROM threads t WHERE t.id NOT IN (SELECT id FROM kept)",
    )?;
    let threads = rows.query_map([before], |row| Ok((row.get(0)?, row.get(1)?)))?;
    for thread in threads {
        let (no, agent): (i64, String) = thread?;
        let counted = |query: &str| db.query_row(query, [no], |row| row.get::<_, u64>(0));
        let of = pruned.entry(agent).or_default();
        of.threads += 1;
        of.runs += counted("SELECT count(*) FROM runs WHERE thread_no = ?1")?;
        of.messages += counted("SELECT count(*) FROM thread_messages WHERE thread_no = ?1")?;
        of.events += counted(EVENTS)?;
    }
    Ok(())
}

/// Takes out some, and says how many threads.
fn take_out(
    db: &Connection,
    before: i64,
    pruned: &mut BTreeMap<String, Pruned>,
) -> Result<usize, StoreError> {
    let mut prunable = db.prepare_cached(PRUNABLE)?;
    let threads: Vec<(i64, String)> = prunable
        .query_map(params![before, THREADS_AT_ONCE], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<Result<_, _>>()?;
    for (no, agent) in &threads {
        let gone = |query: &str| db.prepare_cached(query)?.execute([no]).map(|rows| rows as u64);
        let of = pruned.entry(agent.clone()).or_default();
        of.events += db.prepare_cached(EVENTS)?.query_row([no], |row| row.get::<_, u64>(0))?;
        gone("DELETE FROM run_events WHERE run_no IN (SELECT no FROM runs WHERE thread_no = ?1)")?;
        of.messages += gone("DELETE FROM thread_messages WHERE thread_no = ?1")?;
        of.runs += gone("DELETE FROM runs WHERE thread_no = ?1")?;
        of.threads += gone("DELETE FROM threads WHERE no = ?1")?;
    }
    Ok(threads.len())
}

#[cfg(test)]
#[path = "care_tests.rs"]
mod tests;
