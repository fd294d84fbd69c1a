package dataset

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"marginlab/ml/mltest/require"
)

func TestReadGraphs(t *testing.T) {
	t.Parallel()
	path := Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}}
	for name, c := range map[string]struct {
		in    string
		want  Graph
		label string
	}{
		"plain":               {`{"n":3,"edges":[[0,1],[1,2]],"label":"a"}`, path, "label"},
		"either direction":    {`{"n":3,"edges":[[2,1],[1,0]],"class":"a"}`, path, "class"},
		"several times":       {`{"n":3,"edges":[[0,1],[1,2],[1,0],[1,2]],"target":"a"}`, path, "target"},
		"labels":              {`{"label":"a","labels":["C"," C","O"],"n":3,"edges":[[0,1],[1,2]]}`, Graph{N: 3, Edges: path.Edges, Labels: []string{"C", "C", "O"}}, "label"},
		"numbers as labels":   {`{"label":1,"labels":[6,6,8],"n":3,"edges":[[0,1],[1,2]]}`, Graph{N: 3, Edges: path.Edges, Labels: []string{"6", "6", "8"}}, "label"},
		"without labels":      {`{"n":3,"edges":[[0,1],[1,2]],"labels":[],"label":"a"}`, path, "label"},
		"without edges":       {`{"n":2,"edges":[],"label":"a"}`, Graph{N: 2, Edges: [][2]int{}}, "label"},
		"edges not even so":   {`{"n":1,"label":"a"}`, Graph{N: 1, Edges: [][2]int{}}, "label"},
		"directed":            {`{"n":3,"directed":true,"edges":[[2,1],[1,2],[0,1],[0,1]],"label":"a"}`, Graph{N: 3, Directed: true, Edges: [][2]int{{0, 1}, {1, 2}, {2, 1}}}, "label"},
		"labels of edges":     {`{"n":3,"edges":[[2,1],[1,0],[0,1]],"edge_labels":[2,"a"," a "],"label":"a"}`, Graph{N: 3, Edges: path.Edges, EdgeLabels: []string{"a", "2"}}, "label"},
		"not directed":        {`{"n":3,"directed":false,"edges":[[0,1],[1,2]],"edge_labels":[],"label":"a"}`, path, "label"},
		"signs of the markup": {`{"n":1,"labels":["<a&\"b\">"],"label":"a"}`, Graph{N: 1, Edges: [][2]int{}, Labels: []string{`<a&"b">`}}, "label"},
	} {
		d := require.Value(Read(strings.NewReader(c.in+"\n\n"+`{"n":1,"label":"b"}`), "f", Mapping{}, Limits{}))(t, "%s", name)
		diff := cmp.Diff(c.want, d.Objects.(*Graphs).Values[0])
		require.Check(t, diff == "" && d.Label == c.label && d.Len() == 2 && d.Kind() == KindGraphs, "%s: label %q\n%s", name, d.Label, diff)
		roundTrip(t, d)
	}
	good := `{"n":1,"label":"b"}` + "\n"
	for in, says := range map[string]string{
		`{"n":0,"edges":[]}`:                                    "f, line 2: expected a graph with at least one node, found n = 0",
		`{"n":10001,"edges":[]}`:                                "at most 10000 nodes, found n = 10001",
		`{"edges":[[0,1]]}`:                                     `expected "n", the number of nodes`,
		`{"n":2,"edges":[[0,2]]}`:                               "line 2: edge [0,2]: no node 2: the nodes of this graph are 0 to 1",
		`{"n":2,"edges":[[-1,0]]}`:                              "no node -1",
		`{"n":2,"edges":[[1,1]]}`:                               "edge [1,1] joins a node to itself: remove it",
		`{"n":2,"edges":[[1]]}`:                                 "edge 1: expected two nodes, as in [0,1], found 1",
		`{"n":2,"edges":[[0,1,2]]}`:                             "edge 1: expected two nodes",
		`{"n":2,"labels":["a"]}`:                                "expected a label for each of 2 nodes, found 1 label",
		`{"n":2,"labels":["a",""]}`:                             "node 1: expected a label, found nothing",
		`{"n":2,"labels":["a",true]}`:                           "expected a string or a number as label, found \"true\"",
		`{"n":3,"edges":[[0,1],[1,2]],"edge_labels":["a"]}`:     "edge_labels: expected a label for each of 2 edges, found 1 label",
		`{"n":2,"edges":[[0,1],[1,0]],"edge_labels":["a","b"]}`: `edge [0,1] has the labels "a" and "b": keep one of them, or combine them`,
		`{"n":2,"edges":[[0,1]],"edge_labels":[""]}`:            "edge [0,1]: expected a label, found nothing",
		`{"n":2,"directed":1}`:                                  `found number in "directed"`,
		`{"n":2.5}`:                                             "found number 2.5 in \"n\"",
		`{"n":2,"edges":[["a","b"]]}`:                           "found string in \"edges\"",
		`{"n":2,"edge":[[0,1]]}`:                                "unknown field \"edge\"",
		`{"n":2,"edges":[[0,1]`:                                 "found the end of the line",
		`{"n":2} {"n":3}`:                                       "expected a single graph, found more after it",
		`{"n":2,"label":"a","class":"b"}`:                       "expected one label of the graph, found label and class",
		`0 1`:                                                   "f, line 2: expected a graph as",
		`{"n":2,"edges":[[0,1]]}`:                               "f, line 2, column 2 (label): expected a label, found nothing",
		`{"n":2,"edges":[[0,1]],"label":"b"}`:                   "expected at least two classes, found only",
		`{"n":2,"labels":["a","` + "\x90\x9d" + `"]}`:           "line 2: expected UTF-8 text, found byte 0x90",
		`{"n":1,"label":"c"}` + "\n" + `{"n":"1"}`:              "line 3: ",
	} {
		d, err := Read(strings.NewReader(good+in), "f", Mapping{}, Limits{})
		require.Check(t, err != nil && strings.Contains(err.Error(), says), "%s: %v, %v; want %q", in, d, err, says)
	}
	two := good + `{"n":2,"edges":[[0,1]],"label":"a"}`
	for says, m := range map[string]Mapping{
		"expected features, found graphs":          {Kind: KindVectors},
		"expected strings, found graphs":           {Kind: KindStrings},
		"cannot be read":                           {Kind: "songs"},
		"no column of graphs called \"x\"":         {Kind: KindGraphs, Features: []string{"x"}},
		"one column of graphs":                     {Kind: KindGraphs, Features: []string{"graph", "x"}},
		"holds the graphs and cannot be the label": {Label: "graph"},
		"no column \"nothing\"":                    {Label: "nothing"},
		"expected at most 1 graph":                 {},
	} {
		lim := Limits{}
		if strings.Contains(says, "at most") {
			lim.Rows = 1
		}
		_, err := Read(strings.NewReader(two), "f", m, lim)
		require.Check(t, err != nil && strings.Contains(err.Error(), says), "%v: %v; want %q", m, err, says)
	}
	require.Fails(t, require.Err(Read(strings.NewReader("x,label\n1,a\n2,b\n"), "f", Mapping{Kind: KindGraphs}, Limits{})), "expected graphs: JSON lines", "numbers as graphs")
	require.Fails(t, require.Err(Read(strings.NewReader(`{"n":1}`), "f", Mapping{}, Limits{})), `line 1: expected a label of the graph, as in JSON "label":"a"`, "without labels")
	require.Fails(t, require.Err(Read(strings.NewReader(`[{"n":1,"edges":[],"label":"a"},{"n":1,"label":"b"}]`), "f.json", Mapping{}, Limits{})), `f.json, line 1: expected a graph as {"n":3,"edges":[[0,1],[1,2]]}, found array`, "an array of graphs")
	many := strings.Repeat(`{"n":10000,"label":"a"}`+"\n", 501)
	require.Fails(t, require.Err(Read(strings.NewReader(many), "f", Mapping{}, Limits{})), "line 501: expected at most 5000000 nodes in all graphs", "too many nodes")
}

// drawGraph draws a graph of at most most nodes, with labels of a few letters or none.
func drawGraph(r *rapid.T, most int) Graph {
	n := rapid.IntRange(1, most).Draw(r, "nodes")
	g := Graph{N: n, Directed: rapid.Bool().Draw(r, "directed")}
	list := []string{"C", "O", "N, \"x\"", "=1+1"}
	edgesLabelled := rapid.Bool().Draw(r, "edges labelled")
	for i := range n {
		for j := range n {
			if (j < i || g.Directed && j != i) && rapid.Bool().Draw(r, "edge") {
				g.Edges = append(g.Edges, [2]int{i, j})
				if edgesLabelled {
					g.EdgeLabels = append(g.EdgeLabels, rapid.SampledFrom(list).Draw(r, "label of an edge"))
				}
			}
		}
	}
	if rapid.Bool().Draw(r, "labelled") {
		g.Labels = rapid.SliceOfN(rapid.SampledFrom(list), n, n).Draw(r, "labels")
	}
	return require.Value(g.Canonical())(r)
}

func TestGraphsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		s := &Graphs{Name: "graph"}
		for range rapid.IntRange(2, 5).Draw(r, "graphs") {
			s.Values = append(s.Values, drawGraph(r, 6))
		}
		d := &Data{Objects: s, Label: "label", Classes: []string{"a", "b"}, Y: make([]int, s.Len())}
		d.Y[0] = 1
		roundTrip(r, d)
		sameData(r, d, read(r, require.Written(r, d.Export)))
		var lines strings.Builder
		for i, g := range s.Values {
			fmt.Fprintf(&lines, `{"label":%q,%s`+"\n", d.Classes[d.Y[i]], strings.TrimPrefix(g.String(), "{"))
		}
		require.Equal(r, cmp.Diff(d.Objects, read(r, lines.String()).Objects), "", "JSON lines")
		for i, g := range s.Values {
			along, against := g.Steps()
			var left, reached [][2]int // edges as steps along and against them tell
			for v := range g.N {
				for _, s := range along[v] {
					left = append(left, [2]int{v, int(s.Node)})
				}
				for _, s := range against[v] {
					reached = append(reached, [2]int{int(s.Node), v})
				}
				for _, s := range slices.Concat(along[v], against[v]) {
					e := g.Edges[s.Edge]
					require.Check(r, e == [2]int{v, int(s.Node)} || e == [2]int{int(s.Node), v}, "graph %d: edge %v as the step from %d to %d", i, e, v, s.Node)
				}
			}
			slices.SortFunc(reached, compareEdges)
			want := slices.Clone(g.Edges)
			if !g.Directed {
				reached = g.Edges
				for _, e := range g.Edges {
					want = append(want, [2]int{e[1], e[0]})
				}
				slices.SortFunc(want, compareEdges)
			}
			require.Check(r, slices.Equal(left, want) && slices.Equal(reached, g.Edges),
				"graph %d: %v has the steps %v and, reversed, %v", i, g.Edges, left, reached)
		}
	})
}

// Validate and Restore report invalid graphs.
func TestGraphsThatBreakTheRules(t *testing.T) {
	t.Parallel()
	good := Graph{N: 3, Edges: [][2]int{{0, 1}, {1, 2}}}
	for says, g := range map[string]Graph{
		"ascending order":              {N: 3, Edges: [][2]int{{1, 2}, {0, 1}}},
		"each edge once":               {N: 3, Edges: [][2]int{{0, 1}, {0, 1}}},
		"the smaller node first":       {N: 3, Edges: [][2]int{{1, 0}}},
		"each edge once, in ascending": {N: 3, Directed: true, Edges: [][2]int{{2, 1}, {0, 1}}},
		"at least one node":            {},
		"joins a node to itself":       {N: 1, Edges: [][2]int{{0, 0}}},
		"has the labels":               {N: 2, Edges: [][2]int{{0, 1}, {0, 1}}, EdgeLabels: []string{"a", "b"}},
		"a label for each of 1 edge":   {N: 2, Edges: [][2]int{{0, 1}}, EdgeLabels: []string{"a", "b"}},
		"without control":              {N: 1, Labels: []string{" a"}},
	} {
		s := &Graphs{Name: "graph", Values: []Graph{good, g}}
		err := s.Validate()
		require.Check(t, err != nil && strings.Contains(err.Error(), "row 2, graph: ") && strings.Contains(err.Error(), says), "%v: %v, want %q", g, err, says)
		require.Fails(t, require.Err((Shape{Objects: KindGraphs}).Restore(Kept{Graphs: s.Values})), says, "restored %v", g)
	}
	require.Check(t, (&Graphs{}).Validate() != nil, "no graphs, and no error")
}

func TestGraphRows(t *testing.T) {
	t.Parallel()
	kept := (&Graphs{"graph", []Graph{{N: 1}}}).Keep([]int{0})
	for in, want := range map[string]string{
		`{"n":2,"edges":[[0,1]]}`:                                                                     "",
		`{"n":2,"edges":[[0,1]],"class":"x"}`:                                                         "class",
		`{"n":2,"edges":[[0,1]],"label":"x"}`:                                                         "label",
		"#graphs\ngraph,kind\n\"{\"\"n\"\":2,\"\"edges\"\":[[0,1]]}\",x":                              "kind",
		"<graphml><graph><node id='a'/><node id='b'/><edge source='a' target='b'/></graph></graphml>": "",
	} {
		table := require.Value(ParseTable(strings.NewReader(in), "f", Limits{}))(t, "%q", in)
		o, label, err := table.Alike(kept, "class")
		require.Check(t, err == nil && label == want && o.Len() == 1 && o.Text(0) == `{"n":2,"edges":[[0,1]]}`,
			"%q: %v, label %q, %v", in, o, label, err)
	}
	// Of several columns of graphs the named one is taken, however its edges look.
	several := require.Value(ParseTable(strings.NewReader(`<graphml><key id="k" for="edge" attr.name="kind"/>
		<graph edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"><data key="k">x</data></edge></graph></graphml>`), "f", Limits{}))(t)
	arc := Graph{N: 2, Directed: true, Edges: [][2]int{{0, 1}}}
	o, _, err := several.Alike(&Graphs{"graph", []Graph{arc}}, "")
	require.Check(t, err == nil && o.Text(0) == arc.String(), "directed graphs: %v, %v", o, err)
	if o, _, err := several.Alike(&Graphs{"graph with edge labels", []Graph{arc}}, ""); err == nil || !strings.Contains(err.Error(), `expected a column of graphs called "graph with edge labels", as in the training data, found graph, edges by kind, graph`) {
		t.Errorf("no such graphs: %v, %v", o, err)
	}
	arc.EdgeLabels = []string{"x"}
	require.Fails(t, require.Err3(several.Alike(&Graphs{"graph", []Graph{arc}}, "")), "", "graphs without the labels of edges that the model has are taken")
	table := require.Value(ParseTable(strings.NewReader("x,class\n1,a\n2,b\n"), "f", Limits{}))(t)
	require.Fails(t, require.Err3(table.Alike(kept, "class")), "f: expected graphs", "numbers")
}
