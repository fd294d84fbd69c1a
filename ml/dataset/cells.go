package dataset

import (
	"iter"
	"slices"
	"strings"
)

// cells holds the texts of a column in about as much memory as in the file. With few distinct
// texts it stores each once and a byte per row; otherwise it concatenates them.
type cells struct {
	distinct []string         // those that differ, mostDistinct at most
	place    map[string]uint8 // of them, once a search takes longer
	codes    []uint8          // of each row, a place in distinct

	text *strings.Builder // of all rows; nil: distinct and codes hold them
	ends []uint32         // of each row, in text

	expected int // rows, or 0
	skipped  int // rows above the first, which was a header

	known *facts // facts of many rows, from factsOf; nil after a change
}

// mostDistinct is the number of texts that a byte can index. If there are more, most take at least
// two characters and a separator in the file.
const mostDistinct = 256

// Len returns the number of rows.
func (c *cells) Len() int { return max(len(c.codes), len(c.ends)) - c.skipped }

// Cell returns the text of a row, counted from 0.
func (c *cells) Cell(i int) string {
	i += c.skipped
	if c.text == nil {
		return c.distinct[c.codes[i]]
	}
	from := uint32(0)
	if i > 0 {
		from = c.ends[i-1]
	}
	return c.text.String()[from:c.ends[i]]
}

// all iterates over the texts of the rows by number.
func (c *cells) all() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range c.Len() {
			if !yield(i, c.Cell(i)) {
				return
			}
		}
	}
}

// list returns the texts of the rows.
func (c *cells) list() []string {
	list := make([]string, c.Len())
	for i, s := range c.all() {
		list[i] = s
	}
	return list
}

// values iterates over the texts that occur, each once if few are distinct.
func (c *cells) values() iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := range c.counted() {
			if !yield(s) {
				return
			}
		}
	}
}

// counted iterates over the texts in the order of their first rows with their counts; if many are
// distinct, over the rows with count 1.
func (c *cells) counted() iter.Seq2[string, int] {
	return func(yield func(string, int) bool) {
		if c.text == nil {
			var rows [mostDistinct]int
			var order []uint8
			for _, k := range c.codes[c.skipped:] {
				if rows[k]++; rows[k] == 1 {
					order = append(order, k)
				}
			}
			for _, k := range order {
				if !yield(c.distinct[k], rows[k]) {
					return
				}
			}
			return
		}
		for _, s := range c.all() {
			if !yield(s, 1) {
				return
			}
		}
	}
}

// room makes some for another row, and for all that are expected once there are more than
// differ.
func (c *cells) room() {
	if len(c.codes) == cap(c.codes) && len(c.codes) >= 4*mostDistinct {
		c.codes = slices.Grow(c.codes, max(1, c.expected-len(c.codes)))
	}
}

// add appends a row.
func (c *cells) add(s string) {
	c.known = nil
	if c.text == nil {
		k, ok := c.find(s)
		if !ok && len(c.distinct) == mostDistinct {
			c.line()
			c.add(s)
			return
		}
		if !ok {
			k = uint8(len(c.distinct))
			c.distinct = append(c.distinct, strings.Clone(s)) // do not retain the whole text that s is part of
			if c.place != nil {
				c.place[c.distinct[k]] = k
			}
		}
		c.room()
		c.codes = append(c.codes, k)
		return
	}
	c.text.WriteString(s)
	c.ends = append(c.ends, uint32(c.text.Len()))
}

// zeros appends rows of 0 until c has the given number of rows.
func (c *cells) zeros(rows int) {
	for c.Len() < rows {
		c.add("0")
	}
}

// find returns the place of a text in distinct.
func (c *cells) find(s string) (uint8, bool) {
	const few = 8
	if len(c.distinct) <= few {
		k := slices.Index(c.distinct, s)
		return uint8(max(k, 0)), k >= 0
	}
	if c.place == nil {
		c.place = make(map[string]uint8, 2*few)
		for k, s := range c.distinct {
			c.place[s] = uint8(k)
		}
	}
	k, ok := c.place[s]
	return k, ok
}

// line switches to concatenated texts.
func (c *cells) line() {
	was, rows, length := *c, max(c.expected, 2*len(c.codes)), 0
	for _, k := range was.codes {
		length += len(was.distinct[k])
	}
	*c = cells{text: &strings.Builder{}, ends: make([]uint32, 0, rows), skipped: was.skipped}
	c.text.Grow(length * rows / len(was.codes) * 17 / 16) // if the others are about as long
	for _, k := range was.codes {
		c.add(was.distinct[k])
	}
}

// skip leaves out the first row.
func (c *cells) skip() {
	c.skipped++
	c.known = nil
}

// cut leaves out all rows behind the first n.
func (c *cells) cut(n int) {
	c.known = nil
	c.codes = c.codes[:min(c.skipped+n, len(c.codes))]
	c.ends = c.ends[:min(c.skipped+n, len(c.ends))]
}

// rewrite replaces every text.
func (c *cells) rewrite(text func(string) string) {
	c.known = nil
	if c.text == nil {
		for k, s := range c.distinct {
			c.distinct[k] = text(s)
		}
		c.place = nil
		return
	}
	was := *c
	*c = cells{text: &strings.Builder{}, ends: make([]uint32, 0, was.Len())}
	c.text.Grow(was.text.Len())
	for _, s := range was.all() {
		c.add(text(s))
	}
}

// column makes one of texts.
func column(name string, texts []string) Column {
	c := Column{Name: name}
	c.expected = len(texts)
	for _, s := range texts {
		c.add(s)
	}
	return c
}
