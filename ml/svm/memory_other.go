//go:build !linux

package svm

func reserve(int) ([]byte, func()) { return nil, nil }

func hugePages([]byte) {}
