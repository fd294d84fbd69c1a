//go:build !linux

package rows

func reserve(int) ([]byte, func()) { return nil, nil }

func hugePages([]byte) {}
