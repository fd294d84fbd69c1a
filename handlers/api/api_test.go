package api_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"marginlab/handlers"
	"marginlab/handlers/api"
	"marginlab/handlers/handlerstest"
	"marginlab/handlers/results"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/store"
)

func TestScripts(t *testing.T) { handlerstest.Scripts(t) }

func TestAPIWalk(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)

	a := c.Want(http.StatusCreated, "POST", "/api/datasets?name=square.csv", handlerstest.Square)
	set := handlerstest.Decode[api.Dataset](a)
	require.Equal(t, a.Header.Get("Location"), "/api/datasets/"+set.ID, "Location")
	require.Check(t, set.Rows == 6 && set.Name == "square.csv" && slices.Equal(set.Features, []string{"x1", "x2"}) && slices.Equal(set.Classes, []string{"no", "yes"}),
		"data set %+v", set)
	list := handlerstest.Decode[struct{ Datasets []api.Dataset }](c.Want(200, "GET", "/api/datasets", ""))
	require.Check(t, len(list.Datasets) == 1 && list.Datasets[0].ID == set.ID, "list %+v", list)
	got := handlerstest.Decode[api.Dataset](c.Want(200, "GET", "/api/datasets/"+set.ID, ""))
	require.Check(t, reflect.DeepEqual(got, set), "got %+v, want %+v", got, set)
	csv := c.Want(200, "GET", "/api/datasets/"+set.ID+".csv", "")
	require.Check(t, string(csv.Body) == handlerstest.Square, "CSV %q", csv.Body)
	got = handlerstest.Decode[api.Dataset](c.Want(200, "PATCH", "/api/datasets/"+set.ID, `{"name":"corners"}`))
	require.Check(t, got.Name == "corners", "renamed to %q", got.Name)

	a = c.Want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"`+set.ID+`","spec":{"kernel":"linear","C":1e3,"standardize":false,"tol":1e-8},"name":"first","tags":["a","b"],"note":"why"}`)
	id := handlerstest.Decode[api.RunStatus](a).ID
	require.Equal(t, a.Header.Get("Location"), "/api/runs/"+id, "Location")
	events := c.Follow(id)
	require.Must(t, events[0].Name == "status" && events[len(events)-1] == (handlerstest.Event{Name: "status", Data: `{"status":"done"}`}),
		"events %v", events)

	a = c.Want(200, "GET", "/api/runs/"+id, "")
	run := handlerstest.Decode[api.Run](a)
	require.Check(t, run.Status == store.Done && run.Dataset == set.ID && run.DatasetName == "corners" && run.DataHash == set.Hash && run.Seed == 1 &&
		run.Name == "first" && slices.Equal(run.Tags, []string{"a", "b"}) && run.Note == "why" && !run.Finished.Before(run.Created),
		"run %+v", run)
	// The widest street between the corners (0.5, 0.25), (0.25, 0.5) and the line
	// through (3, 3.125), (4, 3) — recomputed here by training without the server.
	d := require.Value(dataset.Read(strings.NewReader(handlerstest.Square), "square.csv", dataset.Mapping{}, dataset.DefaultLimits))(t)
	direct := require.Value(ml.Train(t.Context(), d, run.Spec, nil))(t)
	direct.Report.FitSeconds = run.Report.FitSeconds
	require.Check(t, reflect.DeepEqual(*run.Report, direct.Report), "report %+v\nwant %+v", *run.Report, direct.Report)
	// The same names as `fit --json`, which prints the report itself.
	want := require.Value(json.Marshal(direct.Report))(t)
	raw := handlerstest.Decode[struct{ Report json.RawMessage }](a)
	require.Check(t, bytes.Equal(raw.Report, want), "report %s\nwant %s", raw.Report, want)
	model := require.Value(ml.ReadModel(bytes.NewReader(c.Want(200, "GET", "/api/runs/"+id+"/model.json", "").Body)))(t)
	require.Check(t, reflect.DeepEqual(model, direct.Model), "model %+v\nwant %+v", model, direct.Model)

	// What a change leaves out stays.
	if got := handlerstest.Decode[api.Run](c.Want(200, "PATCH", "/api/runs/"+id, `{"note":"because"}`)); got.Name != "first" || got.Note != "because" || len(got.Tags) != 2 {
		t.Errorf("with another note: %+v", got)
	}
	if got := handlerstest.Decode[api.Run](c.Want(200, "PATCH", "/api/runs/"+id, `{"tags":[]}`)); got.Name != "first" || got.Note != "because" || len(got.Tags) != 0 {
		t.Errorf("without tags: %+v", got)
	}
	body, text := io.Pipe()
	late := httptest.NewRequestWithContext(t.Context(), "PATCH", "/api/runs/"+id, body)
	late.Header.Set("Authorization", "Bearer "+handlerstest.Alice)
	ended := make(chan struct{})
	go func() { defer close(ended); c.App.Handler().ServeHTTP(httptest.NewRecorder(), late) }()
	require.Value(io.WriteString(text, "{"))(t)
	c.Want(200, "PATCH", "/api/runs/"+id, `{"note":"meanwhile"}`)
	require.Value(io.WriteString(text, `"name":"second"}`))(t)
	require.NoError(t, text.Close())
	<-ended
	if got := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, "")); got.Name != "second" || got.Note != "meanwhile" {
		t.Errorf("after two changes at once: %+v", got)
	}
	c.Want(http.StatusConflict, "POST", "/api/runs/"+id+"/cancel", "")

	c.Want(http.StatusNoContent, "DELETE", "/api/datasets/"+set.ID, "")
	c.Want(http.StatusNotFound, "GET", "/api/datasets/"+set.ID, "")
	if got := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+id, "")); got.Dataset != "" || got.DatasetName != "corners" {
		t.Errorf("without its data set: %+v", got)
	}
	c.Want(http.StatusNoContent, "DELETE", "/api/runs/"+id, "")
	c.Want(http.StatusNotFound, "GET", "/api/runs/"+id, "")
	c.Want(http.StatusNotFound, "DELETE", "/api/runs/"+id, "")

	require.Equal(t, c.Upload("", handlerstest.Square).Name, "Data set", "name of an unnamed upload")
}

// Every learner with every kernel and map gives a run that is described.
func TestAPIRunsOfEveryKind(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	ids := map[string]bool{}
	for _, learner := range ml.Learners {
		for _, spec := range []string{
			`"kernel":"linear","hard_margin":true`, `"kernel":"poly","degree":2`, `"kernel":"rbf","gamma":"scale","test_fraction":0.3,"seed":7`, `"kernel":"sigmoid","gamma":0.01`,
			`"conformal":"eigen"`, `"conformal":"gradient","core_step":10`, `"conformal":"amari","core_gamma":2`,
		} {
			ids[c.Train(fmt.Sprintf(`{"dataset":"iris-setosa-versicolor","spec":{"learner":%q,%s}}`, learner.Name, spec))] = true
		}
	}
	for id := range ids {
		last := c.Follow(id)
		got := last[len(last)-1]
		require.Check(t, got.Data == `{"status":"done"}`, "run %s: %v", id, got)
		c.Want(200, "GET", "/api/runs/"+id, "")
		c.Want(200, "GET", "/api/runs/"+id+"/model.json", "")
	}
	type list struct {
		Runs                 []api.Run
		Total, Limit, Offset int
	}
	total := len(ids)
	for _, tc := range []struct {
		query       string
		rows, total int
	}{
		{"", min(total, results.ListRows), total},
		{"learner=mcm", total / len(ml.Learners), total / len(ml.Learners)},
		{"conformal=eigen", len(ml.Learners), len(ml.Learners)},
		{"conformal=eigen&learner=svm&status=done", 1, 1},
		{"status=failed", 0, 0},
		{"rule=sign", min(total, results.ListRows), total},
		{"rule=ovo", 0, 0},
		{"q=no+such+words", 0, 0},
		{"tag=none", 0, 0},
		{fmt.Sprintf("limit=3&offset=%d", total-2), 2, total},
	} {
		got := handlerstest.Decode[list](c.Want(200, "GET", "/api/runs?"+tc.query, ""))
		require.Check(t, len(got.Runs) == tc.rows && got.Total == tc.total,
			"%q: %d runs of %d, want %d of %d", tc.query, len(got.Runs), got.Total, tc.rows, tc.total)
	}
	var seen []string
	for offset := 0; offset < total; offset += 4 {
		for _, r := range handlerstest.Decode[list](c.Want(200, "GET", fmt.Sprintf("/api/runs?sort=accuracy&desc=true&limit=4&offset=%d", offset), "")).Runs {
			seen = append(seen, r.ID)
			delete(ids, r.ID)
		}
	}
	require.Check(t, len(ids) == 0 && len(seen) == total, "paging gave %d rows and left out %v", len(seen), ids)
}

// What exceeds a limit is refused; testdata/scripts/errors.txtar has the other faults.
func TestAPILimits(t *testing.T) {
	c := handlerstest.Fresh(t, false, dataset.Limits{Bytes: 4 << 10, Rows: 50, Columns: 6}).As(t, handlerstest.Alice)
	for name, sent := range map[string]struct{ path, body string }{
		"large body":   {"/api/runs", `{"dataset":"moons","note":"` + strings.Repeat("x", api.BodyBytes) + `"}`},
		"large file":   {"/api/datasets?name=n", handlerstest.Square + strings.Repeat("1,2,no\n", 1000)},
		"many rows":    {"/api/datasets?name=n", "a,b,y\n" + strings.Repeat("1,2,0\n2,1,1\n", 26)},
		"many columns": {"/api/datasets?name=n", "1,2,3,4,5,6,0\n1,2,3,4,5,6,1\n"},
	} {
		require.Equal(t, c.Want(413, "POST", sent.path, sent.body).Problem(""), nil, "%s", name)
	}
	require.Check(t, string(c.Want(200, "GET", "/api/datasets", "").Body) == `{"datasets":[],"limit":0,"offset":0,"total":0}`+"\n", "a data set is stored")
}

// A file that ends before its announced length is not taken for a whole one.
func TestAPIHalfAFile(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	conn := require.Value(net.Dial("tcp", s.Listener.Addr().String()))(t)
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/datasets?name=n HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", handlerstest.Alice, len(handlerstest.Square)+1, handlerstest.Square)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	resp := require.Value(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	defer resp.Body.Close()
	require.Equal(t, resp.StatusCode, http.StatusBadRequest, "status … for half a file")
	got := handlerstest.Decode[struct{ Datasets []api.Dataset }](s.As(t, handlerstest.Alice).Want(200, "GET", "/api/datasets", ""))
	require.Check(t, len(got.Datasets) == 0, "stored %+v", got)
}

// A request under a key is done once, and something else under it is refused.
func TestAPIRepeated(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	c, other := s.As(t, handlerstest.Alice), s.As(t, handlerstest.Bob)
	for _, made := range []struct{ to, one, otherTo, other string }{
		{"/api/runs", `{"dataset":"moons"}`, "/api/runs", `{"dataset":"moons","spec":{"C":7}}`},
		{"/api/datasets?name=n", handlerstest.Square, "/api/datasets?name=n", handlerstest.Square + "5,5,no\n"},
		{"/api/datasets?name=m", handlerstest.Square, "/api/datasets?name=other", handlerstest.Square},
		{"/api/datasets/generate", `{"generator":"moons"}`, "/api/datasets/generate", `{"generator":"rings"}`},
		{"/api/searches", `{"dataset":"moons","grid":{"C":[1]}}`, "/api/searches", `{"dataset":"moons","grid":{"C":[2]}}`},
		{"/api/studies", small("1"), "/api/studies", small("2")},
	} {
		places := map[string]bool{}
		for range 2 {
			for _, key := range []string{"one of ", "two of "} {
				a := c.Do("POST", made.to, made.one, "Idempotency-Key", key+made.to)
				require.Must(t, a.Status < 300, "%s: %d %s", made.to, a.Status, a.Body)
				places[a.Header.Get("Location")] = true
				told := c.Want(http.StatusUnprocessableEntity, "POST", made.otherTo, made.other, "Idempotency-Key", key+made.to)
				require.Check(t, bytes.Contains(told.Body, []byte("used before with a different request")), "%s: another is refused with %s", made.to, told.Body)
			}
		}
		require.Check(t, len(places) == 2, "%s: %d made, want 2: %v", made.to, len(places), places)
		a := other.Do("POST", made.otherTo, made.other, "Idempotency-Key", "one of "+made.to)
		require.Check(t, a.Status < 300, "%s: of somebody else: %d %s", made.to, a.Status, a.Body)
	}

	// What was deleted is made anew, as often as that may be.
	for to, body := range map[string]string{"/api/datasets?name=again": handlerstest.Square, "/api/runs": `{"dataset":"moons"}`, "/api/searches": `{"dataset":"moons","grid":{"C":[3]}}`} {
		places := map[string]bool{}
		for range 3 {
			a := c.Do("POST", to, body, "Idempotency-Key", "again")
			places[a.Header.Get("Location")] = true
			c.Want(http.StatusNoContent, "DELETE", a.Header.Get("Location"), "")
		}
		require.Check(t, len(places) == 3, "%s: %d made, want 3: %v", to, len(places), places)
	}
}

// small is the request for a study of one search, with that value of C.
func small(c string) string {
	return `{"study":"[scheme]\nfolds = 2\n[data.moons]\nbuiltin = \"moons\"\n[learner.SVM]\nC = ` + c + `"}`
}

func TestAPIBusy(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	for range store.MaxQueuedEach {
		require.Value(c.App.Store.CreateRun(t.Context(), store.WorkspaceOf(handlerstest.Alice), store.NewRun{Data: tiny(t), Spec: ml.DefaultSpec()}))(t)
	}
	a := c.Want(http.StatusTooManyRequests, "POST", "/api/runs", `{"dataset":"moons"}`)
	require.Check(t, a.Header.Get("Retry-After") != "", "no Retry-After")
	c.As(t, handlerstest.Bob).Want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"moons"}`) // whom that does not concern
}

// When the queue is full, pages and programs learn when to try again, and pages also what happens
// to the form.
func TestQueueFull(t *testing.T) {
	s := handlerstest.Fresh(t, false)
	d := require.Value(dataset.FromPoints([][2]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []string{"a", "a", "b", "b"}))(t)
	n := store.NewSearch{Data: d, Spec: ml.DefaultSpec(), Grid: eval.Grid{"C": eval.Numbers(1)}, Scheme: eval.Scheme{Folds: 2, Repeats: 1}}
	for i := range store.MaxSearching {
		require.Value(s.App.Store.CreateSearch(t.Context(), store.WorkspaceOf(strconv.Itoa(i)), n))(t)
	}
	program := s.As(t, handlerstest.Alice).Want(http.StatusServiceUnavailable, "POST", "/api/searches", `{"dataset":"moons","grid":{"C":[3]}}`)
	page := s.Browse(t, handlerstest.Alice).Fetch("POST", "/searches", "data=moons&grid.C=3")
	text := page.HTML().Find("main").Text()
	require.Check(t, page.Status == http.StatusServiceUnavailable && strings.Contains(text, "Too many") && strings.Contains(text, "go back"), "%d %s", page.Status, text)
	require.Check(t, program.Header.Get("Retry-After") != "" && page.Header.Get("Retry-After") != "", "no Retry-After")
}

func tiny(t *testing.T) *dataset.Data {
	t.Helper()
	return require.Value(dataset.FromPoints([][2]float64{{0, 0}, {1, 1}}, []string{"a", "b"}))(t)
}

func TestAPIWorkspaces(t *testing.T) {
	hers := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	set := hers.Upload("name=hers", handlerstest.Square)
	run := hers.Done(`{"dataset":"` + set.ID + `"}`)

	// The cookie opens the same workspace as the token, here and on the pages.
	browser := hers.Browse(t, handlerstest.Alice)
	browser.Want(200, "GET", "/api/runs/"+run, "")
	// The token goes before the cookie.
	browser.Token = handlerstest.Bob
	browser.Want(404, "GET", "/api/runs/"+run, "")
	for _, token := range []string{"short", handlerstest.Alice + "00", strings.Repeat("z", 32)} {
		a := hers.As(t, token).Want(http.StatusUnauthorized, "GET", "/api/runs", "")
		require.Check(t, a.Header.Get("Content-Type") == "application/problem+json" && a.Header.Get("WWW-Authenticate") != "",
			"token %q: %v", token, a.Header)
	}

	// Every route with an id, whatever routes there will be.
	his := hers.As(t, handlerstest.Bob)
	n := 0
	for method, pattern := range routes(t, hers.App) {
		if !strings.Contains(pattern, "{id}") {
			continue
		}
		n++
		id := run
		if strings.HasPrefix(pattern, "/api/datasets") {
			id = set.ID
		}
		body := ""
		if method == "PATCH" {
			body = `{"name":"his"}`
		}
		his.Want(404, method, strings.ReplaceAll(pattern, "{id}", id), body)
	}
	require.Check(t, n >= 9, "only %d routes with an id", n)
	his.Want(404, "POST", "/api/runs", `{"dataset":"`+set.ID+`"}`)
	his.Want(404, "POST", "/api/runs", `{"dataset":"run-`+run+`"}`)
	got := handlerstest.Decode[api.Run](hers.Want(200, "GET", "/api/runs/"+run, ""))
	require.Check(t, got.Status == store.Done && got.Name != "his", "somebody else changed the run: %+v", got)
	hers.Want(200, "GET", "/api/datasets/"+set.ID, "")
}

// A request that a page of another site makes a browser send is refused.
func TestAPICrossSite(t *testing.T) {
	c := handlerstest.Fresh(t, false).Browse(t, handlerstest.Alice)
	c.Want(http.StatusForbidden, "POST", "/api/runs", `{"dataset":"moons"}`, "Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain")
	c.Want(http.StatusForbidden, "POST", "/runs", "data=moons", "Origin", "https://evil.example", "Content-Type", "application/x-www-form-urlencoded")
}

func TestAPICancelQueued(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	run := c.Train(`{"dataset":"moons"}`)
	for _, path := range []string{"/api/runs/", "/runs/"} { // the page's stream is the same
		resp := c.Open(t.Context(), "GET", path+run+"/events", nil, "Cookie", "marginlab_workspace="+handlerstest.Alice)
		defer resp.Body.Close()
		body := bufio.NewReader(resp.Body)
		want := handlerstest.Event{Name: "status", Data: `{"status":"queued"}`}
		if path == "/runs/" {
			want = handlerstest.Event{Name: "status", Data: `{"status":"cancelled"}`}
		}
		e, ok := handlerstest.NextEvent(t, body)
		require.Must(t, ok && e == want, "%s: first event %v", path, e)
		if path == "/api/runs/" {
			c.Want(http.StatusAccepted, "POST", "/api/runs/"+run+"/cancel", "")
			e, ok := handlerstest.NextEvent(t, body)
			require.Must(t, ok && e.Data == `{"status":"cancelled"}`, "after cancelling: %v", e)
		}
		e, ok = handlerstest.NextEvent(t, body)
		require.Must(t, !ok, "after the end: %v", e)
	}
	c.Want(http.StatusConflict, "POST", "/api/runs/"+run+"/cancel", "")
}

func TestAPIProgress(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	run := c.Train(handlerstest.LongRun)
	resp := c.Open(t.Context(), "GET", "/api/runs/"+run+"/events", nil)
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	var seen []string
	for e, ok := handlerstest.NextEvent(t, body); e.Name != "progress"; e, ok = handlerstest.NextEvent(t, body) {
		require.Must(t, ok && e.Name == "status", "event %v after %v", e, seen)
		seen = append(seen, e.Data)
	}
	require.Check(t, seen[len(seen)-1] == `{"status":"running"}`, "progress after the status %v", seen)
	// A late reader receives the status first, too.
	late := c.Open(t.Context(), "GET", "/api/runs/"+run+"/events", nil)
	defer late.Body.Close()
	lateBody := bufio.NewReader(late.Body)
	if e, _ := handlerstest.NextEvent(t, lateBody); e != (handlerstest.Event{Name: "status", Data: `{"status":"running"}`}) {
		t.Errorf("late: first event %v", e)
	}
	e, _ := handlerstest.NextEvent(t, lateBody)
	require.Equal(t, e.Name, "progress", "event %v", e)
	step := require.JSON[map[string]any](t, e.Data)
	require.Check(t, strings.HasPrefix(fmt.Sprint(step["text"]), "SVM: "), "in words: %v", step["text"])
	delete(step, "text") // said beside the Step
	require.Equal(t, check(c, "Step", step), nil, "check")
	c.Want(http.StatusNoContent, "DELETE", "/api/runs/"+run, "")
	for _, b := range []*bufio.Reader{body, lateBody} {
		var last handlerstest.Event
		for e, ok := handlerstest.NextEvent(t, b); ok; e, ok = handlerstest.NextEvent(t, b) {
			last = e
		}
		require.Equal(t, last, handlerstest.Event{Name: "status", Data: `{"status":"cancelled"}`}, "last event")
	}
}

func TestAPIFailedRun(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	run := c.Train(`{"dataset":"moons","spec":{"kernel":"linear","hard_margin":true}}`) // moons are not linearly separable
	events := c.Follow(run)
	got := handlerstest.Decode[api.Run](c.Want(200, "GET", "/api/runs/"+run, ""))
	require.Check(t, got.Status == store.Failed && got.Error != "" && got.Report == nil, "run %+v", got)
	last := require.JSON[map[string]any](t, events[len(events)-1].Data)
	require.Equal(t, cmp.Diff(map[string]any{"status": "failed", "error": got.Error}, last), "", "the last event")
}

// stuck is a client that reads nothing until it is released.
type stuck struct {
	*httptest.ResponseRecorder
	blocked chan struct{} // closed at the first write
	release chan struct{}
}

func (s *stuck) Write(b []byte) (int, error) {
	select {
	case <-s.release:
	default:
		close(s.blocked)
		<-s.release
	}
	return s.ResponseRecorder.Write(b)
}

// A client that does not read holds up neither the training nor anybody else, and
// learns the end once it does.
func TestAPISlowClient(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	run := c.Train(`{"dataset":"moons"}`)
	slow := &stuck{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := httptest.NewRequest("GET", "/api/runs/"+run+"/events", nil)
		r.Header.Set("Authorization", "Bearer "+handlerstest.Alice)
		c.App.Handler().ServeHTTP(slow, r)
	}()
	<-slow.blocked
	events := c.Follow(run)
	require.Check(t, events[len(events)-1].Data == `{"status":"done"}`, "events %v", events)
	close(slow.release)
	<-ended
	got := slow.Body.String()
	require.Check(t, strings.HasSuffix(got, "event: status\ndata: {\"status\":\"done\"}\n\n"), "the slow client got %q", got)
}

// A client that goes away ends its stream: the server's Close waits for it.
func TestAPIClientGone(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	run := c.Train(`{"dataset":"moons"}`)
	ctx, leave := context.WithCancel(t.Context())
	resp := c.Open(ctx, "GET", "/api/runs/"+run+"/events", nil)
	defer resp.Body.Close()
	e, ok := handlerstest.NextEvent(t, bufio.NewReader(resp.Body))
	require.Must(t, ok && e.Name == "status", "event %v", e)
	leave()
}

// routes are the methods and patterns of every route under /api.
func routes(t *testing.T, a *handlers.App) func(func(method, pattern string) bool) {
	t.Helper()
	return func(yield func(string, string) bool) {
		more := true
		err := chi.Walk(a.Handler().(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			if more && strings.HasPrefix(pattern, "/api/") {
				more = yield(method, pattern)
			}
			return nil
		})
		require.Equal(t, err, nil, "err")
	}
}

func TestOpenAPI(t *testing.T) {
	c := handlerstest.Fresh(t, false).As(t, handlerstest.Alice)
	doc := handlerstest.Decode[handlerstest.Object](c.Want(200, "GET", "/api/openapi.json", ""))
	require.Check(t, reflect.DeepEqual(doc, c.Doc) && doc["openapi"] == "3.1.0",
		"the document served is not the description")

	installed, described := map[string]bool{}, map[string]bool{}
	for method, pattern := range routes(t, c.App) {
		installed[method+" "+pattern] = true
	}
	ids := map[any]bool{}
	for path, item := range doc["paths"].(handlerstest.Object) {
		for method, op := range item.(handlerstest.Object) {
			if method == "parameters" {
				continue
			}
			described[strings.ToUpper(method)+" "+path] = true
			id := op.(handlerstest.Object)["operationId"]
			require.Check(t, id != nil && !ids[id], "%s %s: operationId %v", method, path, id)
			ids[id] = true
			// The parameters in the path are those that are declared.
			declared, _ := item.(handlerstest.Object)["parameters"].([]any)
			inPath := 0
			for _, p := range declared {
				p := handlerstest.Deref(doc, p)
				if p["in"] == "path" {
					inPath++
					require.Says(t, path, "{"+p["name"].(string)+"}", "has no %v", p["name"])
				}
			}
			require.Check(t, inPath == strings.Count(path, "{"), "%s: parameters %v", path, declared)
		}
	}
	require.Check(t, reflect.DeepEqual(installed, described) && len(installed) != 0,
		"installed %v\ndescribed %v", installed, described)

	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case handlerstest.Object:
			ref, ok := v["$ref"].(string)
			require.Check(t, !ok || handlerstest.Resolve(doc, ref) != nil, "%s leads nowhere", ref)
			for _, x := range v {
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(doc)
}

// The schema of the spec and the program accept and refuse the same values.
func TestOpenAPISpec(t *testing.T) {
	t.Parallel()
	c := handlerstest.Client{Doc: handlerstest.Description(t)}
	got, want := len(c.Doc["components"].(handlerstest.Object)["schemas"].(handlerstest.Object)["Spec"].(handlerstest.Object)["properties"].(handlerstest.Object)), len(ml.Params)
	require.Check(t, got == want, "%d properties, %d parameters", got, want)
	agree := func(name string, value any) {
		t.Helper()
		b := require.Value(json.Marshal(handlerstest.Object{name: value}))(t)
		refused := json.Unmarshal(b, new(ml.Spec))
		described := check(&c, "Spec", require.JSON[any](t, b))
		require.Check(t, (refused == nil) == (described == nil),
			"%s: the program says %v, the schema %v", b, refused, described)
	}
	agree("no_such", 1)
	for _, p := range ml.Params {
		switch p.Kind {
		case param.Number, param.Integer:
			for _, v := range []float64{p.Min, p.Max, p.Min - 1, 2 * p.Max, -p.Max - 1, (p.Min + p.Max) / 2, math.Nextafter(p.Min, p.Max), 0, 1, 3, 0.25, 1e12} {
				agree(p.Name, v)
			}
			for _, w := range []string{"auto", "scale", "many"} {
				agree(p.Name, w)
			}
		case param.Switch:
			agree(p.Name, true)
			agree(p.Name, false)
			agree(p.Name, 1)
		case param.Choice:
			for _, o := range p.Options {
				agree(p.Name, o.Name)
			}
			agree(p.Name, "other")
		case param.Text:
			if p.Syntax == nil { // which the description cannot tell
				agree(p.Name, "some text")
			}
		}
	}
	agree("features", []string{"a", "b"})
	// The defaults are the program's, and what it writes is described.
	defaults := require.JSON[handlerstest.Object](t, require.Value(json.Marshal(ml.DefaultSpec()))(t))
	require.Equal(t, check(&c, "Spec", defaults), nil, "check")
	for name, v := range defaults {
		got := handlerstest.Resolve(c.Doc, "#/components/schemas/Spec/properties/"+name).(handlerstest.Object)["default"]
		require.Check(t, reflect.DeepEqual(got, v), "default of %s: %v, want %v", name, got, v)
	}
}

func check(c *handlerstest.Client, schema string, v any) error {
	return handlerstest.Validate(c.Doc, handlerstest.Object{"$ref": "#/components/schemas/" + schema}, v, schema)
}

// The key of the API works for what a page can do with a run: its predictions, for
// its own points and for others, and its pictures.
func TestAPIPredictionsAndPictures(t *testing.T) {
	c := handlerstest.Fresh(t, true).As(t, handlerstest.Alice)
	c.Upload("name=square.csv", handlerstest.Square)
	run := c.Done(`{"dataset":"moons","spec":{"C":10,"gamma":2}}`)
	base := "/api/runs/" + run

	csv := func(a handlerstest.Answer) []string {
		t.Helper()
		require.Equal(t, a.Header.Get("Content-Type"), "text/csv; charset=utf-8", "sent as")
		return strings.Split(strings.TrimSpace(string(a.Body)), "\n")
	}
	labelled := csv(c.Want(200, "POST", base+"/predictions", "x1,x2,label\n0,1,-1\n1,-0.5,1\n"))
	require.Check(t, len(labelled) == 3 && labelled[0] == "row,label,f,true" && strings.HasPrefix(labelled[1], "1,-1,-") && strings.HasSuffix(labelled[2], ",1") && strings.HasPrefix(labelled[2], "2,1,"),
		"predictions %q", labelled)
	bare := csv(c.Want(200, "POST", base+"/predictions", "0;1\n1;-0,5\n"))
	require.Check(t, len(bare) == 3 && bare[0] == "row,label,f" && strings.HasPrefix(labelled[1], bare[1]+","),
		"without labels and header %q, with them %q", bare, labelled)
	own := csv(c.Want(200, "GET", base+"/predictions.csv", ""))
	require.Check(t, len(own) == 201 && own[0] == "row,label,predicted,f,held_out,role,weight", "its own points: %d lines, %q", len(own), own[0])
	for _, wrong := range []struct {
		status int
		body   string
	}{{422, ""}, {422, "a,b,c,d\n1,2,3,4\n"}, {422, "x1,x2\n1,abc\n"}, {422, "x1,x2\n1e300,-1e300\n1e300,NaN\n"}} {
		c.Want(wrong.status, "POST", base+"/predictions", wrong.body)
	}
	for _, path := range []string{base, "/runs/" + run} {
		if a := c.Want(200, "GET", path+"/figures/boundary.svg?width=300&height=200", ""); a.Header.Get("Content-Type") != "image/svg+xml" || !bytes.Contains(a.Body, []byte("<svg")) {
			t.Errorf("%s: %s", path, a.Header.Get("Content-Type"))
		}
		a := c.Want(200, "GET", path+"/figures/boundary.png?dark=1", "")
		require.Check(t, bytes.HasPrefix(a.Body, []byte("\x89PNG")), "%s: no PNG", path)
		a = c.Want(404, "GET", path+"/figures/before.svg", "")
		require.Check(t, path[:5] != "/api/" || bytes.Contains(a.Body, []byte("expected one of boundary")) && !bytes.Contains(a.Body, []byte("..")), "no such figure: %s", a.Body)
		c.Want(404, "GET", path+"/figures/boundary.gif", "")
	}
	other := c.As(t, handlerstest.Bob)
	for _, path := range []string{base + "/predictions.csv", base + "/figures/boundary.svg", "/runs/" + run + "/figures/boundary.svg"} {
		other.Want(404, "GET", path, "")
	}
	c.Says(400, `…]}: unknown field`, "POST", base+"/predictions", `{"row":[[0,1]]}`, "Content-Type", "application/json")
	other.Want(404, "POST", base+"/predictions", "0,1\n")
}

// Nothing that has a default is asked for, and an empty spec is one.
func TestOpenAPIDefaults(t *testing.T) {
	t.Parallel()
	c := handlerstest.Client{Doc: handlerstest.Description(t), T: t}
	var walk func(v any, at string)
	walk = func(v any, at string) {
		s := handlerstest.Deref(c.Doc, v)
		required, _ := s["required"].([]any)
		properties, _ := s["properties"].(handlerstest.Object)
		for name, p := range properties {
			_, has := handlerstest.Deref(c.Doc, p)["default"]
			require.Check(t, !has || !slices.Contains(required, any(name)), "%s: %s has a default and is required", at, name)
			walk(p, at+"."+name)
		}
	}
	for path, item := range c.Doc["paths"].(handlerstest.Object) {
		for method, op := range item.(handlerstest.Object) {
			if method == "parameters" {
				continue
			}
			body, ok := op.(handlerstest.Object)["requestBody"].(handlerstest.Object)
			if !ok {
				continue
			}
			for _, media := range body["content"].(handlerstest.Object) {
				if schema := media.(handlerstest.Object)["schema"]; schema != nil {
					walk(schema, method+" "+path)
				}
			}
		}
	}
	for _, body := range []string{`{"dataset":"moons"}`, `{"dataset":"moons","spec":{}}`} {
		require.Equal(t, check(&c, "NewRun", require.JSON[any](t, body)), nil, "%s", body)
	}
}
