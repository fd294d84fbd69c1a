//go:build unix

package cmdline

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth returns how many columns the terminal f has; false where it is none.
func terminalWidth(f *os.File) (columns int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 0, false
	}
	return int(size.Col), true
}
