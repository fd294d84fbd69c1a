package store

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// Backups describes periodic copies of the database in a directory, named by their time.
type Backups struct {
	Dir   string
	Every time.Duration
	Keep  int // newest ones; older ones are deleted
}

// backupName is the time layout of the name of a backup, in UTC.
const backupName = "marginlab-20060102-150405.db"

// list returns the times of the backups that are there, the newest first.
func (b Backups) list() (made []time.Time, err error) {
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		return nil, ofFiles(err)
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

// Wait returns how long it is until the next backup is due at a time, 0 if it is.
func (b Backups) Wait(now time.Time) (time.Duration, error) {
	newest, err := b.Newest()
	if err != nil || newest.IsZero() || newest.After(now) { // of a clock that was ahead
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
			return file, fmt.Errorf("an old backup is still there: %w", err)
		}
	}
	return file, nil
}
