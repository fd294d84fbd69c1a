// Package background starts and tracks background work: runs, searches, studies, and results that
// are computed while someone waits for them.
package background

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"runtime"
	"sync"
	"time"

	"marginlab/handlers/limiter"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
	"marginlab/web/cache"
)

// Limits of results computed in the background.
const (
	resultIdle   = 30 * time.Second // a computation is abandoned after this time without requests
	resultLeft   = 5 * time.Second  // or after this time, if the workspace requests another one
	resultsOfCPU = 2                // running at a time, per processor
	resultsWait  = 64               // running or waiting in total
)

// Prompt is how long a page waits for background work before it shows the progress.
const Prompt = 500 * time.Millisecond

// Tasks computes results of a kind, such as regularisation paths, in the background while they are
// being requested. Equal requests share a result. Each workspace has one computation at a time;
// its others wait. It is safe for concurrent use.
type Tasks[R any] struct {
	Compute computation[R] // tests set their own before the first request

	kind   string                                // kind of its jobs
	behind func(context.Context) context.Context // pauses work during live answers
	line   *limiter.Limiter
	known  *cache.Recent[*R] // by key; at most 3 MB each

	mu     sync.Mutex
	byKey  map[string]*task[R]
	closed bool
}

// computation computes a result of a spec on data, as ml.Regularise does.
type computation[R any] func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*R, error)

// task is a running computation, or a finished one not yet delivered to everyone.
type task[R any] struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the fields below are set
	result *R
	err    error
	panic  any // value of a panic, nil if none

	// Fields below are guarded by Tasks.mu.
	interests map[string]*interest // by workspace; without any, the computation is abandoned
	began     time.Time            // zero: waiting for its turn
	step      trace.Step           // last progress
	told      time.Time            // time of step
}

// interest is a workspace's interest in a result.
type interest struct {
	job     Job         // as shown to the workspace
	waiting int         // number of waiting requests
	idle    *time.Timer // runs while no request waits
	last    time.Time   // time of the last request
	until   time.Time   // time until which the result is kept without requests
}

// Question identifies a result in the background.
type Question struct {
	Data *dataset.Data
	Hash string // hash of Data
	From string // name of Data
	Spec ml.Spec
	Name string // name of the job
	Page string // URL of its page
}

// ID identifies the result among those of its kind, independently of the workspace.
func (o Question) ID() (string, error) {
	spec, err := o.Spec.MarshalJSON()
	sum := sha256.Sum256(append([]byte(o.Hash+" "), spec...))
	return hex.EncodeToString(sum[:16]), err
}

// PathName names a regularisation path: its spec without C.
func PathName(spec ml.Spec) string {
	return spec.Name(nil, "C")
}

// newTasks returns empty Tasks; behind makes work yield to live answers.
func newTasks[R any](kind string, compute computation[R], behind func(context.Context) context.Context) *Tasks[R] {
	return &Tasks[R]{
		Compute: compute, kind: kind, behind: behind, line: limiter.New(resultsOfCPU * runtime.NumCPU()),
		known: cache.New[*R](8), byKey: map[string]*task[R]{},
	}
}

// ErrIdle is returned by wait if the result is not being computed and begin is false.
var ErrIdle = web.Errorf(web.Conflict, "This is not being computed: it was cancelled, or not asked for during half a minute.")

// Result is wait for a question of the workspace of ctx.
func (p *Tasks[R]) Result(ctx context.Context, of Question, begin bool, patience time.Duration) (*R, *Job, error) {
	key, err := of.ID()
	if err != nil {
		return nil, nil, err
	}
	limiter.Waits(ctx)
	return p.wait(ctx, web.Token(ctx), key, of, begin, patience)
}

// wait returns the result with a key, or its progress after the time limit. If the result is not
// being computed, begin starts it; otherwise wait returns ErrIdle. Other errors: those of the
// computation, ctx.Err(), and an error if too many are running.
func (p *Tasks[R]) wait(ctx context.Context, workspace, key string, of Question, begin bool, patience time.Duration) (*R, *Job, error) {
	if result, ok := p.known.Find(key); ok {
		p.Cancel(workspace, key) // the computation may still be registered
		return result, nil, nil
	}
	w, a, err := p.ask(ctx, workspace, key, of, begin)
	if err != nil {
		return nil, nil, err
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	select {
	case <-w.done:
	case <-enough.C:
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked(w, a, workspace, key)
	select {
	case <-w.done:
	default:
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		j := w.job(a, time.Now())
		return nil, &j, nil
	}
	p.leave(w, workspace, key) // delivered
	switch {
	case w.panic != nil:
		panic(w.panic)
	case errors.Is(w.err, context.Canceled): // cancelled by the workspace in another request
		return nil, nil, ErrIdle
	}
	return w.result, nil, w.err
}

// Known returns a recently computed result, if any.
func (p *Tasks[R]) Known(key string) (*R, bool) { return p.known.Find(key) }

// ask finds or starts a computation for a workspace.
func (p *Tasks[R]) ask(ctx context.Context, workspace, key string, of Question, begin bool) (*task[R], *interest, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.byKey[key]
	if w == nil || w.interests[workspace] == nil {
		if !begin {
			return nil, nil, ErrIdle
		}
		p.makeRoom(workspace)
	}
	if w == nil {
		if p.closed || len(p.byKey) >= resultsWait {
			return nil, nil, web.Errorf(web.Busy, "The server is busy. Try again in a few seconds.")
		}
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		w = &task[R]{cancel: cancel, done: make(chan struct{}), interests: map[string]*interest{}}
		p.byKey[key] = w
		go p.run(own, w, workspace, key, of)
	}
	a := w.interests[workspace]
	if a == nil {
		a = &interest{job: Job{Kind: p.kind, ID: key, Name: of.Name, Data: of.From, Page: of.Page, Created: time.Now()}}
		w.interests[workspace] = a
	}
	a.waiting++
	if a.idle != nil {
		a.idle.Stop()
	}
	return w, a, nil
}

// asked records that a request no longer waits. Callers hold p.mu.
func (p *Tasks[R]) asked(w *task[R], a *interest, workspace, key string) {
	a.last = time.Now()
	if a.waiting--; a.waiting > 0 || w.interests[workspace] != a { // cancelled
		return
	}
	a.until = a.last.Add(resultIdle)
	a.idle = time.AfterFunc(resultIdle, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if w.interests[workspace] == a && a.waiting == 0 && !time.Now().Before(a.until) {
			p.leave(w, workspace, key)
		}
	})
}

// UnderWay lists the unfinished results of a workspace. Listing counts as a request for them.
func (p *Tasks[R]) UnderWay(workspace string) (list []Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, w := range p.byKey {
		a := w.interests[workspace]
		if a == nil {
			continue
		}
		select {
		case <-w.done: // not delivered yet
			continue
		default:
		}
		if a.waiting == 0 {
			a.until = now.Add(resultIdle)
			a.idle.Reset(resultIdle)
		}
		list = append(list, w.job(a, now))
	}
	return list
}

// makeRoom abandons results that a workspace no longer requests. Callers hold p.mu.
func (p *Tasks[R]) makeRoom(workspace string) {
	for key, w := range p.byKey {
		if a := w.interests[workspace]; a != nil && a.waiting == 0 && time.Since(a.last) >= resultLeft {
			p.leave(w, workspace, key)
		}
	}
}

// leave removes a workspace's interest in a result. Callers hold p.mu.
func (p *Tasks[R]) leave(w *task[R], workspace, key string) {
	a := w.interests[workspace]
	if a == nil {
		return
	}
	if a.idle != nil {
		a.idle.Stop()
	}
	delete(w.interests, workspace)
	if len(w.interests) == 0 {
		w.cancel()
		if p.byKey[key] == w {
			delete(p.byKey, key)
		}
	}
}

// Cancel ends a workspace's interest in a result.
func (p *Tasks[R]) Cancel(workspace, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.byKey[key]; w != nil {
		p.leave(w, workspace, key)
	}
}

// close ends all computations.
func (p *Tasks[R]) close() {
	p.mu.Lock()
	p.closed = true
	tasks := make([]*task[R], 0, len(p.byKey))
	for _, w := range p.byKey {
		w.cancel()
		tasks = append(tasks, w)
	}
	p.mu.Unlock()
	for _, w := range tasks {
		<-w.done
	}
}

// run computes the result when its turn has come.
func (p *Tasks[R]) run(ctx context.Context, w *task[R], workspace, key string, of Question) {
	defer close(w.done)
	defer w.cancel()
	defer func() { w.panic = recover() }() // re-raised for the callers
	turn, err := p.line.Join(ctx, workspace)
	if err != nil {
		w.err = err
		return
	}
	defer turn.Leave()
	p.mu.Lock()
	w.began = time.Now()
	p.mu.Unlock()
	if w.err = ctx.Err(); w.err != nil { // abandoned together with the one before it
		return
	}
	w.result, w.err = p.known.Get(p.behind(ctx), key, func(ctx context.Context) (*R, error) {
		return p.Compute(ctx, of.Data, of.Spec, func(s trace.Step) {
			p.mu.Lock()
			defer p.mu.Unlock()
			w.step, w.told = s, time.Now()
		})
	})
}

// job returns the progress of a result for a workspace. Callers hold Tasks.mu.
func (w *task[R]) job(a *interest, now time.Time) Job {
	j := a.job
	if w.began.IsZero() {
		j.Status = store.Queued
		return j
	}
	j.Status, j.Elapsed = store.Running, now.Sub(w.began)
	if w.step == (trace.Step{}) {
		return j
	}
	step := w.step
	j.Step = &step
	if j.Done, j.Total, j.Unit = step.Done, step.Rows, "rows"; step.Trainings > 0 {
		j.Total, j.Unit = step.Trainings, "trainings"
	}
	if step.Left > 0 {
		j.Left = max(step.Left-now.Sub(w.told), time.Second)
	}
	return j
}

// ProgressOf returns the view of a job's progress with the URL that cancels it.
func ProgressOf(j Job, cancel string) *views.Progress {
	p := &views.Progress{Text: j.Progress(), Elapsed: results.Seconds(j.Elapsed), Done: j.Done, Total: j.Total, Cancel: cancel, ID: j.ID}
	if j.Left > 0 {
		p.Left = results.Seconds(j.Left)
	}
	return p
}
