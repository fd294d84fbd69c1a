package door

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

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/trace"
	"marginlab/store"
	"marginlab/web"
)

// How paths over C are computed in the background.
const (
	pathIdle   = 30 * time.Second // without somebody who asks for it, a path is given up
	pathLeft   = 5 * time.Second  // or so long, where the workspace wants another one
	pathsOfCPU = 2                // computed at a time, for each processor
	pathsWait  = 64               // under way in all, most of them waiting for their turn
)

// Prompt is how long a page waits for what goes on in the background, before it shows how far
// that is.
const Prompt = 500 * time.Millisecond

// Paths computes paths over C in the background while somebody asks for them. Everybody who
// asks for the same path shares it. A workspace has one computed at a time; others of it wait.
// It is safe for concurrent use.
type Paths struct {
	follow func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Regularisation, error)
	behind func(context.Context) context.Context // holds work while live answers are made
	line   *Limiter
	known  *Recent[*ml.Regularisation] // by key: 3 MB each at most

	mu     sync.Mutex
	byKey  map[string]*onPath
	closed bool
}

// onPath is a path under way, or one that has ended and that somebody has still to hear of.
type onPath struct {
	cancel context.CancelFunc
	done   chan struct{} // closed once there is what follows
	path   *ml.Regularisation
	err    error
	panic  any // what it panicked with; nil: it did not

	// The rest is guarded by Paths.mu.
	askers map[string]*asking // by workspace; without one it is given up
	began  time.Time          // zero: it waits for its turn
	step   trace.Step         // the last that was told
	told   time.Time          // when
}

// asking links a workspace to a path that it asked for.
type asking struct {
	job     Job         // under its names there
	waiting int         // requests
	idle    *time.Timer // runs where none waits
	last    time.Time   // that one did
	until   time.Time   // the path is kept, where none waits
}

// PathOf identifies a path over C.
type PathOf struct {
	Points
	Spec ml.Spec
	Page string // address of its page
}

// ID identifies the path, for every caller.
func (o PathOf) ID() (string, error) {
	spec, err := o.Spec.MarshalJSON()
	sum := sha256.Sum256(append([]byte(o.Hash+" "), spec...))
	return hex.EncodeToString(sum[:16]), err
}

// PathName says what a path over C is of: its spec, without a C.
func PathName(spec ml.Spec) string {
	words := slices.DeleteFunc(strings.Split(spec.Title(), " "), func(word string) bool { return strings.HasPrefix(word, "C=") })
	return strings.Join(words, " ")
}

// newPaths returns a keeper of paths; behind holds work while live answers are made.
func newPaths(behind func(context.Context) context.Context) *Paths {
	return &Paths{
		follow: ml.Regularise, behind: behind, line: NewLimiter(pathsOfCPU * runtime.NumCPU()),
		known: NewRecent[*ml.Regularisation](8), byKey: map[string]*onPath{},
	}
}

// Follow has paths computed by another function than ml.Regularise. Call it before anybody asks.
func (p *Paths) Follow(f func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Regularisation, error)) {
	p.follow = f
}

// ErrNoPath is returned by Wait if the path is not being computed.
var ErrNoPath = web.Errorf(web.Conflict, "This path is not being computed: it was cancelled, or nobody asked for it for half a minute.")

// Wait waits so long for the path over C that goes by a key, and returns it or else
// how far it is by then. With begin it is computed, unless it is already; otherwise there is
// ErrNoPath. Other errors are those of ml.Regularise and of ctx, and that too many are under
// way.
func (p *Paths) Wait(ctx context.Context, workspace, key string, of PathOf, begin bool, patience time.Duration) (*ml.Regularisation, *Job, error) {
	if path, ok := p.known.Find(key); ok {
		p.Cancel(workspace, key) // which may still be to be heard of
		return path, nil, nil
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
		return nil, nil, ErrNoPath
	}
	return w.path, nil, w.err
}

// ask finds or begins a path for a request of a workspace.
func (p *Paths) ask(ctx context.Context, workspace, key string, of PathOf, begin bool) (*onPath, *asking, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.byKey[key]
	if w == nil || w.askers[workspace] == nil {
		if !begin {
			return nil, nil, ErrNoPath
		}
		p.makeRoom(workspace)
	}
	if w == nil {
		if p.closed || len(p.byKey) >= pathsWait {
			return nil, nil, web.Errorf(web.Busy, "Many paths over C are being computed at the moment. Try again in a few seconds.")
		}
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		w = &onPath{cancel: cancel, done: make(chan struct{}), askers: map[string]*asking{}}
		p.byKey[key] = w
		go p.compute(own, w, workspace, key, of)
	}
	a := w.askers[workspace]
	if a == nil {
		a = &asking{job: Job{Kind: "path", ID: key, Name: PathName(of.Spec), Data: of.Name, Page: of.Page, Created: time.Now()}}
		w.askers[workspace] = a
	}
	a.waiting++
	if a.idle != nil {
		a.idle.Stop()
	}
	return w, a, nil
}

// asked notes that a request does not wait any more. Callers hold p.mu.
func (p *Paths) asked(w *onPath, a *asking, workspace, key string) {
	a.last = time.Now()
	if a.waiting--; a.waiting > 0 || w.askers[workspace] != a { // which was cancelled
		return
	}
	a.until = a.last.Add(pathIdle)
	a.idle = time.AfterFunc(pathIdle, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if w.askers[workspace] == a && a.waiting == 0 && !time.Now().Before(a.until) {
			p.leave(w, workspace, key)
		}
	})
}

// UnderWay lists the paths of a workspace that have not ended. They are kept as if it had asked
// for them: it looks at them.
func (p *Paths) UnderWay(workspace string) (list []Job) {
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
			a.until = now.Add(pathIdle)
			a.idle.Reset(pathIdle)
		}
		list = append(list, w.job(a, now))
	}
	return list
}

// makeRoom gives up what a workspace has left. Callers hold p.mu.
func (p *Paths) makeRoom(workspace string) {
	for key, w := range p.byKey {
		if a := w.askers[workspace]; a != nil && a.waiting == 0 && time.Since(a.last) >= pathLeft {
			p.leave(w, workspace, key)
		}
	}
}

// leave takes a workspace from those that ask for a path. Callers hold p.mu.
func (p *Paths) leave(w *onPath, workspace, key string) {
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

// Cancel tells that a workspace does not want a path any more.
func (p *Paths) Cancel(workspace, key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.byKey[key]; w != nil {
		p.leave(w, workspace, key)
	}
}

// Close ends all computations.
func (p *Paths) Close() {
	p.mu.Lock()
	p.closed = true
	under := make([]*onPath, 0, len(p.byKey))
	for _, w := range p.byKey {
		w.cancel()
		under = append(under, w)
	}
	p.mu.Unlock()
	for _, w := range under {
		<-w.done
	}
}

// compute follows the path in its turn.
func (p *Paths) compute(ctx context.Context, w *onPath, workspace, key string, of PathOf) {
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
	w.path, w.err = p.known.Get(p.behind(ctx), key, func(ctx context.Context) (*ml.Regularisation, error) {
		return p.follow(ctx, of.Data, of.Spec, func(s trace.Step) {
			p.mu.Lock()
			defer p.mu.Unlock()
			w.step, w.told = s, time.Now()
		})
	})
}

// job is how far a path is, for a workspace. Callers hold Paths.mu.
func (w *onPath) job(a *asking, now time.Time) Job {
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

// Regularise is the path over C, or how far it is after so long, as of Paths.Wait.
func (a *Base) Regularise(ctx context.Context, of PathOf, begin bool, patience time.Duration) (*ml.Regularisation, *Job, error) {
	key, err := of.ID()
	if err != nil {
		return nil, nil, err
	}
	Waits(ctx)
	return a.Paths.Wait(ctx, web.Token(ctx), key, of, begin, patience)
}
