//go:build !unix

package cmdline

import "os"

// terminalWidth returns false: there is no telling.
func terminalWidth(*os.File) (columns int, ok bool) { return 0, false }
