package door

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"marginlab/views/figure"
	"marginlab/web"
)

// Print is a picture as it is sent, with what a page says of it.
type Print struct {
	Frame   figure.Frame
	Toggles []figure.Toggle
	Caption string
	Parts   []figure.Part // where its sheet asks for them
	Content *web.Content
}

// printBytes bounds the memory of the pictures that were drawn last: some hundreds, a
// few for each screen of every lesson.
const printBytes = 64 << 20

func newPrints() *Recent[*Print] {
	return NewWeighed(printBytes, func(p *Print) int { return p.Content.Size() + 1000 })
}

// Sheet says which picture is meant.
type Sheet struct {
	// Key stands for everything that the picture depends on, but for the program
	// itself; empty: that is not known, and the picture is drawn whenever it is asked for.
	Key string
	// Public pictures are the same for everybody who has their address, which holds
	// nothing that is anybody's own.
	Public bool
	Format string // "svg", "png" or "pdf"
	Parts  bool   // pages point out its parts
	Draw   func(context.Context) (*figure.Picture, error)
}

// Print is the picture of a sheet, drawn once for all who ask for it.
func (a *Base) Print(ctx context.Context, s Sheet) (*Print, error) {
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
	if err := write(&b); err != nil {
		return nil, err
	}
	print := &Print{Frame: pic.Frame, Toggles: pic.Toggles, Caption: pic.Caption, Content: web.NewContent(kind, bytes.Clone(b.Bytes()))}
	if s.Parts {
		print.Parts = pic.Parts()
	}
	return print, nil
}

// SendPrint sends the picture of a sheet, unless the browser has it. What is public may be
// kept for good at the address that Lasting made.
func (a *Base) SendPrint(w http.ResponseWriter, r *http.Request, s Sheet) error {
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

// version is the field of a picture's address that names the program which draws it.
const version = "v"

// Lasting adds to the query of a public picture what makes its address one of this
// program alone, so that it can be kept for good.
func (a *Base) Lasting(query string) string {
	if query != "" {
		query += "&"
	}
	return query + version + "=" + a.build()
}
