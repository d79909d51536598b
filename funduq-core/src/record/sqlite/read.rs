//! Reading from SQLite: rows into the record's types.

use std::str::FromStr;

use funduq_agui::{RelayedEvent, RelayedInput, RelayedMessage};
use funduq_contract::{AgentAddress, AgentName, PublicKey, RunId, ThreadId};
use rusqlite::{Connection, OptionalExtension, Params, Row, params};

use super::batch;
use crate::record::model::{AgentRecord, Run, RunMetadata, RunStatus, Thread, ThreadMessage, WaitingRun};
use crate::record::{EVENT_PAGE_BYTES, PAGE_BYTES, StoreError};

const THREAD: &str = "SELECT id, provider, agent, head, parent, has_runs, created_at FROM threads";
const RUN: &str = "SELECT runs.id, threads.id, threads.provider, threads.agent, status, input, chain,
    answers_run_id, root_run_id, addressed_run_id, metadata,
    (SELECT coalesce(max(last), 0) FROM run_events WHERE run_no = runs.no), runs.created_at, updated_at
    FROM runs JOIN threads ON threads.no = runs.thread_no";
const MESSAGE: &str = "SELECT thread_messages.position, runs.id, thread_messages.json
    FROM thread_messages JOIN threads ON threads.no = thread_messages.thread_no
    JOIN runs ON runs.no = thread_messages.run_no";
/// Where in a row of [`RUN`] its input stands, and in one of [`MESSAGE`] the message.
const INPUT: usize = 5;
const MESSAGE_JSON: usize = 2;
const AGENT: &str = "SELECT provider, name, description, agent_card_extra, metadata, takes_interjections,
    joined_at, last_seen_at FROM agents";

pub(super) fn thread(db: &Connection, id: &ThreadId) -> Result<Option<Thread>, StoreError> {
    Ok(list(db, &format!("{THREAD} WHERE id = ?1"), [id.as_str()], thread_row)?.pop())
}

pub(super) fn children(db: &Connection, id: &ThreadId, limit: usize) -> Result<Vec<Thread>, StoreError> {
    let query = format!("{THREAD} WHERE parent = ?1 ORDER BY no LIMIT ?2");
    list(db, &query, params![id.as_str(), limit as i64], thread_row)
}

pub(super) fn run(db: &Connection, id: &RunId) -> Result<Option<Run>, StoreError> {
    Ok(list(db, &format!("{RUN} WHERE runs.id = ?1"), [id.as_str()], run_row)?.pop())
}

/// Takes one run into a page.
pub(super) fn run_by_number(db: &Connection, no: u64, page: &mut Page<Run>) -> Result<(), StoreError> {
    page.read(db, &format!("{RUN} WHERE runs.no = ?1"), [no], INPUT, run_row)
}

pub(super) fn runs(
    db: &Connection,
    thread: &ThreadId,
    skip: usize,
    limit: usize,
) -> Result<Vec<Run>, StoreError> {
    let query = format!("{RUN} WHERE threads.id = ?1 ORDER BY runs.no LIMIT ?2 OFFSET ?3");
    let mut page = Page::default();
    page.read(db, &query, params![thread.as_str(), count(limit), count(skip)], INPUT, run_row)?;
    Ok(page.items)
}

pub(super) fn lineage(db: &Connection, root: &RunId) -> Result<Vec<Run>, StoreError> {
    let mut runs =
        list(db, &format!("{RUN} WHERE runs.id = ?1 AND root_run_id = ?1"), [root.as_str()], run_row)?;
    let later = format!("{RUN} WHERE root_run_id = ?1 AND root_run_id <> runs.id ORDER BY runs.no");
    runs.extend(list(db, &later, [root.as_str()], run_row)?);
    Ok(runs)
}

pub(super) fn waiting(db: &Connection, thread: &ThreadId) -> Result<Vec<WaitingRun>, StoreError> {
    let query = "SELECT runs.id, metadata FROM runs JOIN threads ON threads.no = runs.thread_no
        WHERE threads.id = ?1 AND waiting = 1 ORDER BY runs.no DESC";
    list(db, query, [thread.as_str()], |row| {
        let metadata: RunMetadata = json(&row.get::<_, String>(1)?)?;
        Ok(WaitingRun { id: text(row, 0)?, asks: metadata.asks() })
    })
}

pub(super) fn messages(
    db: &Connection,
    thread: &ThreadId,
    after: u64,
    limit: usize,
) -> Result<Vec<ThreadMessage>, StoreError> {
    let query = format!("{MESSAGE} WHERE threads.id = ?1 AND position > ?2 ORDER BY position LIMIT ?3");
    let mut page = Page::default();
    page.read(db, &query, params![thread.as_str(), after, count(limit)], MESSAGE_JSON, message_row)?;
    Ok(page.items)
}

pub(super) fn latest_messages(
    db: &Connection,
    thread: &ThreadId,
    limit: usize,
    bytes: usize,
) -> Result<Vec<ThreadMessage>, StoreError> {
    let query = format!("{MESSAGE} WHERE threads.id = ?1 ORDER BY position DESC LIMIT ?2");
    let mut statement = db.prepare_cached(&query)?;
    let mut rows = statement.query(params![thread.as_str(), count(limit)])?;
    let (mut latest, mut read) = (Vec::new(), 0);
    while let Some(row) = rows.next()? {
        read += size(row, MESSAGE_JSON)?;
        if read > bytes {
            break;
        }
        latest.push(message_row(row)?);
    }
    latest.reverse();
    Ok(latest)
}

pub(super) fn events(
    db: &Connection,
    run: &RunId,
    after: u64,
    limit: usize,
) -> Result<Vec<RelayedEvent>, StoreError> {
    let no: Option<i64> = db
        .prepare_cached("SELECT no FROM runs WHERE id = ?1")?
        .query_row([run.as_str()], |row| row.get(0))
        .optional()?;
    let Some(no) = no else { return Ok(Vec::new()) };
    let query = "SELECT last, count, json FROM run_events WHERE run_no = ?1 AND last > ?2 ORDER BY last";
    let mut statement = db.prepare_cached(query)?;
    let mut rows = statement.query(params![no, after])?;
    let (mut events, mut bytes) = (Vec::new(), 0);
    while events.len() < limit
        && bytes < EVENT_PAGE_BYTES
        && let Some(row) = rows.next()?
    {
        let (last, count): (u64, u64) = (row.get(0)?, row.get(1)?);
        let json = row.get_ref(2)?.as_str().map_err(rusqlite::Error::from)?;
        // Only of the first row may some be wanted no more.
        let skip = (after + count).saturating_sub(last) as usize;
        for json in batch::split(json).skip(skip).take(limit - events.len()) {
            let event = RelayedEvent::parse(json);
            let corrupt = |error| StoreError::Corrupt(format!("an event of run {run}: {error}"));
            events.push(event.map_err(corrupt)?);
            bytes += json.len();
        }
    }
    Ok(events)
}

pub(super) fn agents(db: &Connection) -> Result<Vec<AgentRecord>, StoreError> {
    list(db, &format!("{AGENT} ORDER BY provider, name"), [], agent_row)
}

pub(super) fn agent(db: &Connection, address: &AgentAddress) -> Result<Option<AgentRecord>, StoreError> {
    let query = format!("{AGENT} WHERE provider = ?1 AND name = ?2");
    Ok(list(db, &query, params![address.provider.to_string(), address.name.as_str()], agent_row)?.pop())
}

pub(super) fn llm_offerings(db: &Connection) -> Result<Vec<(PublicKey, AgentName)>, StoreError> {
    list(db, "SELECT provider, name FROM llm_offerings ORDER BY provider, name", [], |row| {
        Ok((text(row, 0)?, text(row, 1)?))
    })
}

pub(super) fn unfinished(db: &Connection) -> Result<Vec<Run>, StoreError> {
    let query =
        format!("{RUN} WHERE status IN ('queued', 'offering', 'running', 'cancelling') ORDER BY runs.no");
    list(db, &query, [], run_row)
}

/// A page of rows, and how many bytes it has of what callers and agents said.
#[derive(Debug)]
pub(super) struct Page<T> {
    pub(super) items: Vec<T>,
    bytes: usize,
}

impl<T> Default for Page<T> {
    fn default() -> Self {
        Self { items: Vec::new(), bytes: 0 }
    }
}

impl<T> Page<T> {
    pub(super) fn is_full(&self) -> bool {
        self.bytes >= PAGE_BYTES
    }

    /// Takes rows in until it is full; `column` is where in a row that stands which was said.
    pub(super) fn read(
        &mut self,
        db: &Connection,
        query: &str,
        params: impl Params,
        column: usize,
        item: impl Fn(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<(), StoreError> {
        let mut statement = db.prepare_cached(query)?;
        let mut rows = statement.query(params)?;
        while !self.is_full()
            && let Some(row) = rows.next()?
        {
            self.bytes += size(row, column)?;
            self.items.push(item(row)?);
        }
        Ok(())
    }
}

fn size(row: &Row<'_>, column: usize) -> Result<usize, StoreError> {
    Ok(row.get_ref(column)?.as_str().map_err(rusqlite::Error::from)?.len())
}

/// A number of rows as SQLite counts them.
pub(super) fn count(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}

fn list<T>(
    db: &Connection,
    query: &str,
    params: impl Params,
    row: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = db.prepare_cached(query)?;
    let mut rows = statement.query(params)?;
    let mut all = Vec::new();
    while let Some(next) = rows.next()? {
        all.push(row(next)?);
    }
    Ok(all)
}

fn thread_row(row: &Row<'_>) -> Result<Thread, StoreError> {
    Ok(Thread {
        id: text(row, 0)?,
        agent: AgentAddress { provider: text(row, 1)?, name: text(row, 2)? },
        head: optional_text(row, 3)?,
        parent: optional_text(row, 4)?,
        has_runs: row.get(5)?,
        created_at: row.get(6)?,
    })
}

fn run_row(row: &Row<'_>) -> Result<Run, StoreError> {
    let status: String = row.get(4)?;
    let input: String = row.get(5)?;
    Ok(Run {
        id: text(row, 0)?,
        thread_id: text(row, 1)?,
        agent: AgentAddress { provider: text(row, 2)?, name: text(row, 3)? },
        status: RunStatus::from_word(&status)
            .ok_or_else(|| StoreError::Corrupt(format!("a run's status is {status:?}")))?,
        input: RelayedInput::parse_relayed(input.as_bytes())
            .map_err(|error| StoreError::Corrupt(error.to_string()))?,
        chain: optional_json(row, 6)?,
        answers_run_id: optional_text(row, 7)?,
        root_run_id: text(row, 8)?,
        addressed_run_id: optional_text(row, 9)?,
        metadata: json(&row.get::<_, String>(10)?)?,
        last_event: row.get(11)?,
        created_at: row.get(12)?,
        updated_at: row.get(13)?,
    })
}

fn message_row(row: &Row<'_>) -> Result<ThreadMessage, StoreError> {
    let message: String = row.get(2)?;
    Ok(ThreadMessage {
        position: row.get(0)?,
        run_id: text(row, 1)?,
        message: RelayedMessage::parse(&message).map_err(|error| StoreError::Corrupt(error.to_string()))?,
    })
}

fn agent_row(row: &Row<'_>) -> Result<AgentRecord, StoreError> {
    Ok(AgentRecord {
        address: AgentAddress { provider: text(row, 0)?, name: text(row, 1)? },
        description: row.get(2)?,
        agent_card_extra: optional_json(row, 3)?,
        metadata: optional_json(row, 4)?,
        takes_interjections: row.get(5)?,
        joined_at: row.get(6)?,
        last_seen_at: row.get(7)?,
    })
}

fn text<T: FromStr<Err: std::fmt::Display>>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    let value: String = row.get(column)?;
    value.parse().map_err(|error| StoreError::Corrupt(format!("{value:?}: {error}")))
}

fn optional_text<T: FromStr<Err: std::fmt::Display>>(
    row: &Row<'_>,
    column: usize,
) -> Result<Option<T>, StoreError> {
    let value: Option<String> = row.get(column)?;
    value
        .map(|value| value.parse().map_err(|error| StoreError::Corrupt(format!("{value:?}: {error}"))))
        .transpose()
}

fn json<T: serde::de::DeserializeOwned>(value: &str) -> Result<T, StoreError> {
    serde_json::from_str(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

fn optional_json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: usize,
) -> Result<Option<T>, StoreError> {
    row.get::<_, Option<String>>(column)?.as_deref().map(json).transpose()
}
