// Package jobs trains queued runs in the background. The rows of the store are the queue and its
// durable state. This package has the workers, cancels them and reports their progress. Several
// processes may share a database: each holds leases on the runs it trains.
//
// The store also holds the cells of searches being computed, with leases that alone decide who
// computes a cell and whether it is still needed. All other state is lost with its process:
// Queue.running can stop a cell here; Fleet.out knows who waits for a cell computed elsewhere, the
// stream holds the cells that workers may take, and Worker.held can stop a cell on a worker, whose
// greetings report it to the fleet.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/lists"
	"marginlab/ml/pace"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/store"
)

// Config holds the settings of a queue.
type Config struct {
	Workers int           // number of concurrent trainings, of which one workspace may hold all but one; 0: one
	Turn    time.Duration // time after which work makes room for shorter work; 0: a second
	Memory  int64         // bytes for work, plus a quarter for light work; 0: 768 MB per worker, which is also the maximum
	Leave   bool          // only the engine added by Use computes cells
	Limit   time.Duration // time limit of a training; 0: none
	Log     *slog.Logger
	Trained func(learner, outcome string, took time.Duration) // called after every training, for metrics; may be nil

	// Train does the work; nil: ml.Train.
	Train func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error)
}

// Queue trains the queued runs of a store.
type Queue struct {
	// Live pauses the work of the queue while someone waits for a page, a picture or an
	// answer.
	Live pace.Gate

	Config // with its defaults

	store *store.Store
	owner store.Owner   // owner of this queue's leases on runs
	pause time.Duration // pause of a worker after an error of the store

	// finish and fails are the store's FinishRun and FailRun, except in tests.
	finish func(context.Context, store.Owner, string, *ml.Result) error
	fails  func(ctx context.Context, owner store.Owner, id, message string) error

	wake, wakeAway chan struct{} // buffer one signal that there may be work, for workers and for the other engine

	// claiming is held while a run starts or is cancelled, to keep row and job
	// consistent.
	claiming sync.Mutex

	// publishing serialises events of searches, from reading rows to notifying watchers, so that
	// progress never goes backwards.
	publishing sync.Mutex

	saving   sync.Mutex // held while results of cells are stored; guards computed
	computed []computed // not stored yet

	mu       sync.Mutex                             // guards the fields below; never held during a query
	running  map[string]*job                        // by run, or cell of a search
	watchers map[string]map[chan Event]store.Status // by run or search, with the status last sent
	worked   map[string]*Work                       // by search
	shared   []*job                                 // medium and heavy work here; the first ones run, the others are paused
	accounts map[string]*account                    // by sharer, see lanes.go

	cells *Local // engine of the workers
	here  leasedEngine
	away  *leasedEngine // engine of other machines; nil: none
}

// job is a running training, or the running computation of a cell.
type job struct {
	key    string          // for a training, the id of its run
	search string          // of a cell; empty for a training
	ctx    context.Context // context of the work
	cancel context.CancelCauseFunc
	last   Event
	cells  int       // number of cells computed
	began  time.Time // start, by the store's clock

	// Fields below are guarded by the queue's mu.
	work      store.Waiting // as claimed
	as        store.Weight  // its current weight
	away      bool          // computed elsewhere, without a place here
	over      bool          // ended or ending
	requeueAs store.Weight  // weight with which it returns to the queue
	gate      pace.Gate
	resume    func()        // nil: not paused
	before    time.Duration // working time until it was last paused
	since     time.Time     // when it was last resumed; zero: paused
	limit     time.Duration // limit of working time; 0: none
	tooLong   *time.Timer   // ends it at the limit
	turn      *time.Timer   // ends its turn as light work
}

// Behind returns a context for background work that yields to page requests but gets at least a
// quarter of the time.
func (q *Queue) Behind(ctx context.Context) context.Context { return q.Live.Behind(ctx, 3) }

// begin registers a job. Its context ends with end, after limit unless limit is 0, with ctx, or
// when the job is cancelled.
func (q *Queue) begin(ctx context.Context, key string, w store.Waiting, away bool, limit time.Duration) *job {
	j := &job{key: key, last: Event{Status: store.Running}, began: q.store.Now(), work: w, as: w.Weight, away: away, since: time.Now(), limit: limit}
	j.ctx, j.cancel = context.WithCancelCause(j.gate.Strictly(q.Behind(ctx)))
	q.mu.Lock()
	defer q.mu.Unlock()
	j.tooLong = time.AfterFunc(cmp.Or(limit, math.MaxInt64), func() { j.cancel(errTooLong) })
	if w.Search {
		j.search = w.ID
		q.cellBegins(w.ID)
	}
	q.running[key] = j
	q.serve(w)
	switch {
	case away:
	case w.Weight == store.Light:
		j.turn = time.AfterFunc(q.Turn, func() { q.endTurn(j) })
		q.share()
	default:
		q.shared = append(q.shared, j)
		q.share()
	}
	return j
}

// collectAbove is the least memory of work, in bytes, that triggers a garbage collection at its
// end.
const collectAbove = 64 << 20

// startSaving marks that a job only has to store its result. The job keeps its place until then, because
// other work could not store its result either.
func (q *Queue) startSaving(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.over = true
	j.tooLong.Stop()
}

func (q *Queue) end(j *job) {
	j.cancel(nil)
	if j.work.Memory >= collectAbove {
		runtime.GC() // frees memory reserved for it before other work begins
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.worked[j.search] != nil {
		q.counted(j.search).Cells += j.cells
	}
	j.over = true
	j.tooLong.Stop()
	if j.turn != nil {
		j.turn.Stop()
	}
	q.pay(j.work, q.store.Now().Sub(j.began))
	q.shared = slices.DeleteFunc(q.shared, func(o *job) bool { return o == j })
	if q.running[j.key] == j { // after being lost and claimed again, the key may belong to another job
		delete(q.running, j.key)
	}
	q.share()
	q.Notify() // a place is free
}

// New returns a queue over st. It does nothing until Run.
func New(st *store.Store, c Config) *Queue {
	c.Workers, c.Turn = max(c.Workers, 1), cmp.Or(c.Turn, time.Second)
	c.Memory = min(cmp.Or(c.Memory, math.MaxInt64), memoryEach*int64(c.Workers))
	if c.Train == nil {
		c.Train = ml.Train
	}
	if c.Trained == nil {
		c.Trained = func(string, string, time.Duration) {}
	}
	q := &Queue{
		Config: c, store: st, owner: store.NewOwner(), pause: 2 * time.Second,
		wake: make(chan struct{}, 1), wakeAway: make(chan struct{}, 1), running: map[string]*job{}, watchers: map[string]map[chan Event]store.Status{}, worked: map[string]*Work{}, accounts: map[string]*account{},
		finish: st.FinishRun, fails: st.FailRun,
	}
	q.cells = NewLocal(q.Workers, st.PlanOf)
	q.here = leasedEngine{q.cells, q.owner}
	return q
}

// Run trains until ctx ends. Runs of a process that died are resumed once its leases have
// expired; runs in progress here when ctx ends return to the queue.
func (q *Queue) Run(ctx context.Context) {
	tending, stop := context.WithCancel(context.WithoutCancel(ctx)) // renew leases until the last run has returned to the queue
	var tender sync.WaitGroup
	tender.Go(func() { q.tendUntil(tending) })
	var workers sync.WaitGroup
	workers.Go(func() { q.work(ctx, q.wake, q.claim) })
	if q.away != nil {
		workers.Go(func() { q.work(ctx, q.wakeAway, q.claimAway) })
	}
	workers.Wait()
	q.saveCells(ctx)
	stop()
	tender.Wait()
}

// renewEvery is the interval of tend, and so the delay with which cancelling from another process stops
// a run.
const renewEvery = time.Second

func (q *Queue) tendUntil(ctx context.Context) {
	tick := time.NewTicker(renewEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			q.rotate()
			logFault(ctx, q.Log, "leases of runs not renewed", q.tend(ctx))
		}
	}
}

// tend synchronises this queue with the database, which other processes may also use: it
// renews the leases of running jobs, stops those it no longer owns, sends watchers the
// state of runs trained elsewhere, and wakes a worker if there is work.
func (q *Queue) tend(ctx context.Context) error {
	if err := q.renew(ctx); err != nil {
		return err
	}
	if err := q.publishElsewhere(ctx); err != nil {
		return err
	}
	waiting, err := q.store.Waiting(ctx, q.owner)
	if len(waiting) > 0 {
		q.Notify()
	}
	return err
}

// publishElsewhere sends watchers the state of jobs that other processes may be working on.
func (q *Queue) publishElsewhere(ctx context.Context) error {
	q.publishing.Lock()
	defer q.publishing.Unlock()
	q.mu.Lock()
	elsewhere := slices.DeleteFunc(slices.Collect(maps.Keys(q.watchers)), func(id string) bool { return q.running[id] != nil })
	q.mu.Unlock()
	if len(elsewhere) == 0 {
		return nil
	}
	states, err := q.states(ctx, elsewhere...)
	for id, e := range states {
		q.publishChange(id, e)
	}
	return err
}

// renew renews the leases, and stops the jobs whose runs were cancelled or deleted by another
// process, or taken over by one.
func (q *Queue) renew(ctx context.Context) error {
	q.claiming.Lock() // no run may start between the two reads
	defer q.claiming.Unlock()
	q.mu.Lock()
	under := slices.Collect(maps.Keys(q.running))
	q.mu.Unlock()
	if len(under) == 0 {
		return nil
	}
	owners := []store.Owner{q.owner}
	if q.away != nil {
		owners = append(owners, q.away.owner)
	}
	held, cells, err := q.store.RenewLeases(ctx, owners...)
	if err != nil {
		return err
	}
	held = append(held, lists.Map(cells, keyOf)...)
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range under {
		if j := q.running[id]; j != nil && !slices.Contains(held, id) {
			j.cancel(nil) // harmless if it has just ended
		}
	}
	return nil
}

// Notify wakes the workers, since there may be work.
func (q *Queue) Notify() {
	notify(q.wake)
	notify(q.wakeAway)
}

func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // a signal is already pending
	}
}

// Cancel cancels a queued or running run of a workspace.
func (q *Queue) Cancel(ctx context.Context, ws store.Workspace, id string) error {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	if err := q.store.CancelRun(ctx, ws, id); err != nil {
		return err
	}
	q.stop(id)
	return nil
}

// Delete deletes runs of a workspace, all or none, and stops running ones.
func (q *Queue) Delete(ctx context.Context, ws store.Workspace, ids []string) error {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	if err := q.store.DeleteRuns(ctx, ws, ids); err != nil {
		return err
	}
	for _, id := range ids {
		q.stop(id)
	}
	return nil
}

// stop ends the job of a run whose row has ended.
func (q *Queue) stop(id string) {
	q.mu.Lock()
	if j := q.running[id]; j != nil {
		j.cancel(nil)
	}
	q.mu.Unlock()
	q.publish(id, Event{Status: store.Cancelled})
}

// work runs what claim returns until ctx ends, then waits for all of it.
func (q *Queue) work(ctx context.Context, wake <-chan struct{}, claim func(context.Context) (do func(), err error)) {
	var under sync.WaitGroup
	defer under.Wait()
	for ctx.Err() == nil {
		do, err := claim(ctx)
		if do == nil {
			q.idle(ctx, wake, err)
			continue
		}
		under.Go(do)
	}
}

// idle waits until there may be work or, after an error, for a moment.
func (q *Queue) idle(ctx context.Context, wake <-chan struct{}, err error) {
	var over <-chan time.Time
	if err != nil {
		logFault(ctx, q.Log, "no work taken from the queue", err)
		wake, over = nil, time.After(q.pause)
	}
	select {
	case <-ctx.Done():
	case <-wake:
	case <-over:
	}
}

// claim takes the next work from the queue, if there is room for it here.
func (q *Queue) claim(ctx context.Context) (do func(), err error) {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	list, err := q.store.Waiting(ctx, q.owner)
	if err != nil {
		return nil, err
	}
	q.saveEnded(ctx, list)
	if q.Leave {
		list = slices.DeleteFunc(list, func(w store.Waiting) bool { return w.Search })
	}
	w, ok := q.next(list)
	if !ok {
		return nil, nil
	}
	if w.Search {
		return q.claimCell(ctx, q.here, w)
	}
	r, ok, err := q.store.ClaimRun(ctx, q.owner, w.ID)
	if !ok || err != nil {
		return nil, err
	}
	j := q.begin(ctx, r.ID, w, false, q.Limit)
	q.publish(r.ID, Event{Status: store.Running})
	return func() { q.do(ctx, j, r); q.end(j) }, nil
}

func isTemporary(err error) bool {
	var fault *store.Error
	return errors.As(err, &fault) && slices.Contains([]string{"storage", "busy"}, fault.Kind()) || errors.Is(err, context.DeadlineExceeded)
}

// errTooLong is the cancellation cause at the time limit.
var errTooLong = errors.New("time limit of a run exceeded")

// saveTimeout limits the time to store a result once the program is stopping.
const saveTimeout = 4 * time.Second

// saveTries is the number of attempts to store a result while the disk is full or the database busy,
// before the run fails.
const saveTries = 30

// retry calls save, retrying while the disk or database is at fault: at most most times or, if
// most is 0, after any error until the program stops. It blocks its worker meanwhile, because other
// results could not be stored either.
func (q *Queue) retry(ctx context.Context, most int, save func(context.Context) error) error {
	for n := 1; ; n++ {
		keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
		err := save(keep)
		cancel()
		if err == nil || errors.Is(err, store.ErrNotFound) || n == most || most > 0 && !isTemporary(err) {
			return err
		}
		if n%saveTries == 1 {
			q.Log.WarnContext(ctx, "result not saved, trying again", "err", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(q.pause):
		}
	}
}

// do trains a run and stores its outcome.
func (q *Queue) do(ctx context.Context, j *job, r store.Run) {
	start := time.Now()
	res, err := catchPanic(func() (*ml.Result, error) { return q.attempt(j.ctx, r) })
	q.startSaving(j)
	partial := err == nil && res.Report.Status == trace.Cancelled

	var end Event
	switch {
	case err == nil && !partial:
		end = Event{Status: store.Done}
		err = q.retry(ctx, saveTries, func(ctx context.Context) error { return q.finish(ctx, q.owner, r.ID, res) })
		if err != nil && !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
			end, err = q.fail(ctx, r, err)
		}
	case ctx.Err() != nil:
		err = ctx.Err()
	case context.Cause(j.ctx) == errNoRoom:
		err = q.retry(ctx, 0, func(ctx context.Context) error { return q.store.ReleaseRun(ctx, q.owner, r.ID, j.requeueAs) })
		if err == nil {
			q.publish(r.ID, Event{Status: store.Queued})
			return
		}
	case context.Cause(j.ctx) == errTooLong:
		end, err = q.fail(ctx, r, param.Refuse(r.Spec.Quicker()+" makes it quicker", "the training was stopped after %s, the time limit of this server", formatLimit(q.Limit)))
	case j.ctx.Err() != nil:
		err = store.ErrNotFound // cancelled, deleted or taken over
	default:
		end, err = q.fail(ctx, r, err)
	}
	if err != nil && ctx.Err() != nil && !errors.Is(err, store.ErrNotFound) { // left for the next start
		keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
		defer cancel()
		if err := q.store.ReleaseRun(keep, q.owner, r.ID, store.Light); err != nil && !errors.Is(err, store.ErrNotFound) {
			q.Log.ErrorContext(ctx, "run not put back into the queue", "run", r.ID, "err", err)
		}
		return
	}
	if errors.Is(err, store.ErrNotFound) { // deleted by its owner
		q.Trained(r.Spec.Learner, string(store.Cancelled), time.Since(start))
		return
	}
	q.Trained(r.Spec.Learner, string(end.Status), time.Since(start))
	q.publish(r.ID, end)
}

// formatLimit formats a time limit as the flag accepts it: 1h, not 1h0m0s.
func formatLimit(d time.Duration) string {
	return strings.ReplaceAll(strings.ReplaceAll(d.String(), "m0s", "m"), "h0m", "h")
}

func (q *Queue) fail(ctx context.Context, r store.Run, reason error) (Event, error) {
	message := q.explain(ctx, reason, "run", r.ID)
	err := q.retry(ctx, 0, func(ctx context.Context) error { return q.fails(ctx, q.owner, r.ID, message) })
	return Event{Status: store.Failed, Error: message}, err
}

// explain returns the message of a failed run or search for its owner; faults of the program are
// logged instead.
func (q *Queue) explain(ctx context.Context, reason error, what, id string) (message string) {
	message, forOwner := param.ForPerson(reason)
	if !forOwner {
		message = "The training stopped because of a fault in this program. It was logged."
	}
	var p *panicked
	var refusal *param.Refusal
	var problems param.Problems
	switch {
	case errors.As(reason, &p):
		q.Log.ErrorContext(ctx, "panic in a training", what, id, "panic", p.value, "stack", p.stack)
	case errors.As(reason, &refusal), errors.As(reason, &problems):
		q.Log.InfoContext(ctx, what+" failed", what, id, "err", reason)
	default:
		q.Log.ErrorContext(ctx, what+" failed", what, id, "err", reason)
	}
	return message
}

// panicked is the error of a panic in a training.
type panicked struct {
	value any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// catchPanic calls work and converts a panic to an error.
func catchPanic[T any](work func() (T, error)) (res T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, string(debug.Stack())}
		}
	}()
	return work()
}

// reportEvery is the minimum interval between two progress reports.
const reportEvery = 100 * time.Millisecond

// attempt trains a run and reports its progress to watchers.
func (q *Queue) attempt(ctx context.Context, r store.Run) (*ml.Result, error) {
	data, err := q.store.Data(ctx, r.Hash)
	if err != nil {
		return nil, fmt.Errorf("points of run %s: %w", r.ID, err)
	}
	began := time.Now()
	last := began.Add(-reportEvery)
	var decline trace.Decline
	return q.Train(ctx, data, r.Spec, func(s trace.Step) {
		if now := time.Now(); now.Sub(last) >= reportEvery {
			last = now
			decline.Note(now.Sub(began), s)
			e := Event{Status: store.Running, Step: &s}
			e.Left, _ = decline.Left()
			q.publish(r.ID, e)
		}
	})
}
