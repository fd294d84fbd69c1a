//go:build !cgo

package simd

func best() Level { return Plain }
