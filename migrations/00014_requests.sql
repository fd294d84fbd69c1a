-- +goose Up

-- What asked for a data set or a search, as of a run: a hash, so that to ask again makes no
-- second one.
ALTER TABLE datasets ADD COLUMN request TEXT;
CREATE UNIQUE INDEX datasets_by_request ON datasets (workspace, request) WHERE request IS NOT NULL;
ALTER TABLE searches ADD COLUMN request TEXT;
CREATE UNIQUE INDEX searches_by_request ON searches (workspace, request) WHERE request IS NOT NULL;

-- +goose Down
DROP INDEX searches_by_request;
ALTER TABLE searches DROP COLUMN request;
DROP INDEX datasets_by_request;
ALTER TABLE datasets DROP COLUMN request;
