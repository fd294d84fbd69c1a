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
	"marginlab/ml/pace"
	"marginlab/ml/trace"
	"marginlab/store"
)

// endless trains a spec with a C of 1000 until it is cancelled, looking up as solvers do, and
// all others at once.
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

// Beside any number of long runs of strangers, short runs and hand-ins are trained, and the
// long ones wait for more.
func TestNobodyStarves(t *testing.T) {
	t.Parallel()
	for _, workers := range []int{1, 2, 4} {
		f := setup(t, t.TempDir(), workers, endless)
		f.q.turn = time.Millisecond
		f.st.Network = func(store.Workspace) string { return "one for all" }
		long := ml.DefaultSpec()
		if err := long.Set("C", "1000"); err != nil {
			t.Fatal(err)
		}
		for i := range 45 {
			if _, err := f.st.CreateRun(t.Context(), store.WorkspaceOf(fmt.Sprint("stranger", i)), store.NewRun{Data: points(), Spec: long}); err != nil {
				t.Fatal(err)
			}
		}
		f.start()
		for range 3 {
			if e := f.end(f.create("short")); e.Status != store.Done {
				t.Errorf("%+v", e)
			}
		}
		c, err := f.st.CreateCourse(t.Context(), alice, store.NewCourse{Title: "c", Target: "/lab?data=moons"})
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.st.CreateHandin(t.Context(), bob, store.NewRun{Data: points(), Spec: ml.DefaultSpec(), Course: c.Code}, "Bob")
		if err != nil {
			t.Fatal(err)
		}
		f.q.Notify()
		f.q.Wait(t.Context(), time.Hour, r.ID)
		if states, err := f.st.RunStates(t.Context(), r.ID); err != nil || states[r.ID].Status != store.Done {
			t.Errorf("%+v, %v", states, err)
		}
		f.stop()
		list, err := f.st.Waiting(t.Context(), "another")
		if len(list) != 45 || err != nil {
			t.Errorf("%d of the strangers' runs wait for the next start, %v", len(list), err)
		}
	}
}

// bench is a queue whose jobs a test begins by hand.
func bench(workers int) *Queue {
	q := New(&store.Store{Now: time.Now}, Config{Workers: workers})
	q.store.Network = func(ws store.Workspace) string { return string(ws[:1]) }
	return q
}

func (q *Queue) beginOne(t *testing.T, id string, as store.Weight, limit time.Duration) *job {
	return q.begin(t.Context(), id, store.Waiting{ID: id, Workspace: store.Workspace(id), Weight: as}, false, limit)
}

// goingOn lists the jobs that are not held.
func (q *Queue) goingOn() (ids []string) {
	for id, j := range q.running {
		if j.resume == nil && j.ctx.Err() == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// Heavy work takes turns in the places that light work leaves; the time in which it is held does not
// count for the longest that it may take.
func TestHeavyWorkTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := bench(2)
		want := func(ids ...string) {
			t.Helper()
			if got := q.goingOn(); !slices.Equal(got, ids) {
				t.Errorf("%v go on, want %v", got, ids)
			}
		}
		a, b := q.beginOne(t, "a", store.Heavy, 10*time.Second), q.beginOne(t, "b", store.Heavy, 0)
		want("a", "b")
		light := q.beginOne(t, "c", store.Light, 0)
		want("a", "c")
		time.Sleep(q.turn / 2)
		q.rotate()
		want("b", "c")
		if !q.Held("a") || q.Held("b") {
			t.Error("it is not told which is held")
		}
		q.end(light)
		want("a", "b")
		light = q.beginOne(t, "c", store.Light, 0)
		for q.Held("b") || !q.Held("a") {
			q.rotate()
		}
		q.saves(light)
		time.Sleep(time.Hour)
		want("b", "c")
		q.end(light)
		time.Sleep(9 * time.Second)
		want("a", "b")
		time.Sleep(time.Second)
		synctest.Wait()
		if context.Cause(a.ctx) != errTooLong || b.ctx.Err() != nil {
			t.Errorf("after ten seconds of work: %v, %v", context.Cause(a.ctx), b.ctx.Err())
		}
		q.end(a)
		q.end(b)
	})
}

// Work that outlasts its turn goes on as what it is while there is room, and otherwise goes back
// into the queue.
func TestLongerThanATurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := bench(2)
		first := q.beginOne(t, "a", store.Light, 0)
		time.Sleep(q.turn)
		synctest.Wait()
		if first.as != store.Medium {
			t.Errorf("after a turn it is %v", first.as)
		}
		if q.room(store.Light, store.Waiting{Workspace: "b"}) != true {
			t.Error("there is no room for light work")
		}
		time.Sleep(mediumTurns * q.turn)
		q.rotate()
		if first.as != store.Heavy {
			t.Errorf("after ten more it is %v", first.as)
		}
		big := store.Waiting{ID: "a2", Workspace: "a2", Memory: 2 * heavyMemory, Weight: store.Heavy}
		if q.room(store.Heavy, big) {
			t.Error("one network may hold all memory")
		}
		second := q.beginOne(t, "b", store.Medium, 0)
		third := q.beginOne(t, "c", store.Light, 0)
		third.work.Memory = 2 * heavyMemory
		fourth := q.beginOne(t, "d", store.Light, 0) // more than there are places for, as it has begun
		q.saves(fourth)
		time.Sleep(q.turn)
		synctest.Wait()
		switch {
		case second.as != store.Medium || second.ctx.Err() != nil:
			t.Error("medium work does not go on")
		case third.backAs == store.Light && third.as == store.Light:
			t.Error("it has neither gone on nor gone back")
		case fourth.ctx.Err() != nil || fourth.as != store.Light:
			t.Error("what only has to be saved is ended")
		}
		for _, j := range []*job{first, second, third, fourth} {
			q.end(j)
		}
		if len(q.running)+len(q.shared) > 0 {
			t.Errorf("left: %v, %v", q.running, q.shared)
		}
	})
}

// Whose turn it is: courses and others, then networks, then workspaces, of which one that is new
// does not come before those that wait.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := bench(2)
		begin := time.Now()
		time.Sleep(time.Minute)
		var list []store.Waiting
		add := func(w store.Waiting) {
			w.ID = fmt.Sprint(len(list))
			if w.Since.IsZero() {
				w.Since = begin
			}
			list = append(list, w)
		}
		take := func(want ...string) {
			t.Helper()
			for _, want := range want {
				time.Sleep(time.Second)
				w, ok := q.inTurn(list)
				if !ok || string(w.Workspace) != want {
					t.Fatalf("the turn of %q, want %q", w.Workspace, want)
				}
				q.serve(w)
			}
		}
		add(store.Waiting{Workspace: "a1"})
		add(store.Waiting{Workspace: "a2"})
		add(store.Waiting{Workspace: "b1"})
		take("a1", "b1", "a2", "b1", "a1", "b1") // b has half, as one network of two
		add(store.Waiting{Workspace: "a3", Since: time.Now()})
		add(store.Waiting{Workspace: "c1", Weight: store.Medium})
		take("a2", "b1", "a1", "b1", "a3") // a new workspace waits for those of its network
		add(store.Waiting{Workspace: "s1", Teacher: "b1"})
		add(store.Waiting{Workspace: "s2", Teacher: "b1"})
		take("s1", "b1", "s2", "a2", "s1") // the course of b is not b
		list = list[4:5]
		take("c1")
	})
}
