package dataset

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"marginlab/ml/param"
)

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
	case "geojson":
		fault = &Error{Message: "expected rows of numbers and words, found GeoJSON: export the points as CSV, with columns for their coordinates"}
	case "array":
		fault = &Error{Message: "expected a table, found a printed NumPy array: " + saveArray}
	case "vw":
		fault = &Error{Message: "expected a format that Margin Lab reads, found lines of Vowpal Wabbit: write them as CSV, or as LIBSVM with a number for each name, label index:value"}
	default:
		if found := programIn(text); found != "" {
			fault = &Error{Message: "expected a table, found " + found}
		} else {
			t, fault = parseCSV(text, lim)
		}
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
	for j := range t.Columns {
		if c := &t.Columns[j]; c.mayHoldNA() {
			t.Notes = append(t.Notes, fmt.Sprintf("NA in %s read as missing: if it is a code, such as Namibia's, write it differently", c.Name))
		}
	}
	if wide {
		if m, _ := t.Guess(); m.Kind != KindPrecomputed {
			return tooWide()
		}
	}
	return t, nil
}

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
// valueless matches one of words, "1 | cheap red", which in a file of text is a row of a table.
var (
	vowpal = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[-+.\d]+( [-+.\d]+)* *('\S+ *)?\|\S* +[^\d\s|:][^\s|:]*:[-+.\d]`)
	})
	valueless = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([-+]?1|0)( [.\d]+)*( '\S+)? \|(\S+| +[^\d\s|,;]+)( +[^\d\s|,;]+)+( +\|\S|$)`)
	})
)

// conflictMark begins the first of the versions that Git could not merge.
const (
	conflictMark  = "<<<<<<< "
	conflictFound = "a conflict mark of Git: resolve the conflict, keeping the rows of one side"
)

// programs matches the first line of files that are no tables, and says what was found and the remedy.
var programs = sync.OnceValue(func() []program {
	return []program{
		{regexp.MustCompile(`(?i)^((INSERT|REPLACE) (.* )?INTO .*(VALUES|[;,()])|INSERT INTO \S+|CREATE ([\w ]+ )?TABLE .*[;(]|DROP TABLE .*;|(BEGIN|START)( TRANSACTION)?;|(PRAGMA|SET) [\w@]+ *=.*;)$`), "SQL statements: export the table or the result of a query as CSV"},
		{regexp.MustCompile(`^([\w.]+ *(<-|=) *)?(data\.frame\(|structure\(list\()|^[\w.]+ *(<-|=) *c\(["'\d]`), `R code: save the table with write.csv(…, "table.csv")`},
		{regexp.MustCompile(`^\w+ *= *(np\.array\(|pd\.DataFrame\(|\[\[|[[{]$)`), "program code: save the table as CSV"},
		{regexp.MustCompile(`^# A (tibble|data frame|grouped_df):? `), `a table as R prints it: save it with write.csv(…, "table.csv")`},
		{regexp.MustCompile(`^\\(documentclass|usepackage|begin|toprule|hline)\b`), "LaTeX: save the table as CSV"},
		{regexp.MustCompile(`(?i)^(data [\w.]+;|data list .*|(infile )?dictionary .*\{)$`), "statements of SAS, SPSS or Stata: save the data as CSV"},
		{regexp.MustCompile(`^%%MatrixMarket `), "a Matrix Market file: save the matrix with its labels as CSV or LIBSVM"},
		{regexp.MustCompile(`^version https://git-lfs\.`), "a pointer of Git LFS in place of the data: fetch them with git lfs pull"},
		{regexp.MustCompile(`^(---$|- \w+: )`), "YAML: save the rows as CSV or JSON"},
		{regexp.MustCompile("^" + conflictMark), conflictFound},
		{regexp.MustCompile(`^\+-+\+$`), "a frame without bars between the columns, as Stata lists data: save the table as CSV, in Stata with export delimited"},
		{regexp.MustCompile(`^[-+.\d]+( +\d+:\d+:[-+.\deE]+){2,}$`), "lines of libffm, label field:index:value: remove the fields and their colons to make it LIBSVM"},
		{regexp.MustCompile(`^[-+.\d]+( +\pL[\w.]*:[-+.\deE]+)+$`), "pairs name:value: write them as CSV, or as LIBSVM with a number for each name, label index:value"},
	}
})

type program struct {
	begins *regexp.Regexp
	found  string
}

// programIn returns what a text is instead of a table, by its first line without comments, "" if nothing.
func programIn(text string) string {
	for line := ""; text != ""; {
		line, text = cutLine(text)
		line = strings.TrimSpace(line)
		if line == "---" || strings.HasPrefix(line, "+-") || strings.ContainsAny(line, ` (\=;`) { // not most headers, since the expressions take time to compile
			if k := slices.IndexFunc(programs(), func(p program) bool { return p.begins.MatchString(line) }); k >= 0 {
				return programs()[k].found
			}
		}
		if line != "" && line[0] != '#' && !strings.HasPrefix(line, "--") && !strings.HasPrefix(line, "/*") {
			break
		}
	}
	return ""
}

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
			if isGeoJSON(text) {
				return "geojson"
			}
			if at := strings.IndexByte(text, '{'); at >= 0 && isGraph(text[at:], line[0] == '[') {
				return "jsonl"
			}
			return "json"
		case beginsArray(line):
			return "array"
		case beginsLists(line):
			return "json"
		case line[0] == '<' && !strings.HasPrefix(line, conflictMark):
			return "graphml"
		case looksLIBSVM(pastLabels(line, rest)):
			return "libsvm"
		case vowpal().MatchString(line), !slices.Contains([]string{".csv", ".tsv", ".txt"}, ext) && valueless().MatchString(line):
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

// Read calls ParseTable and Data, which guesses the label if m does not name it. Unless m is
// Proposed, it leaves out no column of words by itself: with nil m.Features, such a column is an error.
func Read(r io.Reader, file string, m Mapping, lim Limits) (*Data, error) {
	t, err := ParseTable(r, file, lim)
	if err != nil {
		return nil, err
	}
	return t.Data(m)
}
