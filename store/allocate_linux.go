package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate reserves disk space for a file without writing to it.
func allocate(f *os.File, size int64) error { return unix.Fallocate(int(f.Fd()), 0, 0, size) }
