package teach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/frame"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views/lessons"
)

// own returns the questions written by a teacher as a lesson of one screen.
func own(c store.Course) *lessons.Lesson {
	s := lessons.Screen{Slug: "course", Title: c.Title, Questions: lists.Map(c.Questions, asLessons)}
	return &lessons.Lesson{Slug: "own", Title: "Your questions", Screens: []lessons.Screen{s}}
}

// asLessons converts a question written by a teacher to a lesson's question.
func asLessons(q store.OwnQuestion) lessons.Question {
	l := lessons.Question{Slug: q.Slug, Ask: q.Ask, Explain: strings.ReplaceAll(q.Explain, "%s", "%\u200bs"), Options: q.Options, Wrong: q.Wrong}
	switch q.Kind {
	case "words":
		l.Words = &lessons.Words{Right: accepted(q.Right)}
	case "point":
		l.Point = &lessons.Point{Within: q.Within, Slide: q.Slide}
		l.Point.X, l.Point.Y, _ = l.Point.Read(q.Right)
	default:
		right, _ := lessons.ReadNumber(q.Right)
		l.Answer = lessons.Is(right)
		within := cmp.Or(q.Within, 0.01*math.Abs(right)) // 0 defaults to a tolerance of 0.01
		l.Within = within / math.Max(1, math.Abs(right))
	}
	return l
}

// accepted returns the right answers in a text, separated by semicolons.
func accepted(right string) (list []string) {
	for _, one := range strings.Split(right, ";") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}

// question finds a question by its name, of a lesson or written by the teacher.
func (a *Handler) question(ctx context.Context, c store.Course, name string) (lessons.Asked, error) {
	l := own(c)
	s := &l.Screens[0]
	for i := range s.Questions {
		q := lessons.Asked{Lesson: l, Screen: s, Question: &s.Questions[i]}
		if q.Name() == name {
			var err error
			q.Truth, err = q.Question.Solve(ctx)
			return q, err
		}
	}
	return a.Lessons.Question(ctx, name)
}

// pointed returns the picture of a question answered by a point, with the points given; nil for
// other questions.
func (a *Handler) pointed(ctx context.Context, q *lessons.Question, counts map[string]int, revealed bool) (*lessons.PointView, error) {
	if q.Point == nil {
		return nil, nil
	}
	v, err := a.Lessons.Pictured(ctx, q.Point.Slide)
	if err != nil {
		return nil, err
	}
	for given := range counts {
		if x, y, err := q.Point.Read(given); err == nil {
			v.Places = append(v.Places, v.Mark(x, y, 0))
		}
	}
	if revealed {
		right := v.Mark(q.Point.X, q.Point.Y, q.Point.Within)
		v.Right = &right
	}
	return &v, nil
}

// Questions lists the questions written by the teacher of a course.
func (a *Handler) Questions(w http.ResponseWriter, r *http.Request, g Course) error {
	p := lessons.OwnPage{Page: a.Frame("Your questions", "courses"), Base: g.base, Course: g.Title, Questions: ownRows(g.Course)}
	courses, err := a.Store.Courses(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	for _, c := range courses {
		if c.Code != g.Code && len(c.Questions) > 0 {
			p.Others = append(p.Others, lessons.OwnOther{Code: c.Code, Title: c.Title, Questions: len(c.Questions)})
		}
	}
	return a.Render(w, r, lessons.Own(p))
}

func ownRows(c store.Course) []lessons.PollsRow {
	return lists.Map(c.Questions, func(q store.OwnQuestion) lessons.PollsRow {
		return lessons.PollsRow{Name: q.Name(), Ask: q.Ask, Slug: q.Slug}
	})
}

// WriteQuestion shows the form of the question in the path, or of a new one.
func (a *Handler) WriteQuestion(w http.ResponseWriter, r *http.Request, g Course) error {
	q := store.OwnQuestion{Kind: cmp.Or(r.FormValue("kind"), "options"), Slide: r.FormValue("slide")}
	if slug := chi.URLParam(r, "question"); slug != "" {
		at := slices.IndexFunc(g.Questions, func(q store.OwnQuestion) bool { return q.Slug == slug })
		if at < 0 {
			return store.ErrNotFound
		}
		q = g.Questions[at]
	} else if l := lessonOf(g.Course); q.Kind == "point" && q.Slide == "" && l != nil {
		i := max(0, slices.IndexFunc(l.Screens, func(s lessons.Screen) bool { return s.Demo != nil }))
		q.Slide = "/lessons/" + l.Slug + "/" + l.Screens[i].Slug
	}
	return a.questionForm(w, r, g, q, nil)
}

func (a *Handler) questionForm(w http.ResponseWriter, r *http.Request, g Course, q store.OwnQuestion, wrong param.Problems) error {
	heading := lists.Either(q.Slug == "", "New question", "Edit the question")
	p := lessons.OwnForm{Page: a.Frame(heading, "courses"), Base: g.base, Course: g.Title, Slug: q.Slug, Kind: q.Kind, Ask: q.Ask, Explain: q.Explain, Right: q.Right, Slide: q.Slide, Within: r.PostFormValue("within"), Problems: wrong}
	if p.Within == "" && q.Within > 0 {
		p.Within = strconv.FormatFloat(q.Within, 'g', -1, 64)
	}
	for i := range mostOptions {
		o := lessons.OwnOption{}
		if i < len(q.Options) {
			o.Text, o.Wrong = q.Options[i], q.Wrong[i]
		}
		p.Options = append(p.Options, o)
	}
	if q.Kind == "point" && q.Slide != "" {
		v, err := a.Lessons.Pictured(r.Context(), q.Slide)
		var fault param.Problems
		switch {
		case errors.As(err, &fault):
			p.Problems = append(p.Problems, fault...)
		case err != nil:
			return err
		default:
			var at lessons.Point
			if x, y, err := at.Read(q.Right); err == nil {
				right := v.Mark(x, y, q.Within)
				v.Right = &right
			}
			p.Point = &v
		}
	}
	if len(wrong) > 0 {
		w.WriteHeader(http.StatusUnprocessableEntity)
	}
	return a.Render(w, r, lessons.OwnQuestion(p))
}

// SaveQuestion stores or deletes a question.
func (a *Handler) SaveQuestion(w http.ResponseWriter, r *http.Request, g Course) error {
	form, slug := r.PostForm, chi.URLParam(r, "question")
	if form.Get("do") == "delete" {
		if err := a.Store.DeleteQuestion(r.Context(), g.Code, slug); err != nil {
			return err
		}
		a.board.changed(g.Code)
		return frame.Redirect(w, r, g.base+"/questions")
	}
	q, err := a.written(r.Context(), form)
	q.Slug = slug
	if err == nil && form.Get("do") != "look" {
		if err = a.Store.SaveQuestions(r.Context(), g.Code, q); err == nil {
			return frame.Redirect(w, r, g.base+"/questions")
		}
	}
	wrong, faulty := errors.AsType[param.Problems](err)
	switch {
	case form.Get("do") == "look":
		return a.questionForm(w, r, g, q, nil)
	case faulty:
		return a.questionForm(w, r, g, q, wrong)
	}
	return err
}

// mostOptions is the largest number of options of an own question.
const mostOptions = 6

// written returns the question in a form. It returns param.Problems for invalid values.
func (a *Handler) written(ctx context.Context, form url.Values) (q store.OwnQuestion, err error) {
	q = store.OwnQuestion{Kind: form.Get("kind"), Ask: strings.TrimSpace(form.Get("ask")), Explain: strings.TrimSpace(form.Get("explain")), Right: strings.TrimSpace(form.Get("right"))}
	switch q.Kind {
	case "options":
		at := ""
		for i := range mostOptions {
			text := strings.TrimSpace(form.Get(fmt.Sprint("option.", i)))
			if text == "" {
				continue
			}
			if q.Right == strconv.Itoa(i) {
				at = strconv.Itoa(len(q.Options))
			}
			q.Options, q.Wrong = append(q.Options, text), append(q.Wrong, strings.TrimSpace(form.Get(fmt.Sprint("wrong.", i))))
		}
		q.Right = at
	case "point":
		q.Slide = strings.TrimSpace(form.Get("slide"))
		if u, err := url.Parse(q.Slide); err == nil { // a URL copied from the browser
			q.Slide = (&url.URL{Path: u.Path, RawQuery: u.RawQuery}).String()
		}
	}
	var ps param.Problems
	if text := strings.TrimSpace(form.Get("within")); text != "" && q.Kind != "words" {
		q.Within, err = lessons.ReadNumber(text)
		switch {
		case err != nil:
			ps.Add("within", "Give a number above 0.")
		case q.Within == 0 && q.Kind == "number":
			ps.Add("within", "Give a number above 0: 0.5 accepts the same whole number only.")
		}
	}
	if err := a.check(ctx, q); err != nil {
		var more param.Problems
		if !errors.As(err, &more) {
			return q, err
		}
		ps = append(ps, more...)
	}
	return q, ps.Err()
}

// longest bounds the characters of a question's texts, longestSlide those of the URL of its slide.
const longest, longestSlide = 500, 2000

// check returns param.Problems for faults of an own question.
func (a *Handler) check(ctx context.Context, q store.OwnQuestion) error {
	var ps param.Problems
	text := func(field, s string) {
		switch err := lessons.Text(s).Render(ctx, io.Discard); {
		case utf8.RuneCountInString(s) > longest:
			ps.Add(field, "The text has %d characters; at most %d are allowed.", utf8.RuneCountInString(s), longest)
		case err != nil:
			ps.Add(field, "The text cannot be shown: %v.", err)
		}
	}
	if q.Ask == "" {
		ps.Add("ask", "Write the question.")
	}
	text("ask", q.Ask)
	text("explain", q.Explain)
	if n := utf8.RuneCountInString(q.Right); n > longest {
		ps.Add("right", "The answer has %d characters; at most %d are allowed.", n, longest)
	}
	if n := utf8.RuneCountInString(q.Slide); n > longestSlide {
		ps.Add("slide", "The address has %d characters; at most %d are allowed.", n, longestSlide)
	}
	if q.Within < 0 {
		ps.Add("within", "Give a number above 0.")
	}
	if q.Kind != "options" && len(q.Options)+len(q.Wrong) > 0 {
		ps.Add("options", "Only a question of the kind options has options.")
	}
	switch q.Kind {
	case "options":
		for _, s := range slices.Concat(q.Options, q.Wrong) {
			text("options", s)
		}
		k, err := strconv.Atoi(q.Right)
		switch {
		case len(q.Options) < 2 || len(q.Options) > mostOptions:
			ps.Add("options", "Give 2 to %d options.", mostOptions)
		case len(q.Wrong) != len(q.Options):
			ps.Add("options", "Give an explanation for each of the %d options; those of the right one and of others may be empty.", len(q.Options))
		case err != nil || k < 0 || k >= len(q.Options):
			ps.Add("options", "Mark the right option.")
		}
	case "number":
		if _, err := lessons.ReadNumber(q.Right); err != nil {
			ps.Add("right", "Give the right number, such as 0.25, 1/4 or -3e-2.")
		}
	case "words":
	case "point":
		var at lessons.Point
		if _, _, err := at.Read(q.Right); err != nil {
			ps.Add("right", "Point at the picture, or give both coordinates, such as 1.5 2.")
		}
		if q.Within == 0 {
			ps.Add("within", "Say how far a point may be off.")
		}
		if _, err := a.Lessons.Pictured(ctx, q.Slide); err != nil {
			var more param.Problems
			if !errors.As(err, &more) {
				return err
			}
			ps = append(ps, more...)
		}
	default:
		ps.Add("kind", "Choose a kind: options, number, words or point.")
	}
	return ps.Err()
}

// TakeQuestions copies the questions of another course of the workspace.
func (a *Handler) TakeQuestions(w http.ResponseWriter, r *http.Request, g Course) error {
	from, err := a.Store.CourseOf(r.Context(), frame.Workspace(r.Context()), r.PostFormValue("from"))
	if err != nil {
		return err
	}
	for i := range from.Questions {
		from.Questions[i].Slug = ""
	}
	return frame.Done(w, r, g.base+"/questions", a.Store.SaveQuestions(r.Context(), g.Code, from.Questions...))
}
