package lessons

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/views/lessons"
	"marginlab/web"
)

// Guide shows a lesson to its teacher: minutes, aims, what to drag, misconceptions.
func (a *Handler) Guide(w http.ResponseWriter, r *http.Request, l Lesson) error {
	web.MayBeShared(w, false)
	return a.Render(w, r, lessons.GuideOf(lessons.GuidePage{Page: a.Frame("Teaching "+l.Title, "lessons"), Lesson: *l.Lesson, Number: l.index + 1}))
}

// Worksheet shows the questions of a lesson for printing.
func (a *Handler) Worksheet(w http.ResponseWriter, r *http.Request, l Lesson) error {
	return a.worksheet(w, r, l, false)
}

// WorksheetAnswers shows the answers to a worksheet.
func (a *Handler) WorksheetAnswers(w http.ResponseWriter, r *http.Request, l Lesson) error {
	return a.worksheet(w, r, l, true)
}

func (a *Handler) worksheet(w http.ResponseWriter, r *http.Request, l Lesson, answers bool) error {
	p := lessons.WorksheetPage{Page: a.Frame("Worksheet: "+l.Title, "lessons"), Lesson: *l.Lesson, Number: l.index + 1, Answers: answers, Link: a.Links.Origin(r) + "/lessons/" + l.Slug}
	if answers {
		p.Title = "Answers: " + l.Title
	}
	var err error
	if p.QR, err = pictures.QR(r.Context(), p.Link); err != nil {
		return err
	}
	n := 0
	for k := range l.Screens {
		s := &l.Screens[k]
		screen := lessons.WorksheetScreen{Title: s.Title}
		for j := range s.Questions {
			n++
			item := lessons.WorksheetItem{Number: n, Question: s.Questions[j], Order: lessons.Asked{Lesson: l.Lesson, Screen: s, Question: &s.Questions[j]}.Order()}
			if item.Question.Sketch != nil {
				item.Sketch = questionPath(l.Lesson, s, &s.Questions[j]) + "/" + sketchName + ".svg?" + fmt.Sprintf("width=%d&height=%d", printWidth, printWidth*2/3)
			}
			if answers {
				q, err := a.Question(r.Context(), l.Slug+"/"+s.Slug+"/"+s.Questions[j].Slug)
				if err != nil {
					return err
				}
				item.Right, item.Why = q.Right(), q.Why()
				if q.Question.Sketch != nil {
					item.Sketch = a.solution(l.Lesson, s, q.Question, item.Right).Src
				}
			}
			screen.Items = append(screen.Items, item)
		}
		if len(screen.Items) == 0 {
			continue
		}
		if s.Demo != nil && !answers {
			if err := a.illustrate(r, l.Lesson, s, &screen); err != nil {
				return err
			}
		}
		p.Screens = append(p.Screens, screen)
	}
	return a.Render(w, r, lessons.Worksheet(p))
}

// illustrate adds the figures of a screen to its printed questions, in the state before any
// answer.
func (a *Handler) illustrate(r *http.Request, l *lessons.Lesson, s *lessons.Screen, w *lessons.WorksheetScreen) error {
	d, _, err := a.demo(r, s, "/lessons/"+l.Slug+"/"+s.Slug, url.Values{}, true, false, false)
	if err != nil {
		return err
	}
	w.Set = d.Answer.Set
	for i, p := range d.Answer.Printed {
		if p.Src != "" {
			w.Figures = append(w.Figures, lessons.PaperFigure{Picture: p, Caption: d.Answer.Captions[i]})
		}
	}
	return nil
}

// asked returns all questions of a lesson with their answers.
func (a *Handler) asked(ctx context.Context, l Lesson) (asked []lessons.Asked, err error) {
	for k := range l.Screens {
		s := &l.Screens[k]
		for j := range s.Questions {
			q, err := a.Question(ctx, l.Slug+"/"+s.Slug+"/"+s.Questions[j].Slug)
			if err != nil {
				return nil, err
			}
			asked = append(asked, q)
		}
	}
	return asked, nil
}

// GIFT sends the questions of a lesson with their answers, as Moodle imports them.
func (a *Handler) GIFT(w http.ResponseWriter, r *http.Request, l Lesson) error {
	asked, err := a.asked(r.Context(), l)
	if err != nil {
		return err
	}
	frame.Attach(w, l.Slug+".gift.txt", "text/plain; charset=utf-8")
	return lessons.GIFT(w, "Margin Lab: "+l.Title, asked)
}

// QuestionsCSV sends the questions of a lesson with their answers, a line each. Formulas are TeX
// between dollar signs.
func (a *Handler) QuestionsCSV(w http.ResponseWriter, r *http.Request, l Lesson) error {
	asked, err := a.asked(r.Context(), l)
	if err != nil {
		return err
	}
	most := slices.Max(append(lists.Map(asked, func(q lessons.Asked) int { return len(q.Question.Options) }), 0))
	head := []string{"question", "screen", "kind", "text", "answer", "tolerance", "explanation"}
	for i := range most {
		head = append(head, fmt.Sprintf("option_%d", i+1), fmt.Sprintf("misconception_%d", i+1))
	}
	return frame.StreamRows(w, r, l.Slug+"-questions.csv", func(row func(...string) error) error {
		if err := row(head...); err != nil {
			return err
		}
		for _, q := range asked {
			kind, tolerance := "choice", ""
			switch {
			case q.Question.Sketch != nil:
				kind = "drawing"
			case len(q.Question.Options) == 0:
				kind, tolerance = "number", strconv.FormatFloat(q.Question.Tolerance(q.Truth.Value), 'g', 6, 64)
			}
			record := []string{q.Name(), q.Screen.Title, kind, lessons.Printed(q.Question.Ask), q.Right(), tolerance, lessons.Printed(q.Why())}
			for i := range most {
				option := ""
				if i < len(q.Question.Options) {
					option = q.Question.Options[i]
				}
				record = append(record, option, q.Question.Mistaken(strconv.Itoa(i)))
			}
			for i := range record {
				record[i] = dataset.Guard(record[i])
			}
			if err := row(record...); err != nil {
				return err
			}
		}
		return nil
	})
}
