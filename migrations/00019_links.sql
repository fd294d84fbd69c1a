-- +goose Up

-- A view of the lab under an address of its own: its settings, and the points where others
-- could not see them otherwise.
CREATE TABLE links (
    token     TEXT PRIMARY KEY,
    workspace TEXT NOT NULL, -- of whoever made it, and can delete it
    title     TEXT NOT NULL,
    target    TEXT NOT NULL, -- address of the page, with its query
    hash      TEXT REFERENCES points (hash),
    data_name TEXT NOT NULL,
    created   INTEGER NOT NULL
) STRICT;
CREATE INDEX links_by_workspace ON links (workspace, created);
CREATE INDEX links_by_hash ON links (hash);

-- +goose Down
DROP TABLE links;
