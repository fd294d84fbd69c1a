package graphkernels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/theory"
	"marginlab/views/lessons"
	"marginlab/views/lessons/lessonstest"

	"gonum.org/v1/gonum/mat"
)

func show(t *testing.T, screen string, pairs ...string) *lessons.Exhibit {
	t.Helper()
	return lessonstest.Show(t, Lesson(), screen, pairs...)
}

func TestShapes(t *testing.T) {
	t.Parallel()
	for name, s := range shapes {
		g, err := dataset.NewGraph(s.graph.N, s.graph.Edges, s.graph.Labels)
		require.Check(t, err == nil && g.String() == s.graph.String(), "%s: %v, %v", name, s.graph, err)
	}
}

// TestRenumbering: renumbering changes the matrix, but not the kernels.
func TestRenumbering(t *testing.T) {
	t.Parallel()
	changed := false
	for n := 1; n <= 8; n++ {
		e := show(t, "objects", "numbering", strconv.Itoa(n))
		changed = changed || !strings.HasPrefix(e.Numbers[0].Value, "0 of")
		require.Check(t, n != 1 || e.Numbers[0].Value == "0 of 25",
			"numbering 1: %s entries have changed", e.Numbers[0].Value)
		for _, k := range e.Numbers[1:] {
			require.Check(t, k.Value == "1", "numbering %d: %s is %s", n, k.Label, k.Value)
		}
	}
	require.Check(t, changed, "no numbering changes the matrix")
}

func TestPowersCountWalks(t *testing.T) {
	t.Parallel()
	e := show(t, "walks", "graph", "path", "n", "2")
	total, back := lessonstest.Number(t, e, `$\mathbf 1^\top A^n\mathbf 1$`), lessonstest.Number(t, e, `trace of $A^n$`)
	require.Check(t, total == "6" && back == "4", "the path of three has %s walks of two steps, %s of them back", total, back)
	for name, s := range shapes {
		all, _ := theory.WalkCounts(s.graph, 5)
		sum := mat.Sum(power(theory.Adjacency(s.graph), 5))
		require.Check(t, sum == all[5], "%s: the power counts %g walks, going them %g", name, sum, all[5])
	}
}

// Without labels the numbers of walks multiply, and a walk in the product is one in either graph.
func TestWalksMultiply(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"edge", "triangle", "ethanol"} {
		for step := range 5 {
			e := show(t, "product", "first", first, "second", "ring", "step", strconv.Itoa(step))
			shared := lessonstest.Value(t, lessonstest.Number(t, e, fmt.Sprintf("walks of length %d", step)))
			a, b, _ := strings.Cut(lessonstest.Number(t, e, "in the two graphs"), " and ")
			require.Check(t, shared == lessonstest.Value(t, a)*lessonstest.Value(t, b),
				"%s, %d steps: %g walks, in the graphs %s and %s", first, step, shared, a, b)
		}
	}
	e := show(t, "product", "first", "ethanol", "second", "ether", "labelled", "true", "step", "4")
	pairs := strings.Fields(lessonstest.Number(t, e, "walk in the product"))
	first, second := strings.Fields(lessonstest.Number(t, e, "in the first graph")), strings.Fields(lessonstest.Number(t, e, "in the second graph"))
	for i := range pairs {
		u, v := int(first[i][0]-'a'), int(second[i][0]-'1')
		require.Check(t, pairs[i] == first[i]+second[i] && shapes["ethanol"].graph.Label(u) == shapes["ether"].graph.Label(v),
			"step %d: %s is not %s and %s with equal labels", i, pairs[i], first[i], second[i])
	}
	e = show(t, "product", "first", "edge", "second", "ether", "labelled", "true")
	require.Check(t, len(e.Figures) == 0 && len(e.Notes) == 1, "no label in common: %d figures, %v", len(e.Figures), e.Notes)
}

// TestSeries: below the limit the sum, the linear system and the lab agree; beyond it the lab
// reports an error, although the system still has a solution.
func TestSeries(t *testing.T) {
	t.Parallel()
	e := show(t, "series", "first", "triangle", "second", "ring")
	for _, label := range []string{"linear system", "kernel of the lab"} {
		require.Equal(t, lessonstest.Number(t, e, label), "20", "triangle and ring, λ = 0.1: %s", label)
	}
	e = show(t, "series", "first", "path", "second", "path")
	v := lessonstest.Number(t, e, "kernel of the lab")
	require.Check(t, v == "11.04" && strings.Contains(e.Notes[0], " die out, and the sum comes to rest"), "two paths, λ = 0.1: %s, %v", v, e.Notes)
	e = show(t, "series", "first", "triangle", "second", "ring", "lambda", "0.3")
	if v := lessonstest.Value(t, lessonstest.Number(t, e, "linear system")); v >= 0 || lessonstest.Number(t, e, "kernel of the lab") != "refused" || !strings.Contains(e.Notes[0], "no end") {
		t.Errorf("beyond the limit: system %g, %v", v, e.Notes)
	}
	e = show(t, "series", "first", "triangle", "second", "ring", "lambda", "0.25")
	require.Check(t, lessonstest.Number(t, e, "linear system") == "no solution" && strings.Contains(e.Notes[0], "no end"),
		"at the limit: %v", e.Numbers)
}

// In trees walks without tottering end, in rings they go on; most totter, as in a single edge.
func TestTottering(t *testing.T) {
	t.Parallel()
	for _, o := range totterGraph.Options {
		e := show(t, "tottering", "graph", o.Name, "step", "8")
		last := e.Tables[0].Rows[mostSteps]
		s := shapes[o.Name].graph
		tree := len(s.Edges) == s.N-1
		require.Check(t, (last[2] == "0") == tree,
			"%s: %s walks of %s steps without tottering", o.Name, last[2], last[0])
		share := lessonstest.Value(t, last[3])
		require.Check(t, share >= 90, "%s: %g %% of the walks totter", o.Name, share)
		alike := lessonstest.Value(t, lessonstest.Number(t, e, "like a single edge"))
		require.Check(t, alike >= 0.9, "%s is like a single edge by %g", o.Name, alike)
		walk := strings.Fields(lessonstest.Number(t, e, "walk"))
		turns := len(lists.Where(len(walk), func(i int) bool { return i >= 2 && walk[i] == walk[i-2] }))
		got := e.Notes[0]
		require.Check(t, strings.HasSuffix(got, fmt.Sprintf("so far: %d of 7.", turns)), "%s: %v turns %d times, not %s", o.Name, walk, turns, got)
	}
}

// TestRoundsEndInTheKernel: each round's number is the kernel of that many rounds.
func TestRoundsEndInTheKernel(t *testing.T) {
	t.Parallel()
	for _, o := range pair.Options {
		e := show(t, "refine", "pair", o.Name, "h", "3", "step", "1000")
		names := pairs[o.Name]
		for h := range 4 {
			want := wlValue(t.Context(), shapes[names[0]].graph, shapes[names[1]].graph, h)
			require.Equal(t, lessonstest.Value(t, lessonstest.Number(t, e, fmt.Sprintf("$k$ with $h = %d$", h))), want,
				"%s, %d rounds: by hand and by the kernel", o.Name, h)
		}
		sum := 0.0
		for _, row := range e.Tables[0].Rows {
			sum += lessonstest.Value(t, row[5])
		}
		got := lessonstest.Value(t, lessonstest.Number(t, e, "kernel of the lab, $h = 3$"))
		require.Check(t, got == sum, "%s: the dictionary adds up to %g, the kernel is %g", o.Name, sum, got)
		for step := range e.Steps - 1 {
			for _, n := range show(t, "refine", "pair", o.Name, "h", "3", "step", strconv.Itoa(step)).Numbers {
				require.Must(t, !strings.Contains(n.Label, "of the lab") && !strings.Contains(n.Label, "h = 3"),
					"%s, step %d: the end is shown before", o.Name, step)
			}
		}
	}
}

// With the own label sorted in, ethanol and ether wrongly share colours.
func TestTheHandoutConfusesNodes(t *testing.T) {
	t.Parallel()
	value := func(sorted string) string {
		e := show(t, "refine", "pair", "molecules", "h", "1", "sorted", sorted, "step", "1000")
		return lessonstest.Number(t, e, "$k$ with $h = 1$")
	}
	right, wrong := value("false"), value("true")
	require.Check(t, right == "5" && wrong == "8", "with the own label in front %s, sorted in %s", right, wrong)
	for name, apart := range map[string]bool{"rings": false, "fused": false, "trees": true, "house": true} {
		for h := range 5 {
			e := show(t, "blind", "pair", name, "h", strconv.Itoa(h))
			wl := lessonstest.Number(t, e, "Weisfeiler-Lehman, normalised")
			told := strings.Contains(e.After[0], "distinguishes these graphs")
			require.Check(t, told == (apart && h > 0) && (wl == "1") != told,
				"%s, %d rounds: %s, %v", name, h, wl, e.After)
			walk := lessonstest.Number(t, e, "random walk, normalised")
			require.Check(t, apart || walk == "1", "%s: random walk %s", name, walk)
		}
	}
}

// TestEdgesTellApart: graphs with the same skeleton are equal to kernels that ignore labels and
// directions of edges, and different to the others, except for the rings.
func TestEdgesTellApart(t *testing.T) {
	t.Parallel()
	for name, two := range edged {
		for _, s := range two {
			g, err := s.graph.Canonical()
			require.Check(t, err == nil && g.String() == s.graph.String(), "%s: %v, %v", name, s.graph, err)
		}
		for h := range 5 {
			for _, on := range []string{"false", "true"} {
				e := show(t, "edges", "pair", name, "h", strconv.Itoa(h), "edges", on)
				for _, k := range []string{"Weisfeiler-Lehman", "random walk"} {
					alike := name == "rings" || h == 0 && k == "Weisfeiler-Lehman"
					plain, full := lessonstest.Number(t, e, k+", edges alike"), lessonstest.Number(t, e, k+", edges count")
					require.Check(t, plain == "1" && (full == "1") == alike, "%s, %d rounds, %s: %s as they are joined, %s with their edges", name, h, k, plain, full)
				}
				require.Equal(t, len(e.Tables[0].Rows) == 1, h == 0 || on == "false" || name == "rings",
					"%s, %d rounds, edges count %s: the colours %v", name, h, on, e.Tables[0].Rows)
			}
		}
	}
}

// TestMachine checks the screen's statements on rounds, molecules and rings.
func TestMachine(t *testing.T) {
	t.Parallel()
	right := func(of string, h int, c string) (training, fresh float64) {
		const seeds = 4
		for s := range seeds {
			e := show(t, "machine", "family", of, "h", strconv.Itoa(h), "C", c, "seed", strconv.Itoa(s+1))
			n, _, _ := strings.Cut(lessonstest.Number(t, e, "right in training"), " of ")
			training += 100 * lessonstest.Value(t, n) / trained / seeds
			fresh += lessonstest.Value(t, lessonstest.Number(t, e, "right on fresh graphs")) / seeds
		}
		return training, fresh
	}
	_, none := right("molecules", 0, "1")
	_, two := right("molecules", 2, "1")
	_, four := right("molecules", 4, "1")
	require.Check(t, two >= none+10 && four <= two+5 && four >= two-5,
		"molecules: %.1f %% by their labels, %.1f %% after two rounds, %.1f %% after four", none, two, four)
	_, none = right("cycles", 0, "1000")
	_, soft := right("cycles", 1, "1")
	_, one := right("cycles", 1, "1000")
	training, three := right("cycles", 3, "1000")
	require.Check(t, none == 50 && soft <= 70 && one >= 85 && three <= one-10 && training >= 99,
		"cycles: %.1f %% without rounds, %.1f %% after one, with C = 1 %.1f %%, after three %.1f %% and in training %.1f %%", none, one, soft, three, training)
}

// Graphs with up to five nodes and equal colours are isomorphic.
func TestTheSmallestThatColoursCannotTell(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 5; n++ {
		var pairs [][2]int
		for v := range n {
			for u := range v {
				pairs = append(pairs, [2]int{u, v})
			}
		}
		var numberings [][]int
		var permute func(done []int)
		permute = func(done []int) {
			if len(done) == n {
				numberings = append(numberings, slices.Clone(done))
			}
			for v := range n {
				if !slices.Contains(done, v) {
					permute(append(done, v))
				}
			}
		}
		permute(nil)
		place := make([]int, n*n)
		for i, p := range pairs {
			place[p[0]*n+p[1]], place[p[1]*n+p[0]] = i, i
		}
		var graphs []dataset.Graph
		seen := map[int]bool{} // sets of edges, under any numbering
		for set := range 1 << len(pairs) {
			if seen[set] {
				continue
			}
			g := dataset.Graph{N: n}
			for i, p := range pairs {
				if set>>i&1 == 1 {
					g.Edges = append(g.Edges, p)
				}
			}
			graphs = append(graphs, g)
			for _, to := range numberings {
				other := 0
				for _, e := range g.Edges {
					other |= 1 << place[to[e[0]]*n+to[e[1]]]
				}
				seen[other] = true
			}
		}
		colours := require.Value(kernel.Refine(t.Context(), graphs, n))(t)
		known := map[string]int{}
		for i := range graphs {
			last := slices.Clone(colours[i][n])
			slices.Sort(last)
			other, ok := known[fmt.Sprint(last)]
			require.Check(t, !ok, "colours do not tell %v from %v", graphs[i], graphs[other])
			known[fmt.Sprint(last)] = i
		}
		require.Equal(t, len(graphs), []int{1, 2, 4, 11, 34}[n-1], "graphs of %d nodes", n)
	}
}

// In the grid of a product no edge passes through a node other than its ends.
func TestGridIsClear(t *testing.T) {
	t.Parallel()
	of := firstGraph.Options
	for _, a := range of {
		for _, b := range of {
			c := crossing{first: shapes[a.Name], second: shapes[b.Name]}
			var err error
			c.ProductGraph, err = theory.NewProductGraph(c.first.graph, c.second.graph, false)
			require.NoError(t, err)
			w := c.network([]int{0})
			if n := c.first.graph.N + c.second.graph.N + len(c.Pairs); w.Graph.N != n || len(w.Nodes) != n || len(w.Places) != n {
				t.Fatalf("%s and %s: %d nodes, %d places for %d", a.Name, b.Name, len(w.Nodes), len(w.Places), n)
			}
			for _, e := range w.Graph.Edges {
				p, q := w.Places[e[0]], w.Places[e[1]]
				d := [2]float64{q[0] - p[0], q[1] - p[1]}
				for v, x := range w.Places {
					share := ((x[0]-p[0])*d[0] + (x[1]-p[1])*d[1]) / (d[0]*d[0] + d[1]*d[1])
					if v == e[0] || v == e[1] || share <= 0 || share >= 1 {
						continue
					}
					if away := math.Abs((x[0]-p[0])*d[1]-(x[1]-p[1])*d[0]) / math.Hypot(d[0], d[1]); away < 0.14 {
						t.Errorf("%s and %s: edge %s–%s is %.2f from node %s", a.Name, b.Name, w.Nodes[e[0]].Text, w.Nodes[e[1]].Text, away, w.Nodes[v].Text)
					}
				}
			}
		}
	}
}
