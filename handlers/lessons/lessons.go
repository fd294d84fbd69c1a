// Package lessons serves lessons: reading and presenting them and answering
// their questions.
package lessons

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/ml/lists"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
	"marginlab/web/cache"
)

// Handler serves lessons.
type Handler struct {
	*frame.Base
	exhibits *cache.Recent[*lessons.Exhibit]
	truths   *cache.Recent[lessons.Truth] // of questions, by path
}

// New returns the handler of lessons.
func New(h *frame.Base) *Handler {
	return &Handler{h, cache.New[*lessons.Exhibit](256), cache.New[lessons.Truth](1000)}
}

// List shows all lessons.
func (a *Handler) List(w http.ResponseWriter, r *http.Request) error {
	answers, err := a.Store.Answers(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p := lessons.ListPage{Page: a.Frame("Lessons", "lessons")}
	for i, l := range all.Lessons() {
		row := lessons.ListRow{Number: i + 1, Lesson: l, Progress: progress(&l, answers)}
		row.Thumb = a.thumb(&l)
		p.Lessons = append(p.Lessons, row)
	}
	return a.Render(w, r, lessons.List(p))
}

// thumb returns a thumbnail of a lesson's first picture, skipping those to which an answer is
// drawn.
func (a *Handler) thumb(l *lessons.Lesson) *views.Picture {
	for _, s := range l.Screens {
		if s.Demo != nil && s.Sketches == nil {
			p := pictures.Thumbnail("/lessons/"+l.Slug+"/"+s.Slug+"/figures/", "first", a.Lasting("asking=1"), "")
			return &p
		}
	}
	return nil
}

func progress(l *lessons.Lesson, answers map[string]store.Answer) (p lessons.Progress) {
	for _, s := range l.Screens {
		for _, q := range s.Questions {
			p.Asked++
			if a, ok := answers[l.Slug+"/"+s.Slug+"/"+q.Slug]; ok {
				p.Answered++
				if a.Right {
					p.Right++
				}
			}
		}
	}
	return p
}

// Index shows lecturers the corrections to the lecture documents and the screens by section.
func (a *Handler) Index(w http.ResponseWriter, r *http.Request) error {
	p := lessons.IndexPage{Page: a.Frame("Corrections to the lecture documents", "lessons")}
	for _, d := range lessons.Documents() {
		doc := lessons.IndexDocument{Document: d}
		for _, c := range lessons.Corrections() {
			if sec, ok := lessons.FindSection(c.Section); ok && sec.Document == d.ID {
				doc.Corrections = append(doc.Corrections, lessons.CorrectionEntry{Correction: c, Section: sec, Screen: screenAt(c.Lesson)})
			}
		}
		for _, s := range d.Sections {
			doc.Entries = append(doc.Entries, lessons.IndexEntry{Section: s, Screens: screensOf(s)})
		}
		p.Documents = append(p.Documents, doc)
	}
	return a.Render(w, r, lessons.Index(p))
}

// screenAt returns the screen at the path LESSON/SCREEN.
func screenAt(path string) lessons.IndexScreen {
	slug, screen, _ := strings.Cut(path, "/")
	for i, l := range all.Lessons() {
		if s, _ := l.Screen(screen); l.Slug == slug && s != nil {
			return lessons.IndexScreen{Number: i + 1, Lesson: l.Title, Title: s.Title, Route: "/lessons/" + path}
		}
	}
	return lessons.IndexScreen{}
}

func screensOf(s lessons.Section) (screens []lessons.IndexScreen) {
	for i, l := range all.Lessons() {
		for _, screen := range l.Screens {
			if slices.Contains(screen.Covers, s.ID) {
				screens = append(screens, lessons.IndexScreen{Number: i + 1, Lesson: l.Title, Title: screen.Title, Route: "/lessons/" + l.Slug + "/" + screen.Slug})
			}
		}
	}
	return screens
}

// Lesson is a lesson with its index among all.
type Lesson struct {
	*lessons.Lesson
	index int
}

// Lesson returns the lesson that a request names.
func (a *Handler) Lesson(r *http.Request) (Lesson, error) {
	slug := chi.URLParam(r, "lesson")
	if i := slices.IndexFunc(all.Lessons(), func(l lessons.Lesson) bool { return l.Slug == slug }); i >= 0 {
		return Lesson{&all.Lessons()[i], i}, nil
	}
	return Lesson{}, web.Errorf(web.NotFound, "There is no such lesson.")
}

// Taught is Lesson for pages with all answers, which are refused to workspaces without a course.
func (a *Handler) Taught(r *http.Request) (Lesson, error) {
	l, err := a.Lesson(r)
	if err == nil {
		err = a.forTeachers(r, l.Lesson)
	}
	return l, err
}

// Screen is a screen with its lesson and its index there.
type Screen struct {
	*lessons.Screen
	lesson Lesson
	index  int
}

// Screen returns the screen that a request names.
func (a *Handler) Screen(r *http.Request) (s Screen, err error) {
	if s.lesson, err = a.Lesson(r); err != nil {
		return s, err
	}
	if s.Screen, s.index = s.lesson.Screen(chi.URLParam(r, "screen")); s.Screen == nil {
		return s, web.Errorf(web.NotFound, "The lesson %q has no such screen.", s.lesson.Title)
	}
	return s, nil
}

func (s Screen) path() string { return "/lessons/" + s.lesson.Slug + "/" + s.Slug }

// Page shows a whole lesson. The query holds the controls of the one demo
// that it names as screen.
func (a *Handler) Page(w http.ResponseWriter, r *http.Request, l Lesson) error {
	return a.readLesson(w, r, l, r.URL.Query(), lessons.QuestionView{})
}

// readLesson shows a lesson, with the error in the answer to a question, if any.
func (a *Handler) readLesson(w http.ResponseWriter, r *http.Request, l Lesson, form url.Values, answered lessons.QuestionView) error {
	answers, err := a.Store.Answers(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	p := lessons.ReadPage{
		Page: a.Frame(l.Title, "lessons"), Number: l.index + 1, Of: len(all.Lessons()), Lesson: *l.Lesson, Progress: progress(l.Lesson, answers),
	}
	if l.index > 0 {
		p.Previous = &all.Lessons()[l.index-1]
	}
	if l.index+1 < len(all.Lessons()) {
		p.Next = &all.Lessons()[l.index+1]
	}
	class, err := a.class(r.Context(), form)
	if err != nil {
		return err
	}
	open := form.Get(everything) == "1"
	course := url.Values{}
	if code := frame.CodeOf(form); code != "" {
		course.Set("course", code)
		p.Query = "?" + course.Encode()
	}
	p.Open = open
	other := carried(form)
	if screen := form.Get("screen"); screen != "" {
		other.Set("screen", screen)
	}
	if !open {
		other.Set(everything, "1")
	}
	p.Switch = "/lessons/" + l.Slug + "?" + other.Encode()
	if p.Teaches, err = a.teaches(r); err != nil {
		return err
	}
	for k := range l.Screens {
		s := &l.Screens[k]
		values := course
		switch {
		case form.Get("screen") == s.Slug:
			values = form
		case l.Carry:
			values = carried(form)
		}
		view, err := a.screenView(r, l.Lesson, s, values, answers, open, false)
		if err != nil {
			return err
		}
		if view.Demo != nil {
			p.Course = tasked(view.Demo.Course, l.Lesson)
		}
		finish(&view, form, class, answered)
		p.Screens = append(p.Screens, view)
		if len(view.Questions) == 0 && s.After == nil {
			continue
		}
		said, err := a.said(r.Context(), view.Questions)
		if err != nil {
			return err
		}
		of := lessons.AnswersView{Screen: *s, Said: said, Drawn: make([]views.Picture, len(said))}
		for j := range s.Questions {
			if q := &s.Questions[j]; q.Sketch != nil {
				of.Drawn[j] = a.solution(l.Lesson, s, q, said[j])
				of.Said[j] = q.Explain
			}
		}
		if view.Demo != nil {
			of.Figures = view.Demo.Answer.Withheld
		}
		p.Answers = append(p.Answers, of)
	}
	return a.Render(w, r, lessons.Read(p))
}

// teaches reports whether the workspace of a request owns a course.
func (a *Handler) teaches(r *http.Request) (bool, error) {
	courses, err := a.Store.Courses(r.Context(), frame.Workspace(r.Context()))
	return len(courses) > 0, err
}

// forTeachers refuses pages with all answers to workspaces without a course.
func (a *Handler) forTeachers(r *http.Request, l *lessons.Lesson) error {
	teaches, err := a.teaches(r)
	if err == nil && !teaches {
		return web.Errorf(web.Forbidden, "Notes and answers are for teachers. Set up a course first: /courses/new?target=/lessons/%s", l.Slug)
	}
	return err
}

// finish completes the questions of a screen with their page, the URL for asking a class, and the
// error in an answer.
func finish(v *lessons.ScreenView, page url.Values, class string, answered lessons.QuestionView) {
	for i := range v.Questions {
		v.Questions[i].Class.Action = class
		v.Questions[i].Query = page.Encode()
		if v.Questions[i].Path == answered.Path {
			v.Questions[i].Given, v.Questions[i].Error = answered.Given, answered.Error
		}
	}
}

// screenView returns a screen with its demo in the state of the controls and the
// workspace's answers. Anything that would give answers away stays hidden until all questions
// are answered, unless everything is open.
func (a *Handler) screenView(r *http.Request, l *lessons.Lesson, s *lessons.Screen, form url.Values, answers map[string]store.Answer, open, slide bool) (lessons.ScreenView, error) {
	view := lessons.ScreenView{Screen: *s}
	for _, q := range s.Questions {
		if _, ok := answers[l.Slug+"/"+s.Slug+"/"+q.Slug]; !ok && !open {
			view.Folded = true
		}
	}
	path := "/lessons/" + l.Slug + "/" + s.Slug
	view.Everything = path + "?" + everything + "=1"
	show := func(form url.Values) error {
		d, _, err := a.demo(r, s, path, form, view.Folded, slide, false)
		d.Action, d.Open = path, open
		if !slide {
			d.Action = "/lessons/" + l.Slug + "#" + s.Slug
		}
		view.Demo = &d
		return err
	}
	if s.Demo != nil {
		if err := show(form); err != nil {
			return view, err
		}
	}
	for _, q := range s.Questions {
		from := lists.Either(slide, "slide", "")
		v := asked(r, l, s, &q, from)
		if ans, ok := answers[v.Class.Question]; ok {
			if err := a.judge(r.Context(), &v, ans.Given); err != nil {
				return view, err
			}
		}
		if err := a.drawing(r.Context(), &v, false); err != nil {
			return view, err
		}
		view.Questions = append(view.Questions, v)
	}
	if k := view.Waits(); k > 0 {
		if view.Demo.Answer.Step >= k {
			form = maps.Clone(form)
			form.Set("step", strconv.Itoa(k-1))
			if err := show(form); err != nil {
				return view, err
			}
		}
		body := *view.Demo.Answer.Body // the original is shared by requests
		body.Waits = k
		view.Demo.Answer.Body = &body
	}
	return view, nil
}

// tasked adds the lesson's task to a course.
func tasked(c *views.InCourse, l *lessons.Lesson) *views.InCourse {
	if c != nil {
		c.Task = l.Task
	}
	return c
}
