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

func walkKernel(lambda float64, labelled, normal bool) kernel.Kernel {
	return kernel.Kernel{Name: "random-walk", Values: param.Values{"walk_weight": param.Of(lambda), "labelled": param.Of(labelled), "normalize": param.Of(normal)}}
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
	const apart = 1.5 // distance of columns; that of rows is 1
	// bow bends the factors outwards.
	bow := func(v, n int) float64 { return lists.Either(v == 0 || v == n-1, 0, 0.6) }
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
		lessons.Number{Label: "in the two graphs", Value: fmt.Sprintf("%.0f and %.0f", counts[0], counts[1]), Help: lists.Either(byLabel.Of(in), "their product where labels do not count", "the number above is their product"), After: true},
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
	turns := len(lists.Where(len(gone), func(i int) bool { return i >= 2 && gone[i] == gone[i-2] }))
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
		note = fmt.Sprintf("%s %s. Straight back so far: %d of %d.", lists.Either(back, "Straight back to", "On to"), letter(gone[step]), turns, step-1)
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
