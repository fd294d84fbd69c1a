//go:build race

package browser

// race builds the program with the race detector when the tests run with it.
const race = true
