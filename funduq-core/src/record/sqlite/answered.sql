-- Version 2 of the record: runs.waiting is 0 for a run without open asks, 1 for one that waits for its answer, and 2 for
-- one that was answered, so that a lineage's tail is known without a look at any other run.
UPDATE runs SET waiting = 2
WHERE id IN (SELECT answers_run_id FROM runs WHERE answers_run_id IS NOT NULL);

-- Most runs are their own root, and those are found by their id.
DROP INDEX runs_by_root;
CREATE INDEX runs_by_root ON runs (root_run_id, no) WHERE root_run_id <> id;
