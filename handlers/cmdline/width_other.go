//go:build !unix

package cmdline

import "os"

// terminalWidth returns false: the width is unknown on this system.
func terminalWidth(*os.File) (columns int, ok bool) { return 0, false }
