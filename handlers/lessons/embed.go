package lessons

import (
	"maps"
	"net/http"
	"net/url"
	"strings"

	"marginlab/handlers/door"
	"marginlab/views/lessons"
	"marginlab/web"
)

// framedHeight is the height of the frame around a demo with its controls, in CSS pixels: in five of
// six nothing scrolls. A browser with JavaScript puts in what the demo needs.
const framedHeight = 1600

// framePath is where pages of other sites find what is below a path of lessons.
func framePath(path string) string { return "/embed" + strings.TrimPrefix(path, "/lessons") }

// framed tells whether a request is for a frame in a page of another site.
func framed(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, framePath("/lessons/")) }

// embed is how pages of other sites show a demo at the state of a query.
func (a *Handler) embed(r *http.Request, s *lessons.Screen, path, query string, figures []lessons.Figure) lessons.EmbedView {
	base := a.Links.Origin(r) + framePath(path)
	if query != "" {
		query = "?" + query
	}
	v := lessons.EmbedView{Address: base + query, Title: s.Title, Height: framedHeight}
	for _, f := range figures {
		v.SVGs = append(v.SVGs, lessons.EmbedFigure{Name: f.Name, Href: base + "/figures/" + f.Name + ".svg" + query})
	}
	return v
}

// Framed shows the demo of a screen alone, for pages of other sites to frame it.
func (a *Handler) Framed(w http.ResponseWriter, r *http.Request) error {
	l, s, err := screenOf(r)
	if err != nil {
		return err
	}
	if s.Demo == nil {
		return web.Errorf(web.NotFound, "There is nothing to be embedded on this screen.")
	}
	path := "/lessons/" + l.Slug + "/" + s.Slug
	d, _, err := a.demo(r, s, path, r.URL.Query(), false, false, false)
	if err != nil {
		return err
	}
	d.Action = framePath(path)
	p := lessons.FramedPage{Page: a.Frame(s.Title, ""), Demo: d, Lesson: l.Title, Screen: s.Title, Href: path}
	if d.Query != "" {
		p.Href += "?" + d.Query
	}
	p.Framed = true
	return a.Render(w, r, lessons.Framed(p))
}

// everybodys is the part of a state that is the same for everybody.
func everybodys(form url.Values) url.Values {
	form = maps.Clone(form)
	for _, name := range []string{"course", "class", "run"} {
		form.Del(name)
	}
	if !door.IsPublic(form.Get("data")) {
		form.Del("data")
	}
	return form
}
