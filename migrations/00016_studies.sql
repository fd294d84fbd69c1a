-- +goose Up

-- Learners compared over data sets. The searches of a study are those of its learners on its
-- data, place after place: all learners on the first data set, then on the second ...
CREATE TABLE studies (
    id        TEXT PRIMARY KEY,
    workspace TEXT NOT NULL,
    title     TEXT NOT NULL,
    file      TEXT NOT NULL, -- the study as TOML, with the hashes of its data
    sizes     TEXT NOT NULL, -- rows that each data set had before some were taken
    created   INTEGER NOT NULL
) STRICT;
CREATE INDEX studies_by_workspace ON studies (workspace, created);

ALTER TABLE searches ADD COLUMN study TEXT REFERENCES studies (id);
ALTER TABLE searches ADD COLUMN place INTEGER;
CREATE INDEX searches_by_study ON searches (study, place) WHERE study IS NOT NULL;

-- +goose Down
DROP INDEX searches_by_study;
ALTER TABLE searches DROP COLUMN place;
ALTER TABLE searches DROP COLUMN study;
DROP TABLE studies;
