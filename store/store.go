// Package store keeps the data of all workspaces in one SQLite database.
//
// Exported methods run one transaction each. Unexported functions that take a transaction are the
// building blocks they share. When a method returns nil, its changes are on disk and survive a
// crash or a power failure, except changes to leases, which need not be durable.
package store

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"database/sql/driver"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
	_ "github.com/mattn/go-sqlite3" // the driver
	"github.com/pressly/goose/v3"
	"golang.org/x/sync/semaphore"

	"marginlab/migrations"
)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	// Now is the clock. Tests replace it before first use.
	Now func() time.Time

	// Quota limits every workspace; the zero value sets no limit. It is set before
	// first use.
	Quota Quota

	// MaxDisk limits the bytes that all workspaces together may take; 0 means no limit. It is set
	// before first use.
	MaxDisk int64

	// Disk returns the free bytes and the size of the file system that holds the database. Tests
	// replace it before first use.
	Disk func() (free, total int64, err error)

	// Network returns the network address from which a workspace was last used, empty if unknown.
	// Places in queues are shared among addresses before workspaces. With a nil Network no address
	// is known. It is set before first use.
	Network func(Workspace) string

	// Newcomer returns the reason why an empty workspace may not store anything, nil if it may. A
	// nil Newcomer allows all. It is set before first use.
	Newcomer func(Workspace) error

	path string
	file os.FileInfo // the file opened at path

	damaged atomic.Bool // set by Inspect

	write *sql.DB // one connection: writers queue here and never meet SQLITE_BUSY
	read  *sql.DB

	writes                           atomic.Uint64 // number of transactions
	tendedWrites, checkpointedWrites uint64        // values of writes at the last Tend and at its last checkpoint; used by Tend only

	probing  sync.Mutex // guards the fields below
	probedAt time.Time
	probeErr error

	decoding *semaphore.Weighted // limits the bytes of points being decoded
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

// fileName is the name of the database in its directory.
const fileName = "marginlab.db"

// Open opens the database in dir, creating both if necessary, and migrates its schema. Its errors
// name the path and the fault on one line.
func Open(ctx context.Context, dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	s := &Store{Now: time.Now, path: DatabaseIn(dir), decoding: semaphore.NewWeighted(decodingBytes), Disk: func() (free, total int64, err error) { return diskSpace(dir) }}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("data directory %s: %w", dir, explain(err))
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	// Creating the file first sets its mode and reports a read-only file, which SQLite would
	// silently open for reading only.
	if err := touch(s.path); err != nil {
		return fileError(err)
	}
	var err error
	if s.file, err = os.Stat(s.path); err != nil {
		return err
	}
	if s.write, err = sql.Open("sqlite3", dsn(s.path, "rwc", pragmas+"&_txlock=immediate&_secure_delete=on")); err != nil {
		return err
	}
	s.write.SetMaxOpenConns(1)
	if s.read, err = sql.Open("sqlite3", dsn(s.path, "rwc", pragmas+"&_txlock=deferred&_query_only=on")); err != nil {
		return err
	}
	s.read.SetMaxOpenConns(8)
	s.read.SetMaxIdleConns(8)
	if err := s.migrate(ctx); err != nil {
		return err
	}
	// A page that changes often is written to the database once per checkpoint. Four times SQLite's
	// default interval between checkpoints costs a class of students a fifth less. A replaced
	// connection has the default again, which is harmless.
	if _, err := s.write.ExecContext(ctx, `PRAGMA wal_autocheckpoint = 4000`); err != nil {
		return err
	}
	return s.checkpoint(ctx, "PASSIVE")
}

// pragmas applies to every connection. Every commit except those of note waits for the disk, about
// a millisecond, so that saved data survive a power failure. Statements are cached, because
// preparing one often takes longer than running it.
const pragmas = "_journal_mode=WAL&_synchronous=FULL&_foreign_keys=on&_stmt_cache_size=100"

// dsn returns the data source name of a database. It carries the pragmas so that every connection
// of a pool gets them.
func dsn(path, mode, more string) string {
	file := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return file.String() + "?mode=" + mode + "&_busy_timeout=5000&" + more
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

// migrate brings the schema up to date, after copying the database if a migration changes rows. A
// file lock keeps processes started at the same moment from migrating at once or judging a
// half-migrated schema. The operating system releases it when its holder ends.
func (s *Store) migrate(ctx context.Context) error {
	lock := flock.New(filepath.Join(filepath.Dir(s.path), "marginlab.schema.lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, 20*time.Millisecond); err != nil {
		return fileError(err)
	}
	defer lock.Unlock()
	p, err := goose.NewProvider(goose.DialectSQLite3, s.write, migrations.Files)
	if err != nil {
		return err
	}
	have, err := version(ctx, s.write)
	if err != nil {
		return err
	}
	risky, err := changesRows(have)
	if err != nil {
		return err
	}
	if have > 0 && risky {
		if err := s.copyBefore(ctx, "schema"); err != nil {
			return fmt.Errorf("database not migrated, because copying it first failed: %w", err)
		}
	}
	_, err = p.Up(ctx)
	return err
}

// rowChange matches the statements of a migration that can lose row data, with or without a
// preceding common table expression. A new column or index cannot.
var rowChange = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?im)^\s*(UPDATE|DELETE|INSERT|REPLACE|WITH|DROP TABLE|ALTER TABLE \w+ DROP)\b`)
})

// changesRows reports whether a migration after the given version changes rows.
func changesRows(after int64) (bool, error) {
	for number, name := range migrationFiles() {
		if number <= after {
			continue
		}
		text, err := migrations.Files.ReadFile(name)
		if err != nil {
			return false, err
		}
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		if rowChange().MatchString(up) {
			return true, nil
		}
	}
	return false, nil
}

// migrationFiles returns the names of the migrations by number.
func migrationFiles() map[int64]string {
	list := map[int64]string{}
	names, _ := fs.Glob(migrations.Files, "*.sql") // the pattern is valid
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if n, err := strconv.ParseInt(number, 10, 64); err == nil {
			list[n] = name
		}
	}
	return list
}

// DatabaseIn returns the path of the database in a data directory.
func DatabaseIn(dir string) string { return filepath.Join(dir, fileName) }

// version returns the schema version of a database, 0 for an empty file. Errors: ErrForeign,
// ErrNewer, or the fault of the file.
func version(ctx context.Context, db *sql.DB) (have int64, err error) {
	// goose_db_version is the first table created, but other programs that use goose have one as
	// well. The four tables have existed since our first version.
	var tables, versions, ours int
	if err := db.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE name = 'goose_db_version'),
			count(*) FILTER (WHERE name IN ('points', 'datasets', 'runs', 'models'))
			FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'`).Scan(&tables, &versions, &ours); err != nil {
		return 0, err
	}
	if versions > 0 {
		if err := db.QueryRowContext(ctx, `SELECT coalesce(max(version_id), 0) FROM goose_db_version`).Scan(&have); err != nil {
			return 0, fmt.Errorf("%w (%w)", ErrForeign, err)
		}
	}
	switch {
	case tables > 0 && versions == 0, have > 0 && ours < 4, have == 0 && tables > versions:
		return have, ErrForeign
	case have > latestSchema():
		return have, fmt.Errorf("%w Use that version, or another directory (schema %d, this program supports %d)", ErrNewer, have, latestSchema())
	}
	return have, nil
}

// latestSchema returns the latest schema version that this program knows.
func latestSchema() int64 { return slices.Max(slices.Collect(maps.Keys(migrationFiles()))) }

// Path returns the path of the database file.
func (s *Store) Path() string { return s.path }

// Close waits for running queries and closes the database.
func (s *Store) Close() error {
	var errs []error
	for _, db := range []*sql.DB{s.read, s.write} { // the writer last: closing it checkpoints the log
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Ping returns nil if the database answers, is still where it was opened and is not known to be
// damaged.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.checkFile(); err != nil {
		return err
	}
	if s.damaged.Load() {
		return ErrDamaged
	}
	return s.view(ctx, func(tx *transaction) { value[int](tx, `SELECT count(*) FROM points`) })
}

// update runs fn in a transaction, which commits unless fn fails.
func (s *Store) update(ctx context.Context, fn func(*transaction)) error {
	s.writes.Add(1)
	s.releaseReserve()
	c, ok := ctx.Value(conditionKey{}).(*condition)
	if !ok || c.met {
		return transact(ctx, s.write, s.withFileCheck(fn))
	}
	err := transact(ctx, s.write, s.withFileCheck(func(tx *transaction) {
		if tx.fail(c.check(context.WithValue(ctx, transactionKey{}, tx))); tx.err == nil {
			fn(tx)
		}
	}))
	c.met = err == nil
	return err
}

// Context keys of a *condition, and of the *transaction in which its check reads.
type (
	conditionKey   struct{}
	transactionKey struct{}
)

// condition holds the check that the first change with a context depends on.
type condition struct {
	check func(ctx context.Context) error
	met   bool // the change is stored
}

// OnlyIf returns a context whose first change is made only if check returns nil; otherwise the
// change returns the error of check. Reads by check with its context belong to the transaction of
// the change, so that no other change comes between. The context must not be used for concurrent
// changes.
func OnlyIf(ctx context.Context, check func(ctx context.Context) error) context.Context {
	return context.WithValue(ctx, conditionKey{}, &condition{check: check})
}

// note is update for changes that may be lost, such as leases: it does not wait for the disk. A
// power failure may undo the latest of these transactions, but never part of one. Killing the
// program loses none.
func (s *Store) note(ctx context.Context, fn func(*transaction)) (err error) {
	s.writes.Add(1)
	s.releaseReserve()
	conn, err := s.write.Conn(ctx)
	if err != nil {
		return explain(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `PRAGMA synchronous = NORMAL`); err != nil {
		return explain(err)
	}
	defer func() {
		if _, again := conn.ExecContext(context.WithoutCancel(ctx), `PRAGMA synchronous = FULL`); again != nil {
			_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // replaces the connection
		}
	}()
	return transact(ctx, conn, s.withFileCheck(fn))
}

// withFileCheck returns fn, which then fails if the database file is gone when it ends.
func (s *Store) withFileCheck(fn func(*transaction)) func(*transaction) {
	return func(tx *transaction) {
		if fn(tx); tx.err == nil {
			tx.fail(s.checkFile())
		}
	}
}

// checkFile returns ErrGone if the file was deleted or replaced. Writes to a deleted file succeed, but
// are lost.
func (s *Store) checkFile() error {
	if now, err := os.Stat(s.path); err != nil || !os.SameFile(now, s.file) {
		return ErrGone
	}
	return nil
}

// view runs fn on one consistent snapshot of the database.
func (s *Store) view(ctx context.Context, fn func(*transaction)) error {
	if tx, ok := ctx.Value(transactionKey{}).(*transaction); ok {
		within := &transaction{Tx: tx.Tx, ctx: tx.ctx} // the caller handles its error
		fn(within)
		return within.err
	}
	return transact(ctx, s.read, fn)
}

// txBeginner is a *sql.DB or a *sql.Conn.
type txBeginner interface {
	BeginTx(ctx context.Context, opts *sql.TxOptions) (*sql.Tx, error)
}

func transact(ctx context.Context, db txBeginner, fn func(*transaction)) error {
	begun, err := db.BeginTx(ctx, nil)
	if err != nil {
		return explain(err)
	}
	defer begun.Rollback()
	tx := &transaction{Tx: begun, ctx: ctx}
	fn(tx)
	if err = tx.err; err == nil {
		err = begun.Commit()
	}
	err = explain(err)
	if ctx.Err() != nil && (errors.Is(err, sql.ErrTxDone) || errors.Is(err, context.Canceled)) {
		return ctx.Err() // rolled back or interrupted because the caller left or its time limit passed
	}
	return err
}

// now returns the time in the database's form.
func (s *Store) now() int64 { return s.Now().UnixMilli() }

func fromMillis(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// newID returns an identifier of 65 random bits that is easy to read out.
func newID() string { return strings.ToLower(rand.Text()[:13]) }

func compress(data []byte) ([]byte, error) {
	return compressed(func(w io.Writer) error { _, err := w.Write(data); return err })
}

func zipJSON(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return compress(text)
}

// packedJSON scans a value from compressed JSON; NULL leaves the value unchanged.
type packedJSON[T any] struct{ v *T }

func unzipJSON[T any](v *T) packedJSON[T] { return packedJSON[T]{v} }

func (z packedJSON[T]) Scan(src any) error {
	packed, ok := src.([]byte)
	if !ok {
		return nil
	}
	text, err := decompress(packed)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, z.v)
}

// compressed returns the compressed output of write, at the fastest level: a tenth of the default
// level's time for a fifth more bytes.
func compressed(write func(w io.Writer) error) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := write(z); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

func decompress(data []byte) ([]byte, error) {
	r, err := unpack(data)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Unpacked decompresses stored data.
type Unpacked struct {
	*bufio.Reader
	size int
}

// Len returns the total decompressed size, also after reading.
func (u Unpacked) Len() int { return u.size }

func unpack(data []byte) (Unpacked, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return Unpacked{}, err
	}
	const most = 1032                                                                         // deflate's highest compression ratio
	size := min(int64(binary.LittleEndian.Uint32(data[len(data)-4:])), most*int64(len(data))) // arbitrary if the data are damaged
	return Unpacked{bufio.NewReader(z), int(size)}, nil
}

// jsonText stores a value as JSON text and scans it; NULL leaves the value unchanged.
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
