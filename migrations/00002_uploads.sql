-- +goose Up

-- Files whose columns are still to be chosen. They do not outlive a day.
CREATE TABLE uploads (
    id        TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    file      TEXT NOT NULL, -- its name
    body      BLOB NOT NULL, -- gzip
    created   INTEGER NOT NULL
) STRICT;

CREATE INDEX uploads_by_age ON uploads (created);

-- +goose Down
DROP TABLE uploads;
