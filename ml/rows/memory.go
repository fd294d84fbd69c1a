package rows

import (
	"sync"
	"unsafe"
)

// Memory holds the cached rows of a training, allocated on first use. Successive parts of a training
// use the same memory.
type Memory[T Real] struct {
	entries []T
	scratch *Memory[float64]
	Free    func() // releases the memory
}

// NewMemory returns uninitialised memory of the given number of bytes for rows of m points, but at
// least 2 and at most m rows. It comes from pool, or from the system if pool is nil.
func NewMemory[T Real](pool *Pool, m int, bytes int64) Memory[T] {
	n := int64(Padded(m))
	var v T
	entry := int64(unsafe.Sizeof(v))
	memory, scratch := newMemory[T](pool, int(min(max(bytes/entry, 2*n), int64(m)*n))), &Memory[float64]{Free: func() {}}
	free := memory.Free
	memory.scratch = scratch
	memory.Free = func() {
		free()
		scratch.Free()
		scratch.Free = func() {}
	}
	return memory
}

// Scratch returns memory for n more numbers until the next call. It is uninitialised, and kept until
// the memory is released, as a training asks for it again and again.
func (m Memory[T]) Scratch(n int) []float64 {
	if held := len(m.scratch.entries); n > held {
		m.scratch.Free()
		*m.scratch = newMemory[float64](nil, max(n, 2*held))
	}
	return m.scratch.entries[:n]
}

// newMemory returns memory for size entries.
func newMemory[T Real](pool *Pool, size int) Memory[T] {
	var v T
	entry := int(unsafe.Sizeof(v))
	block := pool.take(size * entry)
	if block == nil {
		words := borrow((size*entry + 7) / 8)
		return Memory[T]{entries: unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(*words))), size), Free: func() {
			if words != nil {
				spare.Put(words)
			}
			words = nil // a second call has no effect
		}}
	}
	return Memory[T]{entries: unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(block))), size), Free: func() { pool.put(block) }}
}

// borrow returns at least n words of the Go heap, reused from an earlier training if possible: while
// a user moves a slider, small trainings follow each other by the hundred.
func borrow(n int) *[]uint64 {
	if words, _ := spare.Get().(*[]uint64); words != nil && len(*words) >= n {
		return words
	}
	words := make([]uint64, n)
	return &words
}

// spare holds the memory of earlier trainings.
var spare sync.Pool // of *[]uint64

// Pool lends memory to one training after another, since the first use of a page costs more than
// overwriting it. It holds one block per concurrent training. The zero value is ready to use, and
// its methods are safe for concurrent use.
type Pool struct {
	mu   sync.Mutex
	idle [][]byte
}

// take returns a block of at least the given number of bytes outside the Go heap, or nil if none is
// available.
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

// Free releases all blocks that are not in use.
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
	return Memory[float32]{unsafe.Slice(entries, 2*len(m.entries)), m.scratch, m.Free}
}

// Whole allocates m padded rows on the Go heap.
func Whole[T Real](m int) [][]T {
	all, _ := Memory[T]{entries: Zeros[T](m * Padded(m))}.Whole(m)
	return all
}

// Zeros allocates n zeros on the Go heap. Many of them are in huge pages, whose first use costs less.
func Zeros[T Real](n int) []T {
	v := make([]T, n)
	if bytes := n * int(unsafe.Sizeof(T(0))); bytes >= 1<<20 {
		hugePages(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), bytes))
	}
	return v
}

// Whole returns the memory of n padded rows of n points and the rest, which must not be freed.
func (m Memory[T]) Whole(n int) (all [][]T, rest Memory[T]) {
	all = make([][]T, n)
	for i := range all {
		all[i] = m.row(i, Padded(n))
	}
	return all, Memory[T]{entries: m.entries[n*Padded(n):], scratch: m.scratch}
}
