//go:build linux || darwin || freebsd

package store

import "golang.org/x/sys/unix"

// diskSpace returns the bytes that this program may still write to a file system, and its size.
func diskSpace(dir string) (free, total int64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), int64(fs.Blocks) * int64(fs.Bsize), nil //nolint:unconvert // the types differ among systems
}
