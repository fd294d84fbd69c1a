//go:build !load

package browser

const kills = 3
