package lab

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	labview "marginlab/views/lab"
	"marginlab/web"
)

// labInCourse adapts the lab's page to a course: it removes hidden controls and marks
// frozen ones.
func (a *Handler) labInCourse(r *http.Request, b *bench, p *labview.Lab) error {
	in, err := a.InCourse(r.Context(), *b.course)
	if err != nil {
		return err
	}
	in.Who = cmp.Or(r.FormValue("who"), in.Who)
	in.WhoError, in.Refused = b.badName, b.refused
	p.Course = in
	in.HandIn = true
	visible := func(fields []views.Field) []views.Field {
		return slices.DeleteFunc(fields, func(f views.Field) bool { return in.State(f.Name) == "hidden" })
	}
	p.DataFields, p.Marks = visible(p.DataFields), visible(p.Marks)
	var groups []views.Group
	for _, g := range p.Groups {
		if g.Fields, g.Folded = visible(g.Fields), visible(g.Folded); len(g.Fields)+len(g.Folded) > 0 {
			groups = append(groups, g)
		}
	}
	p.Groups = groups
	p.NoVersions, p.Rules = p.NoVersions || b.fixes(versionControls...), p.Rules && !b.fixes(ruleControls...)
	p.NoSets = b.fixes("data")
	return nil
}

// versionControls lists the controls that the comparison of versions sets itself.
var versionControls = []string{"learner", "conformal", "test_fraction"}

// ruleControls lists the controls that the comparison of rules sets.
var ruleControls = []string{"multiclass", "positive"}

// HandIn saves the lab's state as a run and submits it before it is trained.
func (a *Handler) HandIn(w http.ResponseWriter, r *http.Request, b *bench) error {
	if b.course == nil || b.course.Code != chi.URLParam(r, "code") {
		return web.Errorf(web.Conflict, "This page does not belong to the course. Open the course again with its code.")
	}
	run, err := a.EnqueueHandin(r.Context(), frame.Workspace(r.Context()), b.newRun(r.PostFormValue("name"), b.spec), r.PostFormValue("who"))
	var shut *store.Error
	switch {
	case errors.Is(err, store.ErrNames):
		b.badName = err.Error()
	case errors.As(err, &shut) && shut.Kind() == web.Conflict: // keep what was to be submitted
		b.refused = shut.Error()
	case errors.As(err, &b.problems):
		b.badName = b.problems.For("who")
		b.problems = slices.DeleteFunc(b.problems, func(p param.Problem) bool { return p.Field == "who" }) // no setting of the model
	case err != nil:
		return err
	}
	if err != nil {
		return a.refuse(w, r, b)
	}
	if q := b.query().Encode(); len(q) < frame.LongestLink {
		return frame.Redirect(w, r, "/lab?"+q)
	}
	return frame.Redirect(w, r, "/runs/"+run.ID+"#hand-in")
}

// Withdraw withdraws a submission and returns to the page it was made on: a run's, or the lab in
// the state of the form.
func (a *Handler) Withdraw(w http.ResponseWriter, r *http.Request) error {
	if err := a.Store.Withdraw(r.Context(), frame.Workspace(r.Context()), r.PostFormValue("handin")); err != nil {
		return err
	}
	if run := r.PostFormValue("run"); run != "" {
		return frame.Redirect(w, r, "/runs/"+url.PathEscape(run)+"#hand-in")
	}
	if b, err := a.readBench(r.Context(), r.PostForm); err == nil {
		if q := b.query().Encode(); len(q) < frame.LongestLink {
			return frame.Redirect(w, r, "/lab?"+q)
		}
	}
	return frame.Redirect(w, r, "/course/"+url.PathEscape(chi.URLParam(r, "code")))
}

// Posted returns the controls of the lab that a course can fix, in the state of its form. posted is
// false if an invalid form has been answered.
func (a *Handler) Posted(w http.ResponseWriter, r *http.Request) (s frame.Setting, posted bool, err error) {
	b, err := a.stated(w, r)
	if b == nil {
		return s, false, err
	}
	b.course = nil // replaced by the new course
	return b.setting(), true, nil
}

// Setting returns the controls of the lab that a course can fix.
func (a *Handler) Setting(ctx context.Context, _ string, q url.Values) (frame.Setting, error) {
	b, err := a.readBench(ctx, q)
	if err != nil {
		return frame.Setting{}, err
	}
	return b.setting(), b.problems.Err()
}

// setting returns the bench as a page from which a course can be made.
func (b *bench) setting() frame.Setting {
	s := frame.Setting{Path: "/lab", Query: b.query(), Title: b.spec.Name(nil) + " · " + b.name, Groups: labControls(b)}
	if b.data != nil && (b.points != "" || !frame.IsPublic(b.id)) {
		s.Points, s.Data = b.data, b.dataName()
	}
	return s
}

// labControls lists the controls of the lab with their values.
func labControls(b *bench) []views.ControlGroup {
	control := func(name, value string) views.Control {
		p, _ := ml.Param(name)
		return views.Control{Name: name, Label: results.Capital(frame.ControlLabel(name)), Symbol: p.Symbol, Value: value}
	}
	yes := map[bool]string{true: "yes", false: "no"}
	data := []views.Control{control("data", b.dataName()), control("points", "")}
	if b.data != nil {
		if !b.spec.Regression() {
			data = append(data, control("positive", chosenLabel(b.positives())))
		}
		if len(b.data.Features) > 2 {
			data = append(data, control("x", b.x), control("y", b.y), control("on", chosenLabel(trainOptions(b))))
		}
	}
	unused := b.hidden()
	var groups []views.ControlGroup
	for _, g := range ml.Groups {
		vg := views.ControlGroup{Name: g.Name, Title: g.Title}
		if g.Name == "data" {
			vg.Controls = data
		}
		for _, p := range g.Params {
			if g.Name == "data" && p.Kind == param.Text || p.Name == "project" {
				continue // set by the controls of the data
			}
			c := control(p.Name, results.OptionLabel(p, b.spec.Text(p.Name)))
			c.Unused = slices.Contains(unused, p.Name)
			vg.Controls = append(vg.Controls, c)
		}
		groups = append(groups, vg)
	}
	cores := control("cores", yes[b.look.Cores])
	cores.Unused = b.spec.Conformal == "none"
	return append(groups, views.ControlGroup{Name: "picture", Title: "Picture", Controls: []views.Control{
		control("show", chosenLabel(views.Choose(backgrounds, b.background()))), control("slack", yes[b.look.Slack]), cores,
	}})
}

func chosenLabel(options []views.Option) string {
	o, _ := lists.Find(options, func(o views.Option) bool { return o.Chosen })
	return o.Label
}
