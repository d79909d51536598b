//! Writing to SQLite: a group of operations in one transaction, each in a savepoint of its own where needed.

use std::collections::{HashMap, HashSet};

use funduq_agui::{RelayedEvent, RelayedMessage};
use funduq_contract::{RunId, ThreadId};
use rusqlite::{Connection, OptionalExtension, params};

use super::batch;
use super::probe::{Ask, probe};
use crate::record::model::{Run, RunMetadata, Thread};
use crate::record::store::{Conflict, OpenRun, Register, Settle, StoreError, Write};

/// What the writer remembers of a run that has not ended, so that an event costs one insert.
#[derive(Debug, Clone, Copy)]
struct LiveRun {
    no: i64,
    thread_no: i64,
    last_event: u64,
}

/// The events of a group by their runs, with the number before the first: they are written last, so that all that a group
/// has of a run share a row.
type Pending<'a> = HashMap<i64, (u64, Vec<&'a [RelayedEvent]>)>;

/// The one connection that writes.
#[derive(Debug)]
pub(super) struct WriterConnection {
    pub(super) db: Connection,
    live: HashMap<RunId, LiveRun>,
    /// Whether the engine has failed a write since it was last seen to take one.
    has_failed: bool,
}

impl WriterConnection {
    pub(super) fn new(db: Connection) -> Self {
        Self { db, live: HashMap::new(), has_failed: false }
    }

    pub(super) fn health(&mut self) -> Result<(), StoreError> {
        self.reset()?;
        let ask = if self.has_failed { Ask::Room } else { Ask::Page };
        let found = probe(&self.db, ask);
        self.has_failed = found.is_err();
        // Its own error is what counts; a transaction that stays open is rolled back by whoever comes next.
        let _ = self.reset();
        found
    }

    /// One transaction for the group; if it fails as a whole, one for each operation, so that a single
    /// bad one takes nothing with it.
    pub(super) fn commit(&mut self, group: &[Write]) -> Vec<Result<(), StoreError>> {
        match self.transaction(group) {
            Ok(results) => results,
            Err(_) if group.len() > 1 => {
                let alone = group.iter().map(|write| {
                    self.transaction(std::slice::from_ref(write)).unwrap_or_else(|error| vec![Err(error)])
                });
                alone.flatten().collect()
            }
            Err(error) => vec![Err(error)],
        }
    }

    /// Rolls back what a failed group left open.
    fn reset(&mut self) -> Result<(), StoreError> {
        if !self.db.is_autocommit() {
            self.db.execute_batch("ROLLBACK")?;
        }
        Ok(())
    }

    /// An error means that nothing of the group was written. A conflict of one operation is its own result.
    fn transaction(&mut self, group: &[Write]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        let done = self.attempt(group);
        self.has_failed |= done.is_err();
        done
    }

    fn attempt(&mut self, group: &[Write]) -> Result<Vec<Result<(), StoreError>>, StoreError> {
        self.reset()?;
        self.db.execute_batch("BEGIN IMMEDIATE")?;
        let mut results = Vec::with_capacity(group.len());
        let mut touched = Vec::new();
        let mut pending = Pending::new();
        let ends = group.iter().filter_map(|write| match write {
            Write::Settle(settle) => Some(&settle.run),
            _ => None,
        });
        let ending: HashSet<&RunId> = ends.collect();
        for write in group {
            if matches!(write, Write::Status { run, .. } if ending.contains(run)) {
                // Its end, later in the same commit, is all that anybody can ever read of it.
                results.push(Ok(()));
                continue;
            }
            // Operations check before they write, so that a conflict has written nothing.
            match self.apply(write, &mut touched, &mut pending) {
                Ok(()) => results.push(Ok(())),
                Err(StoreError::Conflict(conflict)) => results.push(Err(conflict.into())),
                Err(error) => {
                    self.forget(touched);
                    self.reset()?;
                    return Err(error);
                }
            }
        }
        if let Err(error) = self.insert(pending).and_then(|()| Ok(self.db.execute_batch("COMMIT")?)) {
            self.forget(touched);
            self.reset()?;
            return Err(error);
        }
        Ok(results)
    }

    /// What was remembered of runs in a group that was rolled back is read from the file again.
    fn forget(&mut self, touched: Vec<RunId>) {
        for run in touched {
            self.live.remove(&run);
        }
    }

    fn insert(&self, pending: Pending<'_>) -> Result<(), StoreError> {
        for (run_no, (before, events)) in pending {
            insert_events(&self.db, run_no, before, events.into_iter().flatten())?;
        }
        Ok(())
    }

    fn apply<'a>(
        &mut self,
        write: &'a Write,
        touched: &mut Vec<RunId>,
        pending: &mut Pending<'a>,
    ) -> Result<(), StoreError> {
        match write {
            Write::OpenThread(open) => open_thread(&self.db, &open.thread).map(drop),
            Write::OpenRun(open) => {
                let live = open_run(&self.db, open)?;
                if !open.run.status.is_terminal() {
                    touched.push(open.run.id.clone());
                    self.live.insert(open.run.id.clone(), live);
                }
                Ok(())
            }
            Write::Status { run, status, metadata, at } => {
                let no = self.live(run)?.no;
                set_status(&self.db, no, status.as_str(), metadata.as_ref(), *at)
            }
            Write::Append { run, first, events } => {
                touched.push(run.clone());
                self.append(run, *first, events, pending).map(drop)
            }
            Write::Settle(settle) => {
                touched.push(settle.run.clone());
                self.settle(settle, pending)?;
                self.live.remove(&settle.run);
                Ok(())
            }
            Write::Register(register) => self.register(register),
            Write::RegisterLlm { provider, offering, at } => {
                seen(&self.db, &provider.to_string(), *at)?;
                let mut insert = self.db.prepare_cached(
                    "INSERT INTO llm_offerings (provider, name, last_seen_at) VALUES (?1, ?2, ?3)
                     ON CONFLICT (provider, name) DO UPDATE SET last_seen_at = excluded.last_seen_at",
                )?;
                for name in &offering.names {
                    insert.execute(params![provider.to_string(), name.as_str(), at])?;
                }
                Ok(())
            }
            Write::Seen { provider, at } => {
                let provider = provider.to_string();
                seen(&self.db, &provider, *at)?;
                self.db
                    .prepare_cached("UPDATE agents SET last_seen_at = ?2 WHERE provider = ?1")?
                    .execute(params![provider, at])?;
                Ok(())
            }
            Write::DeleteAgent(address) => {
                let (provider, name) = (address.provider.to_string(), address.name.as_str());
                let used: bool = self
                    .db
                    .prepare_cached(
                        "SELECT EXISTS (SELECT 1 FROM threads WHERE provider = ?1 AND agent = ?2)",
                    )?
                    .query_row(params![provider, name], |row| row.get(0))?;
                if used {
                    return Err(Conflict::AgentInUse.into());
                }
                let gone = self
                    .db
                    .prepare_cached("DELETE FROM agents WHERE provider = ?1 AND name = ?2")?
                    .execute(params![provider, name])?;
                if gone == 0 { Err(Conflict::Missing("agent").into()) } else { Ok(()) }
            }
        }
    }

    /// A run that has not ended.
    fn live(&mut self, id: &RunId) -> Result<LiveRun, StoreError> {
        if let Some(live) = self.live.get(id) {
            return Ok(*live);
        }
        let found = self
            .db
            .prepare_cached(
                "SELECT no, thread_no, (SELECT coalesce(max(last), 0) FROM run_events WHERE run_no = runs.no), status
                 FROM runs WHERE id = ?1",
            )?
            .query_row([id.as_str()], |row| {
                let live = LiveRun { no: row.get(0)?, thread_no: row.get(1)?, last_event: row.get(2)? };
                Ok((live, row.get::<_, String>(3)?))
            })
            .optional()?;
        let (live, status) = found.ok_or(Conflict::Missing("run"))?;
        if matches!(status.as_str(), "completed" | "failed" | "cancelled") {
            return Err(Conflict::RunEnded.into());
        }
        self.live.insert(id.clone(), live);
        Ok(live)
    }

    fn append<'a>(
        &mut self,
        id: &RunId,
        first: u64,
        events: &'a [RelayedEvent],
        pending: &mut Pending<'a>,
    ) -> Result<LiveRun, StoreError> {
        let mut live = self.live(id)?;
        let expected = live.last_event + 1;
        if first != expected {
            return Err(Conflict::OutOfOrder { expected, got: first }.into());
        }
        pending.entry(live.no).or_insert((live.last_event, Vec::new())).1.push(events);
        live.last_event += events.len() as u64;
        self.live.insert(id.clone(), live);
        Ok(live)
    }

    fn settle<'a>(&mut self, settle: &'a Settle, pending: &mut Pending<'a>) -> Result<(), StoreError> {
        let live = self.append(&settle.run, settle.first, &settle.events, pending)?;
        let waiting = settle.status == crate::record::RunStatus::Completed && !settle.metadata.has_no_asks();
        self.db
            .prepare_cached(
                "UPDATE runs SET status = ?2, metadata = ?3, waiting = ?4, updated_at = ?5 WHERE no = ?1",
            )?
            .execute(params![
                live.no,
                settle.status.as_str(),
                metadata_json(&settle.metadata)?,
                waiting,
                settle.at
            ])?;
        add_messages(&self.db, live.thread_no, live.no, &settle.messages, true)
    }

    fn register(&mut self, register: &Register) -> Result<(), StoreError> {
        let provider = register.provider.to_string();
        seen(&self.db, &provider, register.at)?;
        let mut insert = self.db.prepare_cached(
            "INSERT INTO agents (provider, name, description, agent_card_extra, metadata, takes_interjections,
                                 joined_at, last_seen_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)
             ON CONFLICT (provider, name) DO UPDATE SET
                 description = excluded.description, agent_card_extra = excluded.agent_card_extra,
                 metadata = excluded.metadata, takes_interjections = excluded.takes_interjections,
                 last_seen_at = excluded.last_seen_at",
        )?;
        for agent in &register.agents {
            insert.execute(params![
                provider,
                agent.name.as_str(),
                agent.description,
                agent.agent_card_extra.as_ref().map(json).transpose()?,
                agent.metadata.as_ref().map(json).transpose()?,
                agent.takes_interjections,
                register.at,
            ])?;
        }
        Ok(())
    }
}

fn seen(db: &Connection, provider: &str, at: i64) -> Result<(), StoreError> {
    db.prepare_cached(
        "INSERT INTO providers (key, joined_at, last_seen_at) VALUES (?1, ?2, ?2)
         ON CONFLICT (key) DO UPDATE SET last_seen_at = excluded.last_seen_at",
    )?
    .execute(params![provider, at])?;
    Ok(())
}

fn open_thread(db: &Connection, thread: &Thread) -> Result<i64, StoreError> {
    if stored_thread(db, &thread.id)?.is_some() {
        return Err(Conflict::ThreadChanged.into());
    }
    let agent_known: bool = db
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM agents WHERE provider = ?1 AND name = ?2)")?
        .query_row([&thread.agent.provider.to_string(), thread.agent.name.as_str()], |row| row.get(0))?;
    if !agent_known {
        return Err(Conflict::Missing("agent").into());
    }
    db.prepare_cached(
        "INSERT INTO threads (id, provider, agent, head, parent, has_runs, created_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        thread.id.as_str(),
        thread.agent.provider.to_string(),
        thread.agent.name.as_str(),
        thread.head.map(|key| key.to_string()),
        thread.parent.as_ref().map(ThreadId::as_str),
        thread.has_runs,
        thread.created_at,
    ])?;
    Ok(db.last_insert_rowid())
}

/// A thread's number, head and whether it has runs.
fn stored_thread(db: &Connection, id: &ThreadId) -> Result<Option<(i64, Option<String>, bool)>, StoreError> {
    Ok(db
        .prepare_cached("SELECT no, head, has_runs FROM threads WHERE id = ?1")?
        .query_row([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?)
}

fn open_run(db: &Connection, open: &OpenRun) -> Result<LiveRun, StoreError> {
    let stored = stored_thread(db, &open.thread.id)?;
    if let Some(answered) = &open.run.answers_run_id {
        let taken: bool = db
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM runs WHERE answers_run_id = ?1)")?
            .query_row([answered.as_str()], |row| row.get(0))?;
        if taken {
            return Err(Conflict::AlreadyAnswered.into());
        }
    }
    let thread_no = match (stored, &open.seen) {
        (None, None) => open_thread(db, &open.thread)?,
        // It may have got its first run meanwhile, if that bound it as this one would have.
        (Some((no, head, has_runs)), Some(_))
            if !has_runs || head == open.thread.head.map(|key| key.to_string()) =>
        {
            if !has_runs {
                db.prepare_cached("UPDATE threads SET head = ?2, parent = ?3, has_runs = 1 WHERE no = ?1")?
                    .execute(params![
                    no,
                    open.thread.head.map(|key| key.to_string()),
                    open.thread.parent.as_ref().map(ThreadId::as_str)
                ])?;
            }
            no
        }
        _ => return Err(Conflict::ThreadChanged.into()),
    };
    if let Some(answered) = &open.run.answers_run_id {
        db.prepare_cached("UPDATE runs SET waiting = 2 WHERE id = ?1")?.execute([answered.as_str()])?;
    }
    let no = insert_run(db, thread_no, &open.run)?;
    add_messages(db, thread_no, no, &open.messages, false)?;
    insert_events(db, no, 0, open.events.iter())?;
    Ok(LiveRun { no, thread_no, last_event: open.events.len() as u64 })
}

fn insert_run(db: &Connection, thread_no: i64, run: &Run) -> Result<i64, StoreError> {
    db.prepare_cached(
        "INSERT INTO runs (id, thread_no, status, input, chain, answers_run_id, root_run_id, addressed_run_id,
                           metadata, waiting, created_at, updated_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, ?10, ?11)",
    )?
    .execute(params![
        run.id.as_str(),
        thread_no,
        run.status.as_str(),
        run.input.to_json(),
        run.chain.as_ref().map(json).transpose()?,
        run.answers_run_id.as_ref().map(RunId::as_str),
        run.root_run_id.as_str(),
        run.addressed_run_id.as_ref().map(RunId::as_str),
        metadata_json(&run.metadata)?,
        run.created_at,
        run.updated_at,
    ])?;
    Ok(db.last_insert_rowid())
}

fn set_status(
    db: &Connection,
    no: i64,
    status: &str,
    metadata: Option<&RunMetadata>,
    at: i64,
) -> Result<(), StoreError> {
    let metadata = metadata.map(metadata_json).transpose()?;
    db.prepare_cached(
        "UPDATE runs SET status = ?2, metadata = coalesce(?3, metadata), updated_at = ?4 WHERE no = ?1",
    )?
    .execute(params![no, status, metadata, at])?;
    Ok(())
}

/// Writes a run's events, of which the first comes after the number `before`.
fn insert_events<'a>(
    db: &Connection,
    run_no: i64,
    before: u64,
    events: impl Iterator<Item = &'a RelayedEvent>,
) -> Result<(), StoreError> {
    let mut insert =
        db.prepare_cached("INSERT INTO run_events (run_no, last, count, json) VALUES (?1, ?2, ?3, ?4)")?;
    let mut last = before;
    for batch in batch::rows(events) {
        last += batch.count;
        insert.execute(params![run_no, last, batch.count, batch.json])?;
    }
    Ok(())
}

/// Adds messages to a thread; one whose id is known is left alone, or replaced in its place.
fn add_messages(
    db: &Connection,
    thread_no: i64,
    run_no: i64,
    messages: &[RelayedMessage],
    replace: bool,
) -> Result<(), StoreError> {
    if messages.is_empty() {
        return Ok(());
    }
    let mut position: u64 = db
        .prepare_cached("SELECT coalesce(max(position), 0) FROM thread_messages WHERE thread_no = ?1")?
        .query_row([thread_no], |row| row.get(0))?;
    let mut insert = db.prepare_cached(
        "INSERT INTO thread_messages (thread_no, position, message_id, run_no, json) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT (thread_no, message_id) DO NOTHING",
    )?;
    let mut update =
        db.prepare_cached("UPDATE thread_messages SET json = ?3 WHERE thread_no = ?1 AND message_id = ?2")?;
    for message in messages {
        let Some(id) = message.id() else { continue };
        let added = insert.execute(params![thread_no, position + 1, id, run_no, message.json()])?;
        if added > 0 {
            position += 1;
        } else if replace {
            update.execute(params![thread_no, id, message.json()])?;
        }
    }
    Ok(())
}

fn json(value: &impl serde::Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

fn metadata_json(metadata: &RunMetadata) -> Result<String, StoreError> {
    json(metadata)
}
