package handlers_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers"
	"marginlab/handlers/handlerstest"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest/require"
	"marginlab/store"
	"marginlab/web/jobs"
)

const (
	// mostMemory is how much the program may ever take, whatever eight requests of up to
	// bombBytes hold.
	mostMemory = 512 << 20

	// bombServer is set where this test binary is the server that bombs are sent to.
	bombServer = "MARGINLAB_BOMB_SERVER"

	atOnce = 8
)

// TestMemory sends bombs at once to every route that reads a body and looks at the peak
// of the memory of the server, another process. A route that has no bombs in the table fails.
//
//	go test -run TestMemory -v ./handlers                 four different ones for each route
//	go test -tags load -run TestMemory -v ./handlers      eight of each bomb, which unfolds to the most
func TestMemory(t *testing.T) {
	if race {
		t.Skip("the race detector takes memory of its own")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the peak of the memory is read in /proc")
	}
	s := startBombed(t)
	table := bombTable(t)
	routes := bodyRoutes(t)
	for pattern := range table {
		require.Check(t, slices.Contains(routes, pattern), "%s has bombs, but is no route that reads a body", pattern)
	}
	type peak struct {
		route string
		bytes int64
		most  string // bombs
	}
	var peaks []peak
	for _, route := range routes {
		bombs, ok := table[route]
		if !ok {
			t.Errorf("%s reads a body, but has no bombs in bombTable", route)
			continue
		}
		if !bombEach && strings.HasPrefix(route, "POST /teach/{token}/") && slices.Contains(routes, strings.Replace(route, "/teach/{token}", "/courses/{code}", 1)) {
			continue // the same handlers
		}
		method, pattern, _ := strings.Cut(route, " ")
		p := peak{route: route}
		var together [][]bomb
		if bombEach {
			for _, b := range bombs {
				together = append(together, slices.Repeat([]bomb{b}, atOnce))
			}
		} else {
			var some []bomb // of all kinds
			n := min(atOnce/2, len(bombs))
			for i := range n {
				some = append(some, bombs[i*len(bombs)/n])
			}
			together = append(together, some)
		}
		s.fresh(t)
		for _, batch := range together {
			begin := time.Now()
			s.throw(t, method, pattern, batch)
			if now := s.peak(t); now > p.bytes {
				p.bytes, p.most = now, batch[0].name
				if len(batch) > 1 && batch[len(batch)-1].name != batch[0].name {
					p.most += " to " + batch[len(batch)-1].name
				}
			}
			if took := time.Since(begin); bombEach && took > time.Second {
				t.Logf("%s, %s: %v", route, batch[0].name, took.Round(time.Millisecond))
			}
		}
		require.Check(t, p.bytes <= mostMemory,
			"%s: %d MB, at most %d are allowed (%s)", route, p.bytes>>20, mostMemory>>20, p.most)
		peaks = append(peaks, p)
	}
	slices.SortStableFunc(peaks, func(a, b peak) int { return cmp.Compare(b.bytes, a.bytes) })
	var told strings.Builder
	for _, p := range peaks[:min(20, len(peaks))] {
		fmt.Fprintf(&told, "%5d MB  %-55s %s\n", p.bytes>>20, p.route, p.most)
	}
	t.Logf("the highest peaks of the memory:\n%s", told.String())
}

// bodyRoutes are the routes that may read a body, without those that only lead to another.
func bodyRoutes(t *testing.T) (list []string) {
	app := handlerstest.Serve(t, false, dataset.DefaultLimits).App
	require.NoError(t, chi.Walk(app.Handler().(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if !strings.HasPrefix(pattern, "/class") && slices.Contains([]string{"POST", "PUT", "PATCH"}, method) {
			list = append(list, method+" "+pattern)
		}
		return nil
	}))
	slices.Sort(list)
	return list
}

// bombTable has the bombs for each route that reads a body.
func bombTable(t *testing.T) map[string][]bomb {
	t.Helper()
	files, archives := fileBombs(t, unpackedBytes), archiveBombs(t, unpackedBytes)
	with := slices.Concat[[]bomb]
	lab := formBombs("data=moons", "data", "points", "features", "kernel", "C", "positive", "x", "try", "search.C", "search.points", "stage", "degree")
	drawn := formBombs("data=drawing", "points")
	search := formBombs("data=moons&search.C=1,2", "search.gamma", "search.folds", "search.repeats", "search.draws", "search.learning", "search.points")
	lesson := formBombs("", "data", "step", "ahead", "a", "kernel", "n", "points", "width", "query")
	reportBombs := []bomb{
		{"formulas", "application/json", fill(`{"title":"t","text":"`, `$x^2$ `, `"}`)},
		{"nested lists", "application/json", fill(`{"title":"t","text":"`, `- - - `, `"}`)},
		{"quotes", "application/json", fill(`{"title":"t","text":"`, `>`, `"}`)},
		{"brackets", "application/json", fill(`{"title":"t","text":"`, `[`, `"}`)},
		{"items", "application/json", fill(`{"title":"t","text":"`, `![](/runs/a)\n`, `"}`)},
	}
	few := func(fields ...string) []bomb { return formBombs("", fields...) }
	none := few()
	table := map[string][]bomb{
		"POST /lab/live": with(lab, drawn), "POST /lab/at": with(lab, drawn), "POST /path/cancel": few("id"),
		"POST /api/workspaces": none,
		"POST /links":          with(lab, drawn), "POST /links/{id}/delete": none,
		"POST /embed/{lesson}/{screen}/live": lesson, "POST /embed/{lesson}/{screen}/states": lesson,
		"POST /lessons/{lesson}/{screen}/live": lesson, "POST /lessons/{lesson}/{screen}/states": lesson,
		"POST /lessons/{lesson}/forget": few("screen", "from", "query"), "POST /lessons/{lesson}/{screen}/questions/{question}": few("answer", "query", "from"),
		"POST /datasets": with(sent("file", files), few("text", "name", "request")), "POST /datasets/generate": few("generator", "n", "noise", "name"),
		"POST /datasets/points": with(lab, drawn, formBombs("data=moons&replace=1", "points")), "POST /datasets/mapping/{id}": few("kind", "label", "feature", "missing", "objects", "name"),
		"POST /datasets/{id}": few("name"), "POST /datasets/{id}/rows": few("rows", "hash"), "POST /datasets/{id}/objects": few("object", "label", "row", "act", "hash"), "POST /datasets/{id}/delete": few("back"),
		"POST /runs": with(lab, drawn), "POST /runs/tag": few("run", "tags", "where", "all"), "POST /runs/delete": few("run", "where", "all"),
		"POST /runs/{id}": few("name", "note", "tags"), "POST /runs/{id}/cancel": few("back"), "POST /runs/{id}/delete": few("back"), "POST /runs/{id}/predict": with(sent("file", files), few("text")), "POST /runs/{id}/share": none, "POST /runs/{id}/unshare": none, "POST /runs/{id}/handin": few("who", "code", "course"),
		"POST /runs/{id}/change/cancel": few("back", "id"), "POST /api/runs/{id}/change": none,
		"POST /compare/versions": with(lab, drawn), "POST /compare/rules": with(lab, drawn), "POST /compare/share": few("run"), "POST /compare/folds": few("run", "folds", "repeats"),
		"POST /searches": with(lab, drawn, search), "POST /searches/{id}/cancel": few("back"), "POST /searches/{id}/delete": few("back"), "POST /searches/{id}/runs": few("cell"), "POST /searches/{id}/again": few("how"),
		"POST /studies": with(few("study", "of", "dataset", "learner", "kernel", "folds"), formBombs("", "study")), "POST /studies/{id}/cancel": few("back"), "POST /studies/{id}/delete": few("back"),
		"POST /reports": few("title", "text", "place"), "POST /reports/{id}": few("title", "text", "place", "refresh"), "POST /reports/add": few("address", "report"), "POST /reports/{id}/delete": none, "POST /reports/{id}/share": none, "POST /reports/{id}/unshare": none,
		"POST /course/{code}/poll": few("poll", "answer", "round"), "POST /course/{code}/name": few("who"), "POST /course/{code}/handins": with(lab, drawn), "POST /course/{code}/withdraw": few("handin", "run"),
		"POST /courses": with(few("title", "target", "handins", "value.C", "group.learner"), formBombs("target=/lab%3Fdata=moons&title=t", "value.data", "value.C")), "POST /courses/new": with(lab, drawn),
		"POST /courses/import": with(sent("file", jsonBombs(`"format":1,"title":"t","page":"/lab"`, "hidden", "frozen", "points", "data")), few("title")),
		"POST /deleted/{id}":   few("back"), "POST /settings/workspace": few("token"), "POST /settings/import": with(sent("file", archives), none), "POST /settings/delete": few("sure"),

		"POST /api/workspace.zip": archives, "POST /api/deleted/{id}/restore": none, "POST /api/datasets": files, "PUT /api/datasets/{id}": files,
		"POST /api/datasets/generate": jsonBombs(`"generator":"moons"`, "generator", "parameters", "name"), "PATCH /api/datasets/{id}": jsonBombs("", "name"),
		"POST /api/runs":      jsonBombs(`"dataset":"moons"`, "dataset", "spec", "name", "tags", "note"),
		"POST /api/runs/tags": jsonBombs("", "runs", "where", "add", "remove"), "POST /api/runs/delete": jsonBombs("", "runs", "where"),
		"POST /api/comparison/folds": jsonBombs("", "runs", "folds", "repeats"), "PATCH /api/runs/{id}": jsonBombs("", "name", "tags", "note"),
		"POST /api/runs/{id}/predictions": files, "POST /api/runs/{id}/cancel": none,
		"POST /api/courses":         with(jsonBombs(`"format":1,"title":"t","page":"/lab"`, "hidden", "frozen", "points", "data"), jsonBombs("", "title", "page")),
		"PATCH /api/courses/{code}": jsonBombs("", "closed", "ends"), "POST /api/courses/{code}/polls": jsonBombs("", "question"), "POST /api/courses/{code}/polls/{poll}": jsonBombs("", "do"),
		"POST /api/course/{code}/poll": jsonBombs("", "poll", "round", "answer"), "POST /api/links": jsonBombs(`"dataset":"moons"`, "dataset", "spec"), "POST /api/path": jsonBombs(`"dataset":"moons"`, "dataset", "spec"),
		"POST /api/studies": with(jsonBombs("", "study"), []bomb{
			{"list", "application/json", verbatim(`{"study":"[data]\na = [` + strings.Repeat("1,", 100_000) + `1]"}`)},
			{"tables", "application/json", fill(`{"study":"`, `[[a]]\n`, `"}`)},
		}),
		"POST /api/searches":           jsonBombs(`"dataset":"moons","grid":{"C":[1,2]}`, "dataset", "spec", "grid", "design", "points", "folds", "repeats", "hold_out", "fold_column", "shares", "seed"),
		"POST /api/searches/{id}/runs": jsonBombs("", "cell"), "POST /api/searches/{id}/again": jsonBombs("", "how"),
		"POST /api/searches/{id}/cancel": none, "POST /api/studies/{id}/cancel": none,
		"POST /api/reports": with(jsonBombs("", "title", "text"), reportBombs), "PUT /api/reports/{id}": with(jsonBombs("", "title", "text"), reportBombs),
	}
	for _, base := range []string{"/courses/{code}", "/teach/{token}"} {
		for route, bombs := range map[string][]bomb{
			"/close": few("closed"), "/end": few("ends", "lift"), "/block": few("run"), "/unblock": few("block"), "/polls": few("question"), "/questions": few("ask", "option.0", "slide", "right"), "/questions/take": few("from"), "/questions/{question}": few("do", "ask"), "/names": few("hidden", "from"), "/present": few("path", "query", "part", "free"), "/remote": few("key"), "/point": few("x", "y"), "/polls/{poll}": few("do"),
			"/edit": few("title", "value.C", "group.learner"), "/delete": few("sure"), "/runs/delete": few("run"),
		} {
			table["POST "+base+route] = bombs
		}
	}
	return table
}

// bombed is the server that bombs are sent to.
type bombed struct {
	url, token string
	ids        map[string]string // what stands in the place of parameters of a pattern
	ask        io.Writer
	told       *bufio.Reader
	client     *http.Client
}

// startBombed starts the server, which ends with the test. The context of the test would kill it
// before it has removed its files.
func startBombed(t *testing.T) *bombed {
	t.Helper()
	self := require.Value(os.Executable())(t)
	cmd := exec.Command(self, "-test.run=^TestBombServer$", "-test.timeout=0")
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "GOMEMLIMIT=") || strings.HasPrefix(s, "GOGC=") }), "GOGC=100", bombServer+"=1")
	cmd.Stderr = os.Stderr
	in := require.Value(cmd.StdinPipe())(t)
	out := require.Value(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	s := &bombed{ask: in, told: bufio.NewReader(out), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: atOnce}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
	t.Cleanup(func() { // the server ends when it is asked nothing more
		in.Close()
		s.client.CloseIdleConnections()
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait()
	})
	line, err := s.told.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.ids)
	}
	require.Must(t, err == nil, "the server does not come up: %v, %s", err, line)
	s.url, s.token = s.ids["url"], handlerstest.Alice
	return s
}

// TestBombServer is the server of TestMemory, for which it runs the test binary once more: it
// tells where it is and what its workspace holds, and then, line by line, the peak of its memory.
func TestBombServer(t *testing.T) {
	if os.Getenv(bombServer) == "" {
		t.Skip("for TestMemory alone")
	}
	s := handlerstest.ServeWith(t, true, handlers.Config{Limits: dataset.DefaultLimits, Log: slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})), Patience: 2 * time.Second}, jobs.Config{Limit: 2 * time.Second})
	c, own := s.Browse(t, handlerstest.Alice), s.As(t, handlerstest.Alice)
	set := own.Upload("name=own%20points.csv", "x,y,label\n"+strings.Repeat("0,0,a\n1,0,a\n0,1,b\n1,1,b\n2,2,b\n3,1,a\n", 10))
	run := own.Done(`{"dataset":"` + set.ID + `"}`)
	code := c.Course("/lab?data=moons", "")
	search := handlerstest.Decode[struct{ ID string }](own.Want(202, "POST", "/api/searches", `{"dataset":"moons","grid":{"C":[1,2]},"folds":2}`)).ID
	study := handlerstest.Decode[struct{ ID string }](own.Want(202, "POST", "/api/studies", mustJSON(t, map[string]string{"study": handlerstest.SmallStudy}))).ID
	poll := c.Ask(code, handlerstest.Optioned)
	report := handlerstest.Decode[struct{ ID string }](own.Want(201, "POST", "/api/reports", `{"title":"t","text":"![](/runs/`+run+`)"}`)).ID
	upload, err := s.App.Store.SaveUpload(context.Background(), store.WorkspaceOf(handlerstest.Alice), "a.csv", strings.NewReader("x,y\n1,2\n3,4\n"))
	require.NoError(t, err)
	secret := c.Secret(code)
	fmt.Println(mustJSON(t, map[string]string{
		"url": s.URL, "/datasets/{id}": set.ID, "/mapping/{id}": upload, "/runs/{id}": run, "/searches/{id}": search, "/studies/{id}": study, "/reports/{id}": report, "{code}": code,
		"{poll}": poll[strings.LastIndex(poll, "/")+1:], "/teach/{token}": secret[strings.LastIndex(secret, "/")+1:], "{lesson}": "procedures", "{screen}": "naive", "{question}": "objective",
	}))
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if in.Text() == "fresh" {
			debug.FreeOSMemory()
			require.NoError(t, os.WriteFile("/proc/self/clear_refs", []byte("5"), 0))
		}
		status := require.Value(os.ReadFile("/proc/self/status"))(t)
		fmt.Println(string(regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)[1]))
	}
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	return string(require.Value(json.Marshal(v))(t))
}

// question asks the server, which answers with the peak of its memory.
func (s *bombed) question(t *testing.T, what string) int64 {
	t.Helper()
	require.Value(fmt.Fprintln(s.ask, what))(t)
	line, err := s.told.ReadString('\n')
	require.Must(t, err == nil, "the server is gone: %v", err)
	return require.Value(strconv.ParseInt(strings.TrimSpace(line), 10, 64))(t) << 10
}

// fresh has the server give back what memory it does not need, and forget its peak.
func (s *bombed) fresh(t *testing.T) { t.Helper(); s.question(t, "fresh") }

func (s *bombed) peak(t *testing.T) int64 { t.Helper(); return s.question(t, "peak") }

var parameter = regexp.MustCompile(`(/\w+/)?\{\w+\}`)

// throw sends bombs at once, and waits for the answers.
func (s *bombed) throw(t *testing.T, method, pattern string, bombs []bomb) {
	t.Helper()
	path := parameter.ReplaceAllStringFunc(pattern, func(p string) string {
		for _, name := range slices.Sorted(maps.Keys(s.ids)) {
			if place, ok := strings.CutSuffix(p, name); ok {
				return place + name[:strings.IndexByte(name, '{')] + s.ids[name]
			}
		}
		return p[:strings.IndexByte(p, '{')] + "none"
	})
	bodies := map[string]string{}
	for _, b := range bombs {
		if bodies[b.name] == "" {
			bodies[b.name] = b.body()
		}
	}
	var all sync.WaitGroup
	for i, b := range bombs {
		token := s.token
		if !strings.Contains(pattern, "{") && i > 0 { // many who send
			token = fmt.Sprintf("%032x", i)
		}
		all.Go(func() {
			r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(bodies[b.name]))
			if err != nil {
				t.Error(err)
				return
			}
			r.Header.Set("Content-Type", b.kind)
			r.Header.Set("Authorization", "Bearer "+token)
			a, err := s.client.Do(r)
			if err != nil {
				if !errors.Is(err, context.Canceled) {
					t.Logf("%s %s, %s: %v", method, path, b.name, err) // refused before all was sent
				}
				return
			}
			defer a.Body.Close()
			if _, err := io.Copy(io.Discard, a.Body); err != nil {
				t.Logf("%s %s, %s: %v", method, path, b.name, err)
			}
			require.Check(t, a.StatusCode != 500, "%s %s, %s: %s", method, path, b.name, a.Status)
		})
	}
	all.Wait()
}
