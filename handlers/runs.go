package handlers

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/ml"
	"marginlab/ml/kernel"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
)

// pageRows is how many runs a page of the list shows.
const pageRows = 25

// runColumns are the headings of the list and what the store sorts by.
var runColumns = []struct{ label, sort string }{
	{"name", "name"},
	{"data", "dataset"},
	{"learner", "learner"},
	{"kernel", "kernel"},
	{"conformal", "conformal"},
	{"C", "C"},
	{"held out", "accuracy"},
	{"training", "train_accuracy"},
	{"SVs", "support_vectors"},
	{"status", ""},
	{"saved", "created"},
}

func (a *App) runsPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	page, _ := strconv.Atoi(q.Get("page"))
	page = max(page, 1)
	f := store.Filter{
		Query: strings.TrimSpace(q.Get("q")), Learner: q.Get("learner"), Kernel: q.Get("kernel"), Conformal: q.Get("conformal"),
		Status: store.Status(q.Get("status")), Tag: q.Get("tag"), Sort: q.Get("sort"), Desc: q.Get("desc") == "1",
		Limit: pageRows, Offset: (page - 1) * pageRows,
	}
	if f.Sort == "" {
		f.Sort, f.Desc = "created", true
	}
	ws := workspace(r.Context())
	runs, total, err := a.store.Runs(r.Context(), ws, f)
	if err != nil {
		return err
	}
	tags, err := a.store.Tags(r.Context(), ws)
	if err != nil {
		return err
	}
	p := views.Runs{
		Page: a.page("Runs", "runs"), Query: f.Query, Total: total, First: f.Offset + 1, Last: f.Offset + len(runs),
		Learner:   anyOf(f.Learner, paramOptions("learner")),
		Kernel:    anyOf(f.Kernel, paramOptions("kernel")),
		Conformal: anyOf(f.Conformal, paramOptions("conformal")),
		Status:    anyOf(string(f.Status), plainOptions("queued", "running", "done", "failed", "cancelled")),
		Tags:      anyOf(f.Tag, plainOptions(tags...)),
		Filtered:  f.Query+f.Learner+f.Kernel+f.Conformal+string(f.Status)+f.Tag != "",
	}
	link := func(key, value string, more ...string) string {
		v := url.Values{}
		for k, vs := range q {
			v[k] = slices.Clone(vs)
		}
		v.Set(key, value)
		for i := 0; i+1 < len(more); i += 2 {
			v.Set(more[i], more[i+1])
		}
		return "/runs?" + v.Encode()
	}
	if page > 1 {
		p.Newer = link("page", strconv.Itoa(page-1))
	}
	if p.Last < total {
		p.Older = link("page", strconv.Itoa(page+1))
	}
	for _, c := range runColumns {
		col := views.Column{Label: c.label}
		if c.sort != "" {
			desc := "0"
			if c.sort == f.Sort {
				col.Sort = map[bool]string{true: "descending", false: "ascending"}[f.Desc]
				if !f.Desc {
					desc = "1"
				}
			}
			col.Href = link("sort", c.sort, "desc", desc, "page", "1")
		}
		p.Columns = append(p.Columns, col)
	}
	for _, run := range runs {
		p.Rows = append(p.Rows, runRow(run))
	}
	return a.render(w, r, views.RunsPage(p))
}

func anyOf(value string, options []views.Option) []views.Option {
	return views.Choose(append([]views.Option{{Value: "", Label: "any"}}, options...), value)
}

func plainOptions(values ...string) (opts []views.Option) {
	for _, v := range values {
		opts = append(opts, views.Option{Value: v, Label: v})
	}
	return opts
}

func paramOptions(name string) (opts []views.Option) {
	p, _ := ml.Param(name)
	for _, o := range p.Options {
		opts = append(opts, views.Option{Value: o.Name, Label: o.Label})
	}
	return opts
}

func runRow(r store.Run) views.RunRow {
	row := views.RunRow{
		ID: r.ID, Name: r.Name, Data: r.DatasetName, Learner: strings.ToUpper(r.Spec.Learner), Kernel: kernelText(r.Spec, r.Report),
		Conformal: r.Spec.Conformal, C: views.Short(r.Spec.C), Status: string(r.Status), Created: when(r.Created), Tags: r.Tags, Note: r.Note,
	}
	if r.Spec.HardMargin {
		row.C = "hard"
	}
	if rep := r.Report; rep != nil {
		row.Train, row.Vectors = percent(rep.TrainAccuracy), strconv.Itoa(rep.SupportVectors)
		if rep.TestAccuracy != nil {
			row.Test = percent(*rep.TestAccuracy)
		}
		row.Thumb = thumbnail("/runs/"+r.ID+"/figures/", "boundary", "Boundary of "+r.Name)
	}
	return row
}

// kernelText is a kernel with its parameters, as used where that is known.
func kernelText(s ml.Spec, rep *ml.Report) string {
	row, err := kernel.Lookup(s.Kernel)
	if err != nil {
		return s.Kernel
	}
	text := row.Name
	for _, p := range row.Params {
		v := s.Text(p.Name)
		if p.Name == "gamma" && rep != nil && rep.Gamma != nil {
			v = views.Short(*rep.Gamma)
		}
		text += ", " + p.Symbol + "=" + v
	}
	return text
}

// saveRun stores the lab's state as a run and waits a moment for it: most
// trainings end before the page is asked for.
func (a *App) saveRun(w http.ResponseWriter, r *http.Request) error {
	b, err := a.posted(w, r)
	if b == nil {
		return err
	}
	run, err := a.createRun(r.Context(), b, r.PostFormValue("name"), b.spec)
	if errors.As(err, &b.problems) {
		return a.refuse(w, r, b)
	}
	if err != nil {
		return err
	}
	a.jobs.Wait(r.Context(), glance, run.ID)
	return redirect(w, r, "/runs/"+run.ID)
}

// createRun stores a run of the bench's data. Points that are no data set of the
// workspace are kept with the run alone.
func (a *App) createRun(ctx context.Context, b *bench, name string, spec ml.Spec) (store.Run, error) {
	n := store.NewRun{Name: name, Spec: spec, DatasetName: b.dataName(), Data: b.data, Axes: [2]string{b.x, b.y}}
	if b.class != nil {
		n.Class = b.class.Code
	}
	if b.points == "" && b.isStored() {
		n.Dataset = b.id
	}
	return a.enqueue(ctx, n)
}

func (a *App) runPage(w http.ResponseWriter, r *http.Request) error {
	run, err := a.run(r)
	if err != nil {
		return err
	}
	return a.showRun(w, r, run, nil)
}

// run finds the run of the request's path.
func (a *App) run(r *http.Request) (store.Run, error) {
	return a.store.Run(r.Context(), workspace(r.Context()), chi.URLParam(r, "id"))
}

func (a *App) showRun(w http.ResponseWriter, r *http.Request, run store.Run, problems param.Problems) error {
	p, err := a.runView(r, run, "/runs/"+run.ID+"/figures/")
	if err != nil {
		return err
	}
	p.Page = a.page(run.Name, "runs")
	p.Clone = "/lab?" + cloneQuery(run).Encode()
	if run.Class != "" {
		if err := a.runInClass(r.Context(), run, &p); err != nil {
			return err
		}
	}
	if run.Dataset != "" {
		p.DataHref = "/datasets/" + run.Dataset
	}
	if run.Share != "" {
		p.ShareURL = web.Origin(r) + "/shared/" + run.Share
	}
	p.Errors = map[string]string{}
	for _, q := range problems {
		p.Errors[q.Field] = sentence(q.Message)
	}
	if len(problems) > 0 {
		p.Name, p.Tags, p.Note = r.PostFormValue("name"), r.PostFormValue("tags"), r.PostFormValue("note")
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	return a.render(w, r, views.RunPage(p))
}

// runView is what a run's own page and its shared page have in common.
func (a *App) runView(r *http.Request, run store.Run, figures string) (views.Run, error) {
	p := views.Run{
		ID: run.ID, Name: run.Name, Note: run.Note, Tags: strings.Join(run.Tags, ", "), Status: string(run.Status), Message: sentence(run.Error),
		Data: run.DatasetName, Created: when(run.Created), Hash: run.Hash[:12], Settings: settings(run.Spec), Reproduce: commandLine(run.Spec, run.DatasetName),
	}
	if run.Status != store.Done {
		return p, nil
	}
	d, err := a.display(r.Context(), run, r.URL.Query())
	if err != nil {
		return p, err
	}
	if p.Answer, err = d.answer(figures, pictureQuery(r.URL.Query()), false); err != nil {
		return p, err
	}
	if _, flat := run.Model.View(); !flat {
		p.Axes, p.AxisX, p.AxisY = axisOptions(run.Model.Features), d.x, d.y
	}
	return p, nil
}

// display is a finished run with its data.
func (a *App) display(ctx context.Context, run store.Run, q url.Values) (display, error) {
	if run.Status != store.Done {
		return display{}, store.ErrNotFound
	}
	data, err := a.store.Data(ctx, run.Hash)
	if err != nil {
		return display{}, err
	}
	x, y := q.Get("x"), q.Get("y")
	if x == "" {
		x, y = run.Axes[0], run.Axes[1]
	}
	return display{
		data: data, spec: run.Spec, res: &ml.Result{Report: *run.Report, Model: run.Model, Before: run.Before},
		x: x, y: y,
		options: options{heat: q.Get("show") == "heat", slack: q.Get("slack") == "true", cores: q.Get("cores") != "false", dark: q.Get("dark") == "1", limits: parseLimits(q.Get("limits")), width: mainWidth, height: mainHeight},
	}, nil
}

// pictureQuery keeps what a page's query says about pictures.
func pictureQuery(q url.Values) string {
	out := url.Values{}
	for _, k := range []string{"x", "y", "show", "slack", "cores", "limits"} {
		if q.Has(k) {
			out.Set(k, q.Get(k))
		}
	}
	return out.Encode()
}

// cloneQuery opens the lab in the state of the run. A run whose points are not a
// data set any more brings them along.
func cloneQuery(run store.Run) url.Values {
	q := specQuery(run.Spec)
	q.Del("project")
	if run.Spec.Project == "pca" {
		q.Set("on", "pca")
	}
	if x, y := run.Axes[0], run.Axes[1]; x != "" {
		q.Set("x", x)
		q.Set("y", y)
	}
	if run.Dataset != "" {
		q.Set("data", run.Dataset)
	} else {
		q.Set("data", ofRun+run.ID)
	}
	return q
}

func (a *App) runFigure(w http.ResponseWriter, r *http.Request) error {
	run, err := a.run(r)
	if err != nil {
		return err
	}
	return a.sendRunFigure(w, r, run)
}

func (a *App) sendRunFigure(w http.ResponseWriter, r *http.Request, run store.Run) error {
	name, format, err := figureName(r)
	if err != nil {
		return err
	}
	d, err := a.display(r.Context(), run, r.URL.Query())
	if err != nil {
		return err
	}
	d.options.size(r)
	pic, err := d.draw(name)
	if err != nil {
		return err
	}
	return writeFigure(w, pic, format)
}

func (a *App) updateRun(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return err
	}
	run, err := a.run(r)
	if err != nil {
		return err
	}
	err = a.store.UpdateRun(r.Context(), workspace(r.Context()), run.ID, r.PostFormValue("name"), r.PostFormValue("note"), splitTags(r.PostFormValue("tags")))
	var ps param.Problems
	if errors.As(err, &ps) {
		return a.showRun(w, r, run, ps)
	}
	if err != nil {
		return err
	}
	return redirect(w, r, "/runs/"+run.ID)
}

func splitTags(text string) (tags []string) {
	for t := range strings.SplitSeq(text, ",") {
		if t = strings.TrimSpace(t); t != "" && !slices.Contains(tags, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

func (a *App) deleteRun(w http.ResponseWriter, r *http.Request) error {
	return a.deleteRuns(w, r, chi.URLParam(r, "id"))
}

func (a *App) deleteChosenRuns(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return err
	}
	return a.deleteRuns(w, r, r.PostForm["run"]...)
}

func (a *App) deleteRuns(w http.ResponseWriter, r *http.Request, ids ...string) error {
	if err := a.jobs.Delete(r.Context(), workspace(r.Context()), ids); err != nil {
		return err
	}
	return redirect(w, r, "/runs")
}

func (a *App) cancelRun(w http.ResponseWriter, r *http.Request) error {
	id := chi.URLParam(r, "id")
	if err := a.jobs.Cancel(r.Context(), workspace(r.Context()), id); err != nil {
		return err
	}
	return redirect(w, r, "/runs/"+id)
}

func (a *App) shareRun(w http.ResponseWriter, r *http.Request) error {
	id := chi.URLParam(r, "id")
	if _, err := a.store.ShareRun(r.Context(), workspace(r.Context()), id); err != nil {
		return err
	}
	return redirect(w, r, "/runs/"+id+"#h-share")
}

func (a *App) unshareRun(w http.ResponseWriter, r *http.Request) error {
	id := chi.URLParam(r, "id")
	if err := a.store.UnshareRun(r.Context(), workspace(r.Context()), id); err != nil {
		return err
	}
	return redirect(w, r, "/runs/"+id+"#h-share")
}

func (a *App) sharedPage(w http.ResponseWriter, r *http.Request) error {
	token := chi.URLParam(r, "token")
	run, err := a.store.SharedRun(r.Context(), token)
	if err != nil {
		return err
	}
	p, err := a.runView(r, run, "/shared/"+token+"/figures/")
	if err != nil {
		return err
	}
	p.Page = a.page(run.Name, "")
	p.Bare = true
	return a.render(w, r, views.RunPage(p))
}

func (a *App) sharedFigure(w http.ResponseWriter, r *http.Request) error {
	run, err := a.store.SharedRun(r.Context(), chi.URLParam(r, "token"))
	if err != nil {
		return err
	}
	return a.sendRunFigure(w, r, run)
}

func (a *App) downloadModel(w http.ResponseWriter, r *http.Request) error {
	run, err := a.run(r)
	if err != nil {
		return err
	}
	if run.Model == nil {
		return store.ErrNotFound
	}
	attach(w, run.Name+".model.json", "application/json")
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(run.Model)
}

// downloadPredictions writes the training data with what the model says of each row.
func (a *App) downloadPredictions(w http.ResponseWriter, r *http.Request) error {
	run, err := a.run(r)
	if err != nil {
		return err
	}
	d, err := a.display(r.Context(), run, nil)
	if err != nil {
		return err
	}
	points, err := run.Model.Points(d.data, run.Spec)
	if err != nil {
		return err
	}
	attach(w, run.Name+".predictions.csv", "text/csv; charset=utf-8")
	out := csv.NewWriter(w)
	_ = out.Write([]string{"row", d.data.Label, "predicted", "f", "held_out", "role", "weight"})
	for _, p := range points {
		_ = out.Write([]string{
			strconv.Itoa(p.Row + 1), p.Label, run.Model.LabelOf(p.F), strconv.FormatFloat(p.F, 'g', -1, 64),
			strconv.FormatBool(p.HeldOut), string(p.Role), strconv.FormatFloat(p.Weight, 'g', -1, 64),
		})
	}
	out.Flush()
	return out.Error()
}

// runEvents streams the progress of a run until it ends.
func (a *App) runEvents(w http.ResponseWriter, r *http.Request) error {
	run, err := a.run(r)
	if err != nil {
		return err
	}
	return a.stream(w, r, run.ID)
}

// compareVersions saves SVM and MCM, each without and with a conformal map, on
// the same split, and goes to their comparison.
func (a *App) compareVersions(w http.ResponseWriter, r *http.Request) error {
	b, err := a.posted(w, r)
	if b == nil {
		return err
	}
	method := b.spec.Conformal
	if method == "none" {
		method = "eigen"
	}
	if b.spec.TestFraction == 0 {
		b.spec.TestFraction = 0.3
	}
	if b.fixes(versionControls...) {
		return web.Errorf(web.Forbidden, "Your teacher has set what this comparison would change.")
	}
	q := url.Values{}
	var ids []string
	for _, learner := range ml.Learners {
		for _, conformal := range []string{"none", method} {
			spec := b.spec
			spec.Learner, spec.Conformal = learner.Name, conformal
			run, err := a.createRun(r.Context(), b, "", spec)
			if errors.As(err, &b.problems) {
				return a.refuse(w, r, b)
			}
			if err != nil {
				return err
			}
			q.Add("run", run.ID)
			ids = append(ids, run.ID)
		}
	}
	a.jobs.Wait(r.Context(), glance, ids...)
	return redirect(w, r, "/compare?"+q.Encode())
}
