package fleet

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/web/cache"
	"marginlab/web/jobs"
)

// grace is how long running cells may continue after a worker is told to stop, before they are
// returned.
const grace = 10 * time.Second

// pause is the time before a retry.
const pause = time.Second

// Worker computes cells for a server.
type Worker struct {
	name    string
	version Version
	slots   int
	grace   time.Duration
	pulse   time.Duration // interval of greetings
	nc      *nats.Conn
	js      jetstream.JetStream
	engine  jobs.Engine
	log     *slog.Logger

	data *cache.Recent[*dataset.Data] // by hash

	mu   sync.Mutex                    // guards the fields below
	held map[string]context.CancelFunc // running cells by name
}

// NewWorker returns a worker that computes up to slots cells at a time for the server whose fleet is at link.
func NewWorker(link *Link, slots int, version Version, log *slog.Logger) (*Worker, error) {
	nc := link.Conn
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, err
	}
	w := &Worker{name: rand.Text(), version: version, slots: slots, grace: grace, pulse: beat, nc: nc, js: js, log: log, data: cache.New[*dataset.Data](cachedSets), held: map[string]context.CancelFunc{}}
	w.engine = jobs.NewLocal(slots, w.load)
	return w, nil
}

// Run joins the server and computes cells until ctx ends; running cells may finish within grace. It
// returns an error if the server refuses the worker.
func (w *Worker) Run(ctx context.Context) error {
	if err := w.join(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	w.log.InfoContext(ctx, "joined", "server", w.nc.ConnectedUrlRedacted(), "cells at a time", w.slots)
	cancels, err := w.nc.Subscribe(cancelSubject, w.cancel)
	if err != nil {
		return err
	}
	defer func() { _ = cancels.Unsubscribe() }() // the connection is closed anyway

	wanted, dismiss := context.WithCancelCause(ctx)
	defer dismiss(nil)
	under, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(w.grace, stop) })
	context.AfterFunc(wanted, func() {
		if ctx.Err() == nil {
			stop() // the running cells are no longer needed
		}
	})
	var takers, beats sync.WaitGroup
	for range w.slots {
		takers.Go(func() { w.runSlot(wanted, under) })
	}
	beating, end := context.WithCancel(context.WithoutCancel(ctx))
	beats.Go(func() {
		if err := w.beat(beating); err != nil {
			dismiss(err)
		}
	})
	takers.Wait()
	end()
	beats.Wait()
	if ctx.Err() == nil {
		return context.Cause(wanted)
	}
	_, err = w.greet(context.WithoutCancel(ctx), true)
	if err != nil {
		w.log.WarnContext(ctx, "stopped without notifying the server", "err", err)
	}
	return nil
}

// join waits until a server answers.
func (w *Worker) join(ctx context.Context) error {
	for waiting := false; ; {
		refused, err := w.greet(ctx, false)
		switch {
		case refused != "":
			return errors.New(refused)
		case err == nil || ctx.Err() != nil:
			return nil
		}
		if !waiting {
			waiting = true
			w.log.WarnContext(ctx, "waiting for a Margin Lab server", "at", w.nc.ConnectedUrlRedacted(), "err", err)
		}
		sleep(ctx, pause)
	}
}

// greet sends a greeting; refused is the server's reason to refuse the worker.
func (w *Worker) greet(ctx context.Context, leaving bool) (refused string, err error) {
	w.mu.Lock()
	g := greeting{w.name, w.version, w.slots, slices.Collect(maps.Keys(w.held)), leaving}
	w.mu.Unlock()
	text, err := json.Marshal(g)
	if err != nil {
		return "", err
	}
	var answer welcome
	err = w.ask(ctx, helloSubject, text, &answer)
	w.drop(answer.Drop)
	return answer.Refused, err
}

// beat greets the server at every beat until ctx ends, or until the server refuses the worker
// because its version has changed.
func (w *Worker) beat(ctx context.Context) error {
	tick := time.NewTicker(w.pulse)
	defer tick.Stop()
	for {
		refused, err := w.greet(ctx, false)
		switch {
		case refused != "":
			return errors.New(refused)
		case err != nil && ctx.Err() == nil:
			w.log.DebugContext(ctx, "the server does not answer", "err", err) // it may be restarting
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

// runSlot runs one slot: it takes cells until wanted ends and computes them until working ends.
func (w *Worker) runSlot(wanted, working context.Context) {
	for failing := false; wanted.Err() == nil; {
		err := w.takeFrom(wanted, working)
		if err != nil && !failing && wanted.Err() == nil {
			w.log.WarnContext(wanted, "no cells received, trying again", "err", err)
		}
		failing = err != nil
		sleep(wanted, pause)
	}
}

func (w *Worker) takeFrom(wanted, working context.Context) error {
	ctx, cancel := context.WithTimeout(wanted, requestTimeout)
	defer cancel()
	consumer, err := w.js.Consumer(ctx, streamName, consumerName)
	if err != nil {
		return err
	}
	cells, err := consumer.Messages(jetstream.PullMaxMessages(1), jetstream.PullHeartbeat(2*w.pulse)) // no cell is prefetched, so none waits here while another worker is free
	if err != nil {
		return err
	}
	defer cells.Stop()
	for {
		m, err := cells.Next(jetstream.NextContext(wanted))
		if err != nil {
			return err
		}
		w.do(working, m)
		if wanted.Err() != nil {
			return nil
		}
	}
}

// do computes a cell and sends its result to the server.
func (w *Worker) do(working context.Context, m jetstream.Msg) {
	var c store.Cell
	if err := json.Unmarshal(m.Data(), &c); err != nil {
		w.log.Error("invalid cell", "err", err)
		w.logAckError(m.Term())
		return
	}
	ctx, cancel := context.WithCancel(working)
	defer cancel()
	w.mu.Lock()
	w.held[c.Name] = cancel
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.held, c.Name)
	}()
	alive := time.NewTicker(ackWait / 3)
	defer alive.Stop()
	told := make(chan struct{})
	defer close(told)
	go func() {
		for {
			select {
			case <-told:
				return
			case <-alive.C:
				w.logAckError(m.InProgress())
			}
		}
	}()

	res, err := w.engine.Compute(ctx, c)
	o := outcome{Result: res}
	o.Result.Cell = c.Name
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, errGone):
		w.logAckError(m.Term())
		return
	case err == nil && res.Cell != c.Name:
		o.Fault = fmt.Sprintf("cell %.12s is called %.12s here: the plan or the program differs", c.Name, res.Cell)
	case err != nil:
		words, forOwner := param.ForPerson(err)
		if o.Refused = words; !forOwner {
			o.Fault = err.Error()
			w.log.Error("cell not computed", "search", c.Search, "cell", c.Place, "err", err)
		}
	}
	if ctx.Err() == nil {
		w.sendResult(ctx, o)
	}
	switch {
	case working.Err() != nil:
		w.logAckError(m.Nak())
	case ctx.Err() != nil:
		w.logAckError(m.Term())
	default:
		w.logAckError(m.Ack())
	}
}

// logAckError logs a failed acknowledgement; JetStream then redelivers the cell.
func (w *Worker) logAckError(err error) {
	if err != nil {
		w.log.Debug("cell not acknowledged to JetStream", "err", err)
	}
}

// sendResult sends the server the result of a cell, retrying until it is acknowledged.
func (w *Worker) sendResult(ctx context.Context, o outcome) {
	text, err := zip(func(w io.Writer) error { return json.NewEncoder(w).Encode(o) })
	if err != nil {
		w.log.Error("result not sent", "err", err)
		return
	}
	for failing := false; ctx.Err() == nil; sleep(ctx, pause) {
		var answer welcome
		err := w.ask(ctx, doneSubject, text, &answer)
		switch {
		case err == nil && answer.Again == "":
			return
		case errors.Is(err, nats.ErrMaxPayload):
			w.sendResult(ctx, outcome{Result: eval.CellResult{Cell: o.Result.Cell}, Refused: "The result of one cell of this search is too large to send; use fewer values of C."})
			return
		case !failing:
			failing = true
			w.log.Warn("a result waits for the server", "err", cmp.Or(err, errors.New(answer.Again)))
		}
	}
}

// cancel stops cells no longer needed.
func (w *Worker) cancel(m *nats.Msg) {
	var names []string
	if json.Unmarshal(m.Data, &names) == nil {
		w.drop(names)
	}
}

func (w *Worker) drop(names []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range names {
		if stop := w.held[name]; stop != nil {
			stop()
		}
	}
}

// errGone is returned for a cell of a deleted search.
var errGone = errors.New("the search no longer exists")

// cachedSets is the number of data sets that a worker keeps.
const cachedSets = 8

// load returns the plan and data of a search, fetching what is not cached.
func (w *Worker) load(ctx context.Context, id string) (*eval.Plan, *dataset.Data, error) {
	text, err := w.get(ctx, id, planObject(id))
	if err != nil {
		return nil, nil, err
	}
	var plan eval.Plan
	if err := unpack(text, &plan); err != nil {
		return nil, nil, err
	}
	d, err := w.data.Get(ctx, plan.Data, func(ctx context.Context) (*dataset.Data, error) {
		text, err := w.get(ctx, id, dataObject(plan.Data))
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		d, err := dataset.Decode(z)
		if err != nil {
			return nil, err
		}
		if hash := d.Hash(); hash != plan.Data {
			return nil, fmt.Errorf("received data with hash %.12s instead of %.12s", hash, plan.Data)
		}
		return d, nil
	})
	return &plan, d, err
}

// get asks the server to provide an object of a search and fetches it, retrying until it arrives or
// the search no longer exists.
func (w *Worker) get(ctx context.Context, id, object string) ([]byte, error) {
	text, err := json.Marshal(search{id})
	if err != nil {
		return nil, err
	}
	for failing := false; ; sleep(ctx, pause) {
		var there laidOut
		err := w.ask(ctx, layOutSubject, text, &there)
		if err == nil && there.Gone != "" {
			return nil, fmt.Errorf("%w: %s", errGone, there.Gone)
		}
		var whole []byte
		if err == nil {
			whole, err = w.object(ctx, object)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err == nil:
			return whole, nil
		case !failing:
			failing = true
			w.log.Warn("plan and data wait for the server", "err", err)
		}
	}
}

func (w *Worker) object(ctx context.Context, name string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, transferTimeout)
	defer cancel()
	objects, err := w.js.ObjectStore(ctx, bucketName)
	if err != nil {
		return nil, err
	}
	return objects.GetBytes(ctx, name)
}

// ask sends a request and reads the answer into v.
func (w *Worker) ask(ctx context.Context, subject string, text []byte, v any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	m, err := w.nc.RequestWithContext(ctx, subject, text)
	if err != nil {
		return err
	}
	return json.Unmarshal(m.Data, v)
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
