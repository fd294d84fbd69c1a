-- +goose Up

-- Questions that the teacher of a course has written, a JSON array of store.OwnQuestion.
ALTER TABLE courses ADD COLUMN questions TEXT NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE courses DROP COLUMN questions;
