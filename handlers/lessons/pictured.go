package lessons

import (
	"context"
	"net/url"
	"strings"

	"marginlab/handlers/pictures"
	"marginlab/ml/param"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
)

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
	query := url.Values{"asking": {"1"}}
	for _, p := range s.Demo.Params() {
		if t := in.Text(p); t != p.Default {
			query.Set(p.Name, t)
		}
	}
	if in.Step > 0 {
		query.Set("step", form.Get("step"))
	}
	at := place{base: path + "/figures/", key: key, public: public, query: a.Lasting(query.Encode())}
	look := lessons.Look{Width: pointWidth, Height: pointHeight, Asking: true}
	f := e.Figures[0]
	picture, frames, _, err := a.picture(ctx, f, look, at, false, false, true)
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
