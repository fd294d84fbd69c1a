package lab

import (
	"cmp"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/eval"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	labview "marginlab/views/lab"
	"marginlab/web"
)

// ofSearch is the prefix of the search fields.
const ofSearch = "search."

// searchable returns the parameters that can be searched: numbers, C first, then choices and
// switches.
func searchable() (params []param.Param) {
	var choices []param.Param
	for _, p := range ml.Params {
		switch p.Kind {
		case param.Number, param.Integer:
			switch {
			case p.Name == "C":
				params = slices.Insert(params, 0, p)
			case p.Name != "test_fraction" && p.Name != "seed":
				params = append(params, p)
			}
		case param.Choice, param.Switch:
			if p.Name != "target" && p.Name != "calibration" {
				choices = append(choices, p)
			}
		}
	}
	return append(params, choices...)
}

// offered returns the default parameters of a search: the first two that apply.
func (b *bench) offered() []param.Param {
	params := lists.Filter(searchable(), func(p param.Param) bool { return b.spec.Applies(p.Name) && len(eval.Tries(p)) > 0 && !p.Folded })
	return params[:min(len(params), 2)]
}

// searchTitle returns the label of the search button, empty if nothing can be searched.
func (b *bench) searchTitle() string {
	names := lists.Map(b.offered(), func(p param.Param) string { return cmp.Or(p.Symbol, p.Label) })
	if len(names) == 0 || b.course != nil {
		return ""
	}
	return "Search " + strings.Join(names, " and ")
}

// Ways to hold points out, as named in the form.
const (
	heldFolds  = "folds"
	heldAlone  = "alone"
	heldShare  = "share"
	heldColumn = "column"
)

func (b *bench) searchForm() labview.SearchForm {
	own := func(name, usual string) string { return cmp.Or(b.form.Get(ofSearch+name), usual) }
	f := labview.SearchForm{
		Title: b.searchTitle(), Errors: map[string]string{},
		Folds: own("folds", "5"), Repeats: own("repeats", "1"), Share: own("hold_out", "0.3"), Draws: own("draws", "10"), Points: own("points", eval.PointsParam.Default),
		Nested: !b.form.Has(ofSearch+"folds") || b.form.Get(ofSearch+"nested") == "true",
	}
	if f.Title == "" {
		return f
	}
	f.Designs = views.Choose(unexplained(eval.DesignParam.Options), own("design", eval.OfGrid))
	held := []views.Option{
		{Value: heldFolds, Label: "k folds"}, {Value: heldAlone, Label: "one point at a time (leave-one-out)"}, {Value: heldShare, Label: "random splits"},
	}
	if b.data != nil && b.data.X != nil && len(b.data.Features) > 1 {
		held = append(held, views.Option{Value: heldColumn, Label: "groups given by a column"})
		f.Columns = views.Choose(pictures.PlainOptions(b.data.Features...), b.form.Get(ofSearch+"fold_column"))
	}
	f.Held = views.Choose(held, own("held", heldFolds))
	scores := lists.Map(eval.ScoresFor(b.spec.Regression()), func(s eval.Score) views.Option { return views.Option{Value: s.Name, Label: s.Label} })
	f.Scores = views.Choose(scores, b.form.Get(ofSearch+"score"))
	shown := map[string]bool{"design": true, "points": true, "folds": true, "repeats": true, "hold_out": true, "fold_column": true, "score": true}
	hidden := b.hidden()
	for _, p := range searchable() {
		field := b.searchField(p)
		field.Hidden = slices.Contains(hidden, p.Name)
		shown[p.Name] = true
		if p.Folded || len(field.Options) > 0 {
			f.More = append(f.More, field)
			f.MoreOpen = f.MoreOpen || field.Error != "" || field.Value != "" || slices.ContainsFunc(field.Options, func(o views.Option) bool { return o.Chosen })
		} else {
			f.Values = append(f.Values, field)
		}
	}
	for _, p := range b.problems {
		if name, ok := strings.CutPrefix(p.Field, ofSearch); ok {
			f.Open = true
			if !shown[name] {
				name = ""
			}
			f.Errors[name] = results.Sentence(p.Message)
		}
	}
	return f
}

// unexplained returns options without their help.
func unexplained(options []param.Option) []views.Option {
	return lists.Map(options, func(o param.Option) views.Option { return views.Option{Value: o.Name, Label: o.Label} })
}

// searchField returns the field for the values of a parameter to try.
func (b *bench) searchField(p param.Param) views.Field {
	f := views.Field{Name: p.Name, Form: ofSearch, Label: results.Capital(p.Label), Symbol: p.Symbol}
	name := ofSearch + p.Name
	chosen := b.form[name]
	switch {
	case p.Kind == param.Switch:
		f.Options = []views.Option{{Value: "true", Label: "yes"}, {Value: "false", Label: "no"}}
	case p.Kind == param.Choice:
		f.Options = unexplained(p.Options)
		switch p.Name {
		case "kernel":
			f.Options = b.kernels(f.Options)
		case "learner":
			f.Options = among(f.Options, b.learners())
		}
	case b.form.Has(name):
		f.Value = b.form.Get(name)
	case slices.ContainsFunc(b.offered(), func(o param.Param) bool { return o.Name == p.Name }):
		f.Value = strings.Join(lists.Map(eval.Tries(p), param.Value.Text), ", ")
	}
	for i, o := range f.Options {
		f.Options[i].Chosen = slices.Contains(chosen, o.Value)
	}
	if f.Error = b.problems.For(name); f.Error != "" {
		f.Error = results.Sentence(f.Error)
	}
	return f
}

// tried reads the values to try of the parameters that apply.
func (b *bench) tried() (axes eval.Axes, problems param.Problems) {
	axes = eval.Axes{}
	for _, p := range searchable() {
		if !b.spec.Applies(p.Name) {
			continue
		}
		for text := range strings.FieldsFuncSeq(strings.Join(b.form[ofSearch+p.Name], ","), func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
			if err := axes.Add(p.Name, p.Labelled(), text); err != nil {
				problems.Note(p.Name, err)
				break
			}
		}
	}
	return axes, problems
}

// scheme reads the cross-validation scheme from the form.
func (b *bench) scheme() (s eval.Scheme, problems param.Problems) {
	s = eval.Scheme{Folds: 5, Repeats: 1, Nested: b.form.Get(ofSearch+"nested") == "true", Seed: b.spec.Seed, Score: b.form.Get(ofSearch + "score")}
	number := func(name, label string, usual float64) float64 {
		text := b.form.Get(ofSearch + name)
		if text == "" {
			return usual
		}
		v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
		if err != nil {
			problems.Add(name, "%s must be a number, not %q", label, text)
		}
		return v
	}
	whole := func(name, label string, usual int) int {
		v := number(name, label, float64(usual))
		if v != math.Trunc(v) || math.Abs(v) > 1e6 {
			problems.Add(name, "%s must be a whole number, not %v", label, v)
		}
		return int(v)
	}
	switch held := b.form.Get(ofSearch + "held"); held {
	case "", heldFolds:
		s.Folds, s.Repeats = whole("folds", "folds", 5), whole("repeats", "repeats", 1)
	case heldAlone:
		s.LeaveOneOut = true
	case heldShare:
		s.HoldOut, s.Repeats = number("hold_out", "share", 0.3), whole("draws", "times drawn", 10)
	case heldColumn:
		if s.Column = b.form.Get(ofSearch + "fold_column"); s.Column == "" {
			problems.Add("fold_column", "choose the column that defines the folds")
		}
	default:
		problems.Add("", "held must be %s, %s, %s or %s, not %q", heldFolds, heldAlone, heldShare, heldColumn, held)
	}
	return s, problems
}

// search reads the search settings. Problems use the field names of store.CreateSearch.
func (b *bench) search() (n store.NewSearch, problems param.Problems) {
	n = store.NewSearch{Spec: b.spec, DatasetName: b.dataName(), Data: b.data, Axes: [2]string{b.x, b.y}}
	if b.points == "" && frame.IsStored(b.id) {
		n.Dataset = b.id
	}
	scheme, more := b.scheme()
	n.Scheme = scheme
	if b.form.Get(ofSearch+"learning") != "" {
		n.Scheme.Nested, n.Scheme.Learning = false, learningShares
		return n, more
	}
	axes, problems := b.tried()
	points, err := eval.PointsParam.Parse(eval.PointsParam.Typed(cmp.Or(b.form.Get(ofSearch+"points"), eval.PointsParam.Default)))
	if err != nil && b.form.Get(ofSearch+"design") != eval.OfGrid {
		more.Note("points", err)
	}
	if problems = append(problems, more...); len(problems) > 0 {
		return n, problems
	}
	design, err := axes.Design(b.form.Get(ofSearch+"design"), points.Int(), scheme.Seed)
	if errors.As(err, &problems) {
		return n, problems
	}
	n.Try(design)
	return n, nil
}

// learningShares are the fractions of the training set in a learning curve, roughly evenly spaced
// on a logarithmic scale.
var learningShares = []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.75, 1}

// Search starts a hyperparameter search for the lab's state in the background, or a learning curve
// for its current setting.
func (a *Handler) Search(w http.ResponseWriter, r *http.Request, b *bench) error {
	if b.course != nil {
		return web.Errorf(web.Forbidden, "Searches are not available in a course: leave the course first.")
	}
	n, problems := b.search()
	var s store.Search
	if len(problems) == 0 {
		var err error
		s, err = a.Base.Search(r.Context(), frame.Workspace(r.Context()), n)
		if refusal, ok := errors.AsType[*param.Refusal](err); ok {
			problems = param.Problems{{Message: refusal.Error()}}
		} else if !errors.As(err, &problems) && err != nil {
			return err
		}
	}
	if len(problems) > 0 {
		held := b.form.Get(ofSearch + "held")
		for _, p := range problems { // the form's names differ
			if p.Field == "folds" && held != "" && held != heldFolds { // this field is not shown
				p.Field = ""
			}
			p.Field = ofSearch + p.Field
			b.problems = append(b.problems, p)
		}
		return a.refuse(w, r, b)
	}
	return frame.Redirect(w, r, "/searches/"+s.ID)
}
