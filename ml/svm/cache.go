package svm

// cache holds the rows of a matrix that were used last, within a bound.
type cache struct {
	fill func(dst []float64, i int) error // computes row i
	rows [][]float64                      // nil where not held

	// The held rows in a ring from the last used to the longest unused, with
	// entry M as its anchor.
	next, prev []int
	size, room int // rows that may be held, and that may still be added
}

// newCache holds rows of length m: at least 2, at most as many as fit in size bytes.
func newCache(m int, size int64, fill func(dst []float64, i int) error) *cache {
	n := int(min(max(size/int64(8*m), 2), int64(m)))
	c := &cache{
		fill: fill, rows: make([][]float64, m),
		next: make([]int, m+1), prev: make([]int, m+1),
		size: n, room: n,
	}
	c.next[m], c.prev[m] = m, m
	return c
}

// row returns row i. It stays valid until two other rows have been asked for.
func (c *cache) row(i int) ([]float64, error) {
	if r := c.rows[i]; r != nil {
		c.unlink(i)
		c.link(i)
		return r, nil
	}
	var r []float64
	if c.room > 0 {
		c.room--
		r = make([]float64, len(c.rows))
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

func (c *cache) link(i int) {
	anchor := len(c.rows)
	first := c.next[anchor]
	c.next[anchor], c.prev[i] = i, anchor
	c.next[i], c.prev[first] = first, i
}

func (c *cache) unlink(i int) {
	c.next[c.prev[i]], c.prev[c.next[i]] = c.next[i], c.prev[i]
}
