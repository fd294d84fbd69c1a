-- +goose Up

-- Each cell of a search that was begun or had ended was written into these as well. The
-- cells that somebody holds are found by the searches under way; whose turn it is, the
-- queue knows.
DROP INDEX cells_held;
DROP INDEX searches_served;

-- What waits and what is under way changes places in an index that names the status.
DROP INDEX runs_waiting;
CREATE INDEX runs_waiting ON runs (workspace) WHERE status IN ('queued', 'running');

-- +goose Down
DROP INDEX runs_waiting;
CREATE INDEX runs_waiting ON runs (workspace, status) WHERE status IN ('queued', 'running');
CREATE INDEX cells_held ON cells (owner) WHERE done = 0 AND lease > 0;
CREATE INDEX searches_served ON searches (workspace, served);
