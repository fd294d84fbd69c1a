//go:build !linux

package store

import (
	"errors"
	"os"
)

// allocate is not supported on this system.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }
