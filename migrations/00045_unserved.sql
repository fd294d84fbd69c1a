-- +goose Up

-- Nothing asks any more when a workspace was served last.
DROP INDEX IF EXISTS runs_served;

-- +goose Down
CREATE INDEX runs_served ON runs (workspace, started);
