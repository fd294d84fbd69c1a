// Package lessons serves lessons: reading and presenting them and answering
// their questions.
package lessons

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
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/limiter"
	"marginlab/handlers/pictures"
	"marginlab/handlers/results"
	"marginlab/ml/dataset"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
	"marginlab/web/cache"
)

// Sizes of the pictures of lessons in CSS pixels.
const (
	lessonWidth, lessonHeight = 640, 500
	lessonWideHeight          = 300
	printWidth                = 320 // slightly larger on paper, with letters of at least 9 points
	boxedWidth                = 300 // for the box of a question
	printHeight               = 190 // minimum: lower pictures have no letters
)

// Sizes at which slide pictures are drawn: small, because a slide enlarges them together with
// their letters, which thus never fall below 18 px. The style sheet uses the same proportions.
const (
	slideWidth, slideHeight         = 500, 446 // for a wide screen
	slideTallWidth, slideTallHeight = 420, 494 // for other screens
	slideTall                       = "(max-aspect-ratio: 3/2)"
	besides                         = 64 // per cent of that size, beside a derivation
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
			for _, id := range screen.Covers {
				if id == s.ID {
					screens = append(screens, lessons.IndexScreen{Number: i + 1, Lesson: l.Title, Title: screen.Title, Route: "/lessons/" + l.Slug + "/" + screen.Slug})
				}
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
	for i := range all.Lessons() {
		if all.Lessons()[i].Slug == chi.URLParam(r, "lesson") {
			return Lesson{&all.Lessons()[i], i}, nil
		}
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

// Slide shows one screen of a lesson for presenting.
func (a *Handler) Slide(w http.ResponseWriter, r *http.Request, s Screen) error {
	return a.showSlide(w, r, s, r.URL.Query(), lessons.QuestionView{})
}

func (a *Handler) showSlide(w http.ResponseWriter, r *http.Request, s Screen, form url.Values, answered lessons.QuestionView) error {
	l, number, at := s.lesson.Lesson, s.lesson.index, s.index
	answers, err := a.Store.Answers(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	open := form.Get(everything) == "1"
	view, err := a.screenView(r, l, s.Screen, form, answers, open, true)
	if err != nil {
		return err
	}
	class, err := a.class(r.Context(), form)
	if err != nil {
		return err
	}
	finish(&view, form, class, answered)
	p := lessons.SlidePage{Page: a.Frame(s.Title, "lessons"), Number: number + 1, Lesson: *l, Screen: view, At: at + 1, Of: len(l.Screens)}
	p.Slide = true
	if view.Demo != nil && class == "" {
		p.Course = tasked(view.Demo.Course, l)
	}
	if s.Demo != nil && class == "" {
		origin := a.Links.Origin(r)
		p.OEmbed = origin + "/oembed?" + url.Values{"url": {origin + s.path()}}.Encode()
	}
	p.Up = "/lessons/" + l.Slug
	kept := url.Values{}
	if l.Carry {
		kept = carried(form)
	} else if code := frame.CodeOf(form); code != "" {
		kept.Set("course", code)
	}
	query := ""
	if len(kept) > 0 {
		query = "?" + kept.Encode()
		p.Up += query
		if l.Carry {
			p.Up += "&screen=" + s.Slug
		}
	}
	p.Up += "#" + s.Slug
	switch {
	case at > 0:
		p.Previous = "/lessons/" + l.Slug + "/" + l.Screens[at-1].Slug + query
	case number > 0:
		before := all.Lessons()[number-1]
		p.Previous = "/lessons/" + before.Slug + "/" + before.Screens[len(before.Screens)-1].Slug
	}
	switch {
	case at+1 < len(l.Screens):
		p.Next = "/lessons/" + l.Slug + "/" + l.Screens[at+1].Slug + query
	case number+1 < len(all.Lessons()):
		after := all.Lessons()[number+1]
		p.Next = "/lessons/" + after.Slug + "/" + after.Screens[0].Slug
	}
	p.Notes = s.path() + "/notes"
	p.Code, p.Teaches = frame.CodeOf(form), strings.TrimSuffix(class, "/polls")
	if class != "" {
		c, err := a.Store.Course(r.Context(), store.CleanCode(p.Code))
		if err != nil {
			return err
		}
		for _, q := range c.Questions {
			p.Own = append(p.Own, lessons.PollsRow{Name: q.Name(), Ask: q.Ask, Slug: q.Slug})
		}
	}
	for i := range l.Screens {
		link := lessons.SlideLink{Title: l.Screens[i].Title, Route: "/lessons/" + l.Slug + "/" + l.Screens[i].Slug + query, Here: i == at}
		if l.Screens[i].Demo != nil {
			thumb := pictures.Thumbnail("/lessons/"+l.Slug+"/"+l.Screens[i].Slug+"/figures/", "first", a.Lasting("asking=1"), "")
			link.Thumb = &thumb
		}
		p.Slides = append(p.Slides, link)
	}
	return a.Render(w, r, lessons.Slide(p))
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

// Notes shows the presenter's notes of a slide.
func (a *Handler) Notes(w http.ResponseWriter, r *http.Request, s Screen) error {
	if err := a.forTeachers(r, s.lesson.Lesson); err != nil {
		return err
	}
	p, err := a.notes(r, s.lesson.Lesson, s.Screen)
	if err != nil {
		return err
	}
	return a.Render(w, r, lessons.Notes(p))
}

func (a *Handler) notes(r *http.Request, l *lessons.Lesson, s *lessons.Screen) (p lessons.NotesPage, err error) {
	view, err := a.screenView(r, l, s, url.Values{}, nil, true, true)
	if err != nil {
		return p, err
	}
	number := slices.IndexFunc(all.Lessons(), func(other lessons.Lesson) bool { return other.Slug == l.Slug })
	_, at := l.Screen(s.Slug)
	base := "/lessons/" + l.Slug + "/"
	p = lessons.NotesPage{Page: a.Frame("Notes: "+s.Title, "lessons"), Number: number + 1, Lesson: *l, Screen: view, At: at + 1, Of: len(l.Screens), Slide: base + s.Slug}
	p.Bare = true
	if at > 0 {
		p.Previous = base + l.Screens[at-1].Slug + "/notes"
	}
	if at+1 < len(l.Screens) {
		next := &l.Screens[at+1]
		p.Next, p.NextTitle = base+next.Slug+"/notes", next.Title
	}
	p.Answers, err = a.said(r.Context(), view.Questions)
	return p, err
}

// said returns the right answers to questions, with explanations.
func (a *Handler) said(ctx context.Context, questions []lessons.QuestionView) (said []string, err error) {
	for _, q := range questions {
		truth, err := a.truths.Get(ctx, q.Path, q.Solve)
		if err != nil {
			return nil, err
		}
		text, err := q.Reveal(truth)
		if err != nil {
			return nil, err
		}
		said = append(said, text)
	}
	return said, nil
}

// everything is the query parameter that opens all answers.
const everything = "everything"

// carried returns the values of a form that carry over to other screens.
func carried(form url.Values) url.Values {
	v := url.Values{}
	for name, values := range form {
		if name != "step" && name != "screen" && name != "slide" && name != "asking" && name != everything {
			v[name] = values
		}
	}
	return v
}

// class returns the URL at which the teacher of a page's course asks a question, empty for others.
func (a *Handler) class(ctx context.Context, page url.Values) (action string, err error) {
	code := store.CleanCode(frame.CodeOf(page))
	if code == "" {
		return "", nil
	}
	c, err := a.Store.CourseOf(ctx, frame.Workspace(ctx), code)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return "/courses/" + c.Code + "/polls", err
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
		from := ""
		if slide {
			from = "slide"
		}
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

// question returns the view of a question without an answer, with one order of options for all.
func question(l *lessons.Lesson, s *lessons.Screen, q *lessons.Question) lessons.QuestionView {
	seed := l.Slug + "/" + s.Slug
	return lessons.QuestionView{
		Question: *q, ID: "q-" + s.Slug + "-" + q.Slug, // unique in the lesson
		Path: questionPath(l, s, q), Seed: seed, Class: lessons.AskView{Question: seed + "/" + q.Slug},
	}
}

// asked returns the view of a question on the requested page: a slide or the page that follows it,
// if named by from. Students sharing a slide get the same order of options, others do not.
func asked(r *http.Request, l *lessons.Lesson, s *lessons.Screen, q *lessons.Question, from string) lessons.QuestionView {
	v := question(l, s, q)
	if v.From = from; from == "" {
		v.Seed += "/" + string(frame.Workspace(r.Context()))
	}
	return v
}

// judge fills in the feedback to an answered question. An invalid answer leaves it
// unanswered.
func (a *Handler) judge(ctx context.Context, v *lessons.QuestionView, given string) error {
	answer, err := a.truths.Get(ctx, v.Path, v.Solve)
	if err != nil {
		return err
	}
	right, truth, err := v.Judge(answer, given)
	if wrong, ok := errors.AsType[param.Problems](err); ok {
		v.Given, v.Error = given, wrong.Error()
		return nil
	}
	v.Given, v.Answered, v.Right, v.Truth = given, err == nil, right, truth
	if v.Sketch != nil && err == nil {
		heights, err := v.Sketch.Read(given)
		if err != nil {
			return err
		}
		v.Off = v.Sketch.Off(answer.Curve, heights)
	}
	return err
}

// drawing adds the pictures of a question answered by drawing: the one to draw on and, once
// answered or revealed, one with the drawing, if any, and the right curve.
func (a *Handler) drawing(ctx context.Context, v *lessons.QuestionView, revealed bool) error {
	if v.Sketch == nil {
		return nil
	}
	at := place{base: v.Path + "/", public: true}
	look := lessons.Look{Width: lessonWidth, Height: lessonHeight}
	if v.From == "slide" {
		look.Width, look.Height = slideWidth, slideHeight
	}
	picture := func(given string, right bool) (p views.Picture, frames map[int]figure.Frame, err error) {
		query := url.Values{}
		switch {
		case given != "":
			query.Set("drawn", given)
		case right:
			query.Set("solved", "1")
		}
		at.key, at.query = v.Path+" "+query.Encode(), a.Lasting(query.Encode())
		f := lessons.Figure{Name: sketchName, Caption: lessons.Spoken(v.Ask), Draw: func(l lessons.Look) (*figure.Picture, error) {
			return a.sketch(ctx, v.Question, v.Path, given, right, l)
		}}
		p, frames, _, err = a.picture(ctx, f, look, at, v.From == "slide", false, true)
		return p, frames, err
	}
	blank, frames, err := picture("", false)
	if err != nil {
		return err
	}
	v.Blank, v.Shown = blank, blank
	if v.From != "slide" {
		v.Paper = pictures.Linked(at.base, sketchName, at.query, boxedWidth, boxedWidth*blank.Height/blank.Width, blank.Alt, "")
	}
	v.Stage = pictures.ToJSON(map[string]any{"frames": frames})
	if v.Answered || revealed {
		v.Shown, _, err = picture(v.Given, true)
	}
	return err
}

// Drawing returns a question answered by drawing, as asked in class. given is the drawing, empty
// if none. Once revealed, it also shows the right curve.
func (a *Handler) Drawing(ctx context.Context, q lessons.Asked, given string, revealed bool) (lessons.QuestionView, error) {
	v := question(q.Lesson, q.Screen, q.Question)
	v.Given, v.Answered = given, revealed && given != ""
	return v, a.drawing(ctx, &v, revealed)
}

// sketchName is the name of the picture of a question answered by drawing.
const sketchName = "sketch"

// solved is the query parameter that requests the picture with the right curve.
const solved = "solved=1"

// solution returns the printable picture of the right curve; said describes it in words.
func (a *Handler) solution(l *lessons.Lesson, s *lessons.Screen, q *lessons.Question, said string) views.Picture {
	return pictures.Linked(questionPath(l, s, q)+"/", sketchName, a.Lasting(solved), printWidth, printWidth*2/3, lessons.Spoken(said), "")
}

// sketch draws the picture of a question with the drawing, if given is not empty, and the right
// curve, in the second colour as in the picture of a whole class. The right curve is also shown
// without a drawing if requested.
func (a *Handler) sketch(ctx context.Context, q lessons.Question, path, given string, right bool, l lessons.Look) (*figure.Picture, error) {
	var curves []figure.Curve
	if drawn := q.Sketch.Curve(given); drawn != nil {
		curves, right = append(curves, *drawn), true
	}
	if right {
		truth, err := a.truths.Get(ctx, path, q.Solve)
		if err != nil {
			return nil, err
		}
		curves = append(curves, truth.Curve)
	}
	return q.Sketch.Draw(l, curves)
}

// Sketch serves the picture of a question to which the answer is drawn.
func (a *Handler) Sketch(w http.ResponseWriter, r *http.Request, s Screen) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	q := s.Question(chi.URLParam(r, "question"))
	if q == nil || q.Sketch == nil || name != sketchName {
		return store.ErrNotFound
	}
	o := pictures.Sized(r, lessonWidth, lessonHeight)
	look := lessons.Look{Dark: o.Dark, Width: o.Width, Height: o.Height}
	given, path := r.FormValue("drawn"), questionPath(s.lesson.Lesson, s.Screen, q)
	right := r.FormValue("solved") == "1"
	at := place{key: fmt.Sprint(path, " ", given, right), public: true}
	return a.SendPrint(w, r, at.sheet(name, format, look, func(ctx context.Context) (*figure.Picture, error) { return a.sketch(ctx, *q, path, given, right, look) }))
}

// tasked adds the lesson's task to a course.
func tasked(c *views.InCourse, l *lessons.Lesson) *views.InCourse {
	if c != nil {
		c.Task = l.Task
	}
	return c
}

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
	query := url.Values{}
	for _, p := range s.Demo.Params() {
		if t := in.Text(p); t != p.Default || preset.Has(p.Name) {
			query.Set(p.Name, t)
		}
		if v.Course.State(p.Name) == "hidden" {
			continue
		}
		f, err := a.demoField(r.Context(), p, in.Text(p), course)
		if err != nil {
			return v, nil, err
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
		fixed := func(h lessons.Handle) bool {
			x, y := h.Moves()
			return course.Fixes(x) || course.Fixes(y)
		}
		e.Handles = slices.DeleteFunc(slices.Clone(e.Handles), fixed)
		e.Moves = slices.DeleteFunc(slices.Clone(e.Moves), func(m lessons.Move) bool { return course.Fixes(m.Control.Name) })
		if e.Lab != "" { // runs can be submitted there
			e.Lab += "&course=" + course.Code
		}
	} else if e.Lab != "" && !strings.Contains(e.Lab, "test_fraction=") {
		e.Lab += "&test_fraction=0" // trained on all points, as in the lesson
	}
	v.Answer.Exhibit = e
	v.Query = query.Encode()
	if form.Get(everything) == "1" {
		query.Set(everything, "1")
	}
	drawn := v.Query
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
	look := lessons.Look{Dark: form.Get("dark") == "1", Coarse: in.Coarse}
	for i, f := range e.Figures {
		switch {
		case slide:
			look.Width, look.Height = slideSize(form, inline, e.Body != nil)
		default:
			look.Width, look.Height = lessonSize(f, i > 0 && len(e.Figures) > 2)
		}
		look.Asking = asking && f.Asks != ""
		at.query = drawn
		if look.Asking {
			at.query = strings.TrimPrefix(drawn+"&asking=1", "&")
		}
		if at.public {
			at.query = a.Lasting(at.query)
		}
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
			drawn := slices.ContainsFunc(s.Questions, func(q lessons.Question) bool { return q.Sketch != nil })
			bare := f.Asks != "" && (drawn || len(parts) == 0) || f.Grows && e.Step == 0
			print := views.Picture{} // empty axes are omitted
			if !asking || !bare {
				print = printed(f, at, p, asking)
			}
			v.Answer.Printed = append(v.Answer.Printed, print)
		}
	}
	if asking && !slide && !inline {
		at.query = drawn
		if at.public {
			at.query = a.Lasting(at.query)
		}
		for i, f := range v.Whole.Figures {
			if f.Asks == "" && !f.After && !(f.Grows && e.Step == 0) {
				continue
			}
			width, height := lessonSize(f, i > 0 && len(v.Whole.Figures) > 2)
			whole := printed(f, at, views.Picture{Width: width, Height: height, Alt: lessons.Spoken(f.Caption)}, false)
			v.Answer.Withheld = append(v.Answer.Withheld, lessons.PaperFigure{Picture: whole, Caption: f.Caption})
		}
	}
	return v, wrong, nil
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

// slideSize returns the size of a figure on a slide: as requested by the page's script, or the
// default for wide screens or beside a derivation.
func slideSize(form url.Values, asked, derives bool) (width, height int) {
	width, height = slideWidth, slideHeight
	if derives {
		width, height = slideWidth*besides/100, slideHeight*besides/100
	}
	if !asked {
		return width, height
	}
	if w, err := strconv.Atoi(form.Get("width")); err == nil {
		width = min(max(w, 200), 1200)
	}
	if h, err := strconv.Atoi(form.Get("height")); err == nil {
		height = min(max(h, 200), 1200)
	}
	return width, height
}

// lessonSize returns the size of a figure on the page, smaller if there are several.
func lessonSize(f lessons.Figure, several bool) (width, height int) {
	width, height = lessonWidth, lessonHeight
	if several {
		width, height = pictures.SmallWidth, pictures.SmallHeight
	}
	if f.Wide {
		height = height * lessonWideHeight / lessonHeight
	}
	return width, height
}

// place holds the base URL and the cache key of an exhibit's pictures.
type place struct {
	base, query string
	key         string // of the exhibit, empty if unknown
	public      bool
}

// sheet returns the named picture of an exhibit.
func (at place) sheet(name, format string, look lessons.Look, draw func(context.Context) (*figure.Picture, error)) pictures.Sheet {
	s := pictures.Sheet{Key: at.key, Public: at.public, Format: format, Parts: true, Draw: draw}
	if s.Key != "" {
		s.Key += fmt.Sprint(" ", name, look)
	}
	return s
}

// picture returns a figure for a page, with its data coordinates by width, and its parts. Later
// parts of an exhibit may be loaded lazily.
func (a *Handler) picture(ctx context.Context, f lessons.Figure, look lessons.Look, at place, slide, inline, first bool) (p views.Picture, frames map[int]figure.Frame, parts []figure.Part, err error) {
	frames = map[int]figure.Frame{}
	if inline {
		pic, err := f.Draw(look.Within(ctx))
		if err != nil {
			return p, nil, nil, err
		}
		frames[look.Width], parts = pic.Frame, pic.Parts()
		p = pictures.Linked(at.base, f.Name, at.query, look.Width, look.Height, cmp.Or(pic.Caption, lessons.Spoken(f.Caption)), "")
		return p, frames, parts, pictures.Embed(ctx, &p, pic)
	}
	printed := func() (*pictures.Print, error) {
		print, err := a.Print(ctx, at.sheet(f.Name, "svg", look, func(ctx context.Context) (*figure.Picture, error) { return f.Draw(look.Within(ctx)) }))
		if err == nil {
			frames[look.Width] = print.Frame
		}
		return print, err
	}
	print, err := printed()
	if err != nil {
		return p, nil, nil, err
	}
	linked := func() views.Picture {
		return pictures.Linked(at.base, f.Name, at.query, look.Width, look.Height, cmp.Or(print.Caption, lessons.Spoken(f.Caption)), "")
	}
	p, parts = linked(), print.Parts
	p.Lazy = !first
	switch {
	case slide:
		look.Width, look.Height = slideTallWidth*look.Width/slideWidth, slideTallHeight*look.Width/slideWidth
		tall := linked()
		p.Narrow, p.NarrowDark, p.For = tall.Src, tall.DarkSrc, slideTall
	case look.Width > pictures.NarrowWidth:
		look.Width, look.Height = pictures.NarrowWidth, pictures.NarrowWidth*look.Height/look.Width
	}
	_, err = printed() // the page needs the data coordinates in both sizes
	return p, frames, parts, err
}

// printed returns a figure for paper, with all its steps unless that would give an answer away.
func printed(f lessons.Figure, at place, p views.Picture, asking bool) views.Picture {
	at.query = strings.TrimPrefix(at.query+"&grey=1", "&")
	if f.Grows && !asking {
		at.query += "&paper=1"
	}
	return pictures.Linked(at.base, f.Name, at.query, printWidth, min(max(printHeight, printWidth*p.Height/p.Width), printWidth*2/3), p.Alt, "")
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

// Figure serves a picture of a demo; "first" is its first.
func (a *Handler) Figure(w http.ResponseWriter, r *http.Request, s Screen) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	if s.Demo == nil {
		return store.ErrNotFound
	}
	form := r.URL.Query()
	if framed(r) {
		form = everybodys(form)
	}
	course, form, _, err := a.under(r.Context(), "/lessons/"+s.lesson.Slug, s.Demo, form)
	if err != nil {
		return err
	}
	in, _ := s.Demo.NewInput(form.Get, workspaceSource{a.Base})
	o := pictures.Sized(r, lessonWidth, lessonHeight)
	look := lessons.Look{Dark: o.Dark, Width: o.Width, Height: o.Height, Asking: r.FormValue("asking") == "1", Paper: r.FormValue("paper") == "1", Grey: r.FormValue("grey") == "1"}
	key, public := a.key(r.Context(), s.path(), in)
	at := place{key: key, public: public && course == nil}
	return a.SendPrint(w, r, at.sheet(name, format, look, func(ctx context.Context) (*figure.Picture, error) {
		e, err := a.exhibit(ctx, key, s.Demo, in)
		if err != nil {
			return nil, err
		}
		for i, f := range e.Figures {
			if f.Name == name || name == "first" && i == 0 {
				return f.Draw(look.Within(ctx))
			}
		}
		return nil, store.ErrNotFound
	}))
}

// Answer checks and stores an answer and responds with the feedback: only the question for a
// script, else the page.
func (a *Handler) Answer(w http.ResponseWriter, r *http.Request, s Screen) error {
	q := s.Question(chi.URLParam(r, "question"))
	if q == nil {
		return web.Errorf(web.NotFound, "There is no such question.")
	}
	l, from := s.lesson.Lesson, r.PostFormValue("from")
	query := r.PostFormValue("query") // of the page with the question, to be kept in its links
	if !pictures.Linkable(query) {
		return web.Errorf(web.TooLarge, "The query string of the page is longer than any address that this server takes.")
	}
	page, err := url.ParseQuery(query)
	if err != nil {
		return web.Errorf(web.Malformed, "The query string of the page cannot be read: %v", err)
	}
	v := asked(r, l, s.Screen, q, from)
	v.Query = page.Encode()
	if err := a.judge(r.Context(), &v, r.PostFormValue("answer")); err != nil {
		return err
	}
	if err := a.drawing(r.Context(), &v, false); err != nil {
		return err
	}
	if v.Error == "" {
		a1 := store.Answer{Given: v.Given, Right: v.Right}
		if err := a.Store.SaveAnswer(r.Context(), frame.Workspace(r.Context()), v.Class.Question, a1); err != nil {
			return err
		}
		if err := a.predict(r.Context(), page, v.Class.Question, a1); err != nil {
			return err
		}
	}
	switch {
	case r.PostFormValue("part") == "1":
		return a.Render(w, r, lessons.QuestionForm(v))
	case v.Error != "":
		w.WriteHeader(http.StatusUnprocessableEntity)
		if from == "slide" {
			return a.showSlide(w, r, s, page, v)
		}
		return a.readLesson(w, r, s.lesson, page, v)
	case from == "slide":
		return frame.Redirect(w, r, s.path()+"?"+v.Query+"#"+v.ID)
	}
	return frame.Redirect(w, r, "/lessons/"+l.Slug+"?"+v.Query+"#"+v.ID)
}

// predict stores an answer in the page's course. If the course refuses it, it counts as an answer
// outside the course.
func (a *Handler) predict(ctx context.Context, page url.Values, question string, given store.Answer) error {
	code := store.CleanCode(frame.CodeOf(page))
	if code == "" {
		return nil
	}
	err := a.Store.Predict(ctx, frame.Workspace(ctx), code, question, given)
	for _, refused := range []error{store.ErrNotFound, store.ErrOver, store.ErrBlocked, store.ErrCrowded} {
		if errors.Is(err, refused) {
			return nil
		}
	}
	return err
}

// Question finds a question by its name, LESSON/SCREEN/QUESTION, with its answer.
func (a *Handler) Question(ctx context.Context, name string) (q lessons.Asked, err error) {
	slug, rest, _ := strings.Cut(name, "/")
	screen, question, _ := strings.Cut(rest, "/")
	if q.Lesson = all.Find(slug); q.Lesson != nil {
		if q.Screen, _ = q.Lesson.Screen(screen); q.Screen != nil {
			q.Question = q.Screen.Question(question)
		}
	}
	if q.Question == nil {
		return q, web.Errorf(web.NotFound, "There is no such question.")
	}
	q.Truth, err = a.truths.Get(ctx, questionPath(q.Lesson, q.Screen, q.Question), q.Question.Solve)
	return q, err
}

// questionPath is where the answer to a question is posted.
func questionPath(l *lessons.Lesson, s *lessons.Screen, q *lessons.Question) string {
	return "/lessons/" + l.Slug + "/" + s.Slug + "/questions/" + q.Slug
}

// Forget resets the answers to a lesson's questions, except those stored in a course. It
// redirects to the page it came from: the lesson or, according to the field from, a slide or
// its notes.
func (a *Handler) Forget(w http.ResponseWriter, r *http.Request, l Lesson) error {
	if err := a.Store.ForgetAnswers(r.Context(), frame.Workspace(r.Context()), l.Slug); err != nil {
		return err
	}
	path := "/lessons/" + l.Slug
	if s, _ := l.Screen(r.PostFormValue("screen")); s != nil {
		path += "/" + s.Slug
		if r.PostFormValue("from") == "notes" {
			path += "/notes"
		}
	}
	if code := frame.CodeOf(r.PostForm); code != "" {
		path += "?" + url.Values{"course": {code}}.Encode()
	}
	return frame.Redirect(w, r, path)
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
	on := map[string]int{} // number of screens with the control
	defaults := map[string]map[string]bool{}
	offered := map[string]int{} // number of screens with control=choice
	for _, sc := range l.Screens {
		if sc.Demo != nil {
			for _, p := range sc.Demo.Params() {
				on[p.Name]++
				if defaults[p.Name] == nil {
					defaults[p.Name] = map[string]bool{}
				}
				defaults[p.Name][p.Default] = true
				for _, o := range p.Options {
					offered[p.Name+"="+o.Name]++
				}
			}
		}
	}
	s.Check = func(control, value string) error {
		for _, sc := range l.Screens {
			if sc.Demo == nil {
				continue
			}
			for _, p := range sc.Demo.Params() {
				if p.Name == control {
					if err := p.Labelled().Check(value); err != nil {
						return fmt.Errorf("%w, on the screen “%s”", err, sc.Title)
					}
				}
			}
		}
		return nil
	}
	shared := views.ControlGroup{Name: "shared", Title: "On several screens: one for all of them"}
	seen := map[string]bool{}
	for _, sc := range l.Screens {
		if sc.Demo == nil || screen != "" && screen != sc.Slug {
			continue
		}
		in, _ := sc.Demo.NewInput(q.Get, workspaceSource{a.Base})
		g := views.ControlGroup{Name: sc.Slug, Title: sc.Title}
		for _, p := range sc.Demo.Params() {
			if !seen[p.Name] && !lessons.IsRun(p) {
				seen[p.Name] = true
				group := &g
				if screen == "" && on[p.Name] > 1 {
					group = &shared
				}
				c := views.Control{Name: p.Name, Label: results.Capital(p.Label), Symbol: p.Symbol, Value: results.OptionLabel(p, in.Text(p))}
				if group == &shared && len(p.Options) > 0 && offered[p.Name+"="+in.Text(p)] < on[p.Name] {
					c.Value += ", where it is offered"
					if !q.Has(p.Name) {
						c.Value = "as on each screen"
					}
				}
				if group == &shared && len(defaults[p.Name]) > 1 {
					for _, o := range p.Options {
						if offered[p.Name+"="+o.Name] == on[p.Name] {
							c.Choices = append(c.Choices, views.Option{Value: o.Name, Label: o.Label})
						}
					}
					if c.Each = len(c.Choices) > 0 || len(p.Options) == 0; c.Each {
						c.Value = q.Get(p.Name)
					}
				}
				group.Controls = append(group.Controls, c)
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
