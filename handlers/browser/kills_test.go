package browser

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"marginlab/ml/lists"
	"marginlab/ml/mltest/require"
)

// The server is killed again and again while others write: upload, train, search, hand in.
// Whatever it has answered is there at the end, whole and once, though the writers repeat
// what has a key until it is answered; all that was begun ends; and the database is whole.
func TestKills(t *testing.T) {
	t.Parallel()
	const writers, seed = 6, 1
	s := start(t)
	teacher := s.client()
	k := &killed{t: t, url: s.url, counts: map[string]int{}, http: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 2 * writers},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	k.more.L = &k.mu
	course := func() {
		at := teacher.post(t, "/courses", url.Values{"target": {"/lab?data=moons"}, "title": {"Kills"}, "handins": {"true"}}.Encode())
		k.mu.Lock()
		defer k.mu.Unlock()
		k.courses = append(k.courses, strings.TrimPrefix(at, "/courses/"))
	}
	course()

	var writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			for w := k.begin(rng); w != nil; w = k.begin(rng) {
				k.end(w, k.send(w, rng))
			}
		})
	}
	rng := rand.New(rand.NewPCG(seed, writers))
	var starting time.Duration
	for range kills {
		k.waitFor(rng.IntN(60))
		time.Sleep(time.Duration(rng.Int64N(int64(30 * time.Millisecond)))) // not always just after an answer
		k.down.Lock()                                                       // nobody asks a server that is not there
		s.kill()
		bad := trouble.FindAllString(s.log.String(), 5)
		require.Check(t, bad == nil, "in the log:\n%s", strings.Join(bad, "\n"))
		begin := time.Now()
		s.restart()
		starting += time.Since(begin)
		k.down.Unlock()
		course()
	}
	k.waitFor(30)
	k.mu.Lock()
	k.over = true
	k.mu.Unlock()
	writing.Wait()

	k.check(teacher)
	s.stop()
	out, err := exec.Command(binary, "check", "--data-dir", s.dir).CombinedOutput()
	require.Check(t, err == nil && bytes.HasPrefix(out, []byte("OK: ")), "check: %v\n%s", err, out)
	t.Logf("%d kills, restarted within %v on average; writes: %v\n%s", kills, (starting / kills).Round(time.Millisecond), k.counts, out)
}

// killed is a server that is killed, with all that was asked of it.
type killed struct {
	t    *testing.T
	url  string
	http *http.Client
	down sync.RWMutex // held while there is no server

	mu      sync.Mutex // guards what follows
	more    sync.Cond  // something was answered, or never will be
	writes  []*write   // that have ended
	begun   int
	courses []string // codes; the last one is open to new hand-ins
	over    bool
	counts  map[string]int // of writes, by what became of them
}

// write is one request that changes something, in a workspace of its own.
type write struct {
	number int
	list   string // of the workspace, that it adds to: datasets, runs, searches
	path   string
	header http.Header
	body   string
	keyed  bool // sent again, it does nothing more
	status int  // that promises
	course string

	location string // that was answered; empty: nothing was
	life     int    // of the server, that answered
}

func (w *write) String() string {
	return fmt.Sprintf("write %d, to %s in life %d", w.number, w.path, w.life)
}

// begin thinks of something to write; nil when it is enough.
func (k *killed) begin(rng *rand.Rand) *write {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return nil
	}
	k.begun++
	w := &write{number: k.begun, header: http.Header{"Cookie": {fmt.Sprintf("marginlab_workspace=%032x", k.begun)}}}
	key := fmt.Sprint("key ", k.begun)
	spec := map[string]any{"C": 1 + 9*rng.Float64(), "gamma": "1"}
	switch rng.IntN(8) {
	case 0, 1: // a file, now and then a large one
		w.list, w.path, w.status = "datasets", fmt.Sprintf("/api/datasets?name=%d.csv", k.begun), http.StatusCreated
		rows := 4 + rng.IntN(20)
		if rng.IntN(10) == 0 {
			rows = 3000
		}
		w.body = table(rng, rows)
	case 2, 3, 4: // a run, now and then one that takes its time
		w.list, w.path, w.status, w.keyed = "runs", "/api/runs", http.StatusAccepted, true
		w.header.Set("Idempotency-Key", key)
		if rng.IntN(20) == 0 {
			spec["learner"], spec["conformal"] = "mcm", "eigen"
		}
		w.body = encoded(map[string]any{"dataset": "moons", "spec": spec})
	case 5, 6:
		w.list, w.course, w.status, w.keyed = "runs", k.courses[len(k.courses)-1], http.StatusSeeOther, true
		w.path = "/course/" + w.course + "/handins"
		w.header.Set("Content-Type", "application/x-www-form-urlencoded")
		w.body = url.Values{"course": {w.course}, "data": {"moons"}, "C": {fmt.Sprint(spec["C"])}, "who": {w.student()}, "request": {key}}.Encode()
	default:
		w.list, w.path, w.status = "searches", "/api/searches", http.StatusAccepted
		w.body = encoded(map[string]any{"dataset": "moons", "spec": spec, "grid": map[string]any{"C": []int{1, 10}, "gamma": []int{1, 2}}, "folds": 2})
	}
	return w
}

func (w *write) student() string { return fmt.Sprint("student ", w.number) }

// table is a file of points.
func table(rng *rand.Rand, rows int) string {
	b := []byte("x1,x2,label\n")
	for i := range rows {
		b = fmt.Appendf(b, "%v,%v,%s\n", rng.Float64(), rng.Float64(), []string{"no", "yes"}[i%2])
	}
	return string(b)
}

func encoded(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// send does a write, with a key until it is answered, and then perhaps once more. It tells
// what became of it.
func (k *killed) send(w *write, rng *rand.Rand) (outcome string) {
	outcome = "answered"
	for {
		k.down.RLock() // a server is there
		life := len(k.codes())
		k.down.RUnlock()
		status, location, body, err := k.ask(http.MethodPost, w.path, w.body, w.header)
		switch {
		case err != nil && w.keyed:
			outcome = "answered when repeated"
			continue
		case err != nil:
			return "not answered"
		case status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable:
			return "refused"
		case status != w.status:
			k.t.Errorf("%v: %d\n%s", w, status, body)
			return "refused"
		case w.location != "" && location != w.location:
			k.t.Errorf("%v: repeated, it leads to %s, not to %s", w, location, w.location)
		}
		again := w.location == "" && w.keyed && rng.IntN(4) == 0
		w.location, w.life = location, life
		if !again {
			return outcome
		}
		outcome = "answered twice"
	}
}

func (k *killed) codes() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.courses
}

// ask sends one request and reads the whole answer.
func (k *killed) ask(method, path, body string, header http.Header) (status int, location, answer string, err error) {
	r, err := http.NewRequestWithContext(k.t.Context(), method, k.url+path, strings.NewReader(body))
	if err != nil {
		return 0, "", "", err
	}
	r.Header = header
	resp, err := k.http.Do(r)
	if err != nil {
		return 0, "", "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header.Get("Location"), string(b), err
}

// end notes what became of a write.
func (k *killed) end(w *write, outcome string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts[outcome]++
	k.writes = append(k.writes, w)
	k.more.Broadcast()
}

// count counts an outcome that is only found later.
func (k *killed) count(what string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.counts[what]++
}

// waitFor waits until n more writes have ended.
func (k *killed) waitFor(n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for n += len(k.writes); len(k.writes) < n; {
		k.more.Wait()
	}
}

// check holds what there is against what was answered, once all has ended.
func (k *killed) check(teacher *client) {
	var all errgroup.Group
	all.SetLimit(4)
	for _, w := range k.writes {
		all.Go(func() error { k.checkOne(w); return nil })
	}
	_ = all.Wait()
	in := map[string][]string{} // by course
	for _, w := range k.writes {
		if w.course != "" && w.location != "" {
			in[w.course] = append(in[w.course], w.student())
		}
	}
	for _, code := range k.courses {
		rows := require.Value(csv.NewReader(strings.NewReader(teacher.get(k.t, "/courses/"+code+"/handins.csv").body)).ReadAll())(k.t)
		got := lists.Map(rows[1:], func(row []string) string { return row[0] })
		slices.Sort(got)
		slices.Sort(in[code])
		require.Check(k.t, slices.Equal(got, in[code]), "course %s: handed in were\n%q, not\n%q", code, got, in[code])
	}
}

// checkOne looks for a write in its workspace.
func (k *killed) checkOne(w *write) {
	get := func(path string) string {
		status, _, body, err := k.ask(http.MethodGet, path, "", w.header)
		require.Check(k.t, err == nil && status == http.StatusOK, "%v: %s: %d, %v\n%s", w, path, status, err, body)
		return body
	}
	var list []struct{ ID, Status, Error string }
	read := func() {
		lists := require.JSON[map[string]json.RawMessage](k.t, get("/api/"+w.list), "%v", w)
		list = require.JSON[[]struct{ ID, Status, Error string }](k.t, lists[w.list], "%v", w)
	}
	read()
	switch {
	case len(list) == 0 && w.location == "":
		return
	case len(list) != 1:
		k.t.Errorf("%v: it is there %d times", w, len(list))
		return
	case w.location == "":
		k.count("of those not answered kept")
	case w.course == "" && !strings.HasSuffix(w.location, "/"+list[0].ID):
		k.t.Errorf("%v: it is %s, and was answered with %s", w, list[0].ID, w.location)
	}
	if w.list == "datasets" {
		kept := get("/api/datasets/" + list[0].ID + ".csv")
		require.Check(k.t, kept == w.body, "%v: of %d bytes these are kept:\n%s", w, len(w.body), kept)
		return
	}
	get("/api/" + w.list + "/" + list[0].ID + "/events") // until it has ended
	switch read(); {
	case list[0].Status == "failed" && strings.HasPrefix(list[0].Error, "The program stopped 3 times while it trained this run."):
		k.count("given up after three deaths")
	case list[0].Status != "done":
		k.t.Errorf("%v: %+v", w, list[0])
	}
}
