package dataset

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"marginlab/ml/lists"
)

// writtenGraph is a graph in JSON input.
type writtenGraph struct {
	N          *int       `json:"n"`
	Directed   bool       `json:"directed"`
	Edges      [][]int    `json:"edges"`
	EdgeLabels []jsonText `json:"edge_labels"`
	Labels     []jsonText `json:"labels"`

	// Label of the whole graph, under any of the usual names.
	Label  *jsonText `json:"label"`
	Class  *jsonText `json:"class"`
	Target *jsonText `json:"target"`
}

// jsonText is a label in JSON: a string, or a number as written.
type jsonText string

// UnmarshalJSON reads a string or a number.
func (t *jsonText) UnmarshalJSON(data []byte) error {
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	var n json.Number
	if err := json.Unmarshal(data, &n); err != nil {
		return fmt.Errorf("expected a string or a number as label, found %s", quote(string(data)))
	}
	*t = jsonText(n)
	return nil
}

// classLabel is the label of a graph with its key, both empty if there is none.
type classLabel struct{ name, text string }

// parseGraph reads a graph written in JSON, and its label.
func parseGraph(text string) (g Graph, class classLabel, err error) {
	var w writtenGraph
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return g, class, fmt.Errorf(`expected a graph as {"n":3,"edges":[[0,1],[1,2]]}, %s`, jsonFault(err))
	}
	if _, err := dec.Token(); err != io.EOF {
		return g, class, errors.New("expected a single graph, found more after it")
	}
	if w.N == nil {
		return g, class, errors.New(`expected "n", the number of nodes, found none`)
	}
	edges := make([][2]int, len(w.Edges))
	for k, e := range w.Edges {
		if len(e) != 2 {
			return g, class, fmt.Errorf("edge %d: expected two nodes, as in [0,1], found %d", k+1, len(e))
		}
		edges[k] = [2]int(e)
	}
	for _, l := range []struct {
		name string
		text *jsonText
	}{{labelName, w.Label}, {"class", w.Class}, {"target", w.Target}} {
		switch {
		case l.text == nil:
		case class.name != "":
			return g, class, fmt.Errorf("expected one label of the graph, found %s and %s", class.name, l.name)
		default:
			class = classLabel{l.name, strings.TrimSpace(string(*l.text))}
		}
	}
	g, err = Graph{N: *w.N, Directed: w.Directed, Edges: edges, EdgeLabels: tidied(w.EdgeLabels), Labels: tidied(w.Labels)}.Canonical()
	return g, class, err
}

func tidied(labels []jsonText) []string {
	return lists.Map(labels, func(l jsonText) string { return tidy(string(l)) })
}

// jsonFault describes a JSON error in words.
func jsonFault(err error) string {
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind) && kind.Field != "":
		return fmt.Sprintf("found %s in %q, which is not allowed there", kind.Value, kind.Field)
	case errors.As(err, &kind):
		return "found " + kind.Value
	case errors.As(err, &syntax):
		return fmt.Sprintf("found no JSON at character %d: %s", syntax.Offset, syntax)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "found the end of the line inside the graph"
	}
	return "found " + strings.TrimPrefix(err.Error(), "json: ")
}

// parseJSONLines reads a graph per line, {"n":3,"edges":[[0,1],[1,2]],"labels":["C","C","O"],
// "label":"a"}, with "directed":true and "edge_labels" as in String. The label may also be called
// class or target; if no graph has one, there is no label column.
func parseJSONLines(text string, lim Limits) (*Table, *Error) {
	t := &Table{Format: "jsonl", Header: true, Kind: KindGraphs, first: 1, graphs: 1}
	var all graphAdder
	var cells, labels []string
	name := "" // of the column of labels
	for line := 1; text != ""; line++ {
		var s string
		s, text = cutLine(text)
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		g, class, err := parseGraph(s)
		if err == nil {
			err = all.add(g)
		}
		if err != nil {
			return nil, &Error{Line: line, Message: err.Error()}
		}
		if len(t.Lines) == lim.Rows {
			return nil, beyond(line, lim.Rows, "graph")
		}
		t.Lines = append(t.Lines, line)
		cells, labels, name = append(cells, g.String()), append(labels, class.text), cmp.Or(name, class.name)
	}
	t.Columns = []Column{column(graphName, cells)}
	if name != "" {
		t.Columns = append(t.Columns, column(name, labels))
	}
	return t, noRows(t)
}
