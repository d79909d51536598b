//! The default record: one SQLite file in WAL mode, one writing connection, readers beside it.

mod batch;
mod care;
mod checkpoint;
mod migrate;
mod probe;
mod read;
mod tasks;
mod write;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use funduq_agui::RelayedEvent;
use funduq_contract::{AgentAddress, AgentName, PublicKey, RunId, ThreadId};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use checkpoint::Checkpoints;

pub use care::{Inspection, Pruned, RecordFile};

use super::model::{AgentRecord, Run, Thread, ThreadMessage, WaitingRun};
use super::store::{Store, StoreError, Write};
use super::tasks::{TaskPage, TaskQuery};

/// How many idle reading connections are kept. More may be open while more reads run.
const IDLE_READERS: usize = 8;
/// How many prepared statements each connection keeps.
const STATEMENTS: usize = 64;

/// What a commit survives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// The loss of power (`synchronous = FULL`): each group is flushed to the disk. The default.
    #[default]
    Power,
    /// The death of the process (`synchronous = NORMAL`): faster where the disk is slow to flush, and a loss of
    /// power may take the latest groups.
    Process,
}

/// A [`Store`] in one SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    writer: Mutex<write::WriterConnection>,
    readers: Mutex<Vec<Connection>>,
    _checkpoints: Checkpoints,
}

impl SqliteStore {
    /// Opens the file, creates it for its owner only (0600) if need be, and brings its schema to this code's version.
    ///
    /// # Errors
    /// [`StoreError::TooNew`] if a later funduq wrote it; [`StoreError::Unavailable`] if it cannot be opened or is
    /// not a database.
    pub fn open(path: impl AsRef<Path>, durability: Durability) -> Result<Self, StoreError> {
        let path = path.as_ref().to_path_buf();
        create(&path)?;
        let mut connection = prepared(Connection::open(&path)?)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        let synchronous = match durability {
            Durability::Power => "FULL",
            Durability::Process => "NORMAL",
        };
        connection.pragma_update(None, "synchronous", synchronous)?;
        connection.pragma_update(None, "cache_size", -16_384)?;
        migrate::migrate(&mut connection)?;
        let checkpoints = Checkpoints::start(&mut connection, prepared(Connection::open(&path)?)?)
            .map_err(|error| StoreError::Unavailable(format!("no thread for the record's log: {error}")))?;
        Ok(Self {
            path,
            writer: Mutex::new(write::WriterConnection::new(connection)),
            readers: Mutex::default(),
            _checkpoints: checkpoints,
        })
    }

    fn writer(&self) -> MutexGuard<'_, write::WriterConnection> {
        // A panic inside a group leaves an open transaction, which the next group rolls back.
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn readers(&self) -> MutexGuard<'_, Vec<Connection>> {
        self.readers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read<T>(&self, read: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let idle = self.readers().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => {
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
                prepared(Connection::open_with_flags(&self.path, flags)?)?
            }
        };
        let result = read(&connection);
        let mut readers = self.readers();
        if readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        result
    }
}

/// Makes the file where there is none. The files beside it have its mode, and SQLite would take what the umask leaves.
fn create(path: &Path) -> Result<(), StoreError> {
    let mut options = std::fs::OpenOptions::new();
    // One that is there is not opened: closing it would take the locks of whoever has it open in this process.
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(StoreError::Unavailable(format!("{}: {error}", path.display())))
        }
        _ => Ok(()),
    }
}

/// What every connection has.
fn prepared(connection: Connection) -> rusqlite::Result<Connection> {
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.busy_timeout(std::time::Duration::from_secs(5))?;
    // Else a statement is planned anew for each of its values, which here never leads to another plan.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..) => Self::Corrupt(error.to_string()),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

impl Store for SqliteStore {
    fn commit(&self, group: &[Write]) -> Vec<Result<(), StoreError>> {
        self.writer().commit(group)
    }

    fn health(&self) -> Result<(), StoreError> {
        self.writer().health()
    }

    fn thread(&self, id: &ThreadId) -> Result<Option<Thread>, StoreError> {
        self.read(|db| read::thread(db, id))
    }

    fn children(&self, id: &ThreadId, limit: usize) -> Result<Vec<Thread>, StoreError> {
        self.read(|db| read::children(db, id, limit))
    }

    fn run(&self, id: &RunId) -> Result<Option<Run>, StoreError> {
        self.read(|db| read::run(db, id))
    }

    fn runs(&self, thread: &ThreadId, skip: usize, limit: usize) -> Result<Vec<Run>, StoreError> {
        self.read(|db| read::runs(db, thread, skip, limit))
    }

    fn lineage(&self, root: &RunId) -> Result<Vec<Run>, StoreError> {
        self.read(|db| read::lineage(db, root))
    }

    fn waiting(&self, thread: &ThreadId) -> Result<Vec<WaitingRun>, StoreError> {
        self.read(|db| read::waiting(db, thread))
    }

    fn tasks(&self, query: &TaskQuery) -> Result<TaskPage, StoreError> {
        self.read(|db| tasks::tasks(db, query))
    }

    fn messages(
        &self,
        thread: &ThreadId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        self.read(|db| read::messages(db, thread, after, limit))
    }

    fn latest_messages(
        &self,
        thread: &ThreadId,
        limit: usize,
        bytes: usize,
    ) -> Result<Vec<ThreadMessage>, StoreError> {
        self.read(|db| read::latest_messages(db, thread, limit, bytes))
    }

    fn events(&self, run: &RunId, after: u64, limit: usize) -> Result<Vec<RelayedEvent>, StoreError> {
        self.read(|db| read::events(db, run, after, limit))
    }

    fn agents(&self) -> Result<Vec<AgentRecord>, StoreError> {
        self.read(read::agents)
    }

    fn agent(&self, address: &AgentAddress) -> Result<Option<AgentRecord>, StoreError> {
        self.read(|db| read::agent(db, address))
    }

    fn llm_offerings(&self) -> Result<Vec<(PublicKey, AgentName)>, StoreError> {
        self.read(read::llm_offerings)
    }

    fn unfinished(&self) -> Result<Vec<Run>, StoreError> {
        self.read(read::unfinished)
    }
}
