-- +goose Up

-- What cross-validations say of the settings of a run, the best first, as JSON.
ALTER TABLE runs ADD COLUMN evidence TEXT NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE runs DROP COLUMN evidence;
