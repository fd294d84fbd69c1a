package dataset

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/lists"
)

// Column is one column of a Table.
type Column struct {
	Name    string // unique in the table, not empty
	Numeric bool   // every cell is a finite number
	Nominal bool   // an ARFF file declares it nominal
	role    role   // declared in the file
	cells
}

// role is what a file declares a column to be for.
type role string

const (
	roleLabel role = "label"
	roleMeta  role = "meta"
)

// parseNumber reads a finite decimal number; -0 becomes 0.
func parseNumber(s string) (v float64, ok bool) {
	if p, to, _ := cutDecimal(s, 0); p != 0 && to == len(s) {
		return p.value(), true
	}
	return parseAnyNumber(s)
}

// parseAnyNumber is parseNumber for long numbers, exponents, and text that is not a number.
func parseAnyNumber(s string) (v float64, ok bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		case (c == 'D' || c == 'd') && strings.Contains(s[:i], ".") && strings.ContainsAny(s[i:], "+-"): // Fortran's 1.5D+03
			s = s[:i] + "e" + s[i+1:]
		default:
			return 0, false // such as hexadecimal, 1_000, Inf and NaN
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v + 0, err == nil
}

// parseNumbers reads texts as numbers; ok reports whether all of them are.
func parseNumbers(texts []string) (vs []float64, ok bool) {
	for i, s := range texts {
		v, ok := parseNumber(s)
		if !ok {
			return nil, false
		}
		if i == 0 {
			vs = make([]float64, len(texts))
		}
		vs[i] = v
	}
	return vs, true
}

// notFinite reports whether s is NaN, Inf or a number beyond the range of float64.
func notFinite(s string) bool {
	if s == "" || !strings.Contains("+-.0123456789iInN", s[:1]) { // most words; the error would copy them
		return false
	}
	v, err := strconv.ParseFloat(s, 64)
	return errors.Is(err, strconv.ErrRange) || err == nil && (math.IsNaN(v) || math.IsInf(v, 0))
}

// weigh determines which columns are numeric.
func (t *Table) weigh() {
	sideBySide(len(t.Columns), func(j int) { t.Columns[j].weigh() })
}

// weigh determines whether the column is numeric.
func (c *Column) weigh() {
	if c.many != nil || c.Len() >= manyRows { // factsOf keeps its result
		f := factsOf(c)
		c.Numeric = f.numbers == f.rows
		return
	}
	c.Numeric = !c.any(func(s string) bool { _, ok := parseNumber(s); return !ok })
}

// numbers returns a function that writes the cells of rows from to to-1 of a column of numbers to dst,
// zeros so far, with stride apart, and NaN for a cell that is not a number.
func (c *Column) numbers() func(dst []float64, apart, from, to int) {
	number := func(s string) float64 {
		v, ok := parseNumber(s)
		if !ok {
			v = math.NaN()
		}
		return v
	}
	if c.many == nil {
		of := lists.Map(c.distinct, number)
		zero := slices.Index(of, 0)
		zeros := [8]byte(bytes.Repeat([]byte{byte(zero)}, 8))
		return func(dst []float64, apart, from, to int) {
			codes := c.codes[c.skipped:][from:to]
			for i := 0; i < len(codes); i++ {
				if zero >= 0 && i+8 <= len(codes) && [8]byte(codes[i:]) == zeros { // as most numbers of texts
					i += 7
				} else if v := of[codes[i]]; v != 0 { // pages of zeros take no memory
					dst[i*apart] = v
				}
			}
		}
	}
	return func(dst []float64, apart, from, to int) {
		for i := from; i < to; i++ {
			var v float64
			if p := c.many[c.skipped+i]; p&isDecimal != 0 {
				v = p.value()
			} else {
				v = number(c.Cell(i))
			}
			if v != 0 {
				dst[(i-from)*apart] = v
			}
		}
	}
}

// mostlyZero reports whether at least 7 of 8 cells of a column with few distinct numbers are 0.
func (c *Column) mostlyZero() bool {
	k := slices.Index(c.distinct, "0")
	return k >= 0 && 8*bytes.Count(c.codes, []byte{byte(k)}) >= 7*len(c.codes)
}

// IsText reports whether no cell of the column is a number or a missing one, that is, whether
// it holds words rather than faulty numbers.
func (c *Column) IsText() bool {
	number := func(s string) bool { _, ok := parseNumber(s); return (ok || notFinite(s)) && !missing(s) }
	return !c.Numeric && !c.any(number) && c.any(func(s string) bool { return !missing(s) })
}

// twoValued reports whether the column holds ±1 or 0 and 1, both present.
func (c *Column) twoValued() bool {
	f := factsOf(c)
	return f.numbers == f.rows && f.distinct == 2 && f.unit()
}

// looksLikeLabel reports whether the column, if first or last, can be taken as the label.
func (c *Column) looksLikeLabel() bool { return c.twoValued() || c.IsText() && !c.Dates() }

// onlyWord returns the row of the first cell that is not a number, or -1 if there are none or
// many of them.
func (c *Column) onlyWord() int {
	first, words := -1, 0
	for i, s := range c.all() {
		if _, ok := parseNumber(s); !ok {
			if words++; first < 0 {
				first = i
			}
		}
	}
	if 4*words > c.Len() {
		return -1
	}
	return first
}

// manyWords reports whether there are too many words for classes: names, or strings to learn from.
func (c *Column) manyWords() bool { return !c.Numeric && tooMany(factsOf(c).distinct, c.Len()) }

// fewIntegers reports whether the column holds repeating whole numbers, like class codes.
func (c *Column) fewIntegers() bool {
	f := factsOf(c)
	return f.numbers == f.rows && f.whole && f.distinct <= fewClasses && 2*f.distinct <= f.rows
}

// isRowNumber reports whether column j holds the row numbers that some programs write:
// the first column, unnamed, counting up by one.
func (t *Table) isRowNumber(j int) bool {
	c := &t.Columns[j]
	if j != 0 || !t.Header || c.Name != unnamed(0) || len(t.Columns) < 3 || c.Len() < 2 {
		return false
	}
	return c.Numeric && factsOf(c).numbersRows()
}

// Numbering reports whether column j holds distinct whole numbers and has a usual name of a
// column of row numbers, or is the first and counts at least ten rows from 0 or 1 on.
func (t *Table) Numbering(j int) bool {
	const many = 10
	c := &t.Columns[j]
	if !t.Header || !c.Numeric || len(t.Columns) < 3 || c.Len() < 2 {
		return false
	}
	name := strings.Trim(strings.ToLower(c.Name), "_.: #")
	named := slices.Contains([]string{"", "id", "ids", "index", "idx", "nr", "no", "row", "rownames", "row_id", "rowid", "unnamed: 0", "lfd. nr", "lfd nr"}, name) || strings.HasSuffix(name, "_id")
	if !named && (j > 0 || c.Len() < many) {
		return false
	}
	f := factsOf(c)
	return f.numbersRows() || named && f.whole && !f.repeats()
}
