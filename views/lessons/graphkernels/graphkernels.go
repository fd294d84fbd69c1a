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

	"gonum.org/v1/gonum/mat"

	"marginlab/ml/dataset"
	"marginlab/ml/kernel"
	"marginlab/ml/lists"
	"marginlab/ml/param"
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
						p := lessons.Must(theory.NewProductGraph(shapes["triangle"].graph, shapes["path"].graph, false))
						return mat.Sum(power(p.Adjacency, 2))
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

func ring(n int) dataset.Graph {
	g := dataset.Graph{N: n, Edges: [][2]int{{0, 1}, {0, n - 1}}}
	for v := 1; v < n-1; v++ {
		g.Edges = append(g.Edges, [2]int{v, v + 1})
	}
	return g
}

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

// value returns the kernel of two graphs, computed as in the lab.
func value(ctx context.Context, k kernel.Kernel, a, b dataset.Graph) float64 {
	g := lessons.Must(kernel.GramOf(ctx, k, &dataset.Graphs{Values: []dataset.Graph{a, b}}, nil))
	row := make([]float64, 2)
	g.Row(row, 0)
	return row[1]
}

func showObjects(ctx context.Context, in lessons.Input) *lessons.Exhibit {
	house := shapes["house"]
	to := []int{0, 1, 2, 3, 4}
	if n := numbering.Of(in); n > 1 {
		rand.New(rand.NewPCG(uint64(n), 0)).Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
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
