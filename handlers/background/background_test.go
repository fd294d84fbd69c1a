package background

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/store"
)

// slowPaths returns Tasks whose paths take ten trainings of the given duration each. ended counts
// the abandoned ones.
func slowPaths(each time.Duration) (p *Tasks[ml.Regularisation], ended *atomic.Int32) {
	ended = new(atomic.Int32)
	p = newTasks("path", ml.Regularise, func(ctx context.Context) context.Context { return ctx })
	p.Compute = func(ctx context.Context, _ *dataset.Data, _ ml.Spec, tell trace.Recorder) (*ml.Regularisation, error) {
		for k := range 10 {
			select {
			case <-time.After(each):
			case <-ctx.Done():
				ended.Add(1)
				return nil, ctx.Err()
			}
			tell(trace.Step{Phase: "entry points", C: float64(k + 1), Done: k + 1, Trainings: 10, Left: time.Duration(9-k) * each})
		}
		return &ml.Regularisation{C: 1}, nil
	}
	return p, ended
}

// A path continues while a workspace asks for it, which sees its progress, and is then available to
// all.
func TestPathGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, ended := slowPaths(10 * time.Second)
		spec := ml.DefaultSpec()
		if _, _, err := p.wait(t.Context(), "a", "k", Question{Spec: spec}, false, Prompt); !errors.Is(err, ErrIdle) {
			t.Errorf("a path that nobody has begun: %v", err)
		}
		if _, s, err := p.wait(t.Context(), "a", "k", Question{Spec: spec}, true, Prompt); err != nil || s == nil || s.Status != store.Running || s.Elapsed != Prompt || s.Left != 0 {
			t.Fatalf("%+v, %v", s, err)
		}
		time.Sleep(25 * time.Second)
		_, s, err := p.wait(t.Context(), "a", "k", Question{Spec: spec}, false, Prompt)
		require.Must(t, err == nil && s != nil && s.Step.C == 2 && s.Left == 74*time.Second && s.Progress() == "Entry points: C = 2, 2 of 10 trainings",
			"%+v, %v", s, err)
		for range 3 {
			time.Sleep(20 * time.Second)
			_, s, err = p.wait(t.Context(), "a", "k", Question{Spec: spec}, false, Prompt)
			require.Must(t, s != nil, "%v", err)
		}
		begin := time.Now()
		path, _, err := p.wait(t.Context(), "b", "k", Question{Spec: spec}, true, time.Hour)
		require.Check(t, path != nil && time.Since(begin) <= 13*time.Second, "who joins gets %v after %v: %v", path, time.Since(begin), err)
		for _, begin := range []bool{false, true} {
			path, _, err := p.wait(t.Context(), "a", "k", Question{Spec: spec}, begin, 0)
			require.Check(t, path != nil, "%v", err)
		}
		time.Sleep(resultIdle)
		synctest.Wait()
		require.Check(t, len(p.byKey) == 0 && ended.Load() == 0,
			"%d paths are left, %d were given up", len(p.byKey), ended.Load())
	})
}

// A path ends if nobody has asked for half a minute, if all askers cancel it, or with the server.
func TestPathIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, ended := slowPaths(time.Hour)
		spec := ml.DefaultSpec()
		begin := func(workspace, key string) {
			t.Helper()
			_, s, err := p.wait(t.Context(), workspace, key, Question{Spec: spec}, true, 0)
			require.Must(t, s != nil, "%v", err)
		}
		gone := func(want int, why string) {
			t.Helper()
			synctest.Wait()
			require.Check(t, int(ended.Load()) == want, "%s: %d paths have ended, want %d", why, ended.Load(), want)
		}
		begin("a", "k")
		time.Sleep(resultIdle - time.Second)
		gone(0, "somebody asked of late")
		time.Sleep(time.Second)
		gone(1, "nobody asks")
		_, _, err := p.wait(t.Context(), "a", "k", Question{Spec: spec}, false, 0)
		require.Check(t, errors.Is(err, ErrIdle), "%v", err)
		begin("a", "k")
		begin("b", "k")
		p.Cancel("a", "k")
		gone(1, "somebody else asks")
		p.Cancel("b", "k")
		gone(2, "nobody wants it")
		told := make(chan error)
		go func() {
			_, _, err := p.wait(t.Context(), "a", "k", Question{Spec: spec}, true, time.Hour)
			told <- err
		}()
		synctest.Wait()
		p.Cancel("a", "k")
		require.Is(t, <-told, ErrIdle, "who waits is told")
		gone(3, "cancelled while a request waits")
		begin("a", "k")
		synctest.Wait()
		p.close()
		gone(4, "the server ends")
		_, _, err = p.wait(t.Context(), "a", "k", Question{Spec: spec}, true, 0)
		require.Check(t, err != nil, "a path begins after the end")
	})
}

// One path of a workspace is computed at a time: another waits, and replaces one that is no longer
// requested.
func TestPathsInTurn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, ended := slowPaths(time.Hour)
		spec := ml.DefaultSpec()
		begin := func(workspace, key string) *Job {
			t.Helper()
			_, s, err := p.wait(t.Context(), workspace, key, Question{Spec: spec}, true, Prompt)
			require.NoError(t, err)
			return s
		}
		require.Check(t, begin("a", "1").Status == store.Running && begin("a", "2").Status == store.Queued && begin("b", "3").Status == store.Running,
			"of one workspace one path is computed")
		require.Equal(t, begin("a", "2").Progress(), "Waiting for its turn", "s.Progress")
		time.Sleep(resultLeft)
		require.Check(t, begin("a", "4").Status == store.Running && ended.Load() == 1, // of the abandoned ones, one had begun
			"%d paths have made room", ended.Load())
		var err error
		for k := range resultsWait {
			if _, _, err = p.wait(t.Context(), "c", string(rune('A'+k)), Question{Spec: spec}, true, 0); err != nil {
				break
			}
		}
		var kind interface{ Kind() string }
		require.Check(t, errors.As(err, &kind) && kind.Kind() == "busy", "any number may wait: %v", err)
		p.close()
	})
}

// An error is returned to the next caller, once, and so is a panic.
func TestPathFails(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, _ := slowPaths(0)
		spec := ml.DefaultSpec()
		p.Compute = func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Regularisation, error) {
			time.Sleep(time.Minute / 3)
			return nil, param.Refuse("take another", "it has no path")
		}
		_, _, _ = p.wait(t.Context(), "a", "k", Question{Spec: spec}, true, Prompt)
		time.Sleep(time.Minute / 3)
		var refusal *param.Refusal
		_, _, err := p.wait(t.Context(), "a", "k", Question{Spec: spec}, false, 0)
		require.Check(t, errors.As(err, &refusal), "%v", err)
		_, _, err = p.wait(t.Context(), "a", "k", Question{Spec: spec}, false, 0)
		require.Check(t, errors.Is(err, ErrIdle), "%v", err)
		p.Compute = func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Regularisation, error) {
			panic("of the solver")
		}
		defer func() {
			text, _ := recover().(string)
			require.Check(t, strings.Contains(text, "of the solver"), "the caller receives %q", text)
		}()
		_, _, _ = p.wait(t.Context(), "a", "k", Question{Spec: spec}, true, time.Minute)
	})
}

// The list of running jobs includes the paths of a workspace. Listing keeps them running, but they
// give way to another path like those that nobody requests.
func TestPathsUnderWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, ended := slowPaths(time.Minute)
		of := Question{From: "Two moons", Name: "SVM rbf", Spec: ml.DefaultSpec(), Page: "/path?data=moons"}
		begin := func(key string) {
			t.Helper()
			_, s, err := p.wait(t.Context(), "a", key, of, true, 0)
			require.Must(t, s != nil, "%v", err)
		}
		begin("k")
		for range 5 {
			time.Sleep(resultIdle - time.Second)
			require.Slices(t, p.UnderWay("b"), nil, "somebody else sees")
			list := p.UnderWay("a")
			require.Must(t, len(list) == 1 && list[0].ID == "k" && list[0].Kind == "path" && list[0].Name == "SVM rbf" && list[0].Data == "Two moons" && list[0].Page == of.Page && list[0].Status == store.Running,
				"under way: %+v", list)
		}
		s := p.UnderWay("a")[0]
		require.Check(t, s.Done == 2 && s.Total == 10 && s.Unit == "trainings" && s.Elapsed == 145*time.Second && s.Left == 455*time.Second, "%+v", s)
		begin("another")
		list := p.UnderWay("a")
		require.Check(t, len(list) == 1 && list[0].ID == "another", "under way: %+v", list)
		time.Sleep(resultIdle)
		synctest.Wait()
		list = p.UnderWay("a")
		require.Check(t, len(list) == 0 && ended.Load() == 2, "%d were given up; under way: %+v", ended.Load(), list)
	})
}
