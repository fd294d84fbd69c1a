package dataset

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/lists"
)

// labelName is the default name of a label column.
const labelName = "label"

// namesLabel reports whether s is a usual name of a label column.
func namesLabel(s string) bool {
	switch strings.ToLower(s) {
	case labelName, "class", "target":
		return true
	}
	return false
}

// labelByName returns the only column from index from on with a usual name of a label, or -1 if
// there is none. If there are several, it returns the last column of the table and is not sure.
func (t *Table) labelByName(from int) (j int, sure bool) {
	named := lists.Where(len(t.Columns), func(j int) bool { return j >= from && namesLabel(t.Columns[j].Name) })
	switch len(named) {
	case 0:
		return -1, false
	case 1:
		return named[0], true
	}
	return len(t.Columns) - 1, false
}

// guessLabel returns the index of the label column, see rank; sure reports whether it is
// unambiguous.
func (t *Table) guessLabel() (j int, sure bool) {
	if t.Kind == KindGraphs {
		return t.guessGraphsLabel()
	}
	if t.Kind != "" || t.beginsWithStrings() {
		return t.endLabel()
	}
	return t.guessLabelBy(t.rank(t.facts()))
}

// endLabel returns the label judged by declarations, names and places of columns alone: the one
// that the file declares; else the one called label, class or target; else, in ARFF, the last nominal one; else the first, if it but not
// the last is text or ±1/0-1, unless it holds names and the last numbers; else the last. sure
// reports whether that is unambiguous.
func (t *Table) endLabel() (j int, sure bool) {
	last := len(t.Columns) - 1
	if j := slices.IndexFunc(t.Columns, func(c Column) bool { return c.role == roleLabel }); j >= 0 {
		return j, true
	}
	if t.Header || t.Format != "csv" && t.Format != "xlsx" {
		if j, sure := t.labelByName(0); j >= 0 {
			return j, sure
		}
	}
	if t.Format == "arff" {
		if nominal := lists.Where(len(t.Columns), func(j int) bool { return t.Columns[j].Nominal }); nominal != nil {
			j := nominal[len(nominal)-1]
			return j, len(nominal) == 1 || j == last
		}
	}
	first, end := &t.Columns[0], &t.Columns[last]
	atStart, atEnd := first.looksLikeLabel() && !(first.manyWords() && end.Numeric), end.looksLikeLabel()
	if atStart && !atEnd {
		return 0, true
	}
	return last, !atStart && (atEnd || t.Header && end.fewIntegers())
}

// Guess proposes a mapping and reports whether it is unambiguous: see Propose.
func (t *Table) Guess() (m Mapping, obvious bool) {
	p := t.Propose(Mapping{})
	return p.Mapping, p.Obvious
}

// Labels returns the labels in the named column, tidied: equal numbers have equal labels.
// It returns an *Error for an unknown name, a missing label, a label that is too long, and
// too many distinct words; any number of distinct numbers is allowed, because a regression
// may fit them. A single class is not an error here.
func (t *Table) Labels(name string) ([]string, error) {
	distinct, of, err := t.classes(name)
	if err != nil {
		return nil, err
	}
	return lists.At(distinct, of()), nil
}

// classes returns the distinct labels in a column, in order of first appearance, and a function
// that returns the index among them of each row's label. It fails where Labels does.
func (t *Table) classes(name string) (distinct []string, of func() []int, err error) {
	j, err := t.find(name)
	if err != nil {
		return nil, nil, err
	}
	c := &t.Columns[j]
	words := false // there is text among the numbers
	row := func(s string) int { return slices.Index(c.list(), s) }
	for s := range c.values() {
		_, number := parseNumber(s)
		switch {
		case number:
		case s == "":
			return nil, nil, t.fault(row(s), j, "expected a label, found nothing: fill it in, or leave the row out (missing: drop)")
		case missing(s):
			return nil, nil, t.fault(row(s), j, "expected a label, found %s, a missing value: fill it in, or leave the row out (missing: drop)", quote(s))
		case !notFinite(s):
			if err := checkText("label", tidy(s)); err != nil {
				return nil, nil, t.fault(row(s), j, "%s", err)
			}
			words = true
		}
	}
	if !c.Numeric && !words { // a number out of range among the numbers
		for i, s := range c.all() {
			if notFinite(s) {
				return nil, nil, t.fault(i, j, "expected a finite label, found %s: correct it or remove the row", quote(s))
			}
		}
	}
	distinct, of = c.classes()
	if k, n := len(distinct), c.Len(); !c.Numeric && tooMany(k, n) {
		if i := c.onlyWord(); i >= 0 {
			return nil, nil, t.fault(i, j, "expected a number, as in most rows, found %s: correct it or remove the row", quote(c.Cell(i)))
		}
		return nil, nil, t.fault(-1, j, "expected a label, found %d distinct values in %d rows: these look like names; choose another label column", k, n)
	}
	return distinct, of, nil
}

// classes returns the distinct tidied labels, and a function that returns the index among them of
// each row's label.
func (c *cells) classes() (distinct []string, of func() []int) {
	texts := slices.Collect(c.values())
	distinct, places := index(tidyLabels(texts))
	if c.many != nil {
		return distinct, func() []int { return places }
	}
	return distinct, func() []int {
		var place [mostDistinct]int
		for k, s := range c.distinct { // several may now be equal
			if i := slices.Index(texts, s); i >= 0 {
				place[k] = places[i]
			}
		}
		return lists.Map(c.codes[c.skipped:], func(k uint8) int { return place[k] })
	}
}

// A column with more than maxClasses distinct values does not hold classes, nor does one
// with more than fewClasses if most of them occur once.
const (
	maxClasses = 100
	fewClasses = 10
)

func tooMany(distinct, rows int) bool {
	return distinct > maxClasses || distinct > fewClasses && 2*distinct > rows
}

// tidyLabels makes labels comparable: all as numbers, or else all as text.
func tidyLabels(cells []string) []string {
	// Columns repeat few labels: tidy each distinct cell once.
	known := make(map[string]string)
	numeric := true
	for _, s := range cells {
		if _, ok := known[s]; !ok {
			known[s] = tidy(s)
			_, ok := parseNumber(known[s])
			numeric = numeric && ok
		}
	}
	if numeric {
		for s, l := range known {
			known[s] = tidyLabel(l)
		}
	}
	return lists.Map(cells, func(s string) string { return known[s] })
}

// tidyLabel gives a number its plain form: 1 for "+1" and "1.0". It returns other text unchanged.
func tidyLabel(s string) string {
	v, ok := parseNumber(s)
	if !ok {
		return tidy(s)
	}
	if math.Abs(v) < 1e15 && math.Abs(v) >= 1e-4 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
