package theory

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/param"
)

// Adjacency returns the adjacency matrix A of a graph: A_uv = 1 if u and v are joined, ignoring
// directions and labels of edges (SVM notes 20.1).
func Adjacency(g dataset.Graph) *mat.SymDense {
	a := mat.NewSymDense(g.N, nil)
	for _, e := range g.Edges {
		a.SetSym(e[0], e[1], 1)
	}
	return a
}

// ProductGraph is the direct product of two graphs (SVM notes 20.3): its nodes are pairs of
// nodes, joined if both components are joined. A walk in it is a pair of walks of equal length.
type ProductGraph struct {
	Pairs     [][2]int // nodes: of the first graph, of the second
	Adjacency *mat.SymDense
}

// maxPairs limits a product graph, whose full matrix is stored.
const maxPairs = 400

// NewProductGraph returns the product of a and b, with all pairs of nodes, or only those with
// equal labels. It returns an error for more than 400 pairs and if no pair has equal labels.
func NewProductGraph(a, b dataset.Graph, labelled bool) (p ProductGraph, err error) {
	if n := a.N * b.N; n > maxPairs {
		return p, param.Refuse("use smaller graphs", "a product graph of %d nodes exceeds the limit of %d", n, maxPairs)
	}
	for u := range a.N {
		for v := range b.N {
			if !labelled || a.Label(u) == b.Label(v) {
				p.Pairs = append(p.Pairs, [2]int{u, v})
			}
		}
	}
	if len(p.Pairs) == 0 {
		return p, param.Refuse("ignore the labels", "the two graphs share no label, so their product graph has no nodes")
	}
	first, second := Adjacency(a), Adjacency(b)
	p.Adjacency = mat.NewSymDense(len(p.Pairs), nil)
	for i, x := range p.Pairs {
		for j, y := range p.Pairs[:i] {
			p.Adjacency.SetSym(i, j, first.At(x[0], y[0])*second.At(x[1], y[1]))
		}
	}
	return p, nil
}

// SpectralRadius returns the largest absolute eigenvalue of a matrix. For an adjacency matrix the
// sum over all walks with weights lambda^n converges if lambda is below its inverse.
func SpectralRadius(a mat.Symmetric) (float64, error) {
	values, _, err := eigen(a, false)
	radius := 0.0
	for _, v := range values {
		radius = math.Max(radius, math.Abs(v))
	}
	return radius, err
}

// WalkSystem returns 1'(I - lambda A)^-1 1 by solving the linear system: the sum over all walks
// if that converges, a meaningless number otherwise. It returns an error if 1/lambda is an
// eigenvalue.
func WalkSystem(a mat.Symmetric, lambda float64) (float64, error) {
	n := a.SymmetricDim()
	m, ones := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		ones.SetVec(i, 1)
		for j := range n {
			m.Set(i, j, -lambda*a.At(i, j))
		}
		m.Set(i, i, m.At(i, i)+1)
	}
	var x mat.VecDense
	if err := x.SolveVec(m, ones); err != nil {
		return 0, param.Refuse("use another weight", "with the weight %.4g the system of equations is singular or nearly so", lambda)
	}
	return mat.Sum(&x), nil
}

// WalkCounts counts the walks of 0 to most steps in a graph, and those without tottering, which
// never return along the edge they have just taken. Directions are ignored, as in Adjacency.
func WalkCounts(g dataset.Graph, most int) (all, straight []float64) {
	type arc struct{ from, to int }
	adjacency := Adjacency(g)
	var arcs []arc
	for v := range g.N {
		for u := range g.N {
			if adjacency.At(v, u) > 0 {
				arcs = append(arcs, arc{v, u})
			}
		}
	}
	count := func(follows func(a, b arc) bool) []float64 {
		counts := make([]float64, most+1)
		counts[0] = float64(g.N)
		by := slices.Repeat([]float64{1}, len(arcs)) // walks that end with each arc
		for n := 1; n <= most; n++ {
			for _, c := range by {
				counts[n] += c
			}
			next := make([]float64, len(arcs))
			for i, a := range arcs {
				for j, b := range arcs {
					if a.to == b.from && follows(a, b) {
						next[j] += by[i]
					}
				}
			}
			by = next
		}
		return counts
	}
	return count(func(arc, arc) bool { return true }), count(func(a, b arc) bool { return a.from != b.to })
}
