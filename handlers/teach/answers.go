package teach

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"marginlab/handlers/frame"
	"marginlab/ml/dataset"
	"marginlab/store"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
)

// Answers shows a teacher the answers to the questions of a lesson, by question and by student. The
// lesson is the query's, else the course's own, else the first one answered.
func (a *Handler) Answers(w http.ResponseWriter, r *http.Request, g Course) error {
	students, err := a.Store.Attendance(r.Context(), g.Code)
	if err != nil {
		return err
	}
	offered := slices.Clone(all.Lessons())
	var asked []string
	for _, s := range students {
		if len(s.Answers) > 0 {
			asked = append(asked, s.Answers[0].Question)
		}
	}
	l := shownLesson(r, g.Course, asked)
	if len(g.Questions) > 0 {
		written := own(g.Course)
		offered = append(offered, *written)
		if r.FormValue("lesson") == written.Slug {
			l = written
		}
	}
	if g.Nameless {
		for i, s := range students {
			students[i].Name, students[i].Named = fmt.Sprint("student ", s.Number), false
		}
	}
	p := lessons.AnswersPage{Nameless: g.Nameless, Page: a.Frame("Answers in "+g.Title, "courses"), Base: g.base, Course: g.Title, Lessons: offered, Lesson: l}
	p.State = web.TagOf(fmt.Append(nil, a.Assets.Prefix(), g.Course, l.Slug, students))
	if web.Unchanged(w, r, p.State) {
		return nil
	}
	p.Questions, p.Places, p.Students = answered(l, g.Code, students)
	return a.Render(w, r, lessons.Answers(p))
}

// answered counts the first answers to the questions of a lesson and determines each student's
// progress.
func answered(l *lessons.Lesson, code string, students []store.Student) (questions []lessons.AnsweredQuestion, places []lessons.AnsweredPlace, rows []lessons.AnsweringStudent) {
	wrong := []map[string]int{}
	at := map[string]int{}
	var asked []lessons.Asked
	var on []int // index of each question's screen
	for i := range l.Screens {
		s := &l.Screens[i]
		href := "/lessons/" + l.Slug + "/" + s.Slug + "?course=" + code
		if len(s.Questions) > 0 {
			places = append(places, lessons.AnsweredPlace{Title: s.Title, Href: href})
		}
		for k := range s.Questions {
			q := lessons.Asked{Lesson: l, Screen: s, Question: &s.Questions[k]}
			at[q.Name()] = len(asked)
			asked, on = append(asked, q), append(on, len(places)-1)
			wrong = append(wrong, map[string]int{})
			questions = append(questions, lessons.AnsweredQuestion{Screen: s.Title, Ask: q.Question.Ask, Href: href, Opinion: q.Question.Opinion()})
		}
	}
	for _, s := range students {
		row := lessons.AnsweringStudent{Name: s.Name, Named: s.Named, Of: len(asked)}
		furthest := -1
		for name, first := range s.First() {
			i, ours := at[name]
			if !ours {
				continue
			}
			row.Answered++
			if first.Right {
				questions[i].Right++
				row.Right++
			} else {
				questions[i].Wrong++
				wrong[i][first.Given]++
			}
			if first.At.After(row.Last) {
				row.Last = first.At
			}
			furthest = max(furthest, i)
		}
		if furthest >= 0 {
			row.At = asked[furthest].Screen.Title
			places[on[furthest]].Students++
			rows = append(rows, row)
		}
	}
	for i, given := range wrong {
		questions[i].Of = len(rows)
		questions[i].Often, questions[i].OftenCount = asked[i].Often(given)
		for k := range asked[i].Question.Options {
			if asked[i].Question.Options[k] == questions[i].Often {
				questions[i].Misconception = asked[i].Question.Mistaken(strconv.Itoa(k))
			}
		}
	}
	slices.SortStableFunc(rows, func(a, b lessons.AnsweringStudent) int { return b.Answered - a.Answered })
	return questions, places, rows
}

// ExportAnswers sends the answers as CSV, a line per answer: student (numbered as in the
// submissions), question, round of the poll (0: the first answer, given individually), answer,
// whether it is right, time (UTC), for a drawing, described in words, its heights at the
// question's places, and the misconception behind a wrong option.
func (a *Handler) ExportAnswers(w http.ResponseWriter, r *http.Request, g Course) error {
	students, err := a.Store.Attendance(r.Context(), g.Code)
	if err != nil {
		return err
	}
	rows := [][]string{{"name", "student", "lesson", "screen", "question", "round", "answer", "right", "answered", "drawn", "misconception"}}
	for _, s := range students {
		for _, one := range s.Answers {
			lesson, rest, _ := strings.Cut(one.Question, "/")
			screen, question, _ := strings.Cut(rest, "/")
			given, drawn, right, mistaken := one.Given, "", fmt.Sprint(one.Right), ""
			if q, err := a.question(r.Context(), g.Course, one.Question); err == nil {
				if len(q.Question.Options) > 0 || q.Question.Sketch != nil { // numbers and words are written unchanged
					given = q.Brief(given)
				}
				if q.Question.Sketch != nil {
					drawn = one.Given
				}
				if q.Question.Opinion() {
					right = ""
				}
				mistaken = lessons.Printed(q.Question.Mistaken(one.Given))
			}
			rows = append(rows, []string{dataset.Guard(s.Name), strconv.Itoa(s.Number), lesson, screen, question, strconv.Itoa(one.Round), number(given), right, one.At.Format(time.RFC3339), number(drawn), dataset.Guard(mistaken)})
		}
	}
	return frame.SendRows(w, r, g.Title+" answers.csv", rows)
}

// number guards text for a spreadsheet, so that only numbers are interpreted.
func number(text string) string {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return text
	}
	return dataset.Guard(text)
}

// NameStudent stores the name under which a student answers and redirects back.
func (a *Handler) NameStudent(w http.ResponseWriter, r *http.Request, c store.Course) error {
	if err := a.Store.NameStudent(r.Context(), frame.Workspace(r.Context()), c.Code, r.PostFormValue("who")); err != nil {
		return err
	}
	if r.PostFormValue("from") == "poll" {
		return frame.Redirect(w, r, "/course/"+c.Code+"/poll")
	}
	return frame.Redirect(w, r, frame.Entrance(c))
}
