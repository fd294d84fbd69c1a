//go:build !linux

package svm

import "unsafe"

func adviseHugePages(unsafe.Pointer, uintptr) {}
