package lab

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/ml"
	"marginlab/ml/conformal"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	labview "marginlab/views/lab"
	"marginlab/web"
)

// SaveRun saves the lab's state as a run and waits briefly, since most trainings are short. It then
// redirects to the run's page; a script that stays in the lab gets the response to show there.
func (a *Handler) SaveRun(w http.ResponseWriter, r *http.Request, b *bench) error {
	run, err := a.Enqueue(r.Context(), frame.Workspace(r.Context()), b.newRun(r.PostFormValue("name"), b.spec))
	if errors.As(err, &b.problems) {
		return a.refuse(w, r, b)
	}
	if err != nil {
		return err
	}
	a.Jobs.Wait(r.Context(), glance, run.ID)
	if r.PostFormValue("stay") == "" {
		return frame.Redirect(w, r, "/runs/"+run.ID)
	}
	if run, err = a.Store.RunWithoutModels(r.Context(), frame.Workspace(r.Context()), run.ID); err != nil {
		return err
	}
	var html strings.Builder
	saved := views.Handin{ID: run.ID, Name: run.Name, Href: "/runs/" + run.ID, Status: string(run.Status)}
	if !run.Status.Ended() {
		saved.Events = saved.Href + "/events"
	}
	if err := labview.SavedView(saved).Render(r.Context(), &html); err != nil {
		return err
	}
	return web.JSON(w, http.StatusCreated, map[string]string{"id": run.ID, "html": html.String()})
}

// newRun returns a run on the bench's data. Points that are not a data set of the workspace are
// stored with the run.
func (b *bench) newRun(name string, spec ml.Spec) store.NewRun {
	n := store.NewRun{Name: name, Spec: spec, DatasetName: b.dataName(), Data: b.data, Axes: [2]string{b.x, b.y}, Request: store.Request{Key: b.form.Get("request")}}
	if b.course != nil {
		n.Course = b.course.Code
	}
	if b.points == "" && frame.IsStored(b.id) {
		n.Dataset = b.id
	}
	return n
}

// CompareVersions saves a run for every learner, without and with a conformal map, on the same
// split, and redirects to their comparison.
func (a *Handler) CompareVersions(w http.ResponseWriter, r *http.Request, b *bench) error {
	if b.spec.Regression() {
		return web.Errorf(web.Invalid, "This comparison is for classifiers: choose data with classes, or target class.")
	}
	method := b.spec.Conformal
	if method == "none" {
		method = conformal.Table[0].Name
	}
	b.spec.TestFraction = cmp.Or(b.spec.TestFraction, frame.HeldOut)
	if slices.ContainsFunc(ml.Learners, func(l ml.Learner) bool {
		spec := b.spec
		spec.Learner = l.Name
		_, err := ml.TargetOf(b.data, spec)
		return err != nil
	}) {
		b.spec.Multiclass = ml.DefaultSpec().Multiclass // all of them support it
	}
	if b.fixes(versionControls...) {
		return web.Errorf(web.Forbidden, "This comparison would change controls set by your teacher.")
	}
	var specs []ml.Spec
	for _, learner := range ml.Learners {
		for _, reshape := range []string{"none", method} {
			spec := b.spec
			spec.Learner, spec.Conformal = learner.Name, reshape
			specs = append(specs, spec)
		}
	}
	return a.compare(w, r, b, specs)
}

// CompareRules saves a run for every multiclass method of the learner and redirects to their
// comparison.
func (a *Handler) CompareRules(w http.ResponseWriter, r *http.Request, b *bench) error {
	if b.fixes(ruleControls...) {
		return web.Errorf(web.Forbidden, "This comparison would change controls set by your teacher.")
	}
	specs := b.rules()
	if len(specs) < 2 {
		b.problems = param.Problems{{Field: "multiclass", Message: "multiclass: there are no rules to compare; choose data with at least three classes"}}
		return a.refuse(w, r, b)
	}
	return a.compare(w, r, b, specs)
}

// rules returns the bench's spec with every multiclass method that applies.
func (b *bench) rules() (specs []ml.Spec) {
	if b.data == nil {
		return nil
	}
	for _, way := range ml.Multiclass {
		spec := b.spec
		spec.Multiclass, spec.Positive = way.Name, ""
		if t, err := ml.TargetOf(b.data, spec); err == nil && t.Rule == way.Rule {
			specs = append(specs, spec)
		}
	}
	return specs
}

// compare saves a run for every spec on the bench's data and redirects to their comparison.
func (a *Handler) compare(w http.ResponseWriter, r *http.Request, b *bench, specs []ml.Spec) error {
	q := url.Values{}
	var ids []string
	for _, spec := range specs {
		run, err := a.Enqueue(r.Context(), frame.Workspace(r.Context()), b.newRun("", spec))
		if errors.As(err, &b.problems) {
			return a.refuse(w, r, b)
		}
		if err != nil {
			return err
		}
		q.Add("run", run.ID)
		ids = append(ids, run.ID)
	}
	a.Jobs.Wait(r.Context(), glance, ids...)
	return frame.Redirect(w, r, "/compare?"+q.Encode())
}

// SavePoints stores the points of the lab as a data set.
func (a *Handler) SavePoints(w http.ResponseWriter, r *http.Request, b *bench) error {
	ws := frame.Workspace(r.Context())
	var set store.Dataset
	var err error
	if r.PostFormValue("replace") == "1" && frame.IsStored(b.id) {
		set = store.Dataset{ID: b.id, Hash: b.version}
		err = a.ReplaceData(r.Context(), set, b.data)
	} else {
		set, err = a.Store.CreateDataset(r.Context(), ws, b.dataName(), b.origin(), b.data)
	}
	if errors.Is(err, frame.ErrChanged) {
		b.problems = param.Problems{{Field: "points", Message: "“" + b.name + "” has changed since these points were taken from it. Nothing was saved: save again to replace it with them, or save them as a new data set"}}
		b.version = b.stored
		w.WriteHeader(http.StatusConflict)
		return a.Page(w, r, b)
	}
	if err != nil {
		return err
	}
	if b.fixes("data") { // the lab would not show the new set
		return frame.Redirect(w, r, "/datasets/"+set.ID)
	}
	b.id, b.points = set.ID, ""
	return frame.Redirect(w, r, "/lab?"+b.query().Encode())
}
