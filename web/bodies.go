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

	"marginlab/ml/param"
)

// Limits of request bodies read at the same time: per workspace, per network address (which can
// be a whole lecture hall) and in total. A body counts from its first byte read to its last, so
// quick ones hold a place only briefly.
const (
	bodiesOfWorkspace = 20
	bodiesOfAddress   = 500
	bodiesOfAll       = 2000

	// steady is how long a body is safe from being displaced by one of an equally old workspace,
	// and steadyToYounger by one of a younger workspace. A body of the youngest workspace is never
	// safe from an older workspace.
	steady          = 10 * time.Second
	steadyToYounger = time.Minute

	// A body may pause for grace. After the first grace it must also keep up this many bytes
	// per second on average.
	grace   = 15 * time.Second
	slowest = 16 << 10

	// lingering is how long the rest of a refused body is read.
	lingering = 10 * time.Second
)

// Errors of reading a body: no place was free, its place was taken, or it was too slow.
var (
	errCrowded = Later(10*time.Second, Errorf(Busy, "Too many uploads are under way from your browser or your network. Nothing was saved; try again in ten seconds."))
	errGaveWay = Later(time.Minute, Errorf(Busy, "Your upload was slow and had to give way to many others. Nothing was saved; try again in a minute, over a faster connection or with a smaller file."))
	errTooSlow = Errorf(TooSlow, "The upload paused for %.0f seconds or was slower than %s a second. Nothing was saved. Try again over a faster connection, or with a smaller file.", grace.Seconds(), param.Bytes(slowest))
)

// bodies holds the request bodies being read, oldest first. When there are too many, a body of the
// youngest workspace gives way to one of an older workspace; otherwise the oldest gives way once
// its safe time is over. So neither slow senders nor newly made workspaces can lock out established
// ones.
type bodies struct {
	mu   sync.Mutex
	open []*body
}

// body is a request body with its place among the others.
type body struct {
	io.ReadCloser
	all   *bodies
	conn  *http.ResponseController // lacks deadlines in some tests
	of    [3]string                // workspace, address, everyone
	since func() time.Time         // when the workspace was created; zero if it is empty

	known   time.Time // result of since, once called
	began   time.Time // first read; zero: none yet
	got     int64     // bytes
	ended   bool
	gaveWay bool // guarded by all.mu
}

// limitBodies makes every request body wait for a place.
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

// Read reads from the body; the first call takes a place.
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
	b.ended = b.ended || err != nil
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

// wait sets the deadline of the next read, unless the body was displaced.
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

// discard sends the response and reads the rest of a refused body: most clients read the response
// only after sending everything, and lose it if the connection is closed earlier. A client that
// waits for 100 Continue sends nothing more.
func (b *body) discard(w http.ResponseWriter, r *http.Request) {
	b.leave()
	if b.ended || b.got == 0 && r.Header.Get("Expect") != "" {
		return
	}
	_ = http.NewResponseController(w).Flush()
	_ = b.conn.SetReadDeadline(time.Now().Add(lingering))
	_, _ = io.Copy(io.Discard, b.ReadCloser)
}

// stay keeps the place, or releases it at the end, and reports whether it was still held.
func (b *body) stay(more bool) bool {
	b.all.mu.Lock()
	defer b.all.mu.Unlock()
	if !more && b.all.remove(b) {
		_ = b.conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // the response gets its full time from here
	}
	return !b.gaveWay
}

// leave releases the place.
func (b *body) leave() { b.stay(false) }

// enter takes a place and reports whether one was free.
func (all *bodies) enter(b *body) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	now := time.Now()
	var give []*body
	for k, most := range [...]int{bodiesOfWorkspace, bodiesOfAddress, bodiesOfAll} {
		n := 0
		var oldest *body // among those past their safe time
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
		_ = o.conn.SetReadDeadline(time.Unix(1, 0)) // unblocks a pending read
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

// remove frees the place of a body and reports whether it held one.
func (all *bodies) remove(b *body) bool {
	n := len(all.open)
	all.open = slices.DeleteFunc(all.open, func(o *body) bool { return o == b })
	return len(all.open) < n
}

// cutOff reports whether err means that a body was cut off, even if a reader has wrapped it.
func cutOff(err error) bool {
	return errors.Is(err, errCrowded) || errors.Is(err, errGaveWay) || errors.Is(err, errTooSlow)
}
