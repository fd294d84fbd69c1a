package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"marginlab/ml/lists"
)

// Graph is a graph with optional labels of nodes and edges: a molecule, a road map. Edges join
// different nodes, at most once in an undirected graph and at most once in each direction in a
// directed one.
type Graph struct {
	N          int      `json:"n"` // number of nodes, at least one; they are numbered 0 … N-1
	Directed   bool     `json:"directed,omitempty"`
	Edges      [][2]int `json:"edges"`                 // in ascending order; undirected ones begin with the smaller node, directed ones with their source
	EdgeLabels []string `json:"edge_labels,omitempty"` // one per edge, or nil
	Labels     []string `json:"labels,omitempty"`      // one per node, or nil
}

// Limits on the number of nodes.
const (
	MostNodes    = 10_000    // of one graph
	mostAllNodes = 5_000_000 // of all graphs of a data set
)

// NewGraph returns the undirected graph with these edges and node labels in canonical form.
func NewGraph(n int, edges [][2]int, labels []string) (Graph, error) {
	return Graph{N: n, Edges: edges, Labels: labels}.Canonical()
}

// Canonical returns the canonical form of a graph whose edges may be in any order, repeated and,
// if undirected, in any direction. Lists of labels may be empty. It returns an error for a graph
// without nodes or with more than MostNodes, an edge to a missing node or from a node to itself,
// an edge with two labels, a wrong number of labels, and labels that are not one line of text.
func (g Graph) Canonical() (Graph, error) {
	if g.Labels = slices.Clone(g.Labels); len(g.Labels) == 0 {
		g.Labels = nil
	}
	labelled := len(g.EdgeLabels) > 0
	if labelled && len(g.EdgeLabels) != len(g.Edges) {
		return g, g.validate()
	}
	g.Edges = append([][2]int{}, g.Edges...)
	for k, e := range g.Edges {
		if !g.Directed {
			g.Edges[k] = [2]int{min(e[0], e[1]), max(e[0], e[1])}
		}
	}
	if !labelled {
		slices.SortFunc(g.Edges, compareEdges)
		g.Edges, g.EdgeLabels = slices.Compact(g.Edges), nil
		return g, g.validate()
	}
	type edge struct {
		ends  [2]int
		label string
	}
	edges := lists.Make(len(g.Edges), func(k int) edge { return edge{g.Edges[k], g.EdgeLabels[k]} })
	slices.SortFunc(edges, func(a, b edge) int {
		return cmp.Or(compareEdges(a.ends, b.ends), cmp.Compare(a.label, b.label))
	})
	edges = slices.Compact(edges)
	g.Edges, g.EdgeLabels = g.Edges[:len(edges)], make([]string, len(edges))
	for k, e := range edges {
		g.Edges[k], g.EdgeLabels[k] = e.ends, e.label
	}
	return g, g.validate()
}

var errTwoLabels = errors.New("keep one of them, or combine them")

func compareEdges(a, b [2]int) int { return slices.Compare(a[:], b[:]) }

// validate returns an error if g breaks the rules stated at the fields of Graph.
func (g Graph) validate() error {
	switch {
	case g.N < 1:
		return fmt.Errorf("expected a graph with at least one node, found n = %d", g.N)
	case g.N > MostNodes:
		return fmt.Errorf("expected a graph with at most %d nodes, found n = %d", MostNodes, g.N)
	case g.Labels != nil && len(g.Labels) != g.N:
		return fmt.Errorf("expected a label for each of %s, found %s", Count(g.N, "node"), Count(len(g.Labels), "label"))
	case g.EdgeLabels != nil && len(g.EdgeLabels) != len(g.Edges):
		return fmt.Errorf("edge_labels: expected a label for each of %s, found %s", Count(len(g.Edges), "edge"), Count(len(g.EdgeLabels), "label"))
	}
	for k, e := range g.Edges {
		for _, v := range e {
			if v < 0 || v >= g.N {
				return fmt.Errorf("edge [%d,%d]: no node %d: the nodes of this graph are 0 to %d", e[0], e[1], v, g.N-1)
			}
		}
		switch {
		case e[0] == e[1]:
			return fmt.Errorf("edge [%d,%d] joins a node to itself: remove it, because the kernels compare graphs without loops", e[0], e[1])
		case k > 0 && g.EdgeLabels != nil && g.Edges[k-1] == e && g.EdgeLabels[k-1] != g.EdgeLabels[k]:
			return fmt.Errorf("edge [%d,%d] has the labels %s and %s: %w", e[0], e[1], quote(g.EdgeLabels[k-1]), quote(g.EdgeLabels[k]), errTwoLabels)
		case e[0] > e[1] && !g.Directed:
			return fmt.Errorf("edge [%d,%d]: expected the smaller node first, because the graph is undirected", e[0], e[1])
		case k > 0 && compareEdges(g.Edges[k-1], e) >= 0:
			return fmt.Errorf("edge [%d,%d]: expected each edge once, in ascending order", e[0], e[1])
		}
	}
	for k, l := range g.EdgeLabels {
		if err := checkText("label", l); err != nil {
			return fmt.Errorf("edge [%d,%d]: %w", g.Edges[k][0], g.Edges[k][1], err)
		}
	}
	for v, l := range g.Labels {
		if err := checkText("label", l); err != nil {
			return fmt.Errorf("node %d: %w", v, err)
		}
	}
	return nil
}

// Label returns the label of node v, "" if there are none.
func (g Graph) Label(v int) string {
	if g.Labels == nil {
		return ""
	}
	return g.Labels[v]
}

// EdgeLabel returns the label of edge k, "" if there are none.
func (g Graph) EdgeLabel(k int) string {
	if g.EdgeLabels == nil {
		return ""
	}
	return g.EdgeLabels[k]
}

// Step leads from a node along an edge, given by its index in Edges, to another node.
type Step struct{ Node, Edge int32 }

// Steps lists, for each node, the steps along the edges that leave it and those against the edges
// that enter it; in an undirected graph all are along. They are sorted by the node that they lead
// to.
func (g Graph) Steps() (along, against [][]Step) {
	if !g.Directed {
		return g.steps(true, true), make([][]Step, g.N)
	}
	return g.steps(true, false), g.steps(false, true)
}

func (g Graph) steps(along, against bool) [][]Step {
	degree := make([]int, g.N)
	total := 0
	for _, e := range g.Edges {
		if along {
			degree[e[0]]++
			total++
		}
		if against {
			degree[e[1]]++
			total++
		}
	}
	all := make([]Step, total)
	lists := make([][]Step, g.N)
	for v, d := range degree {
		lists[v], all = all[:0:d], all[d:]
	}
	if against { // first: in an undirected graph these lead to smaller nodes
		for k, e := range g.Edges {
			lists[e[1]] = append(lists[e[1]], Step{int32(e[0]), int32(k)})
		}
	}
	if along {
		for k, e := range g.Edges {
			lists[e[0]] = append(lists[e[0]], Step{int32(e[1]), int32(k)})
		}
	}
	return lists
}

// Neighbours lists the neighbours of each node in either direction; one joined in both directions
// occurs twice.
func (g Graph) Neighbours() [][]int {
	return lists.Map(g.steps(true, true), func(near []Step) []int {
		return lists.Map(near, func(s Step) int { return int(s.Node) })
	})
}

// String returns the graph as JSON, {"n":3,"edges":[[0,1],[1,2]],"labels":["C","C","O"]}, with
// "directed":true and "edge_labels":["1","2"] if applicable.
func (g Graph) String() string {
	if g.Edges == nil {
		g.Edges = [][2]int{}
	}
	text, _ := json.Marshal(g) // numbers and texts
	return string(text)
}

// Graphs are objects that a kernel compares by their structure.
type Graphs struct {
	Name   string // of their column
	Values []Graph
}

// graphName is the default name of a column of graphs.
const graphName = "graph"

// Kind returns KindGraphs.
func (s *Graphs) Kind() Kind { return KindGraphs }

// Len returns the number of graphs.
func (s *Graphs) Len() int { return len(s.Values) }

// Subset returns some of the graphs.
func (s *Graphs) Subset(rows []int) Objects {
	return &Graphs{s.Name, lists.At(s.Values, rows)}
}

// Text returns the graph as JSON.
func (s *Graphs) Text(i int) string { return s.Values[i].String() }

// Keep is Subset: the kernel needs nothing but the graphs.
func (s *Graphs) Keep(rows []int) Objects { return s.Subset(rows) }

// Validate returns an error for the first graph that breaks the rules of Graph, or for too many
// nodes in all graphs.
func (s *Graphs) Validate() error {
	if len(s.Values) == 0 {
		return errors.New("data without graphs: expected at least one")
	}
	var all graphAdder
	for i, g := range s.Values {
		if err := all.add(g); err != nil {
			return fmt.Errorf("row %d, %s: %w", i+1, s.Name, err)
		}
	}
	return nil
}

// graphAdder checks graphs one by one and counts their nodes.
type graphAdder struct{ nodes int }

func (a *graphAdder) add(g Graph) error {
	if err := g.validate(); err != nil {
		return err
	}
	if a.nodes += g.N; a.nodes > mostAllNodes {
		return fmt.Errorf("expected at most %d nodes in all graphs", mostAllNodes)
	}
	return nil
}

func (s *Graphs) kept() (Shape, Kept) {
	return Shape{Objects: KindGraphs, Column: s.Name}, Kept{Graphs: s.Values}
}

func restoreGraphs(s Shape, k Kept) (Objects, error) {
	var all graphAdder
	for i, g := range k.Graphs {
		if err := all.add(g); err != nil {
			return nil, fmt.Errorf("graphs: number %d: %w", i+1, err)
		}
	}
	return &Graphs{Name: s.Column, Values: k.Graphs}, nil
}

func (s *Graphs) header() []string { return []string{s.Name} }

func (s *Graphs) appendCells(dst []byte, i int, field func(string) string) []byte {
	return append(append(dst, field(s.Text(i))...), ',')
}

// errUnfolded is returned for graphs whose written form is too large.
var errUnfolded error = &Error{Message: fmt.Sprintf("expected graphs that take at most %d times the size of the file when written with their labels", unfolded), Err: ErrTooLarge}

// graphsColumn writes n graphs into a column and subtracts their bytes from left. It returns
// errUnfolded when none are left.
func graphsColumn(name string, n int, left *int64, graph func(i int) (Graph, error)) (Column, error) {
	c := Column{Name: name}
	for i := range n {
		g, err := graph(i)
		if err != nil {
			return c, fmt.Errorf("graph %d: %w", i+1, err)
		}
		s := g.String()
		if *left -= int64(len(s)); *left <= 0 {
			return c, errUnfolded
		}
		c.add(s)
	}
	return c, nil
}

type graphsDecoder struct {
	Graphs
	all graphAdder
}

func decodeGraphs(header []string) (decoder, error) {
	if len(header) != 1 {
		return nil, errors.New("expected a column of graphs and a label")
	}
	return &graphsDecoder{Graphs: Graphs{Name: header[0]}}, nil
}

func (d *graphsDecoder) add(cells []string) (wrong int, err error) {
	g, class, err := parseGraph(cells[0])
	switch {
	case err != nil:
	case class.name != "":
		err = fmt.Errorf("expected the label in its own column, found %s in the graph", class.name)
	default:
		err = d.all.add(g)
	}
	d.Values = append(d.Values, g)
	return 0, err
}

func (d *graphsDecoder) objects() Objects { return &d.Graphs }

// guessGraphsLabel is guessLabel for a table of graphs, among the columns after the graphs; j is -1
// if there are none.
func (t *Table) guessGraphsLabel() (j int, sure bool) {
	last := len(t.Columns) - 1
	if last < t.graphs {
		return -1, false
	}
	if j, sure := t.labelByName(t.graphs); j >= 0 {
		return j, sure
	}
	return last, last == t.graphs
}

// GraphColumns returns the names of the columns that hold graphs. All hold the same graphs, with
// different attributes of nodes or edges as labels; the first is the default.
func (t *Table) GraphColumns() []string { return t.names()[:t.graphs] }

// readGraphs reads the graphs of the named column, or of the first if named is empty.
func (t *Table) readGraphs(named []string) (*Graphs, error) {
	j := 0
	switch {
	case t.Kind != KindGraphs:
		return nil, t.fault(-1, -1, `expected graphs: JSON lines as {"n":3,"edges":[[0,1],[1,2]],"label":"a"}, GraphML, or the folder or zip archive of a TU Dortmund set`)
	case len(named) > 1:
		return nil, t.fault(-1, -1, "expected one column of graphs, found %s", list(named))
	case len(named) == 1:
		if j = slices.Index(t.GraphColumns(), named[0]); j < 0 {
			return nil, t.fault(-1, -1, "no column of graphs called %s: expected one of %s", quote(named[0]), list(t.GraphColumns()))
		}
	}
	d := graphsDecoder{Graphs: Graphs{Name: t.Columns[j].Name, Values: make([]Graph, 0, len(t.Lines))}}
	for i, cell := range t.Columns[j].all() {
		if _, err := d.add([]string{cell}); err != nil {
			return nil, t.fault(i, j, "%s", err)
		}
	}
	return &d.Graphs, nil
}

// graphRows reads graphs to predict from the column named as in training, or from the only one. If
// that name is the default one, a column named after the kind of its edges goes first. If no column
// has the expected label name, guessGraphsLabel chooses one.
func (t *Table) graphRows(like *Graphs, expected string) (g *Graphs, label string, err error) {
	names, could := []string{like.Name}, t.GraphColumns()
	if like.Name == graphName {
		directed, labelled := slices.ContainsFunc(like.Values, func(g Graph) bool { return g.Directed }), slices.ContainsFunc(like.Values, func(g Graph) bool { return g.EdgeLabels != nil })
		names = []string{edgesName(directed, labelled)}
		if !labelled || len(could) == 1 { // of several columns, the plain one has no edge labels
			names = append(names, graphName)
		}
	}
	var named []string
	if k := slices.IndexFunc(names, func(name string) bool { return slices.Contains(could, name) }); k >= 0 {
		named = names[k : k+1]
	} else if len(could) > 1 {
		return nil, "", t.fault(-1, -1, "expected a column of graphs called %s, as in the training data, found %s", quote(names[0]), list(could))
	}
	at := t.Place(expected)
	if at < t.graphs {
		at, _ = t.guessGraphsLabel()
	}
	if at >= 0 {
		label = t.Columns[at].Name
	}
	g, err = t.readGraphs(named)
	return g, label, err
}

// ReadGraphs reads graphs, with or without labels, in any format of graphs that ParseTable
// supports. It returns the errors of ParseTable.
func ReadGraphs(r io.Reader, file string, lim Limits) (*Graphs, error) {
	t, err := ParseTable(r, file, lim)
	if err != nil {
		return nil, err
	}
	return t.readGraphs(nil)
}
