package lessons

import (
	"net/http"
	"net/url"

	"marginlab/handlers/frame"
	"marginlab/store"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
)

// Following returns the screen that the teacher of a course shows, the same for all followers.
func (a *Handler) Following(r *http.Request, code string, p lessons.Place) (title string, view lessons.ScreenView, err error) {
	l, s := find(p)
	if s == nil {
		return "", view, store.ErrNotFound
	}
	form, err := url.ParseQuery(p.Query)
	if err != nil {
		return "", view, err
	}
	form.Del("course") // so that all courses share cached pictures
	if !frame.IsPublic(form.Get("data")) {
		form.Set("course", code)
	}
	view = lessons.ScreenView{Screen: *s, Folded: len(s.Questions) > 0 && !p.Open}
	if s.Demo != nil {
		d, _, err := a.demo(r, s, p.Path(), form, view.Folded, false, false)
		if err != nil {
			return "", view, err
		}
		d.Answer.Embed = lessons.EmbedView{}
		view.Demo = &d
	}
	for _, q := range s.Questions {
		v := question(l, s, &q)
		v.From, v.Query = "follow", url.Values{"course": {code}}.Encode()
		if err := a.drawing(r.Context(), &v, false); err != nil {
			return "", view, err
		}
		view.Questions = append(view.Questions, v)
	}
	return l.Title, view, nil
}

// NotesOf returns the presenter's notes of a screen.
func (a *Handler) NotesOf(r *http.Request, p lessons.Place) (lessons.NotesPage, error) {
	l, s := find(p)
	if s == nil {
		return lessons.NotesPage{}, store.ErrNotFound
	}
	return a.notes(r, l, s)
}

// find returns the lesson and screen of a place, nil if there is none.
func find(p lessons.Place) (*lessons.Lesson, *lessons.Screen) {
	l := all.Find(p.Lesson)
	if l == nil {
		return nil, nil
	}
	s, _ := l.Screen(p.Screen)
	return l, s
}
