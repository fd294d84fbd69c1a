package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
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
	Record       int    // instead of Line, in JSON on a single line; 1-based
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
	switch {
	case e.Record > 0:
		place = append(place, fmt.Sprintf("record %d", e.Record))
	case e.Line > 0:
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

func (t *Table) fault(row, column int, format string, args ...any) *Error {
	e := &Error{File: t.File, Message: fmt.Sprintf(format, args...)}
	if row >= 0 && t.members != nil {
		e.File = inside(t.File, t.members[row])
		return e
	}
	switch {
	case row >= 0 && t.onOneLine():
		e.Record = row + 1
	case row >= 0:
		e.Line = t.Lines[row]
	}
	if column >= 0 {
		e.Column, e.Name = column+1, t.Columns[column].Name
	}
	return e
}

// onOneLine reports whether several records of JSON stand on a single line.
func (t *Table) onOneLine() bool {
	return t.Format == "json" && len(t.Lines) > 1 && t.Lines[0] == t.Lines[len(t.Lines)-1]
}

// linesOf names the lines of a few rows, in brackets; it returns "" for many rows, or if they have no lines.
func (t *Table) linesOf(rows []int) string {
	const few = 5
	if len(rows) > few || t.members != nil || t.onOneLine() {
		return ""
	}
	lines := lists.Map(rows, func(i int) string { return strconv.Itoa(t.Lines[i]) })
	if len(lines) == 1 {
		return " (line " + lines[0] + ")"
	}
	return " (lines " + list(lines) + ")"
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

// finder returns find for many names.
func (t *Table) finder() func(name string) (int, error) {
	place := t.Places()
	return func(name string) (int, error) { return t.found(name, place(name)) }
}

// find returns the index of the named column.
func (t *Table) find(name string) (int, error) { return t.found(name, t.Place(name)) }

// found returns the index j of the named column, or an error if it is negative.
func (t *Table) found(name string, j int) (int, error) {
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

// Places returns Place for many names: tables have tens of thousands of columns.
func (t *Table) Places() func(name string) int {
	exact, folded := make(map[string]int, len(t.Columns)), make(map[string]int, len(t.Columns))
	for j := range slices.Backward(t.Columns) { // of equal names, the first counts
		name := t.Columns[j].Name
		exact[name], folded[strings.ToLower(name)] = j, j
	}
	return func(name string) int {
		if j, ok := exact[name]; ok {
			return j
		}
		if j, ok := folded[strings.ToLower(name)]; ok {
			return j
		}
		return -1
	}
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
	rows, d := len(t.Lines), len(at)
	x := mat.NewDense(rows, d, nil)
	columns := lists.Map(at, func(j int) func([]float64, int, int, int) { return t.Columns[j].numbers() })
	write := func(k, from, to int) { columns[k](x.RawMatrix().Data[from*d+k:], d, from, to) }
	const some = 64 // columns
	whole := make([]bool, d)
	sideBySide((d+some-1)/some, func(b int) {
		for k := b * some; k < min((b+1)*some, d); k++ {
			if whole[k] = t.Columns[at[k]].mostlyZero(); whole[k] { // as in texts, whose rows no cache holds
				write(k, 0, rows)
			}
		}
	})
	others := lists.Where(d, func(k int) bool { return !whole[k] })
	block := max(32, 1<<15/d) // rows, few enough for the cache to hold them until all columns are written
	sideBySide((rows+block-1)/block, func(b int) {
		for _, k := range others {
			write(k, b*block, min((b+1)*block, rows))
		}
	})
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
		return t.fault(i, j, "expected a number with a decimal point, found %s: write all numbers of the column alike", quote(cell))
	}
	return t.fault(i, j, "expected a number, found %s: correct it or remove the row", quote(cell))
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
	if len(m.Fixes) > 0 {
		t = t.copy()
	}
	for _, f := range m.Fixes {
		t.fix(f)
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
		if d.Len() > 1 && d.Constant(k) {
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

// Constant reports whether feature k has the same value in every row.
func (d *Data) Constant(k int) bool {
	for i := range d.Len() {
		if d.X.At(i, k) != d.X.At(0, k) {
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
	if gaps {
		d.setObjects(filled(names, x))
	} else {
		d.setObjects(vectors{names: names, x: x})
	}
	return nil
}
