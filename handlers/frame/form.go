package frame

import (
	"net/url"
	"slices"
	"strconv"

	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/views"
)

// ReadSpec sets the parameters in a form and collects problems, so that the form can be
// shown again.
func ReadSpec(form url.Values) (ml.Spec, param.Problems) {
	spec := ml.DefaultSpec()
	var problems param.Problems
	for _, p := range ml.Params {
		if !form.Has(p.Name) {
			continue
		}
		text := p.Typed(form.Get(p.Name))
		if err := p.Labelled().Check(text); err != nil {
			problems.Note(p.Name, err)
		} else if err := spec.Set(p.Name, text); err != nil {
			problems = append(problems, err.(param.Problems)...)
		}
	}
	// Ignore problems with values that do not apply.
	return spec, slices.DeleteFunc(problems, func(p param.Problem) bool { return !spec.Applies(p.Field) })
}

// SpecQuery returns the shortest form equivalent to spec: applicable parameters that differ from
// their defaults, and always test_fraction, to mark the form as that of a training.
func SpecQuery(spec ml.Spec) url.Values {
	q := url.Values{"test_fraction": {spec.Text("test_fraction")}}
	def := ml.DefaultSpec()
	for _, p := range ml.Params {
		if v := spec.Text(p.Name); spec.Applies(p.Name) && v != def.Text(p.Name) {
			q.Set(p.Name, v)
		}
	}
	return q
}

// LabQuery returns the query that opens the lab with a spec on data, and their columns on the axes
// of the picture.
func LabQuery(spec ml.Spec, data string, axes [2]string) url.Values {
	q := SpecQuery(spec)
	q.Del("project")
	q.Set("target", spec.Target) // the lab would guess it from the labels
	if spec.Project == "pca" {
		q.Set("on", "pca")
	}
	if axes[0] != "" {
		q.Set("x", axes[0])
		q.Set("y", axes[1])
	}
	q.Set("data", data)
	return q
}

// SpecGroups returns the groups of the training form. Parameters that do not apply are
// hidden rather than omitted, so that a script can show them.
func SpecGroups(spec ml.Spec, form url.Values, problems param.Problems) (groups []views.Group) {
	for _, g := range ml.Groups {
		vg := views.Group{Name: g.Name, Title: g.Title}
		for _, p := range g.Params {
			if g.Name == "data" && p.Kind == param.Text || p.Name == "project" {
				continue // the lab has its own controls for columns and classes
			}
			f := ParamField(p, spec.Text(p.Name))
			f.Hidden = !spec.Applies(p.Name)
			if f.Error = problems.For(p.Name); f.Error != "" {
				f.Value = form.Get(p.Name)
			}
			if p.Folded {
				vg.Folded = append(vg.Folded, f)
			} else {
				vg.Fields = append(vg.Fields, f)
			}
		}
		if len(vg.Fields) > 0 {
			groups = append(groups, vg)
		}
	}
	return groups
}

// ParamField returns the control of a parameter with its value as text.
func ParamField(p param.Param, value string) views.Field {
	f := views.Field{
		Name: p.Name, Label: results.Capital(p.Label), Symbol: p.Symbol, Help: p.Help, Log: p.Log, Zero: p.Log && p.Min == 0 && !p.OpenMin, Value: value,
		Kind: [...]string{param.Number: "number", param.Integer: "integer", param.Switch: "switch", param.Choice: "choice", param.Text: "text"}[p.Kind],
	}
	if p.Low != 0 || p.High != 0 {
		f.Low, f.High = strconv.FormatFloat(p.Low, 'g', -1, 64), strconv.FormatFloat(p.High, 'g', -1, 64)
	}
	for _, o := range p.Options {
		f.Options = append(f.Options, views.Option{
			Value: o.Name, Label: o.Label, Help: o.Help, Formula: o.Formula, Chosen: o.Name == value,
		})
	}
	return f
}

// HiddenFields names the parameters that do not apply, for the page's script.
func HiddenFields(spec ml.Spec) []string {
	idle := lists.Filter(ml.Params, func(p param.Param) bool { return !spec.Applies(p.Name) })
	hidden := lists.Map(idle, func(p param.Param) string { return p.Name })
	if spec.Conformal == "none" {
		hidden = append(hidden, "cores") // the switch that shows them
	}
	if spec.Targets() {
		hidden = append(hidden, "slack") // the switch that shows it
	}
	return hidden
}
