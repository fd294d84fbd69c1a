package frame

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
)

// HeldOut is the default test_fraction of the lab, so that its headline is an honest number. The API
// and the terminal train on all rows by default. A drawing is trained on as a whole, because
// every added point would change the split. Courses rank submissions by the held-out score.
const HeldOut = 0.3

// LongestLink is the longest query in a permanent link.
const LongestLink = 8000

// Course finds the course with a typed code.
func (a *Base) Course(ctx context.Context, typed string) (store.Course, error) {
	c, err := a.FindCourse(ctx, typed)
	if errors.Is(err, store.ErrNotFound) {
		err = web.Errorf(web.NotFound, "There is no course with the code %q. A code has six letters; ask your teacher, who may also have deleted the course.", typed)
	}
	return c, err
}

// CodeOf returns the course code in the state of a page, empty if there is none. Old links with
// class instead of course still work, and controls may also be called class.
func CodeOf(form url.Values) string {
	if class := form.Get("class"); !form.Has("course") && store.IsCode(class) {
		return class
	}
	return form.Get("course")
}

// Preset returns the state of the course's page as a query.
func Preset(c store.Course) url.Values {
	q := url.Values{}
	if u, err := url.Parse(c.Target); err == nil {
		q = u.Query()
	}
	if c.Hash != "" {
		q.Set("data", ofCourse+c.Code)
	}
	q.Set("course", c.Code)
	return q
}

// Entrance returns the URL at which students of the course begin.
func Entrance(c store.Course) string {
	path, _, _ := strings.Cut(c.Target, "?")
	return path + "?" + Preset(c).Encode()
}

// fixedAlong maps controls to fields without a control that express the same.
var fixedAlong = map[string][]string{"data": {"label"}, "on": {"features", "project"}}

// On returns the course as it applies to a page: its fixed controls apply only to the page or
// lesson it was made from.
func On(page string, c store.Course) store.Course {
	if path, _, _ := strings.Cut(c.Target, "?"); path != page && !strings.HasPrefix(path, page+"/") {
		c.Hidden, c.Frozen = nil, nil
	}
	return c
}

// Enforce finds the course named in the state of a page, nil if none, and returns the state with
// every hidden and frozen control set as the course requires. Handlers of pages that can belong to
// a course must read their state through it. page is the page's path; for screens, that of the
// lesson.
func (a *Base) Enforce(ctx context.Context, page string, form url.Values) (*store.Course, url.Values, error) {
	code := CodeOf(form)
	if code == "" {
		return nil, form, nil
	}
	c, err := a.Course(ctx, code)
	if err != nil {
		return nil, nil, err
	}
	c = On(page, c)
	form = maps.Clone(form)
	set := Preset(c)
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

// Put is the open question of a course with the workspace's answer.
type Put struct {
	store.Poll
	Own store.Answer // the zero value if there is none
}

// Waits identifies the question that awaits the workspace's answer; it is empty if there is none.
func (p Put) Waits() string {
	if !p.Open || p.Own.Given != "" {
		return ""
	}
	return fmt.Sprint(p.ID, ".", p.Round)
}

// Put returns the open question of a course, or store.ErrNotFound.
func (a *Base) Put(ctx context.Context, code string) (p Put, err error) {
	if p.Poll, err = a.Store.CurrentPoll(ctx, code); err == nil {
		p.Own, err = a.Store.VoteOf(ctx, Workspace(ctx), code, p.Question, p.Round)
	}
	return p, err
}

// InCourse returns the view of a course for a page opened in it.
func (a *Base) InCourse(ctx context.Context, c store.Course) (*views.InCourse, error) {
	v := &views.InCourse{Code: c.Code, Title: c.Title, Ends: c.Ends, Names: store.MaxNames, Fixed: map[string]string{}, Request: rand.Text()}
	var shut *store.Error
	if err := a.Store.Admits(ctx, Workspace(ctx), c); errors.As(err, &shut) {
		v.Shut, v.Silent = shut.Error(), shut != store.ErrClosed
	} else if err != nil {
		return v, err
	}
	for _, name := range c.Frozen {
		v.Fixed[name] = "frozen"
	}
	for _, name := range c.Hidden {
		v.Fixed[name] = "hidden"
	}
	name, err := a.Store.StudentName(ctx, Workspace(ctx), c.Code)
	if err != nil {
		return v, err
	}
	v.Name, v.Who = name, name
	put, err := a.Put(ctx, c.Code)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return v, err
	}
	v.Asked = put.Waits()
	handins, err := a.Store.Handins(ctx, Workspace(ctx), c.Code)
	if err != nil {
		return v, err
	}
	var ids []string
	for _, h := range handins {
		ids = append(ids, h.Source, h.Run)
	}
	there, err := a.Store.States(ctx, ids...)
	if err != nil {
		return v, err
	}
	for i, h := range handins {
		if i == 0 {
			v.Who = lists.Either(h.Anonymous, "", h.Name)
		}
		row := views.Handin{ID: h.Run, Name: h.Name, Created: h.Created}
		row.Status = string(there[h.Run].Status)
		if own, ok := there[h.Source]; ok {
			row.Href = "/runs/" + h.Source
			if !own.Status.Ended() { // the submitted copy waits for it
				row.Status, row.Events = string(own.Status), row.Href+"/events"
			}
		}
		v.Handins = append(v.Handins, row)
	}
	return v, nil
}

// Deliver submits a run under the name in the form.
func (a *Base) Deliver(r *http.Request, run string) error {
	_, err := a.Store.HandIn(r.Context(), Workspace(r.Context()), run, r.PostFormValue("who"))
	if err == nil {
		a.Jobs.Notify() // the copy of an unfinished run is queued
	}
	return err
}

// Setting is a page, in some state, from which a course can be made.
type Setting struct {
	Path   string
	Query  url.Values
	Title  string
	Groups []views.ControlGroup // controls that can be fixed
	Points *dataset.Data        // points of the page that students could not open themselves
	Data   string               // name of those points

	// Course fills the form to edit or copy it; nil for an empty form.
	Course *store.Course
	Edit   string // URL of the course being edited; empty for a new one

	// Check validates the value of a control that applies to all screens.
	Check func(control, value string) error
}

// HoldsNothingOut reports whether runs of the page train on all points, so that an overfitted
// model looks best.
func (s Setting) HoldsNothingOut() bool {
	return s.Path == "/lab" && s.Query.Get("test_fraction") == "0"
}

// labLabels names the lab's controls that are not parameters.
var labLabels = map[string]string{
	"data": "data set", "points": "editing of the points", "x": "horizontal axis", "y": "vertical axis", "on": "train on",
	"show": "background", "slack": "draw slack", "cores": "mark cores",
}

// ControlLabel names a control as pages do.
func ControlLabel(name string) string {
	if p, ok := ml.Param(name); ok {
		return p.Label
	}
	return cmp.Or(labLabels[name], name)
}
