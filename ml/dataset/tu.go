package dataset

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The file names of a set in TU Dortmund's text format are its name followed by these endings.
// The files list the pairs of joined nodes, the graph of each node, the label of each graph and,
// if any, the labels of nodes and pairs. Nodes and graphs are counted from 1 over the whole set.
// A pair is an entry of the adjacency matrix: an undirected edge is listed in both directions,
// though some sets list it once. See https://chrsmrrs.github.io/datasets/docs/format/.
const (
	tuEdges      = "_A.txt"
	tuGraphs     = "_graph_indicator.txt"
	tuLabels     = "_graph_labels.txt"
	tuNodeLabels = "_node_labels.txt"
	tuEdgeLabels = "_edge_labels.txt"
)

// tuMembers returns the files that describe the graphs of a set, by their endings, or nil if
// the members are not such a set.
func tuMembers(members []member) []member {
	for _, m := range members {
		if set, ok := strings.CutSuffix(m.name, tuEdges); ok {
			return slices.DeleteFunc(slices.Clone(members), func(m member) bool {
				end, own := strings.CutPrefix(m.name, set)
				return !own || !slices.Contains([]string{tuEdges, tuGraphs, tuLabels, tuNodeLabels, tuEdgeLabels}, end)
			})
		}
	}
	return nil
}

// parseTU reads a set in TU Dortmund's format from the members that tuMembers found. If edges
// have labels, there is a column of graphs with them and one without. If an edge is not listed
// in both directions with the same label, edges may be directed or just not repeated: then
// there are columns of directed graphs as well, and the user chooses.
func parseTU(members []member, file string, lim Limits) (*Table, error) {
	if fault := readMembers(members, file, lim); fault != nil {
		return nil, fault
	}
	find := func(end string) *tuFile {
		for _, m := range members {
			if strings.HasSuffix(m.name, end) {
				return &tuFile{name: inside(file, m.name), rest: m.text}
			}
		}
		return nil
	}
	for _, end := range []string{tuGraphs, tuLabels} {
		if find(end) == nil {
			return nil, &Error{File: file, Message: fmt.Sprintf("expected %s next to %s, as in a TU Dortmund set, found none", quote("*"+end), quote(path.Base(members[0].name)))}
		}
	}
	labels := find(tuLabels)
	t := &Table{File: labels.name, Format: "tu", Header: true, Kind: KindGraphs}
	var classes []string
	for labels.next() {
		if len(classes) == lim.Rows {
			labels.fault("expected at most %s", Count(lim.Rows, "graph")).tooLarge()
		}
		t.Lines, classes = append(t.Lines, labels.line), append(classes, labels.text)
	}
	if len(classes) == 0 {
		labels.fault("expected the label of at least one graph, found none")
	}

	graphs := make([]Graph, len(classes))
	var of, place []int32 // for each node, its graph and its number there
	indicator := find(tuGraphs)
	for indicator.next() {
		g := indicator.number(indicator.text, "graph", len(graphs))
		if len(of) == mostAllNodes {
			indicator.fault("expected at most %d nodes in all graphs", mostAllNodes).tooLarge()
		}
		if indicator.err != nil {
			break
		}
		of, place = append(of, int32(g)), append(place, int32(graphs[g].N))
		graphs[g].N++
	}
	var owner []int32 // for each edge, its graph
	edges := find(tuEdges)
	for edges.next() {
		first, second, ok := strings.Cut(edges.text, ",")
		if !ok {
			edges.fault("expected two nodes, as in 1, 2, found %s", quote(edges.text))
		}
		a, b := edges.number(first, "node", len(of)), edges.number(second, "node", len(of))
		switch {
		case edges.err != nil:
		case a == b:
			edges.fault("this edge joins node %d to itself: remove it, because the kernels compare graphs without loops", a+1)
		case of[a] != of[b]:
			edges.fault("expected two nodes of one graph, found one of graph %d and one of graph %d", of[a]+1, of[b]+1)
		default:
			g := &graphs[of[a]]
			g.Edges, owner = append(g.Edges, [2]int{int(place[a]), int(place[b])}), append(owner, of[a])
		}
	}
	if fault := cmp.Or(labels.err, indicator.err, edges.err,
		find(tuNodeLabels).labels("node", of, func(g int32, label string) { graphs[g].Labels = append(graphs[g].Labels, label) }),
		find(tuEdgeLabels).labels("edge", owner, func(g int32, label string) { graphs[g].EdgeLabels = append(graphs[g].EdgeLabels, label) })); fault != nil {
		return nil, fault
	}
	// add adds the column of the graphs with or without directions and labels. Only the column of
	// undirected graphs without labels is required.
	left := unfolded * lim.Bytes
	var err error
	add := func(directed, labelled bool) {
		if err != nil {
			return
		}
		name := edgesName(directed, labelled)
		var c Column
		c, err = graphsColumn(name, len(graphs), &left, func(i int) (Graph, error) {
			g := graphs[i]
			if g.Directed = directed; !labelled {
				g.EdgeLabels = nil
			}
			return g.Canonical()
		})
		switch {
		case err == nil:
			t.Columns = append(t.Columns, c)
			t.graphs++
		case errors.Is(err, errTwoLabels), t.graphs > 0 && errors.Is(err, errUnfolded):
			t.Notes = append(t.Notes, fmt.Sprintf("no column %s: %s", quote(name), err))
			err = nil
		}
	}
	add(false, false)
	labelled := slices.ContainsFunc(graphs, func(g Graph) bool { return g.EdgeLabels != nil })
	if labelled {
		add(false, true)
		slices.Reverse(t.Columns) // the labelled column, if any, comes first
	}
	t.asks = slices.ContainsFunc(graphs, oneWay) || labelled && t.graphs == 1
	if t.asks && labelled {
		add(true, true)
	}
	if t.asks {
		add(true, false)
	}
	if err != nil {
		fault := &Error{File: indicator.name, Message: err.Error()}
		if errors.Is(err, ErrTooLarge) {
			fault.Err = ErrTooLarge
		}
		return nil, fault
	}
	t.Columns = append(t.Columns, column(labelName, classes))
	t.weigh()
	return t, nil
}

// edgesName returns the name of a column of graphs by the attributes of their edges.
func edgesName(directed, labelled bool) string {
	name := graphName
	if directed {
		name = "directed " + name
	}
	if labelled {
		name += " with edge labels"
	}
	return name
}

// oneWay reports whether some edge of g, as listed in the file, is missing its reverse.
func oneWay(g Graph) bool {
	g.Directed, g.EdgeLabels = true, nil
	g, _ = g.Canonical()
	return slices.ContainsFunc(g.Edges, func(e [2]int) bool {
		_, found := slices.BinarySearchFunc(g.Edges, [2]int{e[1], e[0]}, compareEdges)
		return !found
	})
}

// labels reads a label for each node or edge and adds it to the graph given for it in of.
// If f is nil, it adds none.
func (f *tuFile) labels(what string, of []int32, add func(g int32, label string)) *Error {
	if f == nil {
		return nil
	}
	k := 0
	for ; f.next(); k++ {
		label := tidy(f.text)
		if k == len(of) {
			f.fault("expected a label for each of %s, found more", Count(len(of), what))
		} else if err := checkText("label", label); err != nil {
			f.fault("%s", err)
		} else {
			add(of[k], label)
		}
	}
	if k < len(of) {
		f.fault("expected a label for each of %s, found %d", Count(len(of), what), k)
	}
	return f.err
}

// tuFile reads a file line by line, up to its first fault.
type tuFile struct {
	name, rest string
	text       string // of the line, without surrounding spaces
	line       int
	err        *Error
}

// next advances to the next nonempty line.
func (f *tuFile) next() bool {
	for f.err == nil && f.rest != "" {
		f.text, f.rest = cutLine(f.rest)
		f.line++
		if f.text = strings.TrimSpace(f.text); f.text != "" {
			return true
		}
	}
	return false
}

func (f *tuFile) fault(format string, args ...any) *Error {
	e := &Error{File: f.name, Line: f.line, Message: fmt.Sprintf(format, args...)}
	f.err = cmp.Or(f.err, e)
	return e
}

// number reads a number from 1 to most and returns it counted from 0.
func (f *tuFile) number(text, what string, most int) int {
	text = strings.TrimSpace(text)
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > most {
		f.fault("expected the number of a %s, 1 to %d, found %s", what, most, quote(text))
	}
	return v - 1
}
