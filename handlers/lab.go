package handlers

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/web"
)

const (
	// liveRows is the largest data set that the lab trains on while one looks.
	liveRows = 2000
	// patience is how long a training may hold up a page. What takes longer is
	// saved as a run and goes on in the background.
	patience = 8 * time.Second
	// drawing is the data set that is not there yet.
	drawing = "drawing"
	// ofRun before the id of a run names the points that the run was trained on.
	ofRun = "run-"
)

// bench is what the lab works on: the state that its URL holds.
type bench struct {
	id, name string
	stored   *dataset.Data // as it is kept
	data     *dataset.Data // with the edited points; nil: nothing to train on yet
	points   string        // the edited points as text; empty: as stored
	spec     ml.Spec
	problems param.Problems
	on       string // "all", "shown", "pca", "list": what to train on
	x, y     string // columns on the axes, or "pca" on x
	show     string // "regions", "heat"
	slack    bool
	cores    bool
	coarse   bool // while a slider moves
	dark     bool
	limits   figure.Limits // what the axes must show at least
	width    int           // of the picture; 0: as on a page that a script has not seen
}

// readBench reads the lab's state from a form. What is wrong with a field is
// kept beside it; an error means there is nothing to show.
func (a *App) readBench(ctx context.Context, form url.Values) (*bench, error) {
	b := &bench{id: form.Get("data"), points: strings.TrimSpace(form.Get("points")), show: "regions", slack: form.Get("slack") == "true", cores: form.Get("cores") != "false", coarse: form.Get("coarse") == "1", dark: form.Get("dark") == "1"}
	if b.id == "" {
		b.id = dataset.Builtins[0].Slug
	}
	if form.Get("show") == "heat" {
		b.show = "heat"
	}
	var err error
	if b.name, b.stored, err = a.source(ctx, b.id); err != nil {
		return nil, err
	}
	b.data = b.stored
	b.spec, b.problems = readSpec(form)
	if b.points != "" {
		if b.data, err = parsePoints(b.points, b.stored); err != nil {
			b.problems = append(b.problems, param.Problem{Field: "points", Message: err.Error()})
		}
	}
	b.limits = parseLimits(form.Get("limits"))
	if w, err := strconv.Atoi(form.Get("stage")); err == nil {
		b.width = min(max(w, narrowWidth), 2*mainWidth)
	}
	if b.data != nil {
		b.chooseColumns(form)
	}
	return b, nil
}

// source finds the data behind an id: a stored set of the workspace, one that
// comes with the program, the points of a run, or the empty drawing.
func (a *App) source(ctx context.Context, id string) (name string, d *dataset.Data, err error) {
	if id == drawing {
		return "Drawing", nil, nil
	}
	if b, ok := dataset.FindBuiltin(id); ok {
		d, err = b.Load()
		return b.Name, d, err
	}
	if run, ok := strings.CutPrefix(id, ofRun); ok {
		r, err := a.store.Run(ctx, workspace(ctx), run)
		if err != nil {
			return "", nil, err
		}
		d, err = a.store.Data(ctx, r.Hash)
		return r.DatasetName, d, err
	}
	set, err := a.store.Dataset(ctx, workspace(ctx), id)
	if err != nil {
		return "", nil, err
	}
	d, err = a.store.Data(ctx, set.Hash)
	return set.Name, d, err
}

// chooseColumns settles what is trained on and what the axes show, and the
// class on the positive side.
func (b *bench) chooseColumns(form url.Values) {
	feats := b.data.Features
	b.x, b.y = form.Get("x"), form.Get("y")
	if b.x != "pca" && !slices.Contains(feats, b.x) {
		b.x = feats[0]
		if len(b.spec.Features) == 2 && slices.Contains(feats, b.spec.Features[0]) {
			b.x = b.spec.Features[0]
		}
	}
	if !slices.Contains(feats, b.y) || b.y == b.x {
		b.y = feats[min(1, len(feats)-1)]
		if len(b.spec.Features) == 2 && slices.Contains(feats, b.spec.Features[1]) {
			b.y = b.spec.Features[1]
		}
		if b.y == b.x {
			b.y = feats[0]
		}
	}
	b.on = form.Get("on")
	switch {
	case b.on == "" && b.spec.Project == "pca":
		b.on = "pca"
	case b.on == "" && len(b.spec.Features) > 0:
		b.on = "list"
		if len(b.spec.Features) == 2 {
			b.on = "shown"
		}
	}
	if len(feats) <= 2 {
		b.on = "all"
	}
	if b.on != "list" {
		b.spec.Features = nil
	}
	b.spec.Project = "none"
	switch b.on {
	case "shown":
		if b.x != "pca" && b.x != b.y {
			b.spec.Features = []string{b.x, b.y}
		} else {
			b.spec.Project = "pca"
		}
	case "pca":
		b.spec.Project = "pca"
	case "list":
	default:
		b.on = "all"
	}
	if b.spec.Positive != "" && !slices.Contains(b.data.Classes, b.spec.Positive) {
		b.spec.Positive = ""
	}
	if b.spec.Positive == "" && len(b.data.Classes) > 2 {
		b.spec.Positive = b.data.Classes[len(b.data.Classes)-1]
	}
}

// query is the state as a query, as short as it can be.
func (b *bench) query() url.Values {
	q := specQuery(b.spec)
	q.Set("data", b.id)
	if b.data != nil && len(b.data.Classes) == 2 && b.spec.Positive == b.data.Classes[1] {
		q.Del("positive")
	}
	if b.points != "" {
		q.Set("points", b.points)
	}
	if b.data != nil && len(b.data.Features) > 2 {
		q.Set("x", b.x)
		if b.x != "pca" {
			q.Set("y", b.y)
		}
		q.Set("on", b.on)
		q.Del("project")
		if b.on != "list" {
			q.Del("features")
		}
	}
	if b.show == "heat" {
		q.Set("show", "heat")
	}
	if b.slack {
		q.Set("slack", "true")
	}
	if !b.cores {
		q.Set("cores", "false")
	}
	return q
}

// isStored tells whether the points are a data set of the workspace.
func (b *bench) isStored() bool {
	_, builtin := dataset.FindBuiltin(b.id)
	return !builtin && b.id != drawing && !strings.HasPrefix(b.id, ofRun)
}

// editable tells whether the points can be moved on the picture.
func (b *bench) editable() bool {
	return b.data == nil || len(b.data.Features) == 2 && len(b.data.Y) <= liveRows
}

// train fits the bench's model, from the recent results where it is there.
// A nil result with a message says why there is no model.
func (a *App) train(ctx context.Context, b *bench) (*ml.Result, string, error) {
	switch {
	case b.data == nil:
		return nil, "Add points of two classes: click in the picture, or type them as text.", nil
	case len(b.problems) > 0:
		return nil, b.problems.Error(), nil
	case len(b.data.Y) > liveRows:
		return nil, fmt.Sprintf("With %d points the lab does not train while you look. Save it as a run: it is trained in the background.", len(b.data.Y)), nil
	}
	return a.fit(ctx, b.data, b.spec)
}

// fit trains within the page's patience and turns what is wrong with the
// question into a message.
func (a *App) fit(ctx context.Context, d *dataset.Data, spec ml.Spec) (*ml.Result, string, error) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	res, err := a.recent.train(limited, d, spec)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Sprintf("This training takes longer than %.0f seconds. Save it as a run: it goes on in the background.", patience.Seconds()), nil
	case err != nil:
		return nil, sentence(err.Error()), nil
	}
	return res, "", nil
}

// answer draws what the lab shows for the bench.
func (a *App) answer(ctx context.Context, b *bench, inline bool) (views.Answer, error) {
	res, problem, err := a.train(ctx, b)
	if err != nil {
		return views.Answer{}, err
	}
	ans := views.Answer{Problem: problem, Query: b.query().Encode(), Resolved: map[string]float64{}}
	if res == nil {
		pic, err := b.scatter(ans.Query, inline)
		if err != nil {
			return ans, err
		}
		ans.Picture, ans.Stage = pic.view, pic.stage
		return ans, nil
	}
	show := display{data: b.data, spec: b.spec, res: res, x: b.x, y: b.y, options: b.options()}
	pics, err := show.pictures("/lab/figures/", ans.Query, inline)
	if err != nil {
		return ans, err
	}
	ans.Picture, ans.More, ans.Stage = pics.main.view, pics.more, pics.main.stage
	if g := res.Report.Gamma; g != nil {
		ans.Resolved["gamma"] = *g
	}
	if g := res.Report.CoreGamma; g != nil {
		ans.Resolved["core_gamma"] = *g
	}
	ans.Numbers = numbers(&res.Report)
	ans.Notes = append(remarks(&res.Report, b.spec), pics.notes...)
	if !b.coarse {
		ans.Rows, ans.Total = pointRows(pics.points), len(pics.points)
	}
	ans.Reproduce = commandLine(b.spec, b.name)
	return ans, nil
}

func (b *bench) options() options {
	o := options{heat: b.show == "heat", slack: b.slack, cores: b.cores, dark: b.dark, limits: b.limits, width: mainWidth, height: mainHeight}
	if b.width > 0 {
		o.width, o.height = b.width, b.width*mainHeight/mainWidth
	}
	if b.coarse {
		o.grid = 80
	}
	return o
}

func (a *App) labPage(w http.ResponseWriter, r *http.Request) error {
	form := r.URL.Query()
	b, err := a.readBench(r.Context(), form)
	if err != nil {
		return err
	}
	return a.showLab(w, r, b, form)
}

// posted reads the lab's state from a posted form. When something in it is
// wrong, or there are no points, it answers with the form as it was filled in
// and returns nil.
func (a *App) posted(w http.ResponseWriter, r *http.Request) (*bench, error) {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return nil, err
	}
	b, err := a.readBench(r.Context(), r.PostForm)
	if err != nil {
		return nil, err
	}
	if len(b.problems) == 0 && b.data == nil {
		b.problems = param.Problems{{Field: "points", Message: "there are no points yet: draw or type some first"}}
	}
	if len(b.problems) > 0 {
		return nil, a.refuse(w, r, b)
	}
	return b, nil
}

// refuse shows the lab with what is wrong beside the fields.
func (a *App) refuse(w http.ResponseWriter, r *http.Request, b *bench) error {
	w.WriteHeader(http.StatusUnprocessableEntity)
	return a.showLab(w, r, b, r.PostForm)
}

// showLab shows the page; form is where fields with problems keep their text.
func (a *App) showLab(w http.ResponseWriter, r *http.Request, b *bench, form url.Values) error {
	ans, err := a.answer(r.Context(), b, false)
	if err != nil {
		return err
	}
	p := views.Lab{
		Page: a.page(r, b.name, "lab"), Name: b.name, DataID: b.id, Points: b.points,
		Groups: specGroups(b.spec, form, b.problems), Answer: ans,
		Editable: b.editable(), Stored: b.isStored(), Editing: b.points != "" || b.id == drawing || form.Get("edit") == "1",
		Show:    views.Choose([]views.Option{{Value: "regions", Label: "predicted regions"}, {Value: "heat", Label: "f(x) as a heat map"}}, b.show),
		RunName: b.spec.Title() + " on " + b.name,
	}
	for _, g := range p.Groups {
		for i, f := range g.Fields {
			if v, ok := ans.Resolved[f.Name]; ok {
				g.Fields[i].Resolved = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
	}
	p.DataFields, p.Groups = p.Groups[0].Fields, p.Groups[1:]
	p.Marks = []views.Field{
		{Name: "slack", Label: "draw slack", Kind: "switch", Value: strconv.FormatBool(b.slack), Help: "A line from each point that falls short of its margin."},
		{Name: "cores", Label: "mark cores", Kind: "switch", Value: strconv.FormatBool(b.cores), Help: "The cores of the conformal map.", Hidden: b.spec.Conformal == "none"},
	}
	if b.data != nil {
		p.Positive = views.Choose(plainOptions(b.data.Classes...), positiveOf(b.spec, b.data))
		if len(b.data.Features) > 2 {
			p.AxisX, p.AxisY = b.x, b.y
			p.Axes, p.Train = axisOptions(b.data.Features), trainOptions(b)
		}
	}
	if p.Data, err = a.choices(r.Context(), b.id); err != nil {
		return err
	}
	return a.render(w, r, views.LabPage(p))
}

// axisOptions lists what an axis can show.
func axisOptions(features []string) []views.Option {
	opts := []views.Option{{Value: "pca", Label: "principal components"}}
	for _, f := range features {
		opts = append(opts, views.Option{Value: f, Label: f})
	}
	return opts
}

func trainOptions(b *bench) []views.Option {
	opts := []views.Option{
		{Value: "all", Label: fmt.Sprintf("all %d features", len(b.data.Features))},
		{Value: "shown", Label: "the two that are shown"},
		{Value: "pca", Label: "two principal components"},
	}
	if b.on == "list" {
		opts = append(opts, views.Option{Value: "list", Label: strings.Join(b.spec.Features, ", ")})
	}
	return views.Choose(opts, b.on)
}

func positiveOf(spec ml.Spec, d *dataset.Data) string {
	if spec.Positive != "" {
		return spec.Positive
	}
	return d.Classes[len(d.Classes)-1]
}

// choices lists the data sets that the lab can open.
func (a *App) choices(ctx context.Context, id string) ([]views.Choice, error) {
	sets, err := a.store.Datasets(ctx, workspace(ctx))
	if err != nil {
		return nil, err
	}
	var cs []views.Choice
	for _, s := range sets {
		cs = append(cs, views.Choice{Group: "Your data sets", ID: s.ID, Name: s.Name, Chosen: s.ID == id})
	}
	for _, b := range dataset.Builtins {
		cs = append(cs, views.Choice{Group: "Built in", ID: b.Slug, Name: b.Name, Chosen: b.Slug == id})
	}
	return append(cs, views.Choice{Group: "New", ID: drawing, Name: "Empty drawing", Chosen: id == drawing}), nil
}

// labLive answers the page's script: the part of the lab that changes.
func (a *App) labLive(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return err
	}
	b, err := a.readBench(r.Context(), r.Form)
	if err != nil {
		return err
	}
	ans, err := a.answer(r.Context(), b, true)
	if err != nil {
		return err
	}
	var html strings.Builder
	if err := views.AnswerView(ans).Render(r.Context(), &html); err != nil {
		return err
	}
	errs := map[string]string{}
	for _, p := range b.problems {
		errs[p.Field] = p.Message
	}
	classes, positive := []string{}, ""
	if b.data != nil {
		classes, positive = b.data.Classes, positiveOf(b.spec, b.data)
	}
	return web.JSON(w, http.StatusOK, map[string]any{
		"classes": classes, "positive": positive,
		"html": html.String(), "hidden": hiddenFields(b.spec), "errors": errs, "resolved": ans.Resolved, "query": ans.Query, "run_name": b.spec.Title() + " on " + b.name,
	})
}

// labFigure serves the pictures of an unsaved view.
func (a *App) labFigure(w http.ResponseWriter, r *http.Request) error {
	b, err := a.readBench(r.Context(), r.URL.Query())
	if err != nil {
		return err
	}
	name, format, err := figureName(r)
	if err != nil {
		return err
	}
	res, _, err := a.train(r.Context(), b)
	if err != nil {
		return err
	}
	o := b.options()
	o.size(r)
	var pic *figure.Picture
	if res == nil {
		if name != "boundary" {
			return store.ErrNotFound
		}
		var s figure.Scene
		if s, err = b.bare(o); err == nil {
			pic, err = drawBare(b.data, s)
		}
	} else {
		show := display{data: b.data, spec: b.spec, res: res, x: b.x, y: b.y, options: o}
		pic, err = show.draw(name)
	}
	if err != nil {
		return err
	}
	return writeFigure(w, pic, format)
}

// parsePoints reads edited points: CSV lines of two coordinates and a label, a
// header is allowed. The names of the columns are those of the set they began as.
func parsePoints(text string, like *dataset.Data) (*dataset.Data, error) {
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = 3
	r.TrimLeadingSpace, r.Comment = true, '#'
	records, err := r.ReadAll()
	if err != nil {
		var pe *csv.ParseError
		if errors.As(err, &pe) {
			return nil, fmt.Errorf("points, line %d: expected two numbers and a label, separated by commas", pe.Line)
		}
		return nil, err
	}
	if len(records) > 0 {
		if _, err := strconv.ParseFloat(records[0][0], 64); err != nil {
			records = records[1:] // the header
		}
	}
	if len(records) > liveRows {
		return nil, fmt.Errorf("points: %d points are more than the %d that can be edited", len(records), liveRows)
	}
	var xy [][2]float64
	var labels []string
	for i, rec := range records {
		x, errX := strconv.ParseFloat(strings.TrimSpace(rec[0]), 64)
		y, errY := strconv.ParseFloat(strings.TrimSpace(rec[1]), 64)
		if err := errors.Join(errX, errY); err != nil {
			return nil, fmt.Errorf("points, point %d: expected two numbers and a label, found %q", i+1, strings.Join(rec, ","))
		}
		xy, labels = append(xy, [2]float64{x, y}), append(labels, rec[2])
	}
	if len(xy) == 0 {
		return nil, nil
	}
	d, err := dataset.FromPoints(xy, labels)
	if err == nil && like != nil && len(like.Features) == 2 {
		d.Features, d.Label = like.Features, like.Label
	}
	return d, err
}

func parseLimits(text string) (l figure.Limits) {
	var v [4]float64
	for i, part := range strings.SplitN(text, ",", 5) {
		f, err := strconv.ParseFloat(part, 64)
		if err != nil || i > 3 {
			return figure.Limits{}
		}
		v[i] = f
	}
	if v[0] >= v[1] || v[2] >= v[3] {
		return figure.Limits{}
	}
	return figure.Limits{XMin: v[0], XMax: v[1], YMin: v[2], YMax: v[3]}
}

// commandLine is the call of the program that gives the same model.
func commandLine(s ml.Spec, data string) string {
	words := []string{"marginlab", "fit", "--data", shellQuote(fileName(data) + ".csv")}
	def := ml.DefaultSpec()
	for _, p := range ml.Params {
		if v := s.Text(p.Name); s.Applies(p.Name) && v != def.Text(p.Name) && p.Name != "label" {
			words = append(words, "--"+p.Flag()+"="+shellQuote(v))
		}
	}
	return strings.Join(words, " ")
}

func shellQuote(s string) string {
	safe := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.,+:/", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !safe(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// sentence begins with a capital and ends with a full stop, without the name of
// the package that an error came from.
func sentence(s string) string {
	for _, p := range []string{"svm: ", "mcm: ", "conformal: ", "kernel: "} {
		s = strings.TrimPrefix(s, p)
	}
	if s == "" {
		return s
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func toJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(b)
}
