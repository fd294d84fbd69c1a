-- +goose Up

-- From then on nothing can be handed in; NULL: no end is set.
ALTER TABLE courses ADD COLUMN ends INTEGER;

-- Whom a teacher has blocked from handing in.
CREATE TABLE blocks (
    id        INTEGER PRIMARY KEY, -- what pages call it: they tell nobody's workspace
    course    TEXT NOT NULL REFERENCES courses (code) ON DELETE CASCADE,
    workspace TEXT NOT NULL,
    names     TEXT NOT NULL, -- of what was handed in
    created   INTEGER NOT NULL,
    UNIQUE (course, workspace)
) STRICT;

-- +goose Down
DROP TABLE blocks;
ALTER TABLE courses DROP COLUMN ends;
