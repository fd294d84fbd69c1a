-- +goose Up

-- Searches of the best settings by cross-validation, in the background. The plan, as
-- ml/eval makes it, has what is to be computed; its cells are the work.
CREATE TABLE searches (
    id           TEXT PRIMARY KEY,
    workspace    TEXT NOT NULL,
    dataset      TEXT REFERENCES datasets (id) ON DELETE SET NULL,
    dataset_name TEXT NOT NULL, -- outlives the data set
    hash         TEXT NOT NULL REFERENCES points (hash),
    spec         TEXT NOT NULL, -- JSON
    grid         TEXT NOT NULL, -- JSON
    scheme       TEXT NOT NULL, -- JSON
    axes         TEXT NOT NULL, -- JSON list, as of a run
    plan         BLOB NOT NULL, -- gzip of JSON
    status       TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    error        TEXT NOT NULL DEFAULT '',
    known        INTEGER NOT NULL, -- cells whose result was there already
    result       BLOB, -- gzip of JSON, once done
    created      INTEGER NOT NULL, -- times are Unix milliseconds
    started      INTEGER,
    served       INTEGER, -- when a cell was taken last
    finished     INTEGER,

    CHECK ((status = 'done') = (result IS NOT NULL))
) STRICT;

CREATE INDEX searches_by_workspace ON searches (workspace, created);
CREATE INDEX searches_by_hash ON searches (hash);
CREATE INDEX searches_by_dataset ON searches (dataset);
CREATE INDEX searches_served ON searches (workspace, served);
CREATE INDEX searches_waiting ON searches (created) WHERE status IN ('queued', 'running');

-- The cells of a search, in the order of its plan. One that is under way belongs to its
-- owner until the lease ends, as a run does.
CREATE TABLE cells (
    search   TEXT NOT NULL REFERENCES searches (id) ON DELETE CASCADE,
    place    INTEGER NOT NULL,
    name     TEXT NOT NULL, -- by content: cells of two searches with one name give the same
    done     INTEGER NOT NULL, -- 1: results has its name
    attempts INTEGER NOT NULL DEFAULT 0,
    owner    TEXT NOT NULL DEFAULT '',
    lease    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (search, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX cells_open ON cells (search, place) WHERE done = 0;
CREATE INDEX cells_by_name ON cells (name);
CREATE INDEX cells_held ON cells (owner) WHERE done = 0 AND lease > 0;

-- What cells gave, each once. A row lives as long as a search has a cell of its name.
CREATE TABLE results (
    cell  TEXT PRIMARY KEY,
    folds TEXT NOT NULL -- JSON
) STRICT, WITHOUT ROWID;

-- The search that chose the settings of a run, empty for none. It may be gone.
ALTER TABLE runs ADD COLUMN search TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE runs DROP COLUMN search;
DROP TABLE results;
DROP TABLE cells;
DROP TABLE searches;
