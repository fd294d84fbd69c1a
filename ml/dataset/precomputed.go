package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
)

// Precomputed holds objects known only by their kernel values: row i of K holds
// k(x_i, a_1) … k(x_i, a_M) for M objects a_j. Training objects are all or some of
// the a_j, identified by Number; those of a Data always are. Objects to predict are
// not among them.
type Precomputed struct {
	K      *mat.Dense // n x M, finite; symmetric among the a_j that are rows; nil: kept by a model
	Among  int        // M, if K is nil
	Number []int      // for each row the j of its a_j, from 1; 0: none of them
	Self   []float64  // k(x_i, x_i) for each row, if given and the rows are none of the a_j; else nil
}

// Kind returns KindPrecomputed.
func (p *Precomputed) Kind() Kind { return KindPrecomputed }

// Len returns the number of rows n.
func (p *Precomputed) Len() int { return len(p.Number) }

// Columns returns the number M of objects that the rows are compared with.
func (p *Precomputed) Columns() int {
	if p.K == nil {
		return p.Among
	}
	return p.K.RawMatrix().Cols
}

// Diag returns k(x_i, x_i), and false if it is unknown.
func (p *Precomputed) Diag(i int) (v float64, known bool) {
	switch {
	case p.Number[i] > 0:
		return p.K.At(i, p.Number[i]-1), true
	case p.Self != nil:
		return p.Self[i], true
	}
	return 0, false
}

// Subset returns some of the rows. They keep their numbers and all M columns.
func (p *Precomputed) Subset(rows []int) Objects {
	s := &Precomputed{K: PickRows(p.K, rows), Number: lists.At(p.Number, rows)}
	if p.Self != nil {
		s.Self = lists.At(p.Self, rows)
	}
	return s
}

// Text returns "": nothing is known about the objects.
func (p *Precomputed) Text(int) string { return "" }

// Keep returns the numbers of these rows, which index the kernel values of other
// objects with them.
func (p *Precomputed) Keep(rows []int) Objects {
	return &Precomputed{Among: p.Columns(), Number: lists.At(p.Number, rows)}
}

func (p *Precomputed) kept() (Shape, Kept) {
	return Shape{Objects: KindPrecomputed, Columns: p.Columns()}, Kept{Numbers: p.Number}
}

func restorePrecomputed(s Shape, k Kept) (Objects, error) {
	if i := slices.IndexFunc(k.Numbers, func(n int) bool { return n < 1 || n > s.Columns }); i >= 0 {
		return nil, fmt.Errorf("numbers: expected numbers from 1 to %d, found %d", s.Columns, k.Numbers[i])
	}
	return &Precomputed{Among: s.Columns, Number: k.Numbers}, nil
}

// Validate reports a value that is not finite, a row without a number, or the
// first pair of rows whose two kernel values differ.
func (p *Precomputed) Validate() error {
	if p.K == nil || p.K.IsEmpty() {
		return errors.New("a kernel matrix without values: expected at least one row")
	}
	n, m := p.K.Dims()
	if len(p.Number) != n {
		return fmt.Errorf("%d numbers for %d rows of a kernel matrix", len(p.Number), n)
	}
	if p.Self != nil {
		return errors.New("a kernel matrix to train on: expected no separate values k(x, x)")
	}
	for i := range n {
		for j, v := range p.K.RawRowView(i) {
			if !isFinite(v) {
				return fmt.Errorf("row %d, K%d: expected a finite number, found %v", i+1, j+1, v)
			}
		}
		if k := p.Number[i]; k < 1 || k > m {
			return fmt.Errorf("row %d: expected the number of an object, 1 to %d, found %d", i+1, m, k)
		}
	}
	for i := range n {
		for j := range i {
			if a, b := p.pair(i, j); *a != *b {
				return fmt.Errorf("rows %d and %d: expected a symmetric matrix, found %g and %g", j+1, i+1, *b, *a)
			}
		}
	}
	return nil
}

// pair returns pointers to the two entries of K for rows i and j, one in each row.
func (p *Precomputed) pair(i, j int) (a, b *float64) {
	return &p.K.RawRowView(i)[p.Number[j]-1], &p.K.RawRowView(j)[p.Number[i]-1]
}

// numberName and selfName are the file columns of Number and Self.
const (
	numberName = "number"
	selfName   = "self"
)

func (p *Precomputed) header() []string {
	return append([]string{numberName}, lists.Make(p.Columns(), kernelName)...)
}

func kernelName(j int) string { return fmt.Sprintf("K%d", j+1) }

func (p *Precomputed) appendCells(dst []byte, i int, _ func(string) string) []byte {
	dst = append(strconv.AppendInt(dst, int64(p.Number[i]), 10), ',')
	for _, v := range p.K.RawRowView(i) {
		dst = append(appendNumber(dst, v), ',')
	}
	return dst
}

type precomputedDecoder struct {
	columns int
	values  []float64
	number  []int
}

func decodePrecomputed(header []string) (decoder, error) {
	if header[0] != numberName || len(header) < 2 {
		return nil, errors.New("expected the columns number, K1, K2 … and a label")
	}
	return &precomputedDecoder{columns: len(header) - 1}, nil
}

func (d *precomputedDecoder) add(cells []string) (wrong int, err error) {
	k, err := strconv.Atoi(cells[0])
	if err != nil {
		return 0, fmt.Errorf("expected the number of an object, found %s", quote(cells[0]))
	}
	d.number = append(d.number, k)
	for j, cell := range cells[1:] {
		v, err := decodeNumber(cell)
		if err != nil {
			return j + 1, err
		}
		d.values = append(d.values, v)
	}
	return 0, nil
}

// expect allocates room for about n objects.
func (d *precomputedDecoder) expect(n int) {
	d.values = slices.Grow(d.values, max(n*d.columns-len(d.values), 0))
}

func (d *precomputedDecoder) objects() Objects {
	return &Precomputed{K: mat.NewDense(len(d.number), d.columns, d.values), Number: d.number}
}

// kernelColumns returns the columns of a file with kernel values: all but the label and
// those called number and self, which are -1 if missing.
func (t *Table) kernelColumns(label int) (values []int, number, self int) {
	number, self = -1, -1
	for j, c := range t.Columns {
		switch {
		case j == label, t.isRowNumber(j):
		case number < 0 && strings.EqualFold(c.Name, numberName):
			number = j
		case self < 0 && strings.EqualFold(c.Name, selfName):
			self = j
		default:
			values = append(values, j)
		}
	}
	return values, number, self
}

// Square reports whether there are enough columns for a kernel matrix and its label, and no
// more extra columns than a kernel matrix may have.
func (t *Table) Square() bool {
	return len(t.Columns) > len(t.Lines) && len(t.Columns) <= len(t.Lines)+besides
}

// kernelMatrix reads the kernel matrix of a training set: a row per object and as many
// columns, or fewer rows identified by their numbers. The two values of a pair may differ
// by rounding and are replaced by their mean.
func (t *Table) kernelMatrix(label int) (*Precomputed, error) {
	values, number, self := t.kernelColumns(label)
	n, m := len(t.Lines), len(values)
	if m == 0 || number < 0 && n != m || n > m {
		return nil, t.fault(-1, -1, "expected a kernel matrix with as many columns as rows, not counting the label, found %s and %s: row i holds k(x_i, x_1) … k(x_i, x_M) for the M training objects%s", Count(n, "row"), Count(m, "column"), t.fromOne())
	}
	if self >= 0 {
		return nil, t.fault(-1, self, "expected a kernel matrix without a column k(x, x): the diagonal already has these values")
	}
	k, err := t.numbersAt(values, false)
	if err != nil {
		return nil, err
	}
	p := &Precomputed{K: k, Number: make([]int, n)}
	for i := range n {
		p.Number[i] = i + 1
		if number < 0 {
			continue
		}
		cell := t.Columns[number].Cell(i)
		v, ok := parseNumber(cell)
		if !ok || v != math.Trunc(v) || v < 1 || v > float64(m) {
			return nil, t.fault(i, number, "expected an object number from 1 to %d, because a row has %d kernel values, found %s%s", m, m, quote(cell), t.fromOne())
		}
		p.Number[i] = int(v)
		if first := slices.Index(p.Number[:i], int(v)); first >= 0 {
			return nil, t.fault(i, number, "expected each object once, found number %d again, first on line %d", int(v), t.Lines[first])
		}
	}
	const rounding = 1e-6 // relative to the largest value: rounding of single precision
	largest := floats.Norm(k.RawMatrix().Data, math.Inf(1))
	for i := range n {
		for j := range i {
			a, b := p.pair(i, j)
			if *a == *b {
				continue
			}
			if math.Abs(*a/2-*b/2) > rounding/2*largest {
				return nil, t.fault(i, values[p.Number[j]-1], "expected a symmetric matrix, found k = %g for the objects %d and %d but %g on line %d: rows and columns must list the same objects in the same order",
					*a, p.Number[i], p.Number[j], *b, t.Lines[j])
			}
			*a = *a/2 + *b/2
			*b = *a
		}
	}
	return p, nil
}

// fromOne returns a reminder that LIBSVM's format counts features from 1, for files that
// count from 0.
func (t *Table) fromOne() string {
	if t.Format == "libsvm" {
		return "; " + countedFromOne
	}
	return ""
}

// KernelRows reads rows to predict: each holds the kernel values of one object with the m
// training objects, in their order. A column self, or index m+1 in LIBSVM's format, gives
// k(x, x). label is the name of the label column in the file, empty if it has none; expected
// is the name to look for. Object numbers are ignored.
func (t *Table) KernelRows(m int, expected string) (p *Precomputed, label string, err error) {
	at := -1
	if t.Format == "libsvm" {
		expected = labelName
	}
	named := t.Place(expected)
	values, _, self := t.kernelColumns(named)
	switch {
	case named >= 0 && (t.Header || t.Format == "libsvm" || len(values) == m):
		at = named
	default:
		if values, _, self = t.kernelColumns(-1); len(values) == m+1 {
			at, _ = t.guessLabel()
			values = slices.DeleteFunc(values, func(j int) bool { return j == at })
		}
	}
	if t.Format == "libsvm" && self < 0 && len(values) == m+1 {
		self, values = values[m], values[:m]
	}
	if len(values) != m {
		return nil, "", t.fault(-1, -1, "expected %s of the kernel in each row, one per training object, found %d", Count(m, "value"), len(values))
	}
	p = &Precomputed{Number: make([]int, len(t.Lines))}
	if p.K, err = t.numbersAt(values, false); err != nil {
		return nil, "", err
	}
	if self >= 0 {
		own, err := t.numbersAt([]int{self}, false)
		if err != nil {
			return nil, "", err
		}
		p.Self = mat.Col(nil, 0, own)
	}
	if at >= 0 {
		label = t.Columns[at].Name
	}
	return p, label, nil
}
