package teach

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/ml/lists"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
)

// Polls lists the questions of a lesson that the teacher can ask: of the lesson in the query, else
// of the course's own.
func (a *Handler) Polls(w http.ResponseWriter, r *http.Request, g Course) error {
	polls, err := a.Store.Polls(r.Context(), g.Code)
	if err != nil {
		return err
	}
	l := shownLesson(r, g.Course, lists.Map(polls, func(p store.Poll) string { return p.Question }))
	put := map[string]store.Poll{}
	for _, p := range polls {
		put[p.Question] = p
	}
	p := lessons.PollsPage{Page: a.Frame("Ask the class", "courses"), Base: g.base, Course: g.Title, Lessons: all.Lessons(), Lesson: l, Own: ownRows(g.Course)}
	asked := func(row *lessons.PollsRow) {
		if poll, ok := put[row.Name]; ok {
			row.Href, row.State = g.poll(poll.ID), stateOf(poll)
		}
	}
	for i := range p.Own {
		asked(&p.Own[i])
	}
	for _, s := range l.Screens {
		screen := lessons.PollsScreen{Title: s.Title, Href: "/lessons/" + l.Slug + "/" + s.Slug + "?course=" + g.Code}
		for i := range s.Questions {
			q := lessons.Asked{Lesson: l, Screen: &s, Question: &s.Questions[i]}
			row := lessons.PollsRow{Name: q.Name(), Ask: q.Question.Ask}
			asked(&row)
			screen.Questions = append(screen.Questions, row)
		}
		if len(screen.Questions) > 0 {
			p.Screens = append(p.Screens, screen)
		}
	}
	return a.Render(w, r, lessons.Polls(p))
}

// poll returns the URL of a poll's page.
func (g Course) poll(id int64) string { return fmt.Sprintf("%s/polls/%d", g.base, id) }

// shownLesson returns the lesson in the query, else the course's own, else the first with a question
// that was asked, else the first of all.
func shownLesson(r *http.Request, c store.Course, asked []string) *lessons.Lesson {
	l := cmp.Or(all.Find(r.FormValue("lesson")), lessonOf(c))
	for _, name := range asked {
		slug, _, _ := strings.Cut(name, "/")
		l = cmp.Or(l, all.Find(slug))
	}
	return cmp.Or(l, &all.Lessons()[0])
}

// lessonOf returns the lesson that a course was made of, or nil.
func lessonOf(c store.Course) *lessons.Lesson {
	path, _, _ := strings.Cut(c.Target, "?")
	slug, _, _ := strings.Cut(strings.TrimPrefix(path, "/lessons/"), "/")
	return all.Find(slug)
}

func stateOf(p store.Poll) string {
	state := "closed"
	switch {
	case p.Open:
		state = "open"
	case p.Revealed:
		state = "revealed"
	}
	if p.Round > 1 {
		state += fmt.Sprintf(", round %d", p.Round)
	}
	return state
}

// Ask asks the course a question.
func (a *Handler) Ask(w http.ResponseWriter, r *http.Request, g Course) error {
	p, err := a.ask(r.Context(), g, r.PostFormValue("question"))
	return frame.Done(w, r, g.poll(p.ID), err)
}

func (a *Handler) ask(ctx context.Context, g Course, question string) (p store.Poll, err error) {
	q, err := a.question(ctx, g.Course, question)
	if err != nil {
		return p, err
	}
	if p, err = a.Store.Ask(ctx, g.Code, q.Name()); err == nil {
		a.board.changed(g.Code)
	}
	return p, err
}

// Conduct closes, reopens or repeats a poll, reveals the right answer, or deletes its answers.
func (a *Handler) Conduct(w http.ResponseWriter, r *http.Request, g Course) error {
	do := r.PostFormValue("do")
	if err := a.conduct(r.Context(), g, g.pollID, do); err != nil {
		return err
	}
	if do == "delete" {
		return frame.Redirect(w, r, g.base+"/polls")
	}
	return frame.Redirect(w, r, g.poll(g.pollID))
}

func (a *Handler) conduct(ctx context.Context, g Course, id int64, do string) (err error) {
	switch do {
	case "close":
		err = a.Store.ClosePoll(ctx, g.Code, id, true)
	case "open":
		err = a.Store.ClosePoll(ctx, g.Code, id, false)
	case "again":
		err = a.Store.AskAgain(ctx, g.Code, id)
	case "reveal":
		err = a.Store.Reveal(ctx, g.Code, id)
	case "delete":
		err = a.Store.DeletePoll(ctx, g.Code, id)
	default:
		err = param.Problems{{Field: "do", Message: fmt.Sprintf("a question can be closed, opened, asked again, revealed or deleted, not %q", do)}}
	}
	if err == nil {
		a.board.changed(g.Code)
	}
	return err
}

// Results shows a poll to its teacher, and to the class on a projector: nothing on the page grants
// access to the course.
func (a *Handler) Results(w http.ResponseWriter, r *http.Request, g Course) error {
	t, err := a.Store.Tally(r.Context(), g.Code, g.pollID)
	if err != nil {
		return err
	}
	p, err := a.results(r, g, t)
	if err != nil {
		return err
	}
	return a.Render(w, r, lessons.Results(p))
}

func (a *Handler) results(r *http.Request, g Course, t store.Tally) (p lessons.ResultsPage, err error) {
	q, err := a.question(r.Context(), g.Course, t.Question)
	if err != nil {
		return p, err
	}
	p = lessons.ResultsPage{
		Page: a.Frame("Question to "+g.Title, "courses"), Base: g.base, Code: g.Code, Asked: q, Poll: t.ID, Open: t.Open, Revealed: t.Revealed, More: t.Round < store.MaxRounds,
		Slide: "/lessons/" + q.Lesson.Slug + "/" + q.Screen.Slug + "?course=" + g.Code, Histogram: q.Histogram(t.Rounds, t.Revealed), State: phase(t.Poll),
	}
	if q.Question.Sketch != nil && !t.Open {
		if p.Overlay, err = overlay(r.Context(), q, t); err != nil {
			return p, err
		}
	}
	if q.Lesson.Slug == "own" {
		p.Slide = g.base + "/questions"
	}
	if !t.Open {
		if p.Point, err = a.pointed(r.Context(), q.Question, t.Rounds[len(t.Rounds)-1], t.Revealed); err != nil {
			return p, err
		}
	}
	p.Link, p.QR, err = a.studentLink(r, g.Course)
	return p, err
}

// Size of the picture of all drawings in CSS pixels: small, because the page enlarges it together
// with its letters.
const drawnWidth, drawnHeight = 560, 340

// overlay returns the picture of the drawings of the last round, for both themes.
func overlay(ctx context.Context, q lessons.Asked, t store.Tally) (*views.Picture, error) {
	var p, dark views.Picture
	for _, v := range []*views.Picture{&p, &dark} {
		pic, err := q.Overlay(lessons.Look{Dark: v == &dark, Width: drawnWidth, Height: drawnHeight}, t.Rounds[len(t.Rounds)-1], t.Revealed)
		if err != nil {
			return nil, err
		}
		*v = views.Picture{Width: drawnWidth, Height: drawnHeight, Alt: pic.Caption}
		if err := pictures.Embed(ctx, v, pic); err != nil {
			return nil, err
		}
	}
	p.DarkSrc = strings.ReplaceAll(dark.Src, " ", "%20") // a space would end the URL in a srcset
	return &p, nil
}

// studentLink returns the link to a course and its QR code as a data URI.
func (a *Handler) studentLink(r *http.Request, c store.Course) (link, symbol string, err error) {
	link = a.Links.Origin(r) + "/course/" + c.Code
	symbol, err = pictures.QR(r.Context(), link)
	return link, symbol, err
}

// phase returns a string that changes with what students and teachers can do.
func phase(p store.Poll) string {
	if p.ID == 0 {
		return "none"
	}
	return fmt.Sprint(p.ID, ".", p.Round, ".", p.Open, ".", p.Revealed)
}

// ResultsEvents streams the histogram of a poll to its teacher as "answers" events while it is
// open: its HTML, and the phase that its buttons belong to.
func (a *Handler) ResultsEvents(w http.ResponseWriter, r *http.Request, g Course) error {
	if _, err := a.Store.Tally(r.Context(), g.Code, g.pollID); err != nil {
		return err
	}
	return web.Stream(w, r, a.board.watch(r.Context(), g.Code, true), func(t store.Tally) (string, any) {
		news := struct {
			State string `json:"state"`
			HTML  string `json:"html,omitempty"`
		}{State: phase(t.Poll)}
		if t.ID == g.pollID {
			var html strings.Builder
			p, err := a.results(r, g, t)
			if err == nil && lessons.ResultsPart(p).Render(r.Context(), &html) == nil {
				news.HTML = html.String()
			}
		} else {
			news.State = "" // another question: this page is unchanged
		}
		return "answers", news
	})
}

// current returns the open question of a course with its counts, or the zero value.
func (a *Handler) current(ctx context.Context, code string) (t store.Tally, err error) {
	p, err := a.Store.CurrentPoll(ctx, code)
	if err == nil {
		t, err = a.Store.Tally(ctx, code, p.ID)
	}
	if errors.Is(err, store.ErrNotFound) {
		return store.Tally{}, nil
	}
	return t, err
}

// Poll shows a student the open question; with part=1 only the changing part of the page, with
// part=asked only whether other pages of the course should announce it.
func (a *Handler) Poll(w http.ResponseWriter, r *http.Request, c store.Course) error {
	return a.showPoll(w, r, c, http.StatusOK, "")
}

// showPoll shows the question with a status; problem says why an answer was not counted.
func (a *Handler) showPoll(w http.ResponseWriter, r *http.Request, c store.Course, status int, problem string) error {
	p := lessons.PollPage{Page: a.Frame("Question", ""), Code: c.Code, Course: c.Title, Entrance: frame.Entrance(c), Problem: problem}
	var err error
	if p.Name, err = a.Store.StudentName(r.Context(), frame.Workspace(r.Context()), c.Code); err != nil {
		return err
	}
	put, err := a.Put(r.Context(), c.Code)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if r.FormValue("part") == "asked" {
		return a.Render(w, r, views.CourseAskedPart(c.Code, put.Waits()))
	}
	p.State = phase(put.Poll)
	if err == nil {
		q, err := a.question(r.Context(), c, put.Question)
		if err != nil {
			return err
		}
		p.Asked, p.Poll, p.Round, p.Open, p.Revealed, p.Given, p.Right = &q, put.ID, put.Round, put.Open, put.Revealed, put.Own.Given, put.Own.Right
		if p.Point, err = a.pointed(r.Context(), q.Question, map[string]int{put.Own.Given: 1}, put.Revealed); err != nil {
			return err
		}
		if q.Question.Sketch != nil {
			if p.Sketch, err = a.Lessons.Drawing(r.Context(), q, put.Own.Given, put.Revealed); err != nil {
				return err
			}
			p.Sketch.Button, p.Sketch.Error = "Answer", problem
		}
	}
	if problem != "" {
		w.WriteHeader(status)
	}
	if r.FormValue("part") == "1" {
		return a.Render(w, r, lessons.PollPart(p))
	}
	return a.Render(w, r, lessons.Poll(p))
}

// PollEvents streams the phase of a course's question as "phase" events; a student's page reloads
// when it changes.
func (a *Handler) PollEvents(w http.ResponseWriter, r *http.Request, c store.Course) error {
	return web.Stream(w, r, a.board.watch(r.Context(), c.Code, false), func(t store.Tally) (string, any) { return "phase", phase(t.Poll) })
}

// Vote records a student's answer. If it is refused, the reason is shown with the current
// question.
func (a *Handler) Vote(w http.ResponseWriter, r *http.Request, c store.Course) error {
	id, err := strconv.ParseInt(r.PostFormValue("poll"), 10, 64)
	if err != nil {
		return store.ErrNotFound
	}
	round, _ := strconv.Atoi(r.PostFormValue("round"))
	err = a.vote(r.Context(), c, id, round, r.PostFormValue("answer"))
	var wrong param.Problems
	var late *store.Error
	switch {
	case errors.As(err, &wrong):
		return a.showPoll(w, r, c, http.StatusUnprocessableEntity, wrong.Error())
	case errors.As(err, &late) && late.Kind() == web.Conflict:
		return a.showPoll(w, r, c, http.StatusConflict, late.Error())
	case errors.Is(err, store.ErrNotFound):
		return a.showPoll(w, r, c, http.StatusConflict, "The question was deleted before your answer arrived. Wait here for the next question.")
	case err != nil:
		return err
	}
	to := "/course/" + c.Code + "/poll"
	if r.PostFormValue("part") == "1" {
		to += "?" + url.Values{"part": {"1"}}.Encode()
	}
	return frame.Redirect(w, r, to)
}

// vote records an answer to a course's question. It returns param.Problems for an invalid answer.
func (a *Handler) vote(ctx context.Context, c store.Course, id int64, round int, answer string) error {
	poll, err := a.Store.CurrentPoll(ctx, c.Code)
	switch {
	case err != nil:
		return err
	case poll.ID != id && poll.Open:
		return store.ErrAskedOn
	case poll.ID != id:
		return store.ErrPollClosed
	}
	q, err := a.question(ctx, c, poll.Question)
	if err != nil {
		return err
	}
	given, right, err := q.Judge(answer)
	if err != nil {
		return err
	}
	if err := a.Store.Vote(ctx, frame.Workspace(ctx), c.Code, id, round, store.Answer{Given: given, Right: right}); err != nil {
		return err
	}
	a.board.changed(c.Code)
	return nil
}
