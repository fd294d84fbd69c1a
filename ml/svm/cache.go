package svm

import "unsafe"

// cache holds the rows of a matrix that were used last, within the memory given.
type cache[T real] struct {
	fill   func(dst []T, i int) error // computes row i
	rows   [][]T                      // nil where not held
	whole  [][]T                      // all rows, held elsewhere; nil: they are not
	memory memory[T]

	// The held rows in a ring from the last used to the longest unused, with
	// entry M as its anchor.
	next, prev []int
	size, held int // rows that may be held, and that are

	// Memory costs time as well: the first use of a page takes as long as many
	// values of a kernel in the plane. So size starts small, and doubles when as
	// many rows have been computed a second time.
	seen  []bool
	again int
}

// newCache holds padded rows of length m in memory.
func newCache[T real](m int, memory memory[T], fill func(dst []T, i int) error) *cache[T] {
	c := &cache[T]{
		fill: fill, rows: make([][]T, m), memory: memory,
		next: make([]int, m+1), prev: make([]int, m+1),
		seen: make([]bool, m),
	}
	var v T
	c.size = c.room(max(2, startBytes/(padded(m)*int(unsafe.Sizeof(v)))))
	c.next[m], c.prev[m] = m, m
	return c
}

// room limits n rows to those that there are and that memory has room for.
func (c *cache[T]) room(n int) int {
	m := len(c.rows)
	return min(n, m, c.memory.capacity(padded(m)))
}

// hold makes room for n rows and reports whether there is.
func (c *cache[T]) hold(n int) bool {
	c.size = max(c.size, c.room(n))
	return n <= c.size || c.whole != nil
}

// drop forgets all rows.
func (c *cache[T]) drop() {
	clear(c.rows)
	clear(c.seen)
	anchor := len(c.rows)
	c.next[anchor], c.prev[anchor], c.held = anchor, anchor, 0
}

// row returns row i. It stays valid until two other rows have been asked for.
func (c *cache[T]) row(i int) ([]T, error) {
	if c.whole != nil {
		return c.whole[i], nil
	}
	if r := c.rows[i]; r != nil {
		c.unlink(i)
		c.link(i)
		return r, nil
	}
	if c.seen[i] {
		if c.again++; c.again >= c.size {
			c.size, c.again = c.room(2*c.size), 0
		}
	}
	c.seen[i] = true
	var r []T
	if c.held < c.size {
		r = c.memory.row(c.held, padded(len(c.rows)))
		c.held++
	} else {
		last := c.prev[len(c.rows)]
		c.unlink(last)
		r, c.rows[last] = c.rows[last], nil
	}
	if err := c.fill(r, i); err != nil {
		return nil, err // the end of the training, so that r need not be kept
	}
	c.rows[i] = r
	c.link(i)
	return r, nil
}

func (c *cache[T]) link(i int) {
	anchor := len(c.rows)
	first := c.next[anchor]
	c.next[anchor], c.prev[i] = i, anchor
	c.next[i], c.prev[first] = first, i
}

func (c *cache[T]) unlink(i int) {
	c.next[c.prev[i]], c.prev[c.next[i]] = c.next[i], c.prev[i]
}
