package dataset

import (
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Limits bound what a reader accepts. A field that is zero means its default.
type Limits struct {
	Bytes   int64 // 10 MB; 2 GB at most
	Rows    int   // 100 000
	Columns int   // 201: 200 features and the label
}

// DefaultLimits are the limits of uploads unless flags change them.
var DefaultLimits = Limits{Bytes: 10 << 20, Rows: 100_000, Columns: 201}

func (l Limits) orDefault() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultLimits.Bytes
	}
	l.Bytes = min(l.Bytes, 2<<30) // see cells
	if l.Rows <= 0 {
		l.Rows = DefaultLimits.Rows
	}
	if l.Columns <= 0 {
		l.Columns = DefaultLimits.Columns
	}
	return l
}

// cells returns the most values in a table. A value takes at least two bytes in a
// dense file; a sparse one may not exceed that either.
func (l Limits) cells() int64 { return l.Bytes/2 + 1 }

// ErrTooLarge is wrapped by the *Error of a file beyond its Limits.
var ErrTooLarge = errors.New("file too large")

// Error describes a fault in a file: its place and the expected content.
type Error struct {
	File         string
	Line, Column int    // 1-based; 0 when it concerns the whole file or line. Column counts fields
	Name         string // the column's name, or empty
	Message      string
	Err          error // the cause: ErrTooLarge, a failure to read, or nil
}

// Error reads like `points.csv, line 7, column 2 (x2): expected a number, found "abc"`.
func (e *Error) Error() string {
	var place []string
	if e.File != "" {
		place = append(place, e.File)
	}
	if e.Line > 0 {
		place = append(place, fmt.Sprintf("line %d", e.Line))
	}
	switch {
	case e.Column > 0 && e.Name != "":
		place = append(place, fmt.Sprintf("column %d (%s)", e.Column, e.Name))
	case e.Column > 0:
		place = append(place, fmt.Sprintf("column %d", e.Column))
	}
	if len(place) == 0 {
		return e.Message
	}
	return strings.Join(place, ", ") + ": " + e.Message
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// tooLarge marks the error as one of exceeded limits.
func (e *Error) tooLarge() *Error {
	e.Err = ErrTooLarge
	return e
}

// beyond returns the error for a file with more rows, columns or the like than its limits allow.
func beyond(line, most int, noun string) *Error {
	return (&Error{Line: line, Message: "expected at most " + Count(most, noun)}).tooLarge()
}

// Table holds a file as read: cells are still text, not yet divided into features and
// label. It has at least one row and one column, and every column has a cell for
// every row.
type Table struct {
	File         string   // name for error messages
	Format       string   // "csv", "libsvm", "arff", "fasta", "json", "jsonl", "graphml", "zip", "tu", "xlsx"; Separator says more for csv
	Separator    string   // of csv: "comma", "semicolon", "tab", "spaces"; else empty
	DecimalComma bool     // numbers were written 1,5; cells have 1.5
	Header       bool     // the file names its columns; otherwise they are x1, x2 … and label
	Sheet        string   // of a workbook, the one that was read
	Sheets       []string // of a workbook, those that are not hidden
	Kind         Kind     // of objects that are no vectors: the file says so, by its first line or by pairs 0:i; else empty
	Columns      []Column
	Lines        []int    // line number in the file of each row
	Notes        []string // guesses about the file, as clauses
	sign         signs    // decimalComma or decimalPoint, if numbers of the file prove it; else 0
	commas       bool     // numbers of some columns were written 1,5, in contrast to the others
	first        int      // line of the first record of CSV, header or row
	members      []string // of texts that are files of their own: the name of each
	graphs       int      // of a table of graphs: how many columns hold them, the first ones
	asks         bool     // which of these columns is meant is in doubt
	limits       Limits   // of reading
}

// Column is one column of a Table.
type Column struct {
	Name    string // unique in the table, not empty
	Numeric bool   // every cell is a finite number
	Nominal bool   // an ARFF file declares it nominal
	cells
}

// Mapping says which column is the label and which are features. Names are matched
// exactly or else regardless of case.
type Mapping struct {
	Kind     Kind     // what the rows are; empty: as the file says, else strings where there are but words, else vectors
	Label    string   // empty: as Guess proposes
	Features []string // of vectors; nil: all others but a column of row numbers without a name. A column of up to 20 distinct words becomes one column of 0 and 1 for each word. Of strings and graphs: their column, nil as Guess proposes
	Proposed bool     // nil Features, nil Fixes and an empty Missing are those that Propose proposes
	Missing  Missing  // what to do with missing values; empty: they are a fault
	Fixes    []Fix    // corrections of the table, in this order, before all else
}

// ParseTable reads a file of any known format: CSV with its many separators,
// LIBSVM/SVMlight, ARFF, FASTA, JSON records and columns, JSON lines of graphs and GraphML, in
// UTF-8, UTF-16 or Windows-1250 to 1254, packed by gzip or not; or a zip archive of texts in folders
// that are their classes, or with one CSV of their names and labels beside them, or of a set of
// graphs as TU Dortmund writes them. The content tells the format; the extension of file is a
// hint, and file is the name in messages. Every failure is an *Error; one for a file beyond lim
// (zero fields: DefaultLimits) wraps ErrTooLarge.
func ParseTable(r io.Reader, file string, lim Limits) (*Table, error) {
	return ParseSheet(r, file, "", lim)
}

// ParseSheet is ParseTable of a sheet of a workbook; empty: the first that holds data, if any.
// Names are matched exactly or else regardless of case. That there is none of the name, or
// that the file is no workbook, is an *Error.
func ParseSheet(r io.Reader, file, sheet string, lim Limits) (*Table, error) {
	lim = lim.orDefault()
	raw, fault := readRaw(r, file, lim)
	if fault != nil {
		return nil, fault
	}
	if strings.HasPrefix(raw, gzipMagic) {
		if raw, fault = unzipped(raw, file, lim); fault != nil {
			return nil, fault
		}
		if ext := path.Ext(file); strings.EqualFold(ext, ".gz") {
			file = strings.TrimSuffix(file, ext)
		}
	}
	if isArchive(raw) {
		return parseArchive(raw, file, sheet, lim)
	}
	if sheet != "" {
		return nil, noWorkbook(file, sheet)
	}
	text, note, fault := decodeText(raw)
	if fault != nil {
		if fault.Line > 0 && slices.Contains(spreadsheetEndings, strings.ToLower(path.Ext(file))) {
			fault = &Error{Message: "expected a workbook, found a file that is neither a zip archive nor text: save the sheet again as .xlsx or CSV"}
		}
		fault.File = file
		return nil, fault
	}
	t, err := parseText(text, file, lim)
	if err == nil && note != "" {
		t.Notes = append([]string{note}, t.Notes...)
	}
	return t, err
}

// spreadsheetEndings end the names of workbooks.
var spreadsheetEndings = []string{".xlsx", ".xlsm", ".xls", ".ods"}

// parseText is ParseTable of a file that is text.
func parseText(text, file string, lim Limits) (*Table, error) {
	var fault *Error
	var t *Table
	switch detect(text, file) {
	case "arff":
		t, fault = parseARFF(text, lim)
	case "libsvm":
		t, fault = parseLIBSVM(text, lim)
	case "fasta":
		t, fault = parseFASTA(text, lim)
	case "jsonl":
		t, fault = parseJSONLines(text, lim)
	case "json":
		t, fault = parseRecords(text, lim)
	case "graphml":
		t, fault = parseGraphML(text, lim)
	default:
		t, fault = parseCSV(text, lim)
	}
	if fault != nil {
		fault.File = file
		return nil, fault
	}
	t.File = file
	return t.finish(lim)
}

// finish determines what the columns of a table hold, and names unnamed ones.
func (t *Table) finish(lim Limits) (*Table, error) {
	t.limits = lim
	wide := len(t.Columns) > lim.Columns && t.Kind != KindPrecomputed
	tooWide := func() (*Table, error) {
		fault := tooWide(t.first, len(t.Columns), lim)
		fault.File = t.File
		return nil, fault
	}
	if wide && !t.Square() {
		return tooWide()
	}
	var respelled [len(spellingNotes)][]int
	if t.Format == "csv" || t.Format == "xlsx" {
		respelled = t.readSpellings()
	}
	t.weigh()
	if !t.Header && t.Format != "libsvm" {
		t.nameColumns()
	}
	for k, at := range respelled {
		if at != nil {
			t.Notes = append(t.Notes, fmt.Sprintf("%s (%s)", spellingNotes[k], list(t.namesAt(at))))
		}
	}
	if wide {
		if m, _ := t.Guess(); m.Kind != KindPrecomputed {
			return tooWide()
		}
	}
	return t, nil
}

// readRaw reads a file of limited size.
func readRaw(r io.Reader, file string, lim Limits) (string, *Error) {
	lim = lim.orDefault()
	var b strings.Builder
	size, known := sizeOf(r)
	b.Grow(int(min(max(size, 0), lim.Bytes) + 1))
	part := io.LimitedReader{R: r}
	for b.Len() == 0 || part.N == 0 && int64(b.Len()) <= lim.Bytes { // doubling the room, where the size is not known
		room := int64(b.Cap() - b.Len())
		if room == 0 || !known {
			room = max(room, 1<<16)
		}
		part.N = min(room, lim.Bytes+1-int64(b.Len()))
		b.Grow(int(part.N))
		if n, err := io.Copy(&b, &part); err != nil {
			return "", &Error{File: file, Message: "reading failed: " + err.Error(), Err: err}
		} else if n == 0 {
			break
		}
	}
	if int64(b.Len()) > lim.Bytes {
		return "", &Error{File: file, Message: fmt.Sprintf("expected at most %s", param.Bytes(lim.Bytes)), Err: ErrTooLarge}
	}
	return b.String(), nil
}

// gzipMagic is the beginning of gzip data, see RFC 1952.
const gzipMagic = "\x1f\x8b"

// unzipped decompresses a gzip file of limited size.
func unzipped(raw, file string, lim Limits) (string, *Error) {
	r, err := gzip.NewReader(strings.NewReader(raw))
	if err != nil {
		return "", &Error{File: file, Message: "expected a gzip file, found a damaged one: " + strings.TrimPrefix(err.Error(), "gzip: ")}
	}
	text, fault := readRaw(r, file, lim)
	if fault != nil && fault.Err != nil && !errors.Is(fault.Err, ErrTooLarge) {
		fault = &Error{File: file, Message: "expected a gzip file, found a damaged one: " + strings.TrimPrefix(fault.Err.Error(), "gzip: ")}
	}
	return text, fault
}

// sizeOf returns the number of bytes in a reader, if it can tell.
func sizeOf(r io.Reader) (n int64, ok bool) {
	switch r := r.(type) {
	case interface{ Len() int }:
		return int64(r.Len()), true
	case interface{ Stat() (fs.FileInfo, error) }:
		if info, err := r.Stat(); err == nil {
			return info.Size(), true
		}
	}
	return 0, false
}

// lineEnds counts LF, CRLF and CR.
func lineEnds(s string) int {
	n := strings.Count(s, "\n")
	if strings.IndexByte(s, '\r') >= 0 {
		n += strings.Count(s, "\r") - strings.Count(s, "\r\n")
	}
	return n
}

// cutLine returns the first line of s without its end, and the rest.
func cutLine(s string) (line, rest string) {
	const window = 256 // a search for one sign must not run far past the other
	for from := 0; from < len(s); from += window {
		part := s[from:min(from+window, len(s))]
		if i := strings.IndexByte(part, '\n'); i >= 0 {
			part = part[:i+1]
		}
		switch i := strings.IndexByte(part, '\r'); {
		case i >= 0 && strings.HasPrefix(s[from+i:], "\r\n"):
			return s[:from+i], s[from+i+2:]
		case i >= 0:
			return s[:from+i], s[from+i+1:]
		case part[len(part)-1] == '\n':
			return s[:from+len(part)-1], s[from+len(part):]
		}
	}
	return s, ""
}

// detect determines the format by the first meaningful line, and by the extension
// if that is ambiguous.
func detect(text, file string) string {
	ext := strings.ToLower(path.Ext(file))
	for rest := text; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == '%' || line[0] == ';':
			continue // a note in one of the formats
		case line[0] == '@':
			return "arff"
		case line[0] == '>':
			return "fasta"
		case line[0] == '{', beginsRecords(line):
			if at := strings.IndexByte(text, '{'); at >= 0 && isGraph(text[at:], line[0] == '[') {
				return "jsonl"
			}
			return "json"
		case beginsLists(line):
			return "json"
		case line[0] == '<':
			return "graphml"
		case looksLIBSVM(pastLabels(line, rest)):
			return "libsvm"
		}
		break
	}
	switch ext {
	case ".arff":
		return "arff"
	case ".json", ".jsonl": // of which the first line is no object
		return "jsonl"
	case ".libsvm", ".svm", ".svmlight":
		return "libsvm"
	}
	return "csv"
}

// parseNumber reads a finite decimal number; -0 becomes 0.
func parseNumber(s string) (v float64, ok bool) {
	if p, to, _ := cutDecimal(s, 0); p != 0 && to == len(s) {
		return p.value(), true
	}
	return parseAnyNumber(s)
}

// parseAnyNumber is parseNumber for long numbers, exponents, and text that is not a number.
func parseAnyNumber(s string) (v float64, ok bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', c == '+', c == '-', c == '.', c == 'e', c == 'E':
		default:
			return 0, false // hexadecimal, 1_000, Inf and NaN among them
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v + 0, err == nil
}

// parseNumbers reads texts that are numbers, all of them.
func parseNumbers(texts []string) (vs []float64, ok bool) {
	for i, s := range texts {
		v, ok := parseNumber(s)
		if !ok {
			return nil, false
		}
		if i == 0 {
			vs = make([]float64, len(texts))
		}
		vs[i] = v
	}
	return vs, true
}

// notFinite reports whether s is NaN, Inf or a number beyond the range of float64.
func notFinite(s string) bool {
	if s == "" || !strings.Contains("+-.0123456789iInN", s[:1]) { // most words, of which the error would hold a copy
		return false
	}
	v, err := strconv.ParseFloat(s, 64)
	return errors.Is(err, strconv.ErrRange) || err == nil && (math.IsNaN(v) || math.IsInf(v, 0))
}

// weigh finds out which columns are numeric.
func (t *Table) weigh() {
	sideBySide(len(t.Columns), func(j int) { t.Columns[j].weigh() })
}

// weigh finds out whether the column is numeric.
func (c *Column) weigh() {
	if c.many != nil || c.Len() >= manyRows { // which keeps the facts
		f := factsOf(c)
		c.Numeric = f.numbers == f.rows
		return
	}
	c.Numeric = !c.any(func(s string) bool { _, ok := parseNumber(s); return !ok })
}

// numbers writes the cells of a column of numbers to dst, apart places from one to the next, and
// NaN for a cell that is no number.
func (c *Column) numbers(dst []float64, apart int) {
	number := func(v float64, ok bool) float64 {
		if !ok {
			v = math.NaN()
		}
		return v
	}
	if c.many != nil {
		inParts(c.Len(), func(from, to int) {
			for i := from; i < to; i++ {
				if p := c.many[c.skipped+i]; p&isDecimal != 0 {
					dst[i*apart] = p.value()
				} else {
					dst[i*apart] = number(parseNumber(c.Cell(i)))
				}
			}
		})
		return
	}
	var of [mostDistinct]float64
	for k, s := range c.distinct {
		of[k] = number(parseNumber(s))
	}
	for i, k := range c.codes[c.skipped:] {
		dst[i*apart] = of[k]
	}
}

// IsText reports whether no cell of the column is a number or a missing one: the column
// holds words rather than faulty numbers.
func (c *Column) IsText() bool {
	number := func(s string) bool { _, ok := parseNumber(s); return (ok || notFinite(s)) && !missing(s) }
	return !c.Numeric && !c.any(number) && c.any(func(s string) bool { return !missing(s) })
}

// twoValued reports whether the column holds ±1 or 0 and 1, both present.
func (c *Column) twoValued() bool {
	f := factsOf(c)
	return f.numbers == f.rows && f.distinct == 2 && f.unit()
}

// looksLikeLabel reports whether a column at either end is taken as the label.
func (c *Column) looksLikeLabel() bool { return c.twoValued() || c.IsText() && !c.Dates() }

// onlyWord returns the row of the first non-number in a column with few of them, -1 for other
// columns.
func (c *Column) onlyWord() int {
	first, words := -1, 0
	for i, s := range c.all() {
		if _, ok := parseNumber(s); !ok {
			if words++; first < 0 {
				first = i
			}
		}
	}
	if 4*words > c.Len() {
		return -1
	}
	return first
}

// manyWords reports whether there are too many words for classes: names, or strings to learn from.
func (c *Column) manyWords() bool { return !c.Numeric && tooMany(factsOf(c).distinct, c.Len()) }

// fewIntegers reports whether the column holds repeating whole numbers, like class codes.
func (c *Column) fewIntegers() bool {
	f := factsOf(c)
	return f.numbers == f.rows && f.whole && f.distinct <= fewClasses && 2*f.distinct <= f.rows
}

// isRowNumber reports whether column j holds the row numbers that some programs write:
// the first column, unnamed, counting up by one.
func (t *Table) isRowNumber(j int) bool {
	c := &t.Columns[j]
	if j != 0 || !t.Header || c.Name != unnamed(0) || len(t.Columns) < 3 || c.Len() < 2 {
		return false
	}
	return c.Numeric && factsOf(c).numbersRows()
}

// Numbering tells a column of whole numbers, none of them twice, that has the usual
// name of one that numbers the rows, or is the first and counts many of them from 0 or 1 on.
func (t *Table) Numbering(j int) bool {
	const many = 10
	c := &t.Columns[j]
	if !t.Header || !c.Numeric || len(t.Columns) < 3 || c.Len() < 2 {
		return false
	}
	name := strings.Trim(strings.ToLower(c.Name), "_.: #")
	named := slices.Contains([]string{"", "id", "ids", "index", "idx", "nr", "no", "row", "rownames", "row_id", "rowid", "unnamed: 0", "lfd. nr", "lfd nr"}, name) || strings.HasSuffix(name, "_id")
	if !named && (j > 0 || c.Len() < many) {
		return false
	}
	f := factsOf(c)
	return f.numbersRows() || named && f.whole && !f.repeats()
}

// unnamed returns the name of column j if the header has none.
func unnamed(j int) string { return fmt.Sprintf("column %d", j+1) }

// nameColumns names the columns of a file without a header by their places: label
// for the one that must be it, x1, x2 … for the others in order.
func (t *Table) nameColumns() {
	label := -1
	if j, sure := t.guessLabel(); sure {
		label = j
	}
	k := 0
	for j := range t.Columns {
		if j == label {
			t.Columns[j].Name = labelName
			continue
		}
		k++
		t.Columns[j].Name = fmt.Sprintf("x%d", k)
	}
}

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

// labelByName returns the column, among those from a place on, that has a usual name of a label; of several
// the last of all columns, without being sure, and -1 of none.
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

// guessLabel returns the index of the label column, see rank; sure reports that it is
// unambiguous.
func (t *Table) guessLabel() (j int, sure bool) {
	if t.Kind == KindGraphs {
		return t.guessGraphsLabel()
	}
	if t.Kind != "" || t.beginsWithStrings() {
		return t.endLabel()
	}
	order, _ := t.rank(t.facts())
	return t.guessLabelBy(order)
}

// endLabel returns the label by the names of columns and their places alone: the one called
// label, class or target; else the last; else the first, when only that one is text or
// ±1/0-1, and not names beside numbers. It is sure when that leaves no other reading.
func (t *Table) endLabel() (j int, sure bool) {
	last := len(t.Columns) - 1
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

// fault makes an *Error of this file.
func (t *Table) fault(row, column int, format string, args ...any) *Error {
	e := &Error{File: t.File, Message: fmt.Sprintf(format, args...)}
	if row >= 0 && t.members != nil {
		e.File = inside(t.File, t.members[row])
		return e
	}
	if row >= 0 {
		e.Line = t.Lines[row]
	}
	if column >= 0 {
		e.Column, e.Name = column+1, t.Columns[column].Name
	}
	return e
}

// AddZeros adds a column of zeros: LIBSVM's format omits them, so the last features of a file
// may be missing.
func (t *Table) AddZeros(name string) {
	c := Column{Name: name, Numeric: true}
	c.zeros(len(t.Lines))
	t.Columns = append(t.Columns, c)
}

func (t *Table) namesAt(places []int) []string {
	return lists.Map(places, func(j int) string { return t.Columns[j].Name })
}

func (t *Table) names() []string {
	return lists.Map(t.Columns, func(c Column) string { return c.Name })
}

// finder returns find with an index of the columns, of which a table may have tens of thousands.
func (t *Table) finder() func(name string) (int, error) {
	places := make(map[string]int, len(t.Columns))
	for j := range slices.Backward(t.Columns) { // the first of equal names counts
		places[t.Columns[j].Name] = j
	}
	return func(name string) (int, error) {
		if j, ok := places[name]; ok {
			return j, nil
		}
		return t.find(name)
	}
}

// find returns the place of the named column.
func (t *Table) find(name string) (int, error) {
	j := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if j < 0 {
		j = t.likeNamed(name)
	}
	if j < 0 {
		return 0, t.fault(-1, -1, "no column %s: expected one of %s", quote(name), list(t.names()))
	}
	return j, nil
}

// likeNamed returns the place of the first column with a name, regardless of case, or -1.
func (t *Table) likeNamed(name string) int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
}

// Matrix returns the named columns as numbers, n x len(features), without need of a
// label. An *Error reports a name that is not there or given twice, and the first
// cell that is not a finite number.
func (t *Table) Matrix(features []string) (*mat.Dense, error) {
	return t.matrix(features, false)
}

// MatrixWithGaps is Matrix with NaN where a value is missing.
func (t *Table) MatrixWithGaps(features []string) (*mat.Dense, error) {
	return t.matrix(features, true)
}

func (t *Table) matrix(features []string, gaps bool) (*mat.Dense, error) {
	if len(features) == 0 {
		return nil, t.fault(-1, -1, "expected at least one column of numbers besides the label")
	}
	at, chosen, find := make([]int, len(features)), make([]bool, len(t.Columns)), t.finder()
	for k, name := range features {
		j, err := find(name)
		if err != nil {
			return nil, err
		}
		if chosen[j] {
			return nil, t.fault(-1, j, "chosen as a feature twice")
		}
		at[k], chosen[j] = j, true
	}
	return t.numbersAt(at, gaps)
}

// numbersAt returns the columns at some places as numbers, which with gaps may be missing.
func (t *Table) numbersAt(at []int, gaps bool) (*mat.Dense, error) {
	faulty := lists.Filter(at, func(j int) bool { c := &t.Columns[j]; return !c.Numeric && !(gaps && c.Gappy()) })
	for i := range t.Lines {
		for _, j := range faulty {
			c := &t.Columns[j]
			if _, ok := c.number(i); !ok && !(gaps && c.lacking(i)) {
				return nil, t.notNumber(i, j)
			}
		}
	}
	x := mat.NewDense(len(t.Lines), len(at), nil)
	for k, j := range at {
		t.Columns[j].numbers(x.RawMatrix().Data[k:], len(at))
	}
	return x, nil
}

// notNumber returns the error for a cell that should be a number.
func (t *Table) notNumber(i, j int) *Error {
	c := &t.Columns[j]
	cell := c.Cell(i)
	switch {
	case cell == "":
		return t.fault(i, j, "expected a number, found nothing: choose how to handle missing values (missing: drop or median), or remove the row")
	case missing(cell):
		return t.fault(i, j, "expected a number, found %s: choose how to handle missing values (missing: drop or median), or remove the row", quote(cell))
	case notFinite(cell):
		return t.fault(i, j, "expected a finite number, found %s: correct it or remove the row", quote(cell))
	case c.Dates():
		return t.fault(i, j, "expected a number, found the date or time %s: choose feature columns without this one", quote(cell))
	case c.Words() != nil:
		return t.fault(i, j, "expected a number, found %s: choose feature columns without this one, or name it as a feature to one-hot encode it", quote(cell))
	case c.IsText():
		return t.fault(i, j, "expected a number, found %s: choose feature columns without this one", quote(cell))
	}
	if _, ok := parseNumber(strings.Replace(cell, ",", ".", 1)); ok {
		return t.fault(i, j, "expected a number with a decimal point, found %s", quote(cell))
	}
	return t.fault(i, j, "expected a number, found %s", quote(cell))
}

// Labels returns the labels in the named column, tidied: equal numbers have
// equal labels. An *Error reports an unknown name, a missing label, one too
// long, and too many distinct words for a label; any number of distinct numbers is allowed,
// as a regression may fit them. One class is not an error here.
func (t *Table) Labels(name string) ([]string, error) {
	distinct, of, err := t.classes(name)
	if err != nil {
		return nil, err
	}
	return lists.At(distinct, of()), nil
}

// classes returns the distinct labels in a column, in the order of their first rows, and a function
// that returns the place of each row's among them. Its errors are those of Labels.
func (t *Table) classes(name string) (distinct []string, of func() []int, err error) {
	j, err := t.find(name)
	if err != nil {
		return nil, nil, err
	}
	c := &t.Columns[j]
	words := false // there is text among numbers
	row := func(s string) int { return slices.Index(c.list(), s) }
	for s := range c.values() {
		_, number := parseNumber(s)
		switch {
		case number:
		case s == "":
			return nil, nil, t.fault(row(s), j, "expected a label, found nothing")
		case missing(s):
			return nil, nil, t.fault(row(s), j, "expected a label, found %s, a missing value", quote(s))
		case !notFinite(s):
			if err := checkText("label", tidy(s)); err != nil {
				return nil, nil, t.fault(row(s), j, "%s", err)
			}
			words = true
		}
	}
	if !c.Numeric && !words { // a number out of range among numbers
		for i, s := range c.all() {
			if notFinite(s) {
				return nil, nil, t.fault(i, j, "expected a label, found %s", quote(s))
			}
		}
	}
	distinct, of = c.classes()
	if k, n := len(distinct), c.Len(); !c.Numeric && tooMany(k, n) {
		if i := c.onlyWord(); i >= 0 {
			return nil, nil, t.fault(i, j, "expected a number, as in most rows, found %s", quote(c.Cell(i)))
		}
		return nil, nil, t.fault(-1, j, "expected a label, found %d distinct values in %d rows: these look like names; choose another label column", k, n)
	}
	return distinct, of, nil
}

// classes returns the distinct tidied labels, and a function that returns the place of each row's
// among them.
func (c *cells) classes() (distinct []string, of func() []int) {
	texts := slices.Collect(c.values())
	distinct, places := index(tidyLabels(texts))
	if c.many != nil {
		return distinct, func() []int { return places }
	}
	return distinct, func() []int {
		var place [mostDistinct]int
		for k, s := range c.distinct { // several may have become equal
			if i := slices.Index(texts, s); i >= 0 {
				place[k] = places[i]
			}
		}
		return lists.Map(c.codes[c.skipped:], func(k uint8) int { return place[k] })
	}
}

// A column with more than maxClasses distinct values does not hold classes, nor does one
// with more than fewClasses of which most occur once.
const (
	maxClasses = 100
	fewClasses = 10
)

func tooMany(distinct, rows int) bool {
	return distinct > maxClasses || distinct > fewClasses && 2*distinct > rows
}

// tidyLabels makes labels comparable: all numbers, or else all text.
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

// tidyLabel gives a number its plain form: 1 for "+1" and "1.0". Other text stays.
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

// Data applies a mapping; an empty label is as Guess proposes. An *Error reports what
// Matrix and Labels report, a label among the features, a single class, and a kernel
// matrix that is none.
func (t *Table) Data(m Mapping) (*Data, error) {
	if t.Kind == KindGraphs && len(t.Columns) == t.graphs {
		return nil, t.fault(0, -1, `expected a label of the graph, as in JSON "label":"a" beside "n", or in GraphML <data> of the graph, found none in the file`)
	}
	if len(t.Columns) == 1 {
		return nil, t.fault(-1, -1, "expected a label and at least one feature, found a single column: separate fields by comma, semicolon, tab or spaces")
	}
	if t.Format == "fasta" && len(t.Columns) == 2 {
		return nil, t.fault(0, -1, "expected a label after the name, as in >%s label, found none in the file", t.Columns[1].Cell(0))
	}
	if t.Format == "zip" && len(t.Columns) == 2 {
		return nil, t.fault(-1, -1, "expected a folder for each class, or a CSV with the names of the texts and their labels; found one folder of texts: take a table out of the archive to read it")
	}
	if m.Proposed {
		m = t.Propose(m).Complete(m)
	}
	if m.Label == "" {
		j, _ := t.guessLabel()
		m.Label = t.Columns[j].Name
	}
	for _, f := range m.Fixes {
		t = t.fixed(f)
	}
	label, err := t.find(m.Label)
	if err != nil {
		return nil, err
	}
	d := &Data{Label: t.Columns[label].Name}
	kind := cmp.Or(m.Kind, t.Kind)
	if kind == "" && m.Features == nil && t.onlyWords(label) {
		kind = KindStrings
	}
	kind = cmp.Or(kind, KindVectors)
	if kind != KindVectors && m.Missing == MissingMedian {
		m.Missing = MissingDrop // objects have no median
	}
	if m.Missing == MissingDrop || m.Missing == MissingMedian {
		if t, err = t.complete(d.Label, t.chosen(kind, label, m.Features), m.Missing); err != nil {
			return nil, err
		}
	}
	switch kind {
	case KindVectors:
		err = t.readVectors(d, label, m.Features, m.Missing == MissingMedian)
	case KindPrecomputed:
		if m.Features != nil {
			return nil, t.fault(-1, -1, "expected no features to be named: a kernel matrix has none")
		}
		d.Objects, err = t.kernelMatrix(label)
	case KindStrings:
		d.Objects, err = t.labelledStrings(label, m.Features)
	case KindGraphs:
		if label < t.graphs {
			return nil, t.fault(-1, label, "holds the graphs and cannot be the label as well")
		}
		d.Objects, err = t.readGraphs(m.Features)
	default:
		err = t.fault(-1, -1, "objects of kind %s cannot be read from a table", m.Kind)
	}
	if err != nil {
		return nil, err
	}
	classes, of, err := t.classes(d.Label)
	if err != nil {
		return nil, err
	}
	d.setClasses(classes, of())
	if len(d.Classes) < 2 {
		kinds := "classes"
		if t.Columns[label].Numeric {
			kinds = "classes, or two values to fit"
		}
		return nil, t.fault(-1, label, "expected at least two %s, found only %s", kinds, quote(d.Classes[0]))
	}
	columns := d.objects().header()
	d.Notes = slices.Concat(t.Notes, d.Notes, d.remarks(t))
	if !t.Header && !slices.Contains(columns, labelName) || slices.Contains(columns, d.Label) {
		d.Label = labelName // rather than the x3 of a place, or the K1 of a kernel
	}
	return d, nil
}

// chosen are the columns of features, all that can be where none are named; none of other
// objects.
func (t *Table) chosen(kind Kind, label int, features []string) []string {
	if kind != KindVectors || features != nil {
		return features
	}
	for j, c := range t.Columns {
		if j != label && !t.isRowNumber(j) {
			features = append(features, c.Name)
		}
	}
	return features
}

// remarks returns notes about suspicious features.
func (d *Data) remarks(t *Table) (notes []string) {
	var constant, numbering []string
	find := t.finder()
	for k, name := range d.Features {
		v := d.X.At(0, k)
		if d.Len() > 1 && d.isConstant(k, v) {
			constant = append(constant, name)
		}
		if j, err := find(name); err == nil && t.Numbering(j) {
			numbering = append(numbering, name)
		}
	}
	if constant != nil {
		notes = append(notes, "the same value in every row: "+list(constant))
	}
	if numbering != nil {
		notes = append(notes, "looks like a row number but is used as a feature: "+list(numbering))
	}
	return notes
}

// isConstant reports whether feature k is v in every row.
func (d *Data) isConstant(k int, v float64) bool {
	for i := range d.Len() {
		if d.X.At(i, k) != v {
			return false
		}
	}
	return true
}

// readVectors takes the features of d from the table, all that can be where none are named;
// with gaps, their values may be missing.
func (t *Table) readVectors(d *Data, label int, features []string, gaps bool) error {
	if t.Kind == KindStrings {
		return t.fault(-1, -1, "expected features, found strings: use a kernel for strings")
	}
	if t.Kind == KindGraphs {
		return t.fault(-1, -1, "expected features, found graphs: use a kernel for graphs")
	}
	if t.Kind == KindPrecomputed {
		return t.fault(-1, -1, "expected features, found a kernel matrix: use the kernel precomputed")
	}
	names := features
	if features == nil {
		names = t.chosen(KindVectors, label, nil)
	}
	find := t.finder()
	for _, name := range features {
		if j, err := find(name); err == nil && j == label {
			return t.fault(-1, j, "is the label and cannot be a feature as well")
		}
	}
	with := *t
	if features != nil {
		unfolded, notes, err := t.unfold(features, gaps)
		if err != nil {
			return err
		}
		names, d.Notes = unfolded, append(d.Notes, notes...)
		with.Columns = slices.Clip(t.Columns)
		with.AddIndicators(names)
	}
	x, err := with.matrix(names, gaps)
	if err != nil {
		return err
	}
	d.setObjects(filled(names, x))
	return nil
}

// Read is ParseTable, Guess where m leaves the label open, and Data. It leaves no
// column of words out by itself: one that m.Features does not pass over is a fault.
func Read(r io.Reader, file string, m Mapping, lim Limits) (*Data, error) {
	t, err := ParseTable(r, file, lim)
	if err != nil {
		return nil, err
	}
	return t.Data(m)
}
