// Package graphkernels is the lesson on kernels for graphs.
package graphkernels

import (
	"context"
	"embed"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/stepwise"
	"marginlab/ml/theory"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
)

//go:embed words.md guide.md
var files embed.FS

// The controls of the screens.
var (
	numbering = lessons.IntegerControl{Name: "numbering", Label: "numbering", Default: "2", Min: 1, Max: 120, Low: 1, High: 20, Help: "1 is that in which the edges were written down; each other one is drawn at random."}

	walkGraph  = graphControl("graph", "paw", "triangle", "path", "ring", "paw", "house")
	walkLength = lessons.IntegerControl{Name: "n", Label: "length of the walks", Symbol: "n", Default: "1", Min: 0, Max: 12, Low: 0, High: 8}

	firstGraph  = graphControl("first", "triangle", "edge", "path", "triangle", "ring", "ethanol", "ether")
	secondGraph = graphControl("second", "path", "edge", "path", "triangle", "ring", "ethanol", "ether")
	byLabel     = lessons.SwitchControl{Name: "labelled", Label: "labels must match", Default: "false", Help: "Only the molecules have labels."}
	walkSeed    = lessons.IntegerControl{Name: "seed", Label: "another walk", Default: "1", Min: 1, Max: 1000, Low: 1, High: 20}

	decay = lessons.NumberControl{Name: "lambda", Label: "weight of a step", Symbol: "λ", Default: "0.1", Min: 0.01, Max: 0.6, Low: 0.01, High: 0.6, Log: true}

	totterGraph = graphControl("graph", "fork", "edge", "path", "fork", "ring", "paw", "house")

	pair = lessons.ChoiceControl{Name: "pair", Label: "graphs", Default: "house", Options: []param.Option{
		{Name: "house", Label: "house and bull"}, {Name: "molecules", Label: "ethanol and ether"}, {Name: "trees", Label: "two trees"}, {Name: "rings", Label: "two triangles and a ring"},
	}}
	rounds = lessons.IntegerControl{Name: "h", Label: "rounds", Symbol: "h", Default: "2", Min: 1, Max: 3, Low: 1, High: 3}
	sorted = lessons.SwitchControl{Name: "sorted", Label: "own colour sorted in", Default: "false", Help: "Sorts the node's own colour among those of its neighbours."}

	blindPair = lessons.ChoiceControl{Name: "pair", Label: "graphs", Default: "rings", Options: []param.Option{
		{Name: "rings", Label: "two triangles and a ring"}, {Name: "fused", Label: "two fused rings and two joined rings"}, {Name: "trees", Label: "two trees"}, {Name: "house", Label: "house and bull"},
	}}
	edgePair = lessons.ChoiceControl{Name: "pair", Label: "graphs", Default: "bonds", Options: []param.Option{
		{Name: "bonds", Label: "two rings with bonds"}, {Name: "triangles", Label: "two triangles with arrows"}, {Name: "rings", Label: "rings with arrows"},
	}}
	edgesCount = lessons.SwitchControl{Name: "edges", Label: "labels and arrows count", Default: "false", Help: "Off: the kernel sees which nodes are joined, and no more."}
	edgeRounds = lessons.IntegerControl{Name: "h", Label: "rounds", Symbol: "h", Default: "1", Min: 0, Max: 4, Low: 0, High: 4}

	family = lessons.ChoiceControl{Name: "family", Label: "graphs", Default: "molecules", Options: []param.Option{
		{Name: "molecules", Label: "molecules"}, {Name: "cycles", Label: "cycles and trees"},
	}}
	machineRounds = lessons.IntegerControl{Name: "h", Label: "rounds", Symbol: "h", Default: "2", Min: 0, Max: 4, Low: 0, High: 4}
	noise         = lessons.NumberControl{Name: "noise", Label: "noise", Default: "0.05", Min: 0, Max: 0.5, Low: 0, High: 0.5, Help: "Probability that a graph has the mark of the other class."}
	cost          = lessons.NumberControl{Name: "C", Label: "C", Symbol: "C", Default: "1", Min: 0.01, Max: 1000, Low: 0.01, High: 1000, Log: true}
	seed          = lessons.IntegerControl{Name: "seed", Label: "seed", Default: "1", Min: 1, Max: 1000, Low: 1, High: 20}

	blindRounds = lessons.IntegerControl{Name: "h", Label: "rounds", Symbol: "h", Default: "0", Min: 0, Max: 4, Low: 0, High: 4}
)

// Lesson returns the lesson.
func Lesson() *lessons.Lesson {
	return lessons.New(files, lessons.Lesson{
		Slug: "graph-kernels",
		Task: "data=molecules&kernel=wl",
		Screens: []lessons.Screen{
			{
				Slug:    "objects",
				Demo:    lessons.NewDemo(showObjects, numbering),
				Answers: map[string]lessons.Answer{"numberings": lessons.Is(math.Round(math.Gamma(6 + 1)))},
			},
			{
				Slug:    "walks",
				Demo:    lessons.NewDemo(showWalks, walkGraph, walkLength),
				Answers: map[string]lessons.Answer{"return-of-four": lessons.Is(power(theory.Adjacency(complete(4)), 3).At(0, 0))},
			},
			{
				Slug: "product",
				Demo: lessons.NewDemo(showProduct, firstGraph, secondGraph, byLabel, walkSeed),
				Answers: map[string]lessons.Answer{
					"multiply": func(context.Context) float64 {
						return sharedWalks(shapes["triangle"].graph, shapes["path"].graph, 2)
					},
					"ring-and-path": func(context.Context) float64 {
						p := lessons.Must(theory.NewProductGraph(ring(5), shapes["caterpillar"].graph, false))
						return mat.Sum(p.Adjacency) / 2
					},
				},
			},
			{
				Slug: "series",
				Demo: lessons.NewDemo(showSeries, firstGraph, secondGraph, byLabel, decay),
				Answers: map[string]lessons.Answer{
					"limit-of-four": func(context.Context) float64 {
						p := lessons.Must(theory.NewProductGraph(complete(4), shapes["ring"].graph, false))
						return 1 / lessons.Must(theory.SpectralRadius(p.Adjacency))
					},
				},
			},
			{
				Slug:    "vec",
				Demo:    lessons.NewDemo(showVec, vecNodes),
				Answers: map[string]lessons.Answer{"hundred": lessons.Is(math.Pow(100, 4) / (2 * math.Pow(100, 3)))},
			},
			{
				Slug: "tottering",
				Demo: lessons.NewDemo(showTottering, totterGraph, walkSeed),
				Answers: map[string]lessons.Answer{
					"edge": func(context.Context) float64 {
						all, _ := theory.WalkCounts(shapes["edge"].graph, 5)
						return all[5]
					},
				},
			},
			{
				Slug: "refine",
				Demo: lessons.NewDemo(showRefine, pair, rounds, sorted),
				Answers: map[string]lessons.Answer{
					"molecules": func(ctx context.Context) float64 {
						return wlValue(ctx, shapes["ethanol"].graph, shapes["ether"].graph, 1)
					},
					"path": func(ctx context.Context) float64 {
						c := lessons.Must(kernel.Refine(ctx, []dataset.Graph{shapes["path"].graph}, 1))
						slices.Sort(c[0][1])
						return float64(len(slices.Compact(c[0][1])))
					},
				},
			},
			{Slug: "blind", Demo: lessons.NewDemo(showBlind, blindPair, blindRounds), Answers: map[string]lessons.Answer{"more": neverApart}},
			{
				Slug: "edges",
				Demo: lessons.NewDemo(showEdges, edgePair, edgesCount, edgeRounds),
				Answers: map[string]lessons.Answer{
					"triangles": func(ctx context.Context) float64 {
						return wlValue(ctx, edged["triangles"][0].graph, edged["triangles"][1].graph, 1)
					},
				},
			},
			{
				Slug:    "machine",
				Demo:    lessons.NewDemo(showMachine, family, machineRounds, noise, cost, seed),
				Answers: map[string]lessons.Answer{"rounds": bestRounds, "none": alike},
			},
		},
	})
}

// shape is a small named graph.
type shape struct {
	label string
	graph dataset.Graph
}

// shapes lists the graphs of the lesson.
var shapes = map[string]shape{
	"edge":        {"two joined nodes", dataset.Graph{N: 2, Edges: [][2]int{{0, 1}}}},
	"path":        {"path of three", dataset.Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}}},
	"triangle":    {"triangle", ring(3)},
	"ring":        {"ring of four", ring(4)},
	"paw":         {"triangle with a tail", dataset.Graph{N: 4, Edges: [][2]int{{0, 1}, {0, 2}, {1, 2}, {2, 3}}}},
	"fork":        {"fork, a tree", dataset.Graph{N: 5, Edges: [][2]int{{0, 1}, {1, 2}, {1, 3}, {3, 4}}}},
	"caterpillar": {"path of five", dataset.Graph{N: 5, Edges: [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}}},
	"house":       {"house", dataset.Graph{N: 5, Edges: [][2]int{{0, 1}, {0, 3}, {1, 2}, {2, 3}, {2, 4}, {3, 4}}}},
	"bull":        {"bull", dataset.Graph{N: 5, Edges: [][2]int{{0, 1}, {0, 2}, {1, 2}, {1, 3}, {2, 4}}}},
	"ethanol":     {"ethanol C–C–O", dataset.Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}, Labels: []string{"C", "C", "O"}}},
	"ether":       {"ether C–O–C", dataset.Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}, Labels: []string{"C", "O", "C"}}},
	"hexagon":     {"ring of six", ring(6)},
	"triangles":   {"two triangles", dataset.Graph{N: 6, Edges: [][2]int{{0, 1}, {0, 2}, {1, 2}, {3, 4}, {3, 5}, {4, 5}}}},
	"fused":       {"two fused rings", dataset.Graph{N: 10, Edges: [][2]int{{0, 1}, {0, 5}, {0, 9}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 6}, {6, 7}, {7, 8}, {8, 9}}}},
	"joined":      {"two joined rings", dataset.Graph{N: 10, Edges: [][2]int{{0, 1}, {0, 4}, {0, 5}, {1, 2}, {2, 3}, {3, 4}, {5, 6}, {5, 9}, {6, 7}, {7, 8}, {8, 9}}}},
}

// pairs lists the graphs compared by their colours.
var pairs = map[string][2]string{
	"house": {"house", "bull"}, "molecules": {"ethanol", "ether"}, "trees": {"caterpillar", "fork"}, "rings": {"triangles", "hexagon"}, "fused": {"fused", "joined"},
}

// edged lists pairs of graphs that differ only in the labels or directions of edges.
var edged = map[string][2]shape{
	"bonds": {
		{"single and double in turn", dataset.Graph{N: 4, Edges: ring(4).Edges, EdgeLabels: []string{"single", "double", "double", "single"}}},
		{"two and two", dataset.Graph{N: 4, Edges: ring(4).Edges, EdgeLabels: []string{"single", "double", "single", "double"}}},
	},
	"triangles": {
		{"round and round", dataset.Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {1, 2}, {2, 0}}}},
		{"one arrow turned", dataset.Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {0, 2}, {1, 2}}}},
	},
	"rings": {
		{"two triangles", dataset.Graph{N: 6, Directed: true, Edges: [][2]int{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {4, 5}, {5, 3}}}},
		{"ring of six", dataset.Graph{N: 6, Directed: true, Edges: [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}}}},
	},
}

// ring returns a ring of n nodes.
func ring(n int) dataset.Graph {
	g := dataset.Graph{N: n, Edges: [][2]int{{0, 1}, {0, n - 1}}}
	for v := 1; v < n-1; v++ {
		g.Edges = append(g.Edges, [2]int{v, v + 1})
	}
	return g
}

// complete returns the complete graph of n nodes.
func complete(n int) dataset.Graph {
	g := dataset.Graph{N: n}
	for v := range n {
		for w := v + 1; w < n; w++ {
			g.Edges = append(g.Edges, [2]int{v, w})
		}
	}
	return g
}

func graphControl(name, chosen string, of ...string) lessons.ChoiceControl {
	c := lessons.ChoiceControl{Name: name, Label: name + " graph", Default: chosen}
	if name == "graph" {
		c.Label = name
	}
	c.Options = lists.Map(of, func(s string) param.Option { return param.Option{Name: s, Label: shapes[s].label} })
	return c
}

// letter returns the name of a node.
func letter(v int) string { return string(rune('a' + v)) }

// network returns the drawing of a graph, with nodes drawn by node.
func network(s shape, node func(v int) figure.Node) figure.Network {
	w := figure.Network{Name: s.label, Graph: s.graph}
	w.Nodes = lists.Make(s.graph.N, func(v int) figure.Node { return node(v) })
	return w
}

// networks returns a figure of some graphs.
func networks(name, caption string, wide bool, of ...figure.Network) lessons.Figure {
	return lessons.Figure{Name: name, Caption: caption, Wide: wide, Draw: lessons.Draws(0, figure.Networks{Networks: of})}
}

// lettered draws a graph with the names of its nodes only.
func lettered(s shape) figure.Network {
	return network(s, func(v int) figure.Node { return figure.Node{Text: letter(v), Color: figure.Ink} })
}

// matrixFigure shows a matrix over nodes.
func matrixFigure(name, caption, entry string, m mat.Matrix, names []string) lessons.Figure {
	return lessons.Figure{Name: name, Caption: caption, Draw: lessons.Draws(0, figure.Matrix{Name: entry, Values: m, Names: names})}
}

// renumbered returns the graph with node v renumbered to to[v].
func renumbered(g dataset.Graph, to []int) dataset.Graph {
	edges := lists.Map(g.Edges, func(e [2]int) [2]int { return [2]int{to[e[0]], to[e[1]]} })
	return lessons.Must(dataset.NewGraph(g.N, edges, nil))
}

func wlKernel(h int, normal bool) kernel.Kernel {
	return kernel.Kernel{Name: "wl", Values: param.Values{"rounds": param.Of(h), "normalize": param.Of(normal)}}
}

func walkKernel(lambda float64, labelled, normal bool) kernel.Kernel {
	return kernel.Kernel{Name: "random-walk", Values: param.Values{"walk_weight": param.Of(lambda), "labelled": param.Of(labelled), "normalize": param.Of(normal)}}
}

// value returns the kernel of two graphs, computed as in the lab.
func value(ctx context.Context, k kernel.Kernel, a, b dataset.Graph) float64 {
	g := lessons.Must(kernel.GramOf(ctx, k, &dataset.Graphs{Values: []dataset.Graph{a, b}}, nil))
	row := make([]float64, 2)
	g.Row(row, 0)
	return row[1]
}

func wlValue(ctx context.Context, a, b dataset.Graph, h int) float64 {
	return value(ctx, wlKernel(h, false), a, b)
}

func showObjects(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	house := shapes["house"]
	to := []int{0, 1, 2, 3, 4}
	if n := numbering.Of(in); n > 1 {
		r := rand.New(rand.NewPCG(uint64(n), 0))
		r.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
	}
	other := renumbered(house.graph, to)
	before, after := theory.Adjacency(house.graph), theory.Adjacency(other)
	differ := 0
	for i := range house.graph.N {
		for j := range house.graph.N {
			if before.At(i, j) != after.At(i, j) {
				differ++
			}
		}
	}
	wl := value(ctx, wlKernel(3, true), house.graph, other)
	walk := value(ctx, walkKernel(0.05, false, true), house.graph, other)
	numbered := network(house, func(v int) figure.Node { return figure.Node{Text: strconv.Itoa(to[v] + 1), Color: figure.Ink} })
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			networks("graph", "The numbers are the places of the nodes in the matrix.", true, numbered),
			matrixFigure("matrix", "The adjacency matrix under this numbering.", "A", after, []string{"1", "2", "3", "4", "5"}),
		},
		Numbers: []lessons.Number{
			{Label: "entries that have changed", Value: fmt.Sprintf("%d of 25", differ), Help: "from the matrix of numbering 1"},
			{Label: `Weisfeiler-Lehman, normalised`, Value: lessons.Short(wl), Help: "of the graph with itself under the two numberings"},
			{Label: `random walk, normalised`, Value: lessons.Short(walk), Help: "likewise: to a kernel it is the same graph"},
		},
	}
}

// power returns A^n.
func power(a mat.Symmetric, n int) *mat.Dense {
	p := mat.NewDense(a.SymmetricDim(), a.SymmetricDim(), nil)
	p.Pow(a, n)
	return p
}

func showWalks(_ context.Context, in lessons.Input) *lessons.Exhibit {
	s, n := shapes[walkGraph.Of(in)], walkLength.Of(in)
	p := power(theory.Adjacency(s.graph), n)
	r := lessons.Must(theory.SpectralRadius(theory.Adjacency(s.graph)))
	degrees := lists.Map(s.graph.Neighbours(), func(near []int) string { return strconv.Itoa(len(near)) })
	return &lessons.Exhibit{
		Figures: []lessons.Figure{
			matrixFigure("power", fmt.Sprintf(`$A^{%d}$: row by row where a walk of this length begins, column by column where it ends.`, n), "walks", p, lists.Make(s.graph.N, letter)),
			networks("graph", "The graph.", true, lettered(s)),
		},
		Numbers: []lessons.Number{
			{Label: `$\mathbf 1^\top A^n\mathbf 1$`, Value: fmt.Sprintf("%.0f", mat.Sum(p)), Help: "walks of this length in all"},
			{Label: `trace of $A^n$`, Value: fmt.Sprintf("%.0f", mat.Trace(p)), Help: "walks that end where they began"},
			{Label: "neighbours of each node", Value: strings.Join(degrees, ", "), Help: "their degrees"},
			{Label: `$\rho(A)$`, Value: views.Short(r), Help: "spectral radius: by this factor the number grows with every step, on average and in the long run"},
		},
	}
}

// sharedWalks returns the number of walks of n steps in the product graph of two graphs.
func sharedWalks(a, b dataset.Graph, n int) float64 {
	return mat.Sum(power(lessons.Must(theory.NewProductGraph(a, b, false)).Adjacency, n))
}

// crossing is a product graph with its factors. Nodes of the second are numbered.
type crossing struct {
	first, second shape
	theory.ProductGraph
}

func newCrossing(in lessons.Input) (crossing, error) {
	c := crossing{first: shapes[firstGraph.Of(in)], second: shapes[secondGraph.Of(in)]}
	var err error
	c.ProductGraph, err = theory.NewProductGraph(c.first.graph, c.second.graph, byLabel.Of(in))
	return c, err
}

func (c crossing) name(i int) string {
	return letter(c.Pairs[i][0]) + strconv.Itoa(c.Pairs[i][1]+1)
}

// Offsets of the rows and columns in the grid of a product graph, so that no edge passes through
// a node; TestGridIsClear checks this.
var rightward, downward = [4]float64{-0.07, 0, 0.06, 0.13}, [4]float64{0.51, -0.3, 0.42, -0.4}

// network draws the product with a walk as a grid: a row per node of the first graph, drawn on
// the left, and a column per node of the second, drawn above.
func (c crossing) network(gone []int) figure.Network {
	first, second := c.first.graph, c.second.graph
	margins := first.N + second.N // nodes of the factors, before those of the product
	w := figure.Network{Graph: dataset.Graph{N: margins + len(c.Pairs), Edges: slices.Clone(first.Edges)}}
	const apart = 1.5               // distance of columns; that of rows is 1
	bow := func(v, n int) float64 { // the factors are bent outwards
		if v == 0 || v == n-1 {
			return 0
		}
		return 0.6
	}
	for v := range first.N {
		w.Nodes, w.Places = append(w.Nodes, figure.Node{Text: letter(v), Color: figure.Green}), append(w.Places, [2]float64{-apart - bow(v, first.N), float64(v)})
	}
	for v := range second.N {
		w.Nodes, w.Places = append(w.Nodes, figure.Node{Text: strconv.Itoa(v + 1), Color: figure.Magenta}), append(w.Places, [2]float64{apart * float64(v), -1.3 - bow(v, second.N)})
	}
	for _, e := range second.Edges {
		w.Graph.Edges = append(w.Graph.Edges, [2]int{first.N + e[0], first.N + e[1]})
	}
	for i, p := range c.Pairs {
		w.Nodes, w.Places = append(w.Nodes, figure.Node{Text: c.name(i), Color: figure.Violet}), append(w.Places, [2]float64{apart*float64(p[1]) + rightward[p[0]], float64(p[0]) + downward[p[1]]})
		for j := i + 1; j < len(c.Pairs); j++ {
			if c.Adjacency.At(i, j) != 0 {
				w.Graph.Edges = append(w.Graph.Edges, [2]int{margins + i, margins + j})
			}
		}
	}
	var walks [3][]int // of the product and its factors
	for _, i := range gone {
		walks[0], walks[1], walks[2] = append(walks[0], c.Pairs[i][0]), append(walks[1], first.N+c.Pairs[i][1]), append(walks[2], margins+i)
	}
	for _, walk := range walks {
		follow(&w, walk)
	}
	return w
}

// follow highlights the nodes and edges of a walk and rings its last node.
func follow(w *figure.Network, gone []int) {
	for _, v := range gone {
		w.Nodes[v].Shade = 1
	}
	w.Nodes[gone[len(gone)-1]].Ring = true
	for i := 1; i < len(gone); i++ {
		w.Strong = append(w.Strong, [2]int{min(gone[i-1], gone[i]), max(gone[i-1], gone[i])})
	}
}

// along returns the names of the nodes of a walk.
func along(gone []int, name func(v int) string) string {
	return strings.Join(lists.Map(gone, name), " ")
}

const mostSteps = 8

func showProduct(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	c, err := newCrossing(in)
	if err != nil {
		return refused(err)
	}
	r := lessons.Must(stepwise.Wander(ctx, c.Adjacency, mostSteps, uint64(walkSeed.Of(in))))
	step := min(in.Step, r.Len()-1)
	gone := r.At(step)
	parts := [2][]int{}
	for _, i := range gone {
		parts[0], parts[1] = append(parts[0], c.Pairs[i][0]), append(parts[1], c.Pairs[i][1])
	}
	number := func(v int) string { return strconv.Itoa(v + 1) }
	e := &lessons.Exhibit{
		Steps: r.Len(), Step: step,
		Figures: []lessons.Figure{
			networks("product", `$G_\times$ as a grid: a row for each letter of the first graph, a column for each number of the second. The walk stands out in all three; its end is ringed.`, false, c.network(gone)),
		},
		Numbers: []lessons.Number{
			{Label: "walk in the product", Value: along(gone, c.name)},
			{Label: "in the first graph", Value: along(parts[0], letter)},
			{Label: "in the second graph", Value: along(parts[1], number)},
		},
	}
	var counts [3]float64
	for k, a := range []mat.Symmetric{theory.Adjacency(c.first.graph), theory.Adjacency(c.second.graph), c.Adjacency} {
		counts[k] = mat.Sum(power(a, step))
	}
	e.Numbers = append(e.Numbers,
		lessons.Number{Label: fmt.Sprintf("walks of length %d", step), Value: fmt.Sprintf("%.0f", counts[2]), Help: "in the product graph", After: true},
		lessons.Number{Label: "in the two graphs", Value: fmt.Sprintf("%.0f and %.0f", counts[0], counts[1]), Help: lessons.Either(byLabel.Of(in), "their product where labels do not count", "the number above is their product"), After: true},
	)
	if r.Len() == 1 {
		e.Notes = []string{"No pair of nodes with equal labels is joined to another: the product graph has no edge, and no walk goes on."}
	}
	return e
}

// refused shows a user error instead of a picture.
func refused(err error) *lessons.Exhibit {
	said, ok := param.ForPerson(err)
	if !ok {
		lessons.Check(err)
	}
	return &lessons.Exhibit{Notes: []string{lessons.Literal(said)}}
}

// summed is the number of displayed terms of the series.
const summed = 40

func showSeries(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	c, err := newCrossing(in)
	if err != nil {
		return refused(err)
	}
	lambda := decay.Of(in)
	radius := lessons.Must(theory.SpectralRadius(c.Adjacency))
	r := lessons.Must(stepwise.SumWalks(ctx, c.Adjacency, lambda, summed))
	sums := lessons.StepCurve("sum so far", r, func(s stepwise.WalkSum) float64 { return s.Sum })
	terms := lessons.StepCurve("term", r, func(s stepwise.WalkSum) float64 { return s.Term })
	sums.Marks, terms.Marks = true, true
	end := r.At(r.Len() - 1)
	e := &lessons.Exhibit{Numbers: []lessons.Number{
		{Label: `$\rho(A_\times)$`, Value: views.Short(radius), Help: "spectral radius"},
		{Label: `$\lambda\rho$`, Value: views.Short(lambda * radius), Help: "the series has an end only below 1"},
		{Label: fmt.Sprintf("sum of %d terms", r.Len()), Value: views.Short(end.Sum), Help: fmt.Sprintf(`the last one is %s`, views.Short(end.Term))},
	}}
	system, err := theory.WalkSystem(c.Adjacency, lambda)
	var rules []figure.Rule
	switch {
	case err != nil:
		e.Numbers = append(e.Numbers, lessons.Number{Label: "linear system", Value: "no solution", Help: `$\lambda$ is 1 over an eigenvalue`})
	default:
		e.Numbers = append(e.Numbers, lessons.Number{Label: "linear system", Value: views.Short(system), Help: `$\mathbf 1^\top\mathbf x$ with $(I - \lambda A_\times)\mathbf x = \mathbf 1$`})
		if system > 0 {
			rules = []figure.Rule{{Name: "linear system", At: system}}
		}
	}
	k, err := lessons.Caught(func() float64 {
		return value(ctx, walkKernel(lambda, byLabel.Of(in), false), c.first.graph, c.second.graph)
	})
	switch said, told := param.ForPerson(err); {
	case err == nil:
		e.Numbers = append(e.Numbers, lessons.Number{Label: "kernel of the lab", Value: views.Short(k), Help: "by conjugate gradients, without the matrix"})
	case told:
		e.Numbers = append(e.Numbers, lessons.Number{Label: "kernel of the lab", Value: "refused", Help: lessons.Literal(said)})
	default:
		lessons.Check(err)
	}
	if lambda*radius < 1 {
		e.Notes = []string{fmt.Sprintf(`$\lambda\rho = %s < 1$: the terms die out, and the sum comes to rest at the solution of the linear system.`, lessons.TeX(lambda*radius))}
	} else {
		e.Notes = []string{fmt.Sprintf(`$\lambda\rho = %s \ge 1$: the terms do not die out, and the sum has no end. The linear system does not notice: what it says is no kernel.`, lessons.TeX(lambda*radius))}
	}
	e.Figures = []lessons.Figure{{Name: "sums", Caption: `The terms $\lambda^n\,\mathbf 1^\top A_\times^n\mathbf 1$ and their sum, on a logarithmic axis: a geometric series has terms on a straight line.`, Draw: lessons.Draws(2, figure.Chart{
		X: figure.Axis{Name: "length n"}, Y: figure.Axis{Name: "walks, weighted", Log: true}, Curves: []figure.Curve{sums, terms}, Rules: rules,
	})}}
	return e
}

func showTottering(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	s := shapes[totterGraph.Of(in)]
	r := lessons.Must(stepwise.Wander(ctx, theory.Adjacency(s.graph), mostSteps, uint64(walkSeed.Of(in))))
	step := min(in.Step, r.Len()-1)
	gone := r.At(step)
	turns := 0
	for i := 2; i < len(gone); i++ {
		if gone[i] == gone[i-2] {
			turns++
		}
	}
	alike := value(ctx, walkKernel(0.05, false, true), s.graph, shapes["edge"].graph)
	all, straight := theory.WalkCounts(s.graph, mostSteps)
	ns := make([]float64, mostSteps+1)
	table := lessons.Table{Caption: "Walks by their length", Head: []string{"length", "walks", "never straight back", "share that totters"}, Marked: []int{step}}
	for n := range ns {
		ns[n] = float64(n)
		table.Rows = append(table.Rows, []string{strconv.Itoa(n), views.Short(all[n]), views.Short(straight[n]), lessons.Percent(1 - straight[n]/all[n])})
	}
	walked := network(s, func(v int) figure.Node { return figure.Node{Text: letter(v), Color: figure.Violet} })
	follow(&walked, gone)
	asked := totterGraph.Of(in) == "edge" // its walks are counted after the answer
	table.After = asked
	note := "It starts at " + letter(gone[0]) + ". Bet: of its later steps, how many turn straight back?"
	if step > 0 {
		back := step > 1 && gone[step] == gone[step-2]
		note = fmt.Sprintf("%s %s. Straight back so far: %d of %d.", lessons.Either(back, "Straight back to", "On to"), letter(gone[step]), turns, step-1)
	}
	return &lessons.Exhibit{
		Steps: r.Len(), Step: step, Notes: []string{note},
		Figures: []lessons.Figure{
			networks("graph", "A walk at random: the way so far stands out, its end is ringed.", true, walked),
			{Name: "counts", Wide: true, After: asked, Caption: "All walks, and those that never go straight back, by their length. The axis is logarithmic; where there are none left the curve ends.", Draw: lessons.Draws(2, figure.Chart{
				X: figure.Axis{Name: "length"}, Y: figure.Axis{Name: "walks", Log: true}, Here: new(float64(step)),
				Curves: []figure.Curve{{Name: "all walks", X: ns, Y: all, Marks: true}, {Name: "never straight back", X: ns, Y: straight, Marks: true}},
			})},
		},
		Numbers: []lessons.Number{
			{Label: "walk", Value: along(gone, letter)},
			{Label: "like a single edge", Value: lessons.Short(alike), Help: `random-walk kernel with it, normalised, $\lambda = 0.05$: 1 would be the same`},
		},
		Tables: []lessons.Table{table},
	}
}

// colourName returns the name of a colour of the dictionary.
func colourName(c int) string { return strconv.Itoa(c) }

// signature formats what a colour stands for: the previous own colour, then those of the
// neighbours.
func signature(x stepwise.Signature) string {
	if x.Round == 0 {
		if x.Label == "" {
			return "no label"
		}
		return "label " + x.Label
	}
	near := lists.Map(x.Near, colourName)
	if x.Own < 0 {
		return strings.Join(near, ", ")
	}
	return colourName(x.Own) + " | " + strings.Join(near, ", ")
}

// coloured draws two graphs in the colours of one round of a state: nodes without a colour yet
// are outlined in their colour of the previous round.
func coloured(two [2]shape, s stepwise.Refinement, round int) (of []figure.Network) {
	first := func(r int) int { // number of the first colour of a round
		return slices.IndexFunc(s.Dictionary, func(x stepwise.Signature) bool { return x.Round == r })
	}
	for g := range two {
		now := s.Graph == g
		w := network(two[g], func(v int) figure.Node {
			if c := s.Colours[g][round][v]; c >= 0 {
				return figure.Node{Text: colourName(c), Color: figure.ClassColor(figure.Series(c - first(round))), Shade: 0.8, Ring: now && v == s.Node}
			}
			c := s.Colours[g][round-1][v]
			return figure.Node{Text: colourName(c), Color: figure.ClassColor(figure.Series(c - first(round-1)))}
		})
		for _, e := range two[g].graph.Edges {
			if now && (e[0] == s.Node || e[1] == s.Node) {
				w.Strong = append(w.Strong, e)
			}
		}
		of = append(of, w)
	}
	return of
}

// dictionary returns the table of colours, with their counts in each graph.
func dictionary(two [2]shape, s stepwise.Refinement) lessons.Table {
	t := lessons.Table{Caption: "The dictionary, and how many nodes of either graph have each colour so far", Head: []string{"colour", "round", "stands for", two[0].label, two[1].label, "product"}}
	x, z := s.Counts(0), s.Counts(1)
	for c, d := range s.Dictionary {
		if s.Node >= 0 && s.Colours[s.Graph][s.Round][s.Node] == c {
			t.Marked = append(t.Marked, c)
		}
		t.Rows = append(t.Rows, []string{colourName(c), strconv.Itoa(d.Round), signature(d), views.Short(x[c]), views.Short(z[c]), views.Short(x[c] * z[c])})
	}
	return t
}

// upTo returns the kernel of the colours of all rounds up to round.
func upTo(s stepwise.Refinement, round int) (sum float64) {
	x, z := s.Counts(0), s.Counts(1)
	for c, d := range s.Dictionary {
		if d.Round <= round {
			sum += x[c] * z[c]
		}
	}
	return sum
}

func showRefine(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	names := pairs[pair.Of(in)]
	two := [2]shape{shapes[names[0]], shapes[names[1]]}
	h := rounds.Of(in)
	r := lessons.Must(stepwise.Refine(ctx, []dataset.Graph{two[0].graph, two[1].graph}, stepwise.RefinementSettings{Rounds: h, OwnAmongNear: sorted.Of(in)}))
	step := min(in.Step, r.Len()-1)
	s := r.At(step)
	e := &lessons.Exhibit{
		Steps: r.Len(), Step: step,
		Figures: []lessons.Figure{networks("graphs", "In each node stands the number of its colour. Nodes that wait for their colour of this round are empty; the ringed one has just got it, and looked along the thick edges.", true, coloured(two, s, s.Round)...)},
		Tables:  []lessons.Table{dictionary(two, s)},
	}
	if s.Node < 0 {
		e.Notes = []string{lessons.Either(two[0].graph.Labels == nil, "Round 0: there are no labels, so all nodes have one colour.", "Round 0: a colour for each label.")}
	} else {
		c := s.Colours[s.Graph][s.Round][s.Node]
		e.Notes = []string{fmt.Sprintf("Round %d, the ringed node of %s: its signature is %s, %s colour %s.", s.Round, two[s.Graph].label, signature(s.Dictionary[c]),
			lessons.Either(s.Known, "which the dictionary has:", "which is new:"), colourName(c))}
	}
	asked := pair.Of(in) == "molecules" // the products are summed after the answer
	e.Tables[0].After = asked
	done := s.Round // the last complete round
	if slices.Contains(s.Colours[1][s.Round], -1) {
		done--
	}
	for k := range done + 1 {
		e.Numbers = append(e.Numbers, lessons.Number{Label: fmt.Sprintf("$k$ with $h = %d$", k), Value: views.Short(upTo(s, k)), Help: lessons.Either(k == 0, "the products of round 0", fmt.Sprintf("the products of the rounds 0 to %d", k))})
	}
	if step == r.Len()-1 {
		truth := wlValue(ctx, two[0].graph, two[1].graph, h)
		e.Numbers = append(e.Numbers, lessons.Number{Label: fmt.Sprintf("kernel of the lab, $h = %d$", h), Value: views.Short(truth), Help: lessons.Either(sorted.Of(in), "which keeps the own colour in front", "by the code that trains")})
	}
	for i := range e.Numbers {
		e.Numbers[i].After = asked
	}
	return e
}

func showBlind(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	names, h := pairs[blindPair.Of(in)], blindRounds.Of(in)
	two := [2]shape{shapes[names[0]], shapes[names[1]]}
	r := lessons.Must(stepwise.Refine(ctx, []dataset.Graph{two[0].graph, two[1].graph}, stepwise.RefinementSettings{Rounds: h}))
	s := r.At(r.Len() - 1)
	s.Graph, s.Node = -1, -1 // no current node
	wl := value(ctx, wlKernel(h, true), two[0].graph, two[1].graph)
	walk := value(ctx, walkKernel(0.05, false, true), two[0].graph, two[1].graph)
	colours := dictionary(two, s)
	colours.After = true
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{networks("graphs", fmt.Sprintf("The colours of round %d.", h), true, coloured(two, s, h)...)},
		Numbers: []lessons.Number{
			{Label: `Weisfeiler-Lehman, normalised`, Value: views.Short(wl), Help: "1: the same numbers of all colours", After: true},
			{Label: `random walk, normalised`, Value: views.Short(walk), Help: `with $\lambda = 0.05$ and without labels`, After: true},
		},
		Tables: []lessons.Table{colours},
	}
	bare := make([]figure.Network, len(two))
	for g := range two {
		cube := power(theory.Adjacency(two[g].graph), 3)
		bare[g] = network(two[g], func(int) figure.Node { return figure.Node{} })
		e.Numbers = append(e.Numbers, lessons.Number{Label: "triangles: " + two[g].label, Value: views.Short(mat.Trace(cube) / 6), Help: `trace of $A^3$ over 6`})
	}
	if blindPair.Of(in) == blindPair.Default && h > 0 { // the question's setting
		e.Figures[0] = e.Figures[0].Instead(networks("graphs", "", true, bare...), fmt.Sprintf("All nodes had one colour in round 0. Which have they in round %d?", h))
	}
	if slices.Equal(s.Counts(0), s.Counts(1)) {
		e.After = []string{fmt.Sprintf("Up to round %d both graphs have equally many nodes of each colour.", h)}
	} else {
		e.After = []string{"The numbers of some colour differ: this kernel distinguishes these graphs."}
	}
	return e
}

func showEdges(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	two, h := edged[edgePair.Of(in)], edgeRounds.Of(in)
	e := &lessons.Exhibit{}
	var graphs []dataset.Graph // as seen by the kernel
	for _, count := range []bool{false, true} {
		var seen []dataset.Graph
		for _, s := range two {
			g := s.graph
			if !count {
				g = lessons.Must(dataset.NewGraph(g.N, g.Edges, g.Labels)) // without the labels and directions of its edges
			}
			seen = append(seen, g)
		}
		if count == edgesCount.Of(in) {
			graphs = seen
		}
		for _, k := range []struct {
			name string
			kernel.Kernel
		}{{"Weisfeiler-Lehman", wlKernel(h, true)}, {"random walk", walkKernel(0.05, true, true)}} {
			v := value(ctx, k.Kernel, seen[0], seen[1])
			e.Numbers = append(e.Numbers, lessons.Number{
				Label: k.name + lessons.Either(count, ", edges count", ", edges alike"), Value: views.Short(v),
				Help: "normalised; 1: the kernel cannot tell the graphs apart",
				// The question is about the triangles.
				After: count && edgePair.Of(in) != edgePair.Default,
			})
		}
	}
	colours := lessons.Must(kernel.Refine(ctx, graphs, h))
	first := min(slices.Min(colours[0][h]), slices.Min(colours[1][h])) // of the round
	var of []figure.Network
	t := lessons.Table{Caption: fmt.Sprintf("The colours of round %d", h), Head: []string{"colour", two[0].label, two[1].label, "product"}}
	var counts [2]map[int]float64
	for g, s := range two {
		counts[g] = map[int]float64{}
		of = append(of, network(s, func(v int) figure.Node {
			c := colours[g][h][v]
			counts[g][c]++
			return figure.Node{Text: colourName(c), Color: figure.ClassColor(figure.Series(c - first)), Shade: 0.8}
		}))
	}
	for c := first; counts[0][c]+counts[1][c] > 0; c++ {
		t.Rows = append(t.Rows, []string{colourName(c), views.Short(counts[0][c]), views.Short(counts[1][c]), views.Short(counts[0][c] * counts[1][c])})
	}
	e.Figures = []lessons.Figure{networks("graphs", fmt.Sprintf("In each node stands its colour of round %d, %s.", h, lessons.Either(edgesCount.Of(in), "with the edges counted", "with all edges alike")), true, of...)}
	e.Tables = []lessons.Table{t}
	if edgePair.Of(in) == "triangles" && edgesCount.Of(in) && h > 0 { // the question's setting
		e.Tables[0].After = true
		e.Figures[0] = e.Figures[0].Instead(networks("graphs", "", true, lettered(two[0]), lettered(two[1])), fmt.Sprintf("Which nodes have one colour in round %d?", h))
	}
	return e
}

// neverApart looks for a round that distinguishes two triangles from a ring of six: once a round
// refines nothing, no later one does.
func neverApart(ctx context.Context) float64 {
	graphs := []dataset.Graph{shapes["triangles"].graph, shapes["hexagon"].graph}
	const enough = 6 // number of nodes
	colours := lessons.Must(kernel.Refine(ctx, graphs, enough))
	for h := range enough + 1 {
		a, b := slices.Clone(colours[0][h]), slices.Clone(colours[1][h])
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			panic(lessons.Failf("graphkernels: a round tells two triangles from a ring of six"))
		}
	}
	return 2
}

// Numbers of training graphs and new graphs.
const (
	trained = 40
	fresh   = 120
)

// drawnGraphs returns the training graphs and the new ones.
func drawnGraphs(of string, noise float64, seed int) (train, test *dataset.Data) {
	return lessons.Parts(of, param.Values{"n": param.Of(trained + fresh), "noise": param.Of(noise), "seed": param.Of(seed)}, trained)
}

func showMachine(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	of := family.Of(in)
	train, test := drawnGraphs(of, noise.Of(in), seed.Of(in))
	settings := []string{"kernel", "wl", "rounds", machineRounds.Text(in), "normalize", "true", "C", cost.Text(in)}
	res := lessons.Fit(ctx, train, settings...)
	points := res.Points()
	accuracy := lessons.Must(res.Model.Accuracy(test))
	const shown = 4
	var some, bare []figure.Network
	right := 0
	for i, p := range points {
		if !p.Wrong {
			right++
		}
		if i < shown {
			w := figure.Network{Name: p.Label, Graph: train.Objects.(*dataset.Graphs).Values[i]}
			bare = append(bare, w)
			w.Name += ", f = " + views.Short(math.Round(100*p.F)/100)
			some = append(some, w)
		}
	}
	drawn := func(of []figure.Network) func(l lessons.Look) (*figure.Picture, error) {
		return func(l lessons.Look) (*figure.Picture, error) {
			of := of
			if l.Width < 400 { // with letters in the nodes
				of = of[:shown/2]
			}
			return figure.Networks{Format: l.Format(0), Networks: of}.Picture()
		}
	}
	e := &lessons.Exhibit{
		Figures: []lessons.Figure{
			lessons.Strip(fmt.Sprintf("The %d training graphs at their values $f$, class by class.", train.Len()), res.Model, points, train.Classes),
			{Name: "graphs", Caption: "Some of them, with class and value.", Draw: drawn(some)},
		},
		Numbers: []lessons.Number{
			{Label: "right in training", Value: fmt.Sprintf("%d of %d", right, train.Len())},
			{Label: "right on fresh graphs", Value: lessons.Percent(accuracy), Help: fmt.Sprintf("of %d graphs drawn likewise that were not trained on", test.Len()), After: of != family.Default},
			{Label: "support vectors", Value: fmt.Sprintf("%d of %d", res.Report.SupportVectors, train.Len())},
		},
		Lab: lessons.LabQuery(of, settings...),
	}
	if of != family.Default && machineRounds.Of(in) == 0 { // a question's setting
		e.Figures[0] = e.Figures[0].Instead(lessons.Figure{Draw: drawn(bare)}, "Some of the graphs. At which values of $f$ do they lie, if no round is taken?")
		e.Figures[1].After, e.Numbers[0].After, e.Numbers[2].After = true, true, true
	}
	return e
}

// alike checks that without rounds and labels all graphs are equal to the kernel.
func alike(ctx context.Context) float64 {
	k := value(ctx, wlKernel(0, true), shapes["hexagon"].graph, shapes["fork"].graph)
	return lessons.First(math.Abs(k-1) > 1e-12)
}

// bestRounds returns the best number of rounds on new cycles and trees.
func bestRounds(ctx context.Context) float64 {
	const seeds = 3
	best, most := 0, 0.0
	for option, h := range []string{"0", "1", "3"} {
		sum := 0.0
		for s := range seeds {
			train, test := drawnGraphs("cycles", 0.05, s+1)
			res := lessons.Fit(ctx, train, "kernel", "wl", "rounds", h, "normalize", "true", "C", "1000")
			sum += lessons.Must(res.Model.Accuracy(test))
		}
		if sum > most {
			best, most = option, sum
		}
	}
	return float64(best)
}
