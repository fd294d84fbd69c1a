package handlers

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/ml"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/web"
)

// longestLink is how long a query may get in a link that people keep.
const longestLink = 8000

// class finds the class with a code as it was typed.
func (a *App) class(ctx context.Context, typed string) (store.Class, error) {
	c, err := a.store.Class(ctx, store.CleanCode(typed))
	if errors.Is(err, store.ErrNotFound) {
		err = web.Errorf(web.NotFound, "There is no class with the code %q. A code has six letters; ask your teacher, who may also have deleted the class.", typed)
	}
	return c, err
}

// preset is the state of the class's page, as its query.
func preset(c store.Class) url.Values {
	q := url.Values{}
	if u, err := url.Parse(c.Target); err == nil {
		q = u.Query()
	}
	if c.Hash != "" {
		q.Set("data", ofClass+c.Code)
	}
	q.Set("class", c.Code)
	return q
}

// door is where students of the class begin.
func door(c store.Class) string {
	path, _, _ := strings.Cut(c.Target, "?")
	return path + "?" + preset(c).Encode()
}

// fixedAlong are fields without a control of their own that say the same as one
// that has.
var fixedAlong = map[string][]string{"data": {"label"}, "on": {"features", "project"}}

// on is the class as it is on a page: what it fixes belongs to the page that it
// was made of, or the lesson.
func on(page string, c store.Class) store.Class {
	if path, _, _ := strings.Cut(c.Target, "?"); path != page && !strings.HasPrefix(path, page+"/") {
		c.Hidden, c.Frozen = nil, nil
	}
	return c
}

// enforce finds the class that the state of a page names, nil for none, and
// returns the state with every hidden and frozen control as the class has it,
// whatever was sent. A page that can be set up for a class reads its state
// through it; page is its address, of a lesson's screens that of the lesson.
func (a *App) enforce(ctx context.Context, page string, form url.Values) (*store.Class, url.Values, error) {
	if form.Get("class") == "" {
		return nil, form, nil
	}
	c, err := a.class(ctx, form.Get("class"))
	if err != nil {
		return nil, nil, err
	}
	c = on(page, c)
	form = maps.Clone(form)
	set := preset(c)
	for _, control := range slices.Concat(c.Hidden, c.Frozen) {
		for _, name := range append(fixedAlong[control], control) {
			delete(form, name)
			if set.Has(name) {
				form[name] = set[name]
			}
		}
	}
	return &c, form, nil
}

// classesPage lists what a teacher has set up and takes the code of a student.
func (a *App) classesPage(w http.ResponseWriter, r *http.Request) error {
	return a.showClasses(w, r, "", "")
}

func (a *App) showClasses(w http.ResponseWriter, r *http.Request, typed, problem string) error {
	classes, err := a.store.Classes(r.Context(), workspace(r.Context()))
	if err != nil {
		return err
	}
	p := views.Classes{Page: a.page("Classes", ""), Typed: typed, Problem: problem}
	for _, c := range classes {
		p.Rows = append(p.Rows, views.ClassRow{Code: c.Code, Title: c.Title, Created: when(c.Created), Handins: c.Handins, Closed: c.Closed})
	}
	if problem != "" {
		w.WriteHeader(http.StatusNotFound)
	}
	return a.render(w, r, views.ClassesPage(p))
}

// findClass leads from a typed code to the class.
func (a *App) findClass(w http.ResponseWriter, r *http.Request) error {
	typed := strings.TrimSpace(r.FormValue("code"))
	if typed == "" {
		return redirect(w, r, "/classes")
	}
	c, err := a.store.Class(r.Context(), store.CleanCode(typed))
	if errors.Is(err, store.ErrNotFound) {
		return a.showClasses(w, r, typed, "No class has this code. It has six letters, no digits.")
	}
	if err != nil {
		return err
	}
	return redirect(w, r, "/class/"+c.Code)
}

// openClass lets a student in.
func (a *App) openClass(w http.ResponseWriter, r *http.Request) error {
	c, err := a.class(r.Context(), chi.URLParam(r, "code"))
	if err != nil {
		return err
	}
	return redirect(w, r, door(c))
}

// inClass is what a page shows of the class it was opened under.
func (a *App) inClass(ctx context.Context, c store.Class) (*views.InClass, error) {
	v := &views.InClass{Code: c.Code, Title: c.Title, Closed: c.Closed, Fixed: map[string]string{}}
	for _, name := range c.Frozen {
		v.Fixed[name] = "frozen"
	}
	for _, name := range c.Hidden {
		v.Fixed[name] = "hidden"
	}
	handins, err := a.store.Handins(ctx, workspace(ctx), c.Code)
	if err != nil {
		return v, err
	}
	for i, h := range handins {
		if i == 0 && !h.Anonymous {
			v.Who = h.Name
		}
		row := views.Handin{ID: h.Run, Name: h.Name, Created: h.Created.UTC().Format("2 Jan, 15:04 UTC")}
		_, _, err := a.store.RunState(ctx, h.Source)
		if err == nil {
			row.Href = "/runs/" + h.Source
		} else if !errors.Is(err, store.ErrNotFound) {
			return v, err
		}
		v.Handins = append(v.Handins, row)
	}
	return v, nil
}

// runInClass adds to a run's page what its class makes of it. The lab opens in
// the class again; points that the class would not give come along as text.
func (a *App) runInClass(ctx context.Context, run store.Run, p *views.Run) error {
	c, err := a.store.Class(ctx, run.Class)
	if errors.Is(err, store.ErrNotFound) {
		return nil // deleted; the run stays what it is
	}
	if err != nil {
		return err
	}
	in, err := a.inClass(ctx, c)
	if err != nil {
		return err
	}
	p.Class = in
	q := cloneQuery(run)
	q.Set("class", c.Code)
	if on("/lab", c).Fixes("data") {
		b, err := a.readBench(ctx, q)
		if err != nil {
			return err
		}
		if b.data == nil || b.data.Hash() != run.Hash {
			d, err := a.store.Data(ctx, run.Hash)
			if err != nil {
				return err
			}
			var text strings.Builder
			if err := d.Encode(&text); err != nil {
				return err
			}
			q.Set("points", text.String())
		}
	}
	if clone := "/lab?" + q.Encode(); len(clone) < longestLink {
		p.Clone = clone
	}
	return nil
}

// labInClass makes the lab's page that of a class: without what is hidden, with
// what is frozen marked.
func (a *App) labInClass(r *http.Request, b *bench, p *views.Lab) error {
	in, err := a.inClass(r.Context(), *b.class)
	if err != nil {
		return err
	}
	in.Who = cmp.Or(r.FormValue("who"), in.Who)
	in.WhoError = b.problems.For("who")
	p.Class = in
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
	p.NoVersions = b.fixes(versionControls...)
	p.NoSets = b.fixes("data")
	return nil
}

// versionControls are what the comparison of versions changes by itself.
var versionControls = []string{"learner", "conformal", "test_fraction"}

// handInFromLab saves the lab's state as a run and hands it in.
func (a *App) handInFromLab(w http.ResponseWriter, r *http.Request) error {
	b, err := a.posted(w, r)
	if b == nil {
		return err
	}
	if b.class == nil || b.class.Code != chi.URLParam(r, "code") {
		return web.Errorf(web.Conflict, "This page does not belong to the class. Open the class again with its code.")
	}
	if b.class.Closed {
		return store.ErrClosed
	}
	if problems := store.CheckStudent(r.PostFormValue("who")); problems != nil {
		b.problems = problems
		return a.refuse(w, r, b)
	}
	run, err := a.createRun(r.Context(), b, r.PostFormValue("name"), b.spec)
	if errors.As(err, &b.problems) {
		return a.refuse(w, r, b)
	}
	if err != nil {
		return err
	}
	a.jobs.Wait(r.Context(), glance, run.ID)
	if err := a.handIn(r, run.ID); err != nil {
		return err
	}
	if q := b.query().Encode(); len(q) < longestLink {
		return redirect(w, r, "/lab?"+q)
	}
	return redirect(w, r, "/runs/"+run.ID+"#hand-in")
}

// handInRun hands a saved run in.
func (a *App) handInRun(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return err
	}
	id := chi.URLParam(r, "id")
	if err := a.handIn(r, id); err != nil {
		return err
	}
	return redirect(w, r, "/runs/"+id+"#hand-in")
}

func (a *App) handIn(r *http.Request, run string) error {
	_, err := a.store.HandIn(r.Context(), workspace(r.Context()), run, r.PostFormValue("who"))
	if err == nil {
		a.jobs.Notify() // the copy of a run that has not ended waits for its turn
	}
	return err
}

// withdraw takes a hand-in back and returns to the page it was done on: a run's,
// or the lab in the state of the form.
func (a *App) withdraw(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return err
	}
	if err := a.store.Withdraw(r.Context(), workspace(r.Context()), r.PostFormValue("handin")); err != nil {
		return err
	}
	if run := r.PostFormValue("run"); run != "" {
		return redirect(w, r, "/runs/"+url.PathEscape(run)+"#hand-in")
	}
	if b, err := a.readBench(r.Context(), r.PostForm); err == nil {
		if q := b.query().Encode(); len(q) < longestLink {
			return redirect(w, r, "/lab?"+q)
		}
	}
	return redirect(w, r, "/class/"+url.PathEscape(chi.URLParam(r, "code")))
}

// newClassPage asks what is hidden and frozen on a page. Its address comes as
// target, or, from the lab, as the lab's own form.
func (a *App) newClassPage(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return err
	}
	target := cmp.Or(r.FormValue("target"), "/lab")
	if r.Method == http.MethodPost {
		b, err := a.readBench(r.Context(), r.PostForm)
		if err != nil {
			return err
		}
		if len(b.problems) > 0 {
			return a.refuse(w, r, b)
		}
		target = "/lab?" + b.query().Encode()
	}
	s, err := a.setting(r.Context(), target)
	if err != nil {
		return err
	}
	return a.showNewClass(w, r, s, nil)
}

// setting is a page that a class can be made of.
type setting struct {
	path   string
	query  url.Values
	title  string
	bench  *bench // of the lab; nil elsewhere
	groups []views.ControlGroup
}

// setting finds what there is to fix on a page.
func (a *App) setting(ctx context.Context, target string) (s setting, err error) {
	u, err := url.Parse(target)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return s, param.Problems{{Field: "target", Message: "a class is made of a page of this site: open the lab or a lesson and go on from there"}}
	}
	q := u.Query()
	q.Del("class") // the new one takes its place
	s.path, s.query = u.Path, q
	switch {
	case u.Path == "/lab":
		if s.bench, err = a.readBench(ctx, q); err != nil {
			return s, err
		}
		if len(s.bench.problems) > 0 {
			return s, s.bench.problems
		}
		s.title, s.groups = s.bench.spec.Title()+" on "+s.bench.name, labControls(s.bench)
	case strings.HasPrefix(u.Path, "/lessons/"):
		err = a.lessonSetting(ctx, &s, u.Path, q)
	default:
		return s, param.Problems{{Field: "target", Message: "only the lab and the lessons can be opened for a class"}}
	}
	return s, err
}

// lessonSetting finds what there is to fix in a lesson, or, should path lead to
// one of its screens, on that. Controls of one name are one control.
func (a *App) lessonSetting(ctx context.Context, s *setting, path string, q url.Values) error {
	slug, screen, _ := strings.Cut(strings.TrimPrefix(path, "/lessons/"), "/")
	l := lessons.Find(slug)
	if l == nil {
		return web.Errorf(web.NotFound, "There is no such lesson.")
	}
	if only, _ := l.Screen(screen); screen != "" && only == nil {
		return web.Errorf(web.NotFound, "The lesson %q has no such screen.", l.Title)
	}
	q.Del("run") // it is the teacher's own
	s.title = l.Title
	on := map[string]int{} // screens that have the control
	for _, sc := range l.Screens {
		if sc.Demo != nil {
			for _, p := range sc.Demo.Params {
				on[p.Name]++
			}
		}
	}
	shared := views.ControlGroup{Name: "shared", Title: "On several screens: one for all of them"}
	seen := map[string]bool{}
	for _, sc := range l.Screens {
		if sc.Demo == nil || screen != "" && screen != sc.Slug {
			continue
		}
		form := url.Values{}
		if screen != "" || l.Carry || q.Get("screen") == sc.Slug {
			form = q
		}
		in, _ := sc.Demo.NewInput(form.Get, workspaceSource{a})
		g := views.ControlGroup{Name: sc.Slug, Title: sc.Title}
		for _, p := range sc.Demo.Params {
			if !seen[p.Name] && !lessons.IsRun(p) {
				seen[p.Name] = true
				group := &g
				if screen == "" && on[p.Name] > 1 {
					group = &shared
				}
				group.Controls = append(group.Controls, views.Control{Name: p.Name, Label: p.Label, Symbol: lessons.Plain(p.Symbol), Value: optionLabel(p, in.Text(p.Name))})
			}
		}
		if len(g.Controls) > 0 {
			s.groups = append(s.groups, g)
		}
	}
	if len(shared.Controls) > 0 {
		s.groups = append([]views.ControlGroup{shared}, s.groups...)
	}
	return nil
}

// labLabels name the controls of the lab that are no parameters.
var labLabels = map[string]string{
	"data": "data set", "points": "editing of the points", "x": "horizontal axis", "y": "vertical axis", "on": "train on",
	"show": "background", "slack": "draw slack", "cores": "mark cores",
}

// controlLabel names a control as pages do.
func controlLabel(name string) string {
	if p, ok := ml.Param(name); ok {
		return p.Label
	}
	return cmp.Or(labLabels[name], name)
}

// labControls lists the controls of the lab with their values.
func labControls(b *bench) []views.ControlGroup {
	control := func(name, value string) views.Control {
		p, _ := ml.Param(name)
		return views.Control{Name: name, Label: controlLabel(name), Symbol: p.Symbol, Value: value}
	}
	yes := map[bool]string{true: "yes", false: "no"}
	data := []views.Control{control("data", b.dataName()), control("points", "")}
	if b.data != nil {
		data = append(data, control("positive", positiveOf(b.spec, b.data)))
		if len(b.data.Features) > 2 {
			data = append(data, control("x", b.x), control("y", b.y), control("on", chosenLabel(trainOptions(b), b.on)))
		}
	}
	var groups []views.ControlGroup
	for _, g := range ml.Groups {
		vg := views.ControlGroup{Name: g.Name, Title: g.Title}
		if g.Name == "data" {
			vg.Controls = data
		}
		for _, p := range g.Params {
			if p.Kind == param.Text || p.Name == "project" {
				continue // settled by the controls of the data
			}
			c := control(p.Name, optionLabel(p, b.spec.Text(p.Name)))
			c.Unused = !b.spec.Applies(p.Name)
			vg.Controls = append(vg.Controls, c)
		}
		groups = append(groups, vg)
	}
	cores := control("cores", yes[b.cores])
	cores.Unused = b.spec.Conformal == "none"
	return append(groups, views.ControlGroup{Name: "picture", Title: "Picture", Controls: []views.Control{
		control("show", chosenLabel(backgrounds, b.show)), control("slack", yes[b.slack]), cores,
	}})
}

func chosenLabel(options []views.Option, value string) string {
	for _, o := range options {
		if o.Value == value {
			return o.Label
		}
	}
	return value
}

func (a *App) showNewClass(w http.ResponseWriter, r *http.Request, s setting, problems param.Problems) error {
	p := views.NewClass{Page: a.page("Teach with this page", ""), Target: s.path + "?" + s.query.Encode(), Title: s.title, Groups: s.groups, Handins: true, Problem: problems.For("title")}
	if len(problems) > 0 {
		p.Title, p.Handins = r.PostFormValue("title"), r.PostFormValue("handins") == "true"
		for i, g := range p.Groups {
			p.Groups[i].State = r.PostFormValue("group." + g.Name)
			for k, c := range g.Controls {
				g.Controls[k].State = r.PostFormValue("control." + c.Name)
			}
		}
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	return a.render(w, r, views.NewClassPage(p))
}

// createClass stores a class. Points that students could not open by themselves
// come along.
func (a *App) createClass(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, formBytes); err != nil {
		return err
	}
	s, err := a.setting(r.Context(), r.PostFormValue("target"))
	if err != nil {
		return err
	}
	n := store.NewClass{Title: r.PostFormValue("title"), Closed: r.PostFormValue("handins") != "true"}
	q := s.query
	switch b := s.bench; {
	case b != nil:
		q = b.query()
		if b.data != nil && (b.points != "" || !isPublic(b.id)) {
			n.Points, n.Data = b.data, b.dataName()
			q.Del("points")
			q.Del("data")
		}
	case !isPublic(q.Get("data")):
		if n.Data, n.Points, err = a.source(r.Context(), q.Get("data")); err != nil {
			return err
		}
		q.Del("data")
	}
	n.Target = s.path + "?" + q.Encode()
	for _, g := range s.groups {
		for _, c := range g.Controls {
			switch cmp.Or(r.PostFormValue("group."+g.Name), r.PostFormValue("control."+c.Name)) {
			case "hidden":
				n.Hidden = append(n.Hidden, c.Name)
			case "frozen":
				n.Frozen = append(n.Frozen, c.Name)
			}
		}
	}
	c, err := a.store.CreateClass(r.Context(), workspace(r.Context()), n)
	var ps param.Problems
	if errors.As(err, &ps) && ps.For("title") != "" {
		return a.showNewClass(w, r, s, ps)
	}
	if err != nil {
		return err
	}
	return redirect(w, r, "/classes/"+c.Code)
}
