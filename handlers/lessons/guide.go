package lessons

import (
	"fmt"
	"net/http"
	"net/url"

	"marginlab/handlers/door"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
	"marginlab/web"
)

// Guide shows a lesson to its teacher: minutes, aims, what to drag, misconceptions.
func (a *Handler) Guide(w http.ResponseWriter, r *http.Request) error {
	l, i, err := lessonOf(r)
	if err != nil {
		return err
	}
	web.MayBeShared(w, false)
	return a.Render(w, r, lessons.GuideOf(lessons.GuidePage{Page: a.Frame("Teaching "+l.Title, "lessons"), Lesson: *l, Number: i + 1}))
}

// Worksheet has the questions of a lesson for paper.
func (a *Handler) Worksheet(w http.ResponseWriter, r *http.Request) error {
	return a.worksheet(w, r, false)
}

// WorksheetAnswers has what is right on a worksheet, apart from it.
func (a *Handler) WorksheetAnswers(w http.ResponseWriter, r *http.Request) error {
	return a.worksheet(w, r, true)
}

func (a *Handler) worksheet(w http.ResponseWriter, r *http.Request, answers bool) error {
	l, i, err := lessonOf(r)
	if err != nil {
		return err
	}
	if answers {
		if err := a.forTeachers(r, l); err != nil {
			return err
		}
	}
	p := lessons.WorksheetPage{Page: a.Frame("Worksheet: "+l.Title, "lessons"), Lesson: *l, Number: i + 1, Answers: answers, Link: a.Links.Origin(r) + "/lessons/" + l.Slug}
	if answers {
		p.Title = "Answers: " + l.Title
	}
	code, err := figure.QR(p.Link, "QR code of "+p.Link)
	if err != nil {
		return err
	}
	var symbol views.Picture
	if err := door.Embed(&symbol, code); err != nil {
		return err
	}
	p.QR = symbol.Src
	n := 0
	for k := range l.Screens {
		s := &l.Screens[k]
		screen := lessons.WorksheetScreen{Title: s.Title}
		for j := range s.Questions {
			n++
			item := lessons.WorksheetItem{Number: n, Question: s.Questions[j], Order: lessons.Asked{Lesson: l, Screen: s, Question: &s.Questions[j]}.Order()}
			if item.Question.Sketch != nil {
				item.Sketch = questionPath(l, s, &s.Questions[j]) + "/" + sketchName + ".svg?" + fmt.Sprintf("width=%d&height=%d", printWidth, printWidth*2/3)
			}
			if answers {
				q, err := a.Question(r.Context(), l.Slug+"/"+s.Slug+"/"+s.Questions[j].Slug)
				if err != nil {
					return err
				}
				item.Right, item.Why = q.Right(), q.Why()
				if q.Question.Sketch != nil {
					item.Sketch = a.solution(l, s, q.Question, item.Right).Src
				}
			}
			screen.Items = append(screen.Items, item)
		}
		if len(screen.Items) == 0 {
			continue
		}
		if s.Demo != nil && !answers {
			if err := a.illustrate(r, l, s, &screen); err != nil {
				return err
			}
		}
		p.Screens = append(p.Screens, screen)
	}
	return a.Render(w, r, lessons.Worksheet(p))
}

// illustrate adds the figures of a screen to its questions on paper, as everybody finds
// them who has answered nothing.
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
