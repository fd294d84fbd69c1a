// Package dataset reads, generates, splits, scales and projects labelled objects:
// points, or others that a kernel compares (see [Objects]).
//
// A file becomes a [Table] of text cells ([ParseTable]); a [Mapping] says which
// column is the label and which are features ([Table.Guess] proposes one); the two
// make a [Data], which every learner takes. [Read] does all of it in one call.
package dataset

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
)

// Data is a set of labelled objects, usually points. Its fields must not be modified, so
// that it can be shared between goroutines.
type Data struct {
	Features []string   // of vectors: names of the d columns, unique, not empty
	X        *mat.Dense // of vectors: n x d, finite; missing values are filled in, see Given
	Given    *mat.Dense // of vectors: X as read, with NaN for missing values; nil if none are missing. Training fits its own imputation
	Objects  Objects    // n objects of another kind; nil for vectors
	Label    string     // name of the label column, unique among the columns
	Classes  []string   // distinct labels that occur, sorted as SortLabels does
	Y        []int      // n indices into Classes
	Notes    []string   // what the reader changed or guessed, as clauses; not part of the canonical form
}

// maxText is the longest column name or label, in characters.
const maxText = 100

// FromPoints is FromRows for points in the plane, with features x1 and x2.
func FromPoints(points [][2]float64, labels []string) (*Data, error) {
	rows := lists.Map(points, func(p [2]float64) []float64 { return p[:] })
	return FromRows([]string{"x1", "x2"}, rows, labels)
}

// FromRows returns data of points with the given features, label column "label" and one label per
// point. Labels are tidied as when reading a file: "+1" and "1.0" become "1". It returns an error
// if a point is not finite or has the wrong number of coordinates, a label is missing, or the
// lengths differ. A single class is allowed, for a drawing in progress.
func FromRows(features []string, rows [][]float64, labels []string) (*Data, error) {
	if len(rows) == 0 {
		return nil, errors.New("no points: expected at least one")
	}
	if len(rows) != len(labels) {
		return nil, fmt.Errorf("%d points with %d labels: expected one label per point", len(rows), len(labels))
	}
	x := mat.NewDense(len(rows), len(features), nil)
	for i, row := range rows {
		if len(row) != len(features) {
			return nil, fmt.Errorf("point %d has %d coordinates: expected %d", i+1, len(row), len(features))
		}
		x.SetRow(i, row)
	}
	d := &Data{Features: features, Label: "label", X: x}
	d.setLabels(tidyLabels(labels))
	if err := d.Validate(); err != nil {
		return nil, err
	}
	return d, nil
}

// setLabels derives Classes and Y from one label per row.
func (d *Data) setLabels(labels []string) { d.setClasses(index(labels)) }

// index returns the distinct texts, in order of appearance, and the index of each text among them.
func index(texts []string) (distinct []string, places []int) {
	found := make(map[string]int)
	places = make([]int, len(texts))
	for i, s := range texts {
		k, ok := found[s]
		if !ok {
			k = len(distinct)
			found[s] = k
			distinct = append(distinct, s)
		}
		places[i] = k
	}
	return distinct, places
}

// setClasses sets Classes to the distinct labels, sorted, and Y to the class of each row, given by
// its index in labels. It overwrites places.
func (d *Data) setClasses(labels []string, places []int) {
	d.Classes, d.Y = slices.Clone(labels), places
	SortLabels(d.Classes)
	of := make(map[string]int, len(labels))
	for i, c := range d.Classes {
		of[c] = i
	}
	sorted := lists.Map(labels, func(l string) int { return of[l] })
	for i, k := range places {
		d.Y[i] = sorted[k]
	}
}

// SortLabels sorts labels by value when all of them are numbers, so that 2 comes
// before 10 and -2 before -1, and as text otherwise.
func SortLabels(labels []string) {
	values := make(map[string]float64, len(labels))
	for _, l := range labels {
		v, ok := parseNumber(l)
		if !ok {
			slices.Sort(labels)
			return
		}
		values[l] = v
	}
	slices.SortFunc(labels, func(a, b string) int {
		return cmp.Or(cmp.Compare(values[a], values[b]), strings.Compare(a, b))
	})
}

// Validate returns an error if d breaks the rules stated at the fields of Data. Data made by
// this package are valid.
func (d *Data) Validate() error {
	o := d.objects()
	if d.Objects != nil && (d.X != nil || d.Given != nil || d.Features != nil) {
		return fmt.Errorf("objects of kind %s: expected no features or points beside them", o.Kind())
	}
	if err := o.Validate(); err != nil {
		return err
	}
	if len(d.Y) != o.Len() {
		return fmt.Errorf("%d labels for %d rows", len(d.Y), o.Len())
	}
	seen := make(map[string]bool)
	for _, name := range append(slices.Clip(o.header()), d.Label) {
		if err := checkText("column name", name); err != nil {
			return err
		}
		if seen[name] {
			return fmt.Errorf("two columns are called %q: expected distinct names", name)
		}
		seen[name] = true
	}
	for _, c := range d.Classes {
		if err := checkText("label", c); err != nil {
			return err
		}
	}
	sorted := slices.Clone(d.Classes)
	SortLabels(sorted)
	if !slices.Equal(sorted, d.Classes) || len(slices.Compact(sorted)) != len(d.Classes) {
		return errors.New("classes: expected distinct labels in sorted order")
	}
	occurs := make([]bool, len(d.Classes))
	for i, c := range d.Y {
		if c < 0 || c >= len(d.Classes) {
			return fmt.Errorf("row %d: class index %d, expected 0 to %d", i+1, c, len(d.Classes)-1)
		}
		occurs[c] = true
	}
	if c := slices.Index(occurs, false); c >= 0 {
		return fmt.Errorf("class %q has no rows", d.Classes[c])
	}
	return nil
}

// checkText returns an error if s cannot be a name or a label.
func checkText(what, s string) error {
	switch {
	case s == "":
		return fmt.Errorf("expected a %s, found nothing", what)
	case utf8.RuneCountInString(s) > maxText:
		return fmt.Errorf("expected a %s of at most %d characters, found %s", what, maxText, quote(s))
	case s != tidy(s):
		return fmt.Errorf("expected a %s without control characters or surrounding spaces, found %s", what, quote(s))
	}
	return nil
}

// tidy makes text fit for one line of a page or a file: control characters and line breaks become
// spaces, and surrounding spaces and characters of zero width are removed.
func tidy(s string) string {
	bad := func(r rune) bool {
		return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError || isZeroWidth(r)
	}
	if strings.ContainsFunc(s, bad) {
		s = strings.ReplaceAll(s, "\r\n", "\n")
		s = strings.Map(func(r rune) rune {
			switch {
			case isZeroWidth(r):
				return -1
			case bad(r):
				return ' '
			}
			return r
		}, s)
	}
	return strings.TrimSpace(s)
}

// zeroWidth lists invisible characters that web pages and other programs leave in texts. Joiners,
// which change letters and signs, are not among them.
const zeroWidth = "\u200b\u2060\ufeff"

func isZeroWidth(r rune) bool { return r > unicode.MaxLatin1 && strings.ContainsRune(zeroWidth, r) }

// quote returns text found in a file in quotes, shortened if it is long.
func quote(s string) string {
	const longest = 40
	if utf8.RuneCountInString(s) > longest {
		return strconv.Quote(string([]rune(s)[:longest])) + "…"
	}
	return strconv.Quote(s)
}

// Encode writes the canonical CSV form: header, objects at full precision, empty cells for missing
// values, label last. For objects other than vectors, the line described at Objects comes first.
// Equal data have equal bytes; their SHA-256 is the data hash. It returns the errors of Validate.
func (d *Data) Encode(w io.Writer) error {
	if err := d.Validate(); err != nil {
		return err
	}
	return d.write(w, csvField)
}

// Export is Encode for files: texts are guarded by Guard, and quoted if they begin like another
// format.
func (d *Data) Export(w io.Writer) error {
	if err := d.Validate(); err != nil {
		return err
	}
	return d.write(w, func(s string) string {
		if s = Guard(s); strings.ContainsAny(s[:min(1, len(s))], "<>@[{%/") {
			return quoted(s)
		}
		return csvField(s)
	})
}

// write writes the canonical form, passing every text through field.
func (d *Data) write(w io.Writer, field func(string) string) error {
	o := d.objects()
	b := bufio.NewWriter(w)
	if o.Kind() != KindVectors {
		b.WriteString(kindLine(o.Kind()) + "\n")
	}
	for _, name := range o.header() {
		b.WriteString(field(name))
		b.WriteByte(',')
	}
	b.WriteString(field(d.Label))
	b.WriteByte('\n')
	classes := lists.Map(d.Classes, field)
	var cells []byte
	for i, c := range d.Y {
		cells = o.appendCells(cells[:0], i, field)
		b.Write(cells)
		b.WriteString(classes[c])
		b.WriteByte('\n')
	}
	return b.Flush()
}

// kindLine returns the first line of the canonical form of objects other than vectors.
func kindLine(k Kind) string { return "#" + string(k) }

// csvField quotes text with characters that have a meaning in CSV.
func csvField(s string) string {
	if !strings.ContainsAny(s, ",;\"'#\\\t") {
		return s
	}
	return quoted(s)
}

func quoted(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// Guard puts an apostrophe before text that a spreadsheet would evaluate as a formula, for CSV
// files. Numbers are left unchanged; reading removes the apostrophe.
func Guard(s string) string {
	if isFormula(strings.TrimLeft(s, "'")) {
		return "'" + s
	}
	return s
}

// unguard undoes Guard.
func unguard(s string) string {
	if strings.HasPrefix(s, "'") && isFormula(strings.TrimLeft(s, "'")) {
		return s[1:]
	}
	return s
}

// isFormula reports whether a spreadsheet would evaluate the text, or reading would change it.
func isFormula(s string) bool {
	if onKeyboard(s) != s {
		return true
	}
	if len(s) < 2 || !strings.ContainsRune("=+-@", rune(s[0])) {
		return false
	}
	_, number := parseNumber(s)
	return !number
}

// Hash returns the SHA-256 of the canonical form of valid data, in hexadecimal.
func (d *Data) Hash() string {
	h := sha256.New()
	_ = d.write(h, csvField) // writing to a hash never fails
	return hex.EncodeToString(h.Sum(nil))
}

// Decode reads exactly what Encode wrote. Errors are *Error.
func Decode(r io.Reader) (*Data, error) { return DecodeUpTo(r, math.MaxInt) }

// DecodeUpTo decodes like Decode but accepts at most the given number of rows; for more, it returns
// an *Error that wraps ErrTooLarge.
func DecodeUpTo(r io.Reader, rows int) (*Data, error) {
	size, sized := sizeOf(r)
	in := bufio.NewReader(r)
	kind, above := KindVectors, 0
	if first, _ := in.Peek(1); string(first) == "#" {
		line, err := in.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, decodeError(err, 0)
		}
		kind, above = Kind(strings.TrimPrefix(strings.TrimRight(line, "\n"), "#")), 1
	}
	entry := kind.entry()
	if entry == nil {
		return nil, &Error{Line: 1, Message: fmt.Sprintf("expected objects of a known kind, found %s: a newer version of Margin Lab may have written them", quote(string(kind)))}
	}
	cr := csv.NewReader(&narrow{r: in})
	cr.ReuseRecord = true
	fault := func(column int, name, format string, args ...any) error {
		line, _ := cr.FieldPos(max(column-1, 0))
		return &Error{Line: above + line, Column: column, Name: name, Message: fmt.Sprintf(format, args...)}
	}
	head, err := cr.Read()
	if err != nil {
		return nil, decodeError(err, above)
	}
	if len(head) < 2 {
		return nil, fault(0, "", "expected at least one feature and a label, found %d column", len(head))
	}
	cols := len(head) - 1
	head = slices.Clone(head)
	dec, err := entry.decode(head[:cols])
	if err != nil {
		return nil, fault(0, "", "%s", err)
	}
	room, roomy := dec.(interface{ expect(n int) })
	var labels cells
	begin := cr.InputOffset()
	for {
		rec, err := cr.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, decodeError(err, above)
		}
		if labels.Len() == rows {
			return nil, beyond(0, rows, "row")
		}
		if j, err := dec.add(rec[:cols]); err != nil {
			return nil, fault(j+1, head[j], "%s", err)
		}
		const some = 100 // rows from which the length of the others is estimated
		if labels.add(rec[cols]); sized && roomy && labels.Len() == some {
			length := float64(cr.InputOffset()-begin) / some
			room.expect(int(1.02*float64(size-begin)/length) + some)
		}
	}
	if labels.Len() == 0 {
		return nil, &Error{Message: "expected at least one row of data, found only a header"}
	}
	d := &Data{Label: head[cols]}
	d.setObjects(dec.objects())
	d.setLabels(labels.list())
	if err := d.Validate(); err != nil {
		return nil, &Error{Message: err.Error()}
	}
	return d, nil
}

// mostFields is the maximum number of fields in a line of the canonical form, enough for a kernel
// matrix.
const mostFields = 100_000

// narrow limits lines of CSV to mostFields fields, because encoding/csv needs many times the memory
// of a line of commas.
type narrow struct {
	r      io.Reader
	fields int // of the line so far
	quoted bool
}

func (n *narrow) Read(p []byte) (int, error) {
	k, err := n.r.Read(p)
	for _, c := range p[:k] {
		switch {
		case c == '"':
			n.quoted = !n.quoted
		case n.quoted:
		case c == '\n':
			n.fields = 0
		case c == ',':
			if n.fields++; n.fields >= mostFields {
				return 0, &Error{Message: "expected at most " + Count(mostFields, "field") + " in a line", Err: ErrTooLarge}
			}
		}
	}
	return k, err
}

// decodeError converts an error of encoding/csv, which began to read after the given number of
// lines, to an *Error.
func decodeError(err error, above int) error {
	var pe *csv.ParseError
	var wide *Error
	switch {
	case errors.As(err, &wide):
		return wide
	case err == io.EOF:
		return &Error{Message: "expected a header, found an empty file"}
	case errors.As(err, &pe):
		return &Error{Line: above + pe.Line, Message: pe.Err.Error(), Err: pe.Err}
	}
	return &Error{Message: err.Error(), Err: err}
}

// Columns returns vectors with only the named features, in that order. It returns an error for a
// name that is unknown or given twice, an empty list, and objects without features.
func (d *Data) Columns(names []string) (*Data, error) {
	if d.Objects != nil {
		return nil, fmt.Errorf("objects of kind %s have no features to choose from", d.Kind())
	}
	if len(names) == 0 {
		return nil, errors.New("no features chosen: expected at least one of " + list(d.Features))
	}
	at := make([]int, len(names))
	for j, name := range names {
		k := slices.Index(d.Features, name)
		if k < 0 {
			return nil, fmt.Errorf("no feature %s: expected one of %s", quote(name), list(d.Features))
		}
		if slices.Contains(names[:j], name) {
			return nil, fmt.Errorf("feature %s is chosen twice", quote(name))
		}
		at[j] = k
	}
	return &Data{Features: slices.Clone(names), Label: d.Label, X: pickColumns(d.X, at), Given: pickColumns(d.Given, at), Classes: d.Classes, Y: d.Y}, nil
}

// Binary returns labels ±1: +1 for the positive class. An empty positive means the second
// of two classes; with more it must be named, and all others are -1. pos and neg name the
// sides; neg is "not pos" if it stands for several classes.
func (d *Data) Binary(positive string) (y []float64, pos, neg string, err error) {
	k := len(d.Classes)
	p := k - 1
	switch {
	case k < 2:
		return nil, "", "", fmt.Errorf("a single class (%s): expected two or more", list(d.Classes))
	case positive != "":
		if p = slices.Index(d.Classes, positive); p < 0 {
			p = slices.Index(d.Classes, tidyLabel(positive))
		}
		if p < 0 {
			return nil, "", "", fmt.Errorf("no class %s: expected the positive class to be one of %s", quote(positive), list(d.Classes))
		}
	case k > 2:
		return nil, "", "", fmt.Errorf("%d classes: choose the positive class (positive) among %s", k, list(d.Classes))
	}
	y = make([]float64, len(d.Y))
	for i, c := range d.Y {
		y[i] = -1
		if c == p {
			y[i] = 1
		}
	}
	pos, neg = d.Classes[p], d.Classes[(p+1)%k]
	if k > 2 {
		neg = "not " + pos
	}
	return y, pos, neg, nil
}

// list joins names for a message, at most the first ten.
func list(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " …"
	}
	return strings.Join(names, ", ")
}
