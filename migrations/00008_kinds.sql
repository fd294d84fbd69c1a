-- +goose Up

-- What the rows of a data set are, as dataset.Kind names it. Their canonical form in
-- points, which is CSV for all of them, says the same.
ALTER TABLE datasets ADD COLUMN kind TEXT NOT NULL DEFAULT 'vectors';

-- +goose Down
ALTER TABLE datasets DROP COLUMN kind;
