package door

import (
	"container/list"
	"context"
	"errors"
	"maps"
	"net/http"
	"runtime"
	"sync"
	"time"

	"marginlab/web"
)

// Line admits those who want an answer at once, as many at a time as there are
// places. Of each asker one is served and one waits, the newest, which takes over the
// place of an older one in the line. So as much is answered as without a line, and
// nobody's questions pile up.
//
// Everybody may have to wait for so many times as long as his own answers take: among
// those who ask for as much as each other, who came first is served first, and who asks
// for little passes those who ask for much. While somebody with quick answers is
// about, the others leave two places to such. Who is not known yet is taken for one like
// those who are about. It is safe for concurrent use.
type Line struct {
	places int

	mu      sync.Mutex
	serving map[string]time.Time // since when, by asker
	waiting *list.List           // of *waiter, who came first in front
	habits  map[string]habit     // by asker
}

// habit is how long the answers of an asker take: the quickest one of late, which says
// most of what is asked and least of what else went on.
type habit struct {
	each, before time.Duration // the quickest since began, and of the time before
	began, last  time.Time
}

func (h habit) least() time.Duration {
	if h.before > 0 {
		return min(h.each, h.before)
	}
	return h.each
}

// after is the habit after another answer.
func (h habit) after(took time.Duration, now time.Time) habit {
	took = max(took, 1) // 0 is what nobody knows
	if h.each == 0 || now.Sub(h.began) > about {
		return habit{took, h.each, now, now}
	}
	return habit{min(h.each, took), h.before, h.began, now}
}

const (
	worthWaiting = 20 // times as long as the answer takes
	quick        = 100 * time.Millisecond
	slower       = 2                // times as long as the quickest answers, and longer than quick, take those that are not
	about        = 10 * time.Second // is who was served that lately
	remembered   = 10 * time.Minute
)

type waiter struct {
	asker string
	since time.Time
	turn  chan bool // once: whether it is served; false: a newer one came
}

// NewLine returns a line with that many places.
func NewLine(places int) *Line {
	return &Line{places: places, serving: map[string]time.Time{}, waiting: list.New(), habits: map[string]habit{}}
}

// Places is how many live questions are answered at a time: one on each processor and one
// more, so that none of them idles while another is read or waits for the database.
func Places() int { return runtime.NumCPU() + 1 }

// errSuperseded is what Enter returns to one whose place a newer one has taken.
var errSuperseded = errors.New("a newer question of the same asker takes the place of this one")

// Enter waits for a place, which leave gives back. It returns errSuperseded when the
// same asker enters again meanwhile, and ctx.Err() when ctx ends first.
func (l *Line) Enter(ctx context.Context, asker string) (leave func(), err error) {
	w := &waiter{asker, time.Now(), make(chan bool, 1)}
	l.mu.Lock()
	at := l.waiting.PushBack(w)
	for e := l.waiting.Front(); e != at; e = e.Next() {
		if older := e.Value.(*waiter); older.asker == asker {
			l.waiting.MoveBefore(at, e)
			w.since = older.since
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
	now := time.Now()
	l.habits[asker] = l.habits[asker].after(now.Sub(l.serving[asker]), now)
	maps.DeleteFunc(l.habits, func(_ string, h habit) bool { return now.Sub(h.last) > remembered })
	delete(l.serving, asker)
	l.serve()
}

// serve gives free places to those whose turn it is. Callers hold l.mu.
func (l *Line) serve() {
	now := time.Now()
	expected, quickest := l.expected(now)
	slow := func(asker string) bool { return quickest > 0 && expected(asker) > max(quick, slower*quickest) }
	slowly := 0 // are served
	for asker := range l.serving {
		if slow(asker) {
			slowly++
		}
	}
	for len(l.serving) < l.places {
		var next *list.Element
		var first time.Time
		for e := l.waiting.Front(); e != nil; e = e.Next() {
			w := e.Value.(*waiter)
			if _, served := l.serving[w.asker]; served || slow(w.asker) && slowly >= max(1, l.places-2) {
				continue
			}
			if due := w.since.Add(worthWaiting * expected(w.asker)); next == nil || due.Before(first) {
				next, first = e, due
			}
		}
		if next == nil {
			return
		}
		w := l.waiting.Remove(next).(*waiter)
		if slow(w.asker) {
			slowly++
		}
		l.serving[w.asker] = now
		w.turn <- true
	}
}

// expected tells how long the answers of an asker take, and how long the quickest of those
// who are about, 0 if nobody is. Who is not known is taken for one like them. Callers hold l.mu.
func (l *Line) expected(now time.Time) (each func(asker string) time.Duration, quickest time.Duration) {
	var sum, n time.Duration
	for _, h := range l.habits {
		if now.Sub(h.last) > about {
			continue
		}
		if n == 0 || h.least() < quickest {
			quickest = h.least()
		}
		sum += h.least()
		n++
	}
	usual := sum / max(n, 1)
	return func(asker string) time.Duration {
		if h, known := l.habits[asker]; known {
			return h.least()
		}
		return usual
	}, quickest
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
