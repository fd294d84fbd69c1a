// Package jobs trains queued runs in the background. The rows of the store are
// the queue and its durable state; here are the workers, the means to cancel
// them, and the progress they report to listeners. Several programs may work
// on one database: each holds the runs that it trains by leases.
//
// A cell of a search that is being computed stands in the store, with the lease of its owner, which
// alone decides whose it is and whether anybody wants it. All else is lost with its process: in
// Queue.running is what stops the cell; where other machines compute it, in Fleet.out who waits
// for it, in the stream what a worker may take, and in Worker.held what stops it there, which the
// greetings of the worker tell the fleet.
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
	Turn    time.Duration // after which work makes room for shorter work; 0: a second
	Memory  int64         // bytes that work may hold, and a quarter more for light work; 0: 768 MB for each worker, which is also the most
	Leave   bool          // cells are left to the engine of Use
	Limit   time.Duration // longest that a run is trained; 0: as long as it takes
	Log     *slog.Logger
	Trained func(learner, outcome string, took time.Duration) // told of every training that ended, for metrics; may be nil

	// Train does the work; nil: ml.Train.
	Train func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error)
}

// Queue trains the queued runs of a store.
type Queue struct {
	// Live is closed while somebody waits for a page, a picture or an answer; this pauses
	// the work of the queue.
	Live pace.Gate

	store   *store.Store
	owner   store.Owner // of the runs that this queue trains
	workers int
	memory  int64
	leave   bool
	turn    time.Duration
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

	// telling serialises the events of searches, from the look at rows until watchers know, so
	// that progress never goes backwards.
	telling sync.Mutex

	saving   sync.Mutex // held while results of cells are stored; taken after claiming; guards computed
	computed []computed // not stored yet

	mu       sync.Mutex                             // guards what follows; never held over a query
	running  map[string]*job                        // by run, or cell of a search
	watchers map[string]map[chan Event]store.Status // by run or search: the status last told
	worked   map[string]*Work                       // by search
	shared   []*job                                 // medium and heavy work here; those in front go on, the others hold
	accounts map[string]*account                    // of sharers, see lanes.go

	cells *Local // what the workers compute cells with
	here  post
	away  *post // nil: no other machines
}

// job is a training, or a cell of a search, under way.
type job struct {
	key    string          // of a training its run
	search string          // of a cell; empty for a training
	ctx    context.Context // of the work
	cancel context.CancelCauseFunc
	last   Event
	cells  int       // computed
	began  time.Time // by the store's clock

	// What follows is guarded by the queue's mu.
	work    store.Waiting // as it was claimed
	as      store.Weight  // with which it goes on
	away    bool          // it is computed elsewhere, and takes no place here
	over    bool          // it has ended, or is about to
	backAs  store.Weight  // with which it goes back into the queue
	gate    pace.Gate
	resume  func()        // nil: it is not held
	before  time.Duration // that it worked until it was held last
	since   time.Time     // when it went on last; zero: it is held
	limit   time.Duration // that it may work; 0: for ever
	tooLong *time.Timer   // ends it then
	turn    *time.Timer   // ends its turn as light work
}

// Behind returns a context of work in the background: somebody who waits for a page goes before
// it, and it gets at least a quarter of the time that passes.
func (q *Queue) Behind(ctx context.Context) context.Context { return q.Live.Behind(ctx, 3) }

// begin notes a job, which is worked on until end, but no longer than limit unless that is
// 0, than ctx, or than until somebody cancels it.
func (q *Queue) begin(ctx context.Context, key string, w store.Waiting, away bool, limit time.Duration) *job {
	j := &job{key: key, last: Event{Status: store.Running}, began: q.store.Now(), work: w, as: w.Weight, away: away, since: time.Now(), limit: limit}
	j.ctx, j.cancel = context.WithCancelCause(j.gate.Strictly(q.Behind(ctx)))
	q.mu.Lock()
	defer q.mu.Unlock()
	j.tooLong = time.AfterFunc(cmp.Or(limit, math.MaxInt64), func() { j.cancel(errTooLong) })
	if w.Search {
		j.search = w.ID
		q.begun(w.ID)
	}
	q.running[key] = j
	q.serve(w)
	switch {
	case away:
	case w.Weight == store.Light:
		j.turn = time.AfterFunc(q.turn, func() { q.overdue(j) })
		q.share()
	default:
		q.shared = append(q.shared, j)
		q.share()
	}
	return j
}

// muchMemory is the memory of work, in bytes, from which garbage is collected as soon as it ends.
const muchMemory = 64 << 20

// saves notes that a job has ended and its result only has to be stored. The job keeps its place
// until then: starting other work is no use if its result could not be stored either.
func (q *Queue) saves(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j.over = true
	j.tooLong.Stop()
}

// end forgets a job.
func (q *Queue) end(j *job) {
	j.cancel(nil)
	if j.work.Memory >= muchMemory {
		runtime.GC() // before work begins that the memory was kept free for
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
	if q.running[j.key] == j { // lost, released elsewhere and claimed again, it is another job
		delete(q.running, j.key)
	}
	q.share()
	q.Notify() // there is a place
}

// New returns a queue over st. It does nothing until Run.
func New(st *store.Store, c Config) *Queue {
	q := &Queue{
		store: st, owner: store.NewOwner(), workers: max(c.Workers, 1), leave: c.Leave, turn: cmp.Or(c.Turn, time.Second), limit: c.Limit, pause: 2 * time.Second, log: c.Log, trained: c.Trained, train: c.Train,
		wake: make(chan struct{}, 1), wakeAway: make(chan struct{}, 1), running: map[string]*job{}, watchers: map[string]map[chan Event]store.Status{}, worked: map[string]*Work{}, accounts: map[string]*account{},
		finish: st.FinishRun, fails: st.FailRun,
	}
	q.cells = NewLocal(q.workers, st.PlanOf)
	q.here = post{q.cells, q.owner}
	if q.train == nil {
		q.train = ml.Train
	}
	q.memory = min(cmp.Or(c.Memory, math.MaxInt64), memoryEach*int64(q.workers))
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
	workers.Go(func() { q.work(ctx, q.wake, q.claim) })
	if q.away != nil {
		workers.Go(func() { q.work(ctx, q.wakeAway, q.claimAway) })
	}
	workers.Wait()
	q.saveCells(ctx)
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
			q.rotate()
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
	if len(waiting) > 0 {
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
	owners := []store.Owner{q.owner}
	if q.away != nil {
		owners = append(owners, q.away.owner)
	}
	held, cells, err := q.store.RenewLeases(ctx, owners...)
	if err != nil {
		return err
	}
	for _, c := range cells {
		held = append(held, keyOf(c))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range under {
		if j := q.running[id]; j != nil && !slices.Contains(held, id) {
			j.cancel(nil) // harmless where it has just ended
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
		j.cancel(nil)
	}
	q.mu.Unlock()
	q.publish(id, Event{Status: store.Cancelled})
}

// work begins what claim finds to do, until ctx ends and all of it has ended.
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

// claim takes the next work from the queue, if there is room for it here.
func (q *Queue) claim(ctx context.Context) (do func(), err error) {
	q.claiming.Lock()
	defer q.claiming.Unlock()
	list, err := q.store.Waiting(ctx, q.owner)
	if err != nil {
		return nil, err
	}
	q.saveEnded(ctx, list)
	if q.leave {
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
	j := q.begin(ctx, r.ID, w, false, q.limit)
	q.publish(r.ID, Event{Status: store.Running})
	return func() { q.do(ctx, j, r); q.end(j) }, nil
}

// mayPass reports whether the same may work later.
func mayPass(err error) bool {
	var fault *store.Error
	return errors.As(err, &fault) && slices.Contains([]string{"storage", "busy"}, fault.Kind()) || errors.Is(err, context.DeadlineExceeded)
}

// errTooLong is the cause with which training ends at the time limit.
var errTooLong = errors.New("longer than a run may take")

// saving limits the time to store a result once the program is stopping.
const saving = 4 * time.Second

// tries is how often a result is stored that the disk has no room for, or the database no
// time, before the run fails.
const tries = 30

// insist saves a result, retrying while the disk or the database is at fault: at most
// most times or, with 0 and whatever the error, until the program stops. Other work is no
// use meanwhile, as its result could not be stored either.
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
	q.saves(j)
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
	case context.Cause(j.ctx) == errNoRoom:
		err = q.insist(ctx, 0, func(ctx context.Context) error { return q.store.ReleaseRun(ctx, q.owner, r.ID, j.backAs) })
		if err == nil {
			q.publish(r.ID, Event{Status: store.Queued})
			return
		}
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
		if err := q.store.ReleaseRun(keep, q.owner, r.ID, store.Light); err != nil && !errors.Is(err, store.ErrNotFound) {
			q.log.ErrorContext(ctx, "run not put back into the queue", "run", r.ID, "err", err)
		}
		return
	}
	if errors.Is(err, store.ErrNotFound) { // its author has said so
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
