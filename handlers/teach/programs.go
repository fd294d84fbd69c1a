package teach

import (
	"errors"
	"net/http"
	"time"

	"marginlab/handlers/frame"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views/lessons"
	"marginlab/web"
)

type courseJSON struct {
	Code    string     `json:"code"`
	Title   string     `json:"title"`
	URL     string     `json:"url"`  // for students
	Page    string     `json:"page"` // path and query of its page
	Hidden  []string   `json:"hidden"`
	Frozen  []string   `json:"frozen"`
	Closed  bool       `json:"closed"`
	Ends    *time.Time `json:"ends"`
	Handins int        `json:"handins"`
	Created time.Time  `json:"created"`
}

func (a *Handler) courseJSON(r *http.Request, c store.Course) courseJSON {
	j := courseJSON{
		Code: c.Code, Title: c.Title, URL: a.Links.Origin(r) + "/course/" + c.Code, Page: c.Target,
		Hidden: append([]string{}, c.Hidden...), Frozen: append([]string{}, c.Frozen...), Closed: c.Closed, Handins: c.Handins, Created: c.Created,
	}
	if !c.Ends.IsZero() {
		j.Ends = &c.Ends
	}
	return j
}

// ListJSON sends the courses of a teacher.
func (a *Handler) ListJSON(w http.ResponseWriter, r *http.Request) error {
	courses, err := a.Store.Courses(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	return frame.SendList(w, r, "courses", courses, func(c store.Course) courseJSON { return a.courseJSON(r, c) })
}

// CreateJSON creates a course from a course file.
func (a *Handler) CreateJSON(w http.ResponseWriter, r *http.Request) error {
	limit := 2*a.Limits.Bytes + web.FormBytes
	file, size, err := web.Spool(w, r, limit)
	if err != nil {
		return err
	}
	defer file.Close()
	leave, err := a.AdmitFile(r.Context(), w, size, false)
	if err != nil {
		return err
	}
	defer leave()
	r.Body = file
	var f courseFile
	if err := web.ReadJSON(w, r, limit, &f); err != nil {
		return err
	}
	c, err := a.create(r, f)
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusCreated, a.courseJSON(r, c))
}

// CourseJSON sends one course.
func (a *Handler) CourseJSON(w http.ResponseWriter, r *http.Request, g Course) error {
	return web.JSON(w, http.StatusOK, a.courseJSON(r, g.Course))
}

// ChangeJSON closes or opens a course, or sets its end; an empty text removes the end.
func (a *Handler) ChangeJSON(w http.ResponseWriter, r *http.Request, g Course) error {
	var asked struct {
		Closed *bool   `json:"closed"`
		Ends   *string `json:"ends"`
	}
	if err := web.ReadJSON(w, r, web.FormBytes, &asked); err != nil {
		return err
	}
	var ends time.Time
	if asked.Ends != nil && *asked.Ends != "" {
		var err error
		if ends, err = time.Parse(time.RFC3339, *asked.Ends); err != nil || ends.Year() < 1971 || ends.Year() > 9999 {
			return param.Problems{{Field: "ends", Message: "ends expects a time such as 2030-01-31T18:00:00Z, or an empty text"}}
		}
	}
	if asked.Closed != nil {
		if err := a.Store.CloseCourse(r.Context(), g.Code, *asked.Closed); err != nil {
			return err
		}
	}
	if asked.Ends != nil {
		if err := a.Store.EndCourse(r.Context(), g.Code, ends); err != nil {
			return err
		}
	}
	c, err := a.Store.Course(r.Context(), g.Code)
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, a.courseJSON(r, c))
}

// DeleteJSON deletes a course with its gallery.
func (a *Handler) DeleteJSON(w http.ResponseWriter, r *http.Request, g Course) error {
	if err := a.Store.DeleteCourse(r.Context(), g.Code); err != nil {
		return err
	}
	return web.NoContent(w, r)
}

// pollJSON is the JSON form of a course's question. Counts and the right answer are for its
// teacher; given is for a student.
type pollJSON struct {
	ID       int64            `json:"id"`
	Question string           `json:"question"` // lesson/screen/question
	Ask      string           `json:"ask"`
	Options  []string         `json:"options"` // answers are indices into it; empty: a number
	Round    int              `json:"round"`
	Open     bool             `json:"open"`
	Revealed bool             `json:"revealed"`
	Rounds   []map[string]int `json:"rounds,omitempty"` // by answer
	Given    string           `json:"given,omitempty"`
	Right    string           `json:"right,omitempty"` // for students, once revealed
}

func newPoll(p store.Poll, q lessons.Asked) pollJSON {
	return pollJSON{ID: p.ID, Question: p.Question, Ask: q.Question.Ask, Options: append([]string{}, q.Question.Options...), Round: p.Round, Open: p.Open, Revealed: p.Revealed}
}

// polled returns a poll as its teacher sees it.
func (a *Handler) polled(r *http.Request, g Course, id int64) (p pollJSON, err error) {
	t, err := a.Store.Tally(r.Context(), g.Code, id)
	if err != nil {
		return p, err
	}
	q, err := a.question(r.Context(), g.Course, t.Question)
	if err != nil {
		return p, err
	}
	p = newPoll(t.Poll, q)
	p.Rounds, p.Right = t.Rounds, q.Right()
	return p, nil
}

// PollsJSON lists the questions asked in a course, open ones first.
func (a *Handler) PollsJSON(w http.ResponseWriter, r *http.Request, g Course) error {
	polls, err := a.Store.Polls(r.Context(), g.Code)
	if err != nil {
		return err
	}
	list := []pollJSON{}
	for _, p := range polls {
		j, err := a.polled(r, g, p.ID)
		if err != nil {
			return err
		}
		list = append(list, j)
	}
	return web.JSON(w, http.StatusOK, map[string]any{"polls": list})
}

// AskJSON asks a course a question.
func (a *Handler) AskJSON(w http.ResponseWriter, r *http.Request, g Course) error {
	var asked struct {
		Question string `json:"question"`
	}
	if err := web.ReadJSON(w, r, web.FormBytes, &asked); err != nil {
		return err
	}
	p, err := a.ask(r.Context(), g, asked.Question)
	if err != nil {
		return err
	}
	return a.sendPoll(w, r, http.StatusCreated, g, p.ID)
}

// PollJSON sends one question with its counts.
func (a *Handler) PollJSON(w http.ResponseWriter, r *http.Request, g Course) error {
	return a.sendPoll(w, r, http.StatusOK, g, g.pollID)
}

func (a *Handler) sendPoll(w http.ResponseWriter, r *http.Request, status int, g Course, id int64) error {
	p, err := a.polled(r, g, id)
	if err != nil {
		return err
	}
	return web.JSON(w, status, p)
}

// ConductJSON closes, opens or repeats a question, or reveals the right answer.
func (a *Handler) ConductJSON(w http.ResponseWriter, r *http.Request, g Course) error {
	var asked struct {
		Do string `json:"do"`
	}
	if err := web.ReadJSON(w, r, web.FormBytes, &asked); err != nil {
		return err
	}
	if asked.Do == "delete" {
		return param.Problems{{Field: "do", Message: "do expects close, open, again or reveal; DELETE deletes"}}
	}
	if err := a.conduct(r.Context(), g, g.pollID, asked.Do); err != nil {
		return err
	}
	return a.sendPoll(w, r, http.StatusOK, g, g.pollID)
}

// DeletePollJSON deletes the answers to a question.
func (a *Handler) DeletePollJSON(w http.ResponseWriter, r *http.Request, g Course) error {
	if err := a.conduct(r.Context(), g, g.pollID, "delete"); err != nil {
		return err
	}
	return web.NoContent(w, r)
}

// CurrentJSON sends the open question of a course to a student's program.
func (a *Handler) CurrentJSON(w http.ResponseWriter, r *http.Request, c store.Course) error {
	put, err := a.Put(r.Context(), c.Code)
	if errors.Is(err, store.ErrNotFound) {
		return web.Errorf(web.NotFound, "Course %s has no open question.", c.Code)
	}
	if err != nil {
		return err
	}
	q, err := a.question(r.Context(), c, put.Question)
	if err != nil {
		return err
	}
	j := newPoll(put.Poll, q)
	if j.Given = put.Own.Given; put.Revealed {
		j.Right = q.Right()
	}
	return web.JSON(w, http.StatusOK, j)
}

// VoteJSON stores the answer of a student's program.
func (a *Handler) VoteJSON(w http.ResponseWriter, r *http.Request, c store.Course) error {
	var asked struct {
		Poll   int64  `json:"poll"`
		Round  int    `json:"round"`
		Answer string `json:"answer"`
	}
	if err := web.ReadJSON(w, r, web.FormBytes, &asked); err != nil {
		return err
	}
	if err := a.vote(r.Context(), c, asked.Poll, asked.Round, asked.Answer); err != nil {
		return err
	}
	return a.CurrentJSON(w, r, c)
}
