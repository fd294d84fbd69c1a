package lessons

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/store"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
)

// Slide shows one screen of a lesson for presenting.
func (a *Handler) Slide(w http.ResponseWriter, r *http.Request, s Screen) error {
	return a.showSlide(w, r, s, r.URL.Query(), lessons.QuestionView{})
}

func (a *Handler) showSlide(w http.ResponseWriter, r *http.Request, s Screen, form url.Values, answered lessons.QuestionView) error {
	l, number, at := s.lesson.Lesson, s.lesson.index, s.index
	answers, err := a.Store.Answers(r.Context(), frame.Workspace(r.Context()))
	if err != nil {
		return err
	}
	view, err := a.screenView(r, l, s.Screen, form, answers, form.Get(everything) == "1", true)
	if err != nil {
		return err
	}
	class, err := a.class(r.Context(), form)
	if err != nil {
		return err
	}
	finish(&view, form, class, answered)
	p := lessons.SlidePage{Page: a.Frame(s.Title, "lessons"), Number: number + 1, Lesson: *l, Screen: view, At: at + 1, Of: len(l.Screens)}
	p.Slide = true
	if view.Demo != nil && class == "" {
		p.Course = tasked(view.Demo.Course, l)
	}
	if s.Demo != nil && class == "" {
		origin := a.Links.Origin(r)
		p.OEmbed = origin + "/oembed?" + url.Values{"url": {origin + s.path()}}.Encode()
	}
	p.Up = "/lessons/" + l.Slug
	kept := url.Values{}
	if l.Carry {
		kept = carried(form)
	} else if code := frame.CodeOf(form); code != "" {
		kept.Set("course", code)
	}
	query := ""
	if len(kept) > 0 {
		query = "?" + kept.Encode()
		p.Up += query
		if l.Carry {
			p.Up += "&screen=" + s.Slug
		}
	}
	p.Up += "#" + s.Slug
	switch {
	case at > 0:
		p.Previous = "/lessons/" + l.Slug + "/" + l.Screens[at-1].Slug + query
	case number > 0:
		before := all.Lessons()[number-1]
		p.Previous = "/lessons/" + before.Slug + "/" + before.Screens[len(before.Screens)-1].Slug
	}
	switch {
	case at+1 < len(l.Screens):
		p.Next = "/lessons/" + l.Slug + "/" + l.Screens[at+1].Slug + query
	case number+1 < len(all.Lessons()):
		after := all.Lessons()[number+1]
		p.Next = "/lessons/" + after.Slug + "/" + after.Screens[0].Slug
	}
	p.Notes = s.path() + "/notes"
	p.Code, p.Teaches = frame.CodeOf(form), strings.TrimSuffix(class, "/polls")
	if class != "" {
		c, err := a.Store.Course(r.Context(), store.CleanCode(p.Code))
		if err != nil {
			return err
		}
		for _, q := range c.Questions {
			p.Own = append(p.Own, lessons.PollsRow{Name: q.Name(), Ask: q.Ask, Slug: q.Slug})
		}
	}
	for i := range l.Screens {
		link := lessons.SlideLink{Title: l.Screens[i].Title, Route: "/lessons/" + l.Slug + "/" + l.Screens[i].Slug + query, Here: i == at}
		if l.Screens[i].Demo != nil {
			thumb := pictures.Thumbnail("/lessons/"+l.Slug+"/"+l.Screens[i].Slug+"/figures/", "first", a.Lasting("asking=1"), "")
			link.Thumb = &thumb
		}
		p.Slides = append(p.Slides, link)
	}
	return a.Render(w, r, lessons.Slide(p))
}

// Notes shows the presenter's notes of a slide.
func (a *Handler) Notes(w http.ResponseWriter, r *http.Request, s Screen) error {
	if err := a.forTeachers(r, s.lesson.Lesson); err != nil {
		return err
	}
	p, err := a.notes(r, s.lesson.Lesson, s.Screen)
	if err != nil {
		return err
	}
	return a.Render(w, r, lessons.Notes(p))
}

func (a *Handler) notes(r *http.Request, l *lessons.Lesson, s *lessons.Screen) (p lessons.NotesPage, err error) {
	view, err := a.screenView(r, l, s, url.Values{}, nil, true, true)
	if err != nil {
		return p, err
	}
	number := slices.IndexFunc(all.Lessons(), func(other lessons.Lesson) bool { return other.Slug == l.Slug })
	_, at := l.Screen(s.Slug)
	base := "/lessons/" + l.Slug + "/"
	p = lessons.NotesPage{Page: a.Frame("Notes: "+s.Title, "lessons"), Number: number + 1, Lesson: *l, Screen: view, At: at + 1, Of: len(l.Screens), Slide: base + s.Slug}
	p.Bare = true
	if at > 0 {
		p.Previous = base + l.Screens[at-1].Slug + "/notes"
	}
	if at+1 < len(l.Screens) {
		next := &l.Screens[at+1]
		p.Next, p.NextTitle = base+next.Slug+"/notes", next.Title
	}
	p.Answers, err = a.said(r.Context(), view.Questions)
	return p, err
}

// said returns the right answers to questions, with explanations.
func (a *Handler) said(ctx context.Context, questions []lessons.QuestionView) (said []string, err error) {
	for _, q := range questions {
		truth, err := a.truths.Get(ctx, q.Path, q.Solve)
		if err != nil {
			return nil, err
		}
		text, err := q.Reveal(truth)
		if err != nil {
			return nil, err
		}
		said = append(said, text)
	}
	return said, nil
}

// everything is the query parameter that opens all answers.
const everything = "everything"

// carried returns the values of a form that carry over to other screens.
func carried(form url.Values) url.Values {
	v := url.Values{}
	for name, values := range form {
		if name != "step" && name != "screen" && name != "slide" && name != "asking" && name != everything {
			v[name] = values
		}
	}
	return v
}

// class returns the URL at which the teacher of a page's course asks a question, empty for others.
func (a *Handler) class(ctx context.Context, page url.Values) (action string, err error) {
	code := store.CleanCode(frame.CodeOf(page))
	if code == "" {
		return "", nil
	}
	c, err := a.Store.CourseOf(ctx, frame.Workspace(ctx), code)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	return "/courses/" + c.Code + "/polls", err
}
