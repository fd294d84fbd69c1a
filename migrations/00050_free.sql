-- +goose Up

-- Students who follow the course's slides may move the controls.
ALTER TABLE courses ADD COLUMN free INTEGER NOT NULL DEFAULT 0;

-- +goose Down
ALTER TABLE courses DROP COLUMN free;
