package kernel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// maxWeightedColours is the largest number of node colours over all graphs and rounds whose weights
// are listed.
const maxWeightedColours = 2_000_000

// totalColours returns the number of node colours over all graphs and h rounds.
func totalColours(h int, graphs []dataset.Graph) (n int) {
	for _, g := range graphs {
		n += g.N * (h + 1)
	}
	return n
}

// colourWeights holds the weights of colours. A colour of round r represents a subtree: the
// neighbourhood of a node up to r steps.
type colourWeights struct {
	graphs []dataset.Graph // z
	u      []float64
	h      int
	w      []float64
	seen   []place // first occurrence of each colour
}

type place struct{ graph, round, node int }

func weighColours(ctx context.Context, v param.Values, z dataset.Objects, u []float64) (expansion, error) {
	c := colourWeights{graphs: z.(*dataset.Graphs).Values, u: u, h: v.Int(rounds.Name)}
	colours, err := Refine(ctx, c.graphs, c.h)
	if err != nil {
		return nil, err
	}
	c.w = c.weigh(colours)
	c.seen = make([]place, len(c.w))
	for i := len(colours) - 1; i >= 0; i-- {
		for r := c.h; r >= 0; r-- {
			for v := len(colours[i][r]) - 1; v >= 0; v-- {
				c.seen[colours[i][r][v]] = place{i, r, v}
			}
		}
	}
	return c, nil
}

// weigh returns the weights of colours; the z_j come first in colours.
func (c colourWeights) weigh(colours [][][]int) []float64 {
	_, n := countColours(colours)
	w := make([]float64, n)
	for j, u := range c.u {
		for _, round := range colours[j] {
			for _, colour := range round {
				w[colour] += u
			}
		}
	}
	return w
}

func (c colourWeights) weights() []float64 { return c.w }

// maxNameLength is the largest number of characters in the name of a subtree.
const maxNameLength = 60

// name writes the subtree as the label of its root with its neighbours in brackets, recursively:
// "C(2×C,O(C))". A node without a label is a dot. The direction and the label of an edge precede
// the neighbour: "C(→a:O,←b:C)".
func (c colourWeights) name(colour int) string {
	at := c.seen[colour]
	g := c.graphs[at.graph]
	along, against := g.Steps()
	budget := 4096 // subtrees to visit, as their number can grow exponentially
	var write func(v, r int) string
	write = func(v, r int) string {
		label := cmp.Or(g.Label(v), "•")
		if len(along[v])+len(against[v]) == 0 { // an isolated node, the root
			return label + strings.Repeat("()", r)
		}
		if r == 0 {
			return label
		}
		var below []string
		for k, s := range slices.Concat(along[v], against[v]) {
			if budget--; budget < 0 {
				return label + "(…)"
			}
			edge := ""
			if g.Directed {
				edge = lists.Either(k < len(along[v]), "→", "←")
			}
			if g.EdgeLabels != nil {
				edge += g.EdgeLabels[s.Edge] + ":"
			}
			below = append(below, edge+write(int(s.Node), r-1))
		}
		slices.Sort(below)
		var parts []string
		for from := 0; from < len(below); {
			to := from + 1
			for to < len(below) && below[to] == below[from] {
				to++
			}
			part := below[from]
			if to-from > 1 {
				part = fmt.Sprintf("%d×%s", to-from, part)
			}
			parts = append(parts, part)
			from = to
		}
		return label + "(" + strings.Join(parts, ",") + ")"
	}
	name := []rune(write(at.node, at.round))
	if len(name) > maxNameLength {
		name = append(name[:maxNameLength-1], '…')
	}
	return string(name)
}

func (c colourWeights) parts(ctx context.Context, x dataset.Objects) ([][]float64, error) {
	own := x.(*dataset.Graphs).Values
	colours, err := Refine(ctx, slices.Concat(c.graphs, own), c.h)
	if err != nil {
		return nil, err
	}
	w := c.weigh(colours)
	parts := make([][]float64, len(own))
	for i, rounds := range colours[len(c.graphs):] {
		parts[i] = make([]float64, own[i].N)
		for _, round := range rounds {
			for v, colour := range round {
				parts[i][v] += w[colour]
			}
		}
	}
	return parts, nil
}
