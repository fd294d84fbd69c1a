package web

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"marginlab/ml/mltest"
	"marginlab/ml/mltest/require"
	"marginlab/ml/param"
)

func page(w io.Writer, _ *http.Request, p Problem) error {
	_, err := fmt.Fprintf(w, "<h1>%d</h1><p>%s %s", p.Status, p.Detail, p.RequestID)
	return err
}

// newSite returns a site with a few routes, and its log.
func newSite(routes map[string]Handler) (http.Handler, *Site, *mltest.Buffer) {
	log := new(mltest.Buffer)
	s := NewSite(slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})), page)
	return mux(s, routes), s, log
}

func mux(s *Site, routes map[string]Handler) http.Handler {
	r := chi.NewRouter()
	r.Use(s.Middleware()...)
	r.NotFound(s.NotFound)
	r.MethodNotAllowed(s.MethodNotAllowed)
	r.Handle("/metrics", s.Metrics)
	r.Group(func(r chi.Router) {
		r.Use(s.Workspace)
		for pattern, h := range routes {
			method, path, _ := strings.Cut(pattern, " ")
			r.MethodFunc(method, path, s.Handle(h))
		}
	})
	return r
}

func ok(w http.ResponseWriter, r *http.Request) error {
	_, err := io.WriteString(w, Token(r.Context()))
	return err
}

// anyKey is a key if any 32 hexadecimal digits are accepted.
const anyKey = "Authorization: Bearer 0123456789abcdef0123456789abcdef"

// ask sends a request with "Name: value" headers.
func ask(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// alien is an error of another package, known only by its kind.
type alien string

func (a alien) Error() string { return "words for the reader" }
func (a alien) Kind() string  { return string(a) }

func TestErrorTable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err    error
		status int
		detail string
	}{
		{fmt.Errorf("inner detail: %w", alien("not-found")), 404, "words for the reader"},
		{alien("conflict"), 409, "words for the reader"},
		{alien("busy"), 503, "words for the reader"},
		{alien("storage"), 507, "words for the reader"},
		{alien("unheard-of"), 500, ""},
		{fmt.Errorf("spec: %w", param.Problems{{Field: "C", Message: "C must be above 0"}, {Field: "gamma", Message: "gamma?"}}), 422, "C must be above 0; gamma?"},
		{fmt.Errorf("reading: %w", &http.MaxBytesError{Limit: 10 << 20}), 413, "10\u00a0MB"},
		{Errorf(TooLarge, "%d rows", 7), 413, "7 rows"},
		{Errorf(Unauthorized, "key"), 401, "key"},
		{context.DeadlineExceeded, 503, "took too long"},
		{errors.New("secret of the database"), 500, "logged"},
	} {
		h, _, log := newSite(map[string]Handler{
			"GET /x":     func(http.ResponseWriter, *http.Request) error { return test.err },
			"GET /api/x": func(http.ResponseWriter, *http.Request) error { return test.err },
		})
		html, api := ask(h, "GET", "/x", ""), ask(h, "GET", "/api/x", "", anyKey)
		p := require.JSON[Problem](t, api.Body.Bytes(), "%v", test.err)
		require.Check(t, html.Code == test.status && api.Code == test.status && p.Status == test.status,
			"%v: %d, %d, %d, want %d", test.err, html.Code, api.Code, p.Status, test.status)
		require.Check(t, strings.Contains(p.Detail, test.detail) && strings.Contains(html.Body.String(), test.detail),
			"%v: says %q and %q", test.err, p.Detail, html.Body)
		require.Check(t, Kinds()[strings.TrimPrefix(p.Type, "/api/docs#")] == test.status && p.Title == http.StatusText(test.status) && p.Instance == "/api/x" &&
			api.Header().Get("Content-Type") == "application/problem+json" && html.Header().Get("Content-Type") == "text/html; charset=utf-8",
			"%v: %+v %v", test.err, p, api.Header())
		require.Check(t, (test.status == 503) == (api.Header().Get("Retry-After") != ""),
			"%v: Retry-After %q", test.err, api.Header().Get("Retry-After"))
		for _, secret := range []string{"secret", "inner detail"} {
			require.Check(t, !strings.Contains(api.Body.String()+html.Body.String(), secret),
				"%v: shown to the client", test.err)
		}
		require.Check(t, test.status != 500 || p.RequestID != "" && strings.Contains(log.String(), p.RequestID) &&
			strings.Contains(log.String(), test.err.Error()) && api.Header().Get("X-Request-Id") == p.RequestID,
			"%v: request %q is not in the log: %s", test.err, p.RequestID, log)
		require.Check(t, test.status != 422 || len(p.Errors) == 2 && p.Errors[1].Field == "gamma",
			"fields %v", p.Errors)
		require.Check(t, html.Header().Get("Cache-Control") == "no-store", "%v: may be cached: %v", test.err, html.Header())
	}
}

func TestErrorsOutsideOfRoutes(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{"GET /x": ok, "DELETE /x": ok})
	w := ask(h, "GET", "/nowhere", "")
	require.Check(t, w.Code == 404 && strings.Contains(w.Body.String(), "<h1>404"), "%v", w)
	w = ask(h, "GET", "/api/nowhere", "")
	require.Check(t, w.Code == 404 && w.Header().Get("Content-Type") == "application/problem+json", "%v", w)
	w = ask(h, "POST", "/x", "")
	require.Check(t, w.Code == 405 && w.Header().Get("Allow") == "GET, DELETE, HEAD", "%v %v", w.Code, w.Header())
	require.Equal(t, ask(h, "HEAD", "/x", "").Code, 200, "w.Code")
	w = ask(h, "GET", "/nowhere", "", "Accept: application/json")
	require.Check(t, w.Header().Get("Content-Type") == "application/problem+json", "%v", w.Header())
}

func TestErrorPageFails(t *testing.T) {
	t.Parallel()
	s := NewSite(slog.New(slog.DiscardHandler), func(w io.Writer, _ *http.Request, _ Problem) error {
		io.WriteString(w, "half a page")
		return errors.New("no")
	})
	w := ask(mux(s, nil), "GET", "/", "")
	require.Check(t, w.Code == 404 && !strings.Contains(w.Body.String(), "half") && strings.Contains(w.Body.String(), "404 Not Found"), "%v %v", w.Code, w.Body)
}

func TestPanic(t *testing.T) {
	t.Parallel()
	h, _, log := newSite(map[string]Handler{
		"GET /x":    func(http.ResponseWriter, *http.Request) error { panic("secret") },
		"GET /late": func(w http.ResponseWriter, _ *http.Request) error { io.WriteString(w, "half"); panic("secret") },
		"GET /broken": func(w http.ResponseWriter, _ *http.Request) error {
			io.WriteString(w, "half")
			return errors.New("secret")
		},
		"GET /ok": ok,
	})
	w := ask(h, "GET", "/x", "")
	require.Check(t, w.Code == 500 && strings.Contains(w.Body.String(), "<h1>500") && !strings.Contains(w.Body.String(), "secret"),
		"%v %v", w.Code, w.Body)
	require.SaysAll(t, log.String(), []string{"panic=secret", "web_test.go", "status=500"}, "log")
	srv := httptest.NewServer(h)
	defer srv.Close()
	for _, path := range []string{"/late", "/broken"} { // half an answer must not look complete
		res, err := http.Get(srv.URL + path)
		if err == nil {
			_, err = io.ReadAll(res.Body)
			res.Body.Close()
		}
		require.Check(t, err != nil, "%s: the client cannot tell that the answer is not complete", path)
	}
	res, err := http.Get(srv.URL + "/ok")
	require.Check(t, err == nil && res.StatusCode == 200, "the server does not serve after a panic")
}

func TestClientGone(t *testing.T) {
	t.Parallel()
	h, _, log := newSite(map[string]Handler{"GET /x": func(_ http.ResponseWriter, r *http.Request) error { return r.Context().Err() }})
	ctx := mltest.Ended()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/x", nil))
	require.Check(t, w.Body.Len() == 0 && strings.Contains(log.String(), "status=499") && !strings.Contains(log.String(), "ERROR"),
		"%s, log %s", w.Body, log)
}

func TestSecurityHeaders(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{"GET /x": ok})
	for _, path := range []string{"/x", "/nowhere", "/metrics"} {
		got := ask(h, "GET", path, "").Header()
		csp := got.Get("Content-Security-Policy")
		require.Check(t, strings.HasPrefix(csp, "default-src 'none'; script-src 'self'; style-src 'self';") && !strings.Contains(csp, "unsafe"),
			"%s: policy %q", path, csp)
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin",
		} {
			require.Equal(t, got.Get(name), want, "%s: %s", path, name)
		}
	}
}

func TestCrossSite(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{"GET /x": ok, "POST /x": ok, "DELETE /api/x": ok})
	for _, test := range []struct {
		method, path string
		headers      []string
		want         int
	}{
		{"POST", "/x", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"POST", "/x", []string{"Sec-Fetch-Site: same-site"}, 403},
		{"POST", "/x", []string{"Origin: https://evil.example"}, 403},
		{"DELETE", "/api/x", []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"POST", "/x", []string{"Sec-Fetch-Site: same-origin"}, 200},
		{"POST", "/x", []string{"Origin: http://example.com"}, 200}, // httptest's host
		{"POST", "/x", nil, 200},                                   // curl
		{"GET", "/x", []string{"Sec-Fetch-Site: cross-site"}, 200}, // a link
	} {
		w := ask(h, test.method, "http://example.com"+test.path, "", test.headers...)
		require.Check(t, w.Code == test.want, "%s %s %v: %d, want %d", test.method, test.path, test.headers, w.Code, test.want)
	}
}

func TestWorkspaceCookie(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{"GET /x": ok, "GET /api/x": ok})
	first := ask(h, "GET", "/x", "")
	cookies := first.Result().Cookies()
	require.Must(t, len(cookies) == 1, "cookies %v", cookies)
	c := cookies[0]
	require.Check(t, c.Name == "marginlab_workspace" && len(c.Value) == 32 && c.HttpOnly && c.SameSite == http.SameSiteLaxMode && !c.Secure &&
		c.Path == "/" && c.MaxAge >= 360*24*3600 && c.Value == first.Body.String(),
		"cookie %v, token %s", c, first.Body)
	require.Check(t, ask(h, "GET", "/x", "").Body.String() != c.Value, "two visitors have one workspace")
	again := ask(h, "GET", "/x", "", "Cookie: marginlab_workspace="+c.Value)
	require.Check(t, again.Body.String() == c.Value && len(again.Result().Cookies()) == 1 && again.Result().Cookies()[0].Value == c.Value,
		"a known visitor is not known, or his cookie not renewed")
	w := ask(h, "GET", "/api/x", "", "Cookie: marginlab_workspace="+c.Value)
	require.Check(t, w.Body.String() == c.Value, "/api does not take the cookie")
	for _, bad := range []string{"", "x", strings.Repeat("g", 32), c.Value + "0", "../../etc"} {
		w := ask(h, "GET", "/x", "", "Cookie: marginlab_workspace="+bad)
		require.Check(t, len(w.Body.String()) == 32 && w.Body.String() != bad, "cookie %q: token %q", bad, w.Body)
	}
	for _, path := range []string{"/metrics", "/nowhere"} {
		require.Check(t, ask(h, "GET", path, "").Header().Get("Set-Cookie") == "", "%s sets a cookie", path)
	}
	require.Says(t, first.Header().Get("Cache-Control"), "private", "pages of a workspace may be shared by caches")
}

func TestBearer(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{"GET /x": ok, "GET /api/x": ok})
	const token, cookie = "00112233445566778899aabbccddeeff", "Cookie: marginlab_workspace=ffffffffffffffffffffffffffffffff"
	for _, scheme := range []string{"Bearer ", "bearer "} {
		w := ask(h, "GET", "/api/x", "", "Authorization: "+scheme+strings.ToUpper(token), cookie)
		require.Check(t, w.Body.String() == token && w.Header().Get("Set-Cookie") == "",
			"%stoken: %q, cookie %q", scheme, w.Body, w.Header().Get("Set-Cookie"))
	}
	for _, bad := range []string{"Bearer", "Bearer short", "Basic " + token, token, "Bearer " + token + "00"} {
		w := ask(h, "GET", "/api/x", "", "Authorization: "+bad, cookie)
		require.Check(t, w.Code == 401 && w.Header().Get("WWW-Authenticate") == "Bearer" && w.Header().Get("Content-Type") == "application/problem+json",
			"%q: %d %v", bad, w.Code, w.Header())
	}
	if w := ask(h, "GET", "/x", "", "Authorization: Bearer "+token, cookie); w.Body.String() != token || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("a page with a bearer token: %q, cookie %q", w.Body, w.Header().Get("Set-Cookie"))
	}
	w := ask(h, "GET", "/x", "", "Authorization: Basic "+token, cookie)
	require.Check(t, w.Code == 200 && w.Body.String() != token, "a page behind a proxy that asks for a password: %d, %q", w.Code, w.Body)
}

func TestSetToken(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{"POST /x": func(w http.ResponseWriter, r *http.Request) error {
		return SetToken(w, r, r.FormValue("token"))
	}})
	const token = "00112233445566778899aabbccddeeff"
	c := ask(h, "POST", "/x?token=+"+token+"%0a", "").Result().Cookies()
	require.Check(t, len(c) == 1 && c[0].Value == token, "cookies %v", c)
	require.Equal(t, ask(h, "POST", "/x?token=nonsense", "").Code, 422, "w.Code")
}

// One workspace that sends requests endlessly does not affect others behind its address, and
// neither do requests without a workspace, new workspaces and static files.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	log := new(mltest.Buffer)
	s := NewSite(slog.New(slog.NewTextHandler(log, nil)), page)
	s.PerWorkspace, s.PerAddress = 3, 12
	h := mux(s, map[string]Handler{"GET /api/x": ok})
	refused := func(n int, path string, headers ...string) (refused int) {
		t.Helper()
		for range n {
			if w := ask(h, "GET", path, "", headers...); w.Code == 429 {
				refused++
				require.Check(t, w.Header().Get("Retry-After") != "" && w.Header().Get("Content-Type") == "application/problem+json" && strings.Contains(w.Body.String(), "your workspace"),
					"%v", w)
			}
		}
		return refused
	}
	cookie := func(c byte) string { return "Cookie: marginlab_workspace=" + strings.Repeat(string(c), 32) }
	require.Equal(t, refused(20, "/api/x", cookie('a')), 17, "… of 20 refused to one workspace")
	n := refused(1, "/api/x", "Authorization: Bearer "+strings.Repeat("a", 32))
	require.Check(t, n == 1, "a program in the same workspace is let in")
	require.Equal(t, refused(3, "/api/x", cookie('b')), 0, "… of 3 refused to a neighbour")
	require.Equal(t, refused(20, "/api/x"), 17, "… of 20 refused to requests without a workspace")
	require.Check(t, refused(5, "/api/x", "Authorization: Bearer short") == 5, "a bad key opens a workspace of its own")
	for _, path := range []string{"/static/x.css", "/healthz"} {
		require.Equal(t, refused(50, path, cookie('a')), 0, "%s: … of 50 refused", path)
	}
	require.Equal(t, refused(3, "/api/x", cookie('c')), 0, "… of 3 refused to another neighbour")
	if n := strings.Count(log.String(), "too many from one workspace"); n < 1 || n > 2 || strings.Contains(log.String(), "status=429") { // the minute may end in between
		t.Errorf("%d lines on refusals in %s", n, log)
	}
	w := ask(h, "GET", "/api/x", "", cookie('d')) // the thirteenth that counts
	require.Check(t, w.Code == 429 && strings.Contains(w.Body.String(), "your address"),
		"all at one address have no limit: %d %s", w.Code, w.Body)
}

func TestCompress(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{"GET /x": func(w http.ResponseWriter, _ *http.Request) error {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, err := io.WriteString(w, strings.Repeat("long ", 1000))
		return err
	}})
	w := ask(h, "GET", "/x", "", "Accept-Encoding: gzip")
	require.Check(t, w.Header().Get("Content-Encoding") == "gzip" && w.Body.Len() <= 1000, "%v %v", w.Header(), w.Body.Len())
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	type body struct {
		Name string `json:"name"`
		Spec struct {
			C float64 `json:"C"`
		} `json:"spec"`
	}
	for text, want := range map[string]struct {
		status int
		field  string
	}{
		`{"name": "x", "spec": {"C": 2}}`: {0, ""},
		`{"nme": "x"}`:                    {422, "nme"},
		`{"spec": {"C": "x"}}`:            {422, "spec.C"},
		`{"name": `:                       {400, ""},
		`{} {}`:                           {400, ""},
		``:                                {400, ""},
		`[]`:                              {422, ""},
		`{"name": "` + strings.Repeat("x", 200) + `"}`: {413, ""},
	} {
		var v body
		r := httptest.NewRequest("POST", "/api/x", strings.NewReader(text))
		err := ReadJSON(httptest.NewRecorder(), r, 100, &v)
		if want.status == 0 {
			require.Check(t, err == nil && v.Spec.C == 2, "%s: %v, %+v", text, err, v)
			continue
		}
		require.Must(t, err != nil, "%s: taken", text)
		p := problem(r, err)
		require.Check(t, text != "[]" || p.Errors.For("") == "the body expects an object, not array",
			"%s: %+v", text, p.Errors)
		require.Check(t, p.Status == want.status && (want.field == "" || p.Errors.For(want.field) != ""),
			"%s: %+v, want %+v", text, p, want)
	}
}

// The memory of decoded lists is bounded, not only the length of the body.
func TestReadJSONOfLists(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"names":[` + strings.Repeat(`"",`, 400_000) + `""]}`, `{"more":[` + strings.Repeat(`{},`, 20_000) + `{}]}`} {
		var v struct {
			Names []string            `json:"names"`
			More  []map[string]string `json:"more"`
		}
		r := httptest.NewRequest("POST", "/api/x", strings.NewReader(text))
		p := problem(r, ReadJSON(httptest.NewRecorder(), r, 2<<20, &v))
		require.Check(t, p.Status == 413 && strings.Contains(p.Detail, "take more than 8\u00a0MB of memory"), "%.20s: %+v", text, p)
		require.Check(t, len(v.Names)+len(v.More) == 0, "%.20s: %d and %d were read", text, len(v.Names), len(v.More))
	}
}

func TestParseForm(t *testing.T) {
	t.Parallel()
	const form, parts = "Content-Type: application/x-www-form-urlencoded", "Content-Type: multipart/form-data; boundary=xx"
	file := "--xx\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nAnn\r\n--xx--\r\n"
	h, _, _ := newSite(map[string]Handler{"POST /x": func(w http.ResponseWriter, r *http.Request) error {
		if err := ParseForm(w, r, 200); err != nil {
			return err
		}
		_, err := io.WriteString(w, r.PostFormValue("name"))
		return err
	}})
	for _, test := range []struct {
		target, body, kind string
		want               int
	}{
		{"/x", "name=Ann", form, 200},
		{"/x", file, parts, 200},
		{"/x", "", "", 200},
		{"/x", "name=%zz", form, 400},
		{"/x?a;b", "name=Ann", form, 400},
		{"/x", file[:len(file)-10], parts, 400},
		{"/x", file, "Content-Type: multipart/form-data", 400},
		{"/x", "name=" + strings.Repeat("x", 300), form, 413},
		{"/x", strings.Replace(file, "Ann", strings.Repeat("x", 300), 1), parts, 413},
	} {
		w := ask(h, "POST", test.target, test.body, test.kind)
		require.Check(t, w.Code == test.want && (test.want != 200 || test.body == "" || w.Body.String() == "Ann"),
			"%s %.40q: %d %s, want %d", test.target, test.body, w.Code, w.Body, test.want)
	}
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	h, s, log := newSite(map[string]Handler{"GET /runs/{id}": ok})
	for i := range 3 {
		ask(h, "GET", fmt.Sprintf("/runs/secret%d", i), "")
	}
	ask(h, "BREW", "/coffee", "")
	ask(h, "SECRETS", "/runs/secret", "")
	ask(h, "GET", "/secret", "") // mistyped
	ask(h, "GET", "/runs/secret/more?secret=1", "", "Referer: http://example.com/secret")
	s.Metrics.Training("svm", "done", time.Second)
	text := ask(h, "GET", "/metrics", "").Body.String()
	for _, want := range []string{
		`marginlab_http_requests_total{method="GET",route="/runs/{id}",status="200"} 3`,
		`marginlab_http_requests_total{method="other",route="unmatched",status="405"} 2`,
		`marginlab_http_request_duration_seconds_count{route="/runs/{id}"} 3`,
		`marginlab_trainings_total{learner="svm",outcome="done"} 1`,
	} {
		require.Check(t, strings.Contains(text, want), "no %s in\n%s", want, text)
	}
	own, process, _ := strings.Cut(text, "\ngo_")
	faults, err := promlint.New(strings.NewReader(own + "\n")).Lint() // promtool's rules for metrics
	require.Check(t, err == nil && len(faults) == 0, "Prometheus objects: %v, %v", faults, err)
	require.Check(t, strings.Contains(process, "\nprocess_resident_memory_bytes ") && !strings.Contains(process, "marginlab_"), "no metrics of the process at the end")
	require.Check(t, strings.Contains(text, `marginlab_http_request_duration_seconds_bucket{route="/runs/{id}",le="+Inf"} 3`) && !strings.Contains(text, "vmrange"),
		"no classic histogram")
	require.Check(t, !strings.Contains(strings.ToLower(text+log.String()), "secret"),
		"addresses of things are in the metrics or in the log")
}

func TestHealth(t *testing.T) {
	t.Parallel()
	_, s, _ := newSite(nil)
	var fault error
	h := s.Health(func(context.Context) error { return fault })
	w := ask(h, "GET", "/healthz", "")
	require.Check(t, w.Code == 200 && w.Body.String() == "ok\n", "%v", w)
	fault = errors.New("secret")
	s.page = func(io.Writer, *http.Request, Problem) error { return nil }
	w = ask(h, "GET", "/healthz", "")
	require.Check(t, w.Code == 503 && w.Body.String() == "503 Service Unavailable\nThe database does not answer.\n", "%v", w)
}

func TestStream(t *testing.T) {
	t.Parallel()
	type event struct{ N int }
	encode := func(e event) (string, any) { return "count", e }
	h, _, _ := newSite(map[string]Handler{"GET /events": func(w http.ResponseWriter, r *http.Request) error {
		events := make(chan event, 2)
		events <- event{1}
		events <- event{2}
		close(events)
		return Stream(w, r, events, encode)
	}})
	srv := httptest.NewServer(h)
	defer srv.Close()
	res := require.Value(http.Get(srv.URL + "/events"))(t) // accepts gzip
	defer res.Body.Close()
	text, _ := io.ReadAll(res.Body)
	require.Check(t, string(text) == ": open\n\nevent: count\ndata: {\"N\":1}\n\nevent: count\ndata: {\"N\":2}\n\n", "%q", text)
	require.Check(t, res.Header.Get("Content-Type") == "text/event-stream" && !res.Uncompressed && res.Header.Get("Cache-Control") == "no-store",
		"%v", res.Header)
}

// pipes is a listener within the process, so that synctest controls its time.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	c, ok := <-p
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p <- server
	return client, nil
}

// serve serves h on the listener and returns a function that stops it and waits for it.
func (p pipes) serve(t *testing.T, h http.Handler) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- newServer(p, slog.New(slog.DiscardHandler)).Serve(ctx, h) }()
	return func() { cancel(); require.Equal(t, <-served, nil, "stopped with") }
}

// An event stream outlives the server's time limits, and ends with the server.
func TestStreamOutlivesLimitsAndEndsWithServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		events := make(chan int)
		h, _, _ := newSite(map[string]Handler{"GET /events": func(w http.ResponseWriter, r *http.Request) error {
			err := Stream(w, r, events, func(n int) (string, any) { return "n", n })
			require.Equal(t, err, nil, "the stream")
			return err
		}})
		listener := make(pipes)
		stop := listener.serve(t, h)
		client := http.Client{Transport: &http.Transport{DialContext: listener.dial, DisableKeepAlives: true}}
		res := require.Value(client.Get("http://" + listener.Addr().String() + "/events"))(t)
		defer res.Body.Close()
		lines, begun := bufio.NewScanner(res.Body), time.Now()
		beats := 0
		for lines.Scan() && lines.Text() != "data: 7" {
			if lines.Text() == ": still here" {
				beats++
			}
			if beats == int((readTimeout+writeTimeout)/heartbeat) { // past the limits
				require.Equal(t, time.Since(begun), time.Duration(beats)*heartbeat, "time of %d heartbeats", beats)
				beats++
				go func() { events <- 7 }()
			}
		}
		require.Must(t, lines.Text() == "data: 7", "the stream was cut after %d heartbeats: %v", beats, lines.Err())
		var stopping sync.WaitGroup
		stopping.Go(stop)
		for lines.Scan() {
		}
		stopping.Wait()
		require.Equal(t, lines.Err(), nil, "the stream ended with")
	})
}

// Slow clients are cut off at each stage. A client that sends a file too slowly, or only part of it,
// gets a message that says so.
func TestSlowClients(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{
		"POST /form": func(w http.ResponseWriter, r *http.Request) error { return ParseForm(w, r, maxBody) },
		"POST /file": spooled,
		"POST /x": func(_ http.ResponseWriter, r *http.Request) error {
			_, err := io.ReadAll(r.Body)
			return err
		},
	})
	const form = "POST /form HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=xx\r\n"
	part := "--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n"
	for name, test := range map[string]struct {
		send, want string
		closed     time.Duration // until the connection is closed; 0: any
	}{
		"headers":          {"GET / HTTP/1.1\r\nHost: x\r\n", "", headerTimeout},
		"body":             {"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc", "", grace},
		"idle":             {"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", "404", idleTimeout},
		"slow form":        {form + "Content-Length: 1000\r\n\r\n" + part, "paused for 15 seconds", 0},
		"without a length": {form + "Transfer-Encoding: chunked\r\n\r\n2\r\n--\r\n", "408", 0},
		"slow file":        {"POST /file HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc", "paused for 15 seconds", 0},
		"half a form":      {form + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n--x\r\n0\r\n\r\n", "before everything arrived", 0},
		"too large":        {form + fmt.Sprintf("Content-Length: %d\r\n\r\n", maxBody+1), "413", 0},
		"large file":       {fmt.Sprintf("POST /file HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", maxBody+1), "413", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				listener := make(pipes)
				stop := listener.serve(t, h)
				conn, _ := listener.dial(t.Context(), "", "")
				start := time.Now()
				go io.WriteString(conn, test.send)
				got, _ := io.ReadAll(conn)
				took := time.Since(start)
				require.Says(t, string(got), test.want, "the answer")
				require.Check(t, test.closed == 0 || took >= test.closed && took <= test.closed+time.Second,
					"closed after %v, want %v", took, test.closed)
				conn.Close()
				stop()
			})
		})
	}
}

// A client that sends everything before it reads still receives the refusal.
func TestRefusedBodiesAreReceived(t *testing.T) {
	t.Parallel()
	h, _, _ := newSite(map[string]Handler{
		"POST /form": func(w http.ResponseWriter, r *http.Request) error { return ParseForm(w, r, 100) },
		"POST /json": func(w http.ResponseWriter, r *http.Request) error { return ReadJSON(w, r, 100, &struct{}{}) },
	})
	s := require.Value(Listen("127.0.0.1:0", slog.New(slog.DiscardHandler)))(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go s.Serve(ctx, h)
	body := `{"` + strings.Repeat("x", 8<<20)
	for _, path := range []string{"/form", "/json"} {
		conn := require.Value(net.Dial("tcp", s.Addr().String()))(t)
		defer conn.Close()
		require.Value(fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body))(t)
		require.Says(t, string(require.Value(io.ReadAll(conn))(t)), "413", "%s answers", path)
	}
}

// Requests running when the server stops get an answer that says so; a connection that has sent
// nothing does not delay the stop.
func TestShutdown(t *testing.T) {
	t.Parallel()
	begun := make(chan bool)
	h, _, _ := newSite(map[string]Handler{"GET /api/slow": func(_ http.ResponseWriter, r *http.Request) error {
		close(begun)
		<-r.Context().Done()
		return r.Context().Err()
	}})
	s := require.Value(Listen("127.0.0.1:0", slog.New(slog.DiscardHandler)))(t)
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error)
	go func() { served <- s.Serve(ctx, h) }()
	go func() { <-begun; stop() }()
	silent := require.Value(net.Dial("tcp", s.Addr().String()))(t) // accepted before the request
	defer silent.Close()
	r := require.Value(http.NewRequestWithContext(t.Context(), "GET", "http://"+s.Addr().String()+"/api/slow", nil))(t)
	r.Header.Set("Authorization", strings.TrimPrefix(anyKey, "Authorization: "))
	res := require.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	require.Check(t, res.StatusCode == 503 && res.Header.Get("Retry-After") != "", "%v %v", res.Status, res.Header)
	require.Equal(t, <-served, nil, "<-served")
	require.Equal(t, require.Err(silent.Read(make([]byte, 1))), io.EOF, "what the silent connection reads")
}

func TestListenTaken(t *testing.T) {
	t.Parallel()
	s := require.Value(Listen("127.0.0.1:0", slog.New(slog.DiscardHandler)))(t)
	defer s.listener.Close()
	taken := s.Addr().String()
	require.Fails(t, require.Err(Listen(taken, slog.New(slog.DiscardHandler))),
		"cannot listen on "+taken+": bind: address already in use", "the error")
}
