package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/web/jobs"
)

// Config holds what a Fleet needs from its server.
type Config struct {
	Plan  func(ctx context.Context, search string) (*eval.Plan, *dataset.Data, error) // returns the plan and data of a search
	Open  func(ctx context.Context, names []string) ([]string, error)                 // returns those of the cells that are still needed
	Found func(context.Context, eval.CellResult) error                                // stores results not requested by this process
	Wake  func()                                                                      // called when there is capacity for cells
	Log   *slog.Logger

	Version Version // required of workers
}

// Fleet is the engine of the workers that have joined a server.
type Fleet struct {
	Config
	ctx  context.Context // ends with the server's work; cells running then stay marked as running
	end  context.CancelFunc
	nc   *nats.Conn
	js   jetstream.JetStream
	subs []*nats.Subscription

	tending   sync.WaitGroup
	uploading sync.Mutex // held while storing objects, so that each is stored once
	step      sync.Mutex // held by reconcile, so that one run finishes before the next starts

	mu      sync.Mutex // guards the fields below; never held during a request
	members map[string]*member
	out     map[string]*task // by cell name
}

type member struct {
	slots int
	seen  time.Time
	cells []string // names of the cells it computes
}

// task is a cell to be computed by the fleet.
type task struct {
	store.Cell
	end   chan outcome // buffers one value
	begun time.Time    // when the cell was handed out
	known time.Time    // when it was last known to be in the stream or with a worker
}

// New returns a fleet of the workers that join at link, until ctx ends. It fails if another server
// uses that NATS account.
func New(ctx context.Context, link *Link, c Config) (*Fleet, error) {
	nc := link.Conn
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	f := &Fleet{Config: c, nc: nc, js: js, members: map[string]*member{}, out: map[string]*task{}}
	if err := f.checkAlone(); err != nil {
		return nil, err
	}
	if err := f.prepare(ctx); err != nil {
		return nil, fmt.Errorf("JetStream of %s: %w", nc.ConnectedUrlRedacted(), err)
	}
	f.ctx, f.end = context.WithCancel(ctx)
	for subject, handle := range map[string]nats.MsgHandler{
		helloSubject:  f.hello,
		doneSubject:   f.done,
		layOutSubject: func(m *nats.Msg) { go f.layOut(m) }, // may take time
	} {
		sub, err := nc.Subscribe(subject, handle)
		if err != nil {
			return nil, err
		}
		f.subs = append(f.subs, sub)
	}
	f.tending.Go(f.tend)
	return f, nil
}

// checkAlone returns an error if another server listens.
func (f *Fleet) checkAlone() error {
	_, err := f.nc.Request(helloSubject, nil, requestTimeout)
	switch {
	case errors.Is(err, nats.ErrNoResponders):
		return nil
	case err != nil:
		return fmt.Errorf("NATS server %s: %w", f.nc.ConnectedUrlRedacted(), err)
	}
	return fmt.Errorf("NATS server %s: another Margin Lab server uses it for its workers; give each server its own account", f.nc.ConnectedUrlRedacted())
}

// prepare creates the stream, its consumer and the object store if necessary. The stream holds a
// cell at most once.
func (f *Fleet) prepare(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s, err := f.js.Stream(ctx, streamName) // may exist with more replicas
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		s, err = f.js.CreateStream(ctx, jetstream.StreamConfig{
			Name: streamName, Description: "Cells that Margin Lab has handed out to its workers", Subjects: []string{cellSubject + "*"},
			Retention: jetstream.WorkQueuePolicy, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true,
		})
	}
	if err != nil {
		return err
	}
	_, err = s.CreateOrUpdateConsumer(ctx, jetstream.ConsumerConfig{
		Durable: consumerName, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxAckPending: -1,
	})
	if err != nil {
		return err
	}
	_, err = f.js.ObjectStore(ctx, bucketName)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		_, err = f.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: bucketName, Description: "Plans and data of searches, for the workers of Margin Lab", TTL: objectLife})
	}
	return err
}

// Close ends the fleet. Its workers wait for the next server.
func (f *Fleet) Close() {
	f.end()
	f.tending.Wait()
	for _, s := range f.subs {
		_ = s.Unsubscribe() // the connection is closed anyway
	}
}

// Size returns the number of joined workers and the number of cells they compute at a time.
func (f *Fleet) Size() (workers, slots int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.members {
		slots += m.slots
	}
	return len(f.members), slots
}

// Slots returns the number of cells to hand out: for each running cell a waiting one, so that
// workers never idle, plus one for the next workspace.
func (f *Fleet) Slots() int {
	_, slots := f.Size()
	if slots == 0 {
		return 0
	}
	return 2*slots + 1
}

// Compute hands a cell to the workers and waits for its result.
func (f *Fleet) Compute(ctx context.Context, c store.Cell) (eval.CellResult, error) {
	now := time.Now()
	e := &task{c, make(chan outcome, 1), now, now}
	f.mu.Lock()
	f.out[c.Name] = e
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.out[c.Name] == e {
			delete(f.out, c.Name)
		}
	}()
	if err := f.publish(ctx, c); err != nil && ctx.Err() == nil {
		f.Log.WarnContext(ctx, "cell not sent to workers, trying again", "err", err) // tend retries
	}
	select {
	case o := <-e.end:
		return o.Result, o.err()
	case <-ctx.Done():
		if f.ctx.Err() == nil { // no longer needed
			f.withdraw(e)
		}
		return eval.CellResult{}, ctx.Err()
	}
}

// err returns the reason why a cell could not be computed.
func (o outcome) err() error {
	switch {
	case o.lost != nil:
		return o.lost
	case o.Refused != "":
		return param.Problems{{Message: o.Refused}}
	case o.Fault != "":
		return fmt.Errorf("a worker: %s", o.Fault)
	}
	return nil
}

// publish adds a cell to the stream, unless the stream already holds it.
func (f *Fleet) publish(ctx context.Context, c store.Cell) error {
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err = f.js.Publish(ctx, cellSubject+c.Name, text)
	if api, ok := errors.AsType[*jetstream.APIError](err); ok && api.ErrorCode == errMaxPerSubject {
		return nil
	}
	return err
}

// errMaxPerSubject is the error code for a subject that already has a message.
const errMaxPerSubject = 10077

// withdraw takes a cell back from the stream and from its worker. A worker that misses the message
// is told at its next greeting, unless another search needs the cell.
func (f *Fleet) withdraw(e *task) {
	f.mu.Lock()
	again := f.out[e.Name] != e // another search needs the cell
	f.mu.Unlock()
	if again {
		return
	}
	err := f.remove(f.ctx, e.Name)
	if text, e := json.Marshal([]string{e.Name}); e == nil {
		err = errors.Join(err, f.nc.Publish(cancelSubject, text))
	}
	if err != nil && f.ctx.Err() == nil {
		f.Log.Warn("cell not withdrawn from workers", "err", err) // its result is harmless
	}
}

// remove removes a cell from the stream.
func (f *Fleet) remove(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	s, err := f.js.Stream(ctx, streamName)
	if err != nil {
		return err
	}
	return s.Purge(ctx, jetstream.WithPurgeSubject(cellSubject+name))
}

// hello answers a worker's greeting.
func (f *Fleet) hello(m *nats.Msg) {
	var g greeting
	if err := json.Unmarshal(m.Data, &g); err != nil {
		f.respond(m, welcome{Refused: "invalid greeting: " + err.Error()})
		return
	}
	if why := f.Version.refuse(g.Version); why != "" {
		f.respond(m, welcome{Refused: why})
		return
	}
	f.mu.Lock()
	_, known := f.members[g.Worker]
	now := time.Now()
	if g.Leaving {
		delete(f.members, g.Worker)
	} else {
		f.members[g.Worker] = &member{max(1, g.Slots), now, g.Cells}
	}
	var strange []string
	for _, name := range g.Cells {
		if e := f.out[name]; e == nil {
			strange = append(strange, name)
		} else if !g.Leaving {
			e.known = now
		}
	}
	f.mu.Unlock()
	if len(strange) == 0 {
		f.respond(m, welcome{})
	} else {
		go func() { // so that other greetings do not wait for the database
			drop, err := f.unwanted(strange)
			if err != nil && f.ctx.Err() == nil {
				f.Log.Warn("cells of a worker not checked", "err", err) // repeated at the next greeting
			}
			f.respond(m, welcome{Drop: drop})
		}()
	}
	if known == g.Leaving {
		workers, slots := f.Size()
		f.Log.Info("workers for searches", "number", workers, "cells at a time", slots)
		f.Wake()
	}
}

// unwanted returns those of names that no search needs; none of them is currently handed out.
// Results of the others are still accepted: they were handed out by an earlier process, or
// withdrawn from one search and needed by another.
func (f *Fleet) unwanted(names []string) ([]string, error) {
	open, err := f.Open(f.ctx, names)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(open, name) }), nil
}

// done receives the result of a cell.
func (f *Fleet) done(m *nats.Msg) {
	var o outcome
	if err := unpack(m.Data, &o); err != nil {
		f.respond(m, welcome{Refused: "invalid result: " + err.Error()})
		return
	}
	f.mu.Lock()
	e := f.out[o.Result.Cell]
	if e != nil {
		e.finish(o)
	}
	f.mu.Unlock()
	if e == nil && o.err() == nil { // handed out by an earlier process
		if err := f.Found(f.ctx, o.Result); err != nil {
			f.respond(m, welcome{Again: err.Error()})
			return
		}
	}
	f.respond(m, welcome{})
}

// finish ends a task, at most once.
func (e *task) finish(o outcome) {
	select {
	case e.end <- o:
	default:
	}
}

// layOut makes the plan and data of a search available to workers.
func (f *Fleet) layOut(m *nats.Msg) {
	var r search
	if err := json.Unmarshal(m.Data, &r); err != nil {
		f.respond(m, laidOut{Gone: "invalid request: " + err.Error()})
		return
	}
	err := f.putObjects(r.Search)
	switch {
	case errors.Is(err, store.ErrNotFound):
		f.respond(m, laidOut{Gone: "the search no longer exists"})
	case err != nil && f.ctx.Err() == nil:
		f.Log.Error("plan and data of a search not stored for a worker", "search", r.Search, "err", err)
		// asked again
	case err == nil:
		f.respond(m, laidOut{})
	}
}

// putObjects stores the plan and data of a search as objects, unless they will exist for a while
// longer. The plan is stored last, so that its presence implies that of the data.
func (f *Fleet) putObjects(search string) error {
	f.uploading.Lock()
	defer f.uploading.Unlock()
	ctx, cancel := context.WithTimeout(f.ctx, transferTimeout)
	defer cancel()
	objects, err := f.js.ObjectStore(ctx, bucketName)
	if errors.Is(err, jetstream.ErrBucketNotFound) { // the server was set up anew
		if err = f.prepare(ctx); err == nil {
			objects, err = f.js.ObjectStore(ctx, bucketName)
		}
	}
	if err != nil {
		return err
	}
	if there, err := objectLasts(ctx, objects, planObject(search)); there || err != nil {
		return err
	}
	plan, d, err := f.Plan(ctx, search)
	if err != nil {
		return err
	}
	there, err := objectLasts(ctx, objects, dataObject(plan.Data))
	if err == nil && !there {
		err = put(ctx, objects, dataObject(plan.Data), d.Encode)
	}
	if err != nil {
		return err
	}
	return put(ctx, objects, planObject(search), func(w io.Writer) error { return json.NewEncoder(w).Encode(plan) })
}

// objectLasts reports whether an object will exist for some time: data that passed this check when a plan
// was stored outlast the plan.
func objectLasts(ctx context.Context, objects jetstream.ObjectStore, name string) (bool, error) {
	info, err := objects.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	return err == nil && time.Since(info.ModTime) < objectLife/3, err
}

func put(ctx context.Context, objects jetstream.ObjectStore, name string, write func(io.Writer) error) error {
	text, err := zip(write)
	if err == nil {
		_, err = objects.PutBytes(ctx, name, text)
	}
	return err
}

// respond replies to a request. If the reply is lost, the request is repeated.
func (f *Fleet) respond(m *nats.Msg, v any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = m.Respond(text)
	}
	if err != nil && f.ctx.Err() == nil {
		f.Log.Warn("worker not answered", "err", err)
	}
}

// tend keeps the stream consistent with the cells handed out, until ctx ends.
func (f *Fleet) tend() {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for failing := false; ; {
		err := f.reconcile(time.Now())
		if err != nil && !failing && f.ctx.Err() == nil {
			f.Log.Warn("stream of cells not synchronised, trying again", "err", err)
		}
		failing = err != nil
		select {
		case <-f.ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// reconcile compares the cells handed out with the live workers and the stream.
func (f *Fleet) reconcile(now time.Time) error {
	f.step.Lock()
	defer f.step.Unlock()
	lost, loose := f.forgetSilent(now)
	for _, e := range lost {
		err := f.remove(f.ctx, e.Name)
		e.finish(outcome{lost: jobs.ErrLost})
		if err != nil {
			return err
		}
	}
	for _, e := range loose {
		if err := f.remove(f.ctx, e.Name); err != nil {
			return err
		}
		if err := f.publish(f.ctx, e.Cell); err != nil {
			return err
		}
	}
	there, err := f.inStream()
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrConsumerNotFound) { // the server was set up anew
		err = f.prepare(f.ctx)
	}
	if err != nil {
		return err
	}
	missing, strange := f.compare(there, now)
	for _, c := range missing {
		if err := f.publish(f.ctx, c); err != nil {
			return err
		}
	}
	if strange, err = f.unwanted(strange); err != nil {
		return err
	}
	for _, name := range strange {
		if err := f.remove(f.ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// forgetSilent drops silent workers and returns their cells (lost) and the cells held by no known
// worker, which a silent one may have taken last (loose). If no worker is left, the other cells
// return to the queue.
func (f *Fleet) forgetSilent(now time.Time) (lost, loose []*task) {
	f.mu.Lock()
	defer f.mu.Unlock()
	silent := map[string]time.Time{} // cells, with the last greeting of their workers
	all := len(f.members)
	for id, m := range f.members {
		if now.Sub(m.seen) >= silentAfter {
			f.Log.Warn("worker silent; its cells go to others", "worker", id, "cells", len(m.cells))
			delete(f.members, id)
			for _, name := range m.cells {
				silent[name] = m.seen
			}
		}
	}
	for name, e := range f.out {
		switch {
		case f.held(name):
		case silent[name].After(e.begun): // the worker has had it all along
			lost = append(lost, e)
		default:
			if len(f.members) < all {
				loose = append(loose, e)
			}
			if len(f.members) == 0 {
				e.finish(outcome{lost: jobs.ErrGivenBack})
			}
		}
	}
	return lost, loose
}

// held reports whether a worker computes a cell. Callers hold f.mu.
func (f *Fleet) held(name string) bool {
	for _, m := range f.members {
		if slices.Contains(m.cells, name) {
			return true
		}
	}
	return false
}

func (f *Fleet) inStream() (names map[string]bool, err error) {
	ctx, cancel := context.WithTimeout(f.ctx, requestTimeout)
	defer cancel()
	s, err := f.js.Stream(ctx, streamName)
	if err != nil {
		return nil, err
	}
	if _, err := s.Consumer(ctx, consumerName); err != nil {
		return nil, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(cellSubject+"*"))
	if err != nil {
		return nil, err
	}
	names = map[string]bool{}
	for subject := range info.State.Subjects {
		names[strings.TrimPrefix(subject, cellSubject)] = true
	}
	return names, nil
}

// compare returns the cells that are, and recently were, neither in the stream nor with a worker,
// and the cells in the stream that this process did not publish.
func (f *Fleet) compare(there map[string]bool, now time.Time) (missing []store.Cell, strange []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, e := range f.out {
		switch {
		case there[name]:
			e.known = now
		case now.Sub(e.known) > 2*beat:
			missing = append(missing, e.Cell)
		}
	}
	return missing, slices.DeleteFunc(slices.Collect(maps.Keys(there)), func(name string) bool { return f.out[name] != nil })
}
