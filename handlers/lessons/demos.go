package lessons

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"marginlab/handlers/frame"
	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
)

// demo runs a screen's demo; while asking, answers are hidden. Its pictures are linked or, if
// inline, embedded.
func (a *Handler) demo(r *http.Request, s *lessons.Screen, path string, form url.Values, asking, slide, inline bool) (lessons.DemoView, param.Problems, error) {
	v := lessons.DemoView{ID: s.Slug, Live: path + "/live", Slide: slide, Asking: asking}
	if framed(r) {
		form = everybodys(form)
	}
	course, form, preset, err := a.under(r.Context(), strings.TrimSuffix(path, "/"+s.Slug), s.Demo, form)
	if err != nil {
		return v, nil, err
	}
	if course != nil {
		if v.Course, err = a.InCourse(r.Context(), *course); err != nil {
			return v, nil, err
		}
	}
	in, wrong := s.Demo.NewInput(form.Get, workspaceSource{a.Base})
	in.Coarse = limiter.Coarseness(form) > 0
	query, err := a.fields(r.Context(), &v, s, in, form, wrong, course, preset)
	if err != nil {
		return v, nil, err
	}
	key, public := a.key(r.Context(), path, in)
	e, err := a.exhibit(r.Context(), key, s.Demo, in)
	if err != nil {
		v.Problem, err = results.UserMessage(err)
		return v, wrong, err
	}
	v.Whole = e
	if asking {
		e = e.Asking()
	}
	v.Replay = e.Steps > 0
	if e.Steps > 0 && e.Step > 0 {
		query.Set("step", strconv.Itoa(e.Step))
	}
	if course != nil {
		query.Set("course", course.Code)
	}
	e = within(e, course)
	v.Answer.Exhibit = e
	drawn := query.Encode()
	if form.Get(everything) == "1" {
		query.Set(everything, "1")
	}
	v.Query = query.Encode()
	at := place{base: path + "/figures/", key: key, public: public && course == nil}
	if framed(r) { // a frame has no links to other pages
		v.Framed, v.Live, v.Answer.Lab = true, framePath(path)+"/live", ""
		at.base = framePath(at.base)
	} else if at.public && !slide {
		v.Answer.Embed = a.embed(r, s, path, drawn, e.Figures)
	}
	v.Answer.Slide = slide
	if !slide {
		v.Answer.Set = v.Settings()
	}
	located := func(asking bool) place { return a.located(at, drawn, asking) }
	look := lessons.Look{Dark: form.Get("dark") == "1", Coarse: in.Coarse}
	sketched := slices.ContainsFunc(s.Questions, func(q lessons.Question) bool { return q.Sketch != nil })
	for i, f := range e.Figures {
		if look.Width, look.Height = lessonSize(f, i > 0 && len(e.Figures) > 2); slide {
			look.Width, look.Height = slideSize(form, inline, e.Body != nil)
		}
		look.Asking = asking && f.Asks != ""
		at := located(look.Asking)
		p, st, parts, err := a.picture(r.Context(), f, look, at, slide, inline, i == 0)
		if err != nil {
			return v, nil, err
		}
		stage := map[string]any{"frames": st, "parts": lessons.Meant(parts)}
		if i == 0 {
			stage["handles"] = e.Handles
		}
		v.Answer.Stages = append(v.Answer.Stages, pictures.ToJSON(stage))
		v.Answer.Pictures, v.Answer.Captions = append(v.Answer.Pictures, p), append(v.Answer.Captions, f.Caption)
		if !slide {
			bare := f.Asks != "" && (sketched || len(parts) == 0) || f.Grows && e.Step == 0
			print := views.Picture{} // empty axes are omitted
			if !asking || !bare {
				print = printed(f, at, p, asking)
			}
			v.Answer.Printed = append(v.Answer.Printed, print)
		}
	}
	if asking && !slide && !inline {
		v.Answer.Withheld = withheld(v.Whole, located(false))
	}
	return v, wrong, nil
}

// located returns the place of the figures of a query, with or without answers.
func (a *Handler) located(at place, query string, asking bool) place {
	if asking {
		query = strings.TrimPrefix(query+"&asking=1", "&")
	}
	if at.query = query; at.public {
		at.query = a.Lasting(query)
	}
	return at
}

// fields adds the controls of a screen's demo to v, except those hidden by the course, and returns
// the query of its state: what differs from the defaults or, in a course, may differ.
func (a *Handler) fields(ctx context.Context, v *lessons.DemoView, s *lessons.Screen, in lessons.Input, form url.Values, wrong param.Problems, course *store.Course, preset url.Values) (url.Values, error) {
	query := url.Values{}
	for _, p := range s.Demo.Params() {
		if t := in.Text(p); t != p.Default || preset.Has(p.Name) {
			query.Set(p.Name, t)
		}
		if v.Course.State(p.Name) == "hidden" {
			continue
		}
		f, err := a.demoField(ctx, p, in.Text(p), course)
		if err != nil {
			return nil, err
		}
		f.Form = s.Slug + "-"
		if f.Error = wrong.For(p.Name); f.Error != "" {
			f.Value = form.Get(p.Name)
		}
		if p.Folded {
			v.Folded = append(v.Folded, f)
		} else {
			v.Fields = append(v.Fields, f)
		}
	}
	return query, nil
}

// within returns the exhibit as the course, if any, lets it be moved and linked to the lab.
func within(e lessons.Exhibit, course *store.Course) lessons.Exhibit {
	if course == nil {
		if e.Lab != "" && !strings.Contains(e.Lab, "test_fraction=") {
			e.Lab += "&test_fraction=0" // trained on all points, as in the lesson
		}
		return e
	}
	e.Handles = slices.DeleteFunc(slices.Clone(e.Handles), func(h lessons.Handle) bool {
		x, y := h.Moves()
		return course.Fixes(x) || course.Fixes(y)
	})
	e.Moves = slices.DeleteFunc(slices.Clone(e.Moves), func(m lessons.Move) bool { return course.Fixes(m.Control.Name) })
	if e.Lab != "" { // runs can be submitted there
		e.Lab += "&course=" + course.Code
	}
	return e
}

// withheld returns the figures at a place that a page without answers leaves out, to print with them.
func withheld(whole lessons.Exhibit, at place) (figures []lessons.PaperFigure) {
	for i, f := range whole.Figures {
		if f.Asks == "" && !f.After && !(f.Grows && whole.Step == 0) {
			continue
		}
		width, height := lessonSize(f, i > 0 && len(whole.Figures) > 2)
		p := printed(f, at, views.Picture{Width: width, Height: height, Alt: lessons.Spoken(f.Caption)}, false)
		figures = append(figures, lessons.PaperFigure{Picture: p, Caption: f.Caption})
	}
	return figures
}

// under returns the result of Enforce for a demo of a lesson. Controls missing from the state take
// the course's presets; preset holds those that this demo can have, since screens may offer
// different choices.
func (a *Handler) under(ctx context.Context, lesson string, d *lessons.Demo, form url.Values) (course *store.Course, state, preset url.Values, err error) {
	course, state, err = a.Enforce(ctx, lesson, form)
	if err != nil || course == nil {
		return course, state, nil, err
	}
	if path, _, _ := strings.Cut(course.Target, "?"); path != lesson && !strings.HasPrefix(path, lesson+"/") {
		return course, state, nil, nil
	}
	preset = carried(frame.Preset(*course))
	for _, p := range d.Params() {
		if v := preset.Get(p.Name); v != "" && p.Labelled().Check(p.Typed(v)) != nil {
			if state.Get(p.Name) == v {
				state.Del(p.Name)
			}
			preset.Del(p.Name)
		}
	}
	for name, values := range preset {
		if !state.Has(name) {
			state[name] = values
		}
	}
	return course, state, preset, nil
}

// key returns a cache key of everything a screen's demo depends on. It is empty if that is unknown,
// as for a run of the workspace. public reports whether the demo is independent of the workspace.
func (a *Handler) key(ctx context.Context, path string, in lessons.Input) (key string, public bool) {
	key, data, run := in.Key()
	switch {
	case run != "":
		return "", false
	case frame.IsPublic(data):
		return path + " " + key, true
	}
	p, err := a.Locate(ctx, data)
	if err != nil { // the computation will report it
		return "", false
	}
	return strings.Join([]string{path, key, p.Hash, p.Name}, " "), false
}

// exhibit returns the exhibit of a demo, cached if key is not empty. The returned copy may be
// modified, but not what it points to.
func (a *Handler) exhibit(ctx context.Context, key string, d *lessons.Demo, in lessons.Input) (lessons.Exhibit, error) {
	show := func(ctx context.Context) (*lessons.Exhibit, error) { return d.Show(ctx, in) }
	if key != "" {
		once := show
		show = func(ctx context.Context) (*lessons.Exhibit, error) { return a.exhibits.Get(ctx, key, once) }
	}
	e, err := limiter.Within(ctx, a.Patience, "Choose fewer points or a smaller C.", show)
	if err != nil {
		return lessons.Exhibit{}, err
	}
	return *e, nil
}

// demoField returns a control of a demo; its choices include the workspace's data sets and runs.
func (a *Handler) demoField(ctx context.Context, p param.Param, value string, course *store.Course) (views.Field, error) {
	switch {
	case lessons.IsData(p):
		choices, err := a.Choices(ctx, value, course)
		if err != nil {
			return views.Field{}, err
		}
		p.Kind = param.Choice
		for _, c := range choices {
			if c.Vectors && c.ID != frame.Drawing {
				p.Options = append(p.Options, param.Option{Name: c.ID, Label: c.Name})
			}
		}
	case lessons.IsRun(p):
		runs, _, err := a.Store.Runs(ctx, frame.Workspace(ctx), store.Filter{Where: store.MustQuery("status = done"), Sort: "created", Desc: true, Limit: 100})
		if err != nil {
			return views.Field{}, err
		}
		p.Kind = param.Choice
		p.Options = []param.Option{{Name: "", Label: "an example"}}
		for _, run := range runs {
			p.Options = append(p.Options, param.Option{Name: run.ID, Label: run.Name})
		}
	}
	return frame.ParamField(p, value), nil
}

// workspaceSource finds data sets and runs of the request's workspace.
type workspaceSource struct{ base *frame.Base }

func (s workspaceSource) Data(ctx context.Context, id string) (string, *dataset.Data, error) {
	p, err := s.base.Source(ctx, id)
	switch {
	case err != nil:
		return "", nil, err
	case p.Data == nil:
		return "", nil, param.Refuse("choose other data", "%s has no points yet", p.Name)
	}
	return p.Name, p.Data, withFeatures(p.Name, p.Data)
}

// withFeatures refuses data without features, which the pictures of lessons need.
func withFeatures(name string, d *dataset.Data) error {
	if d.Kind() == dataset.KindVectors {
		return nil
	}
	return param.Refuse("choose other data", "%s has no features that a lesson could show: its data are %s", name, d.Kind())
}

func (s workspaceSource) Run(ctx context.Context, id string) (*lessons.Run, error) {
	run, err := s.base.Store.Run(ctx, frame.Workspace(ctx), id)
	if err != nil {
		return nil, err
	}
	if run.Report == nil || run.Model == nil {
		return nil, web.Errorf(web.Conflict, "The run %q has not ended yet.", run.Name)
	}
	d, err := s.base.Store.Data(ctx, run.Hash)
	if err != nil {
		return nil, err
	}
	if err := withFeatures(run.Name, d); err != nil {
		return nil, err
	}
	return &lessons.Run{Name: run.Name, Spec: run.Spec, Data: d, Report: run.Report, Model: run.Model}, nil
}

// Live sends the page's script the exhibit for other values.
func (a *Handler) Live(w http.ResponseWriter, r *http.Request, s Screen) error {
	if s.Demo == nil {
		return web.Errorf(web.NotFound, "This screen has no demo.")
	}
	return a.Base.Live(w, r, func(r *http.Request) (map[string]any, error) { return a.live(r, s) })
}

// live returns the reply to a form.
func (a *Handler) live(r *http.Request, s Screen) (map[string]any, error) {
	v, wrong, err := a.demo(r, s.Screen, s.path(), r.Form, r.Form.Get("asking") == "1", r.Form.Get("slide") == "1", true)
	if err != nil {
		return nil, err
	}
	var html strings.Builder
	if err := lessons.ExhibitPart(v.Answer).Render(r.Context(), &html); err != nil {
		return nil, err
	}
	errs := map[string]string{}
	for _, p := range wrong {
		errs[p.Field] = views.Sentence(p.Message)
	}
	return map[string]any{
		"html": html.String(), "errors": errs, "problem": v.Problem, "query": v.Query, "step": v.Answer.Step, "steps": v.Answer.Steps,
	}, nil
}

// stateBytes is roughly the maximum size of the states sent at once. No state is added after a
// quarter of the time limit, so that no request holds its place for long.
const stateBytes = 3 << 20

// replayed lists the parameters of States.
var replayed = []param.Param{
	{Name: "step", Label: "Step", Kind: param.Integer, Min: 0, Max: 1e6, Default: "0"},
	{Name: "ahead", Label: "Ahead", Kind: param.Integer, Min: 1, Max: 12, Default: "1"}, // the script asks for the maximum
}

// States sends the page's script the next states of a replay, so that stepping needs no request:
// at most ahead, limited by size, at least one.
func (a *Handler) States(w http.ResponseWriter, r *http.Request, s Screen) error {
	if s.Demo == nil {
		return web.Errorf(web.NotFound, "This screen has no demo.")
	}
	return a.Base.Live(w, r, func(r *http.Request) (map[string]any, error) {
		var problems param.Problems
		numbers := map[string]int{}
		for _, p := range replayed {
			v, err := p.Parse(cmp.Or(r.Form.Get(p.Name), p.Default))
			problems.Note(p.Name, err)
			numbers[p.Name] = v.Int()
		}
		if len(problems) > 0 {
			return nil, problems
		}
		step, begin := numbers["step"], time.Now()
		states := []map[string]any{}
		for size := 0; len(states) < numbers["ahead"] && size < stateBytes && (size == 0 || time.Since(begin) < a.Patience/4); step++ {
			r.Form.Set("step", strconv.Itoa(step))
			state, err := a.live(r, s)
			if err != nil {
				return nil, err
			}
			if state["step"] != step { // after the last step
				break
			}
			states = append(states, state)
			size += len(state["html"].(string))
		}
		return map[string]any{"states": states}, nil
	})
}

// Setting returns the controls that can be fixed in a lesson or, for the path of a screen, on that
// screen. Controls with the same name count as one.
func (a *Handler) Setting(ctx context.Context, path string, q url.Values) (s frame.Setting, err error) {
	slug, screen, _ := strings.Cut(strings.TrimPrefix(path, "/lessons/"), "/")
	l := all.Find(slug)
	if l == nil {
		return s, web.Errorf(web.NotFound, "There is no such lesson.")
	}
	if only, _ := l.Screen(screen); screen != "" && only == nil {
		return s, web.Errorf(web.NotFound, "The lesson %q has no such screen.", l.Title)
	}
	q.Del("run") // private to the teacher
	s.Path, s.Query, s.Title = path, q, l.Title
	if id := q.Get("data"); !frame.IsPublic(id) {
		p, err := a.Source(ctx, id)
		if err != nil {
			return s, err
		}
		s.Data, s.Points = p.Name, p.Data
	}
	s.Check = func(control, value string) error {
		for sc, p := range controls(l) {
			if p.Name == control {
				if err := p.Labelled().Check(value); err != nil {
					return fmt.Errorf("%w, on the screen “%s”", err, sc.Title)
				}
			}
		}
		return nil
	}
	shared := views.ControlGroup{Name: "shared", Title: "On several screens: one for all of them"}
	uses, seen := usesIn(l), map[string]bool{}
	for _, sc := range l.Screens {
		if sc.Demo == nil || screen != "" && screen != sc.Slug {
			continue
		}
		in, _ := sc.Demo.NewInput(q.Get, workspaceSource{a.Base})
		g := views.ControlGroup{Name: sc.Slug, Title: sc.Title}
		for _, p := range sc.Demo.Params() {
			if seen[p.Name] || lessons.IsRun(p) {
				continue
			}
			seen[p.Name] = true
			c := views.Control{Name: p.Name, Label: results.Capital(p.Label), Symbol: p.Symbol, Value: results.OptionLabel(p, in.Text(p))}
			if u := uses[p.Name]; screen == "" && u.screens > 1 {
				u.share(&c, p, in.Text(p), q)
				shared.Controls = append(shared.Controls, c)
			} else {
				g.Controls = append(g.Controls, c)
			}
		}
		if len(g.Controls) > 0 {
			s.Groups = append(s.Groups, g)
		}
	}
	if len(shared.Controls) > 0 {
		s.Groups = append([]views.ControlGroup{shared}, s.Groups...)
	}
	return s, nil
}

// controls yields the controls of the demos of a lesson, with their screens.
func controls(l *lessons.Lesson) iter.Seq2[lessons.Screen, param.Param] {
	return func(yield func(lessons.Screen, param.Param) bool) {
		for _, sc := range l.Screens {
			if sc.Demo == nil {
				continue
			}
			for _, p := range sc.Demo.Params() {
				if !yield(sc, p) {
					return
				}
			}
		}
	}
}

// use is how the screens of a lesson use the controls of one name.
type use struct {
	screens  int            // with the control
	offer    map[string]int // screens that offer a choice
	defaults map[string]bool
}

// usesIn returns the uses of the controls of a lesson by name.
func usesIn(l *lessons.Lesson) map[string]*use {
	uses := map[string]*use{}
	for _, p := range controls(l) {
		u := uses[p.Name]
		if u == nil {
			u = &use{offer: map[string]int{}, defaults: map[string]bool{}}
			uses[p.Name] = u
		}
		u.screens++
		u.defaults[p.Default] = true
		for _, o := range p.Options {
			u.offer[o.Name]++
		}
	}
	return uses
}

// share completes c, with the value of p on the first screen that has it, as one control for all of
// them. If their defaults differ, it can be left to each screen or set to a choice that all offer.
func (u *use) share(c *views.Control, p param.Param, value string, q url.Values) {
	if len(p.Options) > 0 && u.offer[value] < u.screens {
		c.Value += ", where it is offered"
		if !q.Has(p.Name) {
			c.Value = "as on each screen"
		}
	}
	if len(u.defaults) == 1 {
		return
	}
	for _, o := range p.Options {
		if u.offer[o.Name] == u.screens {
			c.Choices = append(c.Choices, views.Option{Value: o.Name, Label: o.Label})
		}
	}
	if c.Each = len(c.Choices) > 0 || len(p.Options) == 0; c.Each {
		c.Value = q.Get(p.Name)
	}
}
