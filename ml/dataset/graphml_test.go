package dataset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"marginlab/ml/mltest/require"
)

const graphML = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="w" for="edge" attr.name="weight" attr.type="double"/>
  <key id="x" for="node" attr.name="x" attr.type="double"><desc>place</desc></key>
  <key id="e" for="node" attr.name="element" attr.type="string"><default>C</default></key>
  <key id="t" for="graph" attr.name="toxic" attr.type="string"/>
  <graph id="first" edgedefault="undirected">
    <data key="t">yes</data>
    <node id="a"><data key="x">0.5</data></node>
    <node id="b"><data key="e"> O </data><data key="x">1</data></node>
    <node id="c"><port name="p"/></node>
    <edge source="c" target="b"><data key="w">2</data></edge>
    <edge id="1" source="b" target="a"/><edge source="a" target="b"/>
  </graph>
  <graph><edge source="n" target="m"/><node id="m"/><node id="n"/><data key="t">no</data></graph>
</graphml>
`

func TestReadGraphML(t *testing.T) {
	t.Parallel()
	table := require.Value(ParseTable(strings.NewReader(graphML), "g.graphml", Limits{}))(t)
	diff := cmp.Diff([]string{"graph by element", "graph by x", "graph without labels", "graph by element, edges by weight", "graph by x, edges by weight", "graph without labels, edges by weight"}, table.GraphColumns())
	require.Check(t, diff == "" && cmp.Equal(table.Lines, []int{7, 15}), "lines %v\n%s", table.Lines, diff)
	m, obvious := table.Guess()
	diff = cmp.Diff(Mapping{Kind: KindGraphs, Label: "toxic", Features: []string{"graph by element"}}, m)
	require.Check(t, diff == "" && !obvious, "obvious %v\n%s", obvious, diff)
	joined := [][2]int{{0, 1}, {1, 2}}
	for column, want := range map[string][]string{
		"graph by element":     {"C", "O", "C"},
		"graph by x":           {"0.5", "1", "?"},
		"graph without labels": nil,
	} {
		d := require.Value(table.Data(Mapping{Features: []string{column}}))(t, "%s", column)
		roundTrip(t, d)
		diff := cmp.Diff(Graph{N: 3, Edges: joined, Labels: want}, d.Objects.(*Graphs).Values[0])
		require.Check(t, diff == "" && d.Label == "toxic" && cmp.Equal(d.Classes, []string{"no", "yes"}) && cmp.Equal(d.Y, []int{1, 0}), "%s: %v %v\n%s", column, d.Classes, d.Y, diff)
		// A model that was trained on this column finds it in another file.
		o, label, err := table.Alike(d.Objects.Keep([]int{0}), "toxic")
		require.Check(t, err == nil && label == "toxic" && o.Text(0) == d.Objects.Text(0),
			"%s: %v, label %q, %v", column, o, label, err)
	}

	weighted, err := table.Data(Mapping{Features: []string{"graph by x, edges by weight"}})
	require.Check(t, err == nil && weighted.Objects.Text(0) == `{"n":3,"edges":[[0,1],[1,2]],"edge_labels":["?","2"],"labels":["0.5","1","?"]}`,
		"edges by weight: %v, %v", weighted, err)

	const edges = `<graphml><key id="c" for="graph" attr.name="class"/><key id="k" for="edge" attr.name="kind"/><graph edgedefault="%s">
		<data key="c">a</data><node id="1"/><node id="2"/><node id="3"/>
		<edge source="2" target="1"><data key="k">b</data></edge><edge source="2" target="3" directed="%s"><data key="k">a</data></edge>%s
	</graph><graph><data key="c">b</data><node id="1"/></graph></graphml>`
	for in, want := range map[string]string{
		fmt.Sprintf(edges, "undirected", "false", ""):                         `{"n":3,"edges":[[0,1],[1,2]],"edge_labels":["b","a"]}`,
		fmt.Sprintf(edges, "directed", "true", ""):                            `{"n":3,"directed":true,"edges":[[1,0],[1,2]],"edge_labels":["b","a"]}`,
		fmt.Sprintf(edges, "directed", "false", ""):                           `{"n":3,"directed":true,"edges":[[1,0],[1,2],[2,1]],"edge_labels":["b","a","a"]}`,
		fmt.Sprintf(edges, "undirected", "true", ""):                          `{"n":3,"directed":true,"edges":[[0,1],[1,0],[1,2]],"edge_labels":["b","b","a"]}`,
		fmt.Sprintf(edges, "undirected", "", `<edge source="1" target="2"/>`): `{"n":3,"edges":[[0,1],[1,2]]}`, // b, and none
		fmt.Sprintf(edges, "directed", "", `<edge source="1" target="2"/>`):   `{"n":3,"directed":true,"edges":[[0,1],[1,0],[1,2]],"edge_labels":["?","b","a"]}`,
	} {
		d, err := Read(strings.NewReader(in), "f", Mapping{}, Limits{})
		if err != nil || d.Objects.Text(0) != want {
			t.Errorf("%s: %v, %v", in, d, err)
			continue
		}
		roundTrip(t, d)
	}

	// Attributes of edges that cannot be labels, or not all of them, are left out.
	long := strings.Repeat("k", 90)
	const twoKeys = `<key id="k2" for="edge" attr.name="%s"><default>%s</default></key><graph edgedefault`
	for _, c := range []struct {
		in, note string
		columns  int
		lim      Limits
	}{
		{strings.Replace(edges, "<graph edgedefault", fmt.Sprintf(twoKeys, "kind", "x"), 1), `edge attribute "kind" left out: expected attributes with distinct names`, 2, Limits{}},
		{strings.Replace(edges, "<graph edgedefault", fmt.Sprintf(twoKeys, long, "x"), 1), "left out: expected a name of an attribute of at most 100 characters", 2, Limits{}},
		{strings.Replace(edges, "<graph edgedefault", fmt.Sprintf(twoKeys, "note", long+long), 1), `edge attribute "note" left out: graph 1: edge [0,1]: expected a label of at most 100 characters`, 2, Limits{}},
		{strings.Replace(edges, "<graph edgedefault", fmt.Sprintf(twoKeys, "note", "x"), 1), `edge attribute "note" left out: more than 3 columns`, 2, Limits{Columns: 3}},
		{strings.Replace(edges, `<edge source="2" target="1">`, `<edge source="1" target="2"/><edge source="2" target="1">`, 1), `edge attribute "kind" left out: graph 1: edge [0,1] has the labels "?" and "b"`, 1, Limits{}},
	} {
		table, err := ParseTable(strings.NewReader(fmt.Sprintf(c.in, "undirected", "", "")), "f", c.lim)
		require.Check(t, err == nil && len(table.GraphColumns()) == c.columns && strings.Contains(strings.Join(table.Notes, "; "), c.note),
			"%s: %+v, %v", c.note, table, err)
	}
	large := "<graphml>"
	for k := range 10 {
		large += fmt.Sprintf(`<key id="k%d" for="edge"><default>%s</default></key>`, k, long)
	}
	large += "<graph>"
	for v := range 500 {
		large += fmt.Sprintf(`<node id="%d"/><edge source="0" target="%d"/>`, v, max(v, 1))
	}
	if table, err := ParseTable(strings.NewReader(large+"</graph></graphml>"), "f", Limits{Bytes: 30_000}); err != nil || len(table.GraphColumns()) >= 10 || !strings.Contains(strings.Join(table.Notes, "; "), `edge attribute "k9" left out: expected graphs that take at most 8 times`) {
		t.Errorf("beyond the budget: %v", err)
	}

	const one = `<graphml><key id="c" for="graph" attr.name="class"/><graph><data key="c">a</data><node id="1"/></graph>%s</graphml>`
	d, err := Read(strings.NewReader(fmt.Sprintf(one, `<graph><data key="c">b</data><node id="1"/><node id="2"/></graph>`)), "f", Mapping{}, Limits{})
	require.Check(t, err == nil && d.Objects.(*Graphs).Name == "graph" && d.Label == "class", "without labels: %v", err)
	for in, says := range map[string]string{
		`<html><body/></html>`:                              "f, line 1: expected a table, found a web page, which some programs save with a spreadsheet's extension: open it in a spreadsheet program and save it as .xlsx or CSV",
		"<graphml>\n<graph></graphml>":                      "f, line 2: expected GraphML, found invalid XML: element <graph> closed by </graphml>",
		"<graphml><graph>":                                  "expected GraphML, found invalid XML: unexpected EOF",
		"<graphml></graphml>":                               "f: expected at least one graph, found none",
		`<?xml version="1.0" encoding="latin1"?><graphml/>`: `expected GraphML in UTF-8: encoding "latin1"`,
		fmt.Sprintf(one, "\n<graph/>"):                      "line 2: expected a graph with at least one node",
		fmt.Sprintf(one, ""):                                "expected at least two classes, found only",
		fmt.Sprintf(one, `<graph><node id="1"/></graph>`):   "f, line 1, column 2 (class): expected a label, found nothing",
		fmt.Sprintf(one, `<graph><node id="1"/><edge source="1" target="9"/></graph>`):           `edge from "1" to "9": no node "9"`,
		fmt.Sprintf(one, `<graph><node id="1"/><edge source="1" target="1"/></graph>`):           `joins node "1" to itself`,
		fmt.Sprintf(one, `<graph><node id="1"/><node id="1"/></graph>`):                          `node "1" is declared twice`,
		fmt.Sprintf(one, `<graph><hyperedge/></graph>`):                                          "found a hyperedge",
		fmt.Sprintf(one, `<graph><node id="1"><graph/></node></graph>`):                          "nodes without nested graphs",
		fmt.Sprintf(one, `<key id="c"/>`):                                                        `key "c" is declared twice`,
		fmt.Sprintf(one, `<key id="`+strings.Repeat("k", 95)+`"/>`):                              "expected a name of an attribute of at most 100",
		fmt.Sprintf(one, `<key id="d" for="graph" attr.name="class"><default>x</default></key>`): `distinct names, found two called "class"`,
		`<graphml><graph><node id="1"/></graph></graphml>`:                                       "or in GraphML <data> of the graph, found none",
	} {
		d, err := Read(strings.NewReader(in), "f", Mapping{}, Limits{})
		require.Check(t, err != nil && strings.Contains(err.Error(), says), "%s: %v, %v; want %q", in, d, err, says)
	}

	// A small file that unfolds to a large one.
	var bomb strings.Builder
	bomb.WriteString("<graphml>")
	for k := range mostAttributes {
		fmt.Fprintf(&bomb, `<key id="%d" for="node"><default>%s</default></key>`, k, strings.Repeat("x", 90))
	}
	bomb.WriteString("<graph>")
	for v := range 2000 {
		fmt.Fprintf(&bomb, `<node id="%d"/>`, v)
	}
	bomb.WriteString("</graph></graphml>")
	require.Fails(t, require.Err(ParseTable(strings.NewReader(bomb.String()), "f", Limits{Bytes: 40_000})), "expected at most 312.5\u00a0kB with every node attribute", "unfolded")
	many := strings.Replace(bomb.String(), "<graph>", `<key id="more" for="node"><default>x</default></key><graph>`, 1)
	require.Fails(t, require.Err(ParseTable(strings.NewReader(many), "f", Limits{})), "at most 10 node attributes, found 11",
		"many attributes")
	optional := strings.Replace(many, `id="more" for="node"`, `id="more" for="edge"`, 1) // and many
	optional = strings.ReplaceAll(optional, `for="node"><default>x`, `for="edge"><default>x`)
	if table, err := ParseTable(strings.NewReader(optional), "f", Limits{Bytes: 40_000}); err != nil || !strings.Contains(strings.Join(table.Notes, "; "), "1 attribute of edges left out: at most 10 are read") {
		t.Errorf("many attributes of edges: %v", err)
	}
	require.Fails(t, require.Err(ParseTable(strings.NewReader("<graphml>"+strings.Repeat("<graph><node/></graph>", 3)+"</graphml>"), "f", Limits{Rows: 2})), "expected at most 2 graphs", "many graphs")
}
