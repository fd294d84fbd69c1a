// Package migrations holds the schema of the database as numbered SQL files.
// The store applies at start those that a database does not have yet. A file
// that has been released is never edited: a change is a new file.
package migrations

import "embed"

// Files are the migrations, in the format of goose.
//
//go:embed *.sql
var Files embed.FS
