package dataset

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"marginlab/ml/lists"
	"marginlab/ml/param"
)

// graphsBy is the prefix of the name of a column of graphs labelled by a node attribute.
const graphsBy = graphName + " by "

// mostAttributes limits the node attributes in a file of graphs, and the edge attributes read: each
// adds columns with all graphs.
const mostAttributes = 10

// unfolded is the largest ratio of the size of the graph columns to the size of the file.
const unfolded = 8

// graphMLKey declares an attribute.
type graphMLKey struct {
	name, domain, value string // value: the default
	text                bool
}

// graphMLReader reads the graphs of a file one after the other. GraphML is described by
// Brandes, Eiglsperger, Lerner and Pich, Handbook of Graph Drawing and Visualization (2013).
type graphMLReader struct {
	dec  *xml.Decoder
	size int64 // of the file in bytes
	lim  Limits
	keys map[string]graphMLKey // by id
	ids  []string              // of the keys, in order
	met  map[[2]string]bool    // keys with a value: "node", "edge" or "graph", and the id

	err    error // the first one
	lines  []int
	graphs []graphMLGraph
	all    graphAdder
}

type graphMLGraph struct {
	Graph
	data  map[string]string   // of the graph, by id of the key
	nodes []map[string]string // of its nodes
	edges []map[string]string // of its edges, which may be repeated
}

// parseGraphML reads GraphML, a row per graph. There is a column of graphs for each node
// attribute, used as node label, and one without labels; the same again for each edge attribute;
// and a column for each attribute of graphs, one of which is the label.
func parseGraphML(text string, lim Limits) (*Table, *Error) {
	r := &graphMLReader{dec: xml.NewDecoder(strings.NewReader(text)), size: int64(len(text)), lim: lim, keys: map[string]graphMLKey{}, met: map[[2]string]bool{}}
	if r.file(); r.err != nil {
		fault := &Error{Message: r.err.Error()}
		if !errors.As(r.err, &fault) {
			fault.Line, _ = r.dec.InputPos()
		}
		return nil, fault
	}
	return r.table()
}

// fail keeps the first error, which ends reading.
func (r *graphMLReader) fail(err error) { r.err = cmp.Or(r.err, err) }

// token returns the next token, nil after an error.
func (r *graphMLReader) token() xml.Token {
	if r.err != nil {
		return nil
	}
	token, err := r.dec.Token()
	r.fail(graphMLFault(err))
	return token
}

// elements iterates over the elements in the current one. The caller must read or skip each.
func (r *graphMLReader) elements() iter.Seq[*xml.StartElement] {
	return func(yield func(*xml.StartElement) bool) {
		for {
			switch token := r.token().(type) {
			case xml.StartElement:
				if !yield(&token) {
					return
				}
			case xml.EndElement, nil:
				return
			}
		}
	}
}

func graphMLFault(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return fmt.Errorf("expected GraphML, found invalid XML: %s", syntax.Msg)
	case err == io.EOF:
		return errors.New("expected GraphML, found the end of the file")
	}
	return fmt.Errorf("expected GraphML in UTF-8: %s", strings.TrimPrefix(err.Error(), "xml: "))
}

func (r *graphMLReader) skip() {
	if r.err == nil {
		r.fail(graphMLFault(r.dec.Skip()))
	}
}

func attribute(e *xml.StartElement, name string) string {
	a, _ := lists.Find(e.Attr, func(a xml.Attr) bool { return a.Name.Local == name })
	return a.Value
}

func (r *graphMLReader) file() {
	for root := range r.elements() {
		switch name := root.Name.Local; {
		case strings.EqualFold(name, "html"), name == "Workbook":
			found := map[bool]string{true: "an XML spreadsheet", false: "a web page"}[name == "Workbook"]
			r.fail(fmt.Errorf("expected a table, found %s, which some programs save with a spreadsheet's extension: open it in a spreadsheet program and save it as .xlsx or CSV", found))
		case name != "graphml":
			r.fail(fmt.Errorf("expected GraphML, <graphml>, found <%s>", name))
		}
		for e := range r.elements() {
			switch e.Name.Local {
			case "key":
				r.key(e)
			case "graph":
				r.graph(e)
			default:
				r.skip()
			}
		}
		return // what follows the root does not matter
	}
}

func (r *graphMLReader) key(e *xml.StartElement) {
	id := attribute(e, "id")
	k := graphMLKey{name: tidy(cmp.Or(attribute(e, "attr.name"), id)), domain: cmp.Or(attribute(e, "for"), "all"), text: cmp.Or(attribute(e, "attr.type"), "string") == "string"}
	r.fail(checkText("name of an attribute", graphsBy+k.name))
	for e := range r.elements() {
		if e.Name.Local == "default" {
			k.value = r.text()
		} else {
			r.skip()
		}
	}
	if _, twice := r.keys[id]; twice {
		r.fail(fmt.Errorf("key %s is declared twice", quote(id)))
	}
	if k.domain == "node" || k.domain == "edge" || k.domain == "graph" || k.domain == "all" {
		r.keys[id], r.ids = k, append(r.ids, id)
	}
}

// text returns the text of the current element without that of nested elements.
func (r *graphMLReader) text() string {
	var b strings.Builder
	for {
		switch token := r.token().(type) {
		case xml.CharData:
			b.Write(token)
		case xml.StartElement:
			r.skip()
		case xml.EndElement, nil:
			return tidy(b.String())
		}
	}
}

// datum adds an attribute of a "graph", "node" or "edge".
func (r *graphMLReader) datum(e *xml.StartElement, of string, to *map[string]string) {
	id, text := attribute(e, "key"), r.text()
	if _, known := r.keys[id]; known && text != "" {
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[id], r.met[[2]string{of, id}] = text, true
	}
}

func (r *graphMLReader) graph(e *xml.StartElement) {
	line, _ := r.dec.InputPos()
	if len(r.graphs) == r.lim.Rows {
		r.fail(beyond(line, r.lim.Rows, "graph"))
	}
	var g graphMLGraph
	usual := cmp.Or(attribute(e, "edgedefault"), "undirected") == "directed"
	type edge struct {
		ends     [2]string
		directed bool
		line     int
	}
	var edges []edge
	place := map[string]int{} // index of each node, by id
	for e := range r.elements() {
		switch e.Name.Local {
		case "data":
			r.datum(e, "graph", &g.data)
		case "node":
			id := attribute(e, "id")
			if _, twice := place[id]; twice {
				r.fail(fmt.Errorf("node %s is declared twice", quote(id)))
			}
			place[id] = len(g.nodes)
			g.nodes = append(g.nodes, r.part("node"))
		case "edge":
			line, _ := r.dec.InputPos()
			directed := cmp.Or(attribute(e, "directed"), strconv.FormatBool(usual)) == "true"
			g.Directed = g.Directed || directed
			edges = append(edges, edge{[2]string{attribute(e, "source"), attribute(e, "target")}, directed, line})
			g.edges = append(g.edges, r.part("edge"))
		case "hyperedge":
			r.fail(errors.New("expected edges that join two nodes, found a hyperedge"))
		default:
			r.skip()
		}
	}
	joined := make([][2]int, len(edges))
	for k, e := range edges {
		for a, id := range e.ends {
			v, ok := place[id]
			if !ok {
				r.fail(&Error{Line: e.line, Message: fmt.Sprintf("edge from %s to %s: no node %s", quote(e.ends[0]), quote(e.ends[1]), quote(id))})
			}
			joined[k][a] = v
		}
		if joined[k][0] == joined[k][1] {
			r.fail(&Error{Line: e.line, Message: fmt.Sprintf("this edge joins node %s to itself: remove it, because the kernels compare graphs without loops", quote(e.ends[0]))})
		}
	}
	for k, e := range edges {
		if g.Directed && !e.directed { // an undirected edge among directed ones
			joined, g.edges = append(joined, [2]int{joined[k][1], joined[k][0]}), append(g.edges, g.edges[k])
		}
	}
	g.N, g.Edges = len(g.nodes), joined
	if r.err != nil {
		return
	}
	whole, err := g.Canonical()
	if err == nil {
		err = r.all.add(whole)
	}
	if err != nil {
		r.fail(&Error{Line: line, Message: err.Error()})
	}
	r.graphs, r.lines = append(r.graphs, g), append(r.lines, line)
}

// part reads the attributes of a "node" or an "edge".
func (r *graphMLReader) part(of string) (data map[string]string) {
	for e := range r.elements() {
		switch e.Name.Local {
		case "data":
			r.datum(e, of, &data)
		case "graph":
			r.fail(fmt.Errorf("expected %ss without nested graphs, found one", of))
		default:
			r.skip()
		}
	}
	return data
}

// labels returns the values of an attribute, nil if id is empty.
func (r *graphMLReader) labels(id string, of []map[string]string) []string {
	if id == "" {
		return nil
	}
	return lists.Map(of, func(data map[string]string) string { return cmp.Or(data[id], r.keys[id].value, "?") })
}

func (r *graphMLReader) table() (*Table, *Error) {
	t := &Table{Format: "graphml", Header: true, Kind: KindGraphs, first: 1, Lines: r.lines}
	if len(r.graphs) == 0 {
		return nil, &Error{Message: "expected at least one graph, found none"}
	}
	// An attribute belongs to nodes, edges or graphs if it occurs there or has a default value
	// for them.
	given := func(domain string) []string {
		return lists.Filter(r.ids, func(id string) bool {
			k := r.keys[id]
			return k.domain == domain && k.value != "" || r.met[[2]string{domain, id}]
		})
	}
	ofNodes, ofEdges, ofGraphs := given("node"), given("edge"), given("graph")
	if len(ofNodes) > mostAttributes {
		return nil, &Error{Message: fmt.Sprintf("expected at most %d node attributes, found %d: remove those that are not labels", mostAttributes, len(ofNodes)), Err: ErrTooLarge}
	}
	if width := 1 + len(ofNodes) + len(ofGraphs); width > r.lim.Columns {
		return nil, tooWide(1, width, r.lim)
	}
	// First comes the attribute most like a label, by its name or because it is text.
	// Numbers on edges are usually weights, so graphs without them come first.
	rank := func(id string) int {
		switch k := r.keys[id]; {
		case strings.EqualFold(k.name, labelName):
			return 0
		case k.text:
			return 1
		}
		return 2
	}
	byRank := func(a, b string) int { return cmp.Compare(rank(a), rank(b)) }
	slices.SortStableFunc(ofNodes, byRank)
	slices.SortStableFunc(ofEdges, byRank)
	most := unfolded * min(max(r.size, 1<<20), r.lim.Bytes) // small files, which are read without waiting, count as 1 MiB
	left := most
	seen := map[string]bool{}
	named := func(name string) error {
		if seen[name] {
			return fmt.Errorf("expected attributes with distinct names, found two called %s", quote(strings.TrimPrefix(name, graphsBy)))
		}
		seen[name] = true
		return checkText("name of an attribute", name)
	}
	// with returns columns of the graphs with an edge attribute, "" for none: one for each node
	// attribute and one without node labels.
	with := func(edge string) (columns []Column, err error) {
		graphs := make([]Graph, len(r.graphs))
		for i, g := range r.graphs {
			g.EdgeLabels = r.labels(edge, g.edges)
			if graphs[i], err = g.Canonical(); err != nil {
				return nil, fmt.Errorf("graph %d: %w", i+1, err)
			}
		}
		for _, node := range append(slices.Clip(ofNodes), "") {
			name := graphName
			switch {
			case node != "":
				name = graphsBy + r.keys[node].name
			case len(ofNodes) > 0:
				name = "graph without labels"
			}
			if edge != "" {
				name += ", edges by " + r.keys[edge].name
			}
			if err := named(name); err != nil {
				return nil, err
			}
			c, err := graphsColumn(name, len(graphs), &left, func(i int) (Graph, error) {
				graphs[i].Labels = r.labels(node, r.graphs[i].nodes)
				return graphs[i], nil
			})
			if err != nil {
				return nil, err
			}
			columns = append(columns, c)
		}
		return columns, nil
	}
	var attributes []Column
	for _, id := range ofGraphs {
		k := r.keys[id]
		if err := named(k.name); err != nil {
			return nil, &Error{Message: err.Error()}
		}
		c := Column{Name: k.name}
		for _, g := range r.graphs {
			if s := cmp.Or(g.data[id], k.value); left > 0 { // else the table is refused below
				left -= int64(len(s))
				c.add(s)
			}
		}
		attributes = append(attributes, c)
	}
	plain, err := with("")
	if left <= 0 {
		return nil, &Error{Message: fmt.Sprintf("expected at most %s with every node attribute written out: remove those that are not labels", param.Bytes(most)), Err: ErrTooLarge}
	}
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	// Graphs can also be compared without edge labels, so faults of these only leave out columns.
	if more := len(ofEdges) - mostAttributes; more > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%s of edges left out: at most %d are read", Count(more, "attribute"), mostAttributes))
		ofEdges = ofEdges[:mostAttributes]
	}
	var texts, numbers []Column
	for _, id := range ofEdges {
		err := fmt.Errorf("more than %d columns", r.lim.Columns)
		var columns []Column
		if len(texts)+len(numbers)+2*len(plain)+len(attributes) <= r.lim.Columns {
			columns, err = with(id)
		}
		switch {
		case err != nil:
			t.Notes = append(t.Notes, fmt.Sprintf("edge attribute %s left out: %s", quote(r.keys[id].name), err))
		case rank(id) < 2:
			texts = append(texts, columns...)
		default:
			numbers = append(numbers, columns...)
		}
	}
	t.Columns = slices.Concat(texts, plain, numbers, attributes)
	t.graphs = len(t.Columns) - len(attributes)
	t.asks = t.graphs > 1
	return t, nil
}
