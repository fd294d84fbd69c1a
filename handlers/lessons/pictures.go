package lessons

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"marginlab/handlers/pictures"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views"
	"marginlab/views/figure"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
)

// Sizes of the pictures of lessons in CSS pixels.
const (
	lessonWidth, lessonHeight = 640, 500
	lessonWideHeight          = 300
	printWidth                = 320 // slightly larger on paper, with letters of at least 9 points
	boxedWidth                = 300 // for the box of a question
	printHeight               = 190 // minimum: lower pictures have no letters
)

// Sizes at which slide pictures are drawn: small, because a slide enlarges them together with
// their letters, which thus never fall below 18 px. The style sheet uses the same proportions.
const (
	slideWidth, slideHeight         = 500, 446 // for a wide screen
	slideTallWidth, slideTallHeight = 420, 494 // for other screens
	slideTall                       = "(max-aspect-ratio: 3/2)"
	besides                         = 64 // per cent of that size, beside a derivation
)

// slideSize returns the size of a figure on a slide: as requested by the page's script, or the
// default for wide screens or beside a derivation.
func slideSize(form url.Values, asked, derives bool) (width, height int) {
	width, height = slideWidth, slideHeight
	if derives {
		width, height = slideWidth*besides/100, slideHeight*besides/100
	}
	if !asked {
		return width, height
	}
	if w, err := strconv.Atoi(form.Get("width")); err == nil {
		width = min(max(w, 200), 1200)
	}
	if h, err := strconv.Atoi(form.Get("height")); err == nil {
		height = min(max(h, 200), 1200)
	}
	return width, height
}

// lessonSize returns the size of a figure on the page, smaller if there are several.
func lessonSize(f lessons.Figure, several bool) (width, height int) {
	width, height = lessonWidth, lessonHeight
	if several {
		width, height = pictures.SmallWidth, pictures.SmallHeight
	}
	if f.Wide {
		height = height * lessonWideHeight / lessonHeight
	}
	return width, height
}

// place holds the base URL and the cache key of an exhibit's pictures.
type place struct {
	base, query string
	key         string // of the exhibit, empty if unknown
	public      bool
}

// sheet returns the named picture of an exhibit.
func (at place) sheet(name, format string, look lessons.Look, draw func(context.Context) (*figure.Picture, error)) pictures.Sheet {
	s := pictures.Sheet{Key: at.key, Public: at.public, Format: format, Parts: true, Draw: draw}
	if s.Key != "" {
		s.Key += fmt.Sprint(" ", name, look)
	}
	return s
}

// picture returns a figure for a page, with its data coordinates by width, and its parts. Later
// parts of an exhibit may be loaded lazily.
func (a *Handler) picture(ctx context.Context, f lessons.Figure, look lessons.Look, at place, slide, inline, first bool) (p views.Picture, frames map[int]figure.Frame, parts []figure.Part, err error) {
	frames = map[int]figure.Frame{}
	if inline {
		pic, err := f.Draw(look.Within(ctx))
		if err != nil {
			return p, nil, nil, err
		}
		frames[look.Width], parts = pic.Frame, pic.Parts()
		p = pictures.Linked(at.base, f.Name, at.query, look.Width, look.Height, cmp.Or(pic.Caption, lessons.Spoken(f.Caption)), "")
		return p, frames, parts, pictures.Embed(ctx, &p, pic)
	}
	printed := func() (*pictures.Print, error) {
		print, err := a.Print(ctx, at.sheet(f.Name, "svg", look, func(ctx context.Context) (*figure.Picture, error) { return f.Draw(look.Within(ctx)) }))
		if err == nil {
			frames[look.Width] = print.Frame
		}
		return print, err
	}
	print, err := printed()
	if err != nil {
		return p, nil, nil, err
	}
	linked := func() views.Picture {
		return pictures.Linked(at.base, f.Name, at.query, look.Width, look.Height, cmp.Or(print.Caption, lessons.Spoken(f.Caption)), "")
	}
	p, parts = linked(), print.Parts
	p.Lazy = !first
	switch {
	case slide:
		look.Width, look.Height = slideTallWidth*look.Width/slideWidth, slideTallHeight*look.Width/slideWidth
		tall := linked()
		p.Narrow, p.NarrowDark, p.For = tall.Src, tall.DarkSrc, slideTall
	case look.Width > pictures.NarrowWidth:
		look.Width, look.Height = pictures.NarrowWidth, pictures.NarrowWidth*look.Height/look.Width
	}
	_, err = printed() // the page needs the data coordinates in both sizes
	return p, frames, parts, err
}

// printed returns a figure for paper, with all its steps unless that would give an answer away.
func printed(f lessons.Figure, at place, p views.Picture, asking bool) views.Picture {
	at.query = strings.TrimPrefix(at.query+"&grey=1", "&")
	if f.Grows && !asking {
		at.query += "&paper=1"
	}
	return pictures.Linked(at.base, f.Name, at.query, printWidth, min(max(printHeight, printWidth*p.Height/p.Width), printWidth*2/3), p.Alt, "")
}

// Figure serves a picture of a demo; "first" is its first.
func (a *Handler) Figure(w http.ResponseWriter, r *http.Request, s Screen) error {
	name, format, err := pictures.FigureName(r)
	if err != nil {
		return err
	}
	if s.Demo == nil {
		return store.ErrNotFound
	}
	form := r.URL.Query()
	if framed(r) {
		form = everybodys(form)
	}
	course, form, _, err := a.under(r.Context(), "/lessons/"+s.lesson.Slug, s.Demo, form)
	if err != nil {
		return err
	}
	in, _ := s.Demo.NewInput(form.Get, workspaceSource{a.Base})
	o := pictures.Sized(r, lessonWidth, lessonHeight)
	look := lessons.Look{Dark: o.Dark, Width: o.Width, Height: o.Height, Asking: r.FormValue("asking") == "1", Paper: r.FormValue("paper") == "1", Grey: r.FormValue("grey") == "1"}
	key, public := a.key(r.Context(), s.path(), in)
	at := place{key: key, public: public && course == nil}
	return a.SendPrint(w, r, at.sheet(name, format, look, func(ctx context.Context) (*figure.Picture, error) {
		e, err := a.exhibit(ctx, key, s.Demo, in)
		if err != nil {
			return nil, err
		}
		for i, f := range e.Figures {
			if f.Name == name || name == "first" && i == 0 {
				return f.Draw(look.Within(ctx))
			}
		}
		return nil, store.ErrNotFound
	}))
}

// Size in CSS pixels of a picture that a class points at: legible on a phone, and the same on all
// screens so that places agree.
const pointWidth, pointHeight = 480, 375

// Pictured returns the first figure of a slide, without answers, for a class to point at. It
// returns param.Problems for an address without a figure.
func (a *Handler) Pictured(ctx context.Context, slide string) (v lessons.PointView, err error) {
	none := func(message string) error { return param.Problems{{Field: "slide", Message: message}} }
	u, err := url.Parse(slide)
	if err != nil {
		return v, none("This is not the address of a slide.")
	}
	path := strings.TrimSuffix(u.Path, "/")
	slug, screen, _ := strings.Cut(strings.TrimPrefix(path, "/lessons/"), "/")
	l := all.Find(slug)
	if l == nil {
		return v, none("There is no such lesson. Copy the address of a slide, such as /lessons/margins/line.")
	}
	s, _ := l.Screen(screen)
	if s == nil || s.Demo == nil {
		return v, none("This slide has no picture.")
	}
	path = "/lessons/" + l.Slug + "/" + s.Slug
	form := everybodys(u.Query())
	in, _ := s.Demo.NewInput(form.Get, workspaceSource{a.Base})
	key, public := a.key(ctx, path, in)
	e, err := a.exhibit(ctx, key, s.Demo, in)
	if err != nil {
		return v, err
	}
	if len(e.Figures) == 0 {
		return v, none("This slide has no picture.")
	}
	query := url.Values{"asking": {"1"}, "paper": {"1"}} // the lesson's own question is not asked here
	for _, p := range s.Demo.Params() {
		if t := in.Text(p); t != p.Default {
			query.Set(p.Name, t)
		}
	}
	if in.Step > 0 {
		query.Set("step", form.Get("step"))
	}
	at := place{base: path + "/figures/", key: key, public: public, query: a.Lasting(query.Encode())}
	look := lessons.Look{Width: pointWidth, Height: pointHeight, Asking: true, Paper: true}
	picture, frames, _, err := a.picture(ctx, e.Figures[0], look, at, false, false, true)
	if err != nil {
		return v, err
	}
	frame := frames[pointWidth]
	if frame.Width == 0 {
		return v, none("The picture of this slide has no axes to point at.")
	}
	picture.Narrow, picture.NarrowDark = "", ""
	v = lessons.PointView{Picture: picture, Frame: frame, Stage: pictures.ToJSON(map[string]any{"frames": map[int]any{pointWidth: frame}})}
	return v, nil
}
