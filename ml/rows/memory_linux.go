package rows

import "syscall"

// reserve returns memory outside the Go heap that is allocated on first use, or nil if that fails or
// bytes is too small to be worth it. On the heap, a large block would be cleared and delay the
// collector. reserve asks for huge pages, since the first use of a small page costs more than
// computing its contents.
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

// release frees the memory returned by reserve.
func release(block []byte) { _ = syscall.Munmap(block) }

// hugePages requests huge pages for a large unused block.
func hugePages(block []byte) {
	_ = syscall.Madvise(block, syscall.MADV_HUGEPAGE) // a failure only costs time
}
