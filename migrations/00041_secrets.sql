-- +goose Up

-- What this server alone knows, by name: keys signs the keys of workspaces.
CREATE TABLE secrets (
    name  TEXT PRIMARY KEY,
    value BLOB NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO secrets (name, value) VALUES ('keys', randomblob(32));

-- +goose Down
DROP TABLE secrets;
