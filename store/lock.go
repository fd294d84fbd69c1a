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

	"marginlab/ml/lists"
)

// Lock reserves a data directory for one process. Servers and restores take it;
// readers and single transactions do not. The operating system releases it when the
// process ends in any way. On a network file system it is as reliable as the file
// system's locks, which SQLite relies on, too.
type Lock struct {
	flock  *flock.Flock
	holder holder
}

// holder describes the process that holds the lock, as written in the lock file.
type holder struct {
	Command string    `json:"command"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Address string    `json:"address,omitempty"` // listening address
	Since   time.Time `json:"since"`
}

// TakeLock takes the lock of dir, creating the directory if necessary. command is the
// running command: "serve". Errors name the directory; ErrHeld also names the holder.
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
		return nil, fmt.Errorf("data directory %s: %w", dir, fileError(err))
	}
	return l, nil
}

// At records the holder's listening address for the message of ErrHeld.
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

// Release releases the lock. The file stays: deleting it would let two processes hold the lock.
func (l *Lock) Release() error { return l.flock.Unlock() }

// heldBy describes the holder according to the lock file.
func heldBy(path string) string {
	text, err := os.ReadFile(path)
	var h holder
	if err != nil || json.Unmarshal(text, &h) != nil {
		return ""
	}
	where := lists.Either(h.Address == "", "", " at "+h.Address)
	return fmt.Sprintf(" It is marginlab %s%s, process %d on %s, since %s.", h.Command, where, h.PID, h.Host, h.Since.Format("2 January 2006, 15:04:05 MST"))
}

// fileError wraps errors of the operating system in the matching Error.
func fileError(err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%w)", ErrReadOnly, err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w (%w)", ErrFull, err)
	}
	return err
}
