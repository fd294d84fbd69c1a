package graphkernels

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

var vecNodes = lessons.IntegerControl{Name: "n", Label: "nodes of either graph", Symbol: "n", Default: "4", Min: 3, Max: 10, Low: 3, High: 10}

// vecWeight is the weight per step on the screen about the vec trick; the spectral radius of its
// product graphs is below 4.
const vecWeight = 0.1

// multiplier multiplies matrices and counts scalar multiplications.
type multiplier struct{ times int }

func (m *multiplier) product(a, b mat.Matrix) *mat.Dense {
	rows, inner := a.Dims()
	_, cols := b.Dims()
	m.times += rows * inner * cols
	var p mat.Dense
	p.Mul(a, b)
	return &p
}

// formed multiplies a vector by the full matrix of the product graph.
func (m *multiplier) formed(a, b mat.Matrix) func(x *mat.Dense) *mat.Dense {
	var both mat.Dense
	both.Kronecker(a, b)
	return func(x *mat.Dense) *mat.Dense { return m.product(&both, x) }
}

// trick multiplies the same vector, written row by row as a matrix, by the two small matrices.
func (m *multiplier) trick(a, b mat.Matrix) func(x *mat.Dense) *mat.Dense {
	return func(x *mat.Dense) *mat.Dense { return m.product(m.product(a, x), b.T()) }
}

// summed sums over walks of all lengths, with weight vecWeight^length, by the iteration
// x = 1 + vecWeight A x, until a term no longer changes the sum.
func (m *multiplier) summed(rows, cols int, apply func(x *mat.Dense) *mat.Dense) (x *mat.Dense, value float64) {
	x, term := mat.NewDense(rows, cols, nil), mat.NewDense(rows, cols, nil)
	term.Apply(func(_, _ int, _ float64) float64 { return 1 }, term)
	for {
		x.Add(x, term)
		if before := value; mat.Sum(x) == before {
			return x, value
		}
		value = mat.Sum(x)
		term = apply(term)
		term.Scale(vecWeight, term)
	}
}

func path(n int) dataset.Graph {
	g := ring(n)
	g.Edges = slices.Delete(g.Edges, 1, 2)
	return g
}

func showVec(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	n := vecNodes.Of(in)
	first, second := shape{"ring", ring(n)}, shape{"path", path(n)}
	a, b := theory.Adjacency(first.graph), theory.Adjacency(second.graph)
	var long, short multiplier
	_, whole := long.summed(n*n, 1, long.formed(a, b))
	x, parts := short.summed(n, n, short.trick(a, b))
	lab := value(ctx, walkKernel(vecWeight, false, false), first.graph, second.graph)
	curves := []figure.Curve{{Name: "A× formed", Marks: true}, {Name: "vec trick", Marks: true}}
	for size := vecNodes.Min; size <= vecNodes.Max; size++ {
		k := int(size)
		one, other := theory.Adjacency(ring(k)), theory.Adjacency(path(k))
		var of [2]multiplier
		of[0].formed(one, other)(mat.NewDense(k*k, 1, nil))
		of[1].trick(one, other)(mat.NewDense(k, k, nil))
		for i := range of {
			curves[i].X, curves[i].Y = append(curves[i].X, size), append(curves[i].Y, float64(of[i].times))
		}
	}
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			{Name: "entries", Caption: `All entries in one scale: left $A_\times$, right from top to bottom $A$, $X$ and $A'$. The stronger the colour, the larger the entry.`, Draw: func(l lessons.Look) (*figure.Picture, error) {
				return entriesPicture(l, a, x, b)
			}},
			{Name: "multiplications", Caption: `Multiplications for one product $A_\times\mathbf x$. Both axes are logarithmic: the slopes are 4 and 3.`, Draw: lessons.Draws(2, figure.Chart{
				X: figure.Axis{Name: "nodes of either graph", Log: true}, Y: figure.Axis{Name: "multiplications", Log: true}, Curves: curves, Here: new(float64(n)),
			})},
			networks("graphs", "The two graphs.", true, lettered(first), lettered(second)),
		},
		Numbers: []lessons.Number{
			{Label: `entries of $A_\times$`, Value: fmt.Sprint(n * n * n * n), Help: fmt.Sprintf(`$%d^2 \times %d^2$`, n, n)},
			{Label: `entries of $A$, $X$ and $A'$`, Value: fmt.Sprint(3 * n * n), Help: "in all"},
			{Label: `multiplications, $A_\times$ formed`, Value: fmt.Sprint(long.times), Help: "until a further term no longer changes the sum"},
			{Label: "multiplications, vec trick", Value: fmt.Sprint(short.times), Help: "for the same terms"},
			{Label: `kernel, $A_\times$ formed`, Value: views.Long(whole), Help: fmt.Sprintf(`$\lambda = %g$`, vecWeight)},
			{Label: "kernel, vec trick", Value: views.Long(parts), Help: "the lab, by conjugate gradients: " + views.Long(lab)},
		},
	}
}

// entriesPicture shows the matrix of the product graph beside the three that replace it.
func entriesPicture(l lessons.Look, a, x, b mat.Matrix) (*figure.Picture, error) {
	n, _ := a.Dims()
	const gap = 1
	all := mat.NewDense(max(n*n, 3*n+2*gap), n*n+gap+n, nil)
	all.Apply(func(_, _ int, _ float64) float64 { return math.NaN() }, all)
	all.Slice(0, n*n, 0, n*n).(*mat.Dense).Kronecker(a, b)
	for i, m := range []mat.Matrix{a, x, b} {
		top := i * (n + gap)
		all.Slice(top, top+n, n*n+gap, n*n+gap+n).(*mat.Dense).Copy(m)
	}
	rows, cols := all.Dims()
	return figure.Matrix{
		Format: l.Format(0), Name: "entry", Values: all, Names: make([]string, rows), Columns: make([]string, cols), X: fmt.Sprintf("A×: %d entries  |  A, X, A′: %d", n*n*n*n, 3*n*n),
		Caption: fmt.Sprintf("A matrix of %d rows and columns beside three of %d rows and columns.", n*n, n),
	}.Picture()
}
