-- +goose Up

-- When a workspace that nobody used was marked for deletion, in Unix milliseconds. The mark
-- counts for as long as nobody has used the workspace since.
ALTER TABLE workspaces ADD COLUMN expired INTEGER;

CREATE INDEX workspaces_expired ON workspaces (expired) WHERE expired IS NOT NULL;

-- +goose Down
DROP INDEX workspaces_expired;
ALTER TABLE workspaces DROP COLUMN expired;
