-- Version 3 of the record: a row has the events of a run that were written together, up to the number `last`, with U+001E
-- between them. No JSON text holds that character, so each event's bytes are still those that came.
ALTER TABLE run_events RENAME TO single_run_events;
CREATE TABLE run_events (
    run_no INTEGER NOT NULL,
    last   INTEGER NOT NULL,
    count  INTEGER NOT NULL,
    json   TEXT NOT NULL
) STRICT;
INSERT INTO run_events (run_no, last, count, json) SELECT run_no, number, 1, json FROM single_run_events;
DROP TABLE single_run_events;
CREATE UNIQUE INDEX run_events_by_run ON run_events (run_no, last);
