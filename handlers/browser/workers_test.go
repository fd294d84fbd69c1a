package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	natsserver "github.com/nats-io/nats-server/v2/server"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
)

// worker is the program, computing for a server in a process of its own.
type worker struct {
	t     *testing.T
	cmd   *exec.Cmd
	log   *mltest.Buffer
	ended chan error
}

// hire starts a worker with flags, for one cell at a time, until the test ends, and waits
// until it has joined.
func hire(t *testing.T, flags ...string) *worker {
	t.Helper()
	w := &worker{t, exec.Command(binary, append([]string{"worker", "--workers", "1"}, flags...)...), new(mltest.Buffer), make(chan error, 1)}
	dieWithParent(w.cmd)
	out, in := io.Pipe()
	w.cmd.Stderr = in
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // as of a server
		defer runtime.UnlockOSThread()
		err := w.cmd.Start()
		started <- err
		if err == nil {
			w.ended <- w.cmd.Wait()
		}
		in.Close()
	}()
	require.NoError(t, <-started)
	t.Cleanup(func() {
		if w.cmd.ProcessState == nil {
			w.stop()
		}
	})
	lines := bufio.NewReader(io.TeeReader(out, w.log))
	for joined := false; !joined; {
		line, err := lines.ReadString('\n')
		joined = strings.Contains(line, "msg=joined")
		require.Must(t, err == nil, "a worker did not join: %v\n%s", err, w.log)
	}
	go io.Copy(io.Discard, lines)
	return w
}

// stop ends the worker as a service manager does; it must end well.
func (w *worker) stop() {
	w.cmd.Process.Signal(syscall.SIGTERM)
	require.Equal(w.t, <-w.ended, nil, "%s\na worker ended with", w.log)
	bad := trouble.FindAllString(w.log.String(), 5)
	require.Check(w.t, bad == nil, "in the log of a worker:\n%s", strings.Join(bad, "\n"))
}

// kill ends the worker without a chance to tidy up.
func (w *worker) kill() {
	w.cmd.Process.Kill()
	<-w.ended
}

// searched is a search that the server has begun, and what one process makes of the same.
type searched struct {
	*client
	id    string
	total int
	want  map[string]any
}

// search begins a search of 48 cells of some hundredths of a second each.
func search(t *testing.T, s *server) *searched {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	var csv strings.Builder
	csv.WriteString("a,b,class\n")
	for range 500 {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&csv, "%v,%v,%v\n", a, b, a*a+b*b+rng.NormFloat64()/2 > 1)
	}
	q := &searched{client: s.client(), total: 48}
	out, err := exec.Command(binary, "cv", "--data", require.File(t, "rings.csv", csv.String()), "--C", "1,100", "--gamma", "0.1,1,10,100", "--folds", "3", "--repeats", "4", "--seed", "7", "--json").Output()
	require.Must(t, err == nil, "cv: %v", err)
	require.NoError(t, json.Unmarshal(out, &q.want))
	type answer struct {
		ID string `json:"id"`
	}
	post := func(path, body, kind string) string {
		t.Helper()
		a := q.do(t, "POST", path, body, func(r *http.Request) { r.Header.Set("Content-Type", kind) })
		made := require.JSON[answer](t, a.body, "%s", path)
		require.Must(t, made.ID != "", "%s: %s", path, a.body)
		return made.ID
	}
	q.get(t, "/") // for a workspace
	data := post("/api/datasets?name=rings.csv", csv.String(), "text/csv")
	q.id = post("/api/searches", fmt.Sprintf(`{"dataset":%q,"spec":{},"grid":{"C":[1,100],"gamma":[0.1,1,10,100]},"folds":3,"repeats":4,"seed":7}`, data), "application/json")
	return q
}

var progress = regexp.MustCompile(`"done":(\d+)`)

// reach follows the search until the given number of its cells are done, or it ends.
func (q *searched) reach(t *testing.T, cells int) {
	t.Helper()
	r := require.Value(http.NewRequestWithContext(t.Context(), "GET", q.server.url+"/api/searches/"+q.id+"/events", nil))(t)
	res := require.Value(q.http.Do(r))(t)
	defer res.Body.Close()
	lines := bufio.NewScanner(res.Body)
	for lines.Scan() {
		var done int
		if m := progress.FindStringSubmatch(lines.Text()); m != nil {
			fmt.Sscan(m[1], &done)
		}
		if done >= cells {
			return
		}
	}
}

// check waits for the end of the search: every cell counts once, and its result equals that of
// one process in every bit.
func (q *searched) check(t *testing.T) {
	t.Helper()
	q.reach(t, q.total+1)
	got := require.JSON[map[string]any](t, q.get(t, "/api/searches/"+q.id).body)
	require.Check(t, got["status"] == "done" && got["done"] == float64(q.total) && got["total"] == float64(q.total),
		"the search is %v, %v of %v cells: %v", got["status"], got["done"], got["total"], got["error"])
	for _, part := range []string{"cells", "best"} {
		diff := cmp.Diff(q.want[part], got[part])
		require.Check(t, diff == "" && got[part] != nil, "%s, by one process and by workers:\n%s", part, diff)
	}
}

// Three workers compute a search, and one is killed over it.
func TestWorkerIsKilled(t *testing.T) {
	t.Parallel()
	s := start(t, "--nats-listen", "127.0.0.1:0", "--leave-searches")
	killed := hire(t, s.help...)
	hire(t, s.help...)
	hire(t, s.help...)
	q := search(t, s)
	q.reach(t, 8)
	killed.kill()
	q.check(t)
}

// The server is killed over a search and started anew, and NATS with it.
func TestServerOfWorkersIsKilled(t *testing.T) {
	t.Parallel()
	s := start(t, "--nats-listen", "127.0.0.1:0", "--leave-searches")
	hire(t, s.help...)
	leaving := hire(t, s.help...)
	q := search(t, s)
	q.reach(t, 8)
	s.args[1] = strings.TrimPrefix(s.help[1], "nats://")
	s.kill()
	s.restart()
	q.reach(t, 20)
	leaving.stop() // what it computed is computed
	q.check(t)
}

// A NATS server elsewhere, which asks for a token, is started anew over a search.
func TestNATSIsRestarted(t *testing.T) {
	t.Parallel()
	token := require.File(t, "token", "open sesame\n")
	opts := natsserver.Options{Host: "127.0.0.1", Port: natsserver.RANDOM_PORT, Authorization: "open sesame", JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true}
	run := func() (stop func()) {
		n, err := natsserver.NewServer(&opts)
		require.NoError(t, err)
		n.Start()
		stop = func() {
			n.Shutdown()
			n.WaitForShutdown()
		}
		if !n.ReadyForConnections(time.Minute) {
			stop()
			t.Fatal("NATS does not start")
		}
		_ = require.Value(fmt.Sscan(n.Addr().String()[strings.LastIndex(n.Addr().String(), ":")+1:], &opts.Port))(t)
		return stop
	}
	stop := run()
	t.Cleanup(func() { stop() }) // after those who are connected
	url := fmt.Sprintf("nats://127.0.0.1:%d", opts.Port)
	s := start(t, "--nats", url, "--nats-token", token, "--leave-searches")
	for range 2 {
		hire(t, "--nats", url, "--nats-token", token)
	}
	q := search(t, s)
	q.reach(t, 8)
	stop()
	stop = run()
	q.check(t)
}

// Without the token, with another one, and with loops that come to other digits a worker
// is sent away, and told why.
func TestWorkersAreRefused(t *testing.T) {
	t.Parallel()
	s := start(t, "--nats-listen", "127.0.0.1:0")
	plain := append(os.Environ(), "MARGINLAB_SIMD=plain")
	out, _ := exec.Command(binary, "--help").Output()
	require.Check(t, bytes.Contains(out, []byte("MARGINLAB_SIMD")), "the help does not tell of MARGINLAB_SIMD")
	for name, tc := range map[string]struct {
		flags []string
		env   []string
		want  string
	}{
		"no token":      {s.help[:2], nil, "refuses the connection: give the token"},
		"another token": {[]string{s.help[0], s.help[1], "--nats-token", require.File(t, "token", "something else entirely")}, nil, "refuses the connection"},
		"version":       {s.help, plain, "the worker is not the same version as the server"},
	} {
		cmd := exec.Command(binary, append([]string{"worker"}, tc.flags...)...)
		cmd.Env = tc.env
		dieWithParent(cmd)
		out, err := cmd.CombinedOutput()
		if name == "version" && err == nil {
			continue // the machine has plain loops only
		}
		require.Check(t, err != nil && cmd.ProcessState.ExitCode() == 1 && strings.Contains(string(out), tc.want) && strings.Count(string(out), "\n") == 1,
			"%s: %v, %s", name, err, out)
	}
}
