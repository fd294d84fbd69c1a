package dataset

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// graphsBy is the prefix of the name of a column of graphs labelled by a node attribute.
const graphsBy = graphName + " by "

// mostAttributes is the most node attributes in a file of graphs: each gives a column of all
// graphs.
const mostAttributes = 10

// unfolded is the largest ratio of the columns of graphs to the size of a file.
const unfolded = 8

// graphMLKey declares an attribute.
type graphMLKey struct {
	name, domain, value string // value: where none is given
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
	met  map[[2]string]bool    // which keys have a value in a node, an edge or a graph: that and the id

	lines  []int
	graphs []graphMLGraph
	all    graphAdder
}

type graphMLGraph struct {
	Graph
	data  map[string]string   // of the graph, by id of the key
	nodes []map[string]string // of its nodes
	edges []map[string]string // of the edges that Graph begins with, which may be there several times
}

// parseGraphML reads GraphML, a row per graph. There is a column of graphs for each node
// attribute, used as node label, and one without labels; the same again for each edge attribute;
// and a column for each attribute of graphs, one of which is the label.
func parseGraphML(text string, lim Limits) (*Table, *Error) {
	r := &graphMLReader{dec: xml.NewDecoder(strings.NewReader(text)), size: int64(len(text)), lim: lim, keys: map[string]graphMLKey{}, met: map[[2]string]bool{}}
	if err := r.file(); err != nil {
		fault := &Error{Message: err.Error()}
		if !errors.As(err, &fault) {
			fault.Line, _ = r.dec.InputPos()
		}
		return nil, fault
	}
	return r.table()
}

// next returns the next element that begins, nil where the one around it ends.
func (r *graphMLReader) next() (*xml.StartElement, error) {
	for {
		token, err := r.dec.Token()
		if err != nil {
			return nil, graphMLFault(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			return &token, nil
		case xml.EndElement:
			return nil, nil
		}
	}
}

func graphMLFault(err error) error {
	var syntax *xml.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("expected GraphML, found no XML: %s", syntax.Msg)
	case err == io.EOF:
		return errors.New("expected GraphML, found the end of the file")
	}
	return fmt.Errorf("expected GraphML in UTF-8: %s", strings.TrimPrefix(err.Error(), "xml: "))
}

func (r *graphMLReader) skip() error {
	if err := r.dec.Skip(); err != nil {
		return graphMLFault(err)
	}
	return nil
}

func attribute(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (r *graphMLReader) file() error {
	root, err := r.next()
	if err != nil {
		return err
	}
	if strings.EqualFold(root.Name.Local, "html") {
		return errors.New("expected a table, found a web page, as some programs write under the name of a spreadsheet: open it in a spreadsheet program and save it as .xlsx or as CSV")
	}
	if root.Name.Local != "graphml" {
		return fmt.Errorf("expected GraphML, <graphml>, found <%s>", root.Name.Local)
	}
	for {
		e, err := r.next()
		if e == nil || err != nil {
			return err
		}
		switch e.Name.Local {
		case "key":
			err = r.key(e)
		case "graph":
			err = r.graph(e)
		default:
			err = r.skip()
		}
		if err != nil {
			return err
		}
	}
}

func (r *graphMLReader) key(e *xml.StartElement) error {
	id := attribute(e, "id")
	k := graphMLKey{name: tidy(cmp.Or(attribute(e, "attr.name"), id)), domain: cmp.Or(attribute(e, "for"), "all"), text: cmp.Or(attribute(e, "attr.type"), "string") == "string"}
	if err := checkText("name of an attribute", graphsBy+k.name); err != nil {
		return err
	}
	for {
		e, err := r.next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		if e.Name.Local != "default" {
			err = r.skip()
		} else {
			k.value, err = r.text()
		}
		if err != nil {
			return err
		}
	}
	if _, twice := r.keys[id]; twice {
		return fmt.Errorf("key %s is declared twice", quote(id))
	}
	if k.domain == "node" || k.domain == "edge" || k.domain == "graph" || k.domain == "all" {
		r.keys[id], r.ids = k, append(r.ids, id)
	}
	return nil
}

// text returns the text of the current element without that of nested elements.
func (r *graphMLReader) text() (string, error) {
	var b strings.Builder
	for {
		token, err := r.dec.Token()
		if err != nil {
			return "", graphMLFault(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			b.Write(token)
		case xml.StartElement:
			if err := r.skip(); err != nil {
				return "", err
			}
		case xml.EndElement:
			return tidy(b.String()), nil
		}
	}
}

// datum adds an attribute of a "graph", "node" or "edge".
func (r *graphMLReader) datum(e *xml.StartElement, of string, to *map[string]string) error {
	id := attribute(e, "key")
	text, err := r.text()
	if err != nil {
		return err
	}
	if _, known := r.keys[id]; known && text != "" {
		if *to == nil {
			*to = map[string]string{}
		}
		(*to)[id], r.met[[2]string{of, id}] = text, true
	}
	return nil
}

func (r *graphMLReader) graph(e *xml.StartElement) error {
	line, _ := r.dec.InputPos()
	if len(r.graphs) == r.lim.Rows {
		return &Error{Line: line, Message: "expected at most " + Count(r.lim.Rows, "graph"), Err: ErrTooLarge}
	}
	var g graphMLGraph
	usual := cmp.Or(attribute(e, "edgedefault"), "undirected") == "directed"
	type edge struct {
		ends     [2]string
		directed bool
		line     int
	}
	var edges []edge
	place := map[string]int{} // of the nodes, by id
	for {
		e, err := r.next()
		if err != nil {
			return err
		}
		if e == nil {
			break
		}
		switch e.Name.Local {
		case "data":
			err = r.datum(e, "graph", &g.data)
		case "node":
			id := attribute(e, "id")
			if _, twice := place[id]; twice {
				return fmt.Errorf("node %s is there twice", quote(id))
			}
			place[id] = len(g.nodes)
			var data map[string]string
			data, err = r.part("node")
			g.nodes = append(g.nodes, data)
		case "edge":
			line, _ := r.dec.InputPos()
			directed := cmp.Or(attribute(e, "directed"), strconv.FormatBool(usual)) == "true"
			g.Directed = g.Directed || directed
			edges = append(edges, edge{[2]string{attribute(e, "source"), attribute(e, "target")}, directed, line})
			var data map[string]string
			data, err = r.part("edge")
			g.edges = append(g.edges, data)
		case "hyperedge":
			return errors.New("expected edges that join two nodes, found a hyperedge")
		default:
			err = r.skip()
		}
		if err != nil {
			return err
		}
	}
	joined := make([][2]int, len(edges))
	for k, e := range edges {
		for a, id := range e.ends {
			v, ok := place[id]
			if !ok {
				return &Error{Line: e.line, Message: fmt.Sprintf("edge from %s to %s: there is no node %s", quote(e.ends[0]), quote(e.ends[1]), quote(id))}
			}
			joined[k][a] = v
		}
		if joined[k][0] == joined[k][1] {
			return &Error{Line: e.line, Message: fmt.Sprintf("this edge joins node %s to itself: remove it, for the kernels compare graphs without loops", quote(e.ends[0]))}
		}
	}
	for k, e := range edges {
		if g.Directed && !e.directed { // among directed ones
			joined, g.edges = append(joined, [2]int{joined[k][1], joined[k][0]}), append(g.edges, g.edges[k])
		}
	}
	g.N, g.Edges = len(g.nodes), joined
	whole, err := g.Canonical()
	if err == nil {
		err = r.all.add(whole)
	}
	if err != nil {
		return &Error{Line: line, Message: err.Error()}
	}
	r.graphs, r.lines = append(r.graphs, g), append(r.lines, line)
	return nil
}

// part reads the attributes of a "node" or an "edge".
func (r *graphMLReader) part(of string) (data map[string]string, err error) {
	for {
		e, err := r.next()
		if e == nil || err != nil {
			return data, err
		}
		switch e.Name.Local {
		case "data":
			err = r.datum(e, of, &data)
		case "graph":
			err = fmt.Errorf("expected %ss without graphs within them, found one", of)
		default:
			err = r.skip()
		}
		if err != nil {
			return nil, err
		}
	}
}

// labels returns the values of an attribute, nil if id is empty.
func (r *graphMLReader) labels(id string, of []map[string]string) (list []string) {
	if id == "" {
		return nil
	}
	list = make([]string, len(of))
	for k, data := range of {
		list[k] = cmp.Or(data[id], r.keys[id].value, "?")
	}
	return list
}

func (r *graphMLReader) table() (*Table, *Error) {
	t := &Table{Format: "graphml", Header: true, Kind: KindGraphs, first: 1, Lines: r.lines}
	if len(r.graphs) == 0 {
		return nil, &Error{Message: "expected at least one graph, found none"}
	}
	// An attribute belongs to nodes or graphs if it occurs there or has a default value
	// for them.
	given := func(domain string) (ids []string) {
		for _, id := range r.ids {
			if k := r.keys[id]; k.domain == domain && k.value != "" || r.met[[2]string{domain, id}] {
				ids = append(ids, id)
			}
		}
		return ids
	}
	ofNodes, ofEdges, ofGraphs := given("node"), given("edge"), given("graph")
	if len(ofNodes) > mostAttributes {
		return nil, &Error{Message: fmt.Sprintf("expected at most %d attributes of nodes, found %d: leave out those that are no labels", mostAttributes, len(ofNodes)), Err: ErrTooLarge}
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
	most := unfolded * min(max(r.size, 1<<20), r.lim.Bytes) // small files need no turn to be read
	left := most
	seen := map[string]bool{}
	named := func(name string) error {
		if seen[name] {
			return fmt.Errorf("expected attributes with names that differ, found two called %s", quote(strings.TrimPrefix(name, graphsBy)))
		}
		seen[name] = true
		return checkText("name of an attribute", name)
	}
	// with returns the graphs with an attribute of edges, "" for none, and each of nodes.
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
		return nil, &Error{Message: fmt.Sprintf("expected at most %s when every attribute of a node is written out: leave out those that are no labels", bytesText(most)), Err: ErrTooLarge}
	}
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	// Without labels of edges graphs can be compared as well.
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
