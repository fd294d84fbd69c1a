package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Rows in JSON, as programs write them:
//
//	[{"x": 1, "class": "a"}, {"x": 2, "class": "b"}]     records, or one after the other without brackets
//	{"x": [1, 2], "class": ["a", "b"]}                    columns
//	{"x": {"0": 1, "1": 2}, "class": {"0": "a", "1": "b"}}  columns by the names of rows
//	[["x", "class"], [1, "a"], [2, "b"]]                  lists, with names or without
//	{"columns": ["x", "class"], "data": [[1, "a"], [2, "b"]]}  lists with their names beside them
//	{"count": 2, "results": [{"x": 1, "class": "a"}, …]}  any of the lists within an object
//
// A null, or a key that a record lacks, is a missing value. An object within a record has a
// column for each of its keys: {"size": {"x": 1}} is size.x.

// beginsRecords reports whether a line begins a list of objects, beginsLists a list of lists.
func beginsRecords(line string) bool {
	return line == "[" || line[0] == '[' && strings.HasPrefix(strings.TrimSpace(line[1:]), "{")
}

func beginsLists(line string) bool {
	return line[0] == '[' && strings.HasPrefix(strings.TrimSpace(line[1:]), "[")
}

// graphKeys lists the keys of a graph in JSON lines.
var graphKeys = map[string]bool{"n": true, "edges": true, "directed": true, "edge_labels": true, "labels": true, "label": true, "class": true, "target": true}

// isGraph reports whether the object at the beginning of a text is a graph: it has edges, or nodes
// and only keys of graphs.
func isGraph(text string) bool {
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return true // to report the fault of the line
	}
	nodes, other := false, false
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return true
		}
		if key == "edges" {
			return true
		}
		nodes, other = nodes || key == "n", other || !graphKeys[key.(string)]
		if err := skipValue(dec); err != nil {
			return true
		}
	}
	return nodes && !other
}

// skipValue reads over a value.
func skipValue(dec *json.Decoder) error {
	t, err := dec.Token()
	if err != nil || t != json.Delim('[') && t != json.Delim('{') {
		return err
	}
	return skipRest(dec, 1)
}

// skipRest reads to the end of depth open lists and objects.
func skipRest(dec *json.Decoder, depth int) error {
	for depth > 0 {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
	return nil
}

// recordCell is a value of a record.
type recordCell struct {
	row, column int
	text        string
}

// recordReader reads rows in JSON. Only cells that are there take memory.
type recordReader struct {
	dec   *json.Decoder
	lim   Limits
	names []string
	at    map[string]int // columns by name
	cells []recordCell
	lines []int // where each row begins, of columns: in the first one
	byRow bool  // cells are in the order of rows
	lists bool  // rows are lists: names come last, or nowhere

	text string
	read int64 // of text
	line int   // at read
}

// here returns the line of the last token.
func (r *recordReader) here() int {
	to := r.dec.InputOffset()
	r.line += lineEnds(r.text[r.read:to])
	r.read = to
	return r.line
}

// parseRecords reads rows in JSON.
func parseRecords(text string, lim Limits) (*Table, *Error) {
	r := &recordReader{dec: json.NewDecoder(strings.NewReader(text)), lim: lim, at: map[string]int{}, byRow: true, text: text, line: 1}
	r.dec.UseNumber()
	if err := r.all(); err != nil {
		var fault *Error
		if errors.As(err, &fault) {
			return nil, fault
		}
		line := r.here()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, &Error{Line: line, Message: "expected more: the JSON ends before its last bracket"}
		}
		return nil, &Error{Line: line, Message: jsonFault(err)}
	}
	if len(r.lines)*len(r.names) > int(lim.Bytes) {
		return nil, &Error{Message: fmt.Sprintf("expected fewer empty cells: %s have %s between them", Count(len(r.lines), "record"), Count(len(r.names), "key")), Err: ErrTooLarge}
	}
	return r.table()
}

// all reads the whole text.
func (r *recordReader) all() error {
	start, err := r.dec.Token()
	if err != nil {
		return err
	}
	if start == json.Delim('[') {
		if err := r.list(); err != nil {
			return err
		}
		return r.end()
	}
	switch columns, within, err := shapeOf(r.text); {
	case err != nil:
		return err
	case within != "":
		return r.within(within)
	case columns:
		return r.columns()
	}
	for {
		if err := r.record(); err != nil {
			return err
		}
		switch t, err := r.dec.Token(); {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case t != json.Delim('{'):
			return &Error{Message: fmt.Sprintf("record %d: expected an object, found %s", len(r.lines)+1, tokenText(t))}
		}
	}
}

// shapeOf tells what the object at the beginning of a text is: all columns, or what holds the rows
// in a list under a key, or else the first record.
func shapeOf(text string) (columns bool, within string, err error) {
	dec := json.NewDecoder(strings.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return false, "", err
	}
	objects, members, longest := 0, 0, int64(0)
	for ; dec.More(); members++ {
		key, err := dec.Token()
		if err != nil {
			return false, "", err
		}
		value, err := dec.Token()
		if err != nil {
			return false, "", err
		}
		switch value {
		case json.Delim('['):
			columns = columns || members == 0
			depth, from := 1, dec.InputOffset()
			if dec.More() {
				if value, err = dec.Token(); err != nil {
					return false, "", err
				}
				if _, nested := value.(json.Delim); nested {
					depth = 2
				}
			}
			err = skipRest(dec, depth)
			if n := dec.InputOffset() - from; depth == 2 && n > longest {
				within, longest = key.(string), n
			}
		case json.Delim('{'):
			objects++
			err = skipRest(dec, 1)
		}
		if err != nil {
			return false, "", err
		}
	}
	if _, err := dec.Token(); err != nil {
		return false, "", err
	}
	if dec.More() { // more records
		return false, "", nil
	}
	return within == "" && (columns || objects == members && members > 0), within, nil
}

// within reads the rows in the list of that key, and their names in one that is called columns.
func (r *recordReader) within(name string) error {
	var names []string
	for r.dec.More() {
		key, err := r.dec.Token()
		if err != nil {
			return err
		}
		switch key {
		case name:
			if _, err := r.dec.Token(); err != nil {
				return err
			}
			err = r.list()
		case "columns":
			names, err = r.texts()
		default:
			err = skipValue(r.dec)
		}
		if err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return err
	}
	if r.lists && names != nil {
		if len(names) != len(r.names) {
			return &Error{Message: fmt.Sprintf("expected a name for each of %s, found %d", Count(len(r.names), "column"), len(names))}
		}
		r.names, r.lists = names, false
	}
	return r.end()
}

// texts reads a list of names.
func (r *recordReader) texts() (names []string, err error) {
	if t, err := r.dec.Token(); err != nil || t != json.Delim('[') {
		return nil, errors.Join(err, &Error{Message: `expected a list of names under "columns"`})
	}
	for r.dec.More() {
		t, err := r.dec.Token()
		if _, is := t.(json.Delim); err != nil || is || len(names) >= r.lim.Columns {
			return nil, errors.Join(err, &Error{Message: `expected a list of names under "columns", one for each column`})
		}
		names = append(names, tidy(fmt.Sprint(t)))
	}
	_, err = r.dec.Token()
	return names, err
}

// list reads rows, the opening of whose list is behind: records, or lists of the same length.
func (r *recordReader) list() error {
	for r.dec.More() {
		t, err := r.dec.Token()
		switch {
		case err != nil:
			return err
		case t == json.Delim('{') && !r.lists:
			err = r.record()
		case t == json.Delim('[') && (r.lists || len(r.lines) == 0):
			r.lists = true
			err = r.row()
		default:
			return &Error{Message: fmt.Sprintf(`record %d: expected an object such as {"x": 1, "class": "a"}, found %s`, len(r.lines)+1, tokenText(t))}
		}
		if err != nil {
			return err
		}
	}
	_, err := r.dec.Token()
	return err
}

// row reads a row that is a list, after its opening bracket.
func (r *recordReader) row() error {
	row := len(r.lines)
	if row >= r.lim.Rows {
		return r.tooMany()
	}
	r.lines = append(r.lines, r.here())
	j := 0
	for ; r.dec.More(); j++ {
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		if j >= r.lim.Columns {
			return tooWide(0, j+1, r.lim)
		}
		if row == 0 {
			r.names = append(r.names, unnamed(j))
		}
		if _, is := t.(json.Delim); is {
			return nested(row+1, unnamed(j))
		}
		r.put(row, j, t)
	}
	if j != len(r.names) {
		return &Error{Message: fmt.Sprintf("record %d: expected %s as in the first, found %d", row+1, Count(len(r.names), "value"), j)}
	}
	_, err := r.dec.Token()
	return err
}

// header takes the first of rows that are lists for the names of columns, if all its values are
// words and not all of the second are.
func (r *recordReader) header() bool {
	words := make([]int, 2)
	for _, c := range r.cells {
		if c.row >= len(words) {
			break
		}
		if _, number := parseNumber(c.text); !number && !missing(c.text) {
			words[c.row]++
		}
	}
	if len(r.lines) < 2 || words[0] < len(r.names) || words[1] == len(r.names) {
		return false
	}
	for k := range r.names {
		r.names[k] = r.cells[k].text
	}
	r.cells, r.lines = r.cells[len(r.names):], r.lines[1:]
	for k := range r.cells {
		r.cells[k].row--
	}
	return true
}

// end makes sure that nothing follows.
func (r *recordReader) end() error {
	if t, err := r.dec.Token(); err != io.EOF {
		if err != nil {
			return err
		}
		return &Error{Message: "expected nothing behind the last bracket, found " + tokenText(t)}
	}
	return nil
}

// columns reads an object of columns, whose opening is behind.
func (r *recordReader) columns() error {
	r.byRow = false
	for r.dec.More() {
		known := len(r.names)
		name, err := r.dec.Token()
		if err != nil {
			return err
		}
		column, err := r.columnOf(name.(string)) // of which the decoder makes sure
		if err != nil {
			return err
		}
		t, err := r.dec.Token()
		switch {
		case err != nil:
			return err
		case t != json.Delim('[') && t != json.Delim('{'):
			return &Error{Message: fmt.Sprintf("column %q: expected a list as in the other columns, found %s", r.names[column], tokenText(t))}
		case column < known:
			return &Error{Message: fmt.Sprintf("column %q is there twice", r.names[column])}
		}
		if err := r.column(column, t == json.Delim('{')); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return err
	}
	return r.end()
}

// column reads the values of a column, whose opening is behind: a list, or an object by rows.
func (r *recordReader) column(column int, byName bool) error {
	n := 0
	for ; r.dec.More(); n++ {
		if n >= r.lim.Rows {
			return r.tooMany()
		}
		if column == 0 {
			r.lines = append(r.lines, r.here())
		}
		if byName {
			if _, err := r.dec.Token(); err != nil {
				return err
			}
		}
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		if _, is := t.(json.Delim); is {
			return nested(n+1, r.names[column])
		}
		r.put(n, column, t)
	}
	if n != len(r.lines) {
		return &Error{Message: fmt.Sprintf("column %q: expected %s as in the first column, found %d", r.names[column], Count(len(r.lines), "value"), n)}
	}
	_, err := r.dec.Token()
	return err
}

// record reads a record, whose opening is behind.
func (r *recordReader) record() error {
	row := len(r.lines)
	if row >= r.lim.Rows {
		return r.tooMany()
	}
	r.lines = append(r.lines, r.here())
	return r.members(row, "", 0)
}

// members reads the members of an object, whose opening is behind, and of those within it.
func (r *recordReader) members(row int, prefix string, depth int) error {
	const deepest = 8
	for r.dec.More() {
		name, err := r.dec.Token()
		if err != nil {
			return err
		}
		key := prefix + name.(string) // of which the decoder makes sure
		t, err := r.dec.Token()
		if err != nil {
			return err
		}
		if d, is := t.(json.Delim); is {
			if d != '{' || depth == deepest {
				return nested(row+1, key)
			}
			if err := r.members(row, key+".", depth+1); err != nil {
				return err
			}
			continue
		}
		column, err := r.columnOf(key)
		if err != nil {
			return err
		}
		r.put(row, column, t)
	}
	_, err := r.dec.Token()
	return err
}

func (r *recordReader) tooMany() *Error {
	return &Error{Message: "expected at most " + Count(r.lim.Rows, "row"), Err: ErrTooLarge}
}

// nested returns the error for a nested value.
func nested(record int, name string) *Error {
	return &Error{Message: fmt.Sprintf("record %d: %q is a list: expected a number or a text, each under a key of its own", record, name)}
}

// columnOf returns the column of a key.
func (r *recordReader) columnOf(name string) (int, error) {
	j, ok := r.at[name]
	if !ok {
		if j = len(r.names); j >= r.lim.Columns {
			return 0, tooWide(0, j+1, r.lim)
		}
		r.names = append(r.names, name)
		r.at[name] = j
	}
	return j, nil
}

// put stores a value.
func (r *recordReader) put(row, column int, t json.Token) {
	switch v := t.(type) {
	case string:
		r.cells = append(r.cells, recordCell{row, column, v})
	case json.Number:
		r.cells = append(r.cells, recordCell{row, column, v.String()})
	case bool:
		r.cells = append(r.cells, recordCell{row, column, fmt.Sprint(v)})
	}
}

// tokenText describes a token.
func tokenText(t json.Token) string {
	switch v := t.(type) {
	case json.Delim:
		return v.String()
	case string:
		return fmt.Sprintf("%q", v)
	case nil:
		return "null"
	}
	return fmt.Sprint(t)
}

// table returns the table of the records read.
func (r *recordReader) table() (*Table, *Error) {
	named := !r.lists || r.header()
	t := &Table{Format: "json", Header: named, first: 1, Lines: r.lines, Columns: make([]Column, len(r.names))}
	for j := range t.Columns {
		t.Columns[j].expected = len(r.lines)
	}
	if r.byRow {
		row, next := make([]string, len(r.names)), 0
		for i := range len(r.lines) {
			clear(row)
			for ; next < len(r.cells) && r.cells[next].row == i; next++ {
				row[r.cells[next].column] = r.cells[next].text
			}
			for j := range row {
				t.Columns[j].add(row[j])
			}
		}
	} else {
		next := 0
		for j := range t.Columns {
			for i := range len(r.lines) {
				text := ""
				if next < len(r.cells) && r.cells[next].column == j && r.cells[next].row == i {
					text = r.cells[next].text
					next++
				}
				t.Columns[j].add(text)
			}
		}
	}
	if err := noRows(t); err != nil {
		return nil, err
	}
	if len(r.names) == 0 {
		return nil, &Error{Message: `expected records with keys, such as {"x": 1, "class": "a"}, found empty ones`}
	}
	return t, t.setNames(r.names)
}
