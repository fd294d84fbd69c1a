package door

import (
	"container/list"
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"

	"marginlab/web"
)

// Line admits those who want an answer at once, as many at a time as there are
// places, first come first served. Of each asker one is served and one waits, the
// newest, which takes over the place of an older one in the line. So as much is
// answered as without a line, but nobody waits longer than others, and nobody's
// questions pile up. It is safe for concurrent use.
type Line struct {
	mu      sync.Mutex
	free    int             // places
	serving map[string]bool // askers
	waiting *list.List      // of *waiter, who came first in front
}

type waiter struct {
	asker string
	turn  chan bool // once: whether it is served; false: a newer one came
}

// NewLine returns a line with that many places.
func NewLine(places int) *Line {
	return &Line{free: places, serving: map[string]bool{}, waiting: list.New()}
}

// Places is how many live questions are answered at a time: one on each processor and one
// more, so that none of them idles while another is read or waits for the database.
func Places() int { return runtime.GOMAXPROCS(0) + 1 }

// errSuperseded is what Enter returns to one whose place a newer one has taken.
var errSuperseded = errors.New("a newer question of the same asker takes the place of this one")

// Enter waits for a place, which leave gives back. It returns errSuperseded when the
// same asker enters again meanwhile, and ctx.Err() when ctx ends first.
func (l *Line) Enter(ctx context.Context, asker string) (leave func(), err error) {
	w := &waiter{asker, make(chan bool, 1)}
	l.mu.Lock()
	at := l.waiting.PushBack(w)
	for e := l.waiting.Front(); e != at; e = e.Next() {
		if older := e.Value.(*waiter); older.asker == asker {
			l.waiting.MoveBefore(at, e)
			l.waiting.Remove(e)
			older.turn <- false
			break
		}
	}
	l.serve()
	l.mu.Unlock()

	select {
	case served := <-w.turn:
		if !served {
			return nil, errSuperseded
		}
		return func() { l.leave(asker) }, nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting.Remove(at) // if it is still there
	select {
	case served := <-w.turn: // just as ctx ended
		if served {
			l.vacate(asker)
		}
	default:
	}
	return nil, ctx.Err()
}

// leave gives a place back.
func (l *Line) leave(asker string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vacate(asker)
}

// vacate gives a place to the next. Callers hold l.mu.
func (l *Line) vacate(asker string) {
	delete(l.serving, asker)
	l.free++
	l.serve()
}

// serve gives free places to those who have waited longest. Callers hold l.mu.
func (l *Line) serve() {
	for e := l.waiting.Front(); e != nil && l.free > 0; {
		w, at := e.Value.(*waiter), e
		e = e.Next()
		if l.serving[w.asker] {
			continue
		}
		l.waiting.Remove(at)
		l.serving[w.asker] = true
		l.free--
		w.turn <- true
	}
}

// Live answers a question that a page's script asks while somebody moves something:
// with JSON of what reply returns, which is called in turn. A workspace has one turn
// at a time at each address; where a newer question has come, the older one is
// answered without content.
func (a *House) Live(w http.ResponseWriter, r *http.Request, reply func() (map[string]any, error)) error {
	if err := web.ParseForm(w, r, FormBytes); err != nil { // before, because it may come slowly
		return err
	}
	v, err := a.inTurn(r, reply)
	if errors.Is(err, errSuperseded) {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	return web.JSON(w, http.StatusOK, v) // afterwards, because it may be read slowly
}

func (a *House) inTurn(r *http.Request, reply func() (map[string]any, error)) (map[string]any, error) {
	leave, err := a.Line.Enter(r.Context(), web.Token(r.Context())+r.URL.Path)
	if err != nil {
		return nil, err
	}
	defer leave()
	return reply()
}
