//go:build !linux

package store

import (
	"errors"
	"os"
)

// allocate has no way here that all file systems know.
func allocate(*os.File, int64) error { return errors.ErrUnsupported }
