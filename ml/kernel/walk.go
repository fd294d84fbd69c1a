package kernel

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/param"
)

// Parameters of the random-walk kernel.
var (
	walkWeight = param.Param{
		Name: "walk_weight", Label: "weight of a step", Symbol: "λ", Kind: param.Number, Default: "0.01",
		Min: 0, OpenMin: true, Max: 1, Low: 1e-3, High: 0.2, Log: true, Telling: true,
		Help: "A walk of n steps has the weight λⁿ. λ must be below 1 over the spectral radius of every product graph, otherwise the sum over all walks diverges.",
	}
	labelled = param.Param{
		Name: "labelled", Label: "labels must match", Kind: param.Switch, Default: "false",
		Help: "Count only walks along nodes and edges with equal labels. Off: labels are ignored.",
	}
)

// randomWalk counts the pairs of walks of the same length, one in each graph. These are the walks
// of the direct product graph: its nodes are the pairs of nodes, and an edge leads from one pair to
// another if edges do in both graphs. On request, the labels of paired nodes and edges must be
// equal. With the adjacency matrix A of the product graph,
//
//	k(x, z) = sum_n lambda^n 1'A^n 1 = 1'(I - lambda A)^-1 1
//
// if lambda is smaller than 1 over the spectral radius of A. The n-th term is an inner product: the
// sum, over all sequences of labels, of the number of walks of n steps with these labels in x times
// the number in z. So the kernel is positive semidefinite for directed graphs as well, although A
// is not symmetric.
//
// Source: Gärtner, Flach and Wrobel, Learning Theory and Kernel Machines (2003);
// Vishwanathan, Schraudolph, Kondor and Borgwardt, Journal of Machine Learning Research 11
// (2010).
var randomWalk = Entry{
	Name: "random-walk", Label: "Random walk", Formula: "k(x, z) = 1ᵀ(I − λA)⁻¹1 with A of the product graph", Takes: dataset.KindGraphs, PSD: true,
	Help:    "Counts the walks that two graphs share; each step lowers the weight.",
	Params:  []param.Param{walkWeight, labelled, normalize},
	compare: compareWalks,
	self: func(ctx context.Context, v param.Values, x dataset.Objects) ([]float64, error) {
		w := newWalks(ctx, v)
		return w.self(w.prepare(x))
	},
	steps: func(_ param.Values, x dataset.Objects) float64 {
		mean, products := 0.0, 20.0
		for _, g := range x.(*dataset.Graphs).Values {
			mean += float64(g.N) / float64(x.Len())
			if g.Directed { // series needs more products than conjugate gradients
				products = 60
			}
		}
		return 30 * products * mean * mean
	},
}

// walks compares graphs by their walks.
type walks struct {
	ctx      context.Context
	lambda   float64
	labels   map[string]int // numbers of the labels; nil: ignore labels
	x, z     []walkGraph
	memories *sync.Pool // of *[]float64
}

// walkGraph is a graph prepared for products.
type walkGraph struct {
	label    []int   // number of the label of each node
	edges    []edges // in order of their labels
	directed bool
}

// edges holds the steps along the edges with one label, in order of the nodes that they leave.
type edges struct {
	label int
	steps []step
}

type step struct{ from, to int32 }

func newWalks(ctx context.Context, v param.Values) *walks {
	w := &walks{ctx: ctx, lambda: v.Number(walkWeight.Name), memories: new(sync.Pool)}
	if v.Switch(labelled.Name) {
		w.labels = make(map[string]int)
	}
	return w
}

func (w *walks) prepare(x dataset.Objects) []walkGraph {
	number := func(label string) int {
		if w.labels == nil {
			return 0
		}
		return numberOf(w.labels, label)
	}
	list := make([]walkGraph, x.Len())
	for i, g := range x.(*dataset.Graphs).Values {
		labels := lists.Make(g.N, func(v int) int { return number(g.Label(v)) })
		by := map[int][]step{}
		along, _ := g.Steps()
		for v, steps := range along {
			for _, s := range steps {
				label := number(g.EdgeLabel(int(s.Edge)))
				by[label] = append(by[label], step{int32(v), s.Node})
			}
		}
		list[i] = walkGraph{label: labels, directed: g.Directed}
		for _, label := range slices.Sorted(maps.Keys(by)) {
			list[i].edges = append(list[i].edges, edges{label, by[label]})
		}
	}
	return list
}

func compareWalks(ctx context.Context, v param.Values, x, z dataset.Objects) (comparison, error) {
	w := newWalks(ctx, v)
	w.x = w.prepare(x)
	w.z = w.x
	if x != z {
		w.z = w.prepare(z)
		if _, err := w.self(w.x); err != nil {
			return nil, err
		}
	}
	_, err := w.self(w.z)
	return w, err
}

// self returns the kernel of each graph with itself. It returns an error if a graph is too large or
// the sum over all walks diverges. If it converges for each graph with itself, it converges for all
// pairs: by the Cauchy-Schwarz inequality for the closed walks of each length, the spectral radius
// of a product graph is at most the larger of those of the two graphs with themselves. By the same
// inequality for the terms, the remainder of a series of a pair is at most the geometric mean of
// the remainders of each graph with itself.
func (w *walks) self(list []walkGraph) ([]float64, error) {
	for i, g := range list {
		if n := len(g.label); 8*vectors*n*n > maxWorkBytes {
			return nil, param.Refuse("use the kernel wl or smaller graphs",
				"row %d has %d nodes: its product graph with itself needs %d MB, and the limit is %d MB", i+1, n, 8*vectors*n*n>>20, maxWorkBytes>>20)
		}
	}
	self, growth := make([]float64, len(list)), make([]float64, len(list))
	err := eachRow(w.ctx, len(list), func(i int) {
		self[i], growth[i] = w.solve(list[i], list[i], true)
	})
	if err != nil {
		return nil, err
	}
	worst, radius, many := 0, 0.0, 0
	diverges, is := "diverges", "is"
	for i, v := range self {
		if !math.IsNaN(v) {
			continue
		}
		many++
		r, relation := 0.0, "is"
		if !list[i].directed {
			if r, err = w.radius(list[i]); err != nil {
				return nil, err
			}
		}
		if r*w.lambda < 1 { // not known to diverge: suggest a weight not too close to the limit
			r, relation = max(growth[i], 1)/0.99/w.lambda, "is at most"
			diverges = "diverges, or converges too slowly,"
		}
		if r > radius {
			worst, radius, is = i, r, relation
		}
	}
	if many == 0 {
		return self, nil
	}
	digits := math.Pow(10, math.Floor(math.Log10(1/radius))-2)
	return nil, param.Refuse(fmt.Sprintf("use a weight below %.3g", math.Floor(1/radius/digits)*digits),
		"the sum over all walks %s for %d of %d graphs: the spectral radius of the product graph of row %d with itself %s %.4g, and %g times that is not below 1", diverges, many, len(list), worst+1, is, radius, w.lambda)
}

// vectors is the number of vectors over the nodes of a product graph that a solution needs.
const vectors = 4

// memory returns vectors over the nodes of the product graph of a and b, and a function that
// releases them.
func (w *walks) memory(a, b walkGraph) (v [vectors][]float64, done func()) {
	n := len(a.label) * len(b.label)
	all, ok := w.memories.Get().(*[]float64)
	if !ok || cap(*all) < vectors*n {
		all = new([]float64)
		*all = make([]float64, vectors*n)
	}
	for k := range v {
		v[k] = (*all)[:vectors*n][k*n : (k+1)*n]
	}
	return v, func() { w.memories.Put(all) }
}

// ones writes the vector of ones: 1 for every pair of nodes that is a node of the product graph of a
// and b, 0 for the others. It returns the number of nodes.
func ones(dst []float64, a, b walkGraph) (nodes int) {
	n := len(b.label)
	for u, l := range a.label {
		for v, m := range b.label {
			dst[u*n+v] = 0
			if l == m {
				dst[u*n+v] = 1
				nodes++
			}
		}
	}
	return nodes
}

// product writes A p for the product graph of a and b to dst without storing A: for each label of
// edges, it sums over the steps in a, then over the steps in b. row is scratch, one value for each
// node of b.
func product(dst, p, row []float64, a, b *walkGraph) {
	n := len(b.label)
	clear(dst)
	others := b.edges
	for _, e := range a.edges {
		for len(others) > 0 && others[0].label < e.label {
			others = others[1:]
		}
		if len(others) == 0 || others[0].label > e.label {
			continue
		}
		for steps := e.steps; len(steps) > 0; {
			u := steps[0].from
			clear(row)
			for ; len(steps) > 0 && steps[0].from == u; steps = steps[1:] {
				floats.Add(row, p[int(steps[0].to)*n:][:n])
			}
			part, l := dst[int(u)*n:][:n], a.label[u]
			for _, s := range others[0].steps {
				if b.label[s.from] == l {
					part[s.from] += row[s.to]
				}
			}
		}
	}
}

// solve returns 1'x with (I - lambda A) x = 1, or NaN if the sum over all walks diverges or was not
// reached; growth then bounds lambda times the spectral radius of a series. For undirected graphs,
// convergence is proven only if check is set: I - lambda A with A >= 0 maps some positive x to a
// positive vector if and only if lambda is smaller than 1 over the spectral radius (it is then an
// M-matrix).
func (w *walks) solve(a, b walkGraph, check bool) (value, growth float64) {
	memory, done := w.memory(a, b)
	defer done()
	x, r, q := memory[0], memory[1], memory[3]
	row := make([]float64, len(b.label))
	rr := float64(ones(r, a, b))
	if a.directed || b.directed {
		return w.series(memory, row, &a, &b)
	}
	if !w.undirected(memory, row, &a, &b, rr) {
		return math.NaN(), 0
	}
	value = floats.Sum(x)
	if !check {
		return value, 0
	}
	// Every entry of (I - lambda A) x, ideally 1, must be at least 1/2, with no x so large that this
	// could be a rounding error.
	const large = 1e13
	ones(r, a, b)
	product(q, x, row, &a, &b)
	for i, one := range r {
		if one > 0 && !(x[i] > 0 && x[i] <= large && x[i]-w.lambda*q[i] >= one/2) {
			return math.NaN(), 0
		}
	}
	return value, 0
}

// maxIterations bounds the iterations of a solution, and the terms of a series.
const maxIterations = 10_000

// undirected solves (I - lambda A) x = r = 1 by conjugate gradients: the matrix is symmetric, and
// positive definite if the sum over all walks converges. It reports false if the matrix is not
// positive definite or maxIterations are not enough.
func (w *walks) undirected(memory [vectors][]float64, row []float64, a, b *walkGraph, rr float64) bool {
	x, r, p, q := memory[0], memory[1], memory[2], memory[3]
	// The error of 1'x is below the squared residual over 1 - lambda times the radius.
	goal, accepted := 1e-18*rr, 1e-14*rr
	clear(x)
	copy(p, r)
	for step := 0; rr > goal && step < maxIterations && pace.Look(w.ctx) == nil; step++ {
		product(q, p, row, a, b)
		var pq float64
		for i, v := range p {
			q[i] = v - w.lambda*q[i]
			pq += v * q[i]
		}
		if !(pq > 0) {
			return false
		}
		alpha, next := rr/pq, 0.0
		for i, v := range q {
			x[i] += alpha * p[i]
			r[i] -= alpha * v
			next += r[i] * r[i]
		}
		beta := next / rr
		for i, v := range r {
			p[i] = v + beta*p[i]
		}
		rr = next
	}
	return rr <= accepted
}

// series adds up the terms r = (lambda A)^n 1 for a matrix that is not symmetric. No term is
// negative, so nothing cancels, and without directed cycles the terms become 0. If the largest
// entry q of r is below 1, the sum converges, since q is the norm of (lambda A)^n, and the remainder
// is at most max(x) / (1 - q) times 1'r. Otherwise growth = q^(1/n) bounds lambda times the spectral
// radius.
func (w *walks) series(memory [vectors][]float64, row []float64, a, b *walkGraph) (value, growth float64) {
	x, r, q := memory[0], memory[1], memory[3]
	const enough, settled = 1e-14, 500 // relative remainder; number of terms after which growth is accurate
	clear(x)
	for n := 1; n <= maxIterations && pace.Look(w.ctx) == nil; n++ {
		floats.Add(x, r)
		product(q, r, row, a, b)
		floats.Scale(w.lambda, q)
		falls := false
		for i, v := range q {
			falls = falls || v < r[i]
		}
		r, q = q, r
		largest := floats.Max(r)
		if largest < 0.5 && floats.Sum(r)*floats.Max(x) <= enough*floats.Sum(x) {
			return floats.Sum(x), 0
		}
		if math.IsInf(largest, 1) {
			break
		}
		growth = math.Pow(largest, 1/float64(n))
		if n >= settled && !falls { // no entry decreases, or ever will
			break
		}
	}
	return math.NaN(), growth
}

// radius returns a close upper bound of the spectral radius of the product graph of an undirected
// graph with itself, by power iteration: the largest factor by which A + I multiplies an entry of a
// positive vector bounds its spectral radius.
func (w *walks) radius(g walkGraph) (float64, error) {
	memory, done := w.memory(g, g)
	defer done()
	p, q := memory[0], memory[1]
	row := make([]float64, len(g.label))
	ones(p, g, g)
	largest := math.Inf(1)
	const most = 100
	for range most {
		if err := pace.Look(w.ctx); err != nil {
			return 0, err
		}
		product(q, p, row, &g, &g)
		factor := 1.0
		for i, v := range p {
			if v > 0 {
				q[i] += v
				factor = max(factor, q[i]/v)
			}
		}
		largest = factor
		for i := range p {
			p[i] = q[i] / factor
		}
	}
	return largest - 1, nil
}

func (w *walks) row(dst []float64, i int) {
	for j := range dst {
		dst[j], _ = w.solve(w.x[i], w.z[j], false)
	}
}
