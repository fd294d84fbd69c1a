package dataset

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

// setOf is a set of graphs as TU Dortmund writes it, zipped, with some files in the place
// of others; an empty one is left out.
func setOf(t testing.TB, changes map[string]string) string {
	files := map[string]string{
		"DS/DS_A.txt":               "1, 2\n2, 1\n2, 3\n3, 2\n\n5,4\r\n",
		"DS/DS_graph_indicator.txt": "1\n1\n1\n2\n2\n",
		"DS/DS_graph_labels.txt":    "1\n-1\n",
		"DS/DS_node_labels.txt":     "6\n6\n8\n6\n7\n",
		"DS/DS_edge_labels.txt":     "0\n0\n0\n0\n1\n",
		"DS/README.txt":             "a set",
	}
	maps.Copy(files, changes)
	var list []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if files[name] != "" {
			list = append(list, name, files[name])
		}
	}
	return zipped(t, list...)
}

func TestReadTU(t *testing.T) {
	t.Parallel()
	want := []Graph{
		{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}, Labels: []string{"6", "6", "8"}},
		{N: 2, Edges: [][2]int{{0, 1}}, Labels: []string{"6", "7"}},
	}
	for name, changes := range map[string]map[string]string{
		"whole":         nil,
		"at the top":    {"DS/DS_A.txt": "", "DS/DS_graph_indicator.txt": "", "DS/DS_graph_labels.txt": "", "DS/DS_node_labels.txt": "", "X_A.txt": "1,2\n2,3\n4,5", "X_graph_indicator.txt": "1\n1\n1\n2\n2", "X_graph_labels.txt": "1\n-1", "X_node_labels.txt": "6\n6\n8\n6\n7"},
		"mixed nodes":   {"DS/DS_graph_indicator.txt": "1\n2\n1\n2\n1", "DS/DS_A.txt": "1,3\n3,5\n4,2\n", "DS/DS_node_labels.txt": "6\n6\n6\n7\n8\n"},
		"other files":   {"DS/DS_node_attributes.txt": "\xff", "other.csv": "x"},
		"several parts": {"DS/DS_node_labels.txt": "6\n 6 \n8\n6\n7"},
	} {
		table, err := ParseTable(strings.NewReader(setOf(t, changes)), "s.zip", Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		m, obvious := table.Guess()
		d, err := table.Data(m)
		if err != nil || !obvious {
			t.Errorf("%s: %v, obvious %v", name, err, obvious)
			continue
		}
		if diff := cmp.Diff(want, d.Objects.(*Graphs).Values); diff != "" || !cmp.Equal(d.Classes, []string{"-1", "1"}) || !cmp.Equal(d.Y, []int{1, 0}) {
			t.Errorf("%s: %v %v\n%s", name, d.Classes, d.Y, diff)
		}
		roundTrip(t, d)
	}
	bare, err := Read(strings.NewReader(setOf(t, map[string]string{"DS/DS_node_labels.txt": "", "DS/DS_A.txt": "\n"})), "s.zip", Mapping{}, Limits{})
	if err != nil || bare.Objects.Text(0) != `{"n":3,"edges":[]}` {
		t.Errorf("neither edges nor labels: %v", err)
	}
	for _, tt := range []struct {
		file, text, want string
	}{
		{"graph_indicator", "", `s.zip: expected "*_graph_indicator.txt" beside "DS_A.txt", as sets of TU Dortmund have it, found none`},
		{"graph_labels", "", `s.zip: expected "*_graph_labels.txt" beside`},
		{"graph_labels", "\n", "s.zip, DS/DS_graph_labels.txt, line 1: expected the label of at least one graph, found none"},
		{"graph_labels", "1\n1\n", "s.zip, DS/DS_graph_labels.txt, column 2 (label): expected at least two classes"},
		{"graph_labels", "1\n?\n", "s.zip, DS/DS_graph_labels.txt, line 2, column 2 (label): expected a label, found"},
		{"graph_labels", "1\n-1\n1\n", "s.zip, DS/DS_graph_indicator.txt: graph 3: expected a graph of at least one node"},
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
		{"A", strings.Repeat(" ", 2000), "s.zip, DS/DS_graph_indicator.txt: expected at most 2000 bytes in all files together"},
	} {
		_, err := Read(strings.NewReader(setOf(t, map[string]string{"DS/DS_" + tt.file + ".txt": tt.text})), "s.zip", Mapping{}, Limits{Rows: 4, Bytes: 2000})
		if err == nil || !strings.HasPrefix(err.Error(), "s.zip") || !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrTooLarge) != strings.Contains(tt.want, "at most 4 graphs") && !strings.Contains(tt.want, "bytes") {
			t.Errorf("%s %q: %v\nwant %s", tt.file, tt.text, err, tt.want)
		}
	}
}

func FuzzTU(f *testing.F) {
	f.Add("1, 2\n2, 1\n", "1\n1\n2\n", "1\n-1\n", "6\n6\n8\n")
	f.Add("", "2\n1\n", "a\nb\n", "")
	f.Fuzz(func(t *testing.T, edges, indicator, labels, nodes string) {
		raw := zipped(t, "X_A.txt", edges, "X_graph_indicator.txt", indicator, "X_graph_labels.txt", labels, "X_node_labels.txt", nodes)
		d, err := Read(strings.NewReader(raw), "s.zip", Mapping{}, fuzzLimits)
		if err != nil {
			checkFault(t, err)
			return
		}
		require.NoError(t, d.Validate())
		roundTrip(t, d)
	})
}
