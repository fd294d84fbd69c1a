// Package rows is what solvers share that go through the rows of a kernel matrix over and
// over: a cache of rows in bounded memory, and the loops over them.
package rows

import "unsafe"

// Cache holds the rows of a matrix that were used last, within the memory given.
type Cache[T Real] struct {
	fill   func(dst []T, i int) error // computes row i
	rows   [][]T                      // nil where not held
	Whole  [][]T                      // all rows, held elsewhere; nil: they are not
	Memory Memory[T]

	// The held rows in a ring from the last used to the longest unused, with
	// entry M as its anchor.
	next, prev []int
	size, held int // rows that may be held, and that are

	// Memory costs time as well, see startBytes. So size starts small, and doubles when as
	// many rows have been computed a second time.
	seen  []bool
	again int
}

// NewCache holds padded rows of length m in memory.
func NewCache[T Real](m int, memory Memory[T], fill func(dst []T, i int) error) *Cache[T] {
	c := &Cache[T]{
		fill: fill, rows: make([][]T, m), Memory: memory,
		next: make([]int, m+1), prev: make([]int, m+1),
		seen: make([]bool, m),
	}
	var v T
	c.size = c.room(max(2, startBytes/(Padded(m)*int(unsafe.Sizeof(v)))))
	c.next[m], c.prev[m] = m, m
	return c
}

// room limits n rows to those that there are and that memory has room for.
func (c *Cache[T]) room(n int) int {
	m := len(c.rows)
	return min(n, m, c.Memory.capacity(Padded(m)))
}

// Hold makes room for n rows and reports whether there is.
func (c *Cache[T]) Hold(n int) bool {
	c.size = max(c.size, c.room(n))
	return n <= c.size || c.Whole != nil
}

// Drop forgets all rows.
func (c *Cache[T]) Drop() {
	clear(c.rows)
	clear(c.seen)
	anchor := len(c.rows)
	c.next[anchor], c.prev[anchor], c.held = anchor, anchor, 0
}

// Row returns row i. It stays valid until two other rows have been asked for.
func (c *Cache[T]) Row(i int) ([]T, error) {
	if c.Whole != nil {
		return c.Whole[i], nil
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
		r = c.Memory.row(c.held, Padded(len(c.rows)))
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

func (c *Cache[T]) link(i int) {
	anchor := len(c.rows)
	first := c.next[anchor]
	c.next[anchor], c.prev[i] = i, anchor
	c.next[i], c.prev[first] = first, i
}

func (c *Cache[T]) unlink(i int) {
	c.next[c.prev[i]], c.prev[c.next[i]] = c.next[i], c.prev[i]
}

// startBytes is the initial size of a cache. The first use of a page of memory takes as long as some hundred values of a kernel in
// the plane, so that a cache starts with this much and grows when it proves too small. On
// five classes of 2000 points one against one, 64 MiB took a sixth less processor time
// than 4 MiB where nearly all points were support vectors, and as much where few were.
const startBytes = 64 << 20
