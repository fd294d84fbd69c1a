//go:build load

package fleet

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/store"
)

// Environment variables that make a process of this test a worker: the server's address and token,
// and the duration of each cell.
const (
	workerURL   = "FLEET_TEST_URL"
	workerToken = "FLEET_TEST_TOKEN"
	workerCell  = "FLEET_TEST_CELL"
)

func TestMain(m *testing.M) {
	if os.Getenv(workerURL) == "" {
		os.Exit(m.Run())
	}
	if err := workSlowly(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// workSlowly runs a worker for one cell at a time. It computes a cell and then sleeps until the
// cell's time has passed, so that a machine stands for more cores than it has.
func workSlowly() error {
	took, err := time.ParseDuration(os.Getenv(workerCell))
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	link, err := Connect(Access{URL: os.Getenv(workerURL), Token: os.Getenv(workerToken)}, "worker", log)
	if err != nil {
		return err
	}
	defer link.Close()
	w, err := NewWorker(link, 1, ThisVersion(), log)
	if err != nil {
		return err
	}
	work := w.engine
	w.engine = engine(func(ctx context.Context, c store.Cell) (eval.CellResult, error) {
		over := time.After(took)
		res, err := work.Compute(ctx, c)
		<-over
		return res, err
	})
	return w.Run(context.Background())
}

// A search of 2 000 cells grows with the workers, who are processes of their own: eight
// are at least 0.85 times eight times as fast as one. And a cell costs the server, with its
// database, queue and NATS, no more than 5 ms of a processor. Run it on an idle machine:
//
//	go test -tags load -run TestGrowth -v ./web/jobs/fleet
func TestGrowth(t *testing.T) {
	const cells, each, efficient, most = 2000, 50 * time.Millisecond, 0.85, 5 * time.Millisecond
	var one time.Duration
	for i, workers := range []int{1, 2, 4, 8} {
		took, cpu := grow(t, workers, each, uint64(i))
		if workers == 1 {
			one = took
		}
		load, _ := os.ReadFile("/proc/loadavg")
		efficiency := float64(one) / float64(took) / float64(workers)
		t.Logf("%d workers: %v, efficiency %.3f, against cells of %v without any pause %.3f; %.2f ms of a processor of the server for a cell; load %s",
			workers, took.Round(time.Millisecond), efficiency, each, float64(cells*each)/float64(took)/float64(workers), cpu.Seconds()*1000/cells, strings.TrimSpace(string(load)))
		require.Check(t, efficiency >= efficient, "the efficiency of %d workers is %.2f", workers, efficiency)
		require.Check(t, cpu/cells <= most, "a cell costs the server %v", cpu/cells)
	}
	took, cpu := grow(t, 8, 0, 99)
	t.Logf("cells of no time: %.0f a second with 8 workers on this machine, %.2f ms of a processor of the server for a cell", cells/took.Seconds(), cpu.Seconds()*1000/cells)
}

// grow lets workers compute a search of 2 000 cells, and returns how long that took and the
// processor time of the server.
func grow(t *testing.T, workers int, each time.Duration, seed uint64) (took, cpu time.Duration) {
	t.Helper()
	h := found(t, t.TempDir(), "127.0.0.1:0")
	defer h.stop()
	for range workers {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), workerURL+"="+h.url(), workerToken+"="+h.access().Token, workerCell+"="+each.String())
		cmd.Stderr = t.Output()
		require.NoError(t, cmd.Start())
		defer func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait() // the error says that it was killed
		}()
	}
	until(t, func() bool { n, _ := h.fleet.Size(); return n == workers })
	n := asked(t, seed)
	rows, labels := make([][2]float64, 120), make([]string, 120) // enough for all splits to differ
	for i := range rows {
		rows[i], labels[i] = [2]float64{float64(i * i % 97), float64(i * 5 % 61)}, string(rune('a'+i%2))
	}
	var err error
	n.Data, err = dataset.FromPoints(rows, labels)
	require.NoError(t, err)
	var gammas []float64
	for i := range 20 {
		gammas = append(gammas, float64(i+1)/10)
	}
	n.Grid, n.Scheme = eval.Grid{"gamma": eval.Numbers(gammas...)}, eval.Scheme{Folds: 10, Repeats: 10, Seed: seed}
	begin, before := time.Now(), processors()
	id := h.search(alice, n)
	events := require.Value(h.queue.SubscribeSearch(t.Context(), alice, id))(t) // as an open page does
	for range events {
	}
	took, cpu = time.Since(begin), processors()-before
	s, err := h.st.Search(t.Context(), alice, id)
	require.Must(t, err == nil && s.Total == 2000, "%d cells, %v", s.Total, err)
	h.want(alice, id, n)
	return took, cpu
}

// processors returns the processor time that this process has used.
func processors() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // cannot fail
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
