// Package teach is the room of a teacher: courses and the gallery of what their
// students hand in.
package teach

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/door"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/web"
)

// Room is where a teacher sets pages up for students and sees what they hand in.
type Room struct {
	*door.House
	Lab     Page
	Lessons Lessons
	board   *board
}

// New returns the room of a teacher, with the pages that courses are made of.
func New(h *door.House, lab Page, lessons Lessons) *Room {
	a := &Room{House: h, Lab: lab, Lessons: lessons}
	a.board = newBoard(a.current)
	return a
}

// Lessons are pages that courses are made of, with questions that can be put to them.
type Lessons interface {
	Page
	// Question finds a question by its name, lesson/screen/question.
	Question(ctx context.Context, name string) (lessons.Asked, error)
}

// Page is a kind of page that a course can be made of. Setting finds what there is
// to fix on the page of a path in the state of a query.
type Page interface {
	Setting(ctx context.Context, path string, q url.Values) (door.Setting, error)
}

// List lists what a teacher has set up and takes the code of a student.
func (a *Room) List(w http.ResponseWriter, r *http.Request) error {
	return a.showCourses(w, r, "", "")
}

// Row is a course as lists show it at a time.
func Row(c store.Course, now time.Time) views.CourseRow {
	row := views.CourseRow{Code: c.Code, Title: c.Title, Created: c.Created, Handins: c.Handins}
	switch {
	case c.Closed:
		row.State = "closed"
	case c.Over(now):
		row.State = "ended"
	}
	return row
}

func (a *Room) showCourses(w http.ResponseWriter, r *http.Request, typed, problem string) error {
	courses, err := a.Store.Courses(r.Context(), door.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p := views.Courses{Page: a.Frame("Courses", ""), Typed: typed, Problem: problem}
	for _, c := range courses {
		p.Rows = append(p.Rows, Row(c, a.Store.Now()))
	}
	if problem != "" {
		w.WriteHeader(http.StatusNotFound)
	}
	return a.Render(w, r, views.CoursesPage(p))
}

// Find leads from a typed code to the course.
func (a *Room) Find(w http.ResponseWriter, r *http.Request) error {
	typed := strings.TrimSpace(r.FormValue("code"))
	if typed == "" {
		return door.Redirect(w, r, "/courses")
	}
	c, err := a.Store.Course(r.Context(), store.CleanCode(typed))
	if errors.Is(err, store.ErrNotFound) {
		return a.showCourses(w, r, typed, "No course has this code. It has six letters, no digits.")
	}
	if err != nil {
		return err
	}
	return door.Redirect(w, r, "/course/"+c.Code)
}

// Open lets a student in: to the question that is open, otherwise to the page of the course.
func (a *Room) Open(w http.ResponseWriter, r *http.Request) error {
	c, err := a.Course(r.Context(), chi.URLParam(r, "code"))
	if err != nil {
		return err
	}
	poll, err := a.Store.CurrentPoll(r.Context(), c.Code)
	switch {
	case err == nil && poll.Open:
		return door.Redirect(w, r, "/course/"+c.Code+"/poll")
	case err != nil && !errors.Is(err, store.ErrNotFound):
		return err
	}
	return door.Redirect(w, r, door.Entrance(c))
}

// New asks what is hidden and frozen on the page whose address comes as
// target.
func (a *Room) New(w http.ResponseWriter, r *http.Request) error {
	s, err := a.setting(r.Context(), cmp.Or(r.FormValue("target"), "/lab"))
	if err != nil {
		return err
	}
	return a.AskCourse(w, r, s, nil)
}

// Create stores a course. Points that students could not open by themselves
// come along.
func (a *Room) Create(w http.ResponseWriter, r *http.Request) error {
	if err := web.ParseForm(w, r, door.FormBytes); err != nil {
		return err
	}
	s, err := a.setting(r.Context(), r.PostFormValue("target"))
	if err != nil {
		return err
	}
	n := store.NewCourse{Title: r.PostFormValue("title"), Closed: r.PostFormValue("handins") != "true"}
	q := maps.Clone(s.Query)
	if s.Points != nil {
		n.Points, n.Data = s.Points, s.Data
		q.Del("points")
		q.Del("data")
	}
	for _, g := range s.Groups {
		for _, c := range g.Controls {
			sent, asked := r.PostForm["value."+c.Name]
			if !c.Each || !asked {
				continue
			}
			q.Del(c.Name)
			if v := strings.TrimSpace(sent[0]); v != "" {
				if err := s.Check(c.Name, v); err != nil {
					return a.AskCourse(w, r, s, param.Problems{{Field: "value", Message: c.Label + ": " + err.Error()}})
				}
				q.Set(c.Name, v)
			}
		}
	}
	n.Target = s.Path + "?" + q.Encode()
	for _, g := range s.Groups {
		for _, c := range g.Controls {
			switch cmp.Or(r.PostFormValue("group."+g.Name), r.PostFormValue("control."+c.Name)) {
			case "hidden":
				n.Hidden = append(n.Hidden, c.Name)
			case "frozen":
				n.Frozen = append(n.Frozen, c.Name)
			}
		}
	}
	c, err := a.Store.CreateCourse(r.Context(), door.Workspace(r.Context()), n)
	var ps param.Problems
	if errors.As(err, &ps) && ps.For("title") != "" {
		return a.AskCourse(w, r, s, ps)
	}
	if err != nil {
		return err
	}
	return door.Redirect(w, r, "/courses/"+c.Code)
}

// setting finds what there is to fix on a page.
func (a *Room) setting(ctx context.Context, target string) (s door.Setting, err error) {
	u, err := url.Parse(target)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return s, param.Problems{{Field: "target", Message: "a course is made of a page of this site: open the lab or a lesson and go on from there"}}
	}
	q := u.Query()
	q.Del("course") // the new one takes its place
	q.Del("class")
	switch {
	case u.Path == "/lab":
		return a.Lab.Setting(ctx, u.Path, q)
	case strings.HasPrefix(u.Path, "/lessons/"):
		return a.Lessons.Setting(ctx, u.Path, q)
	}
	return s, param.Problems{{Field: "target", Message: "only the lab and the lessons can be opened for a course"}}
}
