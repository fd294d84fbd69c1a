package handlers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-chi/chi/v5"

	"marginlab/handlers"
	"marginlab/handlers/handlerstest"
	"marginlab/ml"
	"marginlab/ml/dataset"
	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
	"marginlab/web/jobs"
)

// Whatever is asked, at any address, by any method, with the forms of our own pages filled
// in at random or with rubbish, there is an answer before long, and none is a fault: a
// status from 500 on only where it says when to come again or that there is no room.
func TestRandomRequests(t *testing.T) {
	t.Parallel()
	for seed := range uint64(randomSeeds) {
		t.Run(fmt.Sprint("seed ", seed+1), func(t *testing.T) {
			var log mltest.Buffer
			faults := slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelError})
			s := handlerstest.ServeWith(t, true, handlers.Config{Log: slog.New(faults), Patience: time.Second}, jobs.Config{Limit: 2 * time.Second})
			a := newAsker(t, s, seed+1)
			for i := range randomRequests {
				if i%200 == 0 {
					a.sow()
				}
				a.ask()
			}
			t.Logf("answers %v, the slowest after %v", a.statuses, a.longest.Round(time.Millisecond))
			require.Equal(t, log.String(), "", "in the log")
		})
	}
}

// asker asks at random, and learns from the answers what more there is to ask.
type asker struct {
	t        *testing.T
	s        *handlerstest.Server
	rng      *rand.Rand
	client   *http.Client
	token    string // of the workspace
	routes   []route
	files    []string // for uploads
	links    []string // that pages showed
	forms    []filled
	ids      map[string][]string // parts of addresses, by what stands in the route
	values   map[string][]string // of controls and queries, by name
	statuses map[int]int
	longest  time.Duration
}

type route struct{ method, pattern string }

// filled is a form as a page showed it, or with other values.
type filled struct {
	method, action string
	parts          bool // as multipart/form-data
	values         url.Values
}

const many = 400 // links and forms that are remembered

func newAsker(t *testing.T, s *handlerstest.Server, seed uint64) *asker {
	a := &asker{
		t: t, s: s, rng: rand.New(rand.NewPCG(seed, 14)), links: []string{"/"},
		ids: map[string][]string{}, values: map[string][]string{}, statuses: map[int]int{},
		client: &http.Client{Transport: s.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
		files: []string{
			handlerstest.Square, "word,label\nabba,a\nbaba,a\ncece,b\necce,b\n", ">a|one\nACGT\n>b|two\nTGCA\n", "+1 1:0.5 2:1\n-1 1:3 2:2\n",
			`{"n":3,"edges":[[0,1],[1,2]],"label":"a"}` + "\n" + `{"n":2,"edges":[[0,1]],"label":"b"}` + "\n",
			"@relation r\n@attribute x numeric\n@attribute c {a,b}\n@data\n1,a\n2,b\n", "x,y\n1,2.5\n2,3.5\n3,1.25\n4,0.5\n5,7.75\n6,3\n",
		},
	}
	sheets, err := filepath.Glob("../ml/dataset/testdata/spreadsheets/*")
	require.Must(t, err == nil && len(sheets) != 0, "no spreadsheets %v", err)
	for _, path := range sheets {
		a.files = append(a.files, string(require.Value(os.ReadFile(path))(t)))
	}
	err = chi.Walk(s.App.Handler().(chi.Routes), func(method, pattern string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		if slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, method) {
			a.routes = append(a.routes, route{method, "/" + strings.Trim(pattern, "/")})
		}
		return nil
	})
	require.NoError(t, err)
	slices.SortFunc(a.routes, func(a, b route) int { return strings.Compare(a.pattern+a.method, b.pattern+b.method) })
	for _, p := range ml.Params {
		for _, o := range p.Options {
			a.values[p.Name] = append(a.values[p.Name], o.Name)
		}
		a.values[p.Name] = append(a.values[p.Name], p.Default)
	}
	for _, b := range dataset.Builtins {
		if b.Slug == "digits" || b.Slug == "breast-cancer" || b.Slug == "pima" {
			continue // large for a test of everything
		}
		a.values["data"] = append(a.values["data"], b.Slug)
	}
	return a
}

// sow makes one of everything that there is, so that there is something to ask for.
func (a *asker) sow() {
	const typed = "application/x-www-form-urlencoded"
	a.token = handlerstest.Alice
	var runs, searches []string
	for i, file := range a.files[:7] {
		set := path.Base(a.send("POST", fmt.Sprintf("/api/datasets?name=%d", i), file, "text/plain"))
		for _, learner := range []string{"svm", "mcm"} {
			runs = append(runs, path.Base(a.send("POST", "/api/runs", fmt.Sprintf(`{"dataset":%q,"spec":{"learner":%q}}`, set, learner), "application/json")))
		}
		a.get("/datasets/" + set)
	}
	for _, set := range []string{"moons", "iris", "xor"} {
		runs = append(runs, path.Base(a.send("POST", "/api/runs", fmt.Sprintf(`{"dataset":%q,"spec":{"test_fraction":0.3}}`, set), "application/json")))
	}
	for _, rest := range []string{"", `,"nested":true,"repeats":2`} {
		searches = append(searches, path.Base(a.send("POST", "/api/searches", `{"dataset":"moons","grid":{"C":[1,10],"gamma":[1,2]},"folds":2`+rest+`}`, "application/json")))
	}
	code := path.Base(a.send("POST", "/courses", url.Values{"target": {"/lab?data=moons&C=3"}, "title": {"A course"}, "handins": {"true"}}.Encode(), typed))
	for i := range 3 {
		a.send("POST", "/course/"+code+"/handins", url.Values{"course": {code}, "data": {"moons"}, "C": {strconv.Itoa(i + 1)}, "who": {fmt.Sprint("student ", i)}}.Encode(), typed)
	}
	a.s.App.Jobs.Wait(a.t.Context(), 30*time.Second, append(runs, searches...)...)
	a.send("POST", "/runs/"+runs[0]+"/share", "", typed)
	a.sendForm(filled{method: "POST", action: "/datasets", parts: true, values: url.Values{"text": {"name;height;weight;member\nAda;1,65;55;yes\nBob;1,80;82;no\n"}, "name": {"doubtful"}}})
	for _, p := range []string{
		"/lab?data=iris", "/lab?data=moons&edit=1", "/course/" + code, "/lab?course=" + code, "/datasets", "/courses/new?target=/lab", "/courses/" + code, "/settings", "/lessons", "/runs",
		"/runs/" + runs[0], "/runs/" + runs[2], "/runs/" + runs[15], "/searches/" + searches[0], "/searches/" + searches[1], "/compare?run=" + runs[0] + "&run=" + runs[1] + "&run=" + runs[14],
		"/compare?run=" + runs[0] + "&run=" + runs[1],
	} {
		a.get(p)
	}
	for _, p := range slices.Clone(a.links) {
		if strings.HasPrefix(p, "/teach/") || strings.HasPrefix(p, "/shared/") || strings.HasPrefix(p, "/courses/") && strings.Contains(p, "/runs/") {
			a.get(p)
		}
	}
}

// ask sends one request and looks at the answer.
func (a *asker) ask() {
	if a.token = handlerstest.Alice; a.seldom() {
		a.token = handlerstest.Bob
	}
	switch a.rng.IntN(10) {
	case 0, 1:
		to := one(a.rng, a.links)
		if u, err := url.Parse(to); err == nil && a.rng.IntN(2) == 0 {
			a.sendForm(a.refill(filled{method: http.MethodGet, action: u.EscapedPath(), values: u.Query()}))
			return
		}
		a.get(to)
	case 2, 3, 4, 5:
		if len(a.forms) > 0 {
			a.sendForm(a.refill(one(a.rng, a.forms)))
		}
	default:
		a.sendTo(one(a.rng, a.routes))
	}
}

func one[E any](rng *rand.Rand, list []E) E { return list[rng.IntN(len(list))] }

func (a *asker) often() bool  { return a.rng.IntN(4) > 0 }
func (a *asker) seldom() bool { return a.rng.IntN(12) == 0 }

// rubbish lists values that no control expects.
var rubbish = []string{
	"", " ", "NaN", "Inf", "-1", "0", "1e999", "-1e-320", "99999999999999999999", "1e308,-1e308,0,1", "NaN,NaN,NaN,NaN", "٣", "\x00", "a\x00b", "\xff\xfe", "é🙂\u202e",
	strings.Repeat("x", 5000), strings.Repeat("(", 3000), "../../etc/passwd", "%", "%zz", "<script>alert(1)</script>", "'; --", "=cmd|'/C'!A0", "0x10", "1,2,3", "1;2", "1 2 a\n3 4 b", "null",
	"true", "[]", "{}", "\r\n", "2030-01-01T00:00", "0001-01-01T00:00", "rbf+linear*", "rbf(gamma=1)*poly", "moons", "drawing", "yes",
}

// value is something for a name: as it was, as others had it, a number, or rubbish.
func (a *asker) value(name, was string) string {
	switch known := a.values[name]; a.rng.IntN(8) {
	case 0:
		return one(a.rng, rubbish)
	case 1:
		return strconv.FormatFloat(math.Copysign(math.Pow(10, 12*a.rng.Float64()-6), a.rng.Float64()-0.1), 'g', 4, 64)
	case 2:
		return strconv.Itoa(a.rng.IntN(200) - 10)
	case 3, 4, 5:
		if len(known) > 0 {
			return one(a.rng, known)
		}
	}
	return was
}

// refill changes some values of a form, leaves some out and gives some twice.
func (a *asker) refill(f filled) filled {
	v := url.Values{}
	for _, name := range slices.Sorted(maps.Keys(f.values)) {
		for _, was := range f.values[name] {
			switch a.rng.IntN(12) {
			case 0:
			case 1:
				v.Add(name, was)
				v.Add(name, a.value(name, was))
			case 2, 3, 4:
				v.Add(name, a.value(name, was))
			default:
				v.Add(name, was)
			}
		}
	}
	f.values = v
	if a.seldom() {
		maps.Copy(f.values, a.someValues())
	}
	return f
}

// someValues are values of names that there are.
func (a *asker) someValues() url.Values {
	v, names := url.Values{}, slices.Sorted(maps.Keys(a.values))
	for range a.rng.IntN(6) {
		name := one(a.rng, names)
		v.Add(name, a.value(name, ""))
	}
	return v
}

func (a *asker) sendForm(f filled) {
	to := f.action
	if f.method == http.MethodGet {
		path, _, _ := strings.Cut(to, "?")
		a.get(path + "?" + f.values.Encode())
		return
	}
	if f.parts {
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		for _, name := range slices.Sorted(maps.Keys(f.values)) {
			for _, v := range f.values[name] {
				_ = form.WriteField(name, v)
			}
		}
		part, _ := form.CreateFormFile("file", one(a.rng, []string{"a.csv", "b.xlsx", "c.zip", "d", "../../e.txt", "f.fasta", "g.graphml", "h.jsonl"}))
		_, _ = io.WriteString(part, a.file())
		form.Close()
		body := b.String()
		if a.seldom() {
			body = body[:a.rng.IntN(len(body))]
		}
		a.send(f.method, to, body, form.FormDataContentType())
		return
	}
	a.send(f.method, to, f.values.Encode(), "application/x-www-form-urlencoded")
}

// file is a file, perhaps damaged.
func (a *asker) file() string {
	b := []byte(one(a.rng, a.files))
	if a.often() || len(b) == 0 {
		return string(b)
	}
	for range 1 + a.rng.IntN(5) {
		b[a.rng.IntN(len(b))] = one(a.rng, []byte("\x00,;\n\"1a\xff<{"))
	}
	return string(b[:len(b)-a.rng.IntN(1+len(b)/4)])
}

var placeholder = regexp.MustCompile(`\{(\w+)\}|\*`)

// sendTo asks at a route.
func (a *asker) sendTo(r route) {
	method := r.method
	if method == http.MethodDelete && strings.HasSuffix(r.pattern, "/workspace") && a.often() {
		return // or there is never much to ask for
	}
	if a.seldom() {
		method = one(a.rng, []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"})
	}
	parts := strings.Split(r.pattern, "/")
	for i, part := range parts {
		parts[i] = placeholder.ReplaceAllStringFunc(part, func(name string) string {
			before := strings.Split(r.pattern, "/")[:i]
			if known := a.ids[key(before, name)]; len(known) > 0 && a.often() {
				return url.PathEscape(known[len(known)-1-min(len(known)-1, int(a.rng.ExpFloat64()*5))])
			}
			return url.PathEscape(one(a.rng, rubbish))
		})
	}
	to := strings.Join(parts, "/")
	if query := a.someValues(); a.rng.IntN(4) == 0 {
		to += "?" + query.Encode()
	}
	switch kind := a.rng.IntN(10); {
	case method == http.MethodGet || method == http.MethodHead:
		a.send(method, to, "", "")
	case strings.HasPrefix(r.pattern, "/api/") && (strings.HasSuffix(r.pattern, "datasets") || strings.HasSuffix(r.pattern, "predictions") || method == http.MethodPut) && kind < 9:
		a.send(method, to, a.file(), "text/csv")
	case strings.HasPrefix(r.pattern, "/api/") && kind < 9:
		a.send(method, to, a.json(r.pattern), "application/json")
	case kind < 7:
		a.sendForm(filled{method: method, action: to, parts: a.seldom(), values: a.someValues()})
	case kind < 9:
		a.send(method, to, one(a.rng, rubbish), "application/x-www-form-urlencoded")
	default:
		a.send(method, to, a.file(), one(a.rng, []string{"", "text/plain", "multipart/form-data", "multipart/form-data; boundary=x", "application/zip", "application/json; charset=utf-16", "\x7f"}))
	}
}

// key returns the name of a part of an address, which follows from the part before it.
func key(before []string, name string) string {
	switch of := before[len(before)-1]; {
	case of == "courses":
		return "course " + name
	case of == "runs" && slices.ContainsFunc(before, func(part string) bool { return part == "teach" || part == "courses" }):
		return "handin " + name
	default:
		return of + " " + name
	}
}

// json is a request in JSON to a route, most often as it is described.
func (a *asker) json(pattern string) string {
	spec, grid := map[string]any{}, map[string]any{}
	for range a.rng.IntN(5) {
		p := one(a.rng, ml.Params)
		spec[p.Name] = a.typed(p)
		grid[p.Name] = []any{a.typed(p), a.typed(p)}
	}
	g := one(a.rng, dataset.Generators)
	parameters := map[string]any{}
	for _, p := range g.Params {
		if a.rng.IntN(3) == 0 {
			parameters[p.Name] = a.typed(p)
		}
	}
	sets := append([]string{"moons", "xor", "iris"}, a.ids["datasets {id}"]...)
	o := map[string]any{"name": "renamed", "tags": []string{"a", "b"}, "note": "x"}
	switch {
	case strings.HasSuffix(pattern, "/generate"):
		o = map[string]any{"generator": g.Name, "parameters": parameters}
	case pattern == "/api/runs":
		o["dataset"], o["spec"] = one(a.rng, sets), spec
	case pattern == "/api/searches":
		o = map[string]any{"dataset": one(a.rng, sets), "spec": spec, "grid": grid, "folds": 2 + a.rng.IntN(3), "repeats": 1, "nested": a.seldom(), "seed": 3}
	case strings.HasPrefix(pattern, "/api/searches"):
		o = map[string]any{"cell": a.rng.IntN(4)}
	case strings.HasPrefix(pattern, "/api/datasets"):
		o = map[string]any{"name": "renamed"}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if a.seldom() {
			delete(o, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if a.seldom() {
			o[name] = one(a.rng, []any{nil, -1, 1e300, "x", []int{1}, map[string]int{"y": 1}, true, strings.Repeat("z", 3000), "\x00"})
		}
	}
	b := require.Value(json.Marshal(o))(a.t)
	switch {
	case a.seldom():
		return string(b[:a.rng.IntN(len(b))])
	case a.seldom():
		return one(a.rng, []string{"", "null", "[]", "{}{}", strings.Repeat("[", 20_000), `{"spec":{"C":1e999}}`, `{"spec":{"C":NaN}}`, "\xff", `{"name":"a","name":"b"}`, `{"spec":null}`})
	}
	return string(b)
}

// typed is a value for a parameter in JSON, most often one that it takes.
func (a *asker) typed(p param.Param) any {
	text := p.Default
	switch {
	case !a.often():
		text = a.value(p.Name, p.Default)
	case len(p.Options) > 0:
		text = one(a.rng, p.Options).Name
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(v, 0) && !math.IsNaN(v) && a.often() {
		return v
	}
	if text == "true" || text == "false" {
		return text == "true"
	}
	return strings.ToValidUTF8(text, "?")
}

func (a *asker) get(path string) { a.send(http.MethodGet, path, "", "") }

// send sends a request, judges the answer and returns where it leads.
func (a *asker) send(method, path, body, kind string) (location string) {
	limit := 2 * time.Minute
	if strings.Contains(path, "/events") {
		limit = 50 * time.Millisecond // it goes on as long as what it tells of
	}
	ctx, cancel := context.WithTimeout(a.t.Context(), limit)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, a.s.URL+path, strings.NewReader(body))
	if err != nil {
		return "" // no client sends that
	}
	if kind != "" {
		r.Header["Content-Type"] = []string{kind}
	}
	r.Header.Set("Authorization", "Bearer "+a.token)
	if a.seldom() {
		r.Header.Set("Accept", one(a.rng, []string{"application/json", "image/svg+xml", "", "*/*;q=x"}))
	}
	told := func() string {
		return fmt.Sprintf("%s %s\nContent-Type: %s\n\n%s", method, clip(path), kind, clip(body))
	}
	begin := time.Now()
	resp, err := a.client.Do(r)
	if err != nil {
		require.Check(a.t, ctx.Err() != nil || strings.Contains(err.Error(), "invalid header"), "%v\n%s", err, told())
		return ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	took := time.Since(begin)
	require.Check(a.t, err == nil || ctx.Err() != nil, "%v after %d bytes\n%s", err, len(answer), told())
	a.statuses[resp.StatusCode]++
	a.longest = max(a.longest, took)
	require.Check(a.t, took <= slowest, "%d after %v\n%s", resp.StatusCode, took, told())
	switch resp.StatusCode {
	case http.StatusServiceUnavailable:
		require.Check(a.t, resp.Header.Get("Retry-After") != "", "busy, but until when?\n%s", told())
	case http.StatusInsufficientStorage:
		require.Check(a.t, len(answer) != 0, "no word about the room\n%s", told())
	default:
		if resp.StatusCode >= 500 && resp.StatusCode != http.StatusNotImplemented {
			a.t.Errorf("%d: %s\n%s", resp.StatusCode, clip(string(answer)), told())
		}
	}
	if location = resp.Header.Get("Location"); location != "" && resp.StatusCode != http.StatusPermanentRedirect { // which repeats what was asked
		a.link(location)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		a.learn(path, answer)
	}
	return location
}

func clip(s string) string {
	if len(s) > 1500 {
		s = s[:1500] + "..."
	}
	return strconv.QuoteToASCII(s)
}

// keep remembers one more, in place of another when there are many.
func keep[E any](rng *rand.Rand, list []E, e E, most int) []E {
	if len(list) < most {
		return append(list, e)
	}
	list[rng.IntN(len(list))] = e
	return list
}

// link remembers an address and what its parts stand for.
func (a *asker) link(at string) {
	u, err := url.Parse(strings.TrimPrefix(at, a.s.URL))
	if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path, "/static/") {
		return
	}
	a.links = keep(a.rng, a.links, u.RequestURI(), many)
	for _, name := range slices.Sorted(maps.Keys(u.Query())) {
		a.note(name, u.Query()[name])
	}
	parts := strings.Split(u.Path, "/")
	for _, r := range a.routes {
		pattern := strings.Split(r.pattern, "/")
		if len(pattern) != len(parts) {
			continue
		}
		for i, p := range pattern {
			if p == parts[i] {
				continue
			}
			if p == "" || p[0] != '{' || p[len(p)-1] != '}' {
				break
			}
			if k := key(pattern[:i], p); !slices.Contains(a.ids[k], parts[i]) {
				a.ids[k] = append(a.ids[k], parts[i])
			}
		}
	}
}

func (a *asker) note(name string, values []string) {
	for _, v := range values {
		if !slices.Contains(a.values[name], v) {
			a.values[name] = keep(a.rng, a.values[name], v, 40)
		}
	}
}

// learn remembers the links and forms of a page.
func (a *asker) learn(path string, page []byte) {
	doc, err := goquery.NewDocumentFromReader(bytes.NewReader(page))
	if err != nil {
		return
	}
	doc.Find("a[href], img[src], .share").Each(func(_ int, e *goquery.Selection) {
		for _, name := range []string{"href", "src", "value"} {
			if at, ok := e.Attr(name); ok {
				a.link(at)
			}
		}
	})
	doc.Find("form").Each(func(_ int, e *goquery.Selection) {
		f := filled{method: strings.ToUpper(e.AttrOr("method", "get")), action: e.AttrOr("action", path), values: url.Values{}}
		f.parts = e.AttrOr("enctype", "") == "multipart/form-data"
		controls := e.Find("input, select, textarea")
		if id, ok := e.Attr("id"); ok {
			controls = controls.AddSelection(doc.Find(`[form="` + id + `"]`))
		}
		controls.Each(func(_ int, c *goquery.Selection) {
			name := c.AttrOr("name", "")
			value := c.AttrOr("value", c.Text())
			if name == "" || c.AttrOr("type", "") == "file" {
				return
			}
			if goquery.NodeName(c) == "select" {
				value = c.Find("option[selected]").AttrOr("value", "")
				c.Find("option").Each(func(_ int, o *goquery.Selection) { a.note(name, []string{o.AttrOr("value", o.Text())}) })
			}
			a.note(name, []string{value})
			f.values.Add(name, value)
		})
		a.forms = keep(a.rng, a.forms, f, many)
		if live, ok := e.Attr("data-live"); ok {
			g := f
			g.method, g.action = http.MethodPost, live
			a.forms = keep(a.rng, a.forms, g, many)
		}
		e.Find("button[formaction], button[name]").Each(func(_ int, b *goquery.Selection) {
			g := f
			g.action, g.method = b.AttrOr("formaction", f.action), strings.ToUpper(b.AttrOr("formmethod", f.method))
			if name := b.AttrOr("name", ""); name != "" {
				g.values = maps.Clone(f.values)
				g.values.Set(name, b.AttrOr("value", ""))
			}
			a.forms = keep(a.rng, a.forms, g, many)
		})
	})
}
