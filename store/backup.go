package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"marginlab/ml/param"
)

// Backup copies the database of a data directory to a new file, even while servers use
// it: the copy is a consistent snapshot with everything saved before it began, in one
// compact file without a log. A foreign, newer or damaged database is an error and
// leaves no copy.
func Backup(ctx context.Context, dir, file string) (Contents, error) {
	path := DatabaseIn(dir)
	s, err := openReadOnly(ctx, path)
	if err != nil {
		return Contents{}, fmt.Errorf("database %s: %w", path, err)
	}
	defer s.Close()
	if err := s.copyTo(ctx, file); err != nil {
		return Contents{}, err
	}
	return contentsOf(ctx, file)
}

// Restore replaces the database of a data directory by file, as written by Backup, and
// returns where it moved the previous database, if any. It takes the lock of the
// directory. A damaged, foreign or newer file is refused without any change.
func Restore(ctx context.Context, dir, file string) (aside string, have Contents, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", have, err
	}
	l, err := TakeLock(dir, "restore")
	if err != nil {
		return "", have, err
	}
	defer l.Release()
	path := DatabaseIn(dir)
	if same(path, file) {
		return "", have, fmt.Errorf("%s is the database in use: name a backup file", file)
	}
	s, err := openReadOnly(ctx, file)
	if err != nil {
		return "", have, fmt.Errorf("%s cannot be restored, nothing was changed: %w", file, err)
	}
	defer s.Close()
	faults, err := s.structure(ctx)
	if err == nil && len(faults) > 0 {
		err = fmt.Errorf("%w (%s)", ErrNotDatabase, faults[0])
	}
	if err != nil {
		return "", have, fmt.Errorf("%s cannot be restored, nothing was changed: %w", file, err)
	}
	fresh := path + ".restored"
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) { // left by an interrupted restore
		return "", have, err
	}
	if err := s.copyTo(ctx, fresh); err != nil {
		return "", have, err
	}
	if have, err = contentsOf(ctx, fresh); err != nil {
		return "", have, err
	}
	if aside, err = putAside(ctx, path, time.Now()); err != nil {
		return "", have, err
	}
	if err := os.Rename(fresh, path); err != nil {
		return aside, have, err
	}
	return aside, have, syncDir(dir)
}

// putAside renames a database and its log, if any, and returns its new path, empty if
// there is no database.
func putAside(ctx context.Context, path string, now time.Time) (aside string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	// Opening and closing a database that was not closed cleanly merges its log; if it is
	// damaged, the log is renamed as well.
	if db, err := sql.Open("sqlite3", dsn(path, "rw", "")); err == nil {
		_, _ = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		db.Close()
	}
	if aside, err = unused(path + ".before-" + now.Format("20060102-150405")); err != nil {
		return "", err
	}
	for _, part := range []string{"-shm", "-wal", ""} { // the log first: a log without its database is harmless, a database without its log may not be
		err := os.Rename(path+part, aside+part)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// unused returns path, or path with a number, where no file exists, so that two databases put
// aside within a second do not overwrite each other.
func unused(path string) (string, error) {
	free := path
	for n := 2; ; n++ {
		_, err := os.Lstat(free)
		if errors.Is(err, fs.ErrNotExist) {
			return free, nil
		}
		if err != nil {
			return "", err
		}
		free = fmt.Sprintf("%s-%d", path, n)
	}
}

// Contents counts what a database holds.
type Contents struct {
	Datasets, Runs int
	Bytes          int64 // of the database
}

// String describes it in words.
func (c Contents) String() string {
	return fmt.Sprintf("%s and %s, %s", number(c.Datasets, "data set"), number(c.Runs, "run"), param.Bytes(c.Bytes))
}

// number writes a count with its noun.
func number(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	case strings.HasSuffix(noun, "dy"):
		noun = strings.TrimSuffix(noun, "y") + "ies"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// contentsOf counts the contents of a database.
func contentsOf(ctx context.Context, path string) (c Contents, err error) {
	s, err := openReadOnly(ctx, path)
	if err != nil {
		return c, fmt.Errorf("database %s: %w", path, err)
	}
	defer s.Close()
	err = s.view(ctx, func(tx *transaction) {
		tx.one(`SELECT (SELECT count(*) FROM datasets WHERE workspace NOT GLOB 'deleted *'), (SELECT count(*) FROM runs WHERE workspace NOT GLOB 'deleted *'), page_count * page_size FROM pragma_page_count, pragma_page_size`)(
			&c.Datasets, &c.Runs, &c.Bytes)
	})
	return c, err
}

// openReadOnly opens an existing database read-only, without creating or migrating it.
func openReadOnly(ctx context.Context, path string) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist // callers add the path
	}
	path, err := filepath.Abs(path) // SQLite would take the first folder of a relative path for a host name
	if err != nil {
		return nil, err
	}
	s := &Store{Now: time.Now, path: path, decoding: semaphore.NewWeighted(decodingBytes)}
	if s.read, err = sql.Open("sqlite3", dsn(path, "ro", "")); err != nil {
		return nil, err
	}
	have, err := version(ctx, s.read)
	if errors.Is(explain(err), ErrReadOnly) && isSingleFile(path) {
		s.Close()
		if s.read, err = sql.Open("sqlite3", dsn(path, "ro", "immutable=1")); err != nil {
			return nil, err
		}
		have, err = version(ctx, s.read)
	}
	if err == nil && have == 0 {
		err = ErrForeign
	}
	if err != nil {
		s.Close()
		return nil, explain(err)
	}
	return s, nil
}

// isSingleFile reports whether a database has no log beside it, as it does while in use. In a
// read-only directory SQLite must be told that such a file does not change.
func isSingleFile(path string) bool {
	_, err := os.Lstat(path + "-wal")
	return errors.Is(err, fs.ErrNotExist)
}

// copyTo writes a snapshot of the database to a new file atomically.
func (s *Store) copyTo(ctx context.Context, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s exists already and is not overwritten: choose another name", file)
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".partial-*") // readable by its owner only
	if err != nil {
		return fileError(err)
	}
	partial := f.Name()
	defer func() {
		f.Close()
		os.Remove(partial)
	}()
	if _, err := s.read.ExecContext(ctx, `VACUUM INTO ?`, partial); err != nil {
		return fmt.Errorf("copy of %s: %w", s.path, explain(err))
	}
	if err := f.Sync(); err != nil {
		return fileError(err)
	}
	if os.Link(partial, file) != nil { // unlike a rename, a link never replaces a file, but not every file system has links
		if err := os.Rename(partial, file); err != nil {
			return fileError(err)
		}
	}
	return syncDir(filepath.Dir(file))
}

// syncDir flushes the entries of a directory to disk, if the system supports that.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some systems can sync only files
	return d.Close()
}

// same reports whether two paths refer to the same file.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// Backups configures periodic copies of the database in a directory, named by their time.
type Backups struct {
	Dir   string
	Every time.Duration
	Keep  int // number of backups kept
}

// backupName is the time layout of the name of a backup, in UTC.
const backupName = "marginlab-20060102-150405.db"

// list returns the times of the existing backups, newest first.
func (b Backups) list() (made []time.Time, err error) {
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		return nil, fileError(err)
	}
	for _, e := range entries {
		if at, err := time.Parse(backupName, e.Name()); err == nil && e.Type().IsRegular() {
			made = append(made, at)
		}
	}
	slices.SortFunc(made, func(a, b time.Time) int { return b.Compare(a) })
	return made, nil
}

// Newest returns the time of the newest backup, zero if there is none.
func (b Backups) Newest() (time.Time, error) {
	made, err := b.list()
	if err != nil || len(made) == 0 {
		return time.Time{}, err
	}
	return made[0], nil
}

// Wait returns the time until the next backup is due, 0 if it is due now.
func (b Backups) Wait(now time.Time) (time.Duration, error) {
	newest, err := b.Newest()
	if err != nil || newest.IsZero() || newest.After(now) { // the clock was ahead
		return 0, err
	}
	return max(0, b.Every-now.Sub(newest)), nil
}

// BackUp makes a backup, deletes surplus old ones, and returns the new file.
func (s *Store) BackUp(ctx context.Context, b Backups) (file string, err error) {
	now := s.Now().UTC().Truncate(time.Second)
	file = filepath.Join(b.Dir, now.Format(backupName))
	if _, err := Backup(ctx, filepath.Dir(s.path), file); err != nil {
		return "", err
	}
	made, err := b.list()
	if err != nil {
		return file, err
	}
	made = slices.DeleteFunc(made, now.Equal) // keep the new one even if the clock is wrong
	for _, at := range made[min(len(made), max(0, b.Keep-1)):] {
		if err := os.Remove(filepath.Join(b.Dir, at.Format(backupName))); err != nil {
			return file, fmt.Errorf("old backup not deleted: %w", err)
		}
	}
	return file, nil
}
