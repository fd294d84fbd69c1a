package pictures

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"time"

	"marginlab/handlers/limiter"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/store"
	"marginlab/views/figure"
	"marginlab/web"
	"marginlab/web/cache"
)

// Print is a rendered picture with the information that pages need about it.
type Print struct {
	Frame   figure.Frame
	Toggles []figure.Toggle
	Caption string
	Parts   []figure.Part // if the sheet requests them
	Content *web.Content
}

// printBytes bounds the memory of cached pictures: some hundreds, a few for each screen of every
// lesson.
const printBytes = 64 << 20

// Renderer draws pictures and caches recent ones.
type Renderer struct {
	turns    *limiter.Turns
	stored   func(ctx context.Context, hash string) (*dataset.Data, error)
	patience time.Duration               // time limit of a picture's computation
	build    func() string               // identifies the build, on which pictures depend
	prints   *cache.Recent[*Print]       // by format and key
	compared *cache.Recent[*ml.Compared] // by data and kernel: 720 kB each at most
}

// New returns a Renderer. stored returns the data with a hash; build is as in web.Program.
func New(turns *limiter.Turns, stored func(ctx context.Context, hash string) (*dataset.Data, error), patience time.Duration, build func() string) *Renderer {
	return &Renderer{
		turns: turns, stored: stored, patience: patience, build: build, compared: cache.New[*ml.Compared](64),
		prints: cache.NewWeighed(printBytes, func(p *Print) int { return p.Content.Size() + 1000 }),
	}
}

// ProgramName identifies the running build, on which drawings and exports depend.
func (a *Renderer) ProgramName() string { return a.build() }

// Sheet identifies a picture.
type Sheet struct {
	// Key identifies everything the picture depends on, except the program itself; empty:
	// unknown, so the picture is drawn on every request.
	Key string
	// Public pictures are the same for everyone and contain nothing private.
	Public bool
	Format string // "svg", "png" or "pdf"
	Parts  bool   // include the parts that pages can point out
	Draw   func(context.Context) (*figure.Picture, error)
}

// Print returns the picture of a sheet, drawn once for all requests.
func (a *Renderer) Print(ctx context.Context, s Sheet) (*Print, error) {
	if s.Key == "" {
		return draw(ctx, s)
	}
	return a.prints.Get(ctx, fmt.Sprint(s.Format, s.Parts, " ", s.Key), func(ctx context.Context) (*Print, error) { return draw(ctx, s) })
}

func draw(ctx context.Context, s Sheet) (*Print, error) {
	pic, err := s.Draw(ctx)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	kind, write := "image/svg+xml", pic.SVG
	switch s.Format {
	case "png":
		kind, write, pic.Scale = "image/png", pic.PNG, pngScale
	case "pdf":
		kind, write = "application/pdf", pic.PDF
	}
	if err := write(ctx, &b); err != nil {
		return nil, err
	}
	print := &Print{Frame: pic.Frame, Toggles: pic.Toggles, Caption: pic.Caption, Content: web.NewContent(kind, bytes.Clone(b.Bytes()))}
	if s.Parts {
		print.Parts = pic.Parts()
	}
	return print, nil
}

// SendPrint sends the picture of a sheet, unless the browser has it. Public pictures at a URL made
// by Lasting may be cached forever.
func (a *Renderer) SendPrint(w http.ResponseWriter, r *http.Request, s Sheet) error {
	w.Header().Set("Cache-Control", "private, no-cache")
	if s.Public {
		web.MayBeShared(w, r.FormValue(version) == a.build())
	}
	if s.Key != "" && web.Unchanged(w, r, web.TagOf([]byte(a.build()), []byte(s.Format), []byte(s.Key))) {
		return nil
	}
	p, err := a.Print(r.Context(), s)
	if err != nil {
		return err
	}
	return p.Content.Send(w, r)
}

// version is the query field that identifies the program that draws a picture.
const version = "v"

// Lasting adds the build to the query of a public picture, so that it can be cached
// forever.
func (a *Renderer) Lasting(query string) string {
	if query != "" {
		query += "&"
	}
	return query + version + "=" + a.build()
}

// Size of the figures of a report.
const reportWidth, reportHeight = 520, 390

// ReportFigure draws a figure in every format that a report stores.
func ReportFigure(ctx context.Context, draw func(Options) (*figure.Picture, error)) (f store.ReportFigure, err error) {
	for _, form := range []struct {
		to            *[]byte
		width, height int
		dark, pdf     bool
	}{
		{&f.Narrow, phoneWidth, phoneHeight, false, false},
		{&f.NarrowDark, phoneWidth, phoneHeight, true, false},
		{&f.SVG, reportWidth, reportHeight, false, false},
		{&f.Dark, reportWidth, reportHeight, true, false},
		{&f.PDF, reportWidth, reportHeight, false, true},
	} {
		pic, err := draw(Options{Format: figure.Format{Width: form.width, Height: form.height, Dark: form.dark}, Cores: true})
		if err != nil {
			return f, err
		}
		var b bytes.Buffer
		write := lists.Either(form.pdf, pic.PDF, pic.SVG)
		if err := write(ctx, &b); err != nil {
			return f, err
		}
		if *form.to, f.Caption = b.Bytes(), pic.Caption; form.width == phoneWidth {
			f.NarrowWidth, f.NarrowHeight = pic.Width, pic.Height
		} else {
			f.Width, f.Height = pic.Width, pic.Height
		}
	}
	return f, nil
}
