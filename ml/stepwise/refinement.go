package stepwise

import (
	"context"
	"slices"

	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/trace"
)

// Refinement is a state of Weisfeiler-Lehman colour refinement (SVM notes 20.4): nodes are
// coloured in rounds, with one dictionary for all graphs. In round 0 the colour of a node represents
// its label, in later rounds its signature: its previous colour and the sorted previous colours of
// its neighbours.
type Refinement struct {
	Round       int       // current round, 0 at the start
	Graph, Node int       // node coloured in this step; -1 at the start
	Known       bool      // whether its signature was already in the dictionary
	Colours     [][][]int // by graph, round and node; -1: not yet coloured
	Dictionary  []Signature
}

// Signature defines a colour, which is its index in the dictionary.
type Signature struct {
	Round int
	Label string // in round 0
	Own   int    // previous colour of the node; -1 in round 0 and if it is among Near
	Near  []int  // previous colours of the neighbours, ascending
}

// RefinementSettings holds the number of rounds, 0 to 10, and the kind of signature.
type RefinementSettings struct {
	Rounds int
	// OwnAmongNear sorts the node's own colour among the colours of its neighbours, as in SVM notes
	// 20.4. The own colour is then lost, and different nodes get the same colour.
	OwnAmongNear bool
}

// maxRefined is the largest number of nodes over all rounds.
const maxRefined = 500

// Refine colours one node per step, ignoring labels and directions of edges. Round 0 is the
// start; nodes follow in the order of the graphs. It returns an error for more than 500 nodes
// over all graphs and rounds.
func Refine(ctx context.Context, graphs []dataset.Graph, settings RefinementSettings) (*trace.Replay[Refinement], error) {
	h := settings.Rounds
	if h < 0 || h > 10 {
		return nil, param.Refuse("use 0 to 10", "%d rounds", h)
	}
	s := Refinement{Graph: -1, Node: -1, Colours: make([][][]int, len(graphs))}
	steps := 0
	neighbours := make([][][]int, len(graphs))
	for g, graph := range graphs {
		steps += h * graph.N
		plain, err := dataset.NewGraph(graph.N, graph.Edges, graph.Labels) // undirected: each neighbour once
		if err != nil {
			return nil, err
		}
		neighbours[g] = plain.Neighbours()
		s.Colours[g] = lists.Make(h+1, func(r int) []int { return slices.Repeat([]int{-1}, graph.N) })
		for v := range graph.N {
			s.Colours[g][0][v], _ = s.look(Signature{Label: graph.Label(v), Own: -1})
		}
	}
	if steps > maxRefined {
		return nil, param.Refuse("use fewer rounds or smaller graphs", "%d nodes to colour exceed the limit of %d in a replay", steps, maxRefined)
	}
	return trace.Record(ctx, steps, func(yield func(Refinement) bool) trace.Status {
		if !yield(s) {
			return trace.IterationLimit
		}
		for r := 1; r <= h; r++ {
			for g := range graphs {
				for v := range neighbours[g] {
					s.colour(r, g, v, neighbours[g][v], settings.OwnAmongNear)
					if !yield(s) {
						return trace.IterationLimit
					}
				}
			}
		}
		return trace.Converged
	}), nil
}

// colour sets the colour of node v of graph g in round r, without changing earlier states.
func (s *Refinement) colour(r, g, v int, near []int, ownAmongNear bool) {
	before := s.Colours[g][r-1]
	signature := Signature{Round: r, Own: before[v]}
	signature.Near = lists.Map(near, func(u int) int { return before[u] })
	if ownAmongNear {
		signature.Own, signature.Near = -1, append(signature.Near, before[v])
	}
	slices.Sort(signature.Near)
	s.Round, s.Graph, s.Node = r, g, v
	s.Colours = slices.Clone(s.Colours)
	s.Colours[g] = slices.Clone(s.Colours[g])
	s.Colours[g][r] = slices.Clone(s.Colours[g][r])
	s.Colours[g][r][v], s.Known = s.look(signature)
}

// look finds a signature in the dictionary or adds it.
func (s *Refinement) look(x Signature) (colour int, known bool) {
	colour = slices.IndexFunc(s.Dictionary, func(y Signature) bool {
		return x.Round == y.Round && x.Label == y.Label && x.Own == y.Own && slices.Equal(x.Near, y.Near)
	})
	if colour >= 0 {
		return colour, true
	}
	s.Dictionary = append(s.Dictionary, x) // the dictionaries of earlier states are prefixes
	return len(s.Dictionary) - 1, false
}

// Counts returns the number of nodes of a graph with each colour of the dictionary, over all
// rounds: the features of the Weisfeiler-Lehman kernel, as far as nodes are coloured.
func (s Refinement) Counts(graph int) []float64 {
	counts := make([]float64, len(s.Dictionary))
	for _, round := range s.Colours[graph] {
		for _, c := range round {
			if c >= 0 {
				counts[c]++
			}
		}
	}
	return counts
}
