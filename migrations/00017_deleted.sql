-- +goose Up

-- What was deleted lies for a day where nobody looks: in the workspace 'deleted ' and its
-- own name. deleted is when that was, in Unix milliseconds, the same for what went by one
-- act and another for every act of a workspace.
ALTER TABLE runs ADD COLUMN deleted INTEGER;
ALTER TABLE datasets ADD COLUMN deleted INTEGER;
ALTER TABLE courses ADD COLUMN deleted INTEGER;

CREATE INDEX runs_deleted ON runs (deleted) WHERE deleted IS NOT NULL;
CREATE INDEX datasets_deleted ON datasets (deleted) WHERE deleted IS NOT NULL;
CREATE INDEX courses_deleted ON courses (deleted) WHERE deleted IS NOT NULL;

-- The columns that the list of runs shows, fields with commas between; empty: those it
-- begins with.
ALTER TABLE workspaces ADD COLUMN columns TEXT NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE workspaces DROP COLUMN columns;
DROP INDEX courses_deleted;
DROP INDEX datasets_deleted;
DROP INDEX runs_deleted;
ALTER TABLE courses DROP COLUMN deleted;
ALTER TABLE datasets DROP COLUMN deleted;
ALTER TABLE runs DROP COLUMN deleted;
