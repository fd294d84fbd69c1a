package handlers

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"

	"marginlab/handlers/api"
	"marginlab/handlers/door"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/eval"
	"marginlab/ml/param"
	"marginlab/ml/trace"
	"marginlab/static"
	"marginlab/store"
	"marginlab/web"
	"marginlab/web/jobs"
)

// object is a JSON object.
type object = map[string]any

// server is the application on a database of its own.
type server struct {
	*httptest.Server
	app     *App
	workers bool // runs are trained
}

// serve starts one. Without workers runs stay in the queue. The test ends only
// when every request and every worker has.
func serve(t testing.TB, workers bool, limits dataset.Limits) *server {
	t.Helper()
	return serveLogged(t, workers, limits, slog.New(slog.DiscardHandler))
}

func serveLogged(t testing.TB, workers bool, limits dataset.Limits, log *slog.Logger) *server {
	t.Helper()
	return serveWith(t, workers, Config{Limits: limits, Log: log, Patience: time.Hour}, jobs.Config{})
}

// serveWith starts one that differs from others as c and work say.
func serveWith(t testing.TB, workers bool, c Config, work jobs.Config) *server {
	t.Helper()
	st, err := store.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	if c.Assets, err = web.NewAssets(static.Files); err != nil {
		t.Fatal(err)
	}
	work.Workers, work.Log = 2, c.Log
	if work.Train == nil {
		work.Train = train
	}
	queue := jobs.New(st, work)
	if workers {
		ctx, stop := context.WithCancel(context.Background())
		ended := make(chan struct{})
		go func() { defer close(ended); queue.Run(ctx) }()
		t.Cleanup(func() { stop(); <-ended })
	}
	c.Store, c.Jobs, c.Metrics, c.Build = st, queue, web.NewMetrics(), func() string { return "test" }
	app := New(c)
	s := &server{httptest.NewServer(app.Handler()), app, workers}
	t.Cleanup(s.Close)
	t.Cleanup(app.Paths.Close)
	return s
}

// client is a caller with a token. It holds every answer against the description.
type client struct {
	*server
	t      *testing.T
	token  string
	cookie *http.Cookie
	doc    object
}

func (s *server) client(t *testing.T, token string) *client {
	t.Helper()
	return &client{server: s, t: t, token: token, doc: description(t)}
}

const (
	alice = "0123456789abcdef0123456789abcdef"
	bob   = "fedcba9876543210fedcba9876543210"
)

// answer is a response that has been read.
type answer struct {
	status int
	header http.Header
	body   []byte
	t      *testing.T
}

func (c *client) open(ctx context.Context, method, path string, body io.Reader, header ...string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, c.URL+path, body)
	if err != nil {
		c.t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	if c.cookie != nil {
		r.AddCookie(c.cookie)
	}
	resp, err := c.Client().Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	return resp
}

func (c *client) do(method, path, body string, header ...string) answer {
	c.t.Helper()
	resp := c.open(c.t.Context(), method, path, strings.NewReader(body), header...)
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	a := answer{resp.StatusCode, resp.Header, b, c.t}
	if p, _, _ := strings.Cut(path, "?"); strings.HasPrefix(p, "/api/") {
		if err := conforms(c.doc, method, p, a); err != nil {
			c.t.Errorf("%s %s: %v\n%d %s", method, path, err, a.status, b)
		}
	}
	return a
}

// want does a request and fails the test unless it has the status.
func (c *client) want(status int, method, path, body string, header ...string) answer {
	c.t.Helper()
	a := c.do(method, path, body, header...)
	if a.status != status {
		c.t.Fatalf("%s %s: status %d, want %d: %s", method, path, a.status, status, a.body)
	}
	return a
}

// decode reads an answer's JSON.
func decode[T any](a answer) (v T) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, &v); err != nil {
		a.t.Fatalf("%v: %s", err, a.body)
	}
	return v
}

func (c *client) upload(query, file string) api.Dataset {
	c.t.Helper()
	return decode[api.Dataset](c.want(http.StatusCreated, "POST", "/api/datasets?"+query, file))
}

func (c *client) train(body string) string {
	c.t.Helper()
	return decode[api.RunStatus](c.want(http.StatusAccepted, "POST", "/api/runs", body)).ID
}

// event is one of a stream.
type event struct{ name, data string }

// next reads one event; ok is false at the end of the stream.
func next(t *testing.T, r *bufio.Reader) (e event, ok bool) {
	t.Helper()
	for {
		line, err := r.ReadString('\n')
		if err == io.EOF && e == (event{}) {
			return e, false
		}
		if err != nil {
			t.Fatalf("stream: %v", err)
		}
		switch line = strings.TrimSuffix(line, "\n"); {
		case line == "" && e != (event{}):
			return e, true
		case strings.HasPrefix(line, "event: "):
			e.name = line[len("event: "):]
		case strings.HasPrefix(line, "data: "):
			e.data = line[len("data: "):]
		}
	}
}

// follow reads the events of a run to their end.
func (c *client) follow(id string) (events []event) {
	c.t.Helper()
	resp := c.open(c.t.Context(), "GET", "/api/runs/"+id+"/events", nil)
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		c.t.Fatalf("events: %s %s", resp.Status, kind)
	}
	body := bufio.NewReader(resp.Body)
	for {
		e, ok := next(c.t, body)
		if !ok {
			return events
		}
		events = append(events, e)
	}
}

const square = "x1,x2,label\n0,0,no\n0.5,0.25,no\n3,3.125,yes\n4,3,yes\n0.25,0.5,no\n3.5,4,yes\n"

func TestAPIWalk(t *testing.T) {
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	c := s.client(t, alice)

	a := c.want(http.StatusCreated, "POST", "/api/datasets?name=square.csv", square)
	set := decode[api.Dataset](a)
	if got := a.header.Get("Location"); got != "/api/datasets/"+set.ID {
		t.Errorf("Location %q", got)
	}
	if set.Rows != 6 || set.Name != "square.csv" || !slices.Equal(set.Features, []string{"x1", "x2"}) || !slices.Equal(set.Classes, []string{"no", "yes"}) {
		t.Errorf("data set %+v", set)
	}
	if list := decode[struct{ Datasets []api.Dataset }](c.want(200, "GET", "/api/datasets", "")); len(list.Datasets) != 1 || list.Datasets[0].ID != set.ID {
		t.Errorf("list %+v", list)
	}
	if got := decode[api.Dataset](c.want(200, "GET", "/api/datasets/"+set.ID, "")); !reflect.DeepEqual(got, set) {
		t.Errorf("got %+v, want %+v", got, set)
	}
	if csv := c.want(200, "GET", "/api/datasets/"+set.ID+".csv", ""); string(csv.body) != square {
		t.Errorf("CSV %q", csv.body)
	}
	if got := decode[api.Dataset](c.want(200, "PATCH", "/api/datasets/"+set.ID, `{"name":"corners"}`)); got.Name != "corners" {
		t.Errorf("renamed to %q", got.Name)
	}

	a = c.want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"`+set.ID+`","spec":{"kernel":"linear","C":1e3,"standardize":false,"tol":1e-8},"name":"first","tags":["a","b"],"note":"why"}`)
	id := decode[api.RunStatus](a).ID
	if got := a.header.Get("Location"); got != "/api/runs/"+id {
		t.Errorf("Location %q", got)
	}
	events := c.follow(id)
	if events[0].name != "status" || events[len(events)-1] != (event{"status", `{"status":"done"}`}) {
		t.Fatalf("events %v", events)
	}

	a = c.want(200, "GET", "/api/runs/"+id, "")
	run := decode[api.Run](a)
	if run.Status != store.Done || run.Dataset != set.ID || run.DatasetName != "corners" || run.DataHash != set.Hash || run.Seed != 1 ||
		run.Name != "first" || !slices.Equal(run.Tags, []string{"a", "b"}) || run.Note != "why" || run.Finished.Before(run.Created) {
		t.Errorf("run %+v", run)
	}
	// The widest street between the corners (0.5, 0.25), (0.25, 0.5) and the line
	// through (3, 3.125), (4, 3) — recomputed here by training without the server.
	d, err := dataset.Read(strings.NewReader(square), "square.csv", dataset.Mapping{}, dataset.DefaultLimits)
	if err != nil {
		t.Fatal(err)
	}
	direct, err := ml.Train(t.Context(), d, run.Spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	direct.Report.FitSeconds = run.Report.FitSeconds
	if !reflect.DeepEqual(*run.Report, direct.Report) {
		t.Errorf("report %+v\nwant %+v", *run.Report, direct.Report)
	}
	// The same names as `fit --json`, which prints the report itself.
	want, err := json.Marshal(direct.Report)
	if err != nil {
		t.Fatal(err)
	}
	if raw := decode[struct{ Report json.RawMessage }](a); !bytes.Equal(raw.Report, want) {
		t.Errorf("report %s\nwant %s", raw.Report, want)
	}
	model, err := ml.ReadModel(bytes.NewReader(c.want(200, "GET", "/api/runs/"+id+"/model.json", "").body))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(model, direct.Model) {
		t.Errorf("model %+v\nwant %+v", model, direct.Model)
	}

	// What a change leaves out stays.
	if got := decode[api.Run](c.want(200, "PATCH", "/api/runs/"+id, `{"note":"because"}`)); got.Name != "first" || got.Note != "because" || len(got.Tags) != 2 {
		t.Errorf("with another note: %+v", got)
	}
	if got := decode[api.Run](c.want(200, "PATCH", "/api/runs/"+id, `{"tags":[]}`)); got.Name != "first" || got.Note != "because" || len(got.Tags) != 0 {
		t.Errorf("without tags: %+v", got)
	}
	c.want(http.StatusConflict, "POST", "/api/runs/"+id+"/cancel", "")

	c.want(http.StatusNoContent, "DELETE", "/api/datasets/"+set.ID, "")
	c.want(http.StatusNotFound, "GET", "/api/datasets/"+set.ID, "")
	if got := decode[api.Run](c.want(200, "GET", "/api/runs/"+id, "")); got.Dataset != "" || got.DatasetName != "corners" {
		t.Errorf("without its data set: %+v", got)
	}
	c.want(http.StatusNoContent, "DELETE", "/api/runs/"+id, "")
	c.want(http.StatusNotFound, "GET", "/api/runs/"+id, "")
	c.want(http.StatusNotFound, "DELETE", "/api/runs/"+id, "")
}

// Every learner with every kernel and map gives a run that is described.
func TestAPIRunsOfEveryKind(t *testing.T) {
	t.Parallel()
	c := serve(t, true, dataset.DefaultLimits).client(t, alice)
	ids := map[string]bool{}
	for _, learner := range ml.Learners {
		for _, spec := range []string{
			`"kernel":"linear","hard_margin":true`, `"kernel":"poly","degree":2`, `"kernel":"rbf","gamma":"scale","test_fraction":0.3,"seed":7`, `"kernel":"sigmoid","gamma":0.01`,
			`"conformal":"eigen"`, `"conformal":"gradient","core_step":10`, `"conformal":"amari","core_gamma":2`,
		} {
			ids[c.train(fmt.Sprintf(`{"dataset":"iris-setosa-versicolor","spec":{"learner":%q,%s}}`, learner.Name, spec))] = true
		}
	}
	for id := range ids {
		last := c.follow(id)
		if got := last[len(last)-1]; got.data != `{"status":"done"}` {
			t.Errorf("run %s: %v", id, got)
		}
		c.want(200, "GET", "/api/runs/"+id, "")
		c.want(200, "GET", "/api/runs/"+id+"/model.json", "")
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
		{"", min(total, door.ListRows), total},
		{"learner=mcm", total / len(ml.Learners), total / len(ml.Learners)},
		{"conformal=eigen", len(ml.Learners), len(ml.Learners)},
		{"conformal=eigen&learner=svm&status=done", 1, 1},
		{"status=failed", 0, 0},
		{"rule=sign", min(total, door.ListRows), total},
		{"rule=ovo", 0, 0},
		{"q=no+such+words", 0, 0},
		{"tag=none", 0, 0},
		{fmt.Sprintf("limit=3&offset=%d", total-2), 2, total},
	} {
		got := decode[list](c.want(200, "GET", "/api/runs?"+tc.query, ""))
		if len(got.Runs) != tc.rows || got.Total != tc.total {
			t.Errorf("%q: %d runs of %d, want %d of %d", tc.query, len(got.Runs), got.Total, tc.rows, tc.total)
		}
	}
	var seen []string
	for offset := 0; offset < total; offset += 4 {
		for _, r := range decode[list](c.want(200, "GET", fmt.Sprintf("/api/runs?sort=accuracy&desc=true&limit=4&offset=%d", offset), "")).Runs {
			seen = append(seen, r.ID)
			delete(ids, r.ID)
		}
	}
	if len(ids) != 0 || len(seen) != total {
		t.Errorf("paging gave %d rows and left out %v", len(seen), ids)
	}
}

func TestAPIFile(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).client(t, alice)
	for _, tc := range []struct {
		query, file string
		features    []string
		label       string
	}{
		{"name=a.svm", "+1 1:0.5 2:1\n-1 1:2 2:3\n", []string{"x1", "x2"}, "label"},
		{"name=b.csv&label=kind", "kind;a;b\nu;1,5;2\nv;2,5;3\n", []string{"a", "b"}, "kind"},
		{"name=c&features=a,c&label=y", "a,b,c,y\n1,2,3,0\n4,5,6,1\n", []string{"a", "c"}, "y"},
		{"features=" + url.QueryEscape(`"a, b",c`) + "&label=y", "\"a, b\",c,y\n1,2,0\n3,4,1\n", []string{"a, b", "c"}, "y"},
	} {
		set := c.upload(tc.query, tc.file)
		if !slices.Equal(set.Features, tc.features) || set.Label != tc.label {
			t.Errorf("%s: features %q, label %q", tc.query, set.Features, set.Label)
		}
	}
	// What curl sends by default is not a form.
	c.want(http.StatusCreated, "POST", "/api/datasets?name=n", square, "Content-Type", "application/x-www-form-urlencoded")
}

func TestAPIErrors(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.Limits{Bytes: 4 << 10, Rows: 50, Columns: 6}).client(t, alice)
	set := c.upload("name=square", square)
	run := c.train(`{"dataset":"moons"}`)
	long := strings.Repeat("x", 200)
	for _, tc := range []struct {
		name, method, path, body string
		status                   int
		fields                   string // of the errors, in order
	}{
		{"nothing there", "GET", "/api/nothing", "", 404, ""},
		{"nothing at the root", "GET", "/api", "", 404, ""},
		{"method", "PUT", "/api/runs", "", 405, ""},
		{"method on a run", "POST", "/api/runs/" + run, "", 405, ""},
		{"method on events", "DELETE", "/api/runs/" + run + "/events", "", 405, ""},

		{"empty body", "POST", "/api/runs", "", 400, ""},
		{"half a body", "POST", "/api/runs", `{"dataset":"moons"`, 400, ""},
		{"not JSON", "POST", "/api/runs", `dataset=moons`, 400, ""},
		{"two values", "POST", "/api/runs", `{"dataset":"moons"} {}`, 400, ""},
		{"query that cannot be read", "GET", "/api/runs?q=%zz", "", 400, ""},

		{"no data set", "POST", "/api/runs", `{}`, 422, "dataset"},
		{"the empty drawing", "POST", "/api/runs", `{"dataset":"drawing"}`, 422, "dataset"},
		{"unknown data set", "POST", "/api/runs", `{"dataset":"nothing"}`, 404, ""},
		{"unknown field", "POST", "/api/runs", `{"dataset":"moons","sped":{}}`, 422, "sped"},
		{"unknown field of the spec", "POST", "/api/runs", `{"dataset":"moons","spec":{"gama":1,"Zeta":2}}`, 422, "Zeta gama"},
		{"values out of range", "POST", "/api/runs", `{"dataset":"moons","spec":{"C":0,"gamma":-1,"kernel":"cubic"}}`, 422, "C gamma kernel"},
		{"C of the wrong type", "POST", "/api/runs", `{"dataset":"moons","spec":{"C":[1]}}`, 422, "C"},
		{"spec of the wrong type", "POST", "/api/runs", `{"dataset":"moons","spec":"svm"}`, 422, "spec"},
		{"name of the wrong type", "POST", "/api/runs", `{"dataset":"moons","name":3}`, 422, "name"},
		{"tags of the wrong type", "POST", "/api/runs", `{"dataset":"moons","tags":"a,b"}`, 422, "tags"},
		{"no such feature", "POST", "/api/runs", `{"dataset":"moons","spec":{"features":["x1","x9"]}}`, 422, "features"},
		{"no such class", "POST", "/api/runs", `{"dataset":"moons","spec":{"positive":"blue"}}`, 422, "positive"},
		{"none of three classes", "POST", "/api/runs", `{"dataset":"iris","spec":{"positive":"rose","multiclass":"ovr"}}`, 422, "positive"},
		{"no way to tell three apart", "POST", "/api/runs", `{"dataset":"iris","spec":{"multiclass":"both"}}`, 422, "multiclass"},
		{"long name", "POST", "/api/runs", `{"dataset":"moons","name":"` + long + `"}`, 422, "name"},
		{"large body", "POST", "/api/runs", `{"dataset":"moons","note":"` + strings.Repeat("x", api.BodyBytes) + `"}`, 413, ""},

		{"change to nothing", "PATCH", "/api/runs/" + run, `{"name":" "}`, 422, "name"},
		{"change of the spec", "PATCH", "/api/runs/" + run, `{"spec":{}}`, 422, "spec"},
		{"change that is not JSON", "PATCH", "/api/runs/" + run, `name`, 400, ""},
		{"model of a run that waits", "GET", "/api/runs/" + run + "/model.json", "", 404, ""},
		{"filters", "GET", "/api/runs?learner=tree&status=lost&sort=luck&desc=maybe&limit=0&offset=-1", "", 422, "learner status sort limit offset desc"},
		{"unknown filter", "GET", "/api/runs?page=2", "", 422, "page"},
		{"filter twice", "GET", "/api/runs?tag=a&tag=b", "", 422, "tag"},

		{"no file", "POST", "/api/datasets?name=n", "", 422, "file"},
		{"ragged rows", "POST", "/api/datasets?name=n", "a,b,y\n1,2,0\n1,2\n", 422, "file"},
		{"one class", "POST", "/api/datasets?name=n", "a,b,y\n1,2,0\n1,3,0\n", 422, "file"},
		{"no such label", "POST", "/api/datasets?name=n&label=z", square, 422, "file"},
		{"unknown parameter", "POST", "/api/datasets?name=n&lable=z", square, 422, "lable"},
		{"long name of a data set", "POST", "/api/datasets?name=" + long, square, 422, "name"},
		{"large file", "POST", "/api/datasets?name=n", square + strings.Repeat("1,2,no\n", 1000), 413, ""},
		{"many rows", "POST", "/api/datasets?name=n", "a,b,y\n" + strings.Repeat("1,2,0\n2,1,1\n", 26), 413, ""},
		{"many columns", "POST", "/api/datasets?name=n", "1,2,3,4,5,6,0\n1,2,3,4,5,6,1\n", 413, ""},
		{"rename to nothing", "PATCH", "/api/datasets/" + set.ID, `{}`, 422, "name"},
		{"rename with more", "PATCH", "/api/datasets/" + set.ID, `{"name":"n","rows":2}`, 422, "rows"},
	} {
		a := c.want(tc.status, tc.method, tc.path, tc.body)
		p := decode[web.Problem](a)
		if kind := a.header.Get("Content-Type"); kind != "application/problem+json" {
			t.Errorf("%s: %s", tc.name, kind)
		}
		if p.Status != tc.status || p.Title == "" || p.Detail == "" {
			t.Errorf("%s: %+v", tc.name, p)
		}
		var fields []string
		for _, e := range p.Errors {
			fields = append(fields, e.Field)
			if e.Message == "" {
				t.Errorf("%s: no message for %s", tc.name, e.Field)
			}
		}
		if got := strings.Join(fields, " "); got != tc.fields {
			t.Errorf("%s: errors of %q, want %q", tc.name, got, tc.fields)
		}
	}
	if a := c.want(405, "PUT", "/api/runs/"+run, ""); !strings.Contains(a.header.Get("Allow"), "DELETE") {
		t.Errorf("Allow %q", a.header.Get("Allow"))
	}
	c.want(http.StatusUnsupportedMediaType, "POST", "/api/datasets?name=n", square, "Content-Type", "multipart/form-data; boundary=b")
	if a := c.want(422, "POST", "/api/datasets?name=points.csv", "a,b,y\n1,2,0\n1,x,1\n"); !strings.Contains(decode[web.Problem](a).Errors.For("file"), "points.csv, line 3") {
		t.Errorf("the message does not say where: %s", a.body)
	}
	// Nothing of all that was stored.
	if got := decode[struct{ Total int }](c.want(200, "GET", "/api/runs", "")); got.Total != 1 {
		t.Errorf("%d runs", got.Total)
	}
	if got := decode[struct{ Datasets []api.Dataset }](c.want(200, "GET", "/api/datasets", "")); len(got.Datasets) != 1 {
		t.Errorf("%d data sets", len(got.Datasets))
	}
}

// A file that ends before its announced length is not taken for a whole one.
func TestAPIHalfAFile(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /api/datasets?name=n HTTP/1.1\r\nHost: here\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", alice, len(square)+1, square)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("status %d for half a file", resp.StatusCode)
	}
	if got := decode[struct{ Datasets []api.Dataset }](s.client(t, alice).want(200, "GET", "/api/datasets", "")); len(got.Datasets) != 0 {
		t.Errorf("stored %+v", got)
	}
}

// A request under a key is done once, and something else under it is refused.
func TestAPIRepeated(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	c, other := s.client(t, alice), s.client(t, bob)
	for _, made := range []struct{ to, one, otherTo, other string }{
		{"/api/runs", `{"dataset":"moons"}`, "/api/runs", `{"dataset":"moons","spec":{"C":7}}`},
		{"/api/datasets?name=n", square, "/api/datasets?name=n", square + "5,5,no\n"},
		{"/api/datasets?name=m", square, "/api/datasets?name=other", square},
		{"/api/datasets/generate", `{"generator":"moons"}`, "/api/datasets/generate", `{"generator":"rings"}`},
		{"/api/searches", `{"dataset":"moons","grid":{"C":[1]}}`, "/api/searches", `{"dataset":"moons","grid":{"C":[2]}}`},
		{"/api/studies", small("1"), "/api/studies", small("2")},
	} {
		places := map[string]bool{}
		for range 2 {
			for _, key := range []string{"one of ", "two of "} {
				a := c.do("POST", made.to, made.one, "Idempotency-Key", key+made.to)
				if a.status >= 300 {
					t.Fatalf("%s: %d %s", made.to, a.status, a.body)
				}
				places[a.header.Get("Location")] = true
				if told := c.want(http.StatusUnprocessableEntity, "POST", made.otherTo, made.other, "Idempotency-Key", key+made.to); !bytes.Contains(told.body, []byte("used before, for something else")) {
					t.Errorf("%s: another is refused with %s", made.to, told.body)
				}
			}
		}
		if len(places) != 2 {
			t.Errorf("%s: %d made, want 2: %v", made.to, len(places), places)
		}
		if a := other.do("POST", made.otherTo, made.other, "Idempotency-Key", "one of "+made.to); a.status >= 300 {
			t.Errorf("%s: of somebody else: %d %s", made.to, a.status, a.body)
		}
	}

	// What was deleted is made anew, as often as that may be.
	for to, body := range map[string]string{"/api/datasets?name=again": square, "/api/runs": `{"dataset":"moons"}`, "/api/searches": `{"dataset":"moons","grid":{"C":[3]}}`} {
		places := map[string]bool{}
		for range 3 {
			a := c.do("POST", to, body, "Idempotency-Key", "again")
			places[a.header.Get("Location")] = true
			c.want(http.StatusNoContent, "DELETE", a.header.Get("Location"), "")
		}
		if len(places) != 3 {
			t.Errorf("%s: %d made, want 3: %v", to, len(places), places)
		}
	}
}

// small is the request for a study of one search, with that value of C.
func small(c string) string {
	return `{"study":"[scheme]\nfolds = 2\n[data.moons]\nbuiltin = \"moons\"\n[learner.SVM]\nC = ` + c + `"}`
}

// The same view has one link, whatever the key; another view under the last one is refused.
func TestAPIRepeatedLink(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).client(t, alice)
	link := func(body, key string) string {
		t.Helper()
		return decode[api.Link](c.want(http.StatusCreated, "POST", "/api/links", body, "Idempotency-Key", key)).Token
	}
	moons, circles := `{"dataset":"moons"}`, `{"dataset":"circles"}`
	first := link(moons, "a")
	if again := link(moons, "a"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	c.want(http.StatusUnprocessableEntity, "POST", "/api/links", circles, "Idempotency-Key", "a")
	if again := link(moons, "b"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	c.want(http.StatusUnprocessableEntity, "POST", "/api/links", circles, "Idempotency-Key", "b")
	if other := link(circles, "c"); other == first {
		t.Error("two views under one link")
	}
	c.want(http.StatusUnprocessableEntity, "POST", "/api/links", moons, "Idempotency-Key", "c")
	c.want(http.StatusNoContent, "DELETE", "/api/links/"+first, "")
	if anew := link(moons, "b"); anew == first {
		t.Error("a link that was deleted opens again")
	}
}

// A comparison on folds that is asked for again has the searches that it has.
func TestAPIRepeatedComparison(t *testing.T) {
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	c := s.client(t, alice)
	var runs []string
	for _, body := range []string{`{"dataset":"moons"}`, `{"dataset":"moons","spec":{"C":7}}`, `{"dataset":"moons","spec":{"C":8}}`} {
		id := decode[api.RunStatus](c.want(http.StatusAccepted, "POST", "/api/runs", body)).ID
		runs = append(runs, id)
	}
	c.app.Jobs.Wait(t.Context(), time.Hour, runs...)
	ask := func(n int, more string) string {
		return fmt.Sprintf(`{"runs":["%s"]%s}`, strings.Join(runs[:n], `","`), more)
	}
	const to = "/api/comparison/folds"
	first := c.want(http.StatusAccepted, "POST", to, ask(2, ""), "Idempotency-Key", "k").header.Get("Location")
	if again := c.want(http.StatusAccepted, "POST", to, ask(2, ""), "Idempotency-Key", "k").header.Get("Location"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	for _, other := range []string{ask(3, ""), ask(2, `,"folds":3`)} {
		c.want(http.StatusUnprocessableEntity, "POST", to, other, "Idempotency-Key", "k")
	}
	if other := c.want(http.StatusAccepted, "POST", to, ask(2, ""), "Idempotency-Key", "l").header.Get("Location"); other == first {
		t.Error("two keys, one comparison")
	}
}

func TestAPIBusy(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	c := s.client(t, alice)
	for range store.MaxQueuedEach {
		if _, err := c.app.Store.CreateRun(t.Context(), store.WorkspaceOf(alice), store.NewRun{Data: tiny(t), Spec: ml.DefaultSpec()}); err != nil {
			t.Fatal(err)
		}
	}
	if a := c.want(http.StatusTooManyRequests, "POST", "/api/runs", `{"dataset":"moons"}`); a.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
	s.client(t, bob).want(http.StatusAccepted, "POST", "/api/runs", `{"dataset":"moons"}`) // whom that does not concern
}

// Where as much waits as may, pages and programs are told when to try again, and pages what becomes
// of what was filled in.
func TestQueueFull(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	d, err := dataset.FromPoints([][2]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}}, []string{"a", "a", "b", "b"})
	if err != nil {
		t.Fatal(err)
	}
	n := store.NewSearch{Data: d, Spec: ml.DefaultSpec(), Grid: eval.Grid{"C": eval.Numbers(1)}, Scheme: eval.Scheme{Folds: 2, Repeats: 1}}
	for i := range store.MaxSearching {
		if _, err := s.app.Store.CreateSearch(t.Context(), store.WorkspaceOf(strconv.Itoa(i/store.MaxSearchingEach)), n); err != nil {
			t.Fatal(err)
		}
	}
	program := s.client(t, alice).want(http.StatusServiceUnavailable, "POST", "/api/searches", `{"dataset":"moons","grid":{"C":[3]}}`)
	page := s.browse(t, alice).fetch("POST", "/searches", "data=moons&grid.C=3")
	if text := page.html().Find("main").Text(); page.status != http.StatusServiceUnavailable || !strings.Contains(text, "Too many") || !strings.Contains(text, "go back") {
		t.Errorf("%d %s", page.status, text)
	}
	if program.header.Get("Retry-After") == "" || page.header.Get("Retry-After") == "" {
		t.Error("no Retry-After")
	}
}

func tiny(t *testing.T) *dataset.Data {
	t.Helper()
	d, err := dataset.FromPoints([][2]float64{{0, 0}, {1, 1}}, []string{"a", "b"})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestAPIWorkspaces(t *testing.T) {
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	hers := s.client(t, alice)
	set := hers.upload("name=hers", square)
	run := hers.train(`{"dataset":"` + set.ID + `"}`)
	hers.follow(run)

	// The cookie opens the same workspace as the token, here and on the pages.
	browser := s.client(t, "")
	browser.cookie = &http.Cookie{Name: "marginlab_workspace", Value: alice}
	browser.want(200, "GET", "/api/runs/"+run, "")
	// The token goes before the cookie.
	browser.token = bob
	browser.want(404, "GET", "/api/runs/"+run, "")
	// Without either there is a new workspace, whose cookie comes along.
	stranger := s.client(t, "")
	a := stranger.want(200, "GET", "/api/runs", "")
	if decode[struct{ Total int }](a).Total != 0 || a.header.Get("Set-Cookie") == "" {
		t.Errorf("a stranger sees %s, cookie %q", a.body, a.header.Get("Set-Cookie"))
	}
	for _, token := range []string{"short", alice + "00", strings.Repeat("z", 32)} {
		a := s.client(t, token).want(http.StatusUnauthorized, "GET", "/api/runs", "")
		if a.header.Get("Content-Type") != "application/problem+json" || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("token %q: %v", token, a.header)
		}
	}

	// Every route with an id, whatever routes there will be.
	his := s.client(t, bob)
	n := 0
	for method, pattern := range routes(t, s.app) {
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
		his.want(404, method, strings.ReplaceAll(pattern, "{id}", id), body)
	}
	if n < 9 {
		t.Errorf("only %d routes with an id", n)
	}
	his.want(404, "POST", "/api/runs", `{"dataset":"`+set.ID+`"}`)
	his.want(404, "POST", "/api/runs", `{"dataset":"run-`+run+`"}`)
	if got := decode[api.Run](hers.want(200, "GET", "/api/runs/"+run, "")); got.Status != store.Done || got.Name == "his" {
		t.Errorf("somebody else changed the run: %+v", got)
	}
	hers.want(200, "GET", "/api/datasets/"+set.ID, "")
}

// A request that a page of another site makes a browser send is refused.
func TestAPICrossSite(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).client(t, "")
	c.cookie = &http.Cookie{Name: "marginlab_workspace", Value: alice}
	c.want(http.StatusForbidden, "POST", "/api/runs", `{"dataset":"moons"}`, "Sec-Fetch-Site", "cross-site", "Content-Type", "text/plain")
}

func TestAPICancelQueued(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).client(t, alice)
	run := c.train(`{"dataset":"moons"}`)
	for _, path := range []string{"/api/runs/", "/runs/"} { // the page's stream is the same
		resp := c.open(t.Context(), "GET", path+run+"/events", nil, "Cookie", "marginlab_workspace="+alice)
		defer resp.Body.Close()
		body := bufio.NewReader(resp.Body)
		want := event{"status", `{"status":"queued"}`}
		if path == "/runs/" {
			want = event{"status", `{"status":"cancelled"}`}
		}
		if e, ok := next(t, body); !ok || e != want {
			t.Fatalf("%s: first event %v", path, e)
		}
		if path == "/api/runs/" {
			c.want(http.StatusAccepted, "POST", "/api/runs/"+run+"/cancel", "")
			if e, ok := next(t, body); !ok || e.data != `{"status":"cancelled"}` {
				t.Fatalf("after cancelling: %v", e)
			}
		}
		if e, ok := next(t, body); ok {
			t.Fatalf("after the end: %v", e)
		}
	}
	c.want(http.StatusConflict, "POST", "/api/runs/"+run+"/cancel", "")
}

// longRun is a training that reports steps until it is cancelled: train knows it by
// its number of steps.
const (
	longRun = `{"dataset":"moons","spec":{"max_iter":1e9}}`
	endless = 1e9
)

// train is ml.Train, but for a longRun.
func train(ctx context.Context, d *dataset.Data, spec ml.Spec, report trace.Recorder) (*ml.Result, error) {
	if spec.Values.Number("max_iter") != endless {
		return ml.Train(ctx, d, spec, report)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return &ml.Result{Report: ml.Report{Status: trace.Cancelled}, Model: &ml.Model{}}, nil // as solvers do
		case <-tick.C:
			report(trace.Step{Phase: "svm", Iteration: i})
		}
	}
}

func TestAPIProgress(t *testing.T) {
	t.Parallel()
	c := serve(t, true, dataset.DefaultLimits).client(t, alice)
	run := c.train(longRun)
	resp := c.open(t.Context(), "GET", "/api/runs/"+run+"/events", nil)
	defer resp.Body.Close()
	body := bufio.NewReader(resp.Body)
	var seen []string
	for e, ok := next(t, body); e.name != "progress"; e, ok = next(t, body) {
		if !ok || e.name != "status" {
			t.Fatalf("event %v after %v", e, seen)
		}
		seen = append(seen, e.data)
	}
	if seen[len(seen)-1] != `{"status":"running"}` {
		t.Errorf("progress after the status %v", seen)
	}
	// One who comes late hears the status first, too.
	late := c.open(t.Context(), "GET", "/api/runs/"+run+"/events", nil)
	defer late.Body.Close()
	lateBody := bufio.NewReader(late.Body)
	if e, _ := next(t, lateBody); e != (event{"status", `{"status":"running"}`}) {
		t.Errorf("late: first event %v", e)
	}
	e, _ := next(t, lateBody)
	var step any
	if err := json.Unmarshal([]byte(e.data), &step); err != nil || e.name != "progress" {
		t.Fatalf("event %v: %v", e, err)
	}
	if err := c.check("Step", step); err != nil {
		t.Error(err)
	}
	c.want(http.StatusNoContent, "DELETE", "/api/runs/"+run, "")
	for _, b := range []*bufio.Reader{body, lateBody} {
		var last event
		for e, ok := next(t, b); ok; e, ok = next(t, b) {
			last = e
		}
		if last != (event{"status", `{"status":"cancelled"}`}) {
			t.Errorf("last event %v", last)
		}
	}
}

func TestAPIFailedRun(t *testing.T) {
	t.Parallel()
	c := serve(t, true, dataset.DefaultLimits).client(t, alice)
	run := c.train(`{"dataset":"moons","spec":{"kernel":"linear","hard_margin":true}}`) // moons are not linearly separable
	events := c.follow(run)
	got := decode[api.Run](c.want(200, "GET", "/api/runs/"+run, ""))
	if got.Status != store.Failed || got.Error == "" || got.Report != nil {
		t.Errorf("run %+v", got)
	}
	want, _ := json.Marshal(map[string]string{"status": "failed", "error": got.Error})
	var a, b any
	if err := json.Unmarshal([]byte(events[len(events)-1].data), &a); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal(want, &b)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("last event %v, want %s", a, want)
	}
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
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	c := s.client(t, alice)
	run := c.train(`{"dataset":"moons"}`)
	slow := &stuck{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r := httptest.NewRequest("GET", "/api/runs/"+run+"/events", nil)
		r.Header.Set("Authorization", "Bearer "+alice)
		s.app.Handler().ServeHTTP(slow, r)
	}()
	<-slow.blocked
	if events := c.follow(run); events[len(events)-1].data != `{"status":"done"}` {
		t.Errorf("events %v", events)
	}
	close(slow.release)
	<-ended
	if got := slow.Body.String(); !strings.HasSuffix(got, "event: status\ndata: {\"status\":\"done\"}\n\n") {
		t.Errorf("the slow client got %q", got)
	}
}

// A client that goes away ends its stream: the server's Close waits for it.
func TestAPIClientGone(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).client(t, alice)
	run := c.train(`{"dataset":"moons"}`)
	ctx, leave := context.WithCancel(t.Context())
	resp := c.open(ctx, "GET", "/api/runs/"+run+"/events", nil)
	defer resp.Body.Close()
	if e, ok := next(t, bufio.NewReader(resp.Body)); !ok || e.name != "status" {
		t.Fatalf("event %v", e)
	}
	leave()
}

// routes are the methods and patterns of every route under /api.
func routes(t *testing.T, a *App) func(func(method, pattern string) bool) {
	t.Helper()
	return func(yield func(string, string) bool) {
		more := true
		err := chi.Walk(a.Handler().(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			if more && strings.HasPrefix(pattern, "/api/") {
				more = yield(method, pattern)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// description is the document as a client reads it.
func description(t *testing.T) (doc object) {
	t.Helper()
	v, err := api.Description()
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPI(t *testing.T) {
	t.Parallel()
	s := serve(t, false, dataset.DefaultLimits)
	c := s.client(t, alice)
	doc := decode[object](c.want(200, "GET", "/api/openapi.json", ""))
	if !reflect.DeepEqual(doc, c.doc) || doc["openapi"] != "3.1.0" {
		t.Error("the document served is not the description")
	}

	installed, described := map[string]bool{}, map[string]bool{}
	for method, pattern := range routes(t, s.app) {
		installed[method+" "+pattern] = true
	}
	ids := map[any]bool{}
	for path, item := range doc["paths"].(object) {
		for method, op := range item.(object) {
			if method == "parameters" {
				continue
			}
			described[strings.ToUpper(method)+" "+path] = true
			id := op.(object)["operationId"]
			if id == nil || ids[id] {
				t.Errorf("%s %s: operationId %v", method, path, id)
			}
			ids[id] = true
			// The parameters in the path are those that are declared.
			declared, _ := item.(object)["parameters"].([]any)
			inPath := 0
			for _, p := range declared {
				p := deref(doc, p)
				if p["in"] == "path" {
					inPath++
					if !strings.Contains(path, "{"+p["name"].(string)+"}") {
						t.Errorf("%s has no %v", path, p["name"])
					}
				}
			}
			if inPath != strings.Count(path, "{") {
				t.Errorf("%s: parameters %v", path, declared)
			}
		}
	}
	if !reflect.DeepEqual(installed, described) || len(installed) == 0 {
		t.Errorf("installed %v\ndescribed %v", installed, described)
	}

	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if ref, ok := v["$ref"].(string); ok && resolve(doc, ref) == nil {
				t.Errorf("%s leads nowhere", ref)
			}
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
	c := client{doc: description(t)}
	if got, want := len(c.doc["components"].(object)["schemas"].(object)["Spec"].(object)["properties"].(object)), len(ml.Params); got != want {
		t.Errorf("%d properties, %d parameters", got, want)
	}
	agree := func(name string, value any) {
		t.Helper()
		b, err := json.Marshal(object{name: value})
		if err != nil {
			t.Fatal(err)
		}
		var spec ml.Spec
		var v any
		refused := json.Unmarshal(b, &spec)
		_ = json.Unmarshal(b, &v)
		described := c.check("Spec", v)
		if (refused == nil) != (described == nil) {
			t.Errorf("%s: the program says %v, the schema %v", b, refused, described)
		}
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
	b, err := json.Marshal(ml.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	var defaults object
	_ = json.Unmarshal(b, &defaults)
	if err := c.check("Spec", defaults); err != nil {
		t.Error(err)
	}
	for name, v := range defaults {
		if got := resolve(c.doc, "#/components/schemas/Spec/properties/"+name).(object)["default"]; !reflect.DeepEqual(got, v) {
			t.Errorf("default of %s: %v, want %v", name, got, v)
		}
	}
}

// conforms tells whether the description allows an answer.
func conforms(doc object, method, path string, a answer) error {
	for pattern, item := range doc["paths"].(object) {
		op, ok := item.(object)[strings.ToLower(method)].(object)
		if !ok || !matches(pattern, path) {
			continue
		}
		responses := op["responses"].(object)
		described := cmp.Or(responses[fmt.Sprint(a.status)], responses["default"])
		if described == nil {
			return fmt.Errorf("status %d is not described", a.status)
		}
		resp := deref(doc, described)
		content, _ := resp["content"].(object)
		if content == nil {
			if len(a.body) > 0 {
				return fmt.Errorf("a body is not described")
			}
			return nil
		}
		kind, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
		media, ok := content[kind].(object)
		if !ok {
			return fmt.Errorf("content type %q is not described", kind)
		}
		if !strings.HasSuffix(kind, "json") {
			return nil
		}
		var v any
		if err := json.Unmarshal(a.body, &v); err != nil {
			return err
		}
		return validate(doc, media["schema"], v, "answer")
	}
	if a.status == http.StatusNotFound || a.status == http.StatusMethodNotAllowed {
		return nil
	}
	return fmt.Errorf("not described")
}

// matches tells whether a path is one of a pattern. Ids hold no dots.
func matches(pattern, path string) bool {
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	return slices.EqualFunc(want, got, func(w, g string) bool {
		before, rest, variable := strings.Cut(w, "{")
		if !variable {
			return w == g
		}
		_, after, _ := strings.Cut(rest, "}")
		// An id has no dot: {id}.csv is another path than {id}.
		inner, ok := strings.CutPrefix(g, before)
		inner, ends := strings.CutSuffix(inner, after)
		return ok && ends && inner != "" && (rest != "id}" || !strings.Contains(inner, "."))
	})
}

func resolve(doc object, ref string) any {
	var v any = doc
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		o, _ := v.(object)
		v = o[part]
	}
	return v
}

func deref(doc object, v any) object {
	o := v.(object)
	if ref, ok := o["$ref"].(string); ok {
		return deref(doc, resolve(doc, ref))
	}
	return o
}

func (c *client) check(schema string, v any) error {
	return validate(c.doc, object{"$ref": "#/components/schemas/" + schema}, v, schema)
}

// validate checks a value against the part of JSON Schema that the description
// uses.
func validate(doc object, schema, v any, at string) error {
	s := deref(doc, schema)
	if values, ok := s["enum"].([]any); ok && !slices.Contains(values, v) {
		return fmt.Errorf("%s: %v is none of %v", at, v, values)
	}
	if anyOf, ok := s["anyOf"].([]any); ok && !slices.ContainsFunc(anyOf, func(x any) bool { return validate(doc, x, v, at) == nil }) {
		return fmt.Errorf("%s: %v is none of %v", at, v, anyOf)
	}
	fits := true
	switch s["type"] {
	case "object":
		_, fits = v.(object)
	case "array":
		_, fits = v.([]any)
	case "string":
		_, fits = v.(string)
	case "boolean":
		_, fits = v.(bool)
	case "number":
		_, fits = v.(float64)
	case "integer":
		f, ok := v.(float64)
		fits = ok && f == math.Trunc(f)
	}
	if !fits {
		return fmt.Errorf("%s: %v is not of type %v", at, v, s["type"])
	}
	switch v := v.(type) {
	case float64:
		low, hasLow := s["minimum"].(float64)
		above, hasAbove := s["exclusiveMinimum"].(float64)
		high, hasHigh := s["maximum"].(float64)
		if hasLow && v < low || hasAbove && v <= above || hasHigh && v > high {
			return fmt.Errorf("%s: %v is out of range", at, v)
		}
	case []any:
		if s["items"] == nil {
			return nil
		}
		for i, x := range v {
			if err := validate(doc, s["items"], x, fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case object:
		required, _ := s["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Errorf("%s: %v is missing", at, name)
			}
		}
		properties, _ := s["properties"].(object)
		for name, x := range v {
			p, ok := properties[name]
			if !ok {
				if s["additionalProperties"] == false {
					return fmt.Errorf("%s: %s is not described", at, name)
				}
				continue
			}
			if err := validate(doc, p, x, at+"."+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// The key of the API works for what a page can do with a run: its predictions, for
// its own points and for others, and its pictures.
func TestAPIPredictionsAndPictures(t *testing.T) {
	t.Parallel()
	s := serve(t, true, dataset.DefaultLimits)
	c := s.client(t, alice)
	c.upload("name=square.csv", square)
	run := c.train(`{"dataset":"moons","spec":{"C":10,"gamma":2}}`)
	c.follow(run)
	base := "/api/runs/" + run

	csv := func(a answer) []string {
		t.Helper()
		if kind := a.header.Get("Content-Type"); kind != "text/csv; charset=utf-8" {
			t.Errorf("sent as %q", kind)
		}
		return strings.Split(strings.TrimSpace(string(a.body)), "\n")
	}
	labelled := csv(c.want(200, "POST", base+"/predictions", "x1,x2,label\n0,1,-1\n1,-0.5,1\n"))
	if len(labelled) != 3 || labelled[0] != "row,label,f,true" || !strings.HasPrefix(labelled[1], "1,-1,-") || !strings.HasSuffix(labelled[2], ",1") || !strings.HasPrefix(labelled[2], "2,1,") {
		t.Errorf("predictions %q", labelled)
	}
	bare := csv(c.want(200, "POST", base+"/predictions", "0;1\n1;-0,5\n"))
	if len(bare) != 3 || bare[0] != "row,label,f" || !strings.HasPrefix(labelled[1], bare[1]+",") {
		t.Errorf("without labels and header %q, with them %q", bare, labelled)
	}
	if own := csv(c.want(200, "GET", base+"/predictions.csv", "")); len(own) != 201 || own[0] != "row,label,predicted,f,held_out,role,weight" {
		t.Errorf("its own points: %d lines, %q", len(own), own[0])
	}
	for _, wrong := range []struct {
		status int
		body   string
	}{{422, ""}, {422, "a,b,c,d\n1,2,3,4\n"}, {422, "x1,x2\n1,abc\n"}, {422, "x1,x2\n1e300,-1e300\n1e300,NaN\n"}} {
		c.want(wrong.status, "POST", base+"/predictions", wrong.body)
	}
	for _, path := range []string{base, "/runs/" + run} {
		if a := c.want(200, "GET", path+"/figures/boundary.svg?width=300&height=200", ""); a.header.Get("Content-Type") != "image/svg+xml" || !bytes.Contains(a.body, []byte("<svg")) {
			t.Errorf("%s: %s", path, a.header.Get("Content-Type"))
		}
		if a := c.want(200, "GET", path+"/figures/boundary.png?dark=1", ""); !bytes.HasPrefix(a.body, []byte("\x89PNG")) {
			t.Errorf("%s: no PNG", path)
		}
		c.want(404, "GET", path+"/figures/before.svg", "")
		c.want(404, "GET", path+"/figures/boundary.gif", "")
	}
	other := s.client(t, bob)
	for _, path := range []string{base + "/predictions.csv", base + "/figures/boundary.svg", "/runs/" + run + "/figures/boundary.svg"} {
		other.want(404, "GET", path, "")
	}
	other.want(404, "POST", base+"/predictions", "0,1\n")
}

// Nothing that has a default is asked for, and an empty spec is one.
func TestOpenAPIDefaults(t *testing.T) {
	t.Parallel()
	c := client{doc: description(t), t: t}
	var walk func(v any, at string)
	walk = func(v any, at string) {
		s := deref(c.doc, v)
		required, _ := s["required"].([]any)
		properties, _ := s["properties"].(object)
		for name, p := range properties {
			if _, has := deref(c.doc, p)["default"]; has && slices.Contains(required, any(name)) {
				t.Errorf("%s: %s has a default and is required", at, name)
			}
			walk(p, at+"."+name)
		}
	}
	for path, item := range c.doc["paths"].(object) {
		for method, op := range item.(object) {
			if method == "parameters" {
				continue
			}
			body, ok := op.(object)["requestBody"].(object)
			if !ok {
				continue
			}
			for _, media := range body["content"].(object) {
				if schema := media.(object)["schema"]; schema != nil {
					walk(schema, method+" "+path)
				}
			}
		}
	}
	for _, body := range []string{`{"dataset":"moons"}`, `{"dataset":"moons","spec":{}}`} {
		var v any
		_ = json.Unmarshal([]byte(body), &v)
		if err := c.check("NewRun", v); err != nil {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// Of a file about which a page would ask, a program says what it wants, or is told how to.
func TestAPIColumns(t *testing.T) {
	t.Parallel()
	c := serve(t, false, dataset.DefaultLimits).client(t, alice)
	const file = "when,price,smoker,name,label\n2026-01-01,$5,TRUE,Ann,a\n2026-01-02,\"$1,200\",FALSE,Bob,b\n2026-01-03,$7.50,TRUE,Cid,a\n"
	told := c.want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name=n", file)
	if !bytes.Contains(told.body, []byte("columns=proposed takes price, smoker=TRUE for features")) {
		t.Errorf("refused with %s", told.body)
	}
	made := decode[api.Dataset](c.want(http.StatusCreated, "POST", "/api/datasets?name=n&columns=proposed", file))
	if want := []string{"price", "smoker=TRUE"}; !slices.Equal(made.Features, want) {
		t.Errorf("features %v, want %v", made.Features, want)
	}
	made = decode[api.Dataset](c.want(http.StatusCreated, "POST", "/api/datasets?name=n&columns=proposed&label=smoker", file))
	if want := []string{"price"}; !slices.Equal(made.Features, want) || made.Label != "smoker" {
		t.Errorf("features %v of %s, want %v of smoker", made.Features, made.Label, want)
	}
	for _, q := range []string{"columns=some", "columns=proposed&features=price"} {
		c.want(http.StatusUnprocessableEntity, "POST", "/api/datasets?name=n&"+q, file)
	}
}
