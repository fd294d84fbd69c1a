package svm

import (
	"syscall"
	"unsafe"
)

// adviseHugePages asks for huge pages where p, of so many bytes, holds whole ones.
// Should the system refuse, nothing is lost but time.
func adviseHugePages(p unsafe.Pointer, bytes uintptr) {
	const page = 2 << 20
	skip := -uintptr(p) % page
	if bytes < skip+page {
		return
	}
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), (bytes-skip)/page*page), syscall.MADV_HUGEPAGE)
}
