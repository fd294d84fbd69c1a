package dataset

import (
	"fmt"
	"slices"
	"strings"
)

// parseARFF reads the attribute-relation format of Weka: @relation, @attribute with
// a numeric, nominal, string or date type, and @data with comma-separated rows; %
// begins a comment line. Sparse rows and relational attributes are refused.
func parseARFF(text string, lim Limits) (*Table, *Error) {
	t := &Table{Format: "arff", Header: true}
	var names []string
	var allowed [][]string // sorted values of a nominal attribute, nil for others
	inData := false
	for n, rest := 1, text; rest != ""; n++ {
		fault := func(column int, format string, args ...any) *Error {
			return &Error{Line: n, Column: column, Message: fmt.Sprintf(format, args...)}
		}
		var line string
		line, rest = cutLine(rest)
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '%' {
			continue
		}
		if !inData {
			keyword, arg := cutBlank(line)
			switch strings.ToLower(keyword) {
			case "@relation":
			case "@attribute":
				name, values, err := arffAttribute(arg)
				if err != nil {
					return nil, fault(0, "%s", err)
				}
				if len(names) == lim.Columns {
					e := fault(0, "expected at most %s", Count(lim.Columns, "column"))
					e.Err = ErrTooLarge
					return nil, e
				}
				names = append(names, name)
				allowed = append(allowed, values)
				t.Columns = append(t.Columns, Column{Nominal: values != nil})
			case "@data":
				if len(names) == 0 {
					return nil, fault(0, "expected an @attribute before @data")
				}
				if err := t.setNames(names); err != nil {
					return nil, err
				}
				inData = true
			default:
				return nil, fault(0, "expected @relation, @attribute or @data, found %s", quote(keyword))
			}
			continue
		}
		if line[0] == '{' {
			return nil, fault(0, "expected values separated by commas, found a sparse row: sparse ARFF is not supported")
		}
		if len(t.Lines) == lim.Rows {
			e := fault(0, "expected at most %s", Count(lim.Rows, "row"))
			e.Err = ErrTooLarge
			return nil, e
		}
		fields, err := arffFields(line, len(names)+1)
		if err != nil {
			return nil, fault(0, "%s", err)
		}
		if len(fields) != len(names) {
			found := fmt.Sprint(len(fields))
			if len(fields) > len(names) {
				found = "more"
			}
			return nil, fault(0, "expected %s separated by comma, found %s", Count(len(names), "field"), found)
		}
		for j, cell := range fields {
			if _, ok := slices.BinarySearch(allowed[j], cell); !ok && allowed[j] != nil && !missing(cell) {
				e := fault(j+1, "expected a value that the attribute declares, found %s", quote(cell))
				e.Name = t.Columns[j].Name
				return nil, e
			}
			t.Columns[j].add(cell)
		}
		t.Lines = append(t.Lines, n)
	}
	if !inData {
		return nil, &Error{Message: "expected @data and rows after it, found the end of the file"}
	}
	if len(t.Lines) == 0 {
		return nil, &Error{Message: "expected at least one row of data after @data, found none"}
	}
	return t, nil
}

// cutBlank cuts s at its first run of blanks.
func cutBlank(s string) (head, rest string) {
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], strings.TrimSpace(s[i:])
	}
	return s, ""
}

// arffAttribute parses the name and type after @attribute. values holds the sorted values
// of a nominal attribute, nil for other types.
func arffAttribute(s string) (name string, values []string, err error) {
	rest := ""
	if s != "" && (s[0] == '\'' || s[0] == '"') {
		if name, rest, err = arffQuoted(s); err != nil {
			return "", nil, err
		}
		rest = strings.TrimSpace(rest)
	} else if i := strings.IndexAny(s, " \t{"); i >= 0 {
		name, rest = s[:i], strings.TrimSpace(s[i:])
	} else {
		name = s
	}
	if tidy(name) == "" {
		return "", nil, fmt.Errorf("expected a name after @attribute")
	}
	if strings.HasPrefix(rest, "{") {
		body, after, ok := strings.Cut(rest[1:], "}")
		if i := strings.LastIndex(rest, "}"); ok && after != "" {
			body, after = rest[1:i], rest[i+1:] // a brace inside quotes
		}
		if !ok || strings.TrimSpace(after) != "" {
			return "", nil, fmt.Errorf("expected {value, …} after the name of attribute %s", quote(name))
		}
		if values, err = arffFields(body, -1); err != nil {
			return "", nil, err
		}
		slices.Sort(values)
		return name, values, nil
	}
	kind, _ := cutBlank(rest)
	if kind = strings.ToLower(kind); !slices.Contains([]string{"numeric", "real", "integer", "string", "date"}, kind) {
		return "", nil, fmt.Errorf("expected numeric, real, integer, string, date or {value, …} as the type of attribute %s, found %s", quote(name), quote(kind))
	}
	return name, nil, nil
}

// arffFields splits at commas outside quotes, keeping at most most fields unless most is
// negative.
func arffFields(s string, most int) ([]string, error) {
	var fields []string
	for {
		s = strings.TrimLeft(s, " \t")
		var field string
		if s != "" && (s[0] == '\'' || s[0] == '"') {
			var err error
			if field, s, err = arffQuoted(s); err != nil {
				return nil, err
			}
			if s = strings.TrimLeft(s, " \t"); s != "" && s[0] != ',' {
				return nil, fmt.Errorf("expected a comma after the closing quote, found %s", quote(firstRune(s)))
			}
		} else {
			i := strings.IndexByte(s, ',')
			if i < 0 {
				i = len(s)
			}
			field, s = strings.TrimSpace(s[:i]), s[i:]
		}
		if fields = append(fields, field); s == "" || len(fields) == most {
			return fields, nil
		}
		s = s[1:] // the comma
	}
}

// arffQuoted reads text in single or double quotes; a backslash escapes the next
// character.
func arffQuoted(s string) (text, rest string, err error) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			return tidy(b.String()), s[i+1:], nil
		case s[i] == '\\' && i+1 < len(s):
			i++
			fallthrough
		default:
			b.WriteByte(s[i])
		}
	}
	return "", "", fmt.Errorf("expected a closing %c", s[0])
}
