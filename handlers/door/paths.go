package door

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/trace"
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

// Paths computes paths over C in the background, as long as somebody asks for them. Whoever
// asks for the same path shares it. A workspace has one computed at a time; others of it wait.
// It is safe for concurrent use.
type Paths struct {
	follow func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Regularisation, error)
	behind func(context.Context) context.Context // holds work while live answers are made
	line   *Line
	known  *Recent[*ml.Regularisation] // by data and spec: 3 MB each at most

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

// asking is what a workspace has to do with a path.
type asking struct {
	waiting int         // requests
	idle    *time.Timer // runs where none waits
	last    time.Time   // that one did
}

// PathProgress is how far a path over C is.
type PathProgress struct {
	Waiting       bool       // for its turn
	Step          trace.Step // the latest; zero: none yet
	Elapsed, Left time.Duration
}

// newPaths returns a keeper of paths; behind holds work while live answers are made.
func newPaths(behind func(context.Context) context.Context) *Paths {
	return &Paths{
		follow: ml.Regularise, behind: behind, line: NewLine(pathsOfCPU * runtime.NumCPU()),
		known: NewRecent[*ml.Regularisation](8), byKey: map[string]*onPath{},
	}
}

// Follow has paths computed by another function than ml.Regularise. Call it before anybody asks.
func (p *Paths) Follow(f func(context.Context, *dataset.Data, ml.Spec, trace.Recorder) (*ml.Regularisation, error)) {
	p.follow = f
}

// ErrNoPath is what Wait returns where a path is not computed.
var ErrNoPath = web.Errorf(web.Conflict, "This path is not being computed: it was cancelled, or nobody asked for it for half a minute.")

// Wait waits so long for the path over C of a spec on data with a hash, and returns it or else
// how far it is by then. With begin it is computed, unless it is already; otherwise there is
// ErrNoPath. Other errors are those of ml.Regularise and of ctx, and that too many are under
// way.
func (p *Paths) Wait(ctx context.Context, workspace, key string, d *dataset.Data, spec ml.Spec, begin bool, patience time.Duration) (*ml.Regularisation, *PathProgress, error) {
	if path, ok := p.known.Find(key); ok {
		p.Cancel(workspace, key) // which may still be to be heard of
		return path, nil, nil
	}
	w, a, err := p.ask(ctx, workspace, key, d, spec, begin)
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
		return nil, w.progress(time.Now()), nil
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
func (p *Paths) ask(ctx context.Context, workspace, key string, d *dataset.Data, spec ml.Spec, begin bool) (*onPath, *asking, error) {
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
		go p.compute(own, w, workspace, key, d, spec)
	}
	a := w.askers[workspace]
	if a == nil {
		a = &asking{}
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
	a.idle = time.AfterFunc(pathIdle, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if w.askers[workspace] == a && a.waiting == 0 && time.Since(a.last) >= pathIdle {
			p.leave(w, workspace, key)
		}
	})
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
func (p *Paths) compute(ctx context.Context, w *onPath, workspace, key string, d *dataset.Data, spec ml.Spec) {
	defer close(w.done)
	defer w.cancel()
	defer func() { w.panic = recover() }() // for whoever asks
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
		return p.follow(ctx, d, spec, func(s trace.Step) {
			p.mu.Lock()
			defer p.mu.Unlock()
			w.step, w.told = s, time.Now()
		})
	})
}

// progress is how far a path is. Callers hold Paths.mu.
func (w *onPath) progress(now time.Time) *PathProgress {
	if w.began.IsZero() {
		return &PathProgress{Waiting: true}
	}
	s := &PathProgress{Step: w.step, Elapsed: now.Sub(w.began)}
	if left, ok := w.step.Left(w.told.Sub(w.began)); ok {
		s.Left = max(left-now.Sub(w.told), time.Second)
	}
	return s
}

// Text says how far it is.
func (s PathProgress) Text() string {
	switch {
	case s.Waiting:
		return "waits for its turn"
	case s.Step == trace.Step{}:
		return "the path begins"
	}
	return s.Step.String()
}

// Done is how much is done, and of how much; both are 0 where nobody knows.
func (s PathProgress) Done() (done, total int) {
	if s.Step.Trainings > 0 {
		return s.Step.Done, s.Step.Trainings
	}
	return s.Step.Done, s.Step.Rows
}

// Regularise is the path over C of a spec on data with a hash, or how far it is after so long,
// as of Paths.Wait.
func (a *House) Regularise(ctx context.Context, hash string, d *dataset.Data, spec ml.Spec, begin bool, patience time.Duration) (*ml.Regularisation, *PathProgress, error) {
	key, err := pathKey(hash, spec)
	if err != nil {
		return nil, nil, err
	}
	Waits(ctx)
	return a.Paths.Wait(ctx, web.Token(ctx), key, d, spec, begin, patience)
}

// CancelPath gives up the path over C of a spec on data with a hash, for the workspace that asks.
func (a *House) CancelPath(ctx context.Context, hash string, spec ml.Spec) error {
	key, err := pathKey(hash, spec)
	if err == nil {
		a.Paths.Cancel(web.Token(ctx), key)
	}
	return err
}

func pathKey(hash string, spec ml.Spec) (string, error) {
	name, err := spec.MarshalJSON()
	return fmt.Sprintf("%s %s", hash, name), err
}
