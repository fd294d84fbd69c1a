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
	"strings"
	"sync"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/pace"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/store"
)

// Config holds the settings of a queue.
type Config struct {
	Workers int           // trainings at a time, of one workspace one less; 0: one
	Turn    time.Duration // after which work makes room for shorter work; 0: a second
	Memory  int64         // bytes for work, plus a quarter for light work; 0: 768 MB per worker, which is also the maximum
	Leave   bool          // cells are left to the engine of Use
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

	store   *store.Store
	owner   store.Owner // of the runs that this queue trains
	workers int
	memory  int64
	leave   bool
	turn    time.Duration
	limit   time.Duration
	pause   time.Duration // of a worker after an error of the store
	log     *slog.Logger
	trained func(learner, outcome string, took time.Duration)
	train   func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Result, error)

	// The store's, except in tests.
	finish func(context.Context, store.Owner, string, *ml.Result) error
	fails  func(ctx context.Context, owner store.Owner, id, message string) error

	wake, wakeAway chan struct{} // buffer one signal that there may be work, for workers and for the other engine

	// claiming is held while a run starts or is cancelled, to keep row and job
	// consistent.
	claiming sync.Mutex

	// telling serialises events of searches, from reading rows to notifying watchers, so that
	// progress never goes backwards.
	telling sync.Mutex

	saving   sync.Mutex // held while results of cells are stored; taken after claiming; guards computed
	computed []computed // not stored yet

	mu       sync.Mutex                             // guards the fields below; never held during a query
	running  map[string]*job                        // by run, or cell of a search
	watchers map[string]map[chan Event]store.Status // by run or search, with the status last sent
	worked   map[string]*Work                       // by search
	shared   []*job                                 // medium and heavy work here; those in front go on, the others hold
	accounts map[string]*account                    // of sharers, see lanes.go

	cells *Local // engine of the workers
	here  post
	away  *post // engine of other machines; nil: none
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
	work    store.Waiting // as claimed
	as      store.Weight  // its current weight
	away    bool          // computed elsewhere, without a place here
	over    bool          // ended or ending
	backAs  store.Weight  // with which it goes back into the queue
	gate    pace.Gate
	resume  func()        // nil: it is not held
	before  time.Duration // that it worked until it was held last
	since   time.Time     // when it went on last; zero: it is held
	limit   time.Duration // of working time; 0: none
	tooLong *time.Timer   // ends it then
	turn    *time.Timer   // ends its turn as light work
}

// Behind returns a context for background work that yields to page requests but gets at least a
// quarter of the time.
func (q *Queue) Behind(ctx context.Context) context.Context { return q.Live.Behind(ctx, 3) }

// begin registers a job. Its context ends with end, after limit unless 0, with ctx, or when it is
// cancelled.
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

// muchMemory is the memory of work, in bytes, above which garbage is collected as soon as it ends.
const muchMemory = 64 << 20

// saves marks that a job only has to store its result. It keeps its place until then, because
// other work could not store its result either.
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
	q.Notify() // a place is free
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

// Run trains until ctx ends. Runs of a process that died are resumed once its leases have
// expired; runs in progress here when ctx ends return to the queue.
func (q *Queue) Run(ctx context.Context) {
	tending, stop := context.WithCancel(context.WithoutCancel(ctx)) // renew leases until the last run is back in the queue
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

// rounds is the interval of tend, within which a run cancelled by another process
// stops.
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
			logFault(ctx, q.log, "leases of runs not renewed", q.tend(ctx))
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
	if err := q.tellElsewhere(ctx); err != nil {
		return err
	}
	waiting, err := q.store.Waiting(ctx, q.owner)
	if len(waiting) > 0 {
		q.Notify()
	}
	return err
}

// tellElsewhere sends watchers the state of jobs that other processes may be working on.
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
	for _, c := range cells {
		held = append(held, keyOf(c))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range under {
		if j := q.running[id]; j != nil && !slices.Contains(held, id) {
			j.cancel(nil) // harmless if it has just ended
		}
	}
	return nil
}

// Notify wakes the workers because there may be work.
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

// work starts what claim returns until ctx ends, then waits for all of it to end.
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
		logFault(ctx, q.log, "no work taken from the queue", err)
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

// mayPass reports whether an error may be temporary.
func mayPass(err error) bool {
	var fault *store.Error
	return errors.As(err, &fault) && slices.Contains([]string{"storage", "busy"}, fault.Kind()) || errors.Is(err, context.DeadlineExceeded)
}

// errTooLong is the cancellation cause at the time limit.
var errTooLong = errors.New("time limit of a run exceeded")

// saving limits the time to store a result once the program is stopping.
const saving = 4 * time.Second

// tries is the number of attempts to store a result while the disk is full or the database busy,
// before the run fails.
const tries = 30

// insist calls save, retrying while the disk or database is at fault, at most most times, or,
// if most is 0, after any error until the program stops. It blocks its worker meanwhile,
// because other results could not be stored either.
func (q *Queue) insist(ctx context.Context, most int, save func(context.Context) error) error {
	for n := 1; ; n++ {
		keep, cancel := context.WithTimeout(context.WithoutCancel(ctx), saving)
		err := save(keep)
		cancel()
		if err == nil || errors.Is(err, store.ErrNotFound) || n == most || most > 0 && !mayPass(err) {
			return err
		}
		if n%tries == 1 {
			q.log.WarnContext(ctx, "result not saved, trying again", "err", err)
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
		end, err = q.fail(ctx, r, param.Refuse(r.Spec.Quicker()+" makes it quicker", "the training was stopped after %s, the time limit of this server", brief(q.limit)))
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
	if errors.Is(err, store.ErrNotFound) { // deleted by its owner
		q.trained(r.Spec.Learner, string(store.Cancelled), time.Since(start))
		return
	}
	q.trained(r.Spec.Learner, string(end.Status), time.Since(start))
	q.publish(r.ID, end)
}

// brief formats a time limit as the flag takes it: 1h, not 1h0m0s.
func brief(d time.Duration) string {
	return strings.ReplaceAll(strings.ReplaceAll(d.String(), "m0s", "m"), "h0m", "h")
}

// fail ends a run with the reason.
func (q *Queue) fail(ctx context.Context, r store.Run, reason error) (Event, error) {
	message := q.explain(ctx, reason, "run", r.ID)
	err := q.insist(ctx, 0, func(ctx context.Context) error { return q.fails(ctx, q.owner, r.ID, message) })
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

// every is the minimum interval between two progress reports.
const every = 100 * time.Millisecond

// attempt trains a run and reports its progress to watchers.
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
