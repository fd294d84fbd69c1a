package handlers

import (
	"bytes"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/ml/lists"
	homeview "marginlab/views/home"
	"marginlab/views/manual"
	"marginlab/web"
)

// manualHits is the maximum number of sections found by a search.
const manualHits = 40

// manualList shows the contents of the manual, or the sections found by a search.
func (a *App) manualList(w http.ResponseWriter, r *http.Request) error {
	p := homeview.Manual{Page: a.Frame("Manual", "manual"), Query: r.FormValue("q"), Topics: manualTopics("")}
	hits := manual.Search(p.Query)
	p.Found = len(hits)
	for _, h := range hits[:min(manualHits, len(hits))] {
		p.Hits = append(p.Hits, homeview.ManualHit{Href: "/manual/" + h.Topic.Slug + "#" + h.ID, Topic: h.Topic.Title, Heading: h.Title})
	}
	return a.Render(w, r, homeview.ManualPage(p))
}

// manualTopic shows a page of the manual.
func (a *App) manualTopic(w http.ResponseWriter, r *http.Request) error {
	slug := chi.URLParam(r, "topic")
	topic, ok := manual.Find(slug)
	if !ok {
		return web.Errorf(web.NotFound, "The manual has no page %q.", slug)
	}
	html, err := topic.HTML()
	if err != nil {
		return err
	}
	p := homeview.Manual{Page: a.Frame(topic.Title, "manual"), Topics: manualTopics(slug), HTML: html}
	for _, s := range topic.Sections() {
		if s.Level == 2 {
			p.Sections = append(p.Sections, homeview.ManualSection{ID: s.ID, Title: s.Title})
		}
	}
	web.MayBeShared(w, false)
	return a.Render(w, r, homeview.ManualPage(p))
}

// manualDashboard sends a dashboard for the metrics.
func (a *App) manualDashboard(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Content-Type", "application/json")
	web.MayBeShared(w, false)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(manual.Dashboard))
	return nil
}

// manualTopics lists all topics; current is the slug of the one shown.
func manualTopics(current string) []homeview.ManualTopic {
	return lists.Map(manual.Topics, func(t manual.Topic) homeview.ManualTopic {
		return homeview.ManualTopic{Slug: t.Slug, Title: t.Title, Summary: t.Summary, Current: t.Slug == current}
	})
}
