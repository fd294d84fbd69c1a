-- +goose Up

-- What asked for a study or a link, as of a data set or a search. A link, which is the same for
-- all who ask for the same, has what asked for it last.
ALTER TABLE studies ADD COLUMN request TEXT;
CREATE UNIQUE INDEX studies_by_request ON studies (workspace, request) WHERE request IS NOT NULL;
ALTER TABLE links ADD COLUMN request TEXT;
CREATE UNIQUE INDEX links_by_request ON links (workspace, request) WHERE request IS NOT NULL;

-- +goose Down
DROP INDEX links_by_request;
ALTER TABLE links DROP COLUMN request;
DROP INDEX studies_by_request;
ALTER TABLE studies DROP COLUMN request;
