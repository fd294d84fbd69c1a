package lessons

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"marginlab/handlers/pictures"
	"marginlab/views/lessons"
)

// deckSizes holds the sizes in CSS pixels of one, two or three pictures on a page of a deck. They
// are small because pictures are enlarged together with their letters.
var deckSizes = [][2]int{{330, 294}, {300, 267}, {240, 220}}

// Deck shows a lesson as printable slides: pages of 16:9, one per build.
func (a *Handler) Deck(w http.ResponseWriter, r *http.Request, l Lesson) error {
	open := r.FormValue(everything) == "1"
	p := lessons.DeckPage{Page: a.Frame("Slides: "+l.Title, "lessons"), Number: l.index + 1, Lesson: *l.Lesson, Open: open, Switch: "/lessons/" + l.Slug + "/deck"}
	if !open {
		p.Switch += "?" + everything + "=1"
	}
	for i := range l.Screens {
		sheets, err := a.sheets(r, l.Lesson, &l.Screens[i], open)
		if err != nil {
			return err
		}
		p.Sheets = append(p.Sheets, sheets...)
	}
	return a.Render(w, r, lessons.Deck(p))
}

// sheets returns the pages of a screen in a deck, with the answers if everything is open.
func (a *Handler) sheets(r *http.Request, l *lessons.Lesson, s *lessons.Screen, open bool) (list []lessons.DeckSheet, err error) {
	view, err := a.screenView(r, l, s, url.Values{}, nil, open, false)
	if err != nil {
		return nil, err
	}
	var beside []lessons.PaperFigure // the words
	if d := view.Demo; d != nil {
		for _, figures := range a.deckFigures(l, s, d.Answer.Figures, view.Folded) {
			list = append(list, lessons.DeckSheet{Figures: figures})
		}
		if len(d.Answer.Figures) > 0 {
			beside = a.deckFigures(l, s, d.Answer.Figures[:1], view.Folded)[0]
		}
		if body := d.Answer.Body; body != nil {
			lines := body.Lines
			if body.Waits > 0 && !open {
				lines = lines[:body.Waits]
			}
			for k := range lines {
				list = append(list, lessons.DeckSheet{Derived: &lessons.Derived{Lines: lines[:k+1], Step: k}})
			}
		}
	}
	words := func(c templ.Component, after bool) error {
		var html strings.Builder
		err := c.Render(r.Context(), &html)
		for _, page := range lessons.DeckBuilds(html.String()) {
			list = append(list, lessons.DeckSheet{Words: page, Figures: beside, After: after})
		}
		return err
	}
	if err := words(s.Words(), false); err != nil {
		return nil, err
	}
	for j := range s.Questions {
		items, err := a.deckQuestion(r.Context(), l, s, s.Questions[j].Slug, open)
		if err != nil {
			return nil, err
		}
		for i := range items {
			list = append(list, lessons.DeckSheet{Question: &items[i]})
		}
	}
	if s.After != nil && open {
		err = words(s.After(), true)
	}
	for i := range list {
		list[i].Title = s.Title
	}
	return list, err
}

// deckFigures returns the figures of each sheet, as many as fit.
func (a *Handler) deckFigures(l *lessons.Lesson, s *lessons.Screen, figures []lessons.Figure, folded bool) (sheets [][]lessons.PaperFigure) {
	path := "/lessons/" + l.Slug + "/" + s.Slug + "/figures/"
	for some := range slices.Chunk(figures, len(deckSizes)) {
		size := deckSizes[len(some)-1]
		var shown []lessons.PaperFigure
		for _, f := range some {
			query := url.Values{}
			if f.Asks != "" || f.Grows {
				query.Set("paper", "1")
				if folded {
					query.Set("asking", "1")
				}
			}
			p := pictures.Linked(path, f.Name, a.Lasting(query.Encode()), size[0], size[1], lessons.Spoken(f.Caption), "")
			shown = append(shown, lessons.PaperFigure{Picture: p, Caption: f.Caption})
		}
		sheets = append(sheets, shown)
	}
	return sheets
}

// deckQuestion returns a question and, if open, the question with its answer.
func (a *Handler) deckQuestion(ctx context.Context, l *lessons.Lesson, s *lessons.Screen, slug string, open bool) ([]lessons.WorksheetItem, error) {
	q, err := a.Question(ctx, l.Slug+"/"+s.Slug+"/"+slug)
	if err != nil {
		return nil, err
	}
	item := lessons.WorksheetItem{Question: *q.Question, Order: q.Order()}
	drawn := q.Question.Sketch != nil
	if drawn {
		item.Sketch = questionPath(l, s, q.Question) + "/" + sketchName + ".svg?" + fmt.Sprintf("width=%d&height=%d", printWidth, printWidth*2/3)
	}
	if !open {
		return []lessons.WorksheetItem{item}, nil
	}
	answered := item
	if answered.Right, answered.Why = q.Right(), q.Why(); drawn {
		answered.Sketch = a.solution(l, s, q.Question, answered.Right).Src
	}
	return []lessons.WorksheetItem{item, answered}, nil
}
