//go:build cgo

package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/mattn/go-sqlite3"
)

// explain wraps SQLite's error codes in the matching Error.
func explain(err error) error {
	var se sqlite3.Error
	if !errors.As(err, &se) {
		return err
	}
	var fault *Error
	switch se.Code {
	case sqlite3.ErrInterrupt:
		return context.Canceled
	case sqlite3.ErrFull:
		fault = ErrFull
	case sqlite3.ErrReadonly, sqlite3.ErrPerm, sqlite3.ErrCantOpen:
		fault = ErrReadOnly
	case sqlite3.ErrIoErr:
		fault = ErrDisk
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		fault = ErrBusy
	case sqlite3.ErrCorrupt, sqlite3.ErrNotADB:
		fault = ErrNotDatabase
	default:
		return err
	}
	return fmt.Errorf("%w (%w)", fault, err)
}
