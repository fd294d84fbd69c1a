package dataset

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

// setOf is a zipped set of graphs as TU Dortmund writes it, without files that are replaced by "".
func setOf(t testing.TB, changes map[string]string) string {
	files := map[string]string{
		"DS/DS_A.txt":               "1, 2\n2, 1\n2, 3\n3, 2\n\n5,4\r\n4,5\n",
		"DS/DS_graph_indicator.txt": "1\n1\n1\n2\n2\n",
		"DS/DS_graph_labels.txt":    "1\n-1\n",
		"DS/DS_node_labels.txt":     "6\n6\n8\n6\n7\n",
		"DS/DS_edge_labels.txt":     "0\n0\n2\n2\n1\n1\n",
		"DS/README.txt":             "a set",
	}
	maps.Copy(files, changes)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] != "" {
			list = append(list, name, files[name])
		}
	}
	return require.Zip(t, list...)
}

func TestReadTU(t *testing.T) {
	t.Parallel()
	plain := []Graph{
		{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}, Labels: []string{"6", "6", "8"}},
		{N: 2, Edges: [][2]int{{0, 1}}, Labels: []string{"6", "7"}},
	}
	labelled := slices.Clone(plain)
	labelled[0].EdgeLabels, labelled[1].EdgeLabels = []string{"0", "2"}, []string{"1"}
	turned := []Graph{ // with the edges as the test lists them
		{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {2, 1}}, EdgeLabels: []string{"0", "2"}, Labels: plain[0].Labels},
		{N: 2, Directed: true, Edges: [][2]int{{0, 1}}, EdgeLabels: []string{"1"}, Labels: plain[1].Labels},
	}
	oneWay := map[string]string{"DS/DS_A.txt": "1,2\n3,2\n4,5", "DS/DS_edge_labels.txt": "0\n2\n1"}
	with, directed := "graph with edge labels", "directed graph with edge labels"
	for name, c := range map[string]struct {
		changes map[string]string
		columns []string // of graphs: where there are directed ones people are asked; those with labels of edges that are left out are in the notes
		choice  string
		want    []Graph
	}{
		"whole":          {nil, []string{with, "graph"}, "", labelled},
		"without labels": {map[string]string{"DS/DS_edge_labels.txt": ""}, []string{"graph"}, "", plain},
		"passed over":    {nil, []string{with, "graph"}, "graph", plain},
		"one way":        {oneWay, []string{with, "graph", directed, "directed graph"}, "", labelled},
		"directed":       {oneWay, []string{with, "graph", directed, "directed graph"}, directed, turned},
		"label by direction": {
			map[string]string{"DS/DS_edge_labels.txt": "0\n1\n2\n2\n1\n1"},
			[]string{"graph", directed, "directed graph"},
			directed,
			[]Graph{
				{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {1, 0}, {1, 2}, {2, 1}}, EdgeLabels: []string{"0", "1", "2", "2"}, Labels: plain[0].Labels},
				{N: 2, Directed: true, Edges: [][2]int{{0, 1}, {1, 0}}, EdgeLabels: []string{"1", "1"}, Labels: plain[1].Labels},
			},
		},
		"two labels":  {map[string]string{"DS/DS_A.txt": "1,2\n1,2\n2,3\n4,5", "DS/DS_edge_labels.txt": "0\n1\n2\n1"}, []string{"graph", "directed graph"}, "", plain},
		"at the top":  {map[string]string{"DS/DS_A.txt": "", "DS/DS_graph_indicator.txt": "", "DS/DS_graph_labels.txt": "", "DS/DS_node_labels.txt": "", "X_A.txt": "1,2\n2,1\n2,3\n3,2\n4,5\n5,4", "X_graph_indicator.txt": "1\n1\n1\n2\n2", "X_graph_labels.txt": "1\n-1", "X_node_labels.txt": "6\n6\n8\n6\n7"}, []string{"graph"}, "", plain},
		"mixed nodes": {map[string]string{"DS/DS_graph_indicator.txt": "1\n2\n1\n2\n1", "DS/DS_A.txt": "1,3\n3,5\n4,2\n", "DS/DS_node_labels.txt": "6\n6\n6\n7\n8\n", "DS/DS_edge_labels.txt": ""}, []string{"graph", "directed graph"}, "", plain},
		"other files": {map[string]string{"DS/DS_node_attributes.txt": "\xff", "other.csv": "x"}, []string{with, "graph"}, "", labelled},
		"spaces":      {map[string]string{"DS/DS_node_labels.txt": "6\n 6 \n8\n6\n7"}, []string{with, "graph"}, "", labelled},
	} {
		table := require.Value(ParseTable(strings.NewReader(setOf(t, c.changes)), "s.zip", Limits{}))(t, "%s", name)
		m, obvious := table.Guess()
		require.Check(t, obvious != strings.HasPrefix(c.columns[len(c.columns)-1], "directed") && slices.Equal(table.GraphColumns(), c.columns),
			"%s: obvious %v, columns %q", name, obvious, table.GraphColumns())
		for _, column := range []string{with, directed} {
			note := strings.Contains(strings.Join(table.Notes, "; "), fmt.Sprintf("no column %q: graph 1: edge [0,1] has the labels ", column))
			left := strings.Contains(name, "label by") && column == with || name == "two labels"
			require.Check(t, note == left, "%s: notes %q", name, table.Notes)
		}
		if c.choice != "" {
			m.Features = []string{c.choice}
		}
		d := require.Value(table.Data(m))(t, "%s", name)
		diff := cmp.Diff(c.want, d.Objects.(*Graphs).Values)
		require.Check(t, diff == "" && cmp.Equal(d.Classes, []string{"-1", "1"}) && cmp.Equal(d.Y, []int{1, 0}), "%s: %v %v\n%s", name, d.Classes, d.Y, diff)
		roundTrip(t, d)
		// A model finds the graphs that it was trained on, also when these had another name.
		for _, column := range []string{d.Objects.(*Graphs).Name, graphName} {
			o, _, err := table.Alike(&Graphs{Name: column, Values: c.want}, "label")
			require.Check(t, err == nil && o.Text(0) == c.want[0].String(), "%s, as %s: %v, %v", name, column, o, err)
		}
	}
	// Columns that would take too much memory are left out, but for the first.
	files := map[string]string{"DS/DS_node_labels.txt": ""}
	for g := range 90 {
		files["DS/DS_A.txt"] += fmt.Sprintf("%d,%d\n", 2*g+1, 2*g+2)
		files["DS/DS_edge_labels.txt"] += "1\n"
		files["DS/DS_graph_labels.txt"] += "1\n"
		files["DS/DS_graph_indicator.txt"] += fmt.Sprintf("%d\n%d\n", g+1, g+1)
	}
	small, err := ParseTable(strings.NewReader(setOf(t, files)), "s.zip", Limits{Bytes: 1500})
	require.Check(t, err == nil && slices.Equal(small.GraphColumns(), []string{with, "graph", directed}) && strings.Contains(strings.Join(small.Notes, "; "), `no column "directed graph": expected graphs that take at most 8 times the size`),
		"large when written out: %v", err)
	bare, err := Read(strings.NewReader(setOf(t, map[string]string{"DS/DS_node_labels.txt": "", "DS/DS_edge_labels.txt": "", "DS/DS_A.txt": "\n"})), "s.zip", Mapping{}, Limits{})
	require.Check(t, err == nil && bare.Objects.Text(0) == `{"n":3,"edges":[]}`, "neither edges nor labels: %v", err)
	for _, tt := range []struct {
		file, text, want string
	}{
		{"graph_indicator", "", `s.zip: expected "*_graph_indicator.txt" next to "DS_A.txt", as in a TU Dortmund set, found none`},
		{"graph_labels", "", `s.zip: expected "*_graph_labels.txt" next to`},
		{"graph_labels", "\n", "s.zip, DS/DS_graph_labels.txt, line 1: expected the label of at least one graph, found none"},
		{"graph_labels", "1\n1\n", "s.zip, DS/DS_graph_labels.txt, column 3 (label): expected at least two classes"},
		{"graph_labels", "1\n?\n", "s.zip, DS/DS_graph_labels.txt, line 2, column 3 (label): expected a label, found"},
		{"graph_labels", "1\n-1\n1\n", "s.zip, DS/DS_graph_indicator.txt: graph 3: expected a graph with at least one node"},
		{"graph_labels", "1\n1\n1\n1\n1\n", "s.zip, DS/DS_graph_labels.txt, line 5: expected at most 4 graphs"},
		{"graph_indicator", "1\n1\n3\n", `s.zip, DS/DS_graph_indicator.txt, line 3: expected the number of a graph, 1 to 2, found "3"`},
		{"A", "1,2\n1\n", `s.zip, DS/DS_A.txt, line 2: expected two nodes, as in 1, 2, found "1"`},
		{"A", "1,6\n", `s.zip, DS/DS_A.txt, line 1: expected the number of a node, 1 to 5, found "6"`},
		{"A", "x,1\n", `line 1: expected the number of a node, 1 to 5, found "x"`},
		{"A", "2,2\n", "this edge joins node 2 to itself"},
		{"A", "3,4\n", "expected two nodes of one graph, found one of graph 1 and one of graph 2"},
		{"node_labels", "1\n", "s.zip, DS/DS_node_labels.txt, line 1: expected a label for each of 5 nodes, found 1"},
		{"node_labels", "1\n1\n1\n1\n1\n1\n", "line 6: expected a label for each of 5 nodes, found more"},
		{"node_labels", strings.Repeat("x", 101) + "\n1\n1\n1\n1\n", "line 1: expected a label of at most 100 characters"},
		{"edge_labels", "1\n", "s.zip, DS/DS_edge_labels.txt, line 1: expected a label for each of 6 edges, found 1"},
		{"edge_labels", "1\n1\n1\n1\n1\n1\n1\n", "line 7: expected a label for each of 6 edges, found more"},
		{"A", strings.Repeat(" ", 2000), "s.zip, DS/DS_edge_labels.txt: expected at most 1.953\u00a0kB in all files, uncompressed"},
	} {
		_, err := Read(strings.NewReader(setOf(t, map[string]string{"DS/DS_" + tt.file + ".txt": tt.text})), "s.zip", Mapping{}, Limits{Rows: 4, Bytes: 2000})
		require.Check(t, err != nil && strings.HasPrefix(err.Error(), "s.zip") && strings.Contains(err.Error(), tt.want) && (errors.Is(err, ErrTooLarge) == strings.Contains(tt.want, "at most 4 graphs") || strings.Contains(tt.want, "kB")),
			"%s %q: %v\nwant %s", tt.file, tt.text, err, tt.want)
	}
}

func FuzzTU(f *testing.F) {
	f.Add("1, 2\n2, 1\n", "1\n1\n2\n", "1\n-1\n", "6\n6\n8\n", "1\n1\n")
	f.Add("1, 2\n1, 2\n2, 3\n", "1\n1\n1\n2\n", "1\n-1\n", "6\n6\n8\n8\n", "a\nb\nb")
	f.Add("", "2\n1\n", "a\nb\n", "", "")
	f.Fuzz(func(t *testing.T, edges, indicator, labels, nodes, kinds string) {
		raw := require.Zip(t, "X_A.txt", edges, "X_edge_labels.txt", kinds, "X_graph_indicator.txt", indicator, "X_graph_labels.txt", labels, "X_node_labels.txt", nodes)
		d, err := Read(strings.NewReader(raw), "s.zip", Mapping{}, fuzzLimits)
		isRead(t, d, err)
	})
}
