-- +goose Up

-- The last answer of a workspace to each question of the lessons.
CREATE TABLE answers (
    workspace TEXT NOT NULL,
    question  TEXT NOT NULL, -- lesson/screen/question
    given     TEXT NOT NULL,
    correct   INTEGER NOT NULL, -- 0 or 1
    answered  INTEGER NOT NULL,
    PRIMARY KEY (workspace, question)
) STRICT, WITHOUT ROWID;

-- +goose Down
DROP TABLE answers;
