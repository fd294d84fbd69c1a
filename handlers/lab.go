package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
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
	// ofClass before the code of a class names the points that it brings along.
	ofClass = "class-"
)

// train fits the bench's model, from the recent results where it is there.
// A nil result comes with a message that says why there is no model, but for a
// drawing without points.
func (a *App) train(ctx context.Context, b *bench) (*ml.Result, string, error) {
	switch {
	case len(b.problems) > 0:
		return nil, sentence(b.problems.Error()), nil
	case b.data == nil:
		return nil, "", nil
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
	res, err := a.trained(limited, d, spec)
	switch {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Sprintf("This training takes longer than %.0f seconds. Save it as a run: it goes on in the background. A smaller C or gamma, for the MCM a larger ρ or rank_tol, make it quicker.", patience.Seconds()), nil
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
	query := b.query().Encode()
	var ans views.Answer
	if res == nil {
		var s figure.Scene
		if s, err = b.bare(b.options()); err == nil {
			ans.Picture, ans.Stage, err = show(s, figure.Scatter, "/lab/figures/", query, inline)
		}
	} else {
		d := display{data: b.data, spec: b.spec, res: res, x: b.x, y: b.y, options: b.options()}
		ans, err = d.answer("/lab/figures/", query, inline)
		ans.Reproduce = commandLine(b.spec, b.name)
		ans.Resolved = resolved(&res.Report)
	}
	if b.data == nil && problem == "" {
		ans.Hint = "Add points of two classes: click in the picture, or type them as text."
	}
	ans.Problem, ans.Query = problem, query
	return ans, err
}

// resolved are the numbers that words such as auto stood for.
func resolved(r *ml.Report) map[string]float64 {
	values := map[string]float64{}
	for name, v := range map[string]*float64{"gamma": r.Gamma, "core_gamma": r.CoreGamma} {
		if v != nil {
			values[name] = *v
		}
	}
	return values
}

func (a *App) labPage(w http.ResponseWriter, r *http.Request) error {
	b, err := a.readBench(r.Context(), r.URL.Query())
	if err != nil {
		return err
	}
	return a.showLab(w, r, b)
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
	return a.showLab(w, r, b)
}

// showLab shows the page.
func (a *App) showLab(w http.ResponseWriter, r *http.Request, b *bench) error {
	ans, err := a.answer(r.Context(), b, false)
	if err != nil {
		return err
	}
	p := views.Lab{
		Page: a.page(b.name, "lab"), Name: b.name, Points: b.points,
		Groups: specGroups(b.spec, b.form, b.problems), Answer: ans,
		Editable: b.editable(), Stored: b.isStored(), Editing: b.points != "" || b.id == drawing || b.form.Get("edit") == "1",
		Show:    views.Choose(backgrounds, b.show),
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
	p.Positive = views.Choose(plainOptions(emptyClasses...), emptyClasses[1])
	if b.data != nil {
		p.Positive = views.Choose(plainOptions(b.data.Classes...), positiveOf(b.spec, b.data))
		if len(b.data.Features) > 2 {
			p.AxisX, p.AxisY = b.x, b.y
			p.Axes, p.Train = axisOptions(b.data.Features), trainOptions(b)
		}
	}
	if p.Data, err = a.choices(r.Context(), b.id, b.class); err != nil {
		return err
	}
	if b.class != nil {
		if err := a.labInClass(r, b, &p); err != nil {
			return err
		}
	}
	return a.render(w, r, views.LabPage(p))
}

// backgrounds are what a picture shows behind the points.
var backgrounds = []views.Option{{Value: "regions", Label: "predicted regions"}, {Value: "heat", Label: "f(x) as a heat map"}}

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

// choices lists the data sets that the lab can open.
func (a *App) choices(ctx context.Context, chosen string, class *store.Class) ([]views.Choice, error) {
	sets, err := a.store.Datasets(ctx, workspace(ctx))
	if err != nil {
		return nil, err
	}
	var cs []views.Choice
	add := func(group, id, name string) {
		cs = append(cs, views.Choice{Group: group, ID: id, Name: name, Chosen: id == chosen})
	}
	if class != nil && class.Hash != "" {
		add("Of the class", ofClass+class.Code, class.Data)
	}
	for _, s := range sets {
		add("Your data sets", s.ID, s.Name)
	}
	for _, d := range dataset.Builtins {
		add("Built in", d.Slug, d.Name)
	}
	add("New", drawing, "Empty drawing")
	return cs, nil
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
			pic, err = figure.Scatter(s)
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
