package limiter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml/lists"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/pace"
)

// asked is the outcome of Enter.
type asked struct {
	leave func()
	busy  bool
	err   error
}

// enter calls Enter in the background and returns once the call waits or has returned.
func enter(ctx context.Context, l *Limiter, asker string) <-chan asked {
	got := make(chan asked, 1)
	go func() {
		turn, err := l.Enter(ctx, asker)
		got <- asked{turn.Leave, turn.Busy, err}
	}()
	synctest.Wait()
	return got
}

// settled returns the indexes of the askers that have been served or refused.
func settled(askers ...<-chan asked) (now []int) {
	synctest.Wait()
	for i, a := range askers {
		if len(a) > 0 {
			now = append(now, i)
		}
	}
	return now
}

// Places are given in order of arrival.
func TestLineServesInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(2)
		askers := lists.Map([]string{"a", "b", "c", "d", "e"}, func(name string) <-chan asked { return enter(t.Context(), l, name) })
		for next := range 4 {
			want := []int{next, next + 1}
			got := settled(askers...)
			require.Must(t, slices.Equal(got, want), "places are held by %v, want %v", got, want)
			a := <-askers[next]
			require.NoError(t, a.err)
			a.leave()
		}
		(<-askers[4]).leave()
		for _, name := range []string{"f", "g"} { // both places are free again
			a := <-enter(t.Context(), l, name)
			require.Check(t, a.err == nil, "%v", a.err)
		}
	})
}

// Each asker is served once at a time, even if places are free, and delays nobody else; of its
// waiting requests only the newest stays.
func TestLineHasOneOfEach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(2)
		first := <-enter(t.Context(), l, "a")
		older := enter(t.Context(), l, "a")
		require.Must(t, settled(older) == nil, "a second one of the same asker is served")
		newer := enter(t.Context(), l, "a")
		got := settled(older, newer)
		require.Must(t, slices.Equal(got, []int{0}), "settled: %v, want the older one alone", got)
		a := <-older
		require.Check(t, errors.Is(a.err, errSuperseded), "the older one got %v", a.err)
		require.Slices(t, settled(newer, enter(t.Context(), l, "b")), []int{1}, "settled")
		behind := enter(t.Context(), l, "c")
		newest := enter(t.Context(), l, "a")
		a = <-newer
		require.Check(t, errors.Is(a.err, errSuperseded), "the newer one got %v after a newest", a.err)
		first.leave()
		require.Slices(t, settled(behind, newest), []int{1}, "settled")
	})
}

// served enters n times in succession, each answer taking the given time.
func served(t *testing.T, l *Limiter, asker string, n int, took time.Duration) {
	t.Helper()
	for range n {
		turn := require.Value(l.Enter(t.Context(), asker))(t)
		time.Sleep(took)
		turn.Leave()
	}
}

// Askers with quick answers neither find all places taken by slow ones, nor wait for all slow ones
// that came before; but slow ones are served as well.
func TestLineQuickAnswersFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(4)
		leave := func(a <-chan asked) { (<-a).leave() }
		slow := []string{"s1", "s2", "s3", "s4"}
		for _, name := range slow {
			served(t, l, name, 2, time.Second)
		}
		served(t, l, "q1", 2, 20*time.Millisecond)
		served(t, l, "q2", 1, 20*time.Millisecond)
		askers := lists.Map(append(slow, "q1", "new"), func(name string) <-chan asked { return enter(t.Context(), l, name) })
		require.Slices(t, settled(askers...), []int{0, 1, 4}, "served: two who ask for much, and who asks for little")
		leave(askers[4])
		q1, q2 := enter(t.Context(), l, "q1"), enter(t.Context(), l, "q2")
		got := settled(q1, q2)
		require.Must(t, slices.Equal(got, []int{0, 1}), "served are %v of those who ask for little", got)
		leave(askers[0])
		require.Slices(t, settled(askers...), []int{1, 5}, "then who is not known, before who has to wait for much")
		leave(askers[1])
		leave(askers[5])
		got = settled(askers...)
		require.Must(t, slices.Equal(got, []int{2, 3}), "then %v, want the others", got)
		leave(askers[2])
		leave(askers[3])
		leave(q1)
		leave(q2)
	})
}

// A slow answer pauses while another asker's quick answer is computed, and Busy reports that more
// requests wait than are served.
func TestLineHolds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(3)
		served(t, l, "slow", 1, time.Second)
		served(t, l, "quick", 1, 20*time.Millisecond)
		much := require.Value(l.Enter(t.Context(), "slow"))(t)
		time.Sleep(time.Second)
		little := require.Value(l.Enter(t.Context(), "quick"))(t)
		looked := make(chan error, 1)
		go func() { looked <- pace.Look(much.Context) }()
		err := pace.Look(little.Context)
		require.Check(t, err == nil && len(settled()) <= 0 && len(looked) <= 0, "%v; the slow one goes on: %v", err, len(looked) > 0)
		little.Leave()
		require.Equal(t, <-looked, nil, "<-looked")
		much.Leave()

		l = New(1)
		now := <-enter(t.Context(), l, "a")
		busy := []bool{now.busy}
		for _, next := range []<-chan asked{enter(t.Context(), l, "b"), enter(t.Context(), l, "c"), enter(t.Context(), l, "d")} {
			now.leave()
			now = <-next
			busy = append(busy, now.busy)
		}
		now.leave()
		require.Slices(t, busy, []bool{false, true, false, false}, "of four, one after the other, more than one waits")
	})
}

// Nobody yields to askers who have left, and slow askers are served in the end.
func TestLineSlowAnswersAreServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(3)
		for _, name := range []string{"q1", "q2", "q3", "q4", "q5"} {
			served(t, l, name, 1, 50*time.Millisecond)
		}
		for _, name := range []string{"s1", "s2", "s3"} {
			served(t, l, name, 1, 200*time.Millisecond)
		}
		all := []<-chan asked{enter(t.Context(), l, "q1"), enter(t.Context(), l, "q2"), enter(t.Context(), l, "q3")}
		s1 := enter(t.Context(), l, "s1")
		time.Sleep(waitFactor * 200 * time.Millisecond)
		late := []<-chan asked{enter(t.Context(), l, "q4"), enter(t.Context(), l, "q5")}
		(<-all[0]).leave()
		require.Slices(t, settled(s1, late[0], late[1]), []int{0}, "served")
		(<-s1).leave()
		for _, a := range append(all[1:], late...) {
			(<-a).leave()
		}
		time.Sleep(activeFor + time.Second) // the quick askers have left
		two := []<-chan asked{enter(t.Context(), l, "s2"), enter(t.Context(), l, "s3")}
		got := settled(two...)
		require.Check(t, len(got) == 2, "only %v are served", got)
		for _, a := range two {
			(<-a).leave()
		}
	})
}

// A request that ends while waiting delays nobody and takes no place.
func TestLineForgetsWhoLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		first := <-enter(t.Context(), l, "a")
		ctx, cancel := context.WithCancel(t.Context())
		gone, last := enter(ctx, l, "b"), enter(t.Context(), l, "c")
		cancel()
		a := <-gone
		require.Check(t, errors.Is(a.err, context.Canceled), "who left got %v", a.err)
		first.leave()
		a = <-last
		require.Must(t, a.err == nil, "the last one got %v", a.err)
		a.leave()

		// The same holds if a place becomes free at that moment.
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
		a = <-enter(t.Context(), l, "d")
		require.Check(t, a.err == nil, "afterwards: %v", a.err)
	})
}

// However many new askers come, only the habits of the latest are kept.
func TestLineKnowsSoMany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(1)
		for i := range maxHabits + 100 {
			served(t, l, fmt.Sprint(i), 1, time.Millisecond)
		}
		_, last := l.habits[fmt.Sprint(maxHabits+99)]
		require.Check(t, len(l.habits) == maxHabits && last, "%d are known, the last one: %v", len(l.habits), last)
		_, first := l.habits["0"]
		require.Check(t, !first, "the first one is known")
	})
}

// No page request is superseded, and pages pause while a quick live answer is computed.
func TestPagesTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Turns{New(2), New(1)}
		computed := make(chan error, 3)
		for range 3 { // all from one workspace
			go func() {
				ctx, leave, err := a.PageTurn(t.Context())
				if err != nil {
					computed <- err
					return
				}
				defer leave()
				time.Sleep(time.Second)
				computed <- pace.Look(ctx)
			}()
		}
		time.Sleep(500 * time.Millisecond)
		live := <-enter(t.Context(), a.Answers, "somebody")
		time.Sleep(600 * time.Millisecond)
		require.Check(t, len(computed) == 0, "a page goes on while a live answer is made")
		live.leave()
		begin := time.Now()
		for range 3 {
			require.Equal(t, <-computed, nil, "<-computed")
		}
		require.Equal(t, time.Since(begin), 2*time.Second, "the other two take")
		ctx := mltest.Ended()
		hold := <-enter(t.Context(), a.Pages, "")
		_, _, err := a.PageTurn(ctx)
		require.Check(t, err == context.Canceled, "%v", err)
		hold.leave()
	})
}

// A live request is answered in turn, a superseded one without content, and an error or panic ends
// its turn.
func TestLiveTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Turns{Answers: New(1)}
		hold := <-enter(t.Context(), a.Answers, "another")
		ask := func(reply func(*http.Request) (map[string]any, error)) <-chan *httptest.ResponseRecorder {
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
		reply := func(*http.Request) (map[string]any, error) { return map[string]any{"x": 1}, nil }
		older, newer := ask(reply), ask(reply)
		w := <-older
		require.Check(t, w.Code == http.StatusNoContent && w.Body.Len() == 0, "the older one got %d %s", w.Code, w.Body)
		hold.leave()
		if w := <-newer; w.Code != http.StatusOK || strings.TrimSpace(w.Body.String()) != `{"x":1}` {
			t.Errorf("the newer one got %d %s", w.Code, w.Body)
		}
		<-ask(func(*http.Request) (map[string]any, error) { return nil, errors.New("a fault") })
		<-ask(func(*http.Request) (map[string]any, error) { panic("a panic") })
		w = <-ask(reply)
		require.Check(t, w.Code == http.StatusOK, "after faults: %d", w.Code)
	})
}

// If more requests wait than are served, an answer is coarser than requested and says so.
func TestLiveGetsCoarser(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &Turns{Answers: New(1)}
		hold := <-enter(t.Context(), a.Answers, "another")
		var answers []<-chan string
		for _, coarse := range []string{"", "1", ""} {
			got := make(chan string, 1)
			answers = append(answers, got)
			go func() {
				r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprint("/", len(answers)), strings.NewReader("coarse="+coarse))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
				w := httptest.NewRecorder()
				err := a.Live(w, r, func(r *http.Request) (map[string]any, error) {
					return map[string]any{"coarse": Coarseness(r.Form)}, nil
				})
				got <- fmt.Sprint(strings.TrimSpace(w.Body.String()), err)
			}()
			synctest.Wait()
		}
		last := enter(t.Context(), a.Answers, "one more")
		hold.leave()
		for i, want := range []string{
			`{"coarse":1,"coarser":"` + coarser + `"}<nil>`, `{"coarse":2,"coarser":"` + coarser + `"}<nil>`, `{"coarse":0}<nil>`,
		} {
			require.Equal(t, <-answers[i], want, "answer %d", i)
		}
		(<-last).leave()
	})
}
