package lessons

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
)

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

// asksClass reports whether a student's class is being asked a question, whose solution its slide
// should not tell yet. code is empty outside a course.
func (a *Handler) asksClass(r *http.Request, code, question string) (bool, error) {
	if code == "" {
		return false, nil
	}
	poll, err := a.Store.CurrentPoll(r.Context(), store.CleanCode(code))
	if errors.Is(err, store.ErrNotFound) || err == nil && !(poll.Open && poll.Question == question) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	teaches, err := a.teaches(r)
	return !teaches, err
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
	open, err := a.asksClass(r, frame.CodeOf(page), v.Class.Question)
	if err != nil {
		return err
	}
	if open {
		v.Given, v.Error = r.PostFormValue("answer"), "Your teacher is asking the class this question: choose Answer in the notice. The solution follows."
	} else if err := a.judge(r.Context(), &v, r.PostFormValue("answer")); err != nil {
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
