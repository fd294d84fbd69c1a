// Package storetest opens stores for tests. It does not import package store, whose own tests use it.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"marginlab/ml/mltest/require"
)

var (
	mu       sync.Mutex
	migrated []byte // the database of an empty store; nil: not made yet
)

// Open opens the store in dir with store.Open until the test ends; see Prepare.
func Open[S io.Closer](t testing.TB, dir string, open func(context.Context, string) (S, error)) S {
	t.Helper()
	Prepare(t, dir, open)
	s := require.Value(open(t.Context(), dir))(t)
	t.Cleanup(func() { s.Close() })
	return s
}

// Prepare writes a missing database as a copy of one that open has migrated and Close has closed.
// That takes a quarter of the time of the migrations.
func Prepare[S io.Closer](t testing.TB, dir string, open func(context.Context, string) (S, error)) {
	t.Helper()
	path := filepath.Join(dir, "marginlab.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		require.NoError(t, os.MkdirAll(dir, 0o700))
		require.NoError(t, os.WriteFile(path, empty(t, open), 0o600))
	}
}

func empty[S io.Closer](t testing.TB, open func(context.Context, string) (S, error)) []byte {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	if migrated == nil {
		dir := filepath.Join(t.TempDir(), "new")
		require.NoError(t, require.Value(open(t.Context(), dir))(t).Close())
		migrated = require.Value(os.ReadFile(filepath.Join(dir, "marginlab.db")))(t)
	}
	return migrated
}

// Exec executes a statement in the database at path, past the store.
func Exec(t testing.TB, path, query string, args ...any) {
	t.Helper()
	db := require.Value(sql.Open("sqlite3", path))(t)
	require.Value(db.Exec(query, args...))(t)
	require.NoError(t, db.Close())
}
