package dataset

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// arffAttribute is an attribute declared in an ARFF file.
type arffAttribute struct {
	name    string
	values  []string // sorted values of a nominal attribute; otherwise nil
	omitted string   // the value that sparse rows omit
	needed  bool     // sparse rows may not omit it
}

// parseARFF reads the attribute-relation format of Weka: @relation, @attribute with
// a numeric, nominal, string or date type, and @data with comma-separated or sparse rows; %
// begins a comment line. @inputs is ignored, and a single name after @outputs is the label, as in
// files of KEEL. Relational attributes are refused.
func parseARFF(text string, lim Limits) (*Table, *Error) {
	r := arffReader{t: &Table{Format: "arff", Header: true}, lim: lim}
	read := r.declaration
	for rest := text; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		line = strings.TrimSpace(line)
		if r.line++; line == "" || line[0] == '%' {
			continue
		}
		if err := read(line); err != nil {
			return nil, err
		}
		if r.inData {
			read = r.row
		}
	}
	if !r.inData {
		return nil, &Error{Message: "expected @data and rows after it, found the end of the file"}
	}
	if len(r.t.Lines) == 0 {
		return nil, &Error{Message: "expected at least one row of data after @data, found none"}
	}
	return r.t, nil
}

// arffReader reads one line after the other.
type arffReader struct {
	t          *Table
	lim        Limits
	line       int // number of the current line
	attributes []arffAttribute
	output     string // after @outputs
	inData     bool   // after @data
	dense      int64  // bytes that the sparse rows would take if nothing were omitted
}

func (r *arffReader) fault(column int, format string, args ...any) *Error {
	return &Error{Line: r.line, Column: column, Message: fmt.Sprintf(format, args...)}
}

// declaration reads a line above the rows.
func (r *arffReader) declaration(line string) *Error {
	keyword, arg := cutBlank(line)
	switch strings.ToLower(keyword) {
	case "@relation", "@input", "@inputs":
	case "@output", "@outputs":
		r.output = arg
	case "@attribute":
		a, err := parseAttribute(arg)
		if err != nil {
			return r.fault(0, "%s", err)
		}
		if len(r.attributes) == r.lim.Columns {
			return beyond(r.line, r.lim.Columns, "column")
		}
		r.attributes = append(r.attributes, a)
		r.t.Columns = append(r.t.Columns, Column{Nominal: a.values != nil})
	case "@data":
		if r.attributes == nil {
			return r.fault(0, "expected an @attribute before @data")
		}
		r.t.setNames(lists.Map(r.attributes, func(a arffAttribute) string { return a.name }))
		if j := r.t.Place(r.output); j >= 0 {
			r.t.Columns[j].role = roleLabel
		}
		r.inData = true
	default:
		return r.fault(0, "expected @relation, @attribute or @data, found %s", quote(keyword))
	}
	return nil
}

// row reads a line after @data.
func (r *arffReader) row(line string) *Error {
	if len(r.t.Lines) == r.lim.Rows {
		return beyond(r.line, r.lim.Rows, "row")
	}
	width := len(r.attributes)
	var fields []string
	var err error
	if line[0] == '{' {
		fields, err = arffSparse(line, r.attributes)
		for _, cell := range fields {
			r.dense += int64(len(cell)) + 1
		}
		if r.dense > r.lim.Bytes {
			return r.fault(0, "expected at most %s, counting the values that sparse rows omit", param.Bytes(r.lim.Bytes)).tooLarge()
		}
	} else {
		fields, err = arffFields(line, width+1)
	}
	if err != nil {
		return r.fault(0, "%s", err)
	}
	if len(fields) != width {
		found := fmt.Sprint(len(fields)) + ": complete the row, with ? for a missing value"
		if len(fields) > width {
			found = "more: put quotes around a value that contains a comma"
			if last := fields[width]; strings.HasPrefix(last, "{") {
				found = "the weight " + last + ": remove the weights, all rows count equally"
			}
		}
		return r.fault(0, "expected %s separated by comma, found %s", Count(width, "field"), found)
	}
	for j, cell := range fields {
		values := r.attributes[j].values
		if _, ok := slices.BinarySearch(values, cell); !ok && values != nil && !missing(cell) {
			e := r.fault(j+1, "expected a value that the attribute declares, found %s", quote(cell))
			e.Name = r.t.Columns[j].Name
			return e
		}
		r.t.Columns[j].add(cell)
	}
	r.t.Lines = append(r.t.Lines, r.line)
	return nil
}

// cutBlank cuts s at its first run of blanks.
func cutBlank(s string) (head, rest string) {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// parseAttribute parses the name and type after @attribute.
func parseAttribute(s string) (a arffAttribute, err error) {
	rest := ""
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		if a.name, rest, err = arffQuoted(s); err != nil {
			return a, err
		}
		rest = strings.TrimSpace(rest)
	} else if i := strings.IndexAny(s, " \t{"); i >= 0 {
		a.name, rest = s[:i], strings.TrimSpace(s[i:])
	} else {
		a.name = s
	}
	if tidy(a.name) == "" {
		return a, fmt.Errorf("expected a name after @attribute")
	}
	if strings.HasPrefix(rest, "{") {
		body, after, ok := strings.Cut(rest[1:], "}")
		if i := strings.LastIndex(rest, "}"); ok && after != "" {
			body, after = rest[1:i], rest[i+1:] // a brace inside quotes
		}
		if after = strings.TrimSpace(after); !ok || after != "" && after[0] != '%' {
			return a, fmt.Errorf("expected {value, …} after the name of attribute %s", quote(a.name))
		}
		if a.values, err = arffFields(body, -1); err == nil {
			a.omitted = a.values[0]
			slices.Sort(a.values)
		}
		return a, err
	}
	kind, _ := cutBlank(rest)
	switch kind = strings.ToLower(kind); kind {
	case "numeric", "real", "integer":
		a.omitted = "0"
	case "string", "date":
		a.needed = true
	default:
		err = fmt.Errorf("expected numeric, real, integer, string, date or {value, …} as the type of attribute %s, found %s", quote(a.name), quote(kind))
	}
	return a, err
}

// arffSparse returns the cells of a sparse row such as {0 1.5, 3 'a b'}: pairs of an attribute
// index, from 0, and a value.
func arffSparse(line string, attributes []arffAttribute) ([]string, error) {
	rest, closed := strings.CutSuffix(line[1:], "}")
	if !closed {
		return nil, fmt.Errorf("expected a closing } after the sparse row")
	}
	cells, next := lists.Map(attributes, func(a arffAttribute) string { return a.omitted }), 0
	given := make([]bool, len(cells))
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimLeft(strings.TrimPrefix(rest, ","), " \t") {
		index, after := cutBlank(rest)
		j, err := strconv.Atoi(index)
		if err != nil || after == "" || j < next || j >= len(cells) {
			return nil, fmt.Errorf("expected an index and a value, the indices in ascending order up to %d, found %s", len(cells)-1, quote(rest))
		}
		if cells[j], rest, err = arffField(after); err != nil {
			return nil, err
		}
		given[j], next = true, j+1
	}
	for j, a := range attributes {
		if a.needed && !given[j] {
			return nil, fmt.Errorf("expected a value of the attribute with index %d, a string or a date: sparse rows omit only numbers and nominal values", j)
		}
	}
	return cells, nil
}

// arffFields splits at commas and tabs outside quotes, keeping at most most fields unless most is
// negative.
func arffFields(s string, most int) ([]string, error) {
	var fields []string
	for {
		field, rest, err := arffField(s)
		if err != nil {
			return nil, err
		}
		s = rest
		if fields = append(fields, field); s == "" || len(fields) == most {
			return fields, nil
		}
		s = s[1:] // the comma or tab
	}
}

// arffField returns the field at the beginning of s, and what follows it: nothing, or a comma or
// tab and the next field. A comment behind a blank is left out.
func arffField(s string) (field, rest string, err error) {
	s = strings.TrimLeft(s, " \t")
	if s == "" || s[0] != '\'' && s[0] != '"' {
		i := strings.IndexAny(s, ",\t")
		if i < 0 {
			i = len(s)
		}
		if k := strings.Index(s[:i], " % "); k >= 0 {
			i = k
		}
		field, rest = strings.TrimSpace(s[:i]), s[i:]
	} else if field, rest, err = arffQuoted(s); err != nil {
		return "", "", err
	}
	next := strings.TrimLeft(rest, " \t")
	blanks := rest[:len(rest)-len(next)]
	switch {
	case next == "", next[0] == ',':
		return field, next, nil
	case next[0] == '%' && blanks != "":
		return field, "", nil
	case strings.Contains(blanks, "\t"):
		return field, "\t" + next, nil
	}
	return "", "", fmt.Errorf("expected a comma after the closing quote, found %s", quote(firstRune(next)))
}

// arffQuoted reads text in single or double quotes; a backslash escapes the next character, and \n,
// \r and \t become a blank.
func arffQuoted(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return tidy(b.String()), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s):
			if i++; strings.IndexByte("nrt", s[i]) >= 0 {
				b.WriteByte(' ')
				continue
			}
			fallthrough
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", fmt.Errorf("expected a closing %c", s[0])
}
