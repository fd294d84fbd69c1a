package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"
)

// Backup copies the database of a data directory into a new file, while servers may
// be at work on it: the copy holds everything that was saved before it began, and
// nothing by half. It is one file without a log beside it, and takes no more room
// than its contents. A database of another program, a newer or a damaged one is an
// error, and leaves no copy.
func Backup(ctx context.Context, dir, file string) (Contents, error) {
	path := DatabaseIn(dir)
	s, err := look(ctx, path)
	if err != nil {
		return Contents{}, fmt.Errorf("database %s: %w", path, err)
	}
	defer s.Close()
	if err := s.copyTo(ctx, file); err != nil {
		return Contents{}, err
	}
	return contentsOf(ctx, file)
}

// Restore puts the database in file, as Backup writes it, into a data directory, and
// returns where what was there before lies now, if anything was. It takes the lock
// of the directory. A file that is damaged, of another program or newer is refused;
// then nothing is changed.
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
		return "", have, fmt.Errorf("%s is the database of the directory itself: name a backup of it", file)
	}
	s, err := look(ctx, file)
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
	if err := os.Remove(fresh); err != nil && !errors.Is(err, fs.ErrNotExist) { // what a restoration that was broken off has left
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

// putAside renames a database, and its log if there is one left, and returns its new
// path; empty when there is none.
func putAside(ctx context.Context, path string, now time.Time) (aside string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	// A database that was closed well has no log. One that was not is opened and closed
	// for that; should it be damaged, the log goes along.
	if db, err := sql.Open("sqlite3", dsn(path, "rw", "")); err == nil {
		_, _ = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
		db.Close()
	}
	if aside, err = unused(path + ".before-" + now.Format("20060102-150405")); err != nil {
		return "", err
	}
	for _, part := range []string{"-shm", "-wal", ""} { // a log without a database is no danger to the next one; the other way round it might be
		err := os.Rename(path+part, aside+part)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return aside, nil
}

// unused is a path, or the path with a number, at which there is nothing: of two databases
// that are put aside within a second, none takes the place of the other.
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
	return fmt.Sprintf("%s and %s, %s", number(c.Datasets, "data set"), number(c.Runs, "run"), Size(c.Bytes))
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

// Size writes a number of bytes.
func Size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.4g GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.4g MB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.3g kB", float64(n)/(1<<10))
}

// contentsOf counts the contents of a database.
func contentsOf(ctx context.Context, path string) (c Contents, err error) {
	s, err := look(ctx, path)
	if err != nil {
		return c, fmt.Errorf("database %s: %w", path, err)
	}
	defer s.Close()
	err = s.view(ctx, func(tx *transaction) error {
		return tx.one(`SELECT (SELECT count(*) FROM datasets WHERE workspace NOT GLOB 'deleted *'), (SELECT count(*) FROM runs WHERE workspace NOT GLOB 'deleted *'), page_count * page_size FROM pragma_page_count, pragma_page_size`).
			Scan(&c.Datasets, &c.Runs, &c.Bytes)
	})
	return c, err
}

// look opens a database that is there for reading, as it is: nothing is made, nor
// brought up to date.
func look(ctx context.Context, path string) (*Store, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrNotExist // without the path, which those who call tell
	}
	path, err := filepath.Abs(path) // SQLite would take the first folder of another for a computer's name
	if err != nil {
		return nil, err
	}
	s := &Store{Now: time.Now, path: path, decoding: semaphore.NewWeighted(decodingBytes)}
	if s.read, err = sql.Open("sqlite3", dsn(path, "ro", "")); err != nil {
		return nil, err
	}
	have, err := version(ctx, s.read)
	if errors.Is(explain(err), ErrReadOnly) && isAlone(path) {
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

// isAlone tells that all of a database is in its file: no log is beside it, as there is while
// it is in use. Where its directory cannot be written SQLite reads it only if it is told that
// nobody changes it.
func isAlone(path string) bool {
	_, err := os.Lstat(path + "-wal")
	return errors.Is(err, fs.ErrNotExist)
}

// copyTo writes one state of the database into a new file, which is there whole or
// not at all.
func (s *Store) copyTo(ctx context.Context, file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s is there already: it is not overwritten; choose another name", file)
	}
	f, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".partial-*") // for nobody else to read
	if err != nil {
		return ofFiles(err)
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
		return ofFiles(err)
	}
	if os.Link(partial, file) != nil { // which, unlike renaming, replaces nothing; but not every file system has links
		if err := os.Rename(partial, file); err != nil {
			return ofFiles(err)
		}
	}
	return syncDir(filepath.Dir(file))
}

// syncDir writes the names in a directory to the disk, where that can be done.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync() // some systems have it for files alone
	return d.Close()
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}
