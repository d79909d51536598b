//! Whether the record can be written, found out by writing it.

use rusqlite::Connection;

use super::migrate;
use crate::record::StoreError;

/// How much is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// One page, as cheap as a write can be: a transaction that changes nothing writes nothing in WAL mode.
    Page,
    /// 18 pages, more than a short run takes: where a write has failed, room for one page proves little.
    Room,
}

/// Takes room in a table and gives it back, within one transaction; no provider has an empty key.
const ROOM: &str = "INSERT INTO llm_offerings VALUES ('', hex(zeroblob(32768)), 0);
     DELETE FROM llm_offerings WHERE provider = ''";

/// Commits a write that leaves everything as it was. After an error a transaction may be left open.
///
/// # Errors
/// [`StoreError::Unavailable`]; [`StoreError::TooNew`] where another funduq has changed the schema since.
pub(super) fn probe(db: &Connection, ask: Ask) -> Result<(), StoreError> {
    db.execute_batch("BEGIN IMMEDIATE")?;
    let (found, known) = (db.query_row("PRAGMA user_version", [], |row| row.get(0))?, migrate::KNOWN);
    if found != known {
        return Err(StoreError::TooNew { found, known });
    }
    if ask == Ask::Room {
        db.execute_batch(ROOM)?;
    }
    db.pragma_update(None, "user_version", known)?;
    Ok(db.execute_batch("COMMIT")?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Durability, Register, SqliteStore, Store as _, Write};

    fn store() -> (tempfile::TempDir, SqliteStore) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("record.sqlite"), Durability::Process).unwrap();
        (folder, store)
    }

    fn roster(description: String) -> [Write; 1] {
        let mut agent = funduq_contract::Registration::new("a".parse().unwrap());
        agent.description = description;
        let provider = funduq_contract::Identity::from_seed(&[1; 32]).public_key();
        [Write::Register(Register { provider, agents: vec![agent], at: 1 })]
    }

    #[test]
    fn each_look_at_the_record_is_a_page_that_was_written() {
        let (folder, store) = store();
        let log = folder.path().join("record.sqlite-wal");
        let pages = || std::fs::metadata(&log).unwrap().len() / 4120;
        let before = pages();
        for done in 1..=3 {
            store.health().unwrap();
            assert_eq!(pages(), before + done);
        }
    }

    #[test]
    fn a_record_that_failed_a_write_is_well_again_when_there_is_room() {
        let (_folder, store) = store();
        let limit = |pages: u32| {
            let limit = format!("PRAGMA max_page_count = {pages}");
            store.writer().db.query_row(&limit, [], |row| row.get::<_, u32>(0)).unwrap()
        };
        let pages = limit(1);
        assert_eq!(
            store.health(),
            Ok(()),
            "nothing was refused yet, and a page that is there can be written"
        );
        assert!(matches!(store.commit(&roster("x".repeat(100_000)))[..], [Err(StoreError::Unavailable(_))]));
        for _ in 0..3 {
            assert!(matches!(store.health(), Err(StoreError::Unavailable(_))));
        }
        limit(pages + 100);
        assert_eq!(store.health(), Ok(()));
        assert_eq!(store.commit(&roster("x".repeat(100_000))), [Ok(())]);
        assert_eq!(store.llm_offerings(), Ok(vec![]));
    }
}
