package web

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/httprate"
)

// How many bodies of requests may be on their way at a time: from one workspace, from all
// behind one address, which can be a lecture hall, and altogether. A body is on its way from
// its first byte that is read to its last, so that quick ones, however many, take up no place for long.
const (
	bodiesOfWorkspace = 20
	bodiesOfAddress   = 500
	bodiesOfAll       = 2000

	// steady is how long a body keeps its place from others.
	steady = 10 * time.Second
)

// errCrowded: there is no place for another body; errGaveWay: there was one no longer.
var (
	errCrowded = Errorf(Busy, "Too many files are on their way to the server from your browser or from your network. Nothing was saved; try again in ten seconds.")
	errGaveWay = Errorf(Busy, "What you sent came slowly, and many others were sending at the same time: it had to give way to them. Nothing was saved; try again in a minute, over a faster connection or with a smaller file.")
)

// bodies are those that are on their way, the oldest first. Where there are too many, the
// oldest gives way, once it has had its time: who sends slowly cannot keep others from it.
type bodies struct {
	mu   sync.Mutex
	open []*body
	now  func() time.Time
}

// body is the body of a request with a place among the others.
type body struct {
	io.ReadCloser
	all     *bodies
	of      [3]string // workspace, address, everybody
	header  http.Header
	cut     func()    // makes a read that waits come back
	began   time.Time // zero: it has not
	gaveWay bool      // guarded by all.mu
}

// limitBodies gives bodies their places.
func (s *Site) limitBodies(next http.Handler) http.Handler {
	all := &bodies{now: time.Now}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		address, err := httprate.KeyByIP(r)
		if err != nil {
			s.Error(w, r, err)
			return
		}
		workspace, err := workspaceOrAddress(r)
		if err != nil {
			s.Error(w, r, err)
			return
		}
		b := &body{
			ReadCloser: r.Body, all: all, of: [3]string{workspace, address}, header: w.Header(),
			cut: func() { _ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) }, // not in every test
		}
		defer b.leave()
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

// Read reads on, in a place that it takes first.
func (b *body) Read(p []byte) (int, error) {
	if b.began.IsZero() && !b.all.enter(b) {
		b.header.Set("Retry-After", "10")
		return 0, errCrowded
	}
	n, err := b.ReadCloser.Read(p)
	if !b.stay(err == nil) {
		b.header.Set("Retry-After", "60")
		return 0, errGaveWay
	}
	return n, err
}

// stay keeps the place, or gives it up at the end, and tells whether it was its own until now.
func (b *body) stay(more bool) bool {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	if !more {
		b.all.remove(b)
	}
	return !b.gaveWay
}

// leave gives the place up.
func (b *body) leave() { b.stay(false) }

// enter finds a place.
func (all *bodies) enter(b *body) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := all.now()
	var give []*body
	for k, most := range [...]int{bodiesOfWorkspace, bodiesOfAddress, bodiesOfAll} {
		alike := func(o *body) bool { return o.of[k] == b.of[k] && !slices.Contains(give, o) }
		n := 0
		for _, o := range all.open {
			if alike(o) {
				n++
			}
		}
		if n < most {
			continue
		}
		oldest := all.open[slices.IndexFunc(all.open, alike)]
		if now.Sub(oldest.began) < steady {
			return false
		}
		give = append(give, oldest)
	}
	for _, o := range give {
		o.gaveWay = true
		o.cut()
		all.remove(o)
	}
	b.began = now
	all.open = append(all.open, b)
	return true
}

func (all *bodies) remove(b *body) {
	all.open = slices.DeleteFunc(all.open, func(o *body) bool { return o == b })
}

// crowded tells that a body had no place, also where a reader has wrapped its error.
func crowded(err error) bool { return errors.Is(err, errCrowded) || errors.Is(err, errGaveWay) }
