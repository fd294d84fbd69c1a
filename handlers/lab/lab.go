// Package lab serves the lab: points, settings, and a model that is retrained on every change and
// can be saved as a run.
package lab

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"marginlab/handlers/frame"
	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	labview "marginlab/views/lab"
	"marginlab/web"
	"marginlab/web/cache"
)

// Handler serves the lab.
type Handler struct {
	*frame.Base
	results *cache.Recent[*ml.Result]
	learn   func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error) // ml.Train, except in tests
}

// New returns the handler of the lab.
func New(h *frame.Base) *Handler { return &Handler{h, cache.New[*ml.Result](64), ml.Train} }

// train trains the bench's model or returns a cached result. If there is no model, the result is
// nil and message says why; it is empty if there are no points.
func (a *Handler) train(ctx context.Context, b *bench) (*ml.Result, string, error) {
	switch {
	case len(b.problems) > 0:
		return nil, results.Sentence(b.problems.Error()), nil
	case b.data == nil:
		return nil, "", nil
	}
	return a.fit(ctx, b)
}

// patience returns how long a training may delay an answer: for many points, where no setting is
// reliably quick, a quarter of the usual time; for a first page load, a sixteenth, which is half a
// second of eight.
func (a *Handler) patience(b *bench) time.Duration {
	switch {
	case !b.patient:
		return a.Patience / 16
	case b.data != nil && b.data.Len() > pictures.LiveRows:
		return a.Patience / 4
	}
	return a.Patience
}

// fit trains within the page's patience and converts user errors to a message.
func (a *Handler) fit(ctx context.Context, b *bench) (*ml.Result, string, error) {
	remedy := fmt.Sprintf("Save it as a run to train it in the background; %s makes it quicker.", b.spec.Quicker())
	res, err := limiter.Within(ctx, a.patience(b), remedy, func(ctx context.Context) (*ml.Result, error) { return a.trained(ctx, b) })
	if err != nil {
		b.late = errors.As(err, new(limiter.Late))
		problem, err := results.UserMessage(err)
		return nil, problem, err
	}
	return res, "", nil
}

func (a *Handler) answer(ctx context.Context, b *bench, inline bool) (views.Answer, error) {
	began := time.Now()
	res, problem, err := a.train(ctx, b)
	if err != nil {
		return views.Answer{}, err
	}
	waited := time.Since(began).Seconds()
	if res != nil {
		if err := b.settlePlane(ctx, a.run(b, res, b.look)); err != nil {
			return views.Answer{}, err
		}
	}
	query := b.query().Encode()
	drawn := query
	if b.public() {
		drawn = a.Lasting(query)
	}
	var ans views.Answer
	var report *ml.Report
	if res == nil {
		ans.Took = waited
		ans.Waits = b.late && !b.patient
		s, draw, fault := a.bare(b, b.look)
		if err = fault; err == nil {
			ans.Picture, ans.Stage, err = pictures.Show(ctx, s, draw, "/lab/figures/", bareName, drawn, inline)
		}
	} else {
		var key string
		if key, err = b.key(); err != nil {
			return ans, err
		}
		ans, err = a.Answer(ctx, a.run(b, res, b.look), key, b.look, "/lab/figures/", drawn, inline)
		if b.data.Kind() == dataset.KindGraphs {
			pictures.DrawGraphs(&ans.Points, "/datasets/"+b.id+"/figures/", "graph", "row=")
		}
		ans.Reproduce = results.CommandLine(b.spec, b.name)
		ans.Resolved = resolved(&res.Report)
		ans.Took = res.Report.FitSeconds
		report = &res.Report
		if err == nil {
			ans.Tried, err = a.tried(ctx, b, res.Model)
		}
	}
	ans.Settings = b.spec.Name(nil, ml.KernelParams...) + ", kernel " + results.KernelText(b.spec, report)
	ans.Large = b.data != nil && b.data.Len() > previewRows
	if b.data == nil && problem == "" {
		ans.Hint = "Add points of two classes: click in the picture, or type them under Data and axes."
	}
	if ans.Problem, ans.Query = problem, query; b.try != "" {
		q := b.query()
		q.Set("try", b.try)
		ans.Query = q.Encode() // pictures do not depend on it
	}
	return ans, err
}

// resolved returns the values of parameters set to words such as auto.
func resolved(r *ml.Report) map[string]float64 {
	values := map[string]float64{}
	for _, p := range ml.Params {
		if len(p.Words) > 0 && r.Values.Has(p.Name) {
			values[p.Name] = r.Values.Number(p.Name)
		}
	}
	return values
}

// Addressed returns the lab in the state of its URL.
func (a *Handler) Addressed(r *http.Request) (*bench, error) {
	return a.readBench(r.Context(), r.URL.Query())
}

// stated reads the lab's state from a posted form. If it is invalid, stated responds with the
// submitted form and returns nil.
func (a *Handler) stated(w http.ResponseWriter, r *http.Request) (*bench, error) {
	if err := web.ParseForm(w, r, web.FormBytes); err != nil {
		return nil, err
	}
	b, err := a.readBench(r.Context(), r.PostForm)
	if err != nil {
		return nil, err
	}
	if len(b.problems) > 0 {
		return nil, a.refuse(w, r, b)
	}
	return b, nil
}

// Stated returns a handler that passes the lab's state in a posted form to do.
func (a *Handler) Stated(do func(w http.ResponseWriter, r *http.Request, b *bench) error) web.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		b, err := a.stated(w, r)
		if b == nil {
			return err
		}
		return do(w, r, b)
	}
}

// OnPoints is Stated for actions that need points.
func (a *Handler) OnPoints(do func(w http.ResponseWriter, r *http.Request, b *bench) error) web.Handler {
	return a.Stated(func(w http.ResponseWriter, r *http.Request, b *bench) error {
		if b.data == nil {
			b.problems = param.Problems{{Field: "points", Message: "there are no points yet: draw or type some first"}}
			return a.refuse(w, r, b)
		}
		return do(w, r, b)
	})
}

// refuse shows the lab with errors beside its fields.
func (a *Handler) refuse(w http.ResponseWriter, r *http.Request, b *bench) error {
	status := lists.Either(b.refused == "", http.StatusUnprocessableEntity, http.StatusConflict)
	w.WriteHeader(status)
	return a.Page(w, r, b)
}

// Page shows the lab.
func (a *Handler) Page(w http.ResponseWriter, r *http.Request, b *bench) error {
	ans, err := a.answerInTurn(r.Context(), b)
	if err != nil {
		return err
	}
	page := a.Frame(b.name, "lab")
	page.Wide = true
	p := labview.Lab{
		Page: page, Name: b.name, Points: b.points, Unread: b.problems.For("points") != "",
		Groups: frame.SpecGroups(b.spec, b.form, b.problems), Answer: ans,
		Editable: b.editable(), Typed: b.typed(), Columns: b.columns(), Stored: frame.IsStored(b.id), Hash: b.version, Editing: b.points != "" || b.id == frame.Drawing || b.form.Get("edit") == "1",
		RunName: b.spec.Name(nil) + " · " + b.name,
		Tries:   b.tries(), Try: b.try, Most: results.MostCompared,
		Rules:   len(b.rules()) > 1,
		Movable: b.movable(), Limits: b.limits(), Hide: b.look.Hidden,
		Search: b.searchForm(), Path: b.hasPath(),
	}
	hidden := b.hidden()
	for _, g := range p.Groups {
		for i, f := range g.Fields {
			g.Fields[i].Hidden = f.Hidden || slices.Contains(hidden, f.Name)
			switch f.Name {
			case "kernel":
				g.Fields[i].Options = b.kernels(f.Options)
			case "learner":
				g.Fields[i].Options = among(f.Options, b.learners())
			case "target":
				g.Fields[i].Reload = true
			}
			if v, ok := ans.Resolved[f.Name]; ok {
				g.Fields[i].Resolved = strconv.FormatFloat(v, 'g', -1, 64)
			}
		}
	}
	p.DataFields, p.Groups = p.Groups[0].Fields, p.Groups[1:]
	p.Marks = b.marks()
	if !b.spec.Regression() {
		p.Positive = b.positives()
	} else {
		p.NoVersions = true // only one learner fits values
		p.Groups = slices.DeleteFunc(p.Groups, func(g views.Group) bool { return g.Name == "conformal" })
	}
	if b.data != nil && len(b.data.Features) > 2 {
		p.AxisX, p.AxisY = b.x, b.y
		p.Axes, p.Train = b.axes(), trainOptions(b)
	}
	if p.Data, err = a.Choices(r.Context(), b.id, b.course); err != nil {
		return err
	}
	p.Data = append(p.Data, generators(b.id)...)
	p.Makes, p.MakesMore = b.makes()
	if !slices.ContainsFunc(p.Data, func(c views.Choice) bool { return c.Chosen }) { // the points of a run or a search
		p.Data = append([]views.Choice{{Group: "As saved", ID: b.id, Name: b.name, Chosen: true}}, p.Data...)
	}
	if b.course != nil {
		if err := a.labInCourse(r, b, &p); err != nil {
			return err
		}
	}
	return a.Render(w, r, labview.Page(p))
}

// answerInTurn calls answer in a turn for pages.
func (a *Handler) answerInTurn(ctx context.Context, b *bench) (views.Answer, error) {
	ctx, leave, err := a.PageTurn(ctx)
	if err != nil {
		return views.Answer{}, err
	}
	defer leave()
	return a.answer(ctx, b, false)
}

// trainInTurn calls train in a turn for pages.
func (a *Handler) trainInTurn(ctx context.Context, b *bench) (*ml.Result, error) {
	ctx, leave, err := a.PageTurn(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	res, _, err := a.train(ctx, b)
	return res, err
}

// generators lists the generators of data, with the chosen one marked.
func generators(chosen string) (list []views.Choice) {
	for _, g := range dataset.Generators {
		c := views.Choice{Group: "Generate", ID: frame.OfGenerator + g.Name, Name: g.Label, Vectors: g.Kind == dataset.KindVectors}
		if name, _, _ := strings.Cut(chosen, ","); name == c.ID {
			c.ID, c.Chosen = chosen, true
		}
		list = append(list, c)
	}
	return list
}

// backgrounds lists the choices for the background of a picture.
var backgrounds = []views.Option{{Value: "regions", Label: "predicted regions"}, {Value: "heat", Label: "f(x) as a heat map"}}

func trainOptions(b *bench) []views.Option {
	opts := []views.Option{
		{Value: "all", Label: fmt.Sprintf("all %d features", len(b.data.Features))},
		{Value: "shown", Label: "the two shown"},
		{Value: "pca", Label: "two principal components"},
	}
	if b.on == "list" {
		opts = append(opts, views.Option{Value: "list", Label: strings.Join(b.spec.Features, ", ")})
	}
	return views.Choose(opts, b.on)
}

// marks returns the controls of the layers besides the points.
func (b *bench) marks() []views.Field {
	if b.spec.Regression() {
		return nil // a surface is a heat map
	}
	fields := []views.Field{
		{Name: "show", Label: "Background", Kind: "choice", Options: views.Choose(backgrounds, b.background()), Help: "What the picture shows behind the points."},
		{Name: "slack", Label: "Draw slack", Kind: "switch", Value: strconv.FormatBool(b.look.Slack), Help: "A line from each point that falls short of its margin."},
		{Name: "cores", Label: "Mark cores", Kind: "switch", Value: strconv.FormatBool(b.look.Cores), Help: "The cores of the conformal map."},
	}
	hidden := b.hidden()
	for i := range fields {
		fields[i].Hidden = slices.Contains(hidden, fields[i].Name)
	}
	return fields
}

// Live sends the page's script the changing part of the lab.
func (a *Handler) Live(w http.ResponseWriter, r *http.Request) error {
	return a.Base.Live(w, r, a.live)
}

// live returns the reply to a posted form.
func (a *Handler) live(r *http.Request) (map[string]any, error) {
	b, err := a.readBench(r.Context(), r.Form)
	if err != nil {
		return nil, err
	}
	b.patient = true
	if b.look.Coarse > 0 && r.Form.Has("motion") {
		if reply, err := a.motion(r.Context(), r.Form, *b); reply != nil || err != nil {
			return reply, err
		}
	}
	ans, err := a.answer(r.Context(), b, true)
	if err != nil {
		return nil, err
	}
	var html, tried strings.Builder
	html.Grow(len(ans.Picture.Src) + 2*len(ans.Stage) + 200*len(ans.Points.Rows) + 16<<10)
	if err := views.AnswerView(ans).Render(r.Context(), &html); err != nil {
		return nil, err
	}
	if err := views.TriedView(ans.Tried).Render(r.Context(), &tried); err != nil {
		return nil, err
	}
	errs := map[string]string{}
	for _, p := range b.problems {
		errs[p.Field] = views.Sentence(p.Message)
	}
	return map[string]any{
		"name":      b.name,
		"positives": lists.Map(b.positives(), func(o views.Option) choice { return choice{o.Value, o.Label, o.Chosen} }),
		"html":      html.String(), "tried": tried.String(), "hidden": b.hidden(), "errors": errs, "resolved": ans.Resolved, "query": ans.Query, "run_name": b.spec.Name(nil) + " · " + b.name,
		"search": b.searchTitle(), "path": b.hasPath(), "x": b.x, "y": b.y, "took": ans.Took, "live": ans.Live(),
	}, nil
}

// At sends the page's script the model's prediction at a place in the picture.
func (a *Handler) At(w http.ResponseWriter, r *http.Request) error {
	return a.Base.Live(w, r, a.at)
}

// at returns the prediction at the requested place.
func (a *Handler) at(r *http.Request) (map[string]any, error) {
	names := [2]string{"at.s", "at.t"} // apart from the parameters
	if _, err := pictures.ReadPlace(r.Form, names); err != nil {
		return nil, err
	}
	b, err := a.readBench(r.Context(), r.Form)
	if err != nil {
		return nil, err
	}
	b.patient = true
	place := pictures.Place{Scores: []pictures.Score{}}
	res, _, err := a.train(r.Context(), b)
	if err == nil && res != nil {
		place, err = pictures.At(r.Context(), a.run(b, res, b.look), r.Form, names)
	}
	return map[string]any{"place": place}, err
}

// choice is an option for the page's script.
type choice struct {
	Value  string `json:"value"`
	Label  string `json:"label"`
	Chosen bool   `json:"chosen"`
}

// Figure serves the pictures of an unsaved view.
func (a *Handler) Figure(w http.ResponseWriter, r *http.Request, b *bench) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	o := b.look
	o.Size(r)
	key, err := b.key()
	if err != nil {
		return err
	}
	var res *ml.Result
	sheet := pictures.RunSheet(key, name, format, o, func(context.Context) (figure.Run, error) { return a.run(b, res, o), nil })
	if name == bareName {
		sheet.Draw = func(ctx context.Context) (*figure.Picture, error) {
			s, draw, err := a.bare(b, o)
			if err != nil {
				return nil, err
			}
			return draw(ctx, s)
		}
	} else {
		b.patient = true
		if res, err = a.trainInTurn(r.Context(), b); err != nil {
			return err
		}
		if res == nil {
			return store.ErrNotFound
		}
	}
	sheet.Public = b.public()
	return a.SendPrint(w, r, sheet)
}

// bareName is the name of the picture without a model.
const bareName = "points"

// glance is how long a page waits for a run just saved to finish.
const glance = 400 * time.Millisecond

// emptyClasses are the classes of a new drawing.
var emptyClasses = []string{"-1", "1"}

func emptyScene(o pictures.Options) figure.Scene {
	v := dataset.View{Labels: [2]string{"x1", "x2"}, Center: []float64{0, 0}, Exact: true}
	v.To = [2][]float64{{1, 0}, {0, 1}}
	v.Axes = v.To
	s := figure.Scene{View: v, Classes: emptyClasses, Limits: o.Limits, Heat: o.Heat, Format: o.Look().Format}
	if s.Limits == (figure.Limits{}) {
		s.Limits = figure.LimitsOf(nil, v)
	}
	return s
}

// trained returns the model of the bench, computed or cached.
func (a *Handler) trained(ctx context.Context, b *bench) (*ml.Result, error) {
	spec, err := b.spec.MarshalJSON()
	if err != nil {
		return nil, err
	}
	return a.results.Get(ctx, b.hash+string(spec), func(ctx context.Context) (*ml.Result, error) {
		return a.learn(ctx, b.data, b.spec, nil)
	})
}
