// Package rows serves solvers that use the rows of a kernel matrix repeatedly: it has a cache of
// rows in bounded memory, and the loops over them.
package rows

import "unsafe"

// Cache holds the most recently used rows of a matrix in bounded memory.
type Cache[T Real] struct {
	fill   func(dst []T, i int) error // computes row i
	rows   [][]T                      // nil if not cached
	Whole  [][]T                      // all rows, stored elsewhere, or nil
	Memory Memory[T]

	// The cached rows form a ring from the most to the least recently used, with entry M as its
	// anchor.
	next, prev []int
	size, held int // maximal and current number of cached rows

	// Memory costs time as well, see startBytes. So size starts small and doubles once as many
	// rows have been recomputed.
	seen  []bool
	again int
}

// NewCache returns a cache of padded rows of length m in memory.
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

// room limits n to the number of rows and the capacity of the memory.
func (c *Cache[T]) room(n int) int {
	m := len(c.rows)
	return min(n, m, c.Memory.capacity(Padded(m)))
}

// Hold makes room for n rows if possible and reports whether it succeeded.
func (c *Cache[T]) Hold(n int) bool {
	c.size = max(c.size, c.room(n))
	return n <= c.size || c.Whole != nil
}

// Drop removes all rows.
func (c *Cache[T]) Drop() {
	clear(c.rows)
	clear(c.seen)
	anchor := len(c.rows)
	c.next[anchor], c.prev[anchor], c.held = anchor, anchor, 0
}

// Row returns row i. It stays valid until two other rows have been requested.
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
		return nil, err // the training ends, so r need not be kept
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

// startBytes is the initial size of a cache. The first use of a memory page costs as much as some
// hundred kernel values in the plane, so a cache starts small and grows when needed. On five
// classes of 2000 points, one-vs-one, 64 MiB took a sixth less processor time than 4 MiB if
// nearly all points were support vectors, and the same if few were.
const startBytes = 64 << 20
