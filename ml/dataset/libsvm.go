package dataset

import (
	"fmt"
	"strconv"
	"strings"
)

// looksLIBSVM tells a line "label index:value …", or one meant as such.
func looksLIBSVM(line string) bool {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.Contains(fields[0], ":") {
		return false
	}
	for _, f := range fields[1:] {
		index, _, ok := strings.Cut(f, ":")
		if _, err := strconv.Atoi(index); !ok || err != nil && index != "qid" {
			return false
		}
	}
	return true
}

// parseLIBSVM reads the LIBSVM and SVMlight form: a line holds a label and pairs
// index:value with indices from 1, ascending; pairs left out are zero; # begins a
// comment. The table has the columns x1 … xd and label, whose cells are numbers.
func parseLIBSVM(text string, lim Limits) (*Table, *Error) {
	type pair struct {
		row, index int
		value      string
	}
	t := &Table{Format: "libsvm"}
	var pairs []pair
	var labels []string
	width := 0
	fault := func(line, field int, format string, args ...any) *Error {
		return &Error{Line: line, Column: field, Message: fmt.Sprintf(format, args...)}
	}
	for n, rest := 1, text; rest != ""; n++ {
		var line string
		line, rest = cutLine(rest)
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if len(t.Lines) == lim.Rows {
			e := fault(n, 0, "expected at most %s", count(lim.Rows, "row"))
			e.Err = ErrTooLarge
			return nil, e
		}
		if strings.Contains(fields[0], ":") {
			return nil, fault(n, 1, "expected a label, found %s", quote(fields[0]))
		}
		labels = append(labels, fields[0])
		before := 0
		for k, f := range fields[1:] {
			left, value, ok := strings.Cut(f, ":")
			if !ok {
				return nil, fault(n, k+2, "expected index:value, found %s", quote(f))
			}
			if left == "qid" {
				return nil, fault(n, k+2, "expected index:value, found %s: query ids belong to ranking and are not supported", quote(f))
			}
			index, err := strconv.Atoi(left)
			switch {
			case err != nil || index < 1:
				return nil, fault(n, k+2, "expected an index from 1, found %s", quote(left))
			case index <= before:
				return nil, fault(n, k+2, "expected an index above %d, found %d: indices ascend in a line", before, index)
			case index >= lim.Columns:
				e := fault(n, k+2, "expected at most %d columns with the label, found index %d", lim.Columns, index)
				e.Err = ErrTooLarge
				return nil, e
			}
			if _, ok := parseNumber(value); !ok {
				what := "a number"
				if notFinite(value) {
					what = "a finite number"
				}
				e := fault(n, k+2, "expected %s, found %s", what, quote(value))
				e.Name = fmt.Sprintf("x%d", index)
				return nil, e
			}
			pairs = append(pairs, pair{len(t.Lines), index, value})
			before = index
		}
		width = max(width, before)
		t.Lines = append(t.Lines, n)
	}
	if err := noRows(t); err != nil {
		return nil, err
	}
	if width == 0 {
		return nil, &Error{Message: "expected index:value after the label, found labels only"}
	}
	if cells := int64(len(labels)) * int64(width+1); cells > lim.cells() {
		return nil, &Error{
			Message: fmt.Sprintf("expected at most %d values with the zeros written out, found %d rows of %d", lim.cells(), len(labels), width+1),
			Err:     ErrTooLarge,
		}
	}
	for j := range width {
		cells := make([]string, len(labels))
		for i := range cells {
			cells[i] = "0"
		}
		t.Columns = append(t.Columns, Column{Name: fmt.Sprintf("x%d", j+1), Cells: cells})
	}
	for _, p := range pairs {
		t.Columns[p.index-1].Cells[p.row] = p.value
	}
	t.Columns = append(t.Columns, Column{Name: labelName, Cells: labels})
	return t, nil
}
