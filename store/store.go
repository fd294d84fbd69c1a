// Package store keeps data sets and runs in one SQLite file.
//
// Exported methods begin a transaction, delegate and commit; lower-case
// functions hold the SQL and take the transaction, so that they compose. A
// method that returned nil has its work on disk: the process may be killed at
// any moment after that.
package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	_ "github.com/mattn/go-sqlite3" // the driver
	"github.com/pressly/goose/v3"

	"marginlab/migrations"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	// Now is the clock. Tests replace it before first use.
	Now func() time.Time

	path  string
	write *sql.DB // one connection: writers queue here and never meet SQLITE_BUSY
	read  *sql.DB
}

// Workspace names the owner of data sets and runs: the SHA-256 of a token in
// hex. The token itself is not stored, so that a copy of the database opens
// nobody's workspace.
type Workspace string

// WorkspaceOf returns the workspace that a token opens.
func WorkspaceOf(token string) Workspace {
	sum := sha256.Sum256([]byte(token))
	return Workspace(hex.EncodeToString(sum[:]))
}

// Open opens the database in dir, creating both if need be, and brings its
// schema up to date. Its errors say what is wrong with which path, in one line.
func Open(ctx context.Context, dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "marginlab.db")
	s := &Store{Now: time.Now, path: path}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("data directory %s: %w", dir, explain(err))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	// Touching the file first gives it its mode, and SQLite, which would
	// silently fall back to reading, is not asked to write what it may not.
	if err := touch(s.path); err != nil {
		switch {
		case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
			return fmt.Errorf("%w (%w)", ErrReadOnly, err)
		case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
			return fmt.Errorf("%w (%w)", ErrFull, err)
		}
		return err
	}
	var err error
	if s.write, err = sql.Open("sqlite3", s.dsn("_txlock=immediate&_secure_delete=on")); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = sql.Open("sqlite3", s.dsn("_txlock=deferred&_query_only=on")); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(8)
	s.read.SetMaxIdleConns(8)
	return migrate(ctx, s.write)
}

func touch(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn sets pragmas where every connection of a pool gets them.
func (s *Store) dsn(more string) string {
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(s.path)}
	return file.String() + "?_journal_mode=WAL&_synchronous=NORMAL&_foreign_keys=on&_busy_timeout=5000&" + more
}

// migrate brings the schema up to date. Another program that was started at the
// same moment may be about the same: a lock that is taken, or a table that is
// there already, is tried again for two seconds.
func migrate(ctx context.Context, db *sql.DB) error {
	until := time.Now().Add(2 * time.Second)
	for {
		err := applyMigrations(ctx, db)
		var partial *goose.PartialError
		if err == nil || time.Now().After(until) || !errors.Is(explain(err), ErrBusy) && !errors.As(err, &partial) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func applyMigrations(ctx context.Context, db *sql.DB) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.Files)
	if err != nil {
		return err
	}
	var foreign bool // tables, but not that of the versions, which is the first to be made
	if err := db.QueryRowContext(ctx, `SELECT count(*) > 0 AND sum(name = 'goose_db_version') = 0 FROM sqlite_master WHERE type = 'table'`).Scan(&foreign); err != nil {
		return err
	}
	if foreign {
		return ErrForeign
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return err
	}
	if have > want {
		return fmt.Errorf("%w Use that version, or another directory (schema %d, this program knows %d)", ErrNewer, have, want)
	}
	_, err = p.Up(ctx)
	return err
}

// Path is the database file.
func (s *Store) Path() string { return s.path }

// Close waits for queries under way and closes the database.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} { // the writer last: it empties the log
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Ping says whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return s.view(ctx, func(tx *sql.Tx) error {
		var n int
		return tx.QueryRowContext(ctx, `SELECT count(*) FROM points`).Scan(&n)
	})
}

// update runs fn in a transaction that commits when fn returns nil.
func (s *Store) update(ctx context.Context, fn func(*sql.Tx) error) error {
	return transact(ctx, s.write, fn)
}

// view runs fn on one unchanging state of the database.
func (s *Store) view(ctx context.Context, fn func(*sql.Tx) error) error {
	return transact(ctx, s.read, fn)
}

func transact(ctx context.Context, db *sql.DB, fn func(*sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	defer tx.Rollback()
	err = fn(tx)
	if err == nil {
		err = tx.Commit()
	}
	if errors.Is(err, sql.ErrTxDone) && ctx.Err() != nil {
		return ctx.Err() // database/sql rolled back because whoever asked has gone
	}
	return explain(err)
}

// now is the time as the database keeps it.
func (s *Store) now() int64 { return s.Now().UnixMilli() }

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// newID is an identifier of 65 random bits that is easy to read out.
func newID() string { return strings.ToLower(rand.Text()[:13]) }

// affected turns "no row matched" into ErrNotFound.
func affected(res sql.Result, err error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err == nil && n == 0 {
		err = ErrNotFound
	}
	return err
}

// found turns "no row" into ErrNotFound.
func found(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return err
}

func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

func decompress(data []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// jsonText stores a value as JSON text and reads it back; NULL leaves the value
// as it is.
type jsonText[T any] struct{ v *T }

func asJSON[T any](v *T) jsonText[T] { return jsonText[T]{v} }

func (j jsonText[T]) Value() (driver.Value, error) {
	b, err := json.Marshal(j.v)
	return string(b), err
}

func (j jsonText[T]) Scan(src any) error {
	if text, ok := src.(string); ok {
		return json.Unmarshal([]byte(text), j.v)
	}
	return nil
}
