-- +goose Up

-- Who takes part in a course, beyond handing in.
CREATE TABLE students (
    id        INTEGER PRIMARY KEY,
    course    TEXT NOT NULL REFERENCES courses (code) ON DELETE CASCADE,
    workspace TEXT NOT NULL,
    number    INTEGER NOT NULL, -- in the course, which tells the nameless apart
    name      TEXT NOT NULL,    -- empty: none was given
    UNIQUE (course, workspace)
) STRICT;

-- Questions of lessons that a teacher has put to a course.
CREATE TABLE polls (
    id       INTEGER PRIMARY KEY,
    course   TEXT NOT NULL REFERENCES courses (code) ON DELETE CASCADE,
    question TEXT NOT NULL,    -- lesson/screen/question
    round    INTEGER NOT NULL, -- the last, from 1
    open     INTEGER NOT NULL, -- 0 or 1: at most one of a course
    revealed INTEGER NOT NULL, -- 0 or 1
    asked    INTEGER NOT NULL, -- when it was last opened
    UNIQUE (course, question)
) STRICT;

-- What students of a course answered: in round 0 by themselves, the first answer, from
-- round 1 in a poll, the last.
CREATE TABLE votes (
    course   TEXT NOT NULL REFERENCES courses (code) ON DELETE CASCADE,
    question TEXT NOT NULL,
    round    INTEGER NOT NULL,
    student  INTEGER NOT NULL REFERENCES students (id) ON DELETE CASCADE,
    given    TEXT NOT NULL,
    correct  INTEGER NOT NULL, -- 0 or 1
    answered INTEGER NOT NULL,
    PRIMARY KEY (course, question, round, student)
) STRICT, WITHOUT ROWID;

CREATE INDEX students_by_workspace ON students (workspace);
CREATE INDEX votes_by_student ON votes (student);

-- +goose Down
DROP TABLE votes;
DROP TABLE polls;
DROP TABLE students;
