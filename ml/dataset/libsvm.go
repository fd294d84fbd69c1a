package dataset

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// looksLIBSVM reports whether a line is "label index:value …" or meant to be.
func looksLIBSVM(line string) bool {
	line, _, _ = strings.Cut(line, "#")
	fields := strings.Fields(line)
	if len(fields) < 2 || strings.Contains(fields[0], ":") {
		return false
	}
	for _, f := range fields[1:] {
		index, value, ok := strings.Cut(f, ":")
		if _, err := strconv.Atoi(index); !ok || err != nil && index != "qid" {
			return false
		}
		comma := len(fields) > 2 && hasDecimalComma(value) // which is refused
		if !comma && strings.ContainsAny(value, ",;|:") {  // as in 2020-01-31 16:02:00,1
			return false
		}
	}
	return true
}

// pastLabels returns the first line that is more than a number: a row of LIBSVM without features is
// a label alone.
func pastLabels(line, rest string) string {
	for rest != "" {
		label, _, _ := strings.Cut(line, "#")
		if label = strings.TrimSpace(label); label != "" {
			if _, number := parseNumber(label); !number {
				break
			}
		}
		line, rest = cutLine(rest)
	}
	return line
}

// manyEmpty is the number of columns without a value up to which they are kept, as columns of zeros.
const manyEmpty = 1000

// parseLIBSVM reads the LIBSVM and SVMlight form: a line holds a label and pairs
// index:value with indices from 1, ascending; omitted pairs are zero; # begins a comment.
// The table has the numeric columns x1 … xd and label.
//
// Lines "label 0:i 1:K_i1 … M:K_iM" are a kernel matrix, in which nothing may be omitted.
// The table has the columns number, K1 … KM and label.
func parseLIBSVM(text string, lim Limits) (*Table, *Error) {
	t := &Table{Format: "libsvm"}
	lowest, name, columns := 1, func(index int) string { return fmt.Sprintf("x%d", index) }, lim.Columns
	var values []*cells // by column, up to its last nonzero value; nil: no line names it
	named := 0
	labels, width := cells{expected: min(lineEnds(text)+1, lim.Rows), file: text}, 0
	t.Lines = make([]int, 0, labels.expected)
	fault := func(line, field int, format string, args ...any) *Error {
		return &Error{Line: line, Column: field, Message: fmt.Sprintf(format, args...)}
	}
	most := max(lim.Columns, lim.Rows+besides)
	for r := range inBlocks(text, 0, 1, func(b *block[libsvmField], text string, from int) { scanLIBSVM(b, text, from, most) }) {
		n, fields, label := r.line, r.fields, r.fields[0].text
		if len(t.Lines) == lim.Rows {
			return nil, beyond(n, lim.Rows, "row")
		}
		if fields[0].colon >= 0 {
			return nil, fault(n, 1, "expected a label, found %s", quote(label))
		}
		if severalLabels(label) {
			return nil, fault(n, 1, "expected one label, found %s: keep one label of each row, or make a file for each label that says whether a row has it", quote(label))
		}
		labels.put(fields[0].field)
		if matrix := len(fields) > 1 && strings.HasPrefix(fields[1].text, "0:"); matrix && len(t.Lines) == 0 {
			t.Kind = KindPrecomputed
			lowest, name, columns = 0, matrixName, max(lim.Columns, lim.Rows+besides)
		} else if t.Kind == KindPrecomputed && !matrix {
			return nil, fault(n, 2, "expected 0: and an object number, as in the kernel matrix that begins on line %d; %s", t.Lines[0], countedFromOne)
		}
		before := lowest - 1
		for k := range fields[1:] {
			f := &fields[k+1]
			index := f.index
			switch {
			case f.colon < 0:
				return nil, fault(n, k+2, "expected index:value, found %s", quote(f.text))
			case f.text[:f.colon] == "qid":
				return nil, fault(n, k+2, "expected index:value, found %s: remove query ids, which belong to ranking", quote(f.text))
			case index < lowest:
				return nil, fault(n, k+2, "expected an index of at least %d, found %s: %s", lowest, quote(f.text[:f.colon]), countedFromOne)
			case index <= before:
				return nil, fault(n, k+2, "expected an index above %d, found %d: indices must increase within a line", before, index)
			case index >= columns:
				return nil, fault(n, k+2, "expected at most %d columns with the label, found index %d: leave out features, or number those in use from 1", columns, index).tooLarge()
			case t.Kind == KindPrecomputed && index != before+1:
				return nil, fault(n, k+2, "expected the index %d, found %d: a kernel matrix, marked by 0:, lists every value; %s", before+1, index, countedFromOne)
			}
			if !f.number {
				what := "a number"
				switch {
				case notFinite(f.value()):
					what = "a finite number"
				case hasDecimalComma(f.value()):
					what = "a number with a decimal point"
				}
				e := fault(n, k+2, "expected %s, found %s: correct it or remove the row", what, quote(f.value()))
				e.Name = name(index)
				return nil, e
			}
			if more := index - lowest + 1 - len(values); more > 0 {
				values = append(values, make([]*cells, more)...)
			}
			c := values[index-lowest]
			if c == nil {
				c = &cells{expected: labels.expected, file: text}
				values[index-lowest] = c
				named++
			}
			c.zeros(len(t.Lines))
			c.put(field{f.value(), f.packed})
			before = index
		}
		if t.Kind == KindPrecomputed && len(t.Lines) > 0 && before != width {
			return nil, fault(n, 0, "expected kernel values up to index %d, as on line %d, found them up to %d", width, t.Lines[0], before)
		}
		width = max(width, before)
		t.Lines = append(t.Lines, n)
		kept := 1 + min(len(values), named+manyEmpty)
		if int64(len(t.Lines))*int64(kept) > lim.cells() {
			return nil, fault(n, 0, "expected at most %d values, counting zeros, found %d rows of %d up to here: leave out rows, or features that few of them have", lim.cells(), len(t.Lines), kept).tooLarge()
		}
	}
	if err := noRows(t); err != nil {
		return nil, err
	}
	if width == 0 {
		return nil, &Error{Message: "expected index:value after the label, found labels only"}
	}
	empty := len(values) - named
	if empty > manyEmpty {
		t.Notes = append(t.Notes, fmt.Sprintf("%d columns that no line names left out", empty))
	}
	t.Columns = make([]Column, 0, min(len(values), named+manyEmpty)+1)
	for k, c := range values {
		switch {
		case c == nil && empty > manyEmpty:
			continue
		case c == nil:
			c = &cells{}
		}
		c.zeros(len(t.Lines))
		t.Columns = append(t.Columns, Column{Name: name(lowest + k), cells: *c})
	}
	t.Columns = append(t.Columns, Column{Name: labelName, cells: labels})
	return t, nil
}

// severalLabels reports whether s is a list of whole numbers, as multi-label files begin their lines.
func severalLabels(s string) bool {
	if strings.IndexByte(s, ',') < 0 {
		return false
	}
	for part := range strings.SplitSeq(s, ",") {
		if _, err := strconv.Atoi(part); err != nil {
			return false
		}
	}
	return true
}

// countedFromOne ends messages about files whose indices begin at 0, as scikit-learn writes them by default.
const countedFromOne = "indices of features begin at 1 (scikit-learn: zero_based=False)"

// matrixName is the name of the column that holds an index of a kernel matrix.
func matrixName(index int) string {
	if index == 0 {
		return numberName
	}
	return kernelName(index - 1)
}

// libsvmField is a field of a line; after the label, it should be index:value.
type libsvmField struct {
	field       // packed: the value, or all without a colon
	colon  int  // its place in text, or -1
	index  int  // -1: none
	number bool // the value is a number
}

// value returns the text after the colon.
func (f libsvmField) value() string { return f.text[f.colon+1:] }

// scanLIBSVM reads the lines of a block that have fields. It cuts off lines with more than most
// pairs, which ascending indices cannot have.
func scanLIBSVM(b *block[libsvmField], text string, from, most int) {
	for from < len(text) {
		b.lines++
		was := len(b.fields)
		if to, plain := plainLine(b, text, from, most); plain {
			b.end(b.lines, len(b.fields)-was)
			from = to
			continue
		}
		b.fields = b.fields[:was]
		line, rest := cutLine(text[from:])
		line, _, _ = strings.Cut(line, "#")
		for end := from + len(line); line != "" && len(b.fields)-was <= most+1; {
			var f libsvmField
			if line = f.cut(line, end-len(line)); f.text == "" {
				break
			}
			b.fields = append(b.fields, f)
		}
		if n := len(b.fields) - was; n > 0 {
			b.end(b.lines, n)
		}
		from = len(text) - len(rest)
	}
}

// plainLine reads the line at offset from in one pass if it is written in the usual way: in ASCII,
// without a comment, with a label and, after spaces, at most most pairs with short indices. It
// returns the offset after the line.
func plainLine(b *block[libsvmField], text string, from, most int) (next int, plain bool) {
	const short = 9 // digits
	to := fieldEnd(text, from)
	label := text[from:to]
	if label == "" || strings.IndexByte(label, ':') >= 0 {
		return 0, false
	}
	b.fields = append(b.fields, libsvmField{field{label, pack(label, from)}, -1, -1, false})
	for {
		for from = to; from < len(text) && text[from] == ' '; {
			from++
		}
		switch {
		case from == len(text):
			return from, true
		case text[from] == '\n':
			return from + 1, true
		case strings.HasPrefix(text[from:], "\r\n"):
			return from + 2, true
		case from == to || most == 0:
			return 0, false
		}
		colon, index := from, 0
		for ; colon < len(text) && colon < from+short && text[colon]-'0' <= 9; colon++ {
			index = 10*index + int(text[colon]-'0')
		}
		if colon == from || colon == len(text) || text[colon] != ':' {
			return 0, false
		}
		p, end, number := cutDecimal(text, colon+1)
		if to = fieldEnd(text, end); !number || to > end {
			value := text[colon+1 : to]
			p = pack(value, colon+1)
			_, number = parseNumber(value)
		}
		b.fields = append(b.fields, libsvmField{field{text[from:to], p}, colon - from, index, number})
		most--
	}
}

// fieldEnd returns the offset of the next character that ends a field or may end it: a blank, a #
// or a non-ASCII character.
func fieldEnd(text string, from int) int {
	for from < len(text) && ' ' < text[from] && text[from] < utf8.RuneSelf && text[from] != '#' {
		from++
	}
	return from
}

// cut reads the first field of a line that begins at offset at of the file, and returns the rest of
// the line.
func (f *libsvmField) cut(line string, at int) (rest string) {
	f.text, rest = cutField(line)
	at += len(line) - len(rest) - len(f.text)
	f.colon, f.index = strings.IndexByte(f.text, ':'), -1
	f.packed = pack(f.value(), at+f.colon+1)
	if f.colon < 0 {
		return rest
	}
	if index, err := strconv.Atoi(f.text[:f.colon]); err == nil {
		f.index = index
	}
	_, f.number = parseNumber(f.value())
	return rest
}

// cutField returns the first field of a line, as [strings.Fields] does, and the rest of the line.
func cutField(s string) (field, rest string) {
	i := 0
	for i < len(s) && ' ' < s[i] && s[i] < utf8.RuneSelf {
		i++
	}
	if i > 0 && (i == len(s) || s[i] == ' ') { // most fields
		return s[:i], s[i:]
	}
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if i := strings.IndexFunc(s, unicode.IsSpace); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}
