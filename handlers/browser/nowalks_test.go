//go:build !walks

package browser

const walks = false
