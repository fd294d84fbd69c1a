package lab

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/door"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
)

// ofSearch begins the names of the fields that say what to search.
const ofSearch = "search."

// searchable are the parameters that a search is offered for: those with a range, C first.
func searchable() (params []param.Param) {
	for _, p := range ml.Params {
		switch {
		case len(eval.Tries(p)) == 0 || p.Folded || p.Name == "test_fraction":
		case p.Name == "C":
			params = slices.Insert(params, 0, p)
		default:
			params = append(params, p)
		}
	}
	return params
}

// offered are the parameters that a search begins with: the first two that apply.
func (b *bench) offered() (params []param.Param) {
	for _, p := range searchable() {
		if b.spec.Applies(p.Name) && len(params) < 2 {
			params = append(params, p)
		}
	}
	return params
}

// searchTitle says what the button searches; empty where nothing can be.
func (b *bench) searchTitle() string {
	var names []string
	for _, p := range b.offered() {
		name := p.Name
		if p.Symbol == "" || len(p.Symbol) > 3 {
			name = p.Label
		}
		names = append(names, name)
	}
	if len(names) == 0 || b.course != nil {
		return ""
	}
	return "Search " + strings.Join(names, " and ")
}

// searchFields are the values to try of each parameter.
func (b *bench) searchFields() (fields []views.Field) {
	hidden := b.hidden()
	for _, p := range searchable() {
		f := views.Field{Name: p.Name, Form: ofSearch, Label: p.Label, Symbol: p.Symbol, Hidden: slices.Contains(hidden, p.Name)}
		name := ofSearch + p.Name
		switch {
		case b.form.Has(name):
			f.Value = b.form.Get(name)
		case p.Name == "C" || slices.ContainsFunc(b.offered(), func(o param.Param) bool { return o.Name == p.Name }):
			f.Value = listText(eval.Tries(p))
		}
		if f.Error = b.problems.For(name); f.Error != "" {
			f.Error = door.Sentence(f.Error)
		}
		fields = append(fields, f)
	}
	return fields
}

// searchScores are those that settings can be ranked by.
func (b *bench) searchScores() (options []views.Option) {
	for _, o := range eval.ScoresFor(b.spec.Regression()) {
		options = append(options, views.Option{Value: o.Name, Label: o.Label})
	}
	chosen := b.form.Get(ofSearch + "score")
	return views.Choose(options, chosen)
}

func listText(values []param.Value) string {
	var texts []string
	for _, v := range values {
		texts = append(texts, v.Text())
	}
	return strings.Join(texts, ", ")
}

// grid reads the values to try of the parameters that apply.
func (b *bench) grid() (eval.Grid, param.Problems) {
	grid := eval.Grid{}
	var problems param.Problems
	for _, p := range searchable() {
		if !b.spec.Applies(p.Name) {
			continue
		}
		name := ofSearch + p.Name
		for text := range strings.FieldsFuncSeq(b.form.Get(name), func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
			values, err := eval.Values(p.Labelled(), text)
			if err != nil {
				problems = append(problems, param.Problem{Field: name, Message: err.Error()})
				break
			}
			for _, v := range values {
				if !slices.Contains(grid[p.Name], v) {
					grid[p.Name] = append(grid[p.Name], v)
				}
			}
		}
	}
	return grid, problems
}

// learningShares are the shares of the points that train of which the lab makes a learning
// curve: in about equal proportions, as a curve rises with the logarithm of the points.
var learningShares = []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.75, 1}

// Search searches the best settings of the lab's state in the background, or makes a learning
// curve of the one that is set.
func (a *Room) Search(w http.ResponseWriter, r *http.Request) error {
	b, err := a.posted(w, r)
	if b == nil {
		return err
	}
	if b.course != nil {
		return web.Errorf(web.Forbidden, "In a course nothing is searched: leave the course to do so.")
	}
	n := store.NewSearch{Spec: b.spec, DatasetName: b.dataName(), Data: b.data, Axes: [2]string{b.x, b.y}}
	n.Scheme.Nested, n.Scheme.Seed = b.form.Get(ofSearch+"nested") == "true", b.spec.Seed
	switch {
	case b.form.Get(ofSearch+"learning") != "":
		n.Scheme.Nested, n.Scheme.Learning = false, learningShares
	default:
		if n.Grid, b.problems = b.grid(); len(b.problems) > 0 {
			return a.refuse(w, r, b)
		}
	}
	n.Scheme.Score, n.Scheme.LeaveOneOut = b.form.Get(ofSearch+"score"), b.form.Get(ofSearch+"folds") == "loo"
	for name, number := range map[string]*int{"folds": &n.Scheme.Folds, "repeats": &n.Scheme.Repeats} {
		if *number, err = strconv.Atoi(b.form.Get(ofSearch + name)); err != nil {
			*number = map[string]int{"folds": 5, "repeats": 1}[name]
		}
	}
	if b.points == "" && door.IsStored(b.id) {
		n.Dataset = b.id
	}
	s, err := a.House.Search(r.Context(), n)
	var refusal *param.Refusal
	switch {
	case errors.As(err, &b.problems):
		for i, p := range b.problems { // the form calls it otherwise
			if p.Field == eval.ScoreParam.Name {
				b.problems[i].Field = ofSearch + p.Field
			}
		}
		return a.refuse(w, r, b)
	case errors.As(err, &refusal):
		b.problems = param.Problems{{Field: ofSearch + "folds", Message: refusal.Error()}}
		return a.refuse(w, r, b)
	case err != nil:
		return err
	}
	return door.Redirect(w, r, "/searches/"+s.ID)
}
