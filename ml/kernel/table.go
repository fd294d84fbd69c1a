package kernel

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Table lists the kernels in the order pages show them.
var Table = append(slices.Clip(parts), combined)

// parts lists all kernels except combined ones.
var parts = []Entry{
	linear,
	poly,
	rbf,
	sigmoid,
	laplacian,
	rationalQuadratic,
	fisher,
	precomputed,
	spectrum,
	gapSubsequence,
	wl,
	randomWalk,
}

// Entry is one kernel of the table.
type Entry struct {
	Name    string
	Label   string
	Formula string // plain text with Unicode, as shown beside the controls
	Help    string
	Params  []param.Param
	Takes   dataset.Kind // the objects it compares; empty for combined, see Kernel.Takes
	PSD     bool         // every Gram matrix is positive semidefinite (poly: for coef0 >= 0)

	// bind returns the function of a kernel of vectors. It looks up the parameters once, so that
	// evaluation need not.
	bind func(Kernel) function
	// fit fits a kernel of vectors to the training rows; nil if there is nothing to fit.
	fit func(ctx context.Context, v param.Values, x *mat.Dense, recorder trace.Recorder) (Fitted, error)
	// compare prepares the values k(x_i, z_j), and self returns k(x_i, x_i), for a kernel of other
	// objects. Neither is normalised.
	compare func(ctx context.Context, v param.Values, x, z dataset.Objects) (comparison, error)
	self    func(ctx context.Context, v param.Values, x dataset.Objects) ([]float64, error)
	// steps estimates the average cost of k(x_i, x_j) in steps of 0.1 ns; nil: negligible.
	steps func(v param.Values, x dataset.Objects) float64
	// weigh expands a sum over objects, for a kernel that counts named features; canWeigh
	// reports whether that is cheap enough.
	weigh    func(ctx context.Context, v param.Values, z dataset.Objects, u []float64) (expansion, error)
	canWeigh func(v param.Values, z dataset.Objects) bool
}

// function is a kernel with fixed parameters.
type function interface {
	// row writes k(x_j, z) for the first len(dst) points x_j of x. k(x, z) and
	// k(z, x) are equal to the last bit. For an embedder, x and z are images.
	row(dst []float64, x packed, z []float64)
}

// Optional methods of a function, which are faster than row.
type (
	// rounder writes a row in single precision.
	rounder interface {
		row32(dst []float32, x packed, z listed)
	}
	// adder adds sum_j w_j k(x_i, z_j) to dst[i] for the first len(dst) points of x.
	adder interface {
		add(dst []float64, x packed, z listed, w []float64)
	}
	// adder32 is an adder with kernel values in single precision.
	adder32 interface {
		add32(dst []float64, x packed, z listed, w []float64)
	}
	// fastAdder adds sum_j w_j k(x_i, z_j) to dst[i] for the rows of x and z, with an error of at
	// most tolerance·sum |w_j|, until ctx ends. It returns its work in kernel values. If it is not
	// faster than an adder, it returns 0 and leaves dst unchanged.
	fastAdder interface {
		total(ctx context.Context, dst []float64, x, z blas64.General, w []float64, tolerance float64) (work int)
	}
	// gridder implements Sum.Grid for at least one term and one point, with dst zero. It
	// returns false, leaving dst unchanged, on planes it does not speed up, and stops when ctx
	// ends.
	gridder interface { // no embedder
		grid(ctx context.Context, s *Sum, dst []float64, p Plane, ss, ts []float64) bool
	}
	// embedder is a function of images of points. Each image is computed only once.
	embedder interface {
		size(d int) int         // of the image of a point with d coordinates
		image(dst, x []float64) // writes the image of x
	}
)

// embed returns the images of the rows of x, or x itself if f is not an embedder.
func embed(f function, x *mat.Dense) *mat.Dense {
	e, ok := f.(embedder)
	if !ok {
		return x
	}
	n, d := x.Dims()
	images := mat.NewDense(n, e.size(d), nil)
	for i := range n {
		e.image(images.RawRowView(i), x.RawRowView(i))
	}
	return images
}

// Lookup returns the entry of a kernel.
func Lookup(name string) (Entry, error) { return lookup(Table, name) }

func lookup(table []Entry, name string) (Entry, error) {
	if i := slices.IndexFunc(table, func(e Entry) bool { return e.Name == name }); i >= 0 {
		return table[i], nil
	}
	names := lists.Map(table, func(e Entry) string { return e.Name })
	last := len(names) - 1
	return Entry{}, fmt.Errorf("kernel %q is not known; use %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// For returns the first kernel of Table for a kind of objects other than vectors, with default
// parameters and normalised if possible.
func For(kind dataset.Kind) Kernel {
	for _, row := range Table {
		if row.Takes != kind {
			continue
		}
		k := Kernel{Name: row.Name}
		for _, p := range row.Params {
			k.Values = k.Values.With(p.Name, p.Read(p.Default))
		}
		if param.Contains(row.Params, normalize.Name) {
			k.Values = k.Values.With(normalize.Name, param.Of(true))
		}
		return k
	}
	return Kernel{}
}

// New returns the named kernel with its parameters from values; words such as auto are
// resolved for the preprocessed rows of x (M x d). Values of other parameters are dropped,
// as are all values of an unknown kernel.
func New(name string, values param.Values, x *mat.Dense) Kernel {
	k := Kernel{Name: name}
	row, err := Lookup(name)
	if err != nil {
		return k
	}
	for _, p := range row.Params {
		v := values[p.Name]
		if len(p.Words) > 0 {
			v = param.Of(Width(v, x))
		}
		k.Values = k.Values.With(p.Name, v)
	}
	if name != combined.Name {
		return k
	}
	e, err := k.expression()
	if err != nil {
		return k
	}
	for i, p := range e.parts {
		e.parts[i].Kernel = New(p.Name, p.Values, x)
	}
	k.Values = k.Values.With(expressionParam.Name, param.Of(e.String()))
	return k
}

// Takes returns the kind of objects that k compares. It returns an error for an unknown kernel or
// an invalid expression.
func (k Kernel) Takes() (dataset.Kind, error) {
	e, err := k.expression()
	if err != nil {
		return "", err
	}
	return e.takes(), nil
}

// Fit returns k fitted to the preprocessed training set x (M x d); most kernels have nothing to
// fit. recorder may be nil. Errors: unsuitable rows, ctx.Err().
func (k Kernel) Fit(ctx context.Context, x *mat.Dense, recorder trace.Recorder) (Kernel, error) {
	e, err := k.expression()
	if err != nil {
		return k, err
	}
	k.Fitted = nil
	size := 0 // of the scores of a row
	for _, p := range e.parts {
		if !p.row.Learns() {
			continue
		}
		n, d := x.Dims() // zero for other objects, which have nothing to fit
		if size += p.Values.Int("components") * (1 + 2*d); n*size > maxScores {
			return k, param.Refuse("use fewer components, features or rows",
				"%d rows with %d features have at least %d scores each, which need %d MB; the limit is %d MB", n, d, size, 8*n*size>>20, 8*maxScores>>20)
		}
		fitted, err := p.row.fit(ctx, p.Values, x, recorder)
		if err != nil {
			return k, err
		}
		k.Fitted = append(k.Fitted, fitted)
	}
	return k, nil
}

// Learns reports whether k must be fitted to the training set.
func (k Kernel) Learns() bool {
	e, err := k.expression()
	return err == nil && e.learns() > 0
}

// Learns reports whether kernels of the entry must be fitted to the training set. For combined
// kernels, see Kernel.Learns.
func (row Entry) Learns() bool { return row.fit != nil }

// bind returns the function of k, NaN everywhere for a kernel that Check rejects.
func bind(k Kernel) function {
	e, err := k.expression()
	if err != nil {
		return unknown{}
	}
	return e.function()
}

// function returns the function of the expression, NaN everywhere if a part does not take vectors
// or is not fitted.
func (e expression) function() function {
	functions := make([]function, len(e.parts))
	for i, p := range e.parts {
		if p.row.bind == nil || p.row.Learns() && len(p.Fitted) != 1 {
			return unknown{}
		}
		functions[i] = p.row.bind(p.Kernel)
	}
	if e.root.kind == isPart {
		return functions[0]
	}
	return newCombination(e.root, functions)
}

type unknown struct{}

func (unknown) row(dst []float64, _ packed, _ []float64) {
	for i := range dst {
		dst[i] = math.NaN()
	}
}
