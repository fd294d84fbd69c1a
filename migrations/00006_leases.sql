-- +goose Up

-- Work under way belongs to the program that took it, as long as that renews its
-- lease: several programs may serve one database.
ALTER TABLE runs ADD COLUMN kind TEXT NOT NULL DEFAULT 'train'; -- sort of work
ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- who took it last
ALTER TABLE runs ADD COLUMN lease INTEGER NOT NULL DEFAULT 0; -- of a running run: it is the owner's until then, in Unix milliseconds

-- +goose Down
ALTER TABLE runs DROP COLUMN lease;
ALTER TABLE runs DROP COLUMN owner;
ALTER TABLE runs DROP COLUMN kind;
