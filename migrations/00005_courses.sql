-- +goose Up

-- A class is the value of a label; what a teacher opens for students is a course.
ALTER TABLE classes RENAME TO courses;
ALTER TABLE runs RENAME COLUMN class TO course;
ALTER TABLE handins RENAME COLUMN class TO course;

DROP INDEX classes_by_workspace;
DROP INDEX classes_by_hash;
CREATE INDEX courses_by_workspace ON courses (workspace, created);
CREATE INDEX courses_by_hash ON courses (hash);

-- The galleries, workspaces that no token opens, are called after their course.
UPDATE runs SET workspace = 'course' || substr(workspace, 6) WHERE workspace LIKE 'class %';

-- +goose Down
UPDATE runs SET workspace = 'class' || substr(workspace, 7) WHERE workspace LIKE 'course %';
DROP INDEX courses_by_hash;
DROP INDEX courses_by_workspace;
ALTER TABLE handins RENAME COLUMN course TO class;
ALTER TABLE runs RENAME COLUMN course TO class;
ALTER TABLE courses RENAME TO classes;
CREATE INDEX classes_by_workspace ON classes (workspace, created);
CREATE INDEX classes_by_hash ON classes (hash);
