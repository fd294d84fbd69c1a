package door

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
)

// asked is one who stands in a line.
type asked struct {
	leave func()
	err   error
}

// enter stands in a line until the answer comes, and returns once it stands there.
func enter(ctx context.Context, l *Line, asker string) <-chan asked {
	got := make(chan asked, 1)
	go func() {
		leave, err := l.Enter(ctx, asker)
		got <- asked{leave, err}
	}()
	synctest.Wait()
	return got
}

// settled tells who of them has got a place or was sent away by now.
func settled(askers ...<-chan asked) (now []int) {
	synctest.Wait()
	for i, a := range askers {
		if len(a) > 0 {
			now = append(now, i)
		}
	}
	return now
}

// Places are given in the order of coming.
func TestLineServesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLine(2)
		var askers []<-chan asked
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			askers = append(askers, enter(t.Context(), l, name))
		}
		for next := range 4 {
			want := []int{next, next + 1}
			if got := settled(askers...); !slices.Equal(got, want) {
				t.Fatalf("places are held by %v, want %v", got, want)
			}
			a := <-askers[next]
			if a.err != nil {
				t.Fatal(a.err)
			}
			a.leave()
		}
		(<-askers[4]).leave()
		for _, name := range []string{"f", "g"} { // both places are free again
			if a := <-enter(t.Context(), l, name); a.err != nil {
				t.Error(a.err)
			}
		}
	})
}

// One asker is served once at a time, though there are places, and holds nobody else up;
// of those of the same asker who wait the newest stays.
func TestLineHasOneOfEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLine(2)
		first := <-enter(t.Context(), l, "a")
		older := enter(t.Context(), l, "a")
		if got := settled(older); got != nil {
			t.Fatal("a second one of the same asker is served")
		}
		newer := enter(t.Context(), l, "a")
		if got := settled(older, newer); !slices.Equal(got, []int{0}) {
			t.Fatalf("settled: %v, want the older one alone", got)
		}
		if a := <-older; !errors.Is(a.err, errSuperseded) {
			t.Errorf("the older one got %v", a.err)
		}
		other := enter(t.Context(), l, "b")
		if got := settled(newer, other); !slices.Equal(got, []int{1}) {
			t.Errorf("settled: %v, want the other asker alone", got)
		}
		behind := enter(t.Context(), l, "c")
		newest := enter(t.Context(), l, "a")
		if a := <-newer; !errors.Is(a.err, errSuperseded) {
			t.Errorf("the newer one got %v after a newest", a.err)
		}
		first.leave()
		if got := settled(behind, newest); !slices.Equal(got, []int{1}) {
			t.Errorf("settled: %v, want the newest in the place of the older ones", got)
		}
	})
}

// Who leaves is not waited for, and takes no place with him.
func TestLineForgetsWhoLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := NewLine(1)
		first := <-enter(t.Context(), l, "a")
		ctx, cancel := context.WithCancel(t.Context())
		gone, last := enter(ctx, l, "b"), enter(t.Context(), l, "c")
		cancel()
		if a := <-gone; !errors.Is(a.err, context.Canceled) {
			t.Errorf("who left got %v", a.err)
		}
		first.leave()
		if a := <-last; a.err != nil {
			t.Errorf("the last one got %v", a.err)
		} else {
			a.leave()
		}

		// Also where the place comes in the moment of leaving.
		for range 100 {
			first := <-enter(t.Context(), l, "a")
			ctx, cancel := context.WithCancel(t.Context())
			second := enter(ctx, l, "b")
			go first.leave()
			go cancel()
			if a := <-second; a.err == nil {
				a.leave()
			}
		}
		if a := <-enter(t.Context(), l, "d"); a.err != nil {
			t.Errorf("afterwards: %v", a.err)
		}
	})
}

// A live question is answered in turn, a superseded one without content, and a turn ends
// with what goes wrong in it.
func TestLiveTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &House{Line: NewLine(1)}
		hold := <-enter(t.Context(), a.Line, "another")
		ask := func(reply func() (map[string]any, error)) <-chan *httptest.ResponseRecorder {
			got := make(chan *httptest.ResponseRecorder, 1)
			go func() {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/live", strings.NewReader("x=1"))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				w := httptest.NewRecorder()
				defer func() {
					if recover() != nil {
						w = nil
					}
					got <- w
				}()
				if err := a.Live(w, r, reply); err != nil {
					w.Code = http.StatusTeapot
				}
			}()
			synctest.Wait()
			return got
		}
		reply := func() (map[string]any, error) { return map[string]any{"x": 1}, nil }
		older, newer := ask(reply), ask(reply)
		if w := <-older; w.Code != http.StatusNoContent || w.Body.Len() != 0 {
			t.Errorf("the older one got %d %s", w.Code, w.Body)
		}
		hold.leave()
		if w := <-newer; w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != `{"x":1}` {
			t.Errorf("the newer one got %d %s", w.Code, w.Body)
		}
		<-ask(func() (map[string]any, error) { return nil, errors.New("a fault") })
		<-ask(func() (map[string]any, error) { panic("a panic") })
		if w := <-ask(reply); w.Code != http.StatusOK {
			t.Errorf("after faults: %d", w.Code)
		}
	})
}
