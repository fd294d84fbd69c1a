-- +goose Up

-- The design of a search whose settings are drawn, as JSON; null where it is a grid.
ALTER TABLE searches ADD COLUMN drawn TEXT NOT NULL DEFAULT 'null';

-- +goose Down
ALTER TABLE searches DROP COLUMN drawn;
