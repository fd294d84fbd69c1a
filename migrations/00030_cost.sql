-- +goose Up

-- About how long a run takes, or a cell of a search, in milliseconds, and how much memory, in
-- bytes: as estimated when it was queued, and corrected once it has taken longer.
ALTER TABLE runs ADD COLUMN work INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN memory INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searches ADD COLUMN work INTEGER NOT NULL DEFAULT 0;
ALTER TABLE searches ADD COLUMN memory INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE searches DROP COLUMN memory;
ALTER TABLE searches DROP COLUMN work;
ALTER TABLE runs DROP COLUMN memory;
ALTER TABLE runs DROP COLUMN work;
