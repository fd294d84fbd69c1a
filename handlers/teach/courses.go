// Package teach serves teachers: courses, live questions and the gallery of students'
// submissions.
package teach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views/lessons"
	teachview "marginlab/views/teach"
	"marginlab/web"
	"marginlab/web/cache"
)

// Handler serves the courses of teachers.
type Handler struct {
	*frame.Base
	Lab      Lab
	Lessons  Lessons
	board    *board
	stage    *stage
	followed *cache.Recent[[]byte] // HTML of the followed slides, by code and version
}

// New returns the handler of courses, with the pages that courses are made of.
func New(h *frame.Base, lab Lab, lessons Lessons) *Handler {
	a := &Handler{Base: h, Lab: lab, Lessons: lessons, followed: cache.New[[]byte](64)}
	a.stage = &stage{now: h.Store.Now, courses: map[string]presented{}}
	a.board = newBoard(a.current)
	return a
}

// Lessons provides the lessons that courses are made of and their questions.
type Lessons interface {
	Page
	// Question finds a question by its name, lesson/screen/question.
	Question(ctx context.Context, name string) (lessons.Asked, error)
	// Drawing returns a question answered by drawing, with its pictures.
	Drawing(ctx context.Context, q lessons.Asked, given string, revealed bool) (lessons.QuestionView, error)
	// Pictured returns the first figure of a slide, for a class to point at.
	Pictured(ctx context.Context, slide string) (lessons.PointView, error)
	// Following returns a lesson's title and the screen that a course is shown.
	Following(r *http.Request, code string, p lessons.Place) (title string, view lessons.ScreenView, err error)
	// NotesOf returns the presenter's notes of a screen.
	NotesOf(r *http.Request, p lessons.Place) (lessons.NotesPage, error)
}

// Lab provides the lab in the state of a URL or, as Posted, of its form; posted is false if a
// response has been sent.
type Lab interface {
	Page
	Posted(w http.ResponseWriter, r *http.Request) (s frame.Setting, posted bool, err error)
}

// Page is a kind of page from which a course can be made. Setting returns what can be fixed on the
// page at a path in the state of a query.
type Page interface {
	Setting(ctx context.Context, path string, q url.Values) (frame.Setting, error)
}

// List shows a teacher's courses and the form for a student's course code.
func (a *Handler) List(w http.ResponseWriter, r *http.Request) error {
	return a.showCourses(w, r, "", "", "")
}

// Row returns a course as a row of a list.
func (a *Handler) Row(c store.Course) teachview.CourseRow {
	row := teachview.CourseRow{Code: c.Code, Title: c.Title, Created: c.Created, Handins: c.Handins}
	switch {
	case c.Closed:
		row.State = "closed"
	case c.Over(a.Store.Now()):
		row.State = "ended"
	}
	return row
}

// showCourses lists courses; problem concerns the typed code, file the uploaded file.
func (a *Handler) showCourses(w http.ResponseWriter, r *http.Request, typed, problem, file string) error {
	courses, err := a.Store.Courses(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	undo, err := a.Undo(r)
	if err != nil {
		return err
	}
	p := teachview.Courses{Page: a.Frame("Courses", "courses"), Rows: lists.Map(courses, a.Row), Undo: undo, Typed: typed, Problem: problem, ImportProblem: file}
	switch {
	case problem != "":
		w.WriteHeader(http.StatusNotFound)
	case file != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	return a.Render(w, r, teachview.CoursesPage(p))
}

// Find redirects from a typed code to the course.
func (a *Handler) Find(w http.ResponseWriter, r *http.Request) error {
	typed := strings.TrimSpace(r.FormValue("code"))
	if typed == "" {
		return frame.Redirect(w, r, "/courses")
	}
	c, err := a.FindCourse(r.Context(), typed)
	if errors.Is(err, store.ErrNotFound) {
		return a.showCourses(w, r, typed, "No course has this code. It has six letters, no digits.", "")
	}
	return frame.Done(w, r, "/course/"+c.Code, err)
}

// Open redirects a student to the open question, else to the slide being shown, else to the page of
// the course.
func (a *Handler) Open(w http.ResponseWriter, r *http.Request, c store.Course) error {
	poll, err := a.Store.CurrentPoll(r.Context(), c.Code)
	switch {
	case err == nil && poll.Open:
		return frame.Redirect(w, r, "/course/"+c.Code+"/poll")
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	}
	if a.stage.shown(c.Code).Version > 0 {
		return frame.Redirect(w, r, "/course/"+c.Code+"/follow")
	}
	return frame.Redirect(w, r, frame.Entrance(c))
}

// New shows the form of a course on the page at target: what to hide and freeze.
func (a *Handler) New(w http.ResponseWriter, r *http.Request) error {
	s, err := a.setting(r.Context(), cmp.Or(r.FormValue("target"), "/lab"))
	if err != nil {
		return err
	}
	return a.askCourse(w, r, s, nil)
}

// NewOfLab is New for the lab in the state of its form.
func (a *Handler) NewOfLab(w http.ResponseWriter, r *http.Request) error {
	s, posted, err := a.Lab.Posted(w, r)
	if err != nil || !posted {
		return err
	}
	return a.askCourse(w, r, s, nil)
}

// Create stores a course, with a copy of points that students could not open
// themselves.
func (a *Handler) Create(w http.ResponseWriter, r *http.Request) error {
	s, err := a.setting(r.Context(), r.PostFormValue("target"))
	if err != nil {
		return err
	}
	n, err := planned(r, s)
	if from := r.PostFormValue("from"); from != "" {
		c, err := a.Store.TaughtCourse(r.Context(), from)
		if err != nil {
			return err
		}
		s.Course, n.Questions = &c, c.Questions
	}
	if err == nil {
		var c store.Course
		if c, err = a.Store.CreateCourse(r.Context(), frame.Workspace(r.Context()), n); err == nil {
			return frame.Redirect(w, r, "/courses/"+c.Code)
		}
	}
	return a.askAgain(w, r, s, err)
}

// askCourse shows the form of a course, with problems beside its fields.
func (a *Handler) askCourse(w http.ResponseWriter, r *http.Request, s frame.Setting, problems param.Problems) error {
	heading := "New course"
	switch {
	case s.Edit != "":
		heading = "Edit the course"
	case s.Course != nil:
		heading = "Copy the course"
	}
	p := teachview.NewCourse{
		Page: a.Frame(heading, "courses"), Target: s.Path + "?" + s.Query.Encode(), Title: s.Title, Groups: s.Groups, Handins: true,
		Edit: s.Edit, Problem: problems.For("title"), Wrong: problems.For("value"),
	}
	if c := s.Course; c != nil {
		if s.Edit == "" {
			p.From = c.Token
		}
		p.Title, p.Handins = c.Title, !c.Closed
		for _, g := range p.Groups {
			for k, control := range g.Controls {
				switch {
				case slices.Contains(c.Hidden, control.Name):
					g.Controls[k].State = "hidden"
				case slices.Contains(c.Frozen, control.Name):
					g.Controls[k].State = "frozen"
				}
			}
		}
	}
	p.CanHoldOut = s.HoldsNothingOut() && s.Edit == ""
	p.HoldOut = p.CanHoldOut
	if len(problems) > 0 {
		p.HoldOut = r.PostFormValue("holdout") == "true"
		p.Title, p.Handins = r.PostFormValue("title"), r.PostFormValue("handins") == "true"
		for i, g := range p.Groups {
			p.Groups[i].State = r.PostFormValue("group." + g.Name)
			for k, c := range g.Controls {
				g.Controls[k].State = r.PostFormValue("control." + c.Name)
				if c.Each {
					g.Controls[k].Value = r.PostFormValue("value." + c.Name)
				}
			}
		}
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	return a.Render(w, r, teachview.NewCoursePage(p))
}

// askAgain shows the form of a course again with its problems.
func (a *Handler) askAgain(w http.ResponseWriter, r *http.Request, s frame.Setting, err error) error {
	if ps, ok := errors.AsType[param.Problems](err); ok && ps.For("title")+ps.For("value") != "" {
		return a.askCourse(w, r, s, ps)
	}
	return err
}

// planned returns the course that a form describes. It returns param.Problems for invalid
// values.
func planned(r *http.Request, s frame.Setting) (n store.NewCourse, err error) {
	n = store.NewCourse{Title: r.PostFormValue("title"), Closed: r.PostFormValue("handins") != "true"}
	q := maps.Clone(s.Query)
	if s.Points != nil {
		n.Points, n.Data = s.Points, s.Data
		q.Del("points")
		q.Del("data")
	}
	for _, g := range s.Groups {
		for _, c := range g.Controls {
			if sent, asked := r.PostForm["value."+c.Name]; c.Each && asked {
				q.Del(c.Name)
				if v := strings.TrimSpace(sent[0]); v != "" {
					if err := s.Check(c.Name, v); err != nil {
						return n, param.Problems{{Field: "value", Message: c.Label + ": " + err.Error()}}
					}
					q.Set(c.Name, v)
				}
			}
			switch cmp.Or(r.PostFormValue("group."+g.Name), r.PostFormValue("control."+c.Name)) {
			case "hidden":
				n.Hidden = append(n.Hidden, c.Name)
			case "frozen":
				n.Frozen = append(n.Frozen, c.Name)
			}
		}
	}
	if r.PostFormValue("holdout") == "true" && s.HoldsNothingOut() {
		q.Set("test_fraction", strconv.FormatFloat(frame.HeldOut, 'g', -1, 64))
	}
	n.Target = s.Path + "?" + q.Encode()
	return n, nil
}

// Edit shows the form to change a course.
func (a *Handler) Edit(w http.ResponseWriter, r *http.Request, g Course) error {
	s, err := a.edited(r.Context(), g)
	if err != nil {
		return err
	}
	return a.askCourse(w, r, s, nil)
}

func (a *Handler) edited(ctx context.Context, g Course) (frame.Setting, error) {
	s, err := a.setting(ctx, frame.Entrance(g.Course))
	s.Course, s.Edit = &g.Course, g.base
	return s, err
}

// Save changes a course.
func (a *Handler) Save(w http.ResponseWriter, r *http.Request, g Course) error {
	s, err := a.edited(r.Context(), g)
	if err != nil {
		return err
	}
	n, err := planned(r, s)
	if err == nil {
		err = a.Store.EditCourse(r.Context(), g.Code, n)
	}
	if err != nil {
		return a.askAgain(w, r, s, err)
	}
	return frame.Redirect(w, r, g.base)
}

// Copy shows the form for a course like another one.
func (a *Handler) Copy(w http.ResponseWriter, r *http.Request, g Course) error {
	s, err := a.setting(r.Context(), frame.Entrance(g.Course))
	if err != nil {
		return err
	}
	s.Course = &g.Course
	return a.askCourse(w, r, s, nil)
}

// Screen shows on the projector how to join a course, without names.
func (a *Handler) Screen(w http.ResponseWriter, r *http.Request, g Course) error {
	students, err := a.Store.Numbers(r.Context(), g.Code)
	if err != nil {
		return err
	}
	p := teachview.CourseScreen{Page: a.Frame(g.Title, ""), Title: g.Title, Code: g.Code, Handins: g.Handins, Students: len(students)}
	p.Bare = true
	if p.Link, p.QR, err = a.studentLink(r, g.Course); err != nil {
		return err
	}
	p.State = web.TagOf([]byte(fmt.Sprint(a.Assets.Prefix(), p.Link, g.Title, p.Handins, p.Students)))
	if web.Unchanged(w, r, p.State) {
		return nil
	}
	return a.Render(w, r, teachview.CourseScreenPage(p))
}

// setting returns what can be fixed on a page.
func (a *Handler) setting(ctx context.Context, target string) (s frame.Setting, err error) {
	u, err := url.Parse(target)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return s, param.Problems{{Field: "page", Message: "a course needs a page of this site: open the lab or a lesson and choose Teach with this there"}}
	}
	q := u.Query()
	q.Del("course") // replaced by the new course
	q.Del("class")
	switch {
	case u.Path == "/lab":
		return a.Lab.Setting(ctx, u.Path, q)
	case strings.HasPrefix(u.Path, "/lessons/"):
		return a.Lessons.Setting(ctx, u.Path, q)
	}
	return s, param.Problems{{Field: "page", Message: "a course can open only the lab and the lessons"}}
}
