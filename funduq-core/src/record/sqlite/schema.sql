-- Version 1 of the record. Times are Unix milliseconds.
CREATE TABLE providers (
    key          TEXT PRIMARY KEY,
    joined_at    INTEGER NOT NULL,
    last_seen_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE agents (
    provider            TEXT NOT NULL REFERENCES providers (key),
    name                TEXT NOT NULL,
    description         TEXT NOT NULL,
    agent_card_extra    TEXT,
    metadata            TEXT,
    takes_interjections INTEGER NOT NULL,
    joined_at           INTEGER NOT NULL,
    last_seen_at        INTEGER NOT NULL,
    PRIMARY KEY (provider, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE llm_offerings (
    provider     TEXT NOT NULL,
    name         TEXT NOT NULL,
    last_seen_at INTEGER NOT NULL,
    PRIMARY KEY (provider, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE threads (
    no         INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    provider   TEXT NOT NULL,
    agent      TEXT NOT NULL,
    head       TEXT,
    parent     TEXT,
    has_runs   INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX threads_by_parent ON threads (parent) WHERE parent IS NOT NULL;
CREATE INDEX threads_by_agent ON threads (provider, agent);

-- answers_run_id is unique: an ask is answered once, whoever comes first.
CREATE TABLE runs (
    no               INTEGER PRIMARY KEY,
    id               TEXT NOT NULL UNIQUE,
    thread_no        INTEGER NOT NULL REFERENCES threads (no),
    status           TEXT NOT NULL,
    input            TEXT NOT NULL,
    chain            TEXT,
    answers_run_id   TEXT UNIQUE,
    root_run_id      TEXT NOT NULL,
    addressed_run_id TEXT,
    metadata         TEXT NOT NULL,
    waiting          INTEGER NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_by_thread ON runs (thread_no, no);
CREATE INDEX runs_by_root ON runs (root_run_id, no);
-- Lists the tasks of a thread, the newest status first, without a look at the rows, which are as large as their inputs.
CREATE INDEX runs_by_status ON runs (thread_no, updated_at, no, status, waiting, id);
CREATE INDEX runs_unfinished ON runs (no) WHERE status IN ('queued', 'offering', 'running', 'cancelling');

CREATE TABLE thread_messages (
    thread_no  INTEGER NOT NULL REFERENCES threads (no),
    position   INTEGER NOT NULL,
    message_id TEXT NOT NULL,
    run_no     INTEGER NOT NULL,
    json       TEXT NOT NULL,
    PRIMARY KEY (thread_no, position)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX thread_messages_by_id ON thread_messages (thread_no, message_id);

CREATE TABLE run_events (
    run_no INTEGER NOT NULL,
    number INTEGER NOT NULL,
    json   TEXT NOT NULL,
    PRIMARY KEY (run_no, number)
) STRICT, WITHOUT ROWID;
