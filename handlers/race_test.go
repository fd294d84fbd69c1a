//go:build race

package handlers_test

// race tells that the race detector takes part, which takes memory of its own.
const race = true
