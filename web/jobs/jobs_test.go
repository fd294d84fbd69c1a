package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
	"marginlab/ml/pace"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/store/storetest"
)

var (
	alice = store.WorkspaceOf("alice")
	bob   = store.WorkspaceOf("bob")
)

type trainer = func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error)

// fixture is a queue over a fresh store. train does its trainings; nil: ml.Train.
type fixture struct {
	*testing.T
	q   *Queue
	st  *store.Store
	log *strings.Builder // read it after stop

	ended []string // outcomes, by Trained
	mu    sync.Mutex
	stop  func() // ends Run and waits for it
}

func setup(t *testing.T, dir string, workers int, train trainer) *fixture {
	t.Helper()
	st := storetest.Open(t, dir, store.Open)
	f := &fixture{T: t, st: st, log: &strings.Builder{}, stop: func() {}}
	f.q = New(st, Config{Workers: workers, Turn: time.Hour, Log: slog.New(slog.NewTextHandler(f.log, nil)), Trained: func(_, outcome string, _ time.Duration) {
		f.mu.Lock()
		f.ended = append(f.ended, outcome)
		f.mu.Unlock()
	}})
	if train != nil {
		f.q.Train = train
	}
	return f
}

// fresh returns a queue over a store of its own for a parallel test.
func fresh(t *testing.T, workers int, train trainer) *fixture {
	t.Helper()
	t.Parallel()
	return setup(t, t.TempDir(), workers, train)
}

func (f *fixture) start() *fixture {
	ctx, cancel := context.WithCancel(f.Context())
	done := make(chan struct{})
	go func() { defer close(done); f.q.Run(ctx) }()
	f.stop = func() { cancel(); <-done }
	f.Cleanup(f.stop)
	return f
}

func points() *dataset.Data {
	d, err := dataset.FromPoints([][2]float64{{0, 0}, {1, 0}, {3, 3}, {4, 3}}, []string{"a", "a", "b", "b"})
	if err != nil {
		panic(err)
	}
	return d
}

func (f *fixture) create(name string) string {
	f.Helper()
	r := require.Value(f.st.CreateRun(f.Context(), alice, store.NewRun{Name: name, Data: points(), Spec: ml.DefaultSpec()}))(f)
	f.q.Notify()
	return r.ID
}

func (f *fixture) subscribe(id string) <-chan Event {
	f.Helper()
	return require.Value(f.q.Subscribe(f.Context(), alice, id))(f)
}

// end waits for the last event of a run and returns it.
func (f *fixture) end(id string) Event {
	f.Helper()
	return lastOf(f.subscribe(id))
}

func lastOf(events <-chan Event) (last Event) {
	for last = range events {
	}
	return last
}

// isDone waits for a run, which must have a result.
func (f *fixture) isDone(id string) {
	f.Helper()
	e := f.end(id)
	require.Check(f, e.Status == store.Done, "%+v", e)
}

func (f *fixture) run(id string) store.Run {
	f.Helper()
	return require.Value(f.st.Run(f.Context(), alice, id))(f)
}

// stuck reports a step on begun and then works until it is cancelled.
func stuck(begun chan<- string) trainer {
	return func(ctx context.Context, d *dataset.Data, s ml.Spec, report trace.Recorder) (*ml.Result, error) {
		report(trace.Step{Phase: "svm", Iteration: 7})
		begun <- s.Learner
		<-ctx.Done()
		return &ml.Result{Report: ml.Report{Status: trace.Cancelled}, Model: &ml.Model{}}, nil // as solvers do
	}
}

func TestTrains(t *testing.T) {
	f := fresh(t, 2, nil)
	before := f.create("queued before the start")
	f.start()
	ids := append([]string{before}, lists.Make(10, func(i int) string { return f.create(fmt.Sprint(i)) })...)
	for _, id := range ids {
		f.isDone(id)
		r := f.run(id)
		require.Check(t, r.Status == store.Done && *r.Report.TrainAccuracy == 1 && r.Model.Predict([]float64{4, 4}) == "b", "%+v", r)
	}
	f.stop()
	require.Check(t, len(f.ended) == len(ids) && f.ended[0] == "done", "counted %v", f.ended)
}

func TestWait(t *testing.T) {
	f := fresh(t, 1, nil).start()
	ids := []string{f.create("1"), f.create("2"), "no such run"}
	f.q.Wait(t.Context(), time.Hour, ids...)
	for _, id := range ids[:2] {
		require.Equal(t, f.run(id).Status, store.Done, "f.run(id).Status")
	}
	begun := make(chan string, 1)
	f = setup(t, t.TempDir(), 1, stuck(begun)).start()
	id := f.create("3")
	f.q.Wait(t.Context(), time.Millisecond, id)
	r := f.run(id)
	require.Check(t, !r.Status.Ended(), "%v", r.Status)
}

func TestCancelRunning(t *testing.T) {
	begun := make(chan string)
	f := fresh(t, 1, stuck(begun)).start()
	id, next := f.create("1"), f.create("2")
	<-begun
	events := f.subscribe(id)
	for name, err := range map[string]error{
		"cancel":  f.q.Cancel(t.Context(), bob, id),
		"delete":  f.q.Delete(t.Context(), bob, []string{id}),
		"unknown": f.q.Cancel(t.Context(), alice, "x"),
	} {
		require.Check(t, errors.Is(err, store.ErrNotFound), "%s from another workspace: %v", name, err)
	}
	require.Is(t, require.Err(f.q.Subscribe(t.Context(), bob, id)), store.ErrNotFound, "listening from another workspace")
	r := f.run(id)
	require.Must(t, r.Status == store.Running, "stopped from another workspace: %v", r.Status)
	require.NoError(t, f.q.Cancel(t.Context(), alice, id))
	last := lastOf(events)
	<-begun // the worker is free for the next run
	if r := f.run(id); last.Status != store.Cancelled || r.Status != store.Cancelled || r.Model != nil || r.Report != nil {
		t.Errorf("%+v, %+v", last, r)
	}
	require.Is(t, f.q.Cancel(t.Context(), alice, id), store.ErrEnded, "cancelled twice")
	require.NoError(t, f.q.Delete(t.Context(), alice, []string{next}))
	last3 := f.create("3")
	<-begun // free again: delete stopped the second
	require.Is(t, require.Err(f.st.Run(t.Context(), alice, next)), store.ErrNotFound, "deleted")
	require.Check(t, f.run(last3).Status == store.Running, "the third does not run")
}

func TestCancelQueued(t *testing.T) {
	f := fresh(t, 1, nil) // not started
	id := f.create("1")
	events := f.subscribe(id)
	e := <-events
	require.Check(t, e.Status == store.Queued, "first %+v", e)
	require.NoError(t, f.q.Cancel(t.Context(), alice, id))
	e = <-events
	require.Check(t, e.Status == store.Cancelled, "then %+v", e)
	_, more := <-events
	require.Check(t, !more, "not closed after the end")
	f.start()
	f.end(f.create("2"))
	require.Equal(t, f.run(id).Status, store.Cancelled, "trained all the same")
}

func TestFailures(t *testing.T) {
	t.Parallel()
	errPanic := errors.New("index out of secrets")
	for name, test := range map[string]struct {
		err          error
		want, logged string
	}{
		"of the data": {
			param.Refuse("choose other points", "one class is missing"),
			"one class is missing; choose other points", "level=INFO",
		},
		"of the settings":     {param.Problems{{Field: "C", Message: "C is wrong"}}, "C is wrong", "level=INFO"},
		"of the program":      {errors.New("no row 7 of 5"), "fault in this program", "no row 7 of 5"},
		"cancelled by itself": {context.Canceled, "fault in this program", "canceled"},
		"of the result":       {nil, "fault in this program", "NaN"}, // which cannot be stored
		"a panic":             {errPanic, "fault in this program", errPanic.Error()},
		"where it was":        {errPanic, "fault in this program", "jobs_test.go"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fresh(t, 1, func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error) {
				if test.err == errPanic {
					panic(errPanic)
				}
				return &ml.Result{Report: ml.Report{TestAUC: new(math.NaN())}, Model: &ml.Model{}}, test.err
			}).start()
			for _, id := range []string{f.create("1"), f.create("2")} { // the worker goes on
				e := f.end(id)
				if r := f.run(id); e.Status != store.Failed || r.Status != store.Failed || !strings.Contains(r.Error, test.want) || r.Error != e.Error || strings.Contains(r.Error, test.logged) {
					t.Errorf("%+v, %+v", e, r)
				}
			}
			f.stop()
			require.Check(t, strings.Count(f.log.String(), test.logged) >= 2, "log without %q of both runs: %s", test.logged, f.log)
		})
	}
}

// When the queue stops, unfinished work is left for the next start.
func TestStopAndStartAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun := make(chan string)
	f := setup(t, dir, 1, stuck(begun)).start()
	id, waiting := f.create("1"), f.create("2")
	<-begun
	f.stop()
	for _, id := range []string{id, waiting} {
		r := f.run(id)
		require.Check(t, r.Status == store.Queued && r.Started.IsZero(), "after the stop: %+v", r)
	}
	f = setup(t, dir, 1, nil).start()
	for _, id := range []string{id, waiting} {
		f.isDone(id)
	}
}

// A result that is ready when the program stops is kept.
func TestStopKeepsFinishedResult(t *testing.T) {
	trained := make(chan bool)
	f := fresh(t, 1, func(ctx context.Context, d *dataset.Data, s ml.Spec, r trace.Recorder) (*ml.Result, error) {
		res, err := ml.Train(ctx, d, s, r)
		trained <- true
		<-ctx.Done()
		return res, err
	}).start()
	id := f.create("1")
	<-trained
	f.stop()
	r := f.run(id)
	require.Check(t, r.Status == store.Done && r.Model != nil, "%+v", r)
}

// One workspace never holds all workers if there are several.
func TestOneWorkerIsForOthers(t *testing.T) {
	begun := make(chan string)
	f := fresh(t, 2, stuck(begun)).start()
	first, second := f.create("1"), f.create("2")
	<-begun
	r := require.Value(f.st.CreateRun(t.Context(), bob, store.NewRun{Data: points(), Spec: ml.DefaultSpec()}))(t)
	f.q.Notify()
	<-begun
	states, err := f.st.States(t.Context(), first, second, r.ID)
	require.Check(t, err == nil && states[first].Status == store.Running && states[second].Status == store.Queued && states[r.ID].Status == store.Running,
		"%v, %v", states, err)
	require.NoError(t, f.q.Cancel(t.Context(), alice, first))
	<-begun // begun by the second
}

// A full disk or a database locked by another process does not lose the result: it is saved as soon
// as possible, or else the run fails as soon as possible.
func TestDiskFullAtTheEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		finishing, failing int // failing attempts
		want               store.Status
		says               string
	}{
		"for a moment":     {3, 0, store.Done, ""},
		"for longer":       {saveTries, 0, store.Failed, "The disk is full"},
		"for a long while": {saveTries, 2 * saveTries, store.Failed, "The disk is full"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t, t.TempDir(), 1, nil)
			f.q.pause = time.Microsecond
			finishing, failing := test.finishing, test.failing // used by one worker only
			f.q.finish = func(ctx context.Context, owner store.Owner, id string, res *ml.Result) error {
				if finishing--; finishing >= 0 {
					return fmt.Errorf("%w (%w)", store.ErrFull, errors.New("no space"))
				}
				return f.st.FinishRun(ctx, owner, id, res)
			}
			f.q.fails = func(ctx context.Context, owner store.Owner, id, message string) error {
				if failing--; failing >= 0 {
					return store.ErrBusy
				}
				return f.st.FailRun(ctx, owner, id, message)
			}
			f.start()
			id := f.create("1")
			e := f.end(id)
			r := f.run(id)
			require.Check(t, e.Status == test.want && r.Status == test.want && strings.Contains(r.Error, test.says), "%+v, %+v", e, r)
		})
	}
}

// A stopping program does not wait for disk space; the next one trains again.
func TestStopWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	f := setup(t, dir, 1, nil)
	tried := make(chan bool, 1)
	f.q.finish = func(context.Context, store.Owner, string, *ml.Result) error {
		tried <- true
		return store.ErrFull
	}
	f.start()
	id := f.create("1")
	<-tried
	f.stop()
	r := f.run(id)
	require.Check(t, r.Status == store.Queued, "%+v", r)
	e := setup(t, dir, 1, nil).start().end(id)
	require.Check(t, e.Status == store.Done, "after the next start: %+v", e)
}

// A run that exceeds the time limit fails with a message that names the remedy.
func TestLimitOfTime(t *testing.T) {
	t.Parallel()
	for name, train := range map[string]trainer{
		"with a partial result": stuck(make(chan string, 1)),
		"with an error": func(ctx context.Context, _ *dataset.Data, _ ml.Spec, _ trace.Recorder) (*ml.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	} {
		f := setup(t, t.TempDir(), 1, train)
		f.q.Limit = time.Millisecond
		f.start()
		id := f.create("1")
		e := f.end(id)
		if r := f.run(id); e.Status != store.Failed || r.Status != store.Failed || !strings.Contains(r.Error, "stopped after 1ms") || !strings.Contains(r.Error, ml.DefaultSpec().Quicker()) {
			t.Errorf("%s: %+v, %+v", name, e, r)
		}
	}
	for limit, text := range map[time.Duration]string{time.Hour: "1h", 90 * time.Second: "1m30s", 20 * time.Minute: "20m", 40 * time.Second: "40s", time.Hour + 5*time.Second: "1h5s"} {
		require.Equal(t, formatLimit(limit), text, "a limit of %v", limit)
	}
	f := setup(t, t.TempDir(), 1, nil)
	f.q.Limit = time.Hour
	f.start()
	f.isDone(f.create("1"))
}

// counted is a context that counts the functions waiting for its end.
type counted struct {
	context.Context
	waiting atomic.Int64
}

func (c *counted) AfterFunc(f func()) (stop func() bool) {
	c.waiting.Add(1)
	forget := context.AfterFunc(c.Context, f)
	return func() bool {
		c.waiting.Add(-1)
		return forget()
	}
}

func (c *counted) Value(any) any { return nil } // prevents callers from reaching the inner context

// A finished job leaves nothing that waits for the end of the program.
func TestNothingIsLeftOfAJob(t *testing.T) {
	t.Parallel()
	ended, stop := context.WithCancel(t.Context())
	defer stop()
	for _, limit := range []time.Duration{0, time.Hour} {
		f := setup(t, t.TempDir(), 1, nil)
		f.q.Limit = limit
		id := f.create("1")
		f.search(asked(t))
		ctx := &counted{Context: ended}
		for range 2 { // the run and a cell
			do, err := f.q.claim(ctx)
			require.Must(t, do != nil && err == nil, "%v", err)
			do()
		}
		f.isDone(id)
		n := ctx.waiting.Load()
		require.Check(t, n == 0 && len(f.q.running) <= 0, "with the limit %v %d contexts wait, and %d jobs are noted", limit, n, len(f.q.running))
	}
}

// stranger is another process that uses the same database.
const stranger store.Owner = "stranger"

// A run that another process trains is neither taken from it nor trained twice, and its watchers
// here learn how it ends.
func TestAnotherProgramsRunsAreLeftAlone(t *testing.T) {
	f := fresh(t, 1, nil)
	held := f.create("held by a stranger")
	_, ok, err := f.st.ClaimRun(t.Context(), stranger, held)
	require.Must(t, ok && err == nil, "%v %v", ok, err)
	f.start()
	events := f.subscribe(held)
	e := <-events
	require.Check(t, e.Status == store.Running, "begins with %+v", e)
	f.isDone(f.create("own"))
	r := f.run(held)
	require.Must(t, r.Status == store.Running, "stolen: %+v", r)
	require.NoError(t, f.st.FailRun(t.Context(), stranger, held, "bad luck"))
	require.NoError(t, f.q.tend(t.Context()))
	last := lastOf(events)
	require.Check(t, last.Status == store.Failed && last.Error == "bad luck", "ends with %+v", last)
}

// A run cancelled, deleted or taken over by another process stops here.
func TestLostRunsStop(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(st *store.Store, id string) error{
		"cancelled": func(st *store.Store, id string) error { return st.CancelRun(t.Context(), alice, id) },
		"deleted":   func(st *store.Store, id string) error { return st.DeleteRuns(t.Context(), alice, []string{id}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := make(chan string)
			f := setup(t, t.TempDir(), 1, stuck(begun)).start()
			id := f.create("1")
			<-begun
			events := f.subscribe(id)
			require.NoError(t, lose(f.st, id)) // not through this queue
			require.NoError(t, f.q.tend(t.Context()))
			f.create("2")
			<-begun // the worker is free for the next
			last := lastOf(events)
			require.Check(t, last.Status == store.Cancelled, "ends with %+v", last)
		})
	}
}

// A run that another process took over, because this one did not renew its lease, is finished by
// the other.
func TestTakenOver(t *testing.T) {
	begun, finish := make(chan bool), make(chan bool)
	f := fresh(t, 1, func(ctx context.Context, d *dataset.Data, s ml.Spec, r trace.Recorder) (*ml.Result, error) {
		begun <- true
		<-finish
		return ml.Train(context.WithoutCancel(ctx), d, s, r)
	})
	var late atomic.Int64
	f.st.Now = func() time.Time { return time.Now().Add(time.Duration(late.Load())) }
	f.start()
	id := f.create("1")
	<-begun
	var taken bool
	for !taken { // despite the queue's own renewals
		late.Add(int64(store.Lease + time.Hour))
		var err error
		_, taken, err = f.st.ClaimRun(t.Context(), stranger, id)
		require.NoError(t, err)
	}
	close(finish)
	f.stop()
	r := f.run(id)
	require.Check(t, r.Status == store.Running && r.Report == nil, "finished by the one that lost it: %+v", r)
	res := require.Value(ml.Train(t.Context(), points(), ml.DefaultSpec(), nil))(t)
	require.Equal(t, f.st.FinishRun(t.Context(), stranger, id, res), nil, "f.st.FinishRun")
}

func TestSubscribers(t *testing.T) {
	const steps = 1000
	half, rest := make(chan bool), make(chan bool)
	f := fresh(t, 1, func(ctx context.Context, d *dataset.Data, s ml.Spec, report trace.Recorder) (*ml.Result, error) {
		report(trace.Step{Iteration: 1})
		half <- true
		<-rest
		for i := range steps {
			report(trace.Step{Iteration: i}) // nobody reads the steps, and training does not wait
		}
		return ml.Train(ctx, d, s, report)
	}).start()
	id := f.create("1")
	<-half
	late, slow := f.subscribe(id), f.subscribe(id)
	e := <-late
	require.Check(t, e.Status == store.Running && e.Step != nil && e.Step.Iteration == 1, "a late subscriber is told %+v", e)
	gone, leave := context.WithCancel(t.Context())
	left := require.Value(f.q.Subscribe(gone, alice, id))(t)
	leave()
	for range left { // closed by the context
	}
	close(rest)
	require.Check(t, f.end(id).Status == store.Done, "not done")
	last := lastOf(slow)
	require.Check(t, last.Status == store.Done, "a slow subscriber ends with %+v", last)
	last = lastOf(late)
	require.Check(t, last.Status == store.Done, "a late subscriber ends with %+v", last)
	e = f.end(id)
	require.Check(t, e.Status == store.Done, "afterwards: %+v", e) // long after
	f.q.mu.Lock()
	defer f.q.mu.Unlock()
	require.Check(t, len(f.q.watchers) == 0, "watchers left: %v", f.q.watchers)
}

func TestMessage(t *testing.T) {
	t.Parallel()
	name, data := Event{Status: store.Running, Step: &trace.Step{Phase: "svm", Iteration: 3}, Left: 2 * time.Second}.Message()
	if text, err := json.Marshal(data); err != nil || name != "progress" || string(text) != `{"phase":"svm","iteration":3,"objective":0,"violation":0,"left_seconds":2,"text":"SVM: 3 iterations, objective 0, largest violation 0"}` {
		t.Errorf("%s %s, %v", name, text, err)
	}
	name, data = (Event{Status: store.Failed, Error: "x"}).Message()
	require.Check(t, name == "status" && fmt.Sprintf("%v", data) == "{failed x}", "%v %v", name, data)
}

// Trainings and cells pause while a visitor waits for a page.
func TestLiveAnswersFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := New(&store.Store{Now: time.Now}, Config{Workers: 2, Turn: time.Hour})
		for _, j := range []*job{q.begin(t.Context(), "run", store.Waiting{ID: "run"}, false, time.Hour), q.begin(t.Context(), "search/1", store.Waiting{ID: "search", Search: true}, false, 0)} {
			time.Sleep(time.Second)
			answered := q.Live.Urgent()
			looked := make(chan error, 1)
			go func() { looked <- pace.Look(j.ctx) }()
			synctest.Wait()
			require.Check(t, len(looked) == 0, "%s goes on while an answer is made", j.key)
			answered()
			require.Equal(t, <-looked, nil, "<-looked")
			q.end(j)
		}
	})
}
