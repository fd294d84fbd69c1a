package dataset

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"marginlab/ml/lists"
)

// Strings holds texts that a kernel compares character by character: words, sentences, DNA.
// No string is empty, contains control characters, or has spaces at either end.
type Strings struct {
	Name   string // of the column
	Values []string
}

// Kind returns KindStrings.
func (s *Strings) Kind() Kind { return KindStrings }

// Len returns the number of strings.
func (s *Strings) Len() int { return len(s.Values) }

// Subset returns some of the strings.
func (s *Strings) Subset(rows []int) Objects {
	return &Strings{s.Name, lists.At(s.Values, rows)}
}

// Text returns string i.
func (s *Strings) Text(i int) string { return s.Values[i] }

// Keep returns Subset(rows): a kernel needs the whole string.
func (s *Strings) Keep(rows []int) Objects { return s.Subset(rows) }

// Validate reports the first string that breaks the rules of Strings.
func (s *Strings) Validate() error {
	if len(s.Values) == 0 {
		return errors.New("data without strings: expected at least one")
	}
	for i, v := range s.Values {
		if err := checkString(v); err != nil {
			return fmt.Errorf("row %d, %s: %w", i+1, s.Name, err)
		}
	}
	return nil
}

func checkString(s string) error {
	switch {
	case s == "":
		return errors.New("expected a string, found nothing")
	case s != tidy(s):
		return fmt.Errorf("expected a string without control characters or surrounding spaces, found %s", quote(s))
	}
	return nil
}

func (s *Strings) kept() (Shape, Kept) {
	return Shape{Objects: KindStrings, Column: s.Name}, Kept{Strings: s.Values}
}

func restoreStrings(s Shape, k Kept) (Objects, error) {
	for _, v := range k.Strings {
		if err := checkString(v); err != nil {
			return nil, fmt.Errorf("strings: %w", err)
		}
	}
	return &Strings{Name: s.Column, Values: k.Strings}, nil
}

func (s *Strings) header() []string { return []string{s.Name} }

func (s *Strings) appendCells(dst []byte, i int, field func(string) string) []byte {
	return append(append(dst, field(s.Values[i])...), ',')
}

type stringsDecoder struct{ Strings }

func decodeStrings(header []string) (decoder, error) {
	if len(header) != 1 {
		return nil, errors.New("expected a column of strings and a label")
	}
	return &stringsDecoder{Strings{Name: header[0]}}, nil
}

func (d *stringsDecoder) add(cells []string) (wrong int, err error) {
	d.Values = append(d.Values, strings.Clone(cells[0]))
	return 0, checkString(cells[0])
}

func (d *stringsDecoder) objects() Objects { return &d.Strings }

// onlyWords reports whether all columns besides the label hold words.
func (t *Table) onlyWords(label int) bool {
	for j := range t.Columns {
		if c := &t.Columns[j]; j != label && (!c.IsText() || c.Dates()) && !t.isRowNumber(j) {
			return false
		}
	}
	return len(t.Columns) > 1
}

// beginsWithStrings reports whether the format holds only strings, in the first column.
func (t *Table) beginsWithStrings() bool { return t.Format == "fasta" || t.Format == "zip" }

// stringsColumn returns the index of the column of strings: the named one, else, of the other
// columns than the label, the column of words with the most distinct words, else the only one.
func (t *Table) stringsColumn(label int, named []string) (int, error) {
	switch {
	case len(named) > 1:
		return 0, t.fault(-1, -1, "expected one column of strings, found %s", list(named))
	case len(named) == 1:
		j, err := t.find(named[0])
		if err == nil && j == label {
			err = t.fault(-1, j, "is the label and cannot be the strings as well")
		}
		return j, err
	}
	if t.beginsWithStrings() {
		return 0, nil
	}
	best, most, others := -1, 0, []int(nil)
	for j := range t.Columns {
		if j == label || t.isRowNumber(j) {
			continue
		}
		others = append(others, j)
		if c := &t.Columns[j]; c.IsText() && !c.Dates() {
			if distinct, _ := factsOf(c).count(); distinct > most {
				best, most = j, distinct
			}
		}
	}
	switch {
	case best >= 0:
		return best, nil
	case len(others) == 1:
		return others[0], nil
	}
	return 0, t.fault(-1, -1, "expected a column of strings beside the label, found none with words")
}

// StringsColumn returns the name of the column of strings under a mapping, or "" if it has none.
func (t *Table) StringsColumn(m Mapping) string {
	label, err := t.find(m.Label)
	if err != nil {
		return ""
	}
	var named []string
	if m.Kind == KindStrings {
		named = m.Features
	}
	j, err := t.stringsColumn(label, named)
	if err != nil {
		return ""
	}
	return t.Columns[j].Name
}

func (t *Table) labelledStrings(label int, named []string) (*Strings, error) {
	if t.Kind == KindGraphs {
		return nil, t.fault(-1, -1, "expected strings, found graphs: use a kernel for graphs")
	}
	j, err := t.stringsColumn(label, named)
	if err != nil {
		return nil, err
	}
	return t.readStrings(j)
}

func (t *Table) readStrings(j int) (*Strings, error) {
	s := &Strings{Name: t.Columns[j].Name, Values: make([]string, len(t.Lines))}
	for i, cell := range t.Columns[j].all() {
		s.Values[i] = tidy(cell)
		if err := checkString(s.Values[i]); err != nil {
			return nil, t.fault(i, j, "%s", err)
		}
	}
	return s, nil
}

// headerIsRow turns a misdetected header into the first row.
func (t *Table) headerIsRow() {
	if !t.Header {
		return
	}
	t.Header, t.Lines = false, slices.Concat([]int{t.first}, t.Lines)
	for j := range t.Columns {
		c := &t.Columns[j]
		was := c.cells
		c.cells = cells{}
		c.add(c.Name)
		for _, s := range was.all() {
			c.add(s)
		}
	}
}

// stringRows reads strings to predict: from the column with the same name as in training, or
// from the only one besides the label. In a file of strings alone, only that name is a header.
func (t *Table) stringRows(like *Strings, expected string) (s *Strings, label string, err error) {
	at, j := t.Place(expected), t.Place(like.Name)
	if j == at {
		j = -1
	}
	switch {
	case j >= 0:
	case t.beginsWithStrings():
		j = 0
	case len(t.Columns) == 1:
		j, at = 0, -1
		t.headerIsRow()
	case len(t.Columns) == 2 && at >= 0:
		j = 1 - at
	case len(t.Columns) == 2 && !t.Header:
		at, _ = t.guessLabel()
		j = 1 - at
	default:
		return nil, "", t.fault(-1, -1, "no column %s with the strings of the model: the file has %s", quote(like.Name), list(t.names()))
	}
	if at >= 0 {
		label = t.Columns[at].Name
	}
	s, err = t.readStrings(j)
	return s, label, err
}

// ReadLines reads one string per line, in the encodings of ParseTable. From a format that marks its
// strings (the canonical form, FASTA, archives) it reads only those and ignores all else. Its errors
// are like those of ParseTable.
func ReadLines(r io.Reader, file string, lim Limits) (*Strings, error) {
	raw, fault := readRaw(r, file, lim)
	if fault != nil {
		return nil, fault
	}
	if first, _ := cutLine(raw); isArchive(raw) || detect(raw, "") == "fasta" || tidy(first) == kindLine(KindStrings) {
		t, err := ParseTable(strings.NewReader(raw), file, lim)
		if err != nil {
			return nil, err
		}
		m, _ := t.Guess()
		if m.Kind != KindStrings {
			return nil, t.fault(-1, -1, "expected strings, found other rows")
		}
		j, err := t.find(m.Features[0])
		if err != nil {
			return nil, err
		}
		return t.readStrings(j)
	}
	text, _, fault := decodeText(raw)
	if fault != nil {
		fault.File = file
		return nil, fault
	}
	s := &Strings{Name: "string"}
	for line := 1; text != ""; line++ {
		var v string
		v, text = cutLine(text)
		v = tidy(v)
		if err := checkString(v); err != nil {
			return nil, &Error{File: file, Line: line, Message: err.Error()}
		}
		if s.Values = append(s.Values, v); len(s.Values) > lim.orDefault().Rows {
			return nil, &Error{File: file, Line: line, Message: "expected at most " + Count(lim.orDefault().Rows, "string"), Err: ErrTooLarge}
		}
	}
	if len(s.Values) == 0 {
		return nil, &Error{File: file, Message: "expected at least one string, found an empty file"}
	}
	return s, nil
}
