package svm

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
)

// cache holds the rows of a matrix that were used last, within a bound.
type cache struct {
	k    Matrix
	rows [][]float64 // nil where not held

	// The held rows in a ring from the last used to the longest unused, with
	// entry M as its anchor.
	next, prev []int
	room       int // rows that may still be added
}

// newCache holds at least 2 rows and at most as many as fit in size bytes.
func newCache(k Matrix, size int64) *cache {
	m := k.Len()
	c := &cache{
		k: k, rows: make([][]float64, m),
		next: make([]int, m+1), prev: make([]int, m+1),
		room: int(min(max(size/int64(8*m), 2), int64(m))),
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
	c.k.Row(r, i)
	c.rows[i] = r
	c.link(i)
	// One sum tells that all entries are finite; only a sum that is not needs a look.
	if s := floats.Sum(r); math.IsNaN(s) || math.IsInf(s, 0) {
		for j, v := range r {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, notFinite(i, j, v)
			}
		}
	}
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

func notFinite(i, j int, v float64) error {
	return fmt.Errorf("svm: the kernel of points %d and %d is %g; scale the inputs or lower the kernel's parameters", i+1, j+1, v)
}
