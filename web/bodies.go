package web

import (
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// How many bodies of requests may be on their way at a time: from one workspace, from all
// behind one address, which can be a lecture hall, and altogether. A body is on its way from
// its first byte that is read to its last, so that quick ones, however many, take up no place for long.
const (
	bodiesOfWorkspace = 20
	bodiesOfAddress   = 500
	bodiesOfAll       = 2000

	// steady is how long a body keeps its place from one of a workspace of its age, and
	// steadyToYounger from one of a younger workspace.
	steady          = 10 * time.Second
	steadyToYounger = time.Minute

	// A body may pause for a grace. Beyond one from its beginning, it needs so many bytes for
	// each second.
	grace   = 15 * time.Second
	slowest = 16 << 10
)

// Why a body is not read on: there is no place for it, there is one no longer, or it came too slowly.
var (
	errCrowded = Later(10*time.Second, Errorf(Busy, "Too many files are on their way to the server from your browser or from your network. Nothing was saved; try again in ten seconds."))
	errGaveWay = Later(time.Minute, Errorf(Busy, "What you sent came slowly, and many others were sending at the same time: it had to give way to them. Nothing was saved; try again in a minute, over a faster connection or with a smaller file."))
	errTooSlow = Errorf(TooSlow, "What was sent paused for %.0f seconds or came at less than %s a second. Nothing was saved. Try again over a faster connection, or with a smaller file.", grace.Seconds(), size(slowest))
)

// bodies are those that are on their way, the oldest first. Where there are too many, one of
// the youngest workspace gives way to one of an older workspace, otherwise the oldest, once it
// has had its time. So neither slow senders nor made-up workspaces can keep out those who have
// worked here before.
type bodies struct {
	mu   sync.Mutex
	open []*body
}

// body is the body of a request with a place among the others.
type body struct {
	io.ReadCloser
	all   *bodies
	conn  *http.ResponseController // fails in some tests, where nothing is slow
	of    [3]string                // workspace, address, everybody
	since func() time.Time         // when the workspace began; zero: it holds nothing

	known   time.Time // what since returned
	began   time.Time // zero: it has not
	got     int64     // bytes
	gaveWay bool      // guarded by all.mu
}

// limitBodies gives bodies their places.
func (s *Site) limitBodies(next http.Handler) http.Handler {
	all := &bodies{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		token, address := sentToken(r), Address(r.Context())
		b := &body{
			ReadCloser: r.Body, all: all, conn: http.NewResponseController(w), of: [3]string{cmp.Or(token, address), address},
			since: func() time.Time {
				if s.Since == nil || token == "" {
					return time.Time{}
				}
				return s.Since(r.Context(), token)
			},
		}
		defer b.leave()
		r.Body = b
		next.ServeHTTP(w, r)
	})
}

// Read reads on, in a place that it takes first.
func (b *body) Read(p []byte) (int, error) {
	if b.began.IsZero() {
		b.known = b.since()
		if !b.all.enter(b) {
			return 0, errCrowded
		}
	}
	if !b.wait() {
		return 0, errGaveWay
	}
	n, err := b.ReadCloser.Read(p)
	b.got += int64(n)
	own := b.stay(err == nil)
	var broken net.Error
	switch {
	case !own:
		return n, errGaveWay
	case errors.As(err, &broken) && broken.Timeout():
		return n, errTooSlow
	}
	return n, err
}

// wait sets until when more of the body has to come, unless it gave way.
func (b *body) wait() bool {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	if b.gaveWay {
		return false
	}
	until, pause := b.began.Add(grace+time.Duration(b.got/slowest)*time.Second), time.Now().Add(grace)
	if pause.Before(until) {
		until = pause
	}
	_ = b.conn.SetReadDeadline(until)
	return true
}

// stay keeps the place, or gives it up at the end, and tells whether it was its own until now.
func (b *body) stay(more bool) bool {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	if !more && b.all.remove(b) {
		_ = b.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // the answer has its time from here
	}
	return !b.gaveWay
}

// leave gives the place up.
func (b *body) leave() { b.stay(false) }

// enter finds a place.
func (all *bodies) enter(b *body) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := time.Now()
	var give []*body
	for k, most := range [...]int{bodiesOfWorkspace, bodiesOfAddress, bodiesOfAll} {
		n := 0
		var oldest *body // of those that had their time
		newcomer := b    // of the youngest workspace
		for _, o := range all.open {
			if o.of[k] != b.of[k] || slices.Contains(give, o) {
				continue
			}
			n++
			if newcomer.older(o) {
				newcomer = o
			}
			keeps := steady
			if o.older(b) {
				keeps = steadyToYounger
			}
			if oldest == nil && now.Sub(o.began) >= keeps {
				oldest = o
			}
		}
		switch {
		case n < most:
		case newcomer != b:
			give = append(give, newcomer)
		case oldest != nil:
			give = append(give, oldest)
		default:
			return false
		}
	}
	b.began = now
	for _, o := range give {
		o.gaveWay = true
		_ = o.conn.SetReadDeadline(time.Unix(1, 0)) // a read that waits comes back
		all.remove(o)
		_ = o.conn.SetWriteDeadline(now.Add(writeTimeout))
	}
	all.open = append(all.open, b)
	return true
}

// older reports whether the workspace of a body is older than that of another.
func (b *body) older(o *body) bool {
	return !b.known.IsZero() && (o.known.IsZero() || b.known.Before(o.known))
}

// remove frees the place of a body, and reports whether it had one.
func (all *bodies) remove(b *body) bool {
	n := len(all.open)
	all.open = slices.DeleteFunc(all.open, func(o *body) bool { return o == b })
	return len(all.open) < n
}

// cutOff reports whether a body was not read to its end, also where a reader has wrapped its error.
func cutOff(err error) bool {
	return errors.Is(err, errCrowded) || errors.Is(err, errGaveWay) || errors.Is(err, errTooSlow)
}
