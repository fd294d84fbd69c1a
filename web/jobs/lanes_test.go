package jobs

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/pace"
	"marginlab/ml/trace"
	"marginlab/store"
)

// endless trains a spec with a C of 1000 until it is cancelled, pausing as solvers do, and all
// others at once.
func endless(ctx context.Context, d *dataset.Data, s ml.Spec, r trace.Recorder) (*ml.Result, error) {
	if s.Text("C") != "1000" {
		return ml.Train(ctx, d, s, r)
	}
	for pace.Look(ctx) == nil {
		select {
		case <-ctx.Done():
		case <-time.After(time.Millisecond):
		}
	}
	return nil, ctx.Err()
}

// Despite any number of other users' long runs, short runs and hand-ins are trained, and the long
// ones wait.
func TestNobodyStarves(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(workers), func(t *testing.T) { nobodyStarves(t, workers) })
	}
}

func nobodyStarves(t *testing.T, workers int) {
	f := fresh(t, workers, endless)
	f.q.Turn = 50 * time.Millisecond // a short run that takes longer is no longer short
	f.st.Network = func(store.Workspace) string { return "one for all" }
	long := ml.DefaultSpec()
	require.NoError(t, long.Set("C", "1000"))
	for i := range 45 {
		require.Value(f.st.CreateRun(t.Context(), store.WorkspaceOf(fmt.Sprint("stranger", i)), store.NewRun{Data: points(), Spec: long}))(t)
	}
	f.start()
	for range 3 {
		f.isDone(f.create("short"))
	}
	c := require.Value(f.st.CreateCourse(t.Context(), alice, store.NewCourse{Title: "c", Target: "/lab?data=moons"}))(t)
	r := require.Value(f.st.CreateHandin(t.Context(), bob, store.NewRun{Data: points(), Spec: ml.DefaultSpec(), Course: c.Code}, "Bob"))(t)
	f.q.Notify()
	f.q.Wait(t.Context(), time.Hour, r.ID)
	if states, err := f.st.States(t.Context(), r.ID); err != nil || states[r.ID].Status != store.Done {
		t.Errorf("%+v, %v", states, err)
	}
	f.stop()
	list, err := f.st.Waiting(t.Context(), "another")
	require.Check(t, len(list) == 45 && err == nil,
		"%d of the strangers' runs wait for the next start, %v", len(list), err)
}

// bench returns a queue whose jobs a test begins itself.
func bench(workers int) *Queue {
	q := New(&store.Store{Now: time.Now}, Config{Workers: workers})
	q.store.Network = func(ws store.Workspace) string { return string(ws[:1]) }
	return q
}

func (q *Queue) beginOne(t *testing.T, id string, as store.Weight, limit time.Duration) *job {
	return q.begin(t.Context(), id, store.Waiting{ID: id, Workspace: store.Workspace(id), Weight: as}, false, limit)
}

// goingOn lists the jobs that are not paused.
func (q *Queue) goingOn() (ids []string) {
	for id, j := range q.running {
		if j.resume == nil && j.ctx.Err() == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Heavy work takes turns in the places that light work leaves; paused time does not count towards
// its time limit.
func TestHeavyWorkTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := bench(2)
		want := func(ids ...string) {
			t.Helper()
			require.Slices(t, q.goingOn(), ids, "go on")
		}
		a, b := q.beginOne(t, "a", store.Heavy, 10*time.Second), q.beginOne(t, "b", store.Heavy, 0)
		want("a", "b")
		light := q.beginOne(t, "c", store.Light, 0)
		want("a", "c")
		time.Sleep(q.Turn / 2)
		q.rotate()
		want("b", "c")
		require.Check(t, q.held("a") && !q.held("b"), "it is not told which is held")
		q.end(light)
		want("a", "b")
		light = q.beginOne(t, "c", store.Light, 0)
		for q.held("b") || !q.held("a") {
			q.rotate()
		}
		q.startSaving(light)
		time.Sleep(time.Hour)
		want("b", "c")
		q.end(light)
		time.Sleep(9 * time.Second)
		want("a", "b")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Check(t, context.Cause(a.ctx) == errTooLong && b.ctx.Err() == nil,
			"after ten seconds of work: %v, %v", context.Cause(a.ctx), b.ctx.Err())
		q.end(a)
		q.end(b)
	})
}

// Work that outlasts its turn continues with a heavier weight while there is room, and otherwise
// returns to the queue.
func TestLongerThanATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := bench(2)
		first := q.beginOne(t, "a", store.Light, 0)
		time.Sleep(q.Turn)
		synctest.Wait()
		require.Equal(t, first.as, store.Medium, "after a turn it")
		require.Check(t, q.hasRoom(store.Light, store.Waiting{Workspace: "b"}, nil) == true,
			"there is no room for light work")
		time.Sleep(mediumTurns * q.Turn)
		q.rotate()
		require.Equal(t, first.as, store.Heavy, "after ten more it")
		big := store.Waiting{ID: "a2", Workspace: "a2", Memory: 2 * memoryEach, Weight: store.Heavy}
		require.Check(t, !q.hasRoom(store.Heavy, big, nil), "one network may hold all memory")
		second := q.beginOne(t, "b", store.Medium, 0)
		third := q.beginOne(t, "c", store.Light, 0)
		third.work.Memory = 2 * memoryEach
		fourth := q.beginOne(t, "d", store.Light, 0) // more jobs than places, since it has already begun
		q.startSaving(fourth)
		time.Sleep(q.Turn)
		synctest.Wait()
		switch {
		case second.as != store.Medium || second.ctx.Err() != nil:
			t.Error("medium work does not go on")
		case third.requeueAs == store.Light && third.as == store.Light:
			t.Error("it has neither gone on nor gone back")
		case fourth.ctx.Err() != nil || fourth.as != store.Light:
			t.Error("what only has to be saved is ended")
		}
		for _, j := range []*job{first, second, third, fourth} {
			q.end(j)
		}
		require.Check(t, len(q.running)+len(q.shared) == 0, "left: %v, %v", q.running, q.shared)
	})
}

// Running work uses no more memory than is reserved for it, whatever its weight; larger work runs
// alone, and small light work has a share of its own.
func TestMemoryOfWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const mb = 1 << 20
		q := bench(4)
		q.Memory = 1000 * mb
		room := func(as store.Weight, memory int64, want bool) {
			t.Helper()
			got := q.hasRoom(as, store.Waiting{ID: "new", Workspace: "z", Memory: memory * mb}, nil)
			require.Check(t, got == want, "room for %v work of %d MB: %v", as, memory, got)
		}
		for _, as := range []store.Weight{store.Light, store.Medium, store.Heavy} {
			room(as, 5000, true) // alone
		}
		begin := func(id string, as store.Weight, memory int64) *job {
			return q.begin(t.Context(), id, store.Waiting{ID: id, Workspace: store.Workspace(id), Weight: as, Memory: memory * mb}, false, 0)
		}
		jobs := []*job{begin("a", store.Heavy, 700), begin("b", store.Medium, 200)}
		room(store.Heavy, 100, true)
		room(store.Heavy, 101, false)
		room(store.Medium, 101, false)
		room(store.Light, 250, true) // a quarter of it
		room(store.Light, 251, false)
		jobs = append(jobs, begin("c", store.Light, 200))
		room(store.Light, 50, true)
		room(store.Light, 51, false)
		room(store.Medium, 100, true)
		time.Sleep(q.Turn)
		synctest.Wait()
		c := jobs[2]
		require.Check(t, c.requeueAs == store.Medium, "light work goes on as %v, and there is no memory for it", c.as)
		time.Sleep(mediumTurns * q.Turn)
		q.rotate()
		require.Check(t, jobs[1].as == store.Heavy, "its own memory is in the way of medium work")
		for _, j := range jobs {
			q.end(j)
		}
	})
}

// Courses and other work get equal time, and so do networks within them, and workspaces within
// networks. A sharer with nothing waiting gets a head start of one turn, and short work goes before
// long work.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := bench(2)
		var list []store.Waiting
		add := func(ws, teacher store.Workspace, work time.Duration) {
			time.Sleep(time.Second)
			list = append(list, store.Waiting{ID: fmt.Sprint(len(list)), Workspace: ws, Teacher: teacher, Work: work, Since: time.Now()})
		}
		// serve starts and ends work the given number of times, and returns the number of turns of
		// each workspace.
		serve := func(times int) map[store.Workspace]int {
			served := map[store.Workspace]int{}
			for range times {
				time.Sleep(time.Second)
				w, ok := q.inTurn(list)
				require.Must(t, ok, "nothing is next")
				q.serve(w)
				q.pay(w, w.Work)
				served[w.Workspace]++
			}
			return served
		}
		want := func(got, want map[store.Workspace]int) {
			t.Helper()
			for ws := range want {
				if d := got[ws] - want[ws]; d < -2 || d > 2 {
					t.Errorf("served %v, want about %v", got, want)
					return
				}
			}
		}
		add("a1", "", 500*time.Millisecond)
		add("a2", "", 500*time.Millisecond)
		add("b1", "", 500*time.Millisecond)
		want(serve(40), map[store.Workspace]int{"a1": 10, "a2": 10, "b1": 20})
		list[0].Work = 100 * time.Millisecond // less time per run means more runs
		want(serve(80), map[store.Workspace]int{"a1": 50, "a2": 10, "b1": 20})
		list[0].Work = 500 * time.Millisecond
		add("s1", "b1", 500*time.Millisecond)
		add("s2", "c1", 500*time.Millisecond)
		want(serve(40), map[store.Workspace]int{"a1": 5, "a2": 5, "b1": 10, "s1": 10, "s2": 10})
		list = list[:3]
		serve(20)
		add("a3", "", 500*time.Millisecond) // new at an address: ahead of others once or twice, then with its share
		got := serve(6)
		require.Check(t, got["a3"] >= 1 && got["a3"] <= 3, "of the next six it has %d", got["a3"])
		want(serve(60), map[store.Workspace]int{"a1": 10, "a2": 10, "a3": 10, "b1": 30})
		list = append(list, store.Waiting{ID: "heavy", Workspace: "d1", Weight: store.Heavy})
		require.Check(t, serve(40)["d1"] <= 0, "heavy work begins before light work")
		list = list[len(list)-1:]
		want(serve(10), map[store.Workspace]int{"d1": 10})
	})
}

// At an address whose other workspaces always have much work, estimated at about one turn and
// really much longer, work of a workspace that had nothing waiting is next, whatever its estimate,
// and so is its next work.
func TestShortWorkAmongLight(t *testing.T) {
	t.Parallel()
	for _, expected := range []time.Duration{0, 50 * time.Millisecond, time.Second, 9 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			q := bench(2)
			var list []store.Waiting
			for i := range 45 {
				ws := store.Workspace(fmt.Sprint("a", i))
				list = append(list, store.Waiting{ID: string(ws), Workspace: ws, Work: 300 * time.Millisecond, Since: time.Now()})
			}
			took := func(w store.Waiting) time.Duration {
				if w.ID == "short" {
					return 5 * time.Millisecond
				}
				return time.Minute
			}
			serve := func() store.Waiting {
				time.Sleep(time.Second)
				w, _ := q.inTurn(list)
				q.serve(w)
				q.pay(w, took(w))
				return w
			}
			for range 100 {
				serve()
			}
			for range 10 {
				time.Sleep(time.Second)
				list = append(list, store.Waiting{ID: "short", Workspace: "new", Work: expected, Since: time.Now()})
				if w := serve(); w.ID != "short" {
					w = serve()
					require.Must(t, w.ID == "short", "expected to take %v, it is not even the second", expected)
				}
				list = list[:45]
			}
			at := map[string]int{}
			for range 90 {
				at[serve().ID]++
			}
			for id, n := range at {
				require.Check(t, n <= 3, "of ninety turns for 45 workspaces, %s has %d", id, n)
			}
		})
	}
}

// held reports whether a running run is paused while other work has its turn.
func (q *Queue) held(id string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	j := q.running[id]
	return j != nil && j.resume != nil
}
