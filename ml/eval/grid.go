package eval

import (
	"encoding/json"
	"fmt"
	"slices"

	"marginlab/ml"
	"marginlab/ml/param"
)

// Grid lists the values to try, by the name of their parameter. A parameter without
// values stays as the spec has it. What says which points there are and how they are
// dealt cannot be searched: label, features, positive, test_fraction and seed.
type Grid map[string][]param.Value

// Numbers are values of a Grid.
func Numbers(values ...float64) []param.Value {
	all := make([]param.Value, len(values))
	for i, v := range values {
		all[i] = param.Of(v)
	}
	return all
}

// maxSettings is the largest size of a grid: a slip, rather than a search, has more.
const maxSettings = 10000

// Paths returns every combination of the values with what base says otherwise, each
// once: in the order of ml.Params, the first outermost and with its values as given,
// and C innermost, as a path. A value that means nothing beside the others makes no
// combination of its own. Errors are param.Problems.
func (g Grid) Paths(base ml.Spec) ([]Path, error) {
	for name := range g {
		if _, known := ml.Param(name); !known {
			return nil, param.Problems{{Field: name, Message: name + " is not a parameter"}}
		}
	}
	specs, cs := []ml.Spec{base}, []float64{base.Value("C").Number()}
	for _, p := range ml.Params {
		values := g[p.Name]
		if len(values) == 0 {
			continue
		}
		if err := searchable(p, values); err != nil {
			return nil, param.Problems{{Field: p.Name, Message: err.Error()}}
		}
		if len(specs)*len(values)*len(cs) > maxSettings {
			return nil, param.Problems{{Field: p.Name, Message: fmt.Sprintf("%s: the grid has more than %d settings; take fewer values", p.Name, maxSettings)}}
		}
		if p.Name == "C" {
			cs = nil
			for _, v := range values {
				cs = append(cs, v.Number())
			}
			slices.Sort(cs)
			cs = slices.Compact(cs)
			continue
		}
		var next []ml.Spec
		for _, outer := range specs {
			for _, v := range values {
				s := outer
				if err := s.Set(p.Name, v.Text()); err != nil {
					return nil, err
				}
				next = append(next, s)
			}
		}
		specs = next
	}

	var paths []Path
	seen := make(map[string]bool)
	for _, s := range specs {
		if s.Applies("C") {
			s = s.With("C", param.Of(cs[0]))
		}
		// The text leaves out what does not apply.
		text, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		if seen[string(text)] {
			continue
		}
		seen[string(text)] = true
		var path Path
		if err := json.Unmarshal(text, &path.Spec); err != nil {
			return nil, err
		}
		if path.Spec.Applies("C") {
			path.C = cs
		}
		paths = append(paths, path)
	}
	return paths, nil
}

// searchable tells why values of p cannot be tried, or nil.
func searchable(p param.Param, values []param.Value) error {
	if p.Kind == param.Text && p.Syntax == nil || p.Name == "test_fraction" || p.Name == "seed" {
		return fmt.Errorf("%s cannot be searched: it says on which points the settings are judged", p.Name)
	}
	for _, v := range values {
		if err := p.Verify(v); err != nil {
			return err
		}
	}
	return nil
}
