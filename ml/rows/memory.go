package rows

import (
	"sync"
	"unsafe"
)

// Memory holds the cached rows. It is taken from the system when
// the rows need it, and stays with the training: the rows of one part after the
// other are written over each other.
type Memory[T Real] struct {
	entries []T
	Free    func() // gives it back
}

// NewMemory returns memory for rows of m points, which may hold anything: of at most so
// many bytes, but of at least 2 rows and of no more than there are. It is lent by pool,
// or the system's when that is nil.
func NewMemory[T Real](pool *Pool, m int, bytes int64) Memory[T] {
	n := int64(Padded(m))
	var v T
	entry := int64(unsafe.Sizeof(v))
	size := int(min(max(bytes/entry, 2*n), int64(m)*n))
	block := pool.take(size * int(entry))
	if block == nil {
		room := borrow((size*int(entry) + 7) / 8)
		return Memory[T]{unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(*room))), size), func() {
			if room != nil {
				spare.Put(room)
			}
			room = nil // what is given back twice is lent once
		}}
	}
	return Memory[T]{unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(block))), size), func() { pool.put(block) }}
}

// borrow returns so many words of Go's own memory, those of a former training where there are
// any: small trainings follow each other by the hundred while somebody moves a slider.
func borrow(words int) *[]uint64 {
	if room, _ := spare.Get().(*[]uint64); room != nil && len(*room) >= words {
		return room
	}
	room := make([]uint64, words)
	return &room
}

// spare has what former trainings have given back.
var spare sync.Pool // of *[]uint64

// Pool lends memory to one training after the other, as the first use of a page costs
// more than writing to it again. It holds one block for each training that ran at the same
// time as others. The zero value is ready, and its methods may be called from several
// goroutines at once.
type Pool struct {
	mu   sync.Mutex
	idle [][]byte
}

// take returns a block of so many bytes at least, nil when there is none to be had
// outside of Go's own memory.
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

// put takes back what take has returned.
func (p *Pool) put(block []byte) {
	if p == nil {
		release(block)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = append(p.idle, block)
}

// Free gives back to the system what is not lent.
func (p *Pool) Free() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, block := range p.idle {
		release(block)
	}
	p.idle = nil
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
