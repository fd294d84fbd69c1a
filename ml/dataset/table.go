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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// Limits bounds what a reader accepts. A zero field means its default.
type Limits struct {
	Bytes   int64 // default 10 MB; at most 2 GB
	Rows    int   // default 100 000
	Columns int   // default 201: 200 features and the label
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

// cells returns the maximum number of values in a table. A value takes at least two bytes
// in a dense file; a sparse file may not hold more values either.
func (l Limits) cells() int64 { return l.Bytes/2 + 1 }

// ErrTooLarge is wrapped by the *Error for a file that exceeds its Limits.
var ErrTooLarge = errors.New("file too large")

// Error describes a fault in a file: its place and the expected content.
type Error struct {
	File         string
	Line, Column int    // 1-based; 0 if the error concerns the whole file or line. Column counts fields
	Name         string // the column's name, or empty
	Message      string
	Err          error // the cause: ErrTooLarge, a failure to read, or nil
}

// Error returns a message like `points.csv, line 7, column 2 (x2): expected a number, found "abc"`.
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

// tooLarge makes e wrap ErrTooLarge.
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
	Sheet        string   // of a workbook: the sheet that was read
	Sheets       []string // of a workbook: the visible sheets
	Kind         Kind     // if the file declares objects other than vectors, by its first line or by pairs 0:i; else empty
	Columns      []Column
	Lines        []int    // line number in the file of each row
	Notes        []string // guesses about the file, as clauses
	sign         signs    // decimalComma or decimalPoint, if numbers of the file prove it; else 0
	commas       bool     // some columns, unlike the others, wrote numbers as 1,5
	first        int      // line of the first CSV record, header or row
	members      []string // if each text is a file: the file names
	graphs       int      // of a table of graphs: how many columns, from the first, hold them
	asks         bool     // it is unclear which of these columns is meant
	limits       Limits   // used in reading
}

// Column is one column of a Table.
type Column struct {
	Name    string // unique in the table, not empty
	Numeric bool   // every cell is a finite number
	Nominal bool   // an ARFF file declares it nominal
	role    role   // declared in the file
	cells
}

// role is what a file declares a column to be for.
type role string

const (
	roleLabel role = "label"
	roleMeta  role = "meta"
)

// Mapping says which column is the label and which are features. Names are matched
// exactly or else regardless of case.
type Mapping struct {
	Kind     Kind     // of the rows; empty: as the file declares, else strings if there are only words, else vectors
	Label    string   // empty: as Guess proposes
	Features []string // for vectors; nil: all other columns except an unnamed one of row numbers. A column of up to 20 distinct words becomes one 0/1 column per word. For strings and graphs: their column; nil: as Guess proposes
	Proposed bool     // Propose fills in nil Features, nil Fixes and an empty Missing
	Missing  Missing  // what to do with missing values; empty: they are an error
	Fixes    []Fix    // corrections of the table, applied in this order before all else
}

// ParseTable reads a file of any known format: CSV with its many separators,
// LIBSVM/SVMlight, ARFF, FASTA, JSON records and columns, JSON lines of graphs, or GraphML, in
// UTF-8, UTF-16 or Windows-1250 to 1254, optionally gzipped; or a zip archive of texts in one
// folder per class, of texts with a CSV file of their names and labels, or of a set of graphs in
// TU Dortmund's format. The content determines the format; the extension of file is a hint, and
// file is the name in messages. Every failure is an *Error; if the file exceeds lim (zero fields:
// DefaultLimits), the error wraps ErrTooLarge.
func ParseTable(r io.Reader, file string, lim Limits) (*Table, error) {
	return ParseSheet(r, file, "", lim)
}

// ParseSheet is like ParseTable but reads the named sheet of a workbook; if sheet is empty, the
// first that holds data, if any. Names are matched exactly or else regardless of case. It returns
// an *Error if there is no such sheet or the file is not a workbook.
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

// spreadsheetEndings lists the extensions of workbooks.
var spreadsheetEndings = []string{".xlsx", ".xlsm", ".xls", ".ods"}

// parseText is ParseTable for a text file.
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
	case "vw":
		fault = &Error{Message: "expected a format that Margin Lab reads, found lines of Vowpal Wabbit: write them as CSV, or as LIBSVM with a number for each name, label index:value"}
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
	for b.Len() == 0 || part.N == 0 && int64(b.Len()) <= lim.Bytes { // doubling the buffer if the size is unknown
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

// gzipMagic begins gzip data, see RFC 1952.
const gzipMagic = "\x1f\x8b"

// unzipped decompresses a gzip file of limited size.
func unzipped(raw, file string, lim Limits) (string, *Error) {
	r, err := gzip.NewReader(strings.NewReader(raw))
	if err != nil {
		return "", &Error{File: file, Message: "expected a gzip file, found a damaged one: " + strings.TrimPrefix(err.Error(), "gzip: ") + ": compress the file again"}
	}
	text, fault := readRaw(r, file, lim)
	if fault != nil && fault.Err != nil && !errors.Is(fault.Err, ErrTooLarge) {
		fault = &Error{File: file, Message: "expected a gzip file, found a damaged one: " + strings.TrimPrefix(fault.Err.Error(), "gzip: ") + ": compress the file again"}
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

// cutLine returns the first line of s, without its line ending, and the rest.
func cutLine(s string) (line, rest string) {
	const window = 256 // a search for one line ending must not run far past the other
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

// vowpal matches a line of Vowpal Wabbit: a label, then namespaces with features, "1 |f height:1.5".
// valueless matches one of words, "1 | cheap red", which may also be a row of a table.
var (
	vowpal = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[-+.\d]+( [-+.\d]+)* *('\S+ *)?\|\S* +[^\d\s|:][^\s|:]*:[-+.\d]`)
	})
	valueless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([-+]?1|0)( [.\d]+)*( '\S+)? \|(\S+| +[^\d\s|,;]+)( +[^\d\s|,;]+)+( +\|\S|$)`)
	})
)

// detect determines the format from the first meaningful line, or from the extension
// if that line is ambiguous.
func detect(text, file string) string {
	ext := strings.ToLower(path.Ext(file))
	for rest := text; rest != ""; {
		var line string
		line, rest = cutLine(rest)
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#' || line[0] == '%' || line[0] == ';':
			continue // a comment in one of the formats
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
		case vowpal().MatchString(line), ext != ".csv" && ext != ".tsv" && valueless().MatchString(line):
			return "vw"
		}
		break
	}
	switch ext {
	case ".arff":
		return "arff"
	case ".json", ".jsonl": // which will be refused
		return "json"
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
		case (c == 'D' || c == 'd') && strings.Contains(s[:i], ".") && strings.ContainsAny(s[i:], "+-"): // Fortran's 1.5D+03
			s = s[:i] + "e" + s[i+1:]
		default:
			return 0, false // such as hexadecimal, 1_000, Inf and NaN
		}
	}
	v, err := strconv.ParseFloat(s, 64)
	return v + 0, err == nil
}

// parseNumbers reads texts as numbers; ok reports whether all of them are.
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
	if s == "" || !strings.Contains("+-.0123456789iInN", s[:1]) { // most words; the error would copy them
		return false
	}
	v, err := strconv.ParseFloat(s, 64)
	return errors.Is(err, strconv.ErrRange) || err == nil && (math.IsNaN(v) || math.IsInf(v, 0))
}

// weigh determines which columns are numeric.
func (t *Table) weigh() {
	sideBySide(len(t.Columns), func(j int) { t.Columns[j].weigh() })
}

// weigh determines whether the column is numeric.
func (c *Column) weigh() {
	if c.many != nil || c.Len() >= manyRows { // factsOf keeps its result
		f := factsOf(c)
		c.Numeric = f.numbers == f.rows
		return
	}
	c.Numeric = !c.any(func(s string) bool { _, ok := parseNumber(s); return !ok })
}

// numbers writes the cells of a column of numbers to dst with stride apart, and NaN for a cell
// that is not a number.
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

// IsText reports whether no cell of the column is a number or a missing one, that is, whether
// it holds words rather than faulty numbers.
func (c *Column) IsText() bool {
	number := func(s string) bool { _, ok := parseNumber(s); return (ok || notFinite(s)) && !missing(s) }
	return !c.Numeric && !c.any(number) && c.any(func(s string) bool { return !missing(s) })
}

// twoValued reports whether the column holds ±1 or 0 and 1, both present.
func (c *Column) twoValued() bool {
	f := factsOf(c)
	return f.numbers == f.rows && f.distinct == 2 && f.unit()
}

// looksLikeLabel reports whether the column, if first or last, can be taken as the label.
func (c *Column) looksLikeLabel() bool { return c.twoValued() || c.IsText() && !c.Dates() }

// onlyWord returns the row of the first cell that is not a number, or -1 if there are none or
// many of them.
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

// Numbering reports whether column j holds distinct whole numbers and has a usual name of a
// column of row numbers, or is the first and counts at least ten rows from 0 or 1 on.
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

// unnamed returns the name of column j if the header does not name it.
func unnamed(j int) string { return fmt.Sprintf("column %d", j+1) }

// nameColumns names the columns of a file without a header by their places: label for the one
// that must be the label, x1, x2 … for the others in order.
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
	order, _ := t.rank(t.facts())
	return t.guessLabelBy(order)
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

// fault returns an *Error for this file.
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

// finder returns find with an index of the columns, for tables with tens of thousands.
func (t *Table) finder() func(name string) (int, error) {
	places := make(map[string]int, len(t.Columns))
	for j := range slices.Backward(t.Columns) { // of equal names, the first counts
		places[t.Columns[j].Name] = j
	}
	return func(name string) (int, error) {
		if j, ok := places[name]; ok {
			return j, nil
		}
		return t.find(name)
	}
}

// find returns the index of the named column.
func (t *Table) find(name string) (int, error) {
	j := t.Place(name)
	if j < 0 {
		return 0, t.fault(-1, -1, "no column %s: expected one of %s", quote(name), list(t.names()))
	}
	return j, nil
}

// Place returns the index of the named column, or else of the first that differs in case only, or -1.
func (t *Table) Place(name string) int {
	if j := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name }); j >= 0 {
		return j
	}
	return slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
}

// Matrix returns the named columns as numbers, n x len(features); no label is needed.
// It returns an *Error for a name that is unknown or given twice, and for the first
// cell that is not a finite number.
func (t *Table) Matrix(features []string) (*mat.Dense, error) {
	return t.matrix(features, false)
}

// MatrixWithGaps is like Matrix but returns NaN for missing values.
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

// numbersAt returns the columns with the given indices as numbers; if gaps, values may be missing.
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
// that returns the index among them of each row's label. Its errors are those of Labels.
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
	if !c.Numeric && !words { // a number out of range among the numbers
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

// Data applies a mapping; if its label is empty, the label is as Guess proposes. It returns an
// *Error as Matrix and Labels do, and for a label among the features, a single class, and an
// invalid kernel matrix.
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
		m.Missing = MissingDrop // there is no median of objects
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
		d.Label = labelName // rather than x3, from its place, or K1, of a kernel
	}
	return d, nil
}

// chosen returns the names of the feature columns: those in features or, for vectors if it is
// nil, all that can be features.
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

// remarks returns notes on suspicious features.
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

// isConstant reports whether feature k equals v in every row.
func (d *Data) isConstant(k int, v float64) bool {
	for i := range d.Len() {
		if d.X.At(i, k) != v {
			return false
		}
	}
	return true
}

// readVectors reads the features of d from the table: those named or, if features is nil, all
// that can be features. If gaps, their values may be missing.
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

// Read calls ParseTable and Data, which guesses the label if m does not name it. Unless m is
// Proposed, it leaves out no column of words by itself: with nil m.Features, such a column is an error.
func Read(r io.Reader, file string, m Mapping, lim Limits) (*Data, error) {
	t, err := ParseTable(r, file, lim)
	if err != nil {
		return nil, err
	}
	return t.Data(m)
}
