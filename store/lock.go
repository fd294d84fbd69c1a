package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gofrs/flock"
)

// Lock keeps a data directory for one program. A server and a restoration take it;
// what reads, or writes a transaction at a time, does not. The operating system
// releases it when the program ends, however it ends. On a network file system it
// holds among computers as far as that keeps locks, which SQLite asks of it anyway.
type Lock struct {
	flock  *flock.Flock
	holder holder
}

// holder describes the program that holds the lock, as its file has it.
type holder struct {
	Command string    `json:"command"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Address string    `json:"address,omitempty"` // where it listens
	Since   time.Time `json:"since"`
}

// TakeLock takes the lock of dir, which is made when it is missing. command is what
// the program was started to do: "serve". Its errors name the directory, ErrHeld the
// holder as well.
func TakeLock(dir, command string) (*Lock, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	l := &Lock{flock.New(filepath.Join(dir, "marginlab.lock"), flock.SetFlag(os.O_CREATE|os.O_RDWR)), holder{Command: command, PID: os.Getpid(), Since: time.Now()}}
	l.holder.Host, _ = os.Hostname() // for the reader of the file only
	if err = os.MkdirAll(dir, 0o700); err == nil {
		var taken bool
		if taken, err = l.flock.TryLock(); err == nil && !taken {
			err = fmt.Errorf("%w%s", ErrHeld, heldBy(l.flock.Path()))
		}
	}
	if err == nil {
		err = l.write()
	}
	if err != nil {
		l.Release()
		return nil, fmt.Errorf("data directory %s: %w", dir, ofFiles(err))
	}
	return l, nil
}

// At notes where the holder listens, for those who ask in vain.
func (l *Lock) At(address string) error {
	l.holder.Address = address
	return l.write()
}

func (l *Lock) write() error {
	text, err := json.Marshal(l.holder)
	if err != nil {
		return err
	}
	return os.WriteFile(l.flock.Path(), append(text, '\n'), 0o600)
}

// Release lets others take the lock. The file stays: to delete it would let two take
// it.
func (l *Lock) Release() error { return l.flock.Unlock() }

// heldBy tells what the lock file does of its holder.
func heldBy(path string) string {
	text, err := os.ReadFile(path)
	var h holder
	if err != nil || json.Unmarshal(text, &h) != nil {
		return ""
	}
	where := ""
	if h.Address != "" {
		where = " at " + h.Address
	}
	return fmt.Sprintf(" It is marginlab %s%s, process %d on %s, since %s.", h.Command, where, h.PID, h.Host, h.Since.Format("2 January 2006, 15:04:05 MST"))
}

// ofFiles wraps what the operating system says of a file in the fault it means.
func ofFiles(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%w)", ErrReadOnly, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w (%w)", ErrFull, err)
	}
	return err
}
