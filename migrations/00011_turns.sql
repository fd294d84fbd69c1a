-- +goose Up

-- Whose turn it is: what every workspace has waiting and under way, and when it was
-- served last.
DROP INDEX runs_waiting;
CREATE INDEX runs_waiting ON runs (workspace, status) WHERE status IN ('queued', 'running');
CREATE INDEX runs_served ON runs (workspace, started);

-- A hand-in is trained once: the copy in the gallery gets the result of its source.
CREATE INDEX handins_by_source ON handins (source);

-- What asked for a run, a hash, so that to ask again makes no second one.
ALTER TABLE runs ADD COLUMN request TEXT;
CREATE UNIQUE INDEX runs_by_request ON runs (workspace, request) WHERE request IS NOT NULL;

-- +goose Down
DROP INDEX runs_by_request;
ALTER TABLE runs DROP COLUMN request;
DROP INDEX handins_by_source;
DROP INDEX runs_served;
DROP INDEX runs_waiting;
CREATE INDEX runs_waiting ON runs (created) WHERE status IN ('queued', 'running');
