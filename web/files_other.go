//go:build !unix

package web

// openFiles returns most: this system sets no limit.
func openFiles(most int) int { return most }
