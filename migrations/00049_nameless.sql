-- +goose Up

-- The pages of the course's teacher show no names of students.
ALTER TABLE courses ADD COLUMN nameless INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE courses DROP COLUMN nameless;
