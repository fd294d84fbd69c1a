// Package jobs trains queued runs in the background. The rows of the store are
// the queue and its durable state; here are the workers, the means to cancel
// them, and the progress they report to whoever listens. Several programs may work
// on one database: each holds the runs that it trains by leases.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/pace"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/store"
)

// Config says how a queue works.
type Config struct {
	Workers int           // trainings at a time, of one workspace one less; 0: one
	Leave   bool          // cells are left to the engine of Use
	Limit   time.Duration // longest that a run is trained; 0: as long as it takes
	Log     *slog.Logger
	Trained func(learner, outcome string, took time.Duration) // told of every training that ended, for metrics; may be nil

	// Train does the work; nil: ml.Train.
	Train func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error)
}

// Queue trains the queued runs of a store.
type Queue struct {
	// Live is closed while somebody waits for a page, a picture or an answer, which holds
	// what is under way here.
	Live pace.Gate

	store   *store.Store
	owner   store.Owner // of the runs that this queue trains
	workers int
	leave   bool
	limit   time.Duration
	pause   time.Duration // that a worker waits after the store has failed it
	log     *slog.Logger
	trained func(learner, outcome string, took time.Duration)
	train   func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error)

	// The store's, but for tests.
	finish func(context.Context, store.Owner, string, *ml.Result) error
	fails  func(ctx context.Context, owner store.Owner, id, message string) error

	wake, wakeAway chan struct{} // hold one: there may be something to do, for workers and for the other engine

	// claiming is held while a run begins or is cancelled, so that the row and
	// the job tell the same story.
	claiming sync.Mutex

	// telling is held from the look at rows until watchers know, so that nobody is told
	// of a search that it goes back.
	telling sync.Mutex

	mu       sync.Mutex                             // guards what follows; never held over a query
	running  map[string]*job                        // by run, or cell of a search
	watchers map[string]map[chan Event]store.Status // by run or search: the status last told
	worked   map[string]*working                    // by search

	cells *Local // what the workers compute cells with
	here  post
	away  *post // nil: no other machines
}

// job is a training, or a cell of a search, under way.
type job struct {
	key    string          // of a training its run
	search string          // of a cell; empty for a training
	ctx    context.Context // of the work
	cancel context.CancelFunc
	last   Event
	cells  int // computed
}

// Behind returns a context of work in the background: somebody who waits for a page goes before
// it, and it gets at least a quarter of the time that passes.
func (q *Queue) Behind(ctx context.Context) context.Context { return q.Live.Behind(ctx, 3) }

// begin notes a job, which is worked on until end, but no longer than limit unless that is
// 0, than ctx, or than until somebody cancels it.
func (q *Queue) begin(ctx context.Context, key, search string, limit time.Duration) *job {
	j := &job{key: key, search: search, last: Event{Status: store.Running}}
	ctx = q.Behind(ctx)
	if limit > 0 {
		j.ctx, j.cancel = context.WithTimeoutCause(ctx, limit, errTooLong)
	} else {
		j.ctx, j.cancel = context.WithCancel(ctx)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running[key] = j
	if search != "" {
		q.begun(search)
	}
	return j
}

// end forgets a job.
func (q *Queue) end(j *job) {
	j.cancel()
	q.mu.Lock()
	defer q.mu.Unlock()
	if w := q.worked[j.search]; w != nil {
		w.change(q.store.Now(), -1, j.cells)
	}
	if q.running[j.key] == j { // lost, released elsewhere and claimed again, it is another job
		delete(q.running, j.key)
	}
}

// New returns a queue over st. It does nothing until Run.
func New(st *store.Store, c Config) *Queue {
	q := &Queue{
		store: st, owner: store.NewOwner(), workers: max(c.Workers, 1), leave: c.Leave, limit: c.Limit, pause: 2 * time.Second, log: c.Log, trained: c.Trained, train: c.Train,
		wake: make(chan struct{}, 1), wakeAway: make(chan struct{}, 1), running: map[string]*job{}, watchers: map[string]map[chan Event]store.Status{}, worked: map[string]*working{},
		finish: st.FinishRun, fails: st.FailRun,
	}
	q.cells = NewLocal(q.workers, st.PlanOf)
	q.here = post{q.cells, q.owner}
	if q.train == nil {
		q.train = ml.Train
	}
	if q.trained == nil {
		q.trained = func(string, string, time.Duration) {}
	}
	return q
}

// Run trains until ctx ends. Runs that were under way when a program died are taken
// up once its lease has run out; those under way here when ctx ends go back into the
// queue.
func (q *Queue) Run(ctx context.Context) {
	tending, stop := context.WithCancel(context.WithoutCancel(ctx)) // leases are renewed until the last run is put back
	var tender sync.WaitGroup
	tender.Go(func() { q.tendUntil(tending) })
	var workers sync.WaitGroup
	for range q.workers {
		workers.Go(func() { q.work(ctx) })
	}
	if q.away != nil {
		workers.Go(func() { q.handOut(ctx) })
	}
	workers.Wait()
	stop()
	tender.Wait()
}

// rounds is the time from one round of tend to the next: a run that is cancelled
// through another program stops within it.
const rounds = time.Second

func (q *Queue) tendUntil(ctx context.Context) {
	tick := time.NewTicker(rounds)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := q.tend(ctx); err != nil && ctx.Err() == nil {
				q.log.ErrorContext(ctx, "leases of runs not renewed", "err", err)
			}
		}
	}
}

// tend keeps this queue in step with the database, where other programs may be at
// work: it renews the leases of the runs under way, stops those that are no longer
// its own, tells watchers of runs that are trained elsewhere how they stand, and
// wakes a worker when there is something to do.
func (q *Queue) tend(ctx context.Context) error {
	if err := q.renew(ctx); err != nil {
		return err
	}
	if err := q.tellElsewhere(ctx); err != nil {
		return err
	}
	waiting, err := q.store.Waiting(ctx, q.owner)
	if err == nil && !waiting {
		waiting, err = q.store.CellsWait(ctx, q.owner)
	}
	if waiting {
		q.Notify()
	}
	return err
}

// tellElsewhere tells watchers of what other programs may work on how it stands.
func (q *Queue) tellElsewhere(ctx context.Context) error {
	q.telling.Lock()
	defer q.telling.Unlock()
	q.mu.Lock()
	var elsewhere []string
	for id := range q.watchers {
		if q.running[id] == nil {
			elsewhere = append(elsewhere, id)
		}
	}
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

// renew renews the leases, and stops the jobs whose runs were cancelled or deleted
// through another program, or taken over by one.
func (q *Queue) renew(ctx context.Context) error {
	q.claiming.Lock() // no run begins between the two looks
	defer q.claiming.Unlock()
	q.mu.Lock()
	under := slices.Collect(maps.Keys(q.running))
	q.mu.Unlock()
	if len(under) == 0 {
		return nil
	}
	held, err := q.store.RenewLeases(ctx, q.owner)
	if err != nil {
		return err
	}
	posts := []post{q.here}
	if q.away != nil {
		posts = append(posts, *q.away)
	}
	for _, p := range posts {
		cells, err := q.store.RenewCells(ctx, p.owner)
		if err != nil {
			return err
		}
		for _, c := range cells {
			held = append(held, keyOf(c))
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range under {
		if j := q.running[id]; j != nil && !slices.Contains(held, id) {
			j.cancel() // harmless where it has just ended
		}
	}
	return nil
}

// Notify tells the workers that there is something to do.
func (q *Queue) Notify() {
	notify(q.wake)
	notify(q.wakeAway)
}

func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default: // somebody is about to look anyway
	}
}

// Cancel ends a run of a workspace that is queued or running.
func (q *Queue) Cancel(ctx context.Context, ws store.Workspace, id string) error {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	if err := q.store.CancelRun(ctx, ws, id); err != nil {
		return err
	}
	q.stop(id)
	return nil
}

// Delete deletes runs of a workspace, all or none, and stops those under way.
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
		j.cancel()
	}
	q.mu.Unlock()
	q.publish(id, Event{Status: store.Cancelled})
}

// work is the life of a worker.
func (q *Queue) work(ctx context.Context) {
	for turn := 0; ctx.Err() == nil; turn++ {
		take := []func(context.Context) (bool, error){q.takeRun, q.takeCell}
		if q.leave {
			take[1] = q.takeRun
		}
		if turn%2 == 1 { // so that runs and searches do not starve each other
			slices.Reverse(take)
		}
		ok, err := take[0](ctx)
		if !ok && err == nil {
			ok, err = take[1](ctx)
		}
		if !ok {
			q.idle(ctx, q.wake, err)
		}
	}
}

// idle waits until there may be something to do, or, after an error, for a moment.
func (q *Queue) idle(ctx context.Context, wake <-chan struct{}, err error) {
	var over <-chan time.Time
	if err != nil {
		if ctx.Err() == nil {
			q.log.ErrorContext(ctx, "no work taken from the queue", "err", err)
		}
		wake, over = nil, time.After(q.pause)
	}
	select {
	case <-ctx.Done():
	case <-wake:
	case <-over:
	}
}

// takeRun trains the next run, if one is waiting.
func (q *Queue) takeRun(ctx context.Context) (bool, error) {
	j, r, ok, err := q.claim(ctx)
	if ok {
		q.Notify() // there may be more, for the other workers
		q.do(ctx, j, r)
		q.end(j)
	}
	return ok, err
}

// claim takes the next run from the queue.
func (q *Queue) claim(ctx context.Context) (*job, store.Run, bool, error) {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	take := q.store.ClaimRunInTurn
	if q.leave { // cells do not wait for a worker here
		take = q.store.ClaimRun
	}
	r, ok, err := take(ctx, q.owner, q.here.each())
	if !ok || err != nil {
		return nil, r, false, err
	}
	j := q.begin(ctx, r.ID, "", q.limit)
	q.publish(r.ID, Event{Status: store.Running})
	return j, r, true, nil
}

// mayPass tells whether the same may work later.
func mayPass(err error) bool {
	var fault *store.Error
	return errors.As(err, &fault) && slices.Contains([]string{"storage", "busy"}, fault.Kind()) || errors.Is(err, context.DeadlineExceeded)
}

// errTooLong is why the training of a run ends that has come to the limit of time.
var errTooLong = errors.New("longer than a run may take")

// saving is how long storing a result may take once the program is stopping.
const saving = 4 * time.Second

// tries is how often a result is stored that the disk has no room for, or the database no
// time, before the run fails.
const tries = 30

// insist stores an end, again and again while the disk or the database is at fault: at most
// so many times, or, with 0 and whatever the fault, until the program stops. Meanwhile
// there is no use in other work, whose end could not be stored either.
func (q *Queue) insist(ctx context.Context, most int, save func(context.Context) error) error {
	for n := 1; ; n++ {
		keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), saving)
		err := save(keep)
		cancel()
		if err == nil || errors.Is(err, store.ErrNotFound) || n == most || most > 0 && !mayPass(err) {
			return err
		}
		if n%tries == 1 {
			q.log.WarnContext(ctx, "an end is not saved, and tried again", "err", err)
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(q.pause):
		}
	}
}

// do trains one run and stores how it ended.
func (q *Queue) do(ctx context.Context, j *job, r store.Run) {
	start := time.Now()
	res, err := sound(func() (*ml.Result, error) { return q.attempt(j.ctx, r) })
	partial := err == nil && res.Report.Status == trace.Cancelled

	var end Event
	switch {
	case err == nil && !partial:
		end = Event{Status: store.Done}
		err = q.insist(ctx, tries, func(ctx context.Context) error { return q.finish(ctx, q.owner, r.ID, res) })
		if err != nil && !errors.Is(err, store.ErrNotFound) && ctx.Err() == nil {
			end, err = q.fail(ctx, r, err)
		}
	case ctx.Err() != nil:
		err = ctx.Err()
	case context.Cause(j.ctx) == errTooLong:
		end, err = q.fail(ctx, r, param.Refuse("what makes it quicker: "+r.Spec.Quicker(), "the training was ended after %v, the longest that a run may take here", q.limit))
	case j.ctx.Err() != nil:
		err = store.ErrNotFound // cancelled, deleted or taken over
	default:
		end, err = q.fail(ctx, r, err)
	}
	if err != nil && ctx.Err() != nil && !errors.Is(err, store.ErrNotFound) { // it is for the next start
		keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), saving)
		defer cancel()
		if err := q.store.ReleaseRun(keep, q.owner, r.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
			q.log.ErrorContext(ctx, "run not put back into the queue", "run", r.ID, "err", err)
		}
		return
	}
	if errors.Is(err, store.ErrNotFound) { // whoever did it has said so
		q.trained(r.Spec.Learner, string(store.Cancelled), time.Since(start))
		return
	}
	q.trained(r.Spec.Learner, string(end.Status), time.Since(start))
	q.publish(r.ID, end)
}

// fail ends a run with the reason.
func (q *Queue) fail(ctx context.Context, r store.Run, reason error) (Event, error) {
	message := q.explain(ctx, reason, "run", r.ID)
	err := q.insist(ctx, 0, func(ctx context.Context) error { return q.fails(ctx, q.owner, r.ID, message) })
	return Event{Status: store.Failed, Error: message}, err
}

// explain tells why a run or search failed: in words for its owner, or, where it is a
// fault of the program, in the log.
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
		q.log.ErrorContext(ctx, "panic in a training", what, id, "panic", p.value, "stack", p.stack)
	case errors.As(reason, &refusal), errors.As(reason, &problems):
		q.log.InfoContext(ctx, what+" failed", what, id, "err", reason)
	default:
		q.log.ErrorContext(ctx, what+" failed", what, id, "err", reason)
	}
	return message
}

// panicked is the error of a training that panicked.
type panicked struct {
	value any
	stack string
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// sound does work and turns a panic into an error.
func sound[T any](work func() (T, error)) (res T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, string(debug.Stack())}
		}
	}()
	return work()
}

// every is the least time between two reports of progress.
const every = 100 * time.Millisecond

// attempt trains a run and tells those who watch how far that is.
func (q *Queue) attempt(ctx context.Context, r store.Run) (*ml.Result, error) {
	data, err := q.store.Data(ctx, r.Hash)
	if err != nil {
		return nil, fmt.Errorf("points of run %s: %w", r.ID, err)
	}
	began := time.Now()
	last := began.Add(-every)
	var decline trace.Decline
	return q.train(ctx, data, r.Spec, func(s trace.Step) {
		if now := time.Now(); now.Sub(last) >= every {
			last = now
			decline.Note(now.Sub(began), s)
			e := Event{Status: store.Running, Step: &s}
			e.Left, _ = decline.Left()
			q.publish(r.ID, e)
		}
	})
}
