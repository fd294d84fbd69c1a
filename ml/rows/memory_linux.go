package rows

import "syscall"

// reserve returns memory that takes none from the system before it is used, nil when the
// system has none to give, or for too little to be worth it. It lies outside of Go's
// heap, as a large block there would have the collector wait, and may be cleared, used
// or not. Huge pages are asked for, since the first use of a small page costs more than
// computing what is written there; the system begins with one where they are whole.
func reserve(bytes int) []byte {
	if bytes < 1<<20 {
		return nil
	}
	const page = 2 << 20
	bytes = (bytes + page - 1) / page * page
	block, err := syscall.Mmap(-1, 0, bytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil
	}
	hugePages(block)
	return block
}

// release gives back what reserve has returned.
func release(block []byte) { _ = syscall.Munmap(block) }

// hugePages asks for huge pages under a large block that has not been written to yet.
func hugePages(block []byte) {
	_ = syscall.Madvise(block, syscall.MADV_HUGEPAGE) // refused, it costs time only
}
