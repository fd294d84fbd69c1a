//go:build !race

package browser

const race = false
