package dataset

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// The files of a set in the text format of TU Dortmund begin with its name and end so:
// pairs of joined nodes, the graph of each node, the label of each graph, and, where there
// are any, the labels of the nodes. Nodes and graphs are counted from 1 on, over the whole
// set. See https://chrsmrrs.github.io/datasets/docs/format/.
const (
	tuEdges      = "_A.txt"
	tuGraphs     = "_graph_indicator.txt"
	tuLabels     = "_graph_labels.txt"
	tuNodeLabels = "_node_labels.txt"
)

// tuMembers are those files of a set that tell of its graphs, by their ends; nil where the
// members are none.
func tuMembers(members []member) []member {
	for _, m := range members {
		if set, ok := strings.CutSuffix(m.name, tuEdges); ok {
			return slices.DeleteFunc(slices.Clone(members), func(m member) bool {
				end, own := strings.CutPrefix(m.name, set)
				return !own || !slices.Contains([]string{tuEdges, tuGraphs, tuLabels, tuNodeLabels}, end)
			})
		}
	}
	return nil
}

// parseTU reads a set in the format of TU Dortmund from the members that tuMembers found.
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
			return nil, &Error{File: file, Message: fmt.Sprintf("expected %s beside %s, as sets of TU Dortmund have it, found none", quote("*"+end), quote(path.Base(members[0].name)))}
		}
	}
	labels := find(tuLabels)
	t := &Table{File: labels.name, Format: "tu", Header: true, Kind: KindGraphs, graphs: 1}
	var classes []string
	for labels.next() {
		if len(classes) == lim.Rows {
			return nil, labels.fault("expected at most %s", Count(lim.Rows, "graph")).tooLarge()
		}
		t.Lines, classes = append(t.Lines, labels.line), append(classes, labels.text)
	}
	if len(classes) == 0 {
		return nil, labels.fault("expected the label of at least one graph, found none")
	}

	graphs := make([]Graph, len(classes))
	var of, place []int // of each node, the graph and its number there
	indicator := find(tuGraphs)
	for indicator.next() {
		g, fault := indicator.number(indicator.text, "graph", len(graphs))
		if fault != nil {
			return nil, fault
		}
		if len(of) == mostAllNodes {
			return nil, indicator.fault("expected at most %d nodes in all graphs together", mostAllNodes).tooLarge()
		}
		of, place = append(of, g), append(place, graphs[g].N)
		graphs[g].N++
	}
	edges := find(tuEdges)
	for edges.next() {
		first, second, ok := strings.Cut(edges.text, ",")
		if !ok {
			return nil, edges.fault("expected two nodes, as in 1, 2, found %s", quote(edges.text))
		}
		a, fault := edges.number(first, "node", len(of))
		if fault != nil {
			return nil, fault
		}
		b, fault := edges.number(second, "node", len(of))
		switch {
		case fault != nil:
			return nil, fault
		case a == b:
			return nil, edges.fault("this edge joins node %d to itself: remove it, for the kernels compare graphs without loops", a+1)
		case of[a] != of[b]:
			return nil, edges.fault("expected two nodes of one graph, found one of graph %d and one of graph %d", of[a]+1, of[b]+1)
		}
		g := &graphs[of[a]]
		g.Edges = append(g.Edges, [2]int{place[a], place[b]})
	}
	if names := find(tuNodeLabels); names != nil {
		v := 0
		for names.next() {
			if v == len(of) {
				return nil, names.fault("expected a label for each of %s, found more", Count(len(of), "node"))
			}
			label := tidy(names.text)
			if err := checkText("label", label); err != nil {
				return nil, names.fault("%s", err)
			}
			g := &graphs[of[v]]
			g.Labels = append(g.Labels, label)
			v++
		}
		if v < len(of) {
			return nil, names.fault("expected a label for each of %s, found %d", Count(len(of), "node"), v)
		}
	}
	cells := make([]string, len(graphs))
	for i, g := range graphs {
		g, err := NewGraph(g.N, g.Edges, g.Labels)
		if err != nil {
			return nil, &Error{File: indicator.name, Message: fmt.Sprintf("graph %d: %s", i+1, err)}
		}
		cells[i] = g.String()
	}
	t.Columns = []Column{column(graphName, cells), column(labelName, classes)}
	t.weigh()
	return t, nil
}

// tuFile is read line by line.
type tuFile struct {
	name, rest string
	text       string // of the line, without spaces around it
	line       int
}

// next goes to the next line that says something.
func (f *tuFile) next() bool {
	for f.rest != "" {
		f.text, f.rest = cutLine(f.rest)
		f.line++
		if f.text = strings.TrimSpace(f.text); f.text != "" {
			return true
		}
	}
	return false
}

func (f *tuFile) fault(format string, args ...any) *Error {
	return &Error{File: f.name, Line: f.line, Message: fmt.Sprintf(format, args...)}
}

// tooLarge is the fault as one beyond the limits.
func (e *Error) tooLarge() *Error {
	e.Err = ErrTooLarge
	return e
}

// number reads one of the numbers 1 to most and returns it counted from 0 on.
func (f *tuFile) number(text, what string, most int) (int, *Error) {
	text = strings.TrimSpace(text)
	v, err := strconv.Atoi(text)
	if err != nil || v < 1 || v > most {
		return 0, f.fault("expected the number of a %s, 1 to %d, found %s", what, most, quote(text))
	}
	return v - 1, nil
}
