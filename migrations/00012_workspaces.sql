-- +goose Up

-- When a workspace that holds something was last in use, to the day.
CREATE TABLE workspaces (
    workspace TEXT PRIMARY KEY,
    seen      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Nobody knows who has looked at what there is already: its time begins now.
INSERT INTO workspaces (workspace, seen)
SELECT workspace, unixepoch() * 1000 FROM (
    SELECT workspace FROM datasets UNION SELECT workspace FROM runs UNION SELECT workspace FROM courses UNION SELECT workspace FROM answers
) WHERE workspace NOT LIKE 'course %';

-- +goose Down
DROP TABLE workspaces;
