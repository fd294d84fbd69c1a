//go:build linux || darwin || freebsd

package store

import "golang.org/x/sys/unix"

// diskSpace returns how many bytes of a file system this program may still write, and its size.
func diskSpace(dir string) (free, total int64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		return 0, 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), int64(fs.Blocks) * int64(fs.Bsize), nil //nolint:unconvert // the types differ among systems
}
