-- +goose Up

-- A page that a teacher has set up for a class. Never edited: what students
-- handed in keeps its meaning.
CREATE TABLE classes (
    code      TEXT PRIMARY KEY, -- what students type
    workspace TEXT NOT NULL, -- of the teacher
    token     TEXT NOT NULL UNIQUE, -- of the teacher's link
    title     TEXT NOT NULL,
    target    TEXT NOT NULL, -- path and query of the page
    hidden    TEXT NOT NULL, -- JSON list of controls
    frozen    TEXT NOT NULL, -- JSON list of controls
    hash      TEXT REFERENCES points (hash), -- points that students could not see otherwise
    data_name TEXT NOT NULL, -- of those points
    closed    INTEGER NOT NULL, -- 1: nothing can be handed in
    created   INTEGER NOT NULL
) STRICT;

CREATE INDEX classes_by_workspace ON classes (workspace, created);
CREATE INDEX classes_by_hash ON classes (hash);

-- The class under which a run was made, empty for none. It outlives the class.
ALTER TABLE runs ADD COLUMN class TEXT NOT NULL DEFAULT '';

-- What students handed in: the copy of a run that lies in the gallery.
CREATE TABLE handins (
    run       TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, -- the copy
    class     TEXT NOT NULL REFERENCES classes (code) ON DELETE CASCADE,
    workspace TEXT NOT NULL, -- of the student
    source    TEXT NOT NULL, -- the run it was copied from, which may be gone
    name      TEXT NOT NULL, -- as the student gave it; may be empty
    number    INTEGER NOT NULL, -- tells the nameless apart
    UNIQUE (class, workspace, name)
) STRICT;

-- +goose Down
DROP TABLE handins;
ALTER TABLE runs DROP COLUMN class;
DROP TABLE classes;
