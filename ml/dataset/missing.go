package dataset

import (
	"fmt"
	"slices"
	"strings"

	"marginlab/ml/lists"
)

// Missing names the treatment of rows with missing values.
type Missing string

// Treatments of missing values: refuse the file, drop the rows, or impute the column's median or
// most frequent word; see Data.FitFill.
const (
	MissingError  Missing = "error" // or empty
	MissingDrop   Missing = "drop"
	MissingMedian Missing = "median"
)

// Missings lists all treatments of missing values.
var Missings = []Missing{MissingError, MissingDrop, MissingMedian}

// missing reports whether s is a usual sign of a missing value.
func missing(s string) bool {
	switch s {
	case "", "?", "NA", "N/A", "n/a", "NaN", "nan", "NAN", "null", "NULL", "<NA>", `\N`,
		"#N/A", "#NV", "#DIV/0!", "#VALUE!", "#WERT!", "#REF!", "#BEZUG!", "#NAME?", "#NUM!", "#ZAHL!", "#NULL!": // spreadsheet errors
		return true
	}
	return false
}

// mayHoldNA reports whether NA may be a value: all others are codes of two capital letters, as of
// countries.
func (c *Column) mayHoldNA() bool {
	if c.many != nil || !slices.Contains(c.distinct, "NA") {
		return false
	}
	codes := 0
	for s := range c.values() {
		if missing(s) {
			continue
		}
		if len(s) != 2 || strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return false
		}
		codes++
	}
	return codes > 1
}

func (c *Column) lacks() bool { return c.Missing() > 0 }

// Gappy reports whether the column holds both numbers and missing values, and nothing else.
func (c *Column) Gappy() bool {
	f := factsOf(c)
	return f.numbers > 0 && f.numbers == f.present && f.present < f.rows
}

// Missing returns the number of missing values in the column.
func (c *Column) Missing() int {
	if c.Numeric {
		return 0
	}
	f := factsOf(c)
	return f.rows - f.present
}

// Constant reports whether the column has at least two rows, all with the same text.
func (c *Column) Constant() bool {
	return c.Len() >= 2 && !c.any(func(s string) bool { return s != c.Cell(0) })
}

// Incomplete returns the rows, counted from 0, with a missing label or feature, and the number of
// missing features.
func (t *Table) Incomplete(label string, features []string) (rows []int, values int) {
	find := t.finder()
	for _, name := range append([]string{label}, features...) {
		j, err := find(name)
		if err != nil || !t.Columns[j].lacks() {
			continue
		}
		lacking := lists.Where(len(t.Lines), t.Columns[j].lacking)
		rows = append(rows, lacking...)
		if name != label {
			values += len(lacking)
		}
	}
	slices.Sort(rows)
	return slices.Compact(rows), values
}

// without returns the table without the given rows, which are in ascending order.
func (t *Table) without(rows []int) *Table {
	s := *t
	s.Lines, s.Columns = nil, slices.Clone(t.Columns)
	out := make([]bool, len(t.Lines))
	for _, i := range rows {
		out[i] = true
	}
	for i, line := range t.Lines {
		if !out[i] {
			s.Lines = append(s.Lines, line)
		}
	}
	for j := range s.Columns {
		c := &s.Columns[j]
		c.cells = c.without(out)
		c.weigh()
	}
	return &s
}

// complete returns the table without rows with a missing label or, unless they are imputed,
// missing features.
func (t *Table) complete(label string, features []string, how Missing) (*Table, error) {
	var leave []string
	if how == MissingDrop {
		leave = features
	}
	s := *t
	s.Notes = slices.Clone(t.Notes)
	if rows, _ := t.Incomplete(label, leave); len(rows) > 0 {
		if len(rows) == len(t.Lines) {
			return nil, t.fault(-1, -1, "expected a row without missing values, found none in %s: choose fewer columns, or missing: median", Count(len(rows), "row"))
		}
		s = *t.without(rows)
		what := "a value"
		if how == MissingMedian {
			what = "the label"
		}
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %s left out because %s is missing%s", len(rows), Count(len(t.Lines), "row"), what, t.linesOf(rows)))
	}
	if how != MissingMedian {
		return &s, nil
	}
	type filling struct {
		values int
		names  []string
	}
	var medians, words filling
	find := s.finder()
	for _, name := range features {
		j, err := find(name)
		if err != nil {
			return nil, err
		}
		c := &s.Columns[j]
		if !c.lacks() {
			continue
		}
		with := &medians
		if c.Words() != nil {
			with = &words
		} else if factsOf(c).present == 0 {
			return nil, s.fault(-1, j, "expected at least one number, found only missing values: choose feature columns without this one")
		}
		with.values += c.Missing()
		with.names = append(with.names, c.Name)
	}
	const rows = "computed on the training rows only"
	if medians.values > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s filled with the column's median (%s), %s", Count(medians.values, "missing value"), list(medians.names), rows))
	}
	if words.values > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s filled with the column's most common word (%s), %s", Count(words.values, "missing value"), list(words.names), rows))
	}
	return &s, nil
}
