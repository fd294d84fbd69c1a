// Package background starts and follows what is computed in the background: runs, searches, studies,
// and results that are computed while somebody asks for them.
package background

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"marginlab/handlers/cache"
	"marginlab/handlers/limiter"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/views"
	"marginlab/web"
)

// How results are computed in the background.
const (
	resultIdle   = 30 * time.Second // without somebody who asks for it, a result is given up
	resultLeft   = 5 * time.Second  // or so long, where the workspace wants another one
	resultsOfCPU = 2                // computed at a time, for each processor
	resultsWait  = 64               // under way in all, most of them waiting for their turn
)

// Prompt is how long a page waits for what goes on in the background, before it shows how far
// that is.
const Prompt = 500 * time.Millisecond

// Tasks computes results of a kind, such as paths over C, in the background while somebody
// asks for them. Everybody who asks for the same result shares it. A workspace has one computed at
// a time; others of it wait. It is safe for concurrent use.
type Tasks[R any] struct {
	kind    string // of its jobs
	compute computation[R]
	behind  func(context.Context) context.Context // holds work while live answers are made
	line    *limiter.Limiter
	known   *cache.Recent[*R] // by key: 3 MB each at most

	mu     sync.Mutex
	byKey  map[string]*underWay[R]
	closed bool
}

// computation computes a result of a spec on data, as ml.Regularise does.
type computation[R any] func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*R, error)

// underWay is a result under way, or one that has ended and that somebody has still to hear of.
type underWay[R any] struct {
	cancel context.CancelFunc
	done   chan struct{} // closed once there is what follows
	result *R
	err    error
	panic  any // what it panicked with; nil: it did not

	// The rest is guarded by Tasks.mu.
	askers map[string]*asking // by workspace; without one it is given up
	began  time.Time          // zero: it waits for its turn
	step   trace.Step         // the last that was told
	told   time.Time          // when
}

// asking links a workspace to a result that it asked for.
type asking struct {
	job     Job         // under its names there
	waiting int         // requests
	idle    *time.Timer // runs where none waits
	last    time.Time   // that one did
	until   time.Time   // the result is kept, where none waits
}

// Question identifies a result in the background.
type Question struct {
	Data *dataset.Data
	Hash string // of Data
	From string // name of Data
	Spec ml.Spec
	Name string // of the job
	Page string // address of its page
}

// ID identifies the result among those of its kind, for every caller.
func (o Question) ID() (string, error) {
	spec, err := o.Spec.MarshalJSON()
	sum := sha256.Sum256(append([]byte(o.Hash+" "), spec...))
	return hex.EncodeToString(sum[:16]), err
}

// PathName says what a path over C is of: its spec, without a C.
func PathName(spec ml.Spec) string {
	words := slices.DeleteFunc(strings.Split(spec.Title(), " "), func(word string) bool { return strings.HasPrefix(word, "C=") })
	return strings.Join(words, " ")
}

// NewTasks returns no results yet; behind holds work while live answers are made.
func NewTasks[R any](kind string, compute computation[R], behind func(context.Context) context.Context) *Tasks[R] {
	return &Tasks[R]{
		kind: kind, compute: compute, behind: behind, line: limiter.New(resultsOfCPU * runtime.NumCPU()),
		known: cache.New[*R](8), byKey: map[string]*underWay[R]{},
	}
}

// Compute has results computed by another function. Call it before anybody asks.
func (p *Tasks[R]) Compute(f func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*R, error)) {
	p.compute = f
}

// ErrIdle is returned by Wait if the result is not being computed.
var ErrIdle = web.Errorf(web.Conflict, "This is not being computed: it was cancelled, or nobody asked for it for half a minute.")

// Wait waits so long for the result that goes by a key, and returns it or else
// how far it is by then. With begin it is computed, unless it is already; otherwise there is
// ErrIdle. Other errors are those of the computation and of ctx, and that too many are under
// way.
func (p *Tasks[R]) Wait(ctx context.Context, workspace, key string, of Question, begin bool, patience time.Duration) (*R, *Job, error) {
	if result, ok := p.known.Find(key); ok {
		p.Cancel(workspace, key) // which may still be to be heard of
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
	p.leave(w, workspace, key) // it has been told
	switch {
	case w.panic != nil:
		panic(w.panic)
	case errors.Is(w.err, context.Canceled): // by the workspace, from elsewhere
		return nil, nil, ErrIdle
	}
	return w.result, nil, w.err
}

// Known is a result that has been computed of late, if there is one.
func (p *Tasks[R]) Known(key string) (*R, bool) { return p.known.Find(key) }

// ask finds or begins a result for a request of a workspace.
func (p *Tasks[R]) ask(ctx context.Context, workspace, key string, of Question, begin bool) (*underWay[R], *asking, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.byKey[key]
	if w == nil || w.askers[workspace] == nil {
		if !begin {
			return nil, nil, ErrIdle
		}
		p.makeRoom(workspace)
	}
	if w == nil {
		if p.closed || len(p.byKey) >= resultsWait {
			return nil, nil, web.Errorf(web.Busy, "Much is being computed at the moment. Try again in a few seconds.")
		}
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		w = &underWay[R]{cancel: cancel, done: make(chan struct{}), askers: map[string]*asking{}}
		p.byKey[key] = w
		go p.run(own, w, workspace, key, of)
	}
	a := w.askers[workspace]
	if a == nil {
		a = &asking{job: Job{Kind: p.kind, ID: key, Name: of.Name, Data: of.From, Page: of.Page, Created: time.Now()}}
		w.askers[workspace] = a
	}
	a.waiting++
	if a.idle != nil {
		a.idle.Stop()
	}
	return w, a, nil
}

// asked notes that a request does not wait any more. Callers hold p.mu.
func (p *Tasks[R]) asked(w *underWay[R], a *asking, workspace, key string) {
	a.last = time.Now()
	if a.waiting--; a.waiting > 0 || w.askers[workspace] != a { // which was cancelled
		return
	}
	a.until = a.last.Add(resultIdle)
	a.idle = time.AfterFunc(resultIdle, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if w.askers[workspace] == a && a.waiting == 0 && !time.Now().Before(a.until) {
			p.leave(w, workspace, key)
		}
	})
}

// UnderWay lists the results of a workspace that have not ended. They are kept as if it had asked
// for them: it looks at them.
func (p *Tasks[R]) UnderWay(workspace string) (list []Job) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, w := range p.byKey {
		a := w.askers[workspace]
		if a == nil {
			continue
		}
		select {
		case <-w.done: // and is still to be told
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

// makeRoom gives up what a workspace has left. Callers hold p.mu.
func (p *Tasks[R]) makeRoom(workspace string) {
	for key, w := range p.byKey {
		if a := w.askers[workspace]; a != nil && a.waiting == 0 && time.Since(a.last) >= resultLeft {
			p.leave(w, workspace, key)
		}
	}
}

// leave takes a workspace from those that ask for a result. Callers hold p.mu.
func (p *Tasks[R]) leave(w *underWay[R], workspace, key string) {
	a := w.askers[workspace]
	if a == nil {
		return
	}
	if a.idle != nil {
		a.idle.Stop()
	}
	delete(w.askers, workspace)
	if len(w.askers) == 0 {
		w.cancel()
		if p.byKey[key] == w {
			delete(p.byKey, key)
		}
	}
}

// Cancel tells that a workspace does not want a result any more.
func (p *Tasks[R]) Cancel(workspace, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.byKey[key]; w != nil {
		p.leave(w, workspace, key)
	}
}

// Close ends all computations.
func (p *Tasks[R]) Close() {
	p.mu.Lock()
	p.closed = true
	under := make([]*underWay[R], 0, len(p.byKey))
	for _, w := range p.byKey {
		w.cancel()
		under = append(under, w)
	}
	p.mu.Unlock()
	for _, w := range under {
		<-w.done
	}
}

// run computes the result in its turn.
func (p *Tasks[R]) run(ctx context.Context, w *underWay[R], workspace, key string, of Question) {
	defer close(w.done)
	defer w.cancel()
	defer func() { w.panic = recover() }() // for the callers
	turn, err := p.line.Join(ctx, workspace)
	if err != nil {
		w.err = err
		return
	}
	defer turn.Leave()
	p.mu.Lock()
	w.began = time.Now()
	p.mu.Unlock()
	w.result, w.err = p.known.Get(p.behind(ctx), key, func(ctx context.Context) (*R, error) {
		return p.compute(ctx, of.Data, of.Spec, func(s trace.Step) {
			p.mu.Lock()
			defer p.mu.Unlock()
			w.step, w.told = s, time.Now()
		})
	})
}

// job is how far a result is, for a workspace. Callers hold Tasks.mu.
func (w *underWay[R]) job(a *asking, now time.Time) Job {
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

// ProgressOf is how far a job in the background is, with the address that cancels it.
func ProgressOf(j Job, cancel string) *views.Progress {
	p := &views.Progress{Text: results.Sentence(j.Progress()), Elapsed: results.Seconds(j.Elapsed), Done: j.Done, Total: j.Total, Cancel: cancel, ID: j.ID}
	if j.Left > 0 {
		p.Left = results.Seconds(j.Left)
	}
	return p
}
