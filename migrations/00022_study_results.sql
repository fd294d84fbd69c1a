-- +goose Up

-- How long a cell took, in seconds by the clock, and what a study has come to: gzip of JSON,
-- kept once it has been computed from its searches. Of a study that was brought in from an
-- archive it is all there is.
ALTER TABLE results ADD COLUMN seconds REAL;
ALTER TABLE studies ADD COLUMN result BLOB;

-- +goose Down
ALTER TABLE studies DROP COLUMN result;
ALTER TABLE results DROP COLUMN seconds;
