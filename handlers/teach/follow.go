package teach

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"marginlab/handlers/frame"
	"marginlab/handlers/pictures"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/views/lessons"
	"marginlab/views/lessons/all"
	"marginlab/web"
)

const (
	// presentedFor is how long students follow a slide after the teacher last sent it.
	presentedFor = 3 * time.Hour
	// longestState bounds the state of a slide's controls in bytes.
	longestState = 4 << 10
	// pointEvery is the shortest interval between two forwarded positions of the pointer.
	pointEvery = 40 * time.Millisecond
)

// presented describes what a course is being shown.
type presented struct {
	lessons.Place
	Pointer  [2]float64 // shares of the axes' width and height, from the top left
	Pointing bool       // the pointer is visible
	Version  int64      // grows with every change, even across restarts of the server
	at       time.Time
	pointed  time.Time // time of the last forwarded pointer position
}

// stage holds what each course is being shown, in memory only: after a restart, it asks a teacher's
// slides for it. It is safe for concurrent use.
type stage struct {
	now func() time.Time

	mu      sync.Mutex
	courses map[string]presented // by code
	changes feed[presented]
	keys    feed[string]
}

// show updates what a course is shown.
func (s *stage) show(code string, change func(*lessons.Place)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.forget()
	p := s.courses[code]
	before := p.Place
	change(&p.Place)
	p.at = now
	if p.Place != before {
		p.Pointing = false
		p.Version = max(p.Version+1, now.UnixMicro())
	}
	s.courses[code] = p
	if p.Place != before {
		s.changes.send(code, p)
	}
}

// point moves or hides the pointer on the picture that a course is shown.
func (s *stage) point(code string, at [2]float64, on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, shown := s.courses[code]
	if !shown || p.Lesson == "" {
		return
	}
	if on {
		now := s.now()
		if now.Sub(p.pointed) < pointEvery {
			return
		}
		p.pointed = now
	}
	p.Pointer, p.Pointing = at, on
	s.courses[code] = p
	s.changes.send(code, p)
	key := pointKey
	if on {
		key += fmt.Sprintf("%.3f,%.3f", at[0], at[1])
	}
	s.keys.send(code, key)
}

const (
	// pointKey is the prefix of pointer events among the key events sent to slides.
	pointKey = "point:"
	// presentKey asks slides to send their state again.
	presentKey = "present"
)

// Point moves or hides the pointer, from the teacher's remote.
func (a *Handler) Point(w http.ResponseWriter, r *http.Request, g Course) error {
	var at [2]float64
	on := r.PostFormValue("x") != ""
	for i, name := range []string{"x", "y"} {
		v, err := strconv.ParseFloat(r.PostFormValue(name), 64)
		if on && (err != nil || !(v >= 0 && v <= 1)) {
			return param.Problems{{Field: name, Message: "Give x and y from 0 to 1, or neither."}}
		}
		at[i] = v
	}
	a.stage.point(g.Code, at, on)
	return web.NoContent(w, r)
}

// forget drops entries not sent for presentedFor and returns the current time.
func (s *stage) forget() time.Time {
	now := s.now()
	for code, p := range s.courses {
		if now.Sub(p.at) > presentedFor {
			delete(s.courses, code)
		}
	}
	return now
}

// HideNames hides or shows student names on the teacher's pages: a form sets it, a key toggles it.
func (a *Handler) HideNames(w http.ResponseWriter, r *http.Request, g Course) error {
	hidden := !g.Nameless
	if asked := r.PostFormValue("hidden"); asked != "" {
		hidden = asked == "1"
	}
	if err := a.Store.HideNames(r.Context(), g.Code, hidden); err != nil {
		return err
	}
	switch r.PostFormValue("from") {
	case "answers":
		return frame.Redirect(w, r, g.base+"/answers?"+url.Values{"lesson": {r.PostFormValue("lesson")}}.Encode())
	case "gallery":
		return frame.Redirect(w, r, g.base+"#gallery")
	}
	return web.JSON(w, http.StatusOK, map[string]bool{"hidden": hidden})
}

// shown returns what a course is being shown; Version is 0 if nothing.
func (s *stage) shown(code string) presented {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current(code)
}

// current is shown for callers that hold the lock.
func (s *stage) current(code string) presented {
	p := s.courses[code]
	if s.now().Sub(p.at) > presentedFor || p.Lesson == "" {
		return presented{}
	}
	return p
}

// watch returns a channel with what a course is shown, now and after changes, until ctx ends. The
// newest supersedes earlier ones.
func (s *stage) watch(ctx context.Context, code string) <-chan presented {
	s.mu.Lock() // so that no change is missed
	defer s.mu.Unlock()
	return s.changes.listen(ctx, code, 1, s.current(code))
}

// Present receives the state of the teacher's slides for followers.
func (a *Handler) Present(w http.ResponseWriter, r *http.Request, g Course) error {
	form := r.PostForm
	if form.Has("free") {
		free := form.Get("free") == "1"
		if err := a.Store.FreeControls(r.Context(), g.Code, free); err != nil {
			return err
		}
		a.stage.show(g.Code, func(p *lessons.Place) { p.Free = free })
		return web.NoContent(w, r)
	}
	slug, screen, _ := strings.Cut(strings.TrimPrefix(form.Get("path"), "/lessons/"), "/")
	l := all.Find(slug)
	if l == nil {
		return param.Problems{{Field: "path", Message: "There is no such lesson."}}
	}
	if s, _ := l.Screen(screen); s == nil {
		return param.Problems{{Field: "path", Message: fmt.Sprintf("The lesson %q has no such screen.", l.Title)}}
	}
	state := form.Get("query")
	q, err := url.ParseQuery(state)
	if err != nil || len(state) > longestState {
		return param.Problems{{Field: "query", Message: "The state of the slide must be a query string of at most 4 kB."}}
	}
	for _, own := range []string{"run", "slide", "asking", "everything"} {
		q.Del(own)
	}
	a.stage.show(g.Code, func(p *lessons.Place) {
		p.Lesson, p.Screen, p.Query, p.Part, p.Open = slug, screen, q.Encode(), form.Get("part"), form.Get("open") == "1"
		p.Free = g.Free
	})
	return web.NoContent(w, r)
}

// Follow shows a student the teacher's slide; with part=1 only the changing part.
func (a *Handler) Follow(w http.ResponseWriter, r *http.Request, c store.Course) error {
	part, err := a.followPart(r, c.Code)
	if err != nil {
		return err
	}
	if r.FormValue("part") == "1" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, err := w.Write(part)
		return err
	}
	p := lessons.FollowPage{Page: a.Frame(c.Title, ""), Code: c.Code, Entrance: frame.Entrance(c), Part: string(part)}
	if p.InCourse, err = a.InCourse(r.Context(), c); err != nil {
		return err
	}
	return a.Render(w, r, lessons.Follow(p))
}

// followPart returns the changing part of the page, rendered once for all followers.
func (a *Handler) followPart(r *http.Request, code string) ([]byte, error) {
	at := a.stage.shown(code)
	return a.followed.Get(r.Context(), fmt.Sprint(code, at.Version), func(ctx context.Context) ([]byte, error) {
		v := lessons.FollowView{Version: at.Version, Place: at.Place}
		if at.Version > 0 {
			var err error
			if v.Lesson, v.Screen, err = a.Lessons.Following(r.WithContext(ctx), code, at.Place); err != nil {
				return nil, err
			}
		}
		var b bytes.Buffer
		err := lessons.FollowPart(v).Render(ctx, &b)
		return b.Bytes(), err
	})
}

// FollowEvents streams the teacher's position as "place" events.
func (a *Handler) FollowEvents(w http.ResponseWriter, r *http.Request, c store.Course) error {
	return web.Stream(w, r, a.stage.watch(r.Context(), c.Code), func(p presented) (string, any) { return "place", placeOf(p) })
}

// place is the JSON form of a slide's place.
type place struct {
	Version int64  `json:"version"` // 0: nothing is shown
	Slide   string `json:"slide,omitempty"`
	Part    string `json:"part,omitempty"`
	Step    string `json:"step,omitempty"`
	Free    bool   `json:"free,omitempty"`

	Point *[2]float64 `json:"point,omitempty"` // the teacher's pointer, as shares of the axes
}

func placeOf(p presented) place {
	if p.Version == 0 {
		return place{}
	}
	q, _ := url.ParseQuery(p.Query)
	m := place{Version: p.Version, Slide: p.Path(), Part: p.Part, Step: q.Get("step"), Free: p.Free}
	if p.Pointing {
		m.Point = &p.Pointer
	}
	return m
}

// Remote shows a teacher's phone the notes of the current slide, with buttons to move it.
func (a *Handler) Remote(w http.ResponseWriter, r *http.Request, g Course) error {
	at := a.stage.shown(g.Code)
	remote := &lessons.RemoteView{Base: g.base, Follow: "/course/" + g.Code + "/follow", Title: g.Title, Free: g.Free, Own: ownRows(g.Course), Link: a.Links.Origin(r) + "/teach/" + g.Token + "/remote"}
	var err error
	if remote.QR, err = pictures.QR(r.Context(), remote.Link); err != nil {
		return err
	}
	if at.Version == 0 {
		return a.Render(w, r, lessons.RemoteWaits(lessons.RemotePage{Page: a.Frame("Remote: "+g.Title, "courses"), Remote: *remote}))
	}
	p, err := a.Lessons.NotesOf(r, at.Place)
	if err != nil {
		return err
	}
	p.Remote = remote
	return a.Render(w, r, lessons.Notes(p))
}

// Press sends a key from the teacher's remote to the slides.
func (a *Handler) Press(w http.ResponseWriter, r *http.Request, g Course) error {
	key := r.PostFormValue("key")
	if key == "" || len(key) > 16 {
		return param.Problems{{Field: "key", Message: "Give the name of a key of at most 16 letters."}}
	}
	a.stage.keys.send(g.Code, key)
	return web.NoContent(w, r)
}

// RemoteEvents streams the remote's keys to the slides as "key" events. The first asks slides that
// the server has forgotten for their state.
func (a *Handler) RemoteEvents(w http.ResponseWriter, r *http.Request, g Course) error {
	var first []string
	if a.stage.shown(g.Code).Version == 0 {
		first = []string{presentKey}
	}
	return web.Stream(w, r, a.stage.keys.listen(r.Context(), g.Code, 16, first...), func(key string) (string, any) { return "key", key })
}
