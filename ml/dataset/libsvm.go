package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// looksLIBSVM reports whether a line is "label index:value …" or meant to be.
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
// index:value with indices from 1, ascending; omitted pairs are zero; # begins a comment.
// The table has the numeric columns x1 … xd and label.
//
// Lines "label 0:i 1:K_i1 … M:K_iM" are a kernel matrix, in which nothing may be omitted.
// The table has the columns number, K1 … KM and label.
func parseLIBSVM(text string, lim Limits) (*Table, *Error) {
	t := &Table{Format: "libsvm"}
	lowest, name, columns := 1, func(index int) string { return fmt.Sprintf("x%d", index) }, lim.Columns
	var values []cells // by column, up to its last nonzero value
	labels, width := cells{expected: min(lineEnds(text)+1, lim.Rows)}, 0
	var fields []string // of a line
	fault := func(line, field int, format string, args ...any) *Error {
		return &Error{Line: line, Column: field, Message: fmt.Sprintf(format, args...)}
	}
	for n, rest := 1, text; rest != ""; n++ {
		var line string
		line, rest = cutLine(rest)
		line, _, _ = strings.Cut(line, "#")
		fields = slices.AppendSeq(fields[:0], strings.FieldsSeq(line))
		if len(fields) == 0 {
			continue
		}
		if len(t.Lines) == lim.Rows {
			e := fault(n, 0, "expected at most %s", Count(lim.Rows, "row"))
			e.Err = ErrTooLarge
			return nil, e
		}
		if strings.Contains(fields[0], ":") {
			return nil, fault(n, 1, "expected a label, found %s", quote(fields[0]))
		}
		labels.add(fields[0])
		if matrix := len(fields) > 1 && strings.HasPrefix(fields[1], "0:"); matrix && t.Lines == nil {
			t.Kind = KindPrecomputed
			lowest, name, columns = 0, matrixName, max(lim.Columns, lim.Rows+besides)
		} else if t.Kind == KindPrecomputed && !matrix {
			return nil, fault(n, 2, "expected 0: and the number of an object, for line %d begins a kernel matrix so; indices of features begin at 1", t.Lines[0])
		}
		before := lowest - 1
		for k, f := range fields[1:] {
			colon := strings.IndexByte(f, ':')
			if colon < 0 {
				return nil, fault(n, k+2, "expected index:value, found %s", quote(f))
			}
			left, value := f[:colon], f[colon+1:]
			if left == "qid" {
				return nil, fault(n, k+2, "expected index:value, found %s: query ids belong to ranking and are not supported", quote(f))
			}
			index, err := strconv.Atoi(left)
			switch {
			case err != nil || index < lowest:
				return nil, fault(n, k+2, "expected an index from %d, found %s", lowest, quote(left))
			case index <= before:
				return nil, fault(n, k+2, "expected an index above %d, found %d: indices ascend in a line", before, index)
			case index >= columns:
				e := fault(n, k+2, "expected at most %d columns with the label, found index %d", columns, index)
				e.Err = ErrTooLarge
				return nil, e
			case t.Kind == KindPrecomputed && index != before+1:
				return nil, fault(n, k+2, "expected the index %d, found %d: a kernel matrix, which 0: begins, is written in full; indices of features begin at 1", before+1, index)
			}
			if _, ok := parseNumber(value); !ok {
				what := "a number"
				if notFinite(value) {
					what = "a finite number"
				}
				e := fault(n, k+2, "expected %s, found %s", what, quote(value))
				e.Name = name(index)
				return nil, e
			}
			for len(values) <= index-lowest {
				values = append(values, cells{expected: labels.expected})
			}
			if full := int64(len(t.Lines)) * int64(len(values)+1); full <= lim.cells() { // else it is refused below
				values[index-lowest].zeros(len(t.Lines))
				values[index-lowest].add(value)
			}
			before = index
		}
		if t.Kind == KindPrecomputed && t.Lines != nil && before != width {
			return nil, fault(n, 0, "expected values of the kernel up to index %d, as on line %d, found them up to %d", width, t.Lines[0], before)
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
	if cells := int64(len(t.Lines)) * int64(width+2-lowest); cells > lim.cells() {
		return nil, &Error{
			Message: fmt.Sprintf("expected at most %d values with the zeros written out, found %d rows of %d", lim.cells(), len(t.Lines), width+1),
			Err:     ErrTooLarge,
		}
	}
	for k := range values {
		values[k].zeros(len(t.Lines))
		t.Columns = append(t.Columns, Column{Name: name(lowest + k), cells: values[k]})
	}
	t.Columns = append(t.Columns, Column{Name: labelName, cells: labels})
	return t, nil
}

// matrixName is the name of the column that holds an index of a kernel matrix.
func matrixName(index int) string {
	if index == 0 {
		return numberName
	}
	return kernelName(index - 1)
}
