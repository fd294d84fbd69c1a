package kernel

import (
	"context"
	"encoding/binary"
	"slices"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/param"
)

var rounds = param.Param{
	Name: "rounds", Label: "rounds", Symbol: "h", Kind: param.Integer, Default: "3",
	Min: 0, Max: 100, Low: 0, High: 6, Telling: true,
	Help: "Number of times every node adds the labels of its neighbours to its own. 0: only the labels are counted.",
}

// wl is the Weisfeiler-Lehman subtree kernel: it colours nodes in rounds and compares graphs by the
// number of nodes of each colour over all rounds.
//
// Source: Shervashidze, Schweitzer, van Leeuwen, Mehlhorn and Borgwardt, Journal of Machine
// Learning Research 12 (2011).
var wl = Entry{
	Name: "wl", Label: "Weisfeiler-Lehman", Formula: "k(x, z) = Σᵣ Σ_c #_c(x) #_c(z) over the colours c of the rounds r = 0 … h", Takes: dataset.KindGraphs, PSD: true,
	Help:    "Counts the nodes that two graphs share: with equal labels, equal neighbours, equal neighbours of neighbours, and so on. Edge labels and directions count.",
	Params:  []param.Param{rounds, normalize},
	compare: compareWL,
	self: func(ctx context.Context, v param.Values, x dataset.Objects) ([]float64, error) {
		graphs := x.(*dataset.Graphs).Values
		self := make([]float64, len(graphs))
		return self, eachRow(ctx, len(graphs), func(i int) {
			colours, err := Refine(ctx, graphs[i:i+1], v.Int(rounds.Name))
			if err != nil { // ctx has ended
				return
			}
			pieces, _ := countColours(colours)
			for _, p := range pieces[0] {
				self[i] += p.times * p.times
			}
		})
	},
	weigh: weighColours,
	canWeigh: func(v param.Values, z dataset.Objects) bool {
		return totalColours(v.Int(rounds.Name), z.(*dataset.Graphs).Values) <= maxWeightedColours
	},
}

// maxColours is the largest number of node colours over all graphs and rounds: 160 MB.
const maxColours = 20_000_000

func compareWL(ctx context.Context, v param.Values, x, z dataset.Objects) (comparison, error) {
	from, to := x.(*dataset.Graphs).Values, z.(*dataset.Graphs).Values
	all := from
	at := 0 // index of the first z_j
	if x != z {
		all, at = slices.Concat(from, to), len(from)
	}
	h := v.Int(rounds.Name)
	if n := totalColours(h, all); n > maxColours {
		return nil, param.Refuse("use fewer rounds or fewer graphs", "kernel wl: %d rounds over %d nodes need more than %d colours", h, n/(h+1), maxColours)
	}
	colours, err := Refine(ctx, all, h)
	if err != nil {
		return nil, err
	}
	pieces, n := countColours(colours)
	return compareCounts(ctx, n, pieces[:len(from)], pieces[at:])
}

// countColours counts the nodes of each colour over all rounds, for each graph. n is the number of
// colours.
func countColours(colours [][][]int) (pieces [][]featureCount, n int) {
	for _, rounds := range colours {
		for _, round := range rounds {
			n = max(n, 1+slices.Max(round))
		}
	}
	pieces = make([][]featureCount, len(colours))
	at := make([]int, n) // index of each colour in list
	for i, rounds := range colours {
		list := make([]featureCount, 0, len(rounds)*len(rounds[0]))
		for _, round := range rounds {
			for _, c := range round {
				if k := at[c]; k < len(list) && list[k].number == c {
					list[k].times++
				} else {
					at[c] = len(list)
					list = append(list, featureCount{c, 1})
				}
			}
		}
		pieces[i] = list
	}
	return pieces, n
}

// Refine performs h rounds of colour refinement: element [i][r][v] of the result is the colour of
// node v of graph i after round r. Colours are numbers from 0, and no two rounds share a colour. In
// round 0, nodes have the same colour if they have the same label; in round r, if they had the same
// colour before and the same multiset of neighbours. A neighbour counts as the pair of its colour
// and the label of the edge. In a directed graph, the neighbours along edges and against them are
// separate multisets, unless they are equal: an undirected graph is coloured like the graph with
// each edge in both directions. The error is ctx.Err().
func Refine(ctx context.Context, graphs []dataset.Graph, h int) ([][][]int, error) {
	colours := make([][][]int, len(graphs))
	labels := make(map[string]int)
	for i, g := range graphs {
		colours[i] = make([][]int, h+1)
		colours[i][0] = lists.Make(g.N, func(v int) int { return numberOf(labels, g.Label(v)) })
	}
	known := len(labels) // colours, of all rounds
	along, against := make([][][]dataset.Step, len(graphs)), make([][][]dataset.Step, len(graphs))
	if h > 0 {
		for i, g := range graphs {
			along[i], against[i] = g.Steps()
		}
	}
	numbers := map[string]int{"": 0} // of the labels of edges
	edges := lists.Map(graphs, func(g dataset.Graph) []int {
		return lists.Map(g.EdgeLabels, func(l string) int { return numberOf(numbers, l) })
	})
	var near, other []int
	var key []byte
	write := func(numbers ...int) {
		for _, c := range numbers {
			key = binary.AppendUvarint(key, uint64(c))
		}
	}
	for r := 1; r <= h; r++ {
		dictionary := make(map[string]int)
		below := known // colours of earlier rounds
		// pairs returns the sorted pairs of edge label and colour, each as one number.
		pairs := func(dst, edges, before []int, steps []dataset.Step) []int {
			dst = dst[:0]
			for _, s := range steps {
				pair := before[s.Node]
				if len(edges) > 0 {
					pair += below * edges[s.Edge]
				}
				dst = append(dst, pair)
			}
			slices.Sort(dst)
			return dst
		}
		for i := range graphs {
			if err := pace.Look(ctx); err != nil {
				return nil, err
			}
			before := colours[i][r-1]
			after := make([]int, len(before))
			for v := range after {
				near = pairs(near, edges[i], before, along[i][v])
				key = key[:0]
				write(before[v])
				write(near...)
				if graphs[i].Directed {
					if other = pairs(other, edges[i], before, against[i][v]); !slices.Equal(near, other) {
						write(-1) // separator, equal to no pair
						write(other...)
					}
				}
				c, ok := dictionary[string(key)] // this conversion does not allocate
				if !ok {
					c = below + len(dictionary)
					dictionary[string(key)] = c
				}
				after[v] = c
			}
			colours[i][r] = after
		}
		known += len(dictionary)
	}
	return colours, nil
}
