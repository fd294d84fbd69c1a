package lessons

import (
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
	add := func(sheet lessons.DeckSheet) {
		sheet.Title = s.Title
		list = append(list, sheet)
	}
	view, err := a.screenView(r, l, s, url.Values{}, nil, open, false)
	if err != nil {
		return nil, err
	}
	var beside []lessons.PaperFigure
	if d := view.Demo; d != nil {
		path := "/lessons/" + l.Slug + "/" + s.Slug + "/figures/"
		figures := d.Answer.Figures
		for of := range slices.Chunk(figures, len(deckSizes)) {
			var shown []lessons.PaperFigure
			for _, f := range of {
				size := deckSizes[len(of)-1]
				query := url.Values{}
				caption := f.Caption
				if f.Asks != "" || f.Grows {
					query.Set("paper", "1")
					if view.Folded {
						query.Set("asking", "1")
					}
				}
				picture := func(size [2]int) lessons.PaperFigure {
					return lessons.PaperFigure{Picture: pictures.Linked(path, f.Name, a.Lasting(query.Encode()), size[0], size[1], lessons.Spoken(caption), ""), Caption: caption}
				}
				shown = append(shown, picture(size))
				if beside == nil {
					beside = []lessons.PaperFigure{picture(deckSizes[0])}
				}
			}
			add(lessons.DeckSheet{Figures: shown})
		}
		if body := d.Answer.Body; body != nil {
			lines := body.Lines
			if body.Waits > 0 && !open {
				lines = lines[:body.Waits]
			}
			for k := range lines {
				add(lessons.DeckSheet{Derived: &lessons.Derived{Lines: lines[:k+1], Step: k}})
			}
		}
	}
	words := func(c templ.Component, after bool) error {
		var html strings.Builder
		if err := c.Render(r.Context(), &html); err != nil {
			return err
		}
		pages := lessons.DeckBuilds(html.String())
		for _, page := range pages {
			add(lessons.DeckSheet{Words: page, Figures: beside, After: after})
		}
		return nil
	}
	if err := words(s.Words(), false); err != nil {
		return nil, err
	}
	for j := range s.Questions {
		q, err := a.Question(r.Context(), l.Slug+"/"+s.Slug+"/"+s.Questions[j].Slug)
		if err != nil {
			return nil, err
		}
		item := lessons.WorksheetItem{Question: *q.Question, Order: q.Order()}
		drawn := q.Question.Sketch != nil
		if drawn {
			item.Sketch = questionPath(l, s, q.Question) + "/" + sketchName + ".svg?" + fmt.Sprintf("width=%d&height=%d", printWidth, printWidth*2/3)
		}
		add(lessons.DeckSheet{Question: &item})
		if !open {
			continue
		}
		answered := item
		if answered.Right, answered.Why = q.Right(), q.Why(); drawn {
			answered.Sketch = a.solution(l, s, q.Question, answered.Right).Src
		}
		add(lessons.DeckSheet{Question: &answered})
	}
	if s.After != nil && open {
		return list, words(s.After(), true)
	}
	return list, nil
}
