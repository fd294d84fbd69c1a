//go:build unix

package web

import "golang.org/x/sys/unix"

// openFiles returns the number of files this process may open, at most most.
func openFiles(most int) int {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return most
	}
	return int(min(limit.Cur, uint64(most))) //nolint:unconvert // the types differ among systems
}
