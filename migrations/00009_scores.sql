-- +goose Up

-- What a model tells of every row of its data, gzip of a matrix, where to work that out again
-- may take long: of objects that are no vectors. NULL: not kept.
ALTER TABLE models ADD COLUMN scores BLOB;

-- +goose Down
ALTER TABLE models DROP COLUMN scores;
