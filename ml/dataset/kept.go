package dataset

import (
	"fmt"
	"slices"
)

// Shape describes the rows that a model accepts, in JSON beside the other fields of
// the model.
type Shape struct {
	Objects Kind   `json:"objects"`
	Columns int    `json:"columns,omitempty"` // precomputed: kernel values per row, one for each training object
	Column  string `json:"column,omitempty"`  // strings and graphs: name of their column
}

// Kept holds the objects stored in a model, with a JSON list for each kind beside the other fields
// of its supports.
type Kept struct {
	Numbers []int    `json:"numbers,omitempty"` // precomputed: numbers of the columns that hold k(x, x_j), from 1
	Strings []string `json:"strings,omitempty"`
	Graphs  []Graph  `json:"graphs,omitempty"`
}

// TellEdges reports whether some graph is directed or has edge labels.
func (k Kept) TellEdges() bool {
	return slices.ContainsFunc(k.Graphs, func(g Graph) bool { return g.Directed || len(g.EdgeLabels) > 0 })
}

// KeptCores is Kept for the cores of a machine's conformal map, beside the other fields of the
// machine.
type KeptCores struct {
	Numbers []int    `json:"core_numbers,omitempty"`
	Strings []string `json:"core_strings,omitempty"`
	Graphs  []Graph  `json:"core_graphs,omitempty"`
}

// KeptOf returns the JSON form of objects returned by Keep; nil stands for vectors, which are
// stored elsewhere.
func KeptOf(o Objects) (Shape, Kept) {
	if o == nil {
		o = vectors{}
	}
	return o.kept()
}

// Restore is the inverse of KeptOf. It returns an error for an unknown kind and an invalid list.
func (s Shape) Restore(k Kept) (Objects, error) {
	e := s.Objects.entry()
	switch {
	case e == nil:
		return nil, fmt.Errorf("objects: expected a known kind, found %s: a newer version of Margin Lab may have written them", quote(string(s.Objects)))
	case e.restore == nil:
		return nil, nil
	}
	return e.restore(s, k)
}

// Alike reads rows to predict: objects of the kind that the model keeps. expected is the name of a
// label column, which the file need not have; label is the name of the one found, or empty.
func (t *Table) Alike(kept Objects, expected string) (o Objects, label string, err error) {
	return kept.Kind().entry().rows(t, kept, expected)
}
