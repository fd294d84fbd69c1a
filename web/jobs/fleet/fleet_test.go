package fleet

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/store"
	"marginlab/store/storetest"
	"marginlab/web/jobs"
)

var (
	alice = store.WorkspaceOf("alice")
	bob   = store.WorkspaceOf("bob")
)

// house is a server that leaves all cells to workers.
type house struct {
	*testing.T
	dir   string
	st    *store.Store
	queue *jobs.Queue
	fleet *Fleet
	link  *Link
	stop  func()
	ca    string // file with CA certificates for the server; empty: none needed
}

// found starts a server on a data directory until the test ends, with workers at addr.
func found(t *testing.T, dir, addr string) *house { return secured(t, dir, addr, nil) }

// fresh starts a server of its own for a parallel test.
func fresh(t *testing.T) *house {
	t.Helper()
	t.Parallel()
	return found(t, t.TempDir(), "127.0.0.1:0")
}

// secured is found with TLS.
func secured(t *testing.T, dir, addr string, secure *tls.Config) *house {
	t.Helper()
	h := &house{T: t, dir: dir, st: storetest.Open(t, dir, store.Open)}
	var err error
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	h.queue = jobs.New(h.st, jobs.Config{Leave: true, Log: log})
	h.link = require.Value(Listen(addr, dir, secure, log))(t)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	h.fleet, err = New(ctx, h.link, Config{Plan: h.st.PlanOf, Open: h.st.OpenCells, Found: h.queue.Found, Wake: h.queue.Notify, Log: log, Version: ThisVersion()})
	require.NoError(t, err)
	h.queue.Use(h.fleet)
	var running sync.WaitGroup
	running.Go(func() { h.queue.Run(ctx) })
	h.stop = sync.OnceFunc(func() {
		cancel()
		running.Wait()
		h.fleet.Close()
		h.link.Close()
		h.st.Close()
	})
	t.Cleanup(h.stop)
	return h
}

// url returns the address that workers connect to.
func (h *house) url() string { return strings.Fields(h.link.Help)[1] }

// access returns the credentials of workers.
func (h *house) access() Access {
	return Access{URL: h.url(), Token: filepath.Join(h.dir, tokenFile), CA: h.ca}
}

// hire starts a worker that runs until the test ends. compute handles a cell and
// may call work; nil: work. The returned function stops the worker and returns its error.
func (h *house) hire(slots int, compute func(ctx context.Context, c store.Cell, work jobs.Engine) (eval.CellResult, error)) (*Worker, func() error) {
	h.Helper()
	log := slog.New(slog.NewTextHandler(h.Output(), nil))
	link := require.Value(Connect(h.access(), "worker", log))(h)
	w := require.Value(NewWorker(link, slots, ThisVersion(), log))(h)
	w.grace, w.pulse = 0, beat/4 // JetStream takes no shorter one
	if work := w.engine; compute != nil {
		w.engine = engine(func(ctx context.Context, c store.Cell) (eval.CellResult, error) { return compute(ctx, c, work) })
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(h.Context()))
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	end := sync.OnceValue(func() error {
		cancel()
		defer link.Close()
		return <-ended
	})
	h.Cleanup(func() { _ = end() })
	return w, end
}

// engine is a jobs.Engine function of a test.
type engine func(context.Context, store.Cell) (eval.CellResult, error)

func (e engine) Slots() int { return 1 }

func (e engine) Compute(ctx context.Context, c store.Cell) (eval.CellResult, error) { return e(ctx, c) }

// asked returns a nested search of 12 cells.
func asked(t *testing.T, seed uint64) store.NewSearch {
	t.Helper()
	d := require.Value(dataset.Generate("moons", 24, 0.3, 1))(t)
	return store.NewSearch{Data: d, Spec: ml.DefaultSpec(), Grid: eval.Grid{"C": eval.Numbers(1, 10), "gamma": eval.Numbers(0.1, 1)}, Scheme: eval.Scheme{Folds: 2, Repeats: 1, Nested: true, Seed: seed}}
}

func (h *house) search(ws store.Workspace, n store.NewSearch) string {
	h.Helper()
	s := require.Value(h.st.CreateSearch(h.Context(), ws, n))(h)
	h.queue.Notify()
	return s.ID
}

// end waits for the end of a search.
func (h *house) end(ws store.Workspace, id string) (last jobs.Event) {
	h.Helper()
	for last = range require.Value(h.queue.SubscribeSearch(h.Context(), ws, id))(h) {
	}
	return last
}

// want checks that a search has the result that a single process computes, bit for bit.
func (h *house) want(ws store.Workspace, id string, n store.NewSearch) {
	h.Helper()
	e := h.end(ws, id)
	require.Must(h, e.Status == store.Done, "%+v", e)
	got, err := h.st.Search(h.Context(), ws, id)
	require.Must(h, err == nil && got.Done == got.Total, "%+v, %v", got, err)
	want, err := eval.CrossValidate(h.Context(), n.Data, n.Spec, n.Grid, n.Scheme, nil)
	diff := gocmp.Diff(want, got.Result)
	require.Check(h, diff == "" && err == nil, "%s, %v", diff, err)
}

// Two workers compute the result of a single process, and no cell stays in the stream.
func TestFleet(t *testing.T) {
	h := fresh(t)
	n := asked(t, 4)
	id := h.search(alice, n)
	h.hire(1, nil)
	h.hire(2, nil)
	h.want(alice, id, n)
	until(t, func() bool { there, err := h.fleet.inStream(); return len(there) == 0 && err == nil })
	workers, slots := h.fleet.Size()
	require.Check(t, workers <= 2 && slots <= 3, "%d workers, %d slots", workers, slots)
}

// The data shared by two searches are sent to a worker once, even if the server has lost them
// meanwhile.
func TestDataGoOnce(t *testing.T) {
	h := fresh(t)
	got := require.Value(h.link.SubscribeSync("$JS.API.CONSUMER.CREATE." + objectsStream + ".>"))(t) // request with which an object is fetched
	h.hire(2, nil)
	for i, want := range []int{2, 3, 4} { // one plan per search, and the data
		n := asked(t, uint64(i))
		h.want(alice, h.search(alice, n), n)
		if n, _, err := got.Pending(); n != want || err != nil {
			t.Errorf("%d searches: %d objects were got, want %d; %v", i+1, n, want, err)
		}
		if i == 1 {
			require.NoError(t, h.fleet.js.DeleteObjectStore(t.Context(), bucketName))
		}
	}
}

// An object of many parts arrives complete, with a worker's permissions only.
func TestLargeObject(t *testing.T) {
	h := fresh(t)
	want := make([]byte, 20<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range want {
		want[i] = byte(rng.Uint64())
	}
	objects := require.Value(h.fleet.js.ObjectStore(t.Context(), bucketName))(t)
	require.Value(objects.PutBytes(t.Context(), "large", want))(t)
	w, _ := h.hire(1, nil)
	got, err := w.object(t.Context(), "large")
	require.Check(t, err == nil && bytes.Equal(got, want), "%d bytes, %v", len(got), err)
}

// Without a token, credentials or a user, only a server on this computer is dialled.
func TestCheck(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]Access{
		"": {
			{URL: "nats://127.0.0.1:4222"},
			{URL: "nats://localhost"},
			{URL: "nats://[::1]:4222"},
			{URL: "tls://far.example:4222", Creds: "f"},
			{URL: "nats://far.example", Token: "f"},
			{URL: "nats://ada:secret@far.example, nats://ada:secret@near.example"},
		},
		"is another computer": {{URL: "nats://far.example:4222"}, {URL: "nats://10.0.0.1"}, {URL: "nats://0.0.0.0:4222"}, {URL: "nats://127.0.0.1,nats://far.example"}, {URL: "nats://localhost.far.example"}},
		"expects an address":  {{URL: ""}, {URL: "far.example"}, {URL: "nats://"}, {URL: "nats://127.0.0.1,"}},
	} {
		for _, a := range list {
			err := a.Check()
			require.Check(t, (err == nil) == (want == "") && (err == nil || strings.Contains(err.Error(), want)), "%q: %v, want %q", a.URL, err, want)
		}
	}
	err := (Access{URL: "nats://ada:secret@"}).Check()
	require.Check(t, err != nil && !strings.Contains(err.Error(), "secret"), "%v", err)
}

// until waits for an effect of other goroutines or processes.
func until(t *testing.T, so func() bool) {
	t.Helper()
	for tick := time.NewTicker(5 * time.Millisecond); !so(); {
		select {
		case <-t.Context().Done():
			t.Fatal("it did not come about")
		case <-tick.C:
		}
	}
}

// A cancelled search ends where it is being computed, and its cells waiting for a worker are
// withdrawn.
func TestCancel(t *testing.T) {
	h := fresh(t)
	begun, ended := make(chan string, 20), make(chan struct{}, 20)
	h.hire(1, func(ctx context.Context, c store.Cell, _ jobs.Engine) (eval.CellResult, error) {
		begun <- c.Name
		<-ctx.Done()
		ended <- struct{}{}
		return eval.CellResult{}, ctx.Err()
	})
	id := h.search(alice, asked(t, 4))
	<-begun
	require.NoError(t, h.queue.CancelSearch(t.Context(), alice, id))
	<-ended
	until(t, func() bool { there, err := h.fleet.inStream(); return len(there) == 0 && err == nil })
}

// A worker that missed the withdrawal of a cell is told at its next greeting; a cell handed out by
// an earlier process continues.
func TestGreetingTellsWhatNobodyWants(t *testing.T) {
	h := fresh(t)
	wanted, ok, err := h.st.ClaimCell(t.Context(), "an earlier process", h.search(alice, asked(t, 4)))
	require.Must(t, ok && err == nil, "claimed %v, %v", ok, err)
	link := require.Value(Connect(h.access(), "worker", slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(link.Close)
	text := require.Value(json.Marshal(greeting{Worker: "ada", Version: ThisVersion(), Slots: 1, Cells: []string{"of a search that is gone", wanted.Name}}))(t)
	told := require.JSON[welcome](t, require.Value(link.Request(helloSubject, text, startTimeout))(t).Data)
	require.Check(t, slices.Equal(told.Drop, []string{"of a search that is gone"}), "told %+v", told)
}

// A cell that cannot be computed fails its search with the message for its owner; other messages
// are only logged.
func TestFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"refused": {param.Refuse("use a finite C", "the classes overlap"), "the classes overlap; use a finite C"},
		"fault":   {errors.New("index out of range"), "The training stopped because of a fault in this program. It was logged."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := found(t, t.TempDir(), "127.0.0.1:0")
			h.hire(1, func(context.Context, store.Cell, jobs.Engine) (eval.CellResult, error) {
				return eval.CellResult{}, tc.err
			})
			e := h.end(alice, h.search(alice, asked(t, 4)))
			require.Check(t, e.Status == store.Failed && e.Error == tc.want, "%+v", e)
		})
	}
}

// Cells of silent workers go to others; a cell during which three have died fails its search.
func TestSilence(t *testing.T) {
	t.Parallel()
	for deaths := 1; deaths <= store.MaxAttempts; deaths++ {
		h := found(t, t.TempDir(), "127.0.0.1:0")
		n := asked(t, 4)
		id := h.search(alice, n)
		first := ""
		for range deaths {
			begun := make(chan struct{})
			w, _ := h.hire(1, func(ctx context.Context, c store.Cell, work jobs.Engine) (eval.CellResult, error) {
				if first == "" {
					first = c.Name
				}
				if c.Name != first {
					return work.Compute(ctx, c)
				}
				close(begun)
				<-ctx.Done()
				return eval.CellResult{}, ctx.Err()
			})
			<-begun
			until(t, func() bool { // the worker has reported the cell
				h.fleet.mu.Lock()
				defer h.fleet.mu.Unlock()
				m := h.fleet.members[w.name]
				return m != nil && slices.Contains(m.cells, first)
			})
			w.nc.Close()
			require.Equal(t, h.fleet.reconcile(time.Now().Add(silentAfter)), nil, "h.fleet.reconcile")
		}
		h.hire(1, nil)
		if deaths < store.MaxAttempts {
			h.want(alice, id, n)
		} else if e := h.end(alice, id); e.Status != store.Failed || !strings.HasPrefix(e.Error, "The program stopped 3 times") {
			t.Errorf("%+v", e)
		}
	}
}

// When the server restarts, its workers' cells continue, and results found meanwhile count.
func TestServerStartsAnew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := found(t, dir, "127.0.0.1:0")
	n := asked(t, 4)
	begun, more := make(chan string, 20), make(chan struct{})
	_, leave := h.hire(2, func(ctx context.Context, c store.Cell, work jobs.Engine) (eval.CellResult, error) {
		begun <- c.Name
		<-more
		return work.Compute(ctx, c)
	})
	id := h.search(alice, n)
	had := []string{<-begun, <-begun}
	addr := strings.TrimPrefix(h.url(), "nats://")
	h.stop()
	close(more) // the worker finishes its cells while no server is running
	h = found(t, dir, addr)
	h.want(alice, id, n)
	require.NoError(t, leave()) // while a server can be notified
	close(begun)
	for name := range begun {
		require.Check(t, !slices.Contains(had, name), "cell %.12s was computed twice", name)
	}
}

// Workers of another version are refused with the remedy, and so is a server if another one has its
// workers.
func TestRefused(t *testing.T) {
	h := fresh(t)
	link := require.Value(Connect(h.access(), "worker", slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(link.Close)
	for want, edit := range map[string]func(*Version){
		"start it from the same program as the server": func(v *Version) { v.Build = "commit 0" },
		"format 0":               func(v *Version) { v.Format = 0 },
		"set MARGINLAB_SIMD to ": func(v *Version) { v.Loops = "other" },
	} {
		v := ThisVersion()
		edit(&v)
		w := require.Value(NewWorker(link, 1, v, slog.New(slog.DiscardHandler)))(t)
		require.Fails(t, w.Run(t.Context()), want, "the error")
	}
	require.Fails(t, require.Err(New(t.Context(), h.link, h.fleet.Config)), "another Margin Lab", "a second server")
}

// Without the token no connection is accepted; with it, clients can do only what workers do.
func TestOutsiders(t *testing.T) {
	h := fresh(t)
	for _, opts := range [][]nats.Option{nil, {nats.Token("wrong")}, {nats.UserInfo("server", "")}, {nats.Token("")}} {
		if nc, err := nats.Connect(h.url(), opts...); !errors.Is(err, nats.ErrAuthorization) {
			t.Errorf("connected, or another error: %v", err)
			nc.Close()
		}
	}
	_, err := Connect(Access{URL: h.url()}, "worker", slog.New(slog.DiscardHandler))
	require.Check(t, err != nil && strings.Contains(err.Error(), "nats-token"), "%v", err)
	link := require.Value(Connect(h.access(), "worker", slog.New(slog.DiscardHandler)))(t)
	t.Cleanup(link.Close)
	denied := make(chan error, 10)
	link.SetErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { denied <- err })
	for _, subject := range []string{cellSubject + "x", cancelSubject, "$JS.API.STREAM.PURGE." + streamName, "$JS.API.STREAM.DELETE." + streamName} {
		require.NoError(t, link.Publish(subject, nil))
		require.Is(t, <-denied, nats.ErrPermissionViolation, "%s", subject)
	}
	for _, subject := range []string{">", cellSubject + "*", doneSubject, layOutSubject, "$JS.>", "$O.>"} {
		require.Value(link.SubscribeSync(subject))(t)
		require.Is(t, <-denied, nats.ErrPermissionViolation, "%s", subject)
	}
}

// Unneeded cells in the stream are removed at the start; a cell that the stream has lost is
// published again.
func TestReconcile(t *testing.T) {
	h := fresh(t)
	require.NoError(t, h.fleet.publish(t.Context(), store.Cell{Search: "gone", Place: 1, Name: "stale"}))
	until(t, func() bool { there, err := h.fleet.inStream(); return len(there) == 0 && err == nil })
	begun, more := make(chan struct{}, 20), make(chan struct{})
	h.hire(1, func(ctx context.Context, c store.Cell, work jobs.Engine) (eval.CellResult, error) {
		begun <- struct{}{}
		<-more
		return work.Compute(ctx, c)
	})
	n := asked(t, 4)
	id := h.search(alice, n)
	<-begun
	require.NoError(t, h.fleet.js.DeleteStream(t.Context(), streamName))
	close(more)
	h.want(alice, id, n)
	_, err := h.fleet.js.Stream(t.Context(), streamName)
	require.Check(t, !errors.Is(err, jetstream.ErrStreamNotFound), "there is no stream")
}

// The last slot is for the next workspace: a second search begins while the first has dozens of
// cells.
func TestTurns(t *testing.T) {
	h := fresh(t)
	begun, more := make(chan string), make(chan struct{})
	h.hire(1, func(ctx context.Context, c store.Cell, work jobs.Engine) (eval.CellResult, error) {
		begun <- c.Search
		<-more
		return work.Compute(ctx, c)
	})
	first := h.search(alice, asked(t, 4))
	require.Equal(t, <-begun, first, "<-begun")
	second := h.search(bob, asked(t, 5))
	until(t, func() bool { there, err := h.fleet.inStream(); return len(there) == 3 && err == nil })
	more <- struct{}{}
	require.Equal(t, <-begun, first, "begun first") // it was already waiting
	more <- struct{}{}
	require.Equal(t, <-begun, second, "the search that begins second")
	go func() {
		for range begun {
		}
	}()
	close(more)
	for ws, id := range map[store.Workspace]string{alice: first, bob: second} {
		e := h.end(ws, id)
		require.Check(t, e.Status == store.Done, "%+v", e)
	}
}
