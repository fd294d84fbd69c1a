//go:build !linux

package rows

func reserve(int) []byte { return nil }

func release([]byte) {}

func hugePages([]byte) {}
