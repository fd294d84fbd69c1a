package dataset

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/lists"
)

// Kind is the kind of a data set's objects. It determines which kernels apply.
type Kind string

// The kinds of objects.
const (
	KindVectors     Kind = "vectors"     // rows of numbers, see Data.X
	KindPrecomputed Kind = "precomputed" // kernel values between the objects, see Precomputed
	KindStrings     Kind = "strings"     // see Strings
	KindGraphs      Kind = "graphs"      // see Graphs
)

// Objects holds the rows of a data set without their labels. In the canonical form they are
// the CSV columns before the label. For vectors that form begins with the header; for other
// kinds, with a line of "#" and the kind, which is never a header.
type Objects interface {
	Kind() Kind
	// Len returns the number of objects.
	Len() int
	// Subset returns the objects of the given rows, counted from 0, in the order given. They
	// may share memory with the receiver.
	Subset(rows []int) Objects
	// Validate returns an error if the objects break a rule of their type.
	Validate() error
	// Text returns object i in user notation, "" if it has none.
	Text(i int) string
	// Keep returns what a model needs of the given rows to compute kernel values with other
	// objects later; for a kernel matrix this is less than the rows hold.
	Keep(rows []int) Objects

	// kept returns the JSON form of objects returned by Keep.
	kept() (Shape, Kept)
	// header names the columns of the canonical form.
	header() []string
	// appendCells appends the cells of object i, each followed by a comma, with texts
	// converted by field.
	appendCells(dst []byte, i int, field func(string) string) []byte
}

// decoder reads objects from their canonical form, row by row.
type decoder interface {
	// add adds an object from its cells. If a cell is invalid, it returns the cell's index.
	add(cells []string) (wrong int, err error)
	// objects returns the added objects, of which there is at least one.
	objects() Objects
}

type kindEntry struct {
	Kind
	words    string // what the objects are
	prepared string // preprocessing

	// decode returns a decoder of the rows below a header.
	decode func(header []string) (decoder, error)
	// restore is the inverse of kept.
	restore func(Shape, Kept) (Objects, error)
	// rows reads objects to predict, see Table.Alike.
	rows func(t *Table, like Objects, expected string) (o Objects, label string, err error)
}

var kinds = []kindEntry{
	{
		Kind: KindVectors, words: "points with features", prepared: "none: features as given",
		decode: decodeVectors,
	},
	{
		Kind: KindPrecomputed, words: "a kernel matrix, values k(x, z) instead of points", prepared: "none: the kernel is precomputed",
		decode: decodePrecomputed, restore: restorePrecomputed,
		rows: func(t *Table, like Objects, expected string) (Objects, string, error) {
			return t.KernelRows(like.(*Precomputed).Columns(), expected)
		},
	},
	{
		Kind: KindStrings, words: "strings", prepared: "none: strings as given",
		decode: decodeStrings, restore: restoreStrings,
		rows: func(t *Table, like Objects, expected string) (Objects, string, error) {
			return t.stringRows(like.(*Strings), expected)
		},
	},
	{
		Kind: KindGraphs, words: "graphs", prepared: "none: graphs as given",
		decode: decodeGraphs, restore: restoreGraphs,
		rows: func(t *Table, like Objects, expected string) (Objects, string, error) {
			return t.graphRows(like.(*Graphs), expected)
		},
	},
}

// Kinds lists the kinds of objects.
func Kinds() []Kind {
	return lists.Map(kinds, func(e kindEntry) Kind { return e.Kind })
}

// entry returns the kind's entry, or nil for an unknown kind.
func (k Kind) entry() *kindEntry {
	if i := slices.IndexFunc(kinds, func(e kindEntry) bool { return e.Kind == k }); i >= 0 {
		return &kinds[i]
	}
	return nil
}

// Words describes the objects of a known kind: "points with features".
func (k Kind) Words() string { return k.entry().words }

// Prepared describes the preprocessing of objects of a known kind, if it is fixed.
func (k Kind) Prepared() string { return k.entry().prepared }

// Kind returns the kind of the objects.
func (d *Data) Kind() Kind {
	if d.Objects == nil {
		return KindVectors
	}
	return d.Objects.Kind()
}

// Len returns the number of rows.
func (d *Data) Len() int { return len(d.Y) }

// Indices returns the numbers from 0 to n-1, the indices of n rows.
func Indices(n int) []int { return Range(0, n) }

// Range returns n consecutive numbers starting at first.
func Range(first, n int) []int {
	return lists.Make(n, func(i int) int { return first + i })
}

// Subset returns the data of the given rows, in the given order. It keeps the classes of d,
// even those without rows. Its objects may share memory with those of d.
func (d *Data) Subset(rows []int) *Data {
	s := &Data{Label: d.Label, Classes: d.Classes, Y: lists.At(d.Y, rows)}
	s.setObjects(d.objects().Subset(rows))
	return s
}

// Sample returns the data of the given rows, in the given order, with only the classes that
// occur.
func (d *Data) Sample(rows []int) *Data {
	s := d.Subset(rows)
	return relabelled(s.Label, s.objects(), s.labels())
}

// objects returns the objects of d, of whatever kind.
func (d *Data) objects() Objects {
	if d.Objects == nil {
		return vectors{d.Features, d.X, d.Given}
	}
	return d.Objects
}

func (d *Data) setObjects(o Objects) {
	if v, ok := o.(vectors); ok {
		d.Features, d.X, d.Given = v.names, v.x, v.given
		return
	}
	d.Objects = o
}

// vectors holds the Features, X and Given of a Data.
type vectors struct {
	names    []string
	x, given *mat.Dense
}

func (v vectors) Kind() Kind { return KindVectors }

func (v vectors) Len() int {
	if v.x == nil {
		return 0
	}
	return v.x.RawMatrix().Rows
}

func (v vectors) Subset(rows []int) Objects {
	return vectors{v.names, PickRows(v.x, rows), PickRows(v.given, rows)}
}

func (v vectors) Validate() error {
	if v.x == nil || v.x.IsEmpty() {
		return errors.New("data without points: expected at least one row and one feature")
	}
	if _, cols := v.x.Dims(); cols != len(v.names) {
		return fmt.Errorf("%d names for %d features", len(v.names), cols)
	}
	if g := v.given; g != nil && (g.RawMatrix().Rows != v.Len() || g.RawMatrix().Cols != len(v.names)) {
		return errors.New("the original values and the encoded ones differ in shape")
	}
	for i := range v.Len() {
		for j, s := range v.x.RawRowView(i) {
			if !isFinite(s) {
				return fmt.Errorf("row %d, %s: expected a finite number, found %v", i+1, v.names[j], s)
			}
		}
	}
	return nil
}

func (v vectors) Text(int) string { return "" }

func (v vectors) Keep(rows []int) Objects { return v.Subset(rows) }

func (v vectors) kept() (Shape, Kept) { return Shape{Objects: KindVectors}, Kept{} }

func (v vectors) header() []string { return v.names }

func (v vectors) appendCells(dst []byte, i int, _ func(string) string) []byte {
	x := v.x
	if v.given != nil {
		x = v.given
	}
	for _, s := range x.RawRowView(i) {
		if !math.IsNaN(s) {
			dst = appendNumber(dst, s)
		}
		dst = append(dst, ',')
	}
	return dst
}

type vectorDecoder struct {
	names  []string
	values []float64
}

func decodeVectors(header []string) (decoder, error) {
	return &vectorDecoder{names: slices.Clone(header)}, nil
}

func (v *vectorDecoder) add(cells []string) (wrong int, err error) {
	for j, cell := range cells {
		s, err := math.NaN(), error(nil)
		if cell != "" {
			s, err = decodeNumber(cell)
		}
		if err != nil {
			return j, err
		}
		v.values = append(v.values, s)
	}
	return 0, nil
}

// expect allocates room for about n objects.
func (v *vectorDecoder) expect(n int) {
	v.values = slices.Grow(v.values, max(n*len(v.names)-len(v.values), 0))
}

func (v *vectorDecoder) objects() Objects {
	return filled(v.names, mat.NewDense(len(v.values)/len(v.names), len(v.names), v.values))
}

// appendNumber writes v at full precision.
func appendNumber(dst []byte, v float64) []byte {
	if k := int64(v); -1e6 < v && v < 1e6 && float64(k) == v && (k != 0 || !math.Signbit(v)) {
		return strconv.AppendInt(dst, k, 10) // the same result, faster
	}
	return strconv.AppendFloat(dst, v, 'g', -1, 64)
}

// decodeNumber reads what appendNumber wrote.
func decodeNumber(cell string) (float64, error) {
	v, err := strconv.ParseFloat(cell, 64)
	if err != nil || !isFinite(v) {
		return 0, fmt.Errorf("expected a finite number, found %s", quote(cell))
	}
	return v, nil
}

func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// PickRows returns the given rows of x, at least one, in the order given; nil if x is nil. If they
// are all rows in order, it returns x itself, so clone the result before changing it.
func PickRows(x *mat.Dense, rows []int) *mat.Dense {
	if x == nil {
		return nil
	}
	n, d := x.Dims()
	whole := len(rows) == n
	for a := 0; whole && a < n; a++ {
		whole = rows[a] == a
	}
	if whole {
		return x
	}
	out := mat.NewDense(len(rows), d, nil)
	for a, i := range rows {
		out.SetRow(a, x.RawRowView(i))
	}
	return out
}

// pickColumns returns the given columns of x, at least one, in the order given; nil if x is nil.
func pickColumns(x *mat.Dense, columns []int) *mat.Dense {
	if x == nil {
		return nil
	}
	n, _ := x.Dims()
	out := mat.NewDense(n, len(columns), nil)
	for i := range n {
		from, to := x.RawRowView(i), out.RawRowView(i)
		for k, j := range columns {
			to[k] = from[j]
		}
	}
	return out
}
