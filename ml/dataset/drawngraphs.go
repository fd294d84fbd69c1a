package dataset

import (
	"math/rand/v2"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// graphGenerators generate graphs of two alternating classes.
var graphGenerators = []Generator{
	{
		Name: "cycles", Label: "Cycles against trees", Kind: KindGraphs,
		Help:   "Trees have no cycle; graphs of the other class have one, a ring with branches.",
		Params: graphParams("14", "0.05", "Probability that a ring is opened, or that a tree gets one edge more."),
		draw:   graphsOf("tree", "cycle", drawCycle),
	},
	{
		Name: "rings", Label: "Chains of rings", Kind: KindGraphs,
		Help:   "Rings in a row, joined by edges; the class is the number of nodes in a ring, five or six.",
		Params: graphParams("24", "0.1", "Probability that a ring has the size of the other class."),
		draw:   graphsOf("5", "6", drawRings),
	},
	{
		Name: "molecules", Label: "Molecules", Kind: KindGraphs,
		Help:   "Atoms C, N and O with as many bonds as they can have; one group of atoms decides the class: C with two O, or with O and N.",
		Params: graphParams("14", "0.05", "Probability that the group belongs to the other class."),
		draw:   graphsOf("acid", "amide", drawMolecule),
	},
}

func graphParams(nodes, noise, noiseHelp string) []param.Param {
	return []param.Param{
		{
			Name: "n", Label: "graphs", Symbol: "n", Kind: param.Integer, Default: "100",
			Min: 2, Max: 10_000, Low: 10, High: 1000, Log: true,
			Help: "Number of graphs, split evenly between classes.",
		},
		{
			Name: "nodes", Label: "nodes", Kind: param.Integer, Default: nodes,
			Min: 8, Max: 200, Low: 8, High: 60, Log: true, Folded: true,
			Help: "Approximate number of nodes in a graph: up to a quarter fewer or more.",
		},
		{
			Name: "noise", Label: "noise", Kind: param.Number, Default: noise,
			Min: 0, Max: 1, Low: 0, High: 0.5,
			Help: noiseHelp + " At 0.5 the classes are the same; above, they swap.",
		},
		folded(seedParam),
	}
}

// sketch is a graph being built.
type sketch struct {
	Graph
	degree []int
}

func (s *sketch) node(label string) int {
	s.N++
	s.degree = append(s.degree, 0)
	if label != "" {
		s.Labels = append(s.Labels, label)
	}
	return s.N - 1
}

func (s *sketch) join(u, v int) {
	s.Edges = append(s.Edges, [2]int{u, v})
	s.degree[u]++
	s.degree[v]++
}

// ring adds a ring of n nodes and returns the first.
func (s *sketch) ring(n int, label string) int {
	first := s.node(label)
	for v := first + 1; v < first+n; v++ {
		s.join(v-1, s.node(label))
	}
	s.join(first+n-1, first)
	return first
}

// graphsOf returns a generator of graphs of two classes. make draws a graph with the given number
// of nodes, of the second class if second is set; other reports whether noise reverses a choice.
func graphsOf(first, second string, make func(rng *rand.Rand, nodes int, second bool, other func() bool) *sketch) func(param.Values) (*Data, error) {
	return func(values param.Values) (*Data, error) {
		rng := random(values)
		s := &Graphs{Name: graphName}
		d := &Data{Objects: s, Label: labelName}
		var labels []string
		for i := range values.Int("n") {
			nodes := values.Int("nodes")
			nodes += rng.IntN(2*(nodes/4)+1) - nodes/4
			drawn := make(rng, nodes, i%2 == 1, func() bool { return rng.Float64() < values.Number("noise") })
			g, err := NewGraph(drawn.N, drawn.Edges, drawn.Labels)
			if err != nil {
				return nil, err
			}
			s.Values, labels = append(s.Values, g), append(labels, []string{first, second}[i%2])
		}
		d.setLabels(labels)
		return d, nil
	}
}

// drawCycle grows a tree from a path of a few nodes; for a cycle it joins the ends of the path.
func drawCycle(rng *rand.Rand, nodes int, cycle bool, other func() bool) *sketch {
	s := &sketch{}
	path := 3 + rng.IntN(min(nodes, 8)-2)
	for v := range nodes {
		from := v - 1
		if v >= path {
			from = rng.IntN(v)
		}
		if s.node(""); v > 0 {
			s.join(from, v)
		}
	}
	if cycle != other() {
		s.join(0, path-1)
	}
	return s
}

// drawRings joins each ring to a node of the previous one.
func drawRings(rng *rand.Rand, nodes int, six bool, other func() bool) *sketch {
	s := &sketch{}
	before, size := -1, 0
	for range max(1, (nodes+2)/5) {
		from := before + rng.IntN(max(size, 1))
		if size = 5; six != other() {
			size = 6
		}
		first := s.ring(size, "")
		if before >= 0 {
			s.join(from, first)
		}
		before = first
	}
	return s
}

// bonds maps atoms to their maximum number of bonds.
var bonds = map[string]int{"C": 4, "N": 3, "O": 2}

// drawMolecule grows a molecule atom by atom, starting half of the time from a ring of six carbons,
// and joins the group of the class to it.
func drawMolecule(rng *rand.Rand, nodes int, amide bool, other func() bool) *sketch {
	s := &sketch{}
	if rng.IntN(2) == 0 {
		s.ring(6, "C")
	} else {
		s.node("C")
	}
	// free returns an atom with a bond to spare; there always is one, as every atom allows at least two.
	free := func() int {
		list := lists.Where(s.N, func(v int) bool { return s.degree[v] < bonds[s.Labels[v]] })
		return list[rng.IntN(len(list))]
	}
	const group = 3
	for s.N < nodes-group {
		s.join(free(), s.node([]string{"C", "C", "C", "C", "N", "O"}[rng.IntN(6)]))
	}
	second := "O"
	if amide != other() {
		second = "N"
	}
	at := free()
	carbon := s.node("C")
	s.join(at, carbon)
	s.join(carbon, s.node("O"))
	s.join(carbon, s.node(second))
	return s
}
