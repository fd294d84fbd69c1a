-- +goose Up

-- Texts with what they show of runs, searches, studies and comparisons, frozen when it was
-- placed: frozen is JSON, packed, that nothing else refers to.
CREATE TABLE reports (
    id        TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    title     TEXT NOT NULL,
    share     TEXT UNIQUE,   -- token of a read-only link
    created   INTEGER NOT NULL,
    updated   INTEGER NOT NULL,
    deleted   INTEGER,       -- as of a run
    request   TEXT,
    -- Last, as they are large: what stands behind them is found only by reading through them.
    text      TEXT NOT NULL, -- Markdown
    frozen    BLOB NOT NULL
) STRICT;
CREATE INDEX reports_by_workspace ON reports (workspace, updated);
CREATE INDEX reports_deleted ON reports (deleted) WHERE deleted IS NOT NULL;
CREATE UNIQUE INDEX reports_request ON reports (workspace, request) WHERE request IS NOT NULL;

-- +goose Down
DROP TABLE reports;
