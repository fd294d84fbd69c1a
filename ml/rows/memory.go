package rows

import "unsafe"

// Memory is what the cached rows are kept in. It is taken from the system when
// the rows need it, and stays with the training: the rows of one part after the
// other are written over each other.
type Memory[T Real] struct {
	entries []T
	Free    func() // gives it back
}

// NewMemory returns memory for rows of m points: of at most so many bytes, but of
// at least 2 rows and of no more than there are.
func NewMemory[T Real](m int, bytes int64) Memory[T] {
	n := int64(Padded(m))
	var v T
	entry := int64(unsafe.Sizeof(v))
	size := int(min(max(bytes/entry, 2*n), int64(m)*n))
	if block, free := reserve(size * int(entry)); block != nil {
		return Memory[T]{unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(block))), size), free}
	}
	return Memory[T]{make([]T, size), func() {}}
}

// capacity is the number of rows of length n that there is room for.
func (m Memory[T]) capacity(n int) int { return len(m.entries) / n }

// row returns the place of the i-th row of length n.
func (m Memory[T]) row(i, n int) []T { return m.entries[i*n:][:n:n] }

// InSingle is the same memory for rows in single precision.
func InSingle(m Memory[float64]) Memory[float32] {
	entries := (*float32)(unsafe.Pointer(unsafe.SliceData(m.entries)))
	return Memory[float32]{unsafe.Slice(entries, 2*len(m.entries)), m.Free}
}

// Whole makes room for m padded rows, in Go's own memory.
func Whole[T Real](m int) [][]T {
	n := Padded(m)
	block := make([]T, m*n)
	hugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(block))), len(block)*int(unsafe.Sizeof(block[0]))))
	all := make([][]T, m)
	for i := range all {
		all[i] = block[i*n:][:n:n]
	}
	return all
}
