package rows

import (
	"sync"
	"unsafe"
)

// Memory holds the cached rows of a training, allocated when first needed. The rows of successive
// parts overwrite each other.
type Memory[T Real] struct {
	entries []T
	Free    func() // releases the memory
}

// NewMemory returns uninitialised memory for rows of m points: at most the given number of bytes,
// but at least 2 rows and at most m. It comes from pool, or from the system if pool is nil.
func NewMemory[T Real](pool *Pool, m int, bytes int64) Memory[T] {
	n := int64(Padded(m))
	var v T
	entry := int64(unsafe.Sizeof(v))
	return newMemory[T](pool, int(min(max(bytes/entry, 2*n), int64(m)*n)))
}

// Scratch returns uninitialised memory for n numbers and a function that releases it.
func Scratch(n int) (numbers []float64, release func()) {
	m := newMemory[float64](nil, n)
	return m.entries, m.Free
}

// newMemory returns memory for so many entries.
func newMemory[T Real](pool *Pool, size int) Memory[T] {
	var v T
	entry := int(unsafe.Sizeof(v))
	block := pool.take(size * entry)
	if block == nil {
		room := borrow((size*entry + 7) / 8)
		return Memory[T]{unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(*room))), size), func() {
			if room != nil {
				spare.Put(room)
			}
			room = nil // a second call has no effect
		}}
	}
	return Memory[T]{unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(block))), size), func() { pool.put(block) }}
}

// borrow returns so many words of Go's own memory, from a former training if possible: small
// trainings follow each other by the hundred while a user moves a slider.
func borrow(words int) *[]uint64 {
	if room, _ := spare.Get().(*[]uint64); room != nil && len(*room) >= words {
		return room
	}
	room := make([]uint64, words)
	return &room
}

// spare holds the memory of former trainings.
var spare sync.Pool // of *[]uint64

// Pool lends memory to one training after another, as the first use of a page costs more than
// overwriting it. It holds one block per concurrent training. The zero value is ready to use, and
// its methods are safe for concurrent use.
type Pool struct {
	mu   sync.Mutex
	idle [][]byte
}

// take returns a block of at least so many bytes, or nil if none is available outside Go's own
// memory.
func (p *Pool) take(bytes int) []byte {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if last := len(p.idle) - 1; last >= 0 {
			block := p.idle[last]
			p.idle = p.idle[:last]
			if len(block) >= bytes {
				return block
			}
			release(block)
		}
	}
	return reserve(bytes)
}

// put returns a block obtained from take.
func (p *Pool) put(block []byte) {
	if p == nil {
		release(block)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, block)
}

// Free releases all blocks that are not lent.
func (p *Pool) Free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, block := range p.idle {
		release(block)
	}
	p.idle = nil
}

// capacity returns the number of rows of length n that fit.
func (m Memory[T]) capacity(n int) int { return len(m.entries) / n }

// row returns the memory of the i-th row of length n.
func (m Memory[T]) row(i, n int) []T { return m.entries[i*n:][:n:n] }

// InSingle returns the same memory for rows in single precision.
func InSingle(m Memory[float64]) Memory[float32] {
	entries := (*float32)(unsafe.Pointer(unsafe.SliceData(m.entries)))
	return Memory[float32]{unsafe.Slice(entries, 2*len(m.entries)), m.Free}
}

// Whole allocates m padded rows in Go's own memory.
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
