package svm

import "unsafe"

// memory is what the cached rows are kept in. It is taken from the system in
// chunks as the rows need it, and stays with the training: the rows of one part
// after the other are written over each other.
type memory[T real] struct {
	chunks [][]T
	size   int // entries in a chunk
	limit  int // chunks
}

// chunkBytes is large enough for the huge pages of the operating system, without
// which the first use of each page costs more than the row that is written there.
const chunkBytes = 16 << 20

// newMemory returns memory for rows of m points: at most so many bytes, but at
// least 2 rows and no more than there are.
func newMemory[T real](m int, bytes int64) *memory[T] {
	n := int64(padded(m))
	var v T
	entry := int64(unsafe.Sizeof(v))
	total := min(max(bytes/entry, 2*n), int64(m)*n)
	size := min(total, max(chunkBytes/entry, 2*n))
	return &memory[T]{size: int(size), limit: int(total / size)}
}

// capacity is the number of rows of length n that there is room for.
func (m *memory[T]) capacity(n int) int { return m.size / n * m.limit }

// row returns the place of the i-th row of length n.
func (m *memory[T]) row(i, n int) []T {
	inChunk := m.size / n
	c := i / inChunk
	for len(m.chunks) <= c {
		chunk := make([]T, m.size)
		adviseHugePages(unsafe.Pointer(unsafe.SliceData(chunk)), uintptr(m.size)*unsafe.Sizeof(chunk[0]))
		m.chunks = append(m.chunks, chunk)
	}
	return m.chunks[c][i%inChunk*n:][:n:n]
}
