//! Schema versions: numbered migrations that run when the file is opened.

use rusqlite::{Connection, TransactionBehavior};

use crate::record::StoreError;

/// Each migration takes the schema from its place in the list to the next version. A landed one never changes.
const MIGRATIONS: &[&str] =
    &[include_str!("schema.sql"), include_str!("answered.sql"), include_str!("batches.sql")];

/// The latest version.
pub(super) const KNOWN: u32 = MIGRATIONS.len() as u32;

/// What tables and indices there are, as they were written.
pub(super) fn shape(connection: &Connection) -> Result<Vec<(String, Option<String>)>, StoreError> {
    let mut rows = connection.prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")?;
    let shape = rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(shape.collect::<Result<_, _>>()?)
}

/// The same of a new record.
pub(super) fn intended() -> Result<Vec<(String, Option<String>)>, StoreError> {
    let mut connection = Connection::open_in_memory()?;
    migrate(&mut connection)?;
    shape(&connection)
}

/// Brings the schema to the latest version, one transaction a version.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let known = KNOWN;
    loop {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if found > known {
            return Err(StoreError::TooNew { found, known });
        }
        let Some(migration) = MIGRATIONS.get(found as usize) else { return Ok(()) };
        transaction.execute_batch(migration)?;
        transaction.pragma_update(None, "user_version", found + 1)?;
        transaction.commit()?;
        tracing::info!(version = found + 1, "the record's schema was brought to a new version");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_of_a_later_funduq_is_refused_and_left_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.pragma_update(None, "user_version", 99).unwrap();
        let error = migrate(&mut connection).unwrap_err();
        assert_eq!(error, StoreError::TooNew { found: 99, known: MIGRATIONS.len() as u32 });
        let tables: u32 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(tables, 0);
    }

    #[test]
    fn a_record_of_the_first_version_keeps_its_answered_asks_answered() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(MIGRATIONS[0]).unwrap();
        connection.pragma_update(None, "user_version", 1).unwrap();
        let fill = "INSERT INTO threads VALUES (1, 't', 'k', 'a', NULL, NULL, 1, 0);
            INSERT INTO runs VALUES (1, 'asked', 1, 'completed', '', NULL, NULL, 'asked', NULL, '{}', 0, 0, 0);
            INSERT INTO runs VALUES (2, 'answer', 1, 'completed', '', NULL, 'asked', 'asked', NULL, '{}', 1, 0, 0);
            INSERT INTO runs VALUES (3, 'plain', 1, 'completed', '', NULL, NULL, 'plain', NULL, '{}', 0, 0, 0);";
        connection.execute_batch(fill).unwrap();
        migrate(&mut connection).unwrap();
        let waiting = "SELECT group_concat(waiting) FROM (SELECT waiting FROM runs ORDER BY no)";
        let waiting: String = connection.query_row(waiting, [], |row| row.get(0)).unwrap();
        assert_eq!(waiting, "2,1,0");
    }

    #[test]
    fn a_record_of_the_second_version_keeps_its_events_and_their_numbers() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(MIGRATIONS[0]).unwrap();
        connection.execute_batch(MIGRATIONS[1]).unwrap();
        connection.pragma_update(None, "user_version", 2).unwrap();
        let fill = "INSERT INTO run_events VALUES (1, 1, 'a'), (1, 2, 'b'), (7, 1, 'c')";
        connection.execute_batch(fill).unwrap();
        migrate(&mut connection).unwrap();
        let kept = "SELECT group_concat(run_no || last || count || json) FROM run_events";
        let kept: String = connection.query_row(kept, [], |row| row.get(0)).unwrap();
        assert_eq!(kept, "111a,121b,711c");
    }

    #[test]
    fn a_second_opening_changes_nothing() {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection).unwrap();
        let schema = |connection: &Connection| -> String {
            connection.query_row("SELECT group_concat(sql) FROM sqlite_schema", [], |row| row.get(0)).unwrap()
        };
        let first = schema(&connection);
        migrate(&mut connection).unwrap();
        assert_eq!(schema(&connection), first);
    }
}
