package kernel

import (
	"strings"
	"sync"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// expressionParam is the parameter of the combined kernel.
var expressionParam = param.Param{
	Name: "expression", Label: "expression", Kind: param.Text, Default: Example(dataset.KindVectors), Telling: true, Max: maxExpression,
	Help: "Kernels and numbers combined with +, * and brackets: 0.5*linear + rbf(gamma=2)*poly(degree=2, coef0=1). Omitted parameters have their defaults.",
	Syntax: func(text string) error {
		_, err := parse(text, true)
		return err
	},
}

// combined is an expression of other kernels, see expression.
var combined = Entry{
	Name: "combined", Label: "Combined (sums and products)", Formula: "k(x, z) = an expression such as 0.5 k₁(x, z) + k₂(x, z) k₃(x, z)",
	Help:   "Sums and products of kernels and numbers. A sum is high where either kernel is, a product where both are.",
	Params: []param.Param{expressionParam},
}

// Example returns an example expression of kernels for a kind of objects.
func Example(kind dataset.Kind) string {
	if kind == dataset.KindVectors {
		return "linear + rbf"
	}
	var names []string
	for _, row := range parts {
		if row.Takes == kind && len(names) < 2 {
			names = append(names, row.Name)
		}
	}
	return strings.Join(names, " + ")
}

// combination is the function of an expression of kernels of vectors. Its points concatenate
// the inputs of the parts: the coordinates, shared by all parts that take them, then an image
// for each part that is an embedder.
type combination struct {
	root  node
	parts []function
	extra int        // size of all images
	most  int        // points of a block; with images one block of packed, where an input is contiguous
	work  *sync.Pool // of *block
}

// newCombination returns the function of an expression, given the functions of its parts.
func newCombination(root node, parts []function) function {
	c := combination{root: root, parts: parts, most: 16 * lanes, work: new(sync.Pool)}
	for _, f := range parts {
		if e, ok := f.(embedder); ok {
			c.extra += e.size(0)
			c.most = lanes
		}
	}
	values := root.depth() * c.most
	c.work.New = func() any { return &block{stack: make([]float64, values)} }
	if c.extra > 0 {
		return embedding{c}
	}
	return c
}

func (c combination) row(dst []float64, x packed, z []float64) {
	b := c.work.Get().(*block)
	b.parts, b.z, b.d = c.parts, z, x.d-c.extra
	for first := 0; first < len(dst); first += c.most {
		b.x = x.v[first*x.d:]
		c.root.eval(dst[first:min(first+c.most, len(dst))], b.stack, b)
	}
	c.work.Put(b)
}

// block is a valuer for some points of a row.
type block struct {
	parts []function
	d     int       // number of coordinates
	x     []float64 // packed
	z     []float64
	stack []float64
}

func (b *block) part(dst []float64, i int) {
	at, size := 0, b.d
	e, ok := b.parts[i].(embedder)
	if ok {
		for _, f := range b.parts[:i] {
			if e, ok := f.(embedder); ok {
				at += e.size(0)
			}
		}
		at, size = at+b.d, e.size(0)
	}
	b.parts[i].row(dst, packed{d: size, v: b.x[at*lanes:]}, b.z[at:][:size])
}

// embedding is a combination with parts that take images.
type embedding struct{ combination }

func (e embedding) size(d int) int { return d + e.extra }

func (e embedding) image(dst, x []float64) {
	rest := dst[copy(dst, x):]
	for _, f := range e.parts {
		if p, ok := f.(embedder); ok {
			p.image(rest[:p.size(0)], x)
			rest = rest[p.size(0):]
		}
	}
}

// combinedRows is the comparison for an expression of kernels of objects.
type combinedRows struct {
	root  *node
	parts []comparison
	depth int
}

func (c combinedRows) row(dst []float64, i int) {
	c.root.eval(dst, make([]float64, c.depth*len(dst)), rowOf{c.parts, i})
}

// rowOf is a valuer for row i.
type rowOf struct {
	parts []comparison
	i     int
}

func (r rowOf) part(dst []float64, k int) { r.parts[k].row(dst, r.i) }

// partValues is a valuer with the values of the parts.
type partValues [][]float64

func (v partValues) part(dst []float64, k int) { copy(dst, v[k]) }
