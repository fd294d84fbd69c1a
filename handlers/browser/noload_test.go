//go:build !load

package browser

const (
	load  = false
	kills = 3
)
