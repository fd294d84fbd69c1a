//go:build unix

package cmdline

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalWidth returns the number of columns of the terminal f, false if f is not a terminal.
func terminalWidth(f *os.File) (columns int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Col == 0 {
		return 0, false
	}
	return int(size.Col), true
}
