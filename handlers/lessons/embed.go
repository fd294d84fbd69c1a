package lessons

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/ml/lists"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
)

// Initial size in CSS pixels of the frame around a demo, until it reports its height
// (static/js/height.js).
const (
	framedHeight = 900
	framedWidth  = 800 // for oEmbed, which requires a number
)

// framePath returns the embeddable counterpart of a path of lessons.
func framePath(path string) string { return "/embed" + strings.TrimPrefix(path, "/lessons") }

func framed(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, framePath("/lessons/")) }

// embed returns the code that embeds a demo in the state of a query.
func (a *Handler) embed(r *http.Request, s *lessons.Screen, path, query string, figures []lessons.Figure) lessons.EmbedView {
	base := a.Links.Origin(r) + framePath(path)
	if query != "" {
		query = "?" + query
	}
	return lessons.EmbedView{Address: base + query, Title: s.Title, Height: framedHeight, SVGs: lists.Map(figures, func(f lessons.Figure) lessons.EmbedFigure {
		return lessons.EmbedFigure{Name: f.Name, Href: base + "/figures/" + f.Name + ".svg" + query}
	})}
}

// Framed shows only the demo of a screen, for other sites to frame.
func (a *Handler) Framed(w http.ResponseWriter, r *http.Request, s Screen) error {
	if s.Demo == nil {
		return web.Errorf(web.NotFound, "This screen has no demo to embed.")
	}
	path := s.path()
	d, _, err := a.demo(r, s.Screen, path, r.URL.Query(), false, false, false)
	if err != nil {
		return err
	}
	d.Action = framePath(path)
	p := lessons.FramedPage{Page: a.Frame(s.Title, ""), Demo: d, Lesson: s.lesson.Title, Screen: s.Title, Href: path}
	if d.Query != "" {
		p.Href += "?" + d.Query
	}
	p.Framed, p.Fixed = true, r.URL.Query().Get("controls") == "hidden"
	return a.Render(w, r, lessons.Framed(p))
}

// everybodys returns the part of a state that is independent of the workspace.
func everybodys(form url.Values) url.Values {
	form = maps.Clone(form)
	for _, name := range []string{"course", "class", "run"} {
		form.Del(name)
	}
	if !frame.IsPublic(form.Get("data")) {
		form.Del("data")
	}
	return form
}

// oEmbed is an oEmbed response, see https://oembed.com.
type oEmbed struct {
	Version      string `json:"version"`
	Type         string `json:"type"`
	ProviderName string `json:"provider_name"`
	ProviderURL  string `json:"provider_url"`
	Title        string `json:"title"`
	HTML         string `json:"html"`
	Width        int    `json:"width"`
	Height       int    `json:"height"`
}

// OEmbed describes the demo at the URL of a slide or demo, for sites that embed links.
func (a *Handler) OEmbed(w http.ResponseWriter, r *http.Request) error {
	form := r.URL.Query()
	if f := form.Get("format"); f != "" && f != "json" {
		http.Error(w, "Only format=json is supported.", http.StatusNotImplemented) // as oEmbed requires
		return nil
	}
	origin := a.Links.Origin(r)
	missing := web.Errorf(web.NotFound, "No demo has this address. Give url= the address of a slide, such as %s/lessons/margins/line.", origin)
	address, err := url.Parse(form.Get("url"))
	if err != nil || address.Scheme+"://"+address.Host != origin {
		return missing
	}
	parts := strings.Split(strings.Trim(address.Path, "/"), "/")
	if len(parts) != 3 || parts[0] != "lessons" && parts[0] != "embed" {
		return missing
	}
	l := all.Find(parts[1])
	if l == nil {
		return missing
	}
	s, _ := l.Screen(parts[2])
	if s == nil || s.Demo == nil {
		return missing
	}
	given, state := everybodys(address.Query()), url.Values{}
	for _, p := range s.Demo.Params() {
		if given.Has(p.Name) {
			state.Set(p.Name, given.Get(p.Name))
		}
	}
	if given.Has("step") {
		state.Set("step", given.Get("step"))
	}
	if given.Get("controls") == "hidden" {
		state.Set("controls", "hidden")
	}
	v := a.embed(r, s, "/lessons/"+l.Slug+"/"+s.Slug, state.Encode(), nil)
	within := func(name string, size int) int {
		if n, err := strconv.Atoi(form.Get(name)); err == nil && n > 0 {
			return min(n, size)
		}
		return size
	}
	width := within("maxwidth", framedWidth)
	v.Height = within("maxheight", v.Height)
	web.MayBeShared(w, false)
	return web.JSON(w, http.StatusOK, oEmbed{"1.0", "rich", "Margin Lab", origin, s.Title, v.Frame(strconv.Itoa(width)), width, v.Height})
}

// Teachers lists every demo that can be embedded.
func (a *Handler) Teachers(w http.ResponseWriter, r *http.Request) error {
	p := lessons.TeachersPage{Page: a.Frame("For teachers", "lessons")}
	for i := range all.Lessons() {
		l := &all.Lessons()[i]
		row := lessons.TeachersLesson{Number: i + 1, Slug: l.Slug, Title: l.Title}
		for k := range l.Screens {
			s := &l.Screens[k]
			if s.Demo == nil {
				continue
			}
			path := "/lessons/" + l.Slug + "/" + s.Slug
			row.Demos = append(row.Demos, lessons.TeachersDemo{
				Title: s.Title, Href: path, Embed: a.embed(r, s, path, "", nil),
				Picture: pictures.Thumbnail(path+"/figures/", "first", a.Lasting("asking=1"), ""),
			})
		}
		p.Lessons = append(p.Lessons, row)
	}
	return a.Render(w, r, lessons.Teachers(p))
}
