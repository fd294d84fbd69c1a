package dataset

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"marginlab/ml/lists"
)

// cells holds the texts of a column in about as much memory as in the file. With few distinct
// texts it stores each once and a byte per row; otherwise eight bytes per row.
type cells struct {
	distinct []string         // distinct texts, at most mostDistinct
	place    map[string]uint8 // index in distinct; nil while a linear search is as fast
	codes    []uint8          // index in distinct for each row

	many []packed         // one per row; nil: distinct and codes hold the texts
	file string           // text of the file, which places in many refer to
	own  *strings.Builder // texts that are not in file

	expected int // expected number of rows, or 0
	skipped  int // header rows above the first row

	known *facts // cached by factsOf; nil after a change
}

// field is a text in a file.
type field struct {
	text   string
	packed packed // 0: not determined, or the file does not contain the text verbatim
}

// quoted reports whether the text is not empty and in quotes in the file.
func (f field) quoted() bool { return f.packed == 0 && f.text != "" }

// mostDistinct is the number of texts that a byte can index. With more, most texts take at least
// two characters and a separator in the file.
const mostDistinct = 256

// fewDistinct is the number of texts up to which a linear search is as fast as a map.
const fewDistinct = 8

// Len returns the number of rows.
func (c *cells) Len() int { return max(len(c.codes), len(c.many)) - c.skipped }

// Cell returns the text of a row, counted from 0.
func (c *cells) Cell(i int) string {
	if c.many == nil {
		return c.distinct[c.codes[i+c.skipped]]
	}
	p, in := c.many[i+c.skipped], c.file
	switch {
	case p&isDecimal != 0:
		return p.text()
	case p&isOwn != 0:
		in = c.own.String()
	}
	from := int(p &^ isOwn >> lengthBits)
	return in[from : from+int(p&(1<<lengthBits-1))]
}

// decimal returns the number in a row, or 0 if it is not known to be a decimal number.
func (c *cells) decimal(i int) packed {
	if c.many == nil || c.many[i+c.skipped]&isDecimal == 0 {
		return 0
	}
	return c.many[i+c.skipped]
}

// lacking reports whether a row has no value.
func (c *cells) lacking(i int) bool { return c.decimal(i) == 0 && missing(c.Cell(i)) }

func (c *cells) number(i int) (v float64, ok bool) {
	if p := c.decimal(i); p != 0 {
		return p.value(), true
	}
	return parseNumber(c.Cell(i))
}

// pointed reports whether the text of a row contains a point.
func (c *cells) pointed(i int) bool {
	p := c.decimal(i)
	return p.decimals() > 0 || p == 0 && strings.Contains(c.Cell(i), ".")
}

// alike reports whether two rows have the same text.
func (c *cells) alike(i, j int) bool {
	a, b := c.decimal(i), c.decimal(j)
	return a == b && (a != 0 || c.Cell(i) == c.Cell(j))
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
	return lists.Make(c.Len(), c.Cell)
}

// values iterates over the texts that occur, each once if few are distinct.
func (c *cells) values() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range c.firsts() {
			if !yield(c.Cell(i)) {
				return
			}
		}
	}
}

// any reports whether one of the texts satisfies is.
func (c *cells) any(is func(string) bool) bool {
	for s := range c.values() {
		if is(s) {
			return true
		}
	}
	return false
}

// firsts iterates over the first row of each distinct text, in order; if many are distinct, over
// all rows.
func (c *cells) firsts() iter.Seq[int] {
	return func(yield func(int) bool) {
		var seen [mostDistinct]bool
		left := len(c.distinct)
		for _, k := range c.codes[:min(c.skipped, len(c.codes))] {
			if !seen[k] && bytes.IndexByte(c.codes[c.skipped:], k) < 0 { // only in the header
				seen[k] = true
				left--
			}
		}
		for i := range c.Len() {
			if c.many == nil {
				again := &seen[c.codes[i+c.skipped]]
				if *again {
					continue
				}
				*again = true
				left--
			}
			if !yield(i) || c.many == nil && left == 0 {
				return
			}
		}
	}
}

// counted iterates over the rows of firsts, each with the number of rows that have the same text;
// if many texts are distinct, the number is 1.
func (c *cells) counted() iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		var rows [mostDistinct]int
		if c.many == nil {
			for _, k := range c.codes[c.skipped:] {
				rows[k]++
			}
		}
		for i := range c.firsts() {
			n := 1
			if c.many == nil {
				n = rows[c.codes[i+c.skipped]]
			}
			if !yield(i, n) {
				return
			}
		}
	}
}

// add appends a row.
func (c *cells) add(s string) { c.put(field{text: s}) }

// put appends a row with a text of the file.
func (c *cells) put(f field) {
	c.known = nil
	if c.many == nil {
		k, ok := c.find(f.text)
		const often = 8 // a text that is stored once should occur this often
		if n := len(c.distinct); !ok && (n == mostDistinct || c.expected > 0 && n >= max(fewDistinct, c.expected/often)) {
			c.spread()
			c.put(f)
			return
		}
		if !ok {
			k = uint8(len(c.distinct))
			c.distinct = append(c.distinct, strings.Clone(f.text)) // do not retain the text of the whole file
			if c.place != nil {
				c.place[c.distinct[k]] = k
			}
		}
		if len(c.codes) == cap(c.codes) && len(c.codes) >= 4*mostDistinct { // room for all expected rows
			c.codes = slices.Grow(c.codes, max(1, c.expected-len(c.codes)))
		}
		c.codes = append(c.codes, k)
		return
	}
	if f.packed == 0 {
		f.packed = c.pack(f.text)
	}
	c.many = append(c.many, f.packed)
}

// pack packs a text that is not in the file.
func (c *cells) pack(s string) packed {
	if c.own == nil {
		c.own = &strings.Builder{}
	}
	p := pack(s, c.own.Len())
	if p&isDecimal == 0 {
		c.own.WriteString(s)
		p |= isOwn
	}
	return p
}

// zeros appends rows of 0 until c has the given number of rows.
func (c *cells) zeros(rows int) {
	if c.Len() >= rows {
		return
	}
	c.add("0")
	if n := rows + c.skipped; c.many == nil {
		c.codes = repeatLast(c.codes, n)
	} else {
		c.many = repeatLast(c.many, n)
	}
}

// repeatLast returns list with its last element repeated to the length n.
func repeatLast[T any](list []T, n int) []T {
	was := len(list)
	list = slices.Grow(list, n-was)[:n]
	for i, last := was, list[was-1]; i < n; i++ {
		list[i] = last
	}
	return list
}

// find returns the index of a text in distinct.
func (c *cells) find(s string) (uint8, bool) {
	if len(c.distinct) <= fewDistinct {
		k := slices.Index(c.distinct, s)
		return uint8(max(k, 0)), k >= 0
	}
	if c.place == nil {
		c.place = make(map[string]uint8, 2*fewDistinct)
		for k, s := range c.distinct {
			c.place[s] = uint8(k)
		}
	}
	k, ok := c.place[s]
	return k, ok
}

// spread switches from distinct texts to one cell per row.
func (c *cells) spread() {
	var of [mostDistinct]packed
	for k, s := range c.distinct {
		of[k] = c.pack(s)
	}
	c.many = make([]packed, 0, max(c.expected, 2*len(c.codes)))
	for _, k := range c.codes {
		c.many = append(c.many, of[k])
	}
	c.distinct, c.place, c.codes = nil, nil, nil
}

// skip leaves out the first row.
func (c *cells) skip() {
	c.skipped++
	c.known = nil
}

// cut leaves out all rows after the first n.
func (c *cells) cut(n int) {
	c.known = nil
	c.codes = c.codes[:min(c.skipped+n, len(c.codes))]
	c.many = c.many[:min(c.skipped+n, len(c.many))]
}

// without returns the cells without the rows marked in out.
func (c *cells) without(out []bool) cells {
	kept := cells{distinct: slices.Clone(c.distinct), file: c.file, own: c.own}
	for i, gone := range out {
		switch {
		case gone:
		case c.many == nil:
			kept.codes = append(kept.codes, c.codes[i+c.skipped])
		default:
			kept.many = append(kept.many, c.many[i+c.skipped])
		}
	}
	return kept
}

// rewrite replaces every text.
func (c *cells) rewrite(text func(string) string) {
	c.known = nil
	if c.many == nil {
		for k, s := range c.distinct {
			c.distinct[k] = text(s)
		}
		c.place = nil
		return
	}
	was := *c
	*c = cells{many: make([]packed, 0, was.Len())}
	for _, s := range was.all() {
		c.add(text(s))
	}
}

func column(name string, texts []string) Column {
	c := Column{Name: name}
	c.expected = len(texts)
	for _, s := range texts {
		c.add(s)
	}
	return c
}
