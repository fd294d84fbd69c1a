-- +goose Up

-- Point sets by the SHA-256 of their canonical CSV. Data sets and runs share
-- them; a row lives as long as one of them refers to it.
CREATE TABLE points (
    hash TEXT PRIMARY KEY,
    csv  BLOB NOT NULL -- gzip
) STRICT;

CREATE TABLE datasets (
    id        TEXT PRIMARY KEY,
    workspace TEXT NOT NULL, -- SHA-256 of the token that the browser holds
    name      TEXT NOT NULL,
    origin    TEXT NOT NULL, -- how it came: uploaded, generated, drawn
    hash      TEXT NOT NULL REFERENCES points (hash),
    size      INTEGER NOT NULL, -- rows
    features  TEXT NOT NULL, -- JSON list of names
    label     TEXT NOT NULL,
    classes   TEXT NOT NULL, -- JSON list of names
    created   INTEGER NOT NULL, -- times are Unix milliseconds
    updated   INTEGER NOT NULL
) STRICT;

CREATE INDEX datasets_by_workspace ON datasets (workspace, created);
CREATE INDEX datasets_by_hash ON datasets (hash);

-- A run is also its own job: status is the durable state of the queue.
CREATE TABLE runs (
    id           TEXT PRIMARY KEY,
    workspace    TEXT NOT NULL,
    name         TEXT NOT NULL,
    note         TEXT NOT NULL,
    tags         TEXT NOT NULL, -- JSON list
    dataset      TEXT REFERENCES datasets (id) ON DELETE SET NULL,
    dataset_name TEXT NOT NULL, -- outlives the data set
    hash         TEXT NOT NULL REFERENCES points (hash),
    spec         TEXT NOT NULL, -- JSON
    axes         TEXT NOT NULL, -- JSON list: what the pictures show
    status       TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed', 'cancelled')),
    error        TEXT NOT NULL DEFAULT '',
    attempts     INTEGER NOT NULL DEFAULT 0, -- how often a worker began it
    report       TEXT, -- JSON, once done
    share        TEXT UNIQUE, -- token of the read-only link
    created      INTEGER NOT NULL,
    started      INTEGER,
    finished     INTEGER,

    -- What lists filter and sort by, read out of the JSON.
    learner         TEXT AS (spec ->> '$.learner'),
    kernel          TEXT AS (spec ->> '$.kernel'),
    conformal       TEXT AS (spec ->> '$.conformal'),
    c               REAL AS (spec ->> '$.C'),
    train_accuracy  REAL AS (report ->> '$.train_accuracy'),
    test_accuracy   REAL AS (report ->> '$.test_accuracy'),
    support_vectors INTEGER AS (report ->> '$.support_vectors'),

    CHECK ((status = 'done') = (report IS NOT NULL))
) STRICT;

CREATE INDEX runs_by_workspace ON runs (workspace, created);
CREATE INDEX runs_by_hash ON runs (hash);
CREATE INDEX runs_by_dataset ON runs (dataset);
CREATE INDEX runs_waiting ON runs (created) WHERE status IN ('queued', 'running');

-- Models apart from runs, so that lists do not read past them.
CREATE TABLE models (
    run   TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    part  TEXT NOT NULL CHECK (part IN ('model', 'before')),
    model BLOB NOT NULL, -- gzip of JSON
    PRIMARY KEY (run, part)
) STRICT;

-- +goose Down
DROP TABLE models;
DROP TABLE runs;
DROP TABLE datasets;
DROP TABLE points;
