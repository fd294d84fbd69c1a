package graphkernels

import (
	"context"
	"fmt"
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

func wlKernel(h int, normal bool) kernel.Kernel {
	return kernel.Kernel{Name: "wl", Values: param.Values{"rounds": param.Of(h), "normalize": param.Of(normal)}}
}

func wlValue(ctx context.Context, a, b dataset.Graph, h int) float64 {
	return value(ctx, wlKernel(h, false), a, b)
}

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
		e.Notes = []string{lists.Either(two[0].graph.Labels == nil, "Round 0: there are no labels, so all nodes have one colour.", "Round 0: a colour for each label.")}
	} else {
		c := s.Colours[s.Graph][s.Round][s.Node]
		e.Notes = []string{fmt.Sprintf("Round %d, the ringed node of %s: its signature is %s, %s colour %s.", s.Round, two[s.Graph].label, signature(s.Dictionary[c]),
			lists.Either(s.Known, "which the dictionary has:", "which is new:"), colourName(c))}
	}
	asked := pair.Of(in) == "molecules" // the products are summed after the answer
	e.Tables[0].After = asked
	done := s.Round // the last complete round
	if slices.Contains(s.Colours[1][s.Round], -1) {
		done--
	}
	for k := range done + 1 {
		e.Numbers = append(e.Numbers, lessons.Number{Label: fmt.Sprintf("$k$ with $h = %d$", k), Value: views.Short(upTo(s, k)), Help: lists.Either(k == 0, "the products of round 0", fmt.Sprintf("the products of the rounds 0 to %d", k))})
	}
	if step == r.Len()-1 {
		truth := wlValue(ctx, two[0].graph, two[1].graph, h)
		e.Numbers = append(e.Numbers, lessons.Number{Label: fmt.Sprintf("kernel of the lab, $h = %d$", h), Value: views.Short(truth), Help: lists.Either(sorted.Of(in), "which keeps the own colour in front", "by the code that trains")})
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
				Label: k.name + lists.Either(count, ", edges count", ", edges alike"), Value: views.Short(v),
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
	e.Figures = []lessons.Figure{networks("graphs", fmt.Sprintf("In each node stands its colour of round %d, %s.", h, lists.Either(edgesCount.Of(in), "with the edges counted", "with all edges alike")), true, of...)}
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
