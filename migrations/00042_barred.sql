-- +goose Up

-- Whom the operator has shut out: "workspace HASH" or "address IP".
CREATE TABLE barred (
    what  TEXT PRIMARY KEY,
    since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE barred;
