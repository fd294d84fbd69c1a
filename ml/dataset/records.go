package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Rows in JSON, as programs write them:
//
//	[{"x": 1, "class": "a"}, {"x": 2, "class": "b"}]     records, or one after the other without brackets
//	{"x": [1, 2], "class": ["a", "b"]}                    columns
//	{"x": {"0": 1, "1": 2}, "class": {"0": "a", "1": "b"}}  columns keyed by row name
//	{"0": {"x": 1, "class": "a"}, "1": {"x": 2, "class": "b"}}  records keyed by number or name
//	[["x", "class"], [1, "a"], [2, "b"]]                  lists, with or without names
//	{"columns": ["x", "class"], "data": [[1, "a"], [2, "b"]]}  lists with the names given separately
//	{"data": [[1, 2], [3, 4]], "target": ["a", "b"]}       lists with further columns beside them
//	{"count": 2, "results": [{"x": 1, "class": "a"}, …]}  any of the lists within an object
//
// A null, Python's NaN or None, or a key missing from a record is a missing value. An object within a
// record yields a column for each of its keys: {"size": {"x": 1}} is size.x.

// beginsRecords reports whether a line begins a list of objects; beginsLists, a list of lists.
func beginsRecords(line string) bool {
	return line == "[" || line[0] == '[' && strings.HasPrefix(strings.TrimSpace(line[1:]), "{")
}

func beginsLists(line string) bool {
	return line[0] == '[' && strings.HasPrefix(strings.TrimSpace(line[1:]), "[")
}

// geoFeature matches the type of a feature of GeoJSON or of a collection of them.
var geoFeature = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"type"\s*:\s*"Feature(Collection)?"`) })

// isGeoJSON reports whether a JSON text begins with features of a map.
func isGeoJSON(text string) bool {
	const beginning = 4096
	text = text[:min(len(text), beginning)]
	return strings.Contains(text, `"coordinates"`) && geoFeature().MatchString(text)
}

// beginsArray reports whether a line begins an array as NumPy prints it: array([1, 2], or with
// spaces instead of commas.
func beginsArray(line string) bool {
	numbers := line[0] == '[' && strings.Trim(strings.TrimRight(line, "]"), "[0123456789+-.e naif") == ""
	return strings.HasPrefix(line, "array([") || (numbers || beginsLists(line)) && strings.ContainsAny(line, "0123456789") && !strings.Contains(line, ",")
}

// saveArray is the remedy for arrays of NumPy.
const saveArray = `save it as CSV with numpy.savetxt(…, delimiter=",")`

// graphKeys lists the keys of a graph in JSON lines.
var graphKeys = map[string]bool{"n": true, "edges": true, "directed": true, "edge_labels": true, "labels": true, "label": true, "class": true, "target": true}

// isGraph reports whether text begins with an object that is a graph: it has a list of edges or,
// unless it is in a list of records, a number of nodes and only keys of graphs.
func isGraph(text string, listed bool) bool {
	d := tokensOf(text)
	d.next()
	nodes, other := false, listed
	for d.more() {
		key := d.key()
		switch d.next() {
		case json.Delim('['):
			if key == "edges" {
				return true
			}
			d.skipRest(1)
		case json.Delim('{'):
			d.skipRest(1)
		}
		nodes, other = nodes || key == "n", other || !graphKeys[key]
	}
	return nodes && !other
}

// tokens reads JSON token by token, up to the first error.
type tokens struct {
	*json.Decoder
	text string
	err  error
}

func tokensOf(text string) *tokens {
	return &tokens{Decoder: json.NewDecoder(strings.NewReader(text)), text: text}
}

// fail keeps the first error.
func (d *tokens) fail(err error) { d.err = cmp.Or(d.err, err) }

// next returns the next token, nil after an error.
func (d *tokens) next() (t json.Token) {
	if d.err == nil {
		t, d.err = d.Token()
	}
	if wrong, is := d.err.(*json.SyntaxError); is { // its offset counts from the last value
		before, rest := d.text[:d.InputOffset()], strings.TrimSpace(d.text[d.InputOffset():])
		what, remedy := "found no JSON: "+wrong.Error(), ""
		if value, comma := strings.CutSuffix(strings.TrimSpace(before), ","); comma && (strings.HasPrefix(rest, "]") || strings.HasPrefix(rest, "}")) {
			before, what, remedy = value, "expected no comma before "+rest[:1]+", found one", ": remove it"
		} else if strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "#") {
			what, remedy = "expected JSON, found a comment", ": remove it, since JSON has none"
		}
		const most = 30
		tail := []rune(before[strings.LastIndexByte(before, '\n')+1:])
		if at := len(tail) - most; at > 0 {
			tail = append([]rune("…"), tail[at:]...)
		}
		if len(tail) > 0 {
			what += " after " + string(tail)
		}
		d.err = &Error{Line: 1 + lineEnds(before), Message: strings.TrimSpace(what) + remedy}
	}
	return t
}

// key returns the next token, which the decoder guarantees to be a string.
func (d *tokens) key() string {
	name, _ := d.next().(string)
	return name
}

// more reports whether the list or object has another element.
func (d *tokens) more() bool { return d.err == nil && d.More() }

func (d *tokens) skipValue() {
	if t := d.next(); t == json.Delim('[') || t == json.Delim('{') {
		d.skipRest(1)
	}
}

// skipRest skips to the end of depth open lists and objects.
func (d *tokens) skipRest(depth int) {
	for depth > 0 && d.err == nil {
		switch d.next() {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
}

// recordCell is a value in a column.
type recordCell struct {
	row  int
	text string
}

// recordReader reads rows in JSON. Missing cells take no memory.
type recordReader struct {
	*tokens
	lim   Limits
	names []string
	at    map[string]int // columns by name
	cells [][]recordCell // of each column, by ascending row
	lines []int          // where each row begins; in columns, its place in the first one
	lists bool           // rows are lists: names come last, or not at all
	note  string         // on what is not read

	read int64 // bytes of text read
	line int   // at read
}

// here returns the line of the last token.
func (r *recordReader) here() int {
	to := r.InputOffset()
	r.line += lineEnds(r.text[r.read:to])
	r.read = to
	return r.line
}

// pythonWords lists words that Python writes where JSON has none or a different one.
var pythonWords = [][2]string{
	{"NaN", "null"},
	{"nan", "null"},
	{"None", "null"},
	{"True", "true"},
	{"False", "false"},
	{"Infinity", `"Infinity"`},
	{"-Infinity", `"-Infinity"`},
	{"inf", `"inf"`},
	{"-inf", `"-inf"`},
}

// plainJSON returns text with pythonWords and single quotes replaced by plain JSON.
func plainJSON(text string) string {
	var b strings.Builder
	from, end := 0, byte(0) // start of what is not yet in b; quote that ends the text around i, or 0
	replace := func(at, n int, with string) {
		b.WriteString(text[from:at])
		b.WriteString(with)
		from = at + n
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case end != 0 && c == '\\':
			if i++; end == '\'' && i < len(text) && text[i] == end {
				replace(i-1, 1, "")
			}
		case c == '\'' && (end == 0 || end == c):
			replace(i, 1, `"`)
			end ^= c
		case c == '"' && end == '\'':
			replace(i, 1, `\"`)
		case c == '"':
			end ^= c
		case end == 0 && strings.IndexByte("NnTFIi-", c) >= 0:
			if k := slices.IndexFunc(pythonWords, func(w [2]string) bool { return strings.HasPrefix(text[i:], w[0]) }); k >= 0 {
				replace(i, len(pythonWords[k][0]), pythonWords[k][1])
				i = from - 1
			}
		}
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

// parseRecords reads rows in JSON.
func parseRecords(text string, lim Limits) (*Table, *Error) {
	text = plainJSON(text)
	r := &recordReader{tokens: tokensOf(text), lim: lim, at: map[string]int{}, line: 1}
	r.UseNumber()
	if r.all(); r.err != nil {
		var fault *Error
		if errors.As(r.err, &fault) {
			return nil, fault
		}
		return nil, &Error{Line: r.here(), Message: "expected a closing bracket, found the end of the file: save or download the file again"}
	}
	if len(r.lines)*len(r.names) > int(lim.Bytes) {
		return nil, &Error{Message: fmt.Sprintf("expected fewer empty cells: %s have %s in all", Count(len(r.lines), "record"), Count(len(r.names), "key")), Err: ErrTooLarge}
	}
	return r.table()
}

// all reads the whole text.
func (r *recordReader) all() {
	switch t := r.next(); {
	case t == json.Delim('['):
		r.list()
		r.end()
		return
	case t != json.Delim('{'):
		r.fail(&Error{Message: `expected records such as [{"x": 1, "class": "a"}], found ` + quote(fmt.Sprint(t))})
		return
	}
	columns, numbered, within, err := shapeOf(r.text)
	r.fail(err)
	switch {
	case numbered:
		for r.more() {
			r.key()
			r.next()
			r.record()
		}
		r.next()
		r.end()
		return
	case within != "":
		r.within(within)
		return
	case columns:
		r.columns()
		return
	}
	for r.err == nil {
		if r.record(); r.err != nil {
			return
		}
		switch t := r.next(); {
		case r.err == io.EOF:
			r.err = nil
			return
		case t != json.Delim('{'):
			r.fail(&Error{Message: fmt.Sprintf("record %d: expected an object, found %s", len(r.lines)+1, tokenText(t))})
		}
	}
}

// shapeOf reports what the object at the beginning of a text is: all columns, or records keyed by
// number or name, or a wrapper with the rows in a list under the key within, or else the first record.
func shapeOf(text string) (columns, numbered bool, within string, err error) {
	d := tokensOf(text)
	d.next()
	objects, members, longest := 0, 0, int64(0)
	numbered = true
	for ; d.more(); members++ {
		key := d.key()
		switch d.next() {
		case json.Delim('['):
			columns = columns || members == 0
			depth, from := 1, d.InputOffset()
			if d.more() {
				if _, nested := d.next().(json.Delim); nested {
					depth = 2
				}
			}
			d.skipRest(depth)
			if n := d.InputOffset() - from; depth == 2 && n > longest {
				within, longest = key, n
			}
		case json.Delim('{'):
			objects++
			_, record := parseNumber(key)
			var texts, numbers bool
			for first := true; d.more(); first = false {
				if _, counts := parseNumber(d.key()); first && counts {
					numbered = false
				}
				switch d.next().(type) {
				case string:
					texts = true
				case float64:
					numbers = true
				case json.Delim:
					d.skipRest(1)
				}
			}
			d.next()
			numbered = numbered && (record || texts && numbers) // a column does not mix them
		}
	}
	if d.next(); d.err != nil || d.More() { // more records
		return false, false, "", d.err
	}
	objectsOnly := objects == members && members > 0
	return within == "" && (columns || objectsOnly), numbered && objectsOnly, within, nil
}

// within reads the rows in the list with the key name, column names in the list "columns" or
// "feature_names", and further columns in lists with a value for each row. It notes other lists.
func (r *recordReader) within(name string) {
	var names, beside []string
	values := map[string][]recordCell{}
	for r.more() {
		switch key := r.key(); key {
		case name:
			r.next()
			r.list()
		case "columns", "feature_names":
			names = r.texts(key)
		case "index":
			r.skipValue()
		default:
			if cells, is := r.values(); is {
				beside, values[key] = append(beside, key), cells
			}
		}
	}
	r.next()
	if r.lists && names != nil {
		if len(names) != len(r.names) {
			r.fail(&Error{Message: fmt.Sprintf("expected a name for each of %s, found %d", Count(len(r.names), "column"), len(names))})
		}
		r.names, r.lists = names, false
	}
	var left []string
	for _, key := range beside {
		if len(values[key]) != len(r.lines) || slices.Contains(r.names, key) {
			left = append(left, key)
			continue
		}
		if r.lists { // the rows have no names, but this column does
			for j := range r.names {
				r.names[j] = fmt.Sprintf("x%d", j+1)
			}
			r.lists = false
		}
		r.names, r.cells = append(r.names, key), append(r.cells, values[key])
	}
	if left != nil {
		r.note = fmt.Sprintf("rows read from %s; %s left out", quote(name), list(left))
	}
	r.end()
}

// values reads any value: the cells of a list, none if they are lists or objects; is reports
// whether it is a list that is not empty.
func (r *recordReader) values() (cells []recordCell, is bool) {
	switch r.next() {
	case json.Delim('{'):
		r.skipRest(1)
	case json.Delim('['):
		for ; r.more(); is = true {
			t := r.next()
			if _, nested := t.(json.Delim); nested {
				r.skipRest(2)
				return nil, true
			}
			cells = append(cells, recordCell{len(cells), cellText(t)})
		}
		r.next()
	}
	return cells, is
}

// texts reads the list of names under key.
func (r *recordReader) texts(key string) (names []string) {
	if r.next() != json.Delim('[') {
		r.err = &Error{Message: fmt.Sprintf("expected a list of names under %q", key)}
	}
	for r.more() {
		t := r.next()
		if _, is := t.(json.Delim); r.err != nil || is || len(names) >= r.lim.Columns {
			r.err = &Error{Message: fmt.Sprintf("expected a list of names under %q, one for each column", key)}
		}
		names = append(names, tidy(fmt.Sprint(t)))
	}
	r.next()
	return names
}

// list reads rows, after the opening of their list: records, or lists of equal length.
func (r *recordReader) list() {
	for r.more() {
		switch t := r.next(); {
		case t == json.Delim('{') && !r.lists:
			r.record()
		case t == json.Delim('[') && (r.lists || len(r.lines) == 0):
			r.lists = true
			r.row()
		default:
			r.fail(&Error{Message: fmt.Sprintf(`record %d: expected an object such as {"x": 1, "class": "a"}, found %s`, len(r.lines)+1, tokenText(t))})
		}
	}
	r.next()
}

// row reads a row that is a list, after its opening bracket.
func (r *recordReader) row() {
	row := r.begin()
	j := 0
	for ; r.more(); j++ {
		t := r.next()
		if j >= r.lim.Columns {
			r.fail(tooWide(0, j+1, r.lim))
		}
		if row == 0 {
			r.columnOf(unnamed(j))
		}
		if _, is := t.(json.Delim); is {
			r.fail(nested(row+1, unnamed(j)))
		}
		if j < len(r.names) {
			r.put(row, j, t)
		}
	}
	if j != len(r.names) {
		r.fail(&Error{Message: fmt.Sprintf("record %d: expected %s as in the first, found %d", row+1, Count(len(r.names), "value"), j)})
	}
	r.next()
}

// end checks that nothing follows.
func (r *recordReader) end() {
	if r.err != nil {
		return
	}
	if t := r.next(); r.err == io.EOF {
		r.err = nil
	} else {
		r.fail(&Error{Message: "expected nothing after the last bracket, found " + tokenText(t)})
	}
}

// columns reads an object of columns, after its opening brace.
func (r *recordReader) columns() {
	for r.more() {
		known := len(r.names)
		column := r.columnOf(r.key())
		switch t := r.next(); {
		case t != json.Delim('[') && t != json.Delim('{'):
			r.fail(&Error{Message: fmt.Sprintf("column %q: expected a list as in the other columns, found %s", r.names[column], tokenText(t))})
		case column < known:
			r.fail(&Error{Message: fmt.Sprintf("column %q occurs twice", r.names[column])})
		default:
			r.column(column, t == json.Delim('{'))
		}
	}
	r.next()
	r.end()
}

// column reads the values of a column, after its opening: a list, or an object keyed by row.
func (r *recordReader) column(column int, byName bool) {
	n := 0
	for ; r.more(); n++ {
		if n >= r.lim.Rows {
			r.fail(beyond(0, r.lim.Rows, "row"))
			return
		}
		if column == 0 {
			r.lines = append(r.lines, r.here())
		}
		if byName {
			r.next()
		}
		t := r.next()
		if _, is := t.(json.Delim); is {
			r.fail(nested(n+1, r.names[column]))
		}
		r.put(n, column, t)
	}
	if n != len(r.lines) {
		r.fail(&Error{Message: fmt.Sprintf("column %q: expected %s as in the first column, found %d", r.names[column], Count(len(r.lines), "value"), n)})
	}
	r.next()
}

// record reads a record, after its opening brace.
func (r *recordReader) record() { r.members(r.begin(), "", 0) }

// begin starts a row and returns its number.
func (r *recordReader) begin() int {
	row := len(r.lines)
	if row >= r.lim.Rows {
		r.fail(beyond(0, r.lim.Rows, "row"))
	}
	r.lines = append(r.lines, r.here())
	return row
}

// members reads the members of an object, after its opening brace, including nested objects.
func (r *recordReader) members(row int, prefix string, depth int) {
	const deepest = 8
	for r.more() {
		key := prefix + r.key()
		t := r.next()
		switch d, is := t.(json.Delim); {
		case !is:
			j := r.columnOf(key)
			if cells := r.cells[j]; len(cells) > 0 && cells[len(cells)-1].row == row {
				r.fail(&Error{Message: fmt.Sprintf("record %d: expected each key once, found %q twice", row+1, key)})
			}
			r.put(row, j, t)
		case d == '{' && depth < deepest:
			r.members(row, key+".", depth+1)
		default:
			r.fail(nested(row+1, key))
		}
	}
	r.next()
}

func nested(record int, name string) *Error {
	return &Error{Message: fmt.Sprintf("record %d: %q is a list: expected a number or a string, each under its own key", record, name)}
}

func (r *recordReader) columnOf(name string) int {
	j, ok := r.at[name]
	if !ok {
		if j = len(r.names); j >= r.lim.Columns {
			r.fail(tooWide(0, j+1, r.lim))
			return 0
		}
		r.names, r.cells = append(r.names, name), append(r.cells, nil)
		r.at[name] = j
	}
	return j
}

// put stores a value.
func (r *recordReader) put(row, column int, t json.Token) {
	r.cells[column] = append(r.cells[column], recordCell{row, cellText(t)})
}

// cellText returns a value as text, null as none.
func cellText(t json.Token) string {
	if t == nil {
		return ""
	}
	return fmt.Sprint(t)
}

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

func (r *recordReader) table() (*Table, *Error) {
	t := &Table{Format: "json", Header: !r.lists, first: 1, Lines: r.lines, Columns: make([]Column, len(r.names))}
	for j := range t.Columns {
		t.Columns[j].expected = len(r.lines)
		cells := r.cells[j]
		for i := range r.lines {
			text := ""
			if len(cells) > 0 && cells[0].row == i {
				text, cells = cells[0].text, cells[1:]
			}
			t.Columns[j].add(text)
		}
	}
	names := r.names
	if r.lists {
		names = t.cutHeader(',')
	}
	if err := noRows(t); err != nil {
		return nil, err
	}
	if len(r.names) == 0 {
		return nil, &Error{Message: `expected records with keys, such as {"x": 1, "class": "a"}, found empty ones`}
	}
	if t.Header {
		t.setNames(names)
	}
	if r.note != "" {
		t.Notes = append(t.Notes, r.note)
	}
	return t, nil
}
