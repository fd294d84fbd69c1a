package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// allocate gives a file room on the disk, which the system keeps for it without writing there.
func allocate(f *os.File, size int64) error { return unix.Fallocate(int(f.Fd()), 0, 0, size) }
