package kernel

import (
	"cmp"
	"errors"
	"math"
	"math/cmplx"
	"os"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

// wlOf and walkOf are the kernels of graphs.
func wlOf(h int, normal bool) Kernel {
	return Kernel{Name: "wl", Values: param.Values{"rounds": param.Of(h), "normalize": param.Of(normal)}}
}

func walkOf(lambda float64, byLabel, normal bool) Kernel {
	return Kernel{Name: "random-walk", Values: param.Values{"walk_weight": param.Of(lambda), "labelled": param.Of(byLabel), "normalize": param.Of(normal)}}
}

func graphs(values ...dataset.Graph) *dataset.Graphs {
	return &dataset.Graphs{Name: "graph", Values: values}
}

func cycle(n int) dataset.Graph {
	g := dataset.Graph{N: n}
	g.Edges = lists.Make(n-1, func(v int) [2]int { return [2]int{v, v + 1} })
	g.Edges = slices.Insert(g.Edges, 1, [2]int{0, n - 1})
	return g
}

var path3 = dataset.Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}}

// TestGraphKernelsHaveTheKnownValues compares with matrices that were computed elsewhere.
func TestGraphKernelsHaveTheKnownValues(t *testing.T) {
	t.Parallel()
	file := require.JSON[map[string][]struct {
		Iterations int
		Lam        float64
		Labelled   bool
		Graphs     []dataset.Graph
		Gram       [][]float64
	}](t, require.Value(os.ReadFile("testdata/graphs.json"))(t))
	require.Must(t, len(file["wl_subtree"]) != 0 && len(file["random_walk"]) != 0, "it holds %d kinds", len(file))
	for name, rows := range file {
		for _, row := range rows {
			k := wlOf(row.Iterations, false)
			if name == "random_walk" {
				k = walkOf(row.Lam, row.Labelled, false)
			}
			var list []dataset.Graph
			for _, g := range row.Graphs { // which have their edges in any order
				g := require.Value(dataset.NewGraph(g.N, g.Edges, g.Labels))(t)
				list = append(list, g)
			}
			if row.Gram[0][0] == 0 { // null: the series diverges
				require.Fails(t, require.Err(GramOf(t.Context(), k, graphs(list...), nil)),
					"diverges for 4 of 4 graphs: the spectral radius of the product graph of row 1 with itself is 4, and 0.5 times that is not below 1; use a weight below 0.25", "%v", k)
				continue
			}
			compareValues(t, k, graphs(list...), row.Gram)
		}
	}

	for h, want := range []float64{9, 14, 19, 24} {
		require.Equal(t, matrixOf(t, wlOf(h, false), graphs(path3)).At(0, 0), want, "Weisfeiler-Lehman, h = %d", h)
	}
	walk := matrixOf(t, walkOf(0.1, false, false), graphs(path3, cycle(3), cycle(4)))
	require.Near(t, walk.At(0, 0), 11.041666666666666, 1e-12, "path with itself")
	require.Near(t, walk.At(1, 2), 20, 1e-12, "triangle with ring of four")
	// The notes sort a node's own label among those of its neighbours. Then the ends of these
	// two edges would be one colour after a round: A with a neighbour B, B with a neighbour A.
	edge := func(a, b string) dataset.Graph {
		return dataset.Graph{N: 2, Edges: [][2]int{{0, 1}}, Labels: []string{a, b}}
	}
	v := matrixOf(t, wlOf(1, false), graphs(edge("A", "B"))).At(0, 0)
	require.Check(t, v == 4, "an edge from A to B with itself: %g, want 1 + 1 of either round", v)
	// No round tells two triangles from a ring of six, and no walk does.
	two := dataset.Graph{N: 6, Edges: [][2]int{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}}}
	for _, k := range []Kernel{wlOf(5, true), walkOf(0.1, true, true)} {
		require.Near(t, matrixOf(t, k, graphs(two, cycle(6))).At(0, 1), 1, 1e-12, "%v: two triangles and a ring of six", k)
	}
}

// Graphs that differ in nothing but labels or directions of edges, with values counted by hand.
func TestEdgesCount(t *testing.T) {
	t.Parallel()
	edges := [][2]int{{0, 1}, {1, 2}}
	plain := dataset.Graph{N: 3, Edges: edges}
	ab := dataset.Graph{N: 3, Edges: edges, EdgeLabels: []string{"a", "b"}}
	aa := dataset.Graph{N: 3, Edges: edges, EdgeLabels: []string{"a", "a"}}
	line := dataset.Graph{N: 3, Directed: true, Edges: edges}
	fork := dataset.Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {2, 1}}}
	both := dataset.Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}}}
	for _, c := range []struct {
		k    Kernel
		x, z dataset.Graph
		want float64
	}{
		{wlOf(1, false), ab, ab, 9 + 3}, // three nodes that differ
		{wlOf(1, false), ab, aa, 9 + 2}, // one end of a with two
		{wlOf(1, false), plain, aa, 9},  // no label is another label than a
		{wlOf(1, false), line, line, 9 + 3},
		{wlOf(1, false), line, fork, 9 + 2},  // one node that an edge only leaves, with two
		{wlOf(1, false), plain, line, 9 + 2}, // an edge without direction leaves and reaches both ends, as one each does the middle of the line
		{wlOf(3, false), both, plain, 24},    // there is no difference
		// The walks of no step, of one, and of two.
		{walkOf(0.1, true, false), line, line, 9 + 0.1*4 + 0.01},
		{walkOf(1, true, false), line, fork, 9 + 4}, // the one has no walk of two steps
		{walkOf(0.1, true, false), dataset.Graph{N: 3, Directed: true, Edges: edges, EdgeLabels: ab.EdgeLabels}, dataset.Graph{N: 3, Directed: true, Edges: edges, EdgeLabels: []string{"b", "a"}}, 9 + 0.1*2},
		{walkOf(0.1, false, false), ab, aa, 11.041666666666666}, // labels are passed over
		{walkOf(0.1, false, false), both, plain, 11.041666666666666},
	} {
		if v := matrixOf(t, c.k, graphs(c.x, c.z)); math.Abs(v.At(0, 1)-c.want) > 1e-12 || v.At(0, 1) != v.At(1, 0) {
			t.Errorf("%v: %v and %v: %g and %g, want %g", c.k, c.x, c.z, v.At(0, 1), v.At(1, 0), c.want)
		}
	}
	// Twenty nodes, each with an edge to all that follow: a walk of n steps is a choice of n + 1
	// nodes, and the squares of the binomials sum up to that of 40 over 20. None goes on for ever.
	var all dataset.Graph
	all.N, all.Directed = 20, true
	for u := range all.N {
		for v := u + 1; v < all.N; v++ {
			all.Edges = append(all.Edges, [2]int{u, v})
		}
	}
	v := matrixOf(t, walkOf(1, false, false), graphs(all, dataset.Graph{N: 1, Directed: true}))
	require.Check(t, v.At(0, 1) == 20 && v.At(0, 0) == 137846528819, "without cycles: %v", mat.Formatted(v))
}

// drawGraphs draws small graphs, some with labels of nodes or edges, some directed.
func drawGraphs(r *rapid.T, few, many int) *dataset.Graphs {
	return graphs(rapid.SliceOfN(rapid.Custom(func(r *rapid.T) dataset.Graph {
		g := dataset.Graph{N: rapid.IntRange(1, 5).Draw(r, "nodes"), Directed: rapid.Bool().Draw(r, "directed")}
		labelled := rapid.Bool().Draw(r, "edges labelled")
		for i := range g.N {
			for j := range g.N {
				if (j < i || g.Directed && j != i) && rapid.Bool().Draw(r, "edge") {
					g.Edges = append(g.Edges, [2]int{i, j})
					if labelled {
						g.EdgeLabels = append(g.EdgeLabels, rapid.SampledFrom([]string{"1", "2"}).Draw(r, "label of an edge"))
					}
				}
			}
		}
		if rapid.IntRange(0, 3).Draw(r, "labelled") > 0 {
			g.Labels = rapid.SliceOfN(rapid.SampledFrom([]string{"C", "O"}), g.N, g.N).Draw(r, "labels")
		}
		return require.Value(g.Canonical())(r)
	}), few, many).Draw(r, "graphs")...)
}

// way is an edge in one direction.
type way struct {
	to    int
	label string
}

// ways lists the edges that leave each node and those that reach it.
func ways(g dataset.Graph) (out, in [][]way) {
	out, in = make([][]way, g.N), make([][]way, g.N)
	for k, e := range g.Edges {
		l := cmp.Or(g.EdgeLabel(k), "-")
		out[e[0]], in[e[1]] = append(out[e[0]], way{e[1], l}), append(in[e[1]], way{e[0], l})
		if !g.Directed {
			out[e[1]], in[e[0]] = append(out[e[1]], way{e[0], l}), append(in[e[0]], way{e[1], l})
		}
	}
	return out, in
}

// patterns lists what a kernel of graphs counts: the trees that the rounds of Weisfeiler and Lehman
// see from each node, or the labels along each walk of up to six steps, with their weights.
func patterns(k Kernel, g dataset.Graph) map[string]float64 {
	weights := map[string]float64{}
	out, in := ways(g)
	label := func(v int) string { return cmp.Or(g.Label(v), "-") }
	if k.Name == "wl" {
		var tree func(v, depth int) string
		tree = func(v, depth int) string {
			if depth == 0 {
				return label(v)
			}
			below := func(ways []way) string {
				list := lists.Map(ways, func(w way) string { return w.label + tree(w.to, depth-1) })
				slices.Sort(list)
				return strings.Join(list, ",")
			}
			return tree(v, depth-1) + "(" + below(out[v]) + "|" + below(in[v]) + ")"
		}
		for r := range k.Values.Int("rounds") + 1 {
			for v := range g.N {
				weights[strings.Repeat("·", r)+tree(v, r)]++
			}
		}
		return weights
	}
	labelled := k.Values.Switch("labelled")
	if !labelled {
		label = func(int) string { return "-" }
	}
	var walk func(v int, seen string, weight float64)
	walk = func(v int, seen string, weight float64) {
		seen += label(v)
		weights[seen] += weight
		if len(seen) <= 11 {
			for _, w := range out[v] {
				if !labelled {
					w.label = "-"
				}
				walk(w.to, seen+w.label, weight*math.Sqrt(k.Values.Number("walk_weight")))
			}
		}
	}
	for v := range g.N {
		walk(v, "", 1)
	}
	return weights
}

// TestGraphKernelsAreTheirDefinition compares with enumeration, and renames the nodes.
func TestGraphKernelsAreTheirDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		x, z := drawGraphs(r, 1, 3), drawGraphs(r, 1, 6)
		k := wlOf(rapid.IntRange(0, 3).Draw(r, "h"), false)
		if rapid.Bool().Draw(r, "walk") {
			k = walkOf(0.001, rapid.Bool().Draw(r, "by label"), false)
		}
		values := compareDefinition(r, t, k, x, z, x.Values, z.Values, patterns)

		var renamed []dataset.Graph
		for _, g := range z.Values {
			to := rapid.Permutation([]int{0, 1, 2, 3, 4}[:g.N]).Draw(r, "names")
			other := g
			other.Edges, other.Labels = slices.Clone(g.Edges), slices.Clone(g.Labels)
			for k, e := range g.Edges {
				other.Edges[k] = [2]int{to[e[0]], to[e[1]]}
			}
			for v := range g.Labels {
				other.Labels[to[v]] = g.Labels[v]
			}
			g := require.Value(other.Canonical())(r)
			renamed = append(renamed, g)
		}
		again := require.Value(Cross(t.Context(), k, x, graphs(renamed...)))(r)
		require.Check(r, mat.EqualApprox(values, again, 1e-12),
			"%v: with other names for the nodes\n%v\n%v", k, mat.Formatted(values), mat.Formatted(again))
	})
}

// Whether the sum over all walks has an end is found for certain, wherever the weight lies.
func TestWalksThatNeverEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		g := drawGraphs(r, 1, 1).Values[0]
		byLabel := rapid.Bool().Draw(r, "by label")
		a, one := mat.NewDense(g.N*g.N, g.N*g.N, nil), mat.NewVecDense(g.N*g.N, nil)
		match := func(i int) bool { return !byLabel || g.Label(i/g.N) == g.Label(i%g.N) }
		out, _ := ways(g)
		for i := range g.N * g.N {
			if !match(i) {
				continue
			}
			one.SetVec(i, 1)
			for _, first := range out[i/g.N] {
				for _, second := range out[i%g.N] {
					if j := first.to*g.N + second.to; match(j) && (!byLabel || first.label == second.label) {
						a.Set(i, j, 1)
					}
				}
			}
		}
		var eigen mat.Eigen
		require.Must(r, eigen.Factorize(a, mat.EigenNone), "no eigenvalues")
		radius := 0.0 // of a matrix of 0 and 1: 0, or 1 at least
		for _, v := range eigen.Values(nil) {
			radius = max(radius, cmplx.Abs(v))
		}
		parts := []float64{0.001, 0.5, 0.9, 0.99, 1.001, 1.5, 3, 10}
		if !g.Directed { // whose eigenvalues are as certain as this, and whose sum is found wherever it has an end
			parts = append(parts, 0.999, 0.999999, 1, 1.000001)
		}
		lambda := rapid.SampledFrom(parts).Draw(r, "part of the limit")
		if radius > 0.5 {
			lambda /= radius
		}
		k := walkOf(lambda, byLabel, false)
		self, err := Self(t.Context(), k, graphs(g))
		if radius > 0.5 && lambda*radius > 1-1e-9 {
			require.Check(r, err != nil && strings.Contains(err.Error(), "row 1"), "%v: λ·ρ = %g: %v, %v", g, lambda*radius, self, err)
			return
		}
		require.Must(r, err == nil, "%v: λ·ρ = %g: %v", g, lambda*radius, err)
		var x mat.VecDense
		a.Scale(-lambda, a)
		for i := range g.N * g.N {
			a.Set(i, i, a.At(i, i)+1)
		}
		err = x.SolveVec(a, one)
		require.Must(r, err == nil || errors.As(err, new(mat.Condition)), "%v", err)
		want := mat.Sum(&x)
		require.Check(r, math.Abs(self[0]-want) <= 1e-8*want, "%v: λ·ρ = %g: %g, want %g", g, lambda*radius, self[0], want)
	})
	// Those to predict are looked at as well, and the remedy is one for all of them.
	x := graphs(cycle(3), cycle(4), dataset.Graph{N: 4, Edges: [][2]int{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}})
	require.Fails(t, require.Err(Cross(t.Context(), walkOf(0.2, false, true), x, graphs(path3))),
		"1 of 3 graphs: the spectral radius of the product graph of row 3 with itself is 9, and 0.2 times that is not below 1; use a weight below 0.111", "the error")
}

// TestWalksOfReducibleGraphs: a cycle beside many walks that come to an end is no reason to refuse
// a graph, and a series that is cut off is never taken for the sum.
func TestWalksOfReducibleGraphs(t *testing.T) {
	t.Parallel()
	const layers, wide = 24, 8
	g := dataset.Graph{N: layers*wide + 2, Directed: true}
	for u := range (layers - 1) * wide {
		for v := range wide {
			g.Edges = append(g.Edges, [2]int{u, (u/wide+1)*wide + v})
		}
	}
	two := dataset.Graph{N: 2, Directed: true, Edges: [][2]int{{0, 1}, {1, 0}}}
	g.Edges = append(g.Edges, [2]int{g.N - 2, g.N - 1}, [2]int{g.N - 1, g.N - 2})
	const lambda = 0.07 // most values are beyond 1e13
	want := 0.0
	for n := range 60 {
		want += math.Pow(lambda, float64(n)) * math.Pow(2+float64(max(layers-n, 0))*math.Pow(wide, float64(n+1)), 2)
	}
	self, err := Self(t.Context(), walkOf(lambda, false, false), graphs(g, two))
	require.Check(t, err == nil && math.Abs(self[0]/want-1) <= 1e-10 && math.Abs(self[1]*(1-lambda)/4-1) <= 1e-12,
		"%g: want %g; %v", self, want, err)
	require.Fails(t, checkConverged(walkOf(lambda, false, false), mat.NewDense(1, 2, []float64{1, math.NaN()})), "rows 1 and 2",
		"a pair without a value")
	// The remedy is never beyond the limit, which is 1 here.
	_, err = Self(t.Context(), walkOf(1, false, false), graphs(g))
	require.Check(t, err != nil && strings.Contains(err.Error(), "or converges too slowly, for 1 of 1 graphs: the spectral radius of the product graph of row 1 with itself is at most 1.0") && strings.Contains(err.Error(), "use a weight below 0.9"),
		"%v", err)
	require.Fails(t, require.Err(Cross(t.Context(), walkOf(0.9999, false, true), graphs(two), graphs(path3))), "use a weight below 0.98", "the error")
}

func TestGraphsTooLarge(t *testing.T) {
	t.Parallel()
	x := graphs(path3, dataset.Graph{N: 2049})
	require.Fails(t, require.Err(GramOf(t.Context(), walkOf(0.1, false, true), x, nil)), "row 2 has 2049 nodes", "the error")
	many := graphs(slices.Repeat([]dataset.Graph{{N: dataset.MostNodes}}, 400)...)
	require.Fails(t, require.Err(Cross(t.Context(), wlOf(4, true), many, graphs(path3))), "use fewer rounds or fewer graphs", "the error")
	for _, k := range []Kernel{wlOf(3, true), walkOf(0.1, false, false)} {
		for n := range int64(12) {
			ctx := mltest.NewLooks(t.Context(), n)
			g, err := GramOf(ctx, k, graphs(cycle(30), cycle(31), path3, cycle(33)), nil)
			require.Check(t, (ctx.Over() > 0) == (err != nil) && (g == nil) == (err != nil), "%v, cancelled at look %d: %v", k, n, err)
		}
	}
}

// BenchmarkGraphs computes kernel matrices of graphs of 30 nodes.
func BenchmarkGraphs(b *testing.B) {
	all := mltest.Molecules(b, 1000, 30).Values
	for name, c := range map[string]struct {
		k Kernel
		n int
	}{
		"wl, 1000 graphs":                   {wlOf(4, false), 1000},
		"random walk, 100 graphs":           {walkOf(0.01, false, false), 100},
		"random walk by labels, 100 graphs": {walkOf(0.01, true, false), 100},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.Value(GramOf(b.Context(), c.k, graphs(all[:c.n]...), nil))(b)
			}
		})
	}
}
