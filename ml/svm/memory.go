package svm

import "unsafe"

// memory is what the cached rows are kept in. It is taken from the system when
// the rows need it, and stays with the training: the rows of one part after the
// other are written over each other.
type memory[T real] struct {
	entries []T
	free    func()
}

// newMemory returns memory for rows of m points: of at most so many bytes, but of
// at least 2 rows and of no more than there are.
func newMemory[T real](m int, bytes int64) memory[T] {
	n := int64(padded(m))
	var v T
	entry := int64(unsafe.Sizeof(v))
	size := int(min(max(bytes/entry, 2*n), int64(m)*n))
	if block, free := reserve(size * int(entry)); block != nil {
		return memory[T]{unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(block))), size), free}
	}
	return memory[T]{make([]T, size), func() {}}
}

// capacity is the number of rows of length n that there is room for.
func (m memory[T]) capacity(n int) int { return len(m.entries) / n }

// row returns the place of the i-th row of length n.
func (m memory[T]) row(i, n int) []T { return m.entries[i*n:][:n:n] }

// inSingle is the same memory for rows in single precision.
func inSingle(m memory[float64]) memory[float32] {
	entries := (*float32)(unsafe.Pointer(unsafe.SliceData(m.entries)))
	return memory[float32]{unsafe.Slice(entries, 2*len(m.entries)), m.free}
}
